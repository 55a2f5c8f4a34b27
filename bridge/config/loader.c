/* loader: see the header. */
#include "bridge/config/loader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/config/file.h"
#include "load.h"

void
br_load_fault(
    struct br_load *l, unsigned line, const char *path, const char *format, ...)
{
	va_list args;
	char text[1600];

	if (l->fault_count++ >= BR_LOAD_FAULTS_MAX)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* One fault is one line, whatever a value holds. */
	for (char *p = text; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7F)
			*p = '?';
	br_buffer_format(l->faults, "%s:%u: %s%s%s\n", l->file, line, path,
	    *path != '\0' ? ": " : "", text);
}

bool
br_load_full(const struct br_load *l)
{
	return l->fault_count >= BR_LOAD_FAULTS_MAX;
}

/* Line of the group that the key belongs to, or 1. */
static unsigned
group_line(const struct br_load *l, const char *path)
{
	size_t len = strcspn(path, ".");

	for (size_t i = 0; i < l->scan.count; i++) {
		const struct br_scan_key *k = &l->scan.keys[i];

		if (k->parent == BR_SCAN_ROOT && k->name_len == len &&
		    memcmp(k->name, path, len) == 0)
			return k->line;
	}
	return 1;
}

static void
find_missing(struct br_load *l)
{
	for (size_t i = 0; i < br_table_count(); i++) {
		const struct br_key *key = br_table_at(i);
		struct br_buffer expected = {0};

		if ((key->flags & BR_KEY_REQUIRED) == 0 || l->line[i] != 0 ||
		    !br_table_is_within(key, ""))
			continue;
		br_table_expected(key, &expected);
		br_load_fault(l, group_line(l, key->path), key->path,
		    "missing (%s); expected %s", key->help, expected.data);
		br_buffer_free(&expected);
	}
}

struct br_config *
br_config_load_text(
    const char *file, const char *text, size_t len, struct br_buffer *faults)
{
	struct br_load l = {.file = file, .faults = faults};

	l.fault_count = br_scan(file, text, len, &l.scan, faults);
	l.line = calloc(br_table_count(), sizeof(*l.line));
	l.failed = calloc(br_table_count(), sizeof(*l.failed));
	if (l.line == NULL || l.failed == NULL)
		abort();
	l.config = br_config_new();
	free(l.config->file);
	l.config->file = strdup(file);
	if (l.config->file == NULL)
		abort();
	if (l.scan.usable) {
		br_load_walk(&l);
		find_missing(&l);
		br_load_combine(&l);
	}
	if (l.fault_count != 0) {
		br_config_free(l.config);
		l.config = NULL;
	}
	br_scan_free(&l.scan);
	free(l.line);
	free(l.failed);
	return l.config;
}

struct br_config *
br_config_load(const char *file, struct br_buffer *faults)
{
	struct br_buffer text = {0};
	struct br_config *c = NULL;
	const char *reason = NULL;

	if (br_file_read(file, &text, &reason))
		c = br_config_load_text(file, text.data, text.len, faults);
	else
		br_buffer_format(
		    faults, "%s: cannot be read: %s\n", file, reason);
	br_buffer_free(&text);
	return c;
}

void
br_config_free(struct br_config *c)
{
	if (c == NULL)
		return;
	br_value_release("", c);
	if (c->notes != NULL) {
		free(c->notes->keys);
		free(c->notes->routes);
		free(c->notes->properties);
		free(c->notes->property_lines);
		free(c->notes);
	}
	free(c->file);
	free(c);
}

unsigned
br_config_property_line(const struct br_config *c, size_t item, bool *secret)
{
	const struct br_config_notes *notes = c->notes;

	if (item >= notes->property_count)
		return 0;
	*secret = notes->properties[item] != 0;
	return notes->property_lines[item];
}

bool
br_config_url_referenced(const struct br_config *c, int route)
{
	const struct br_config_notes *notes = c->notes;
	size_t row;

	if (route >= 0)
		return notes->routes != NULL && notes->routes[route];
	row = br_table_find("delivery.url");
	return (notes->keys[row] & BR_NOTE_REFERENCED) != 0;
}
