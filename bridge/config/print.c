/* print: the effective configuration as text. See loader.h. */
#include "bridge/config/loader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bridge/config/secrets.h"
#include "bridge/config/table.h"
#include "bridge/config/value.h"

/* Whether a reference was in what is printed. */
struct shown {
	const unsigned char *notes; /* of the items of a list, or NULL */
	bool referenced;            /* of a single value */
};

static void
quote(const char *text, struct br_buffer *out)
{
	br_buffer_str(out, "\"");
	for (const char *p = text; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '$' && p[1] == '{')
			br_buffer_str(out, "$$");
		else if (c == '"' || c == '\\')
			br_buffer_format(out, "\\%c", c);
		else if (c == '\n')
			br_buffer_str(out, "\\n");
		else if (c < ' ' || c == 0x7F)
			br_buffer_format(out, "\\x%02X", c);
		else
			br_buffer_add(out, p, 1);
	}
	br_buffer_str(out, "\"");
}

/* A string, with what is secret in it as ***. */
static void
text_value(const struct br_key *key, const char *text, bool referenced,
    struct br_buffer *out)
{
	struct br_buffer masked = {0};

	if (text == NULL)
		text = "";
	br_buffer_str(&masked, "");
	if ((key->flags & BR_KEY_URL) != 0)
		br_secrets_mask_url(text, referenced, &masked);
	else if (strcmp(key->path, "kafka.properties") == 0)
		br_secrets_mask_property(text, referenced, &masked);
	else if ((key->flags & BR_KEY_HIDDEN) != 0 && *text != '\0')
		br_buffer_str(&masked, "***");
	else if ((key->flags & BR_KEY_SECRET) != 0 && referenced)
		br_buffer_str(&masked, "***");
	else
		br_buffer_str(&masked, text);
	quote(masked.data, out);
	br_buffer_free(&masked);
}

static void
strings_value(const struct br_key *key, const struct br_strings *list,
    const unsigned char *notes, struct br_buffer *out)
{
	br_buffer_str(out, "[");
	for (size_t i = 0; i < list->count; i++) {
		br_buffer_str(out, i != 0 ? ", " : " ");
		text_value(
		    key, list->item[i], notes != NULL && notes[i] != 0, out);
	}
	br_buffer_str(out, " ]");
}

/* The shortest items that hold the same statuses. */
static void
statuses_value(const struct br_status_set *set, struct br_buffer *out)
{
	bool first = true;

	br_buffer_str(out, "[");
	for (int from = 100, to; from <= BR_STATUS_MAX; from = to + 1) {
		to = from;
		if (!br_status_set_has(set, from))
			continue;
		while (br_status_set_has(set, to + 1))
			to++;
		br_buffer_str(out, first ? " " : ", ");
		first = false;
		if (from == to)
			br_buffer_format(out, "\"%d\"", from);
		else if (from % 100 == 0 && to == from + 99)
			br_buffer_format(out, "\"%dxx\"", from / 100);
		else
			br_buffer_format(out, "\"%d-%d\"", from, to);
	}
	br_buffer_str(out, " ]");
}

/* The fewest digits that read back as the same number. */
static void
real_value(double value, struct br_buffer *out)
{
	char text[40];

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	br_buffer_str(out, text);
}

static void
integer_value(int64_t value, struct br_buffer *out)
{
	br_buffer_format(out, "%" PRId64 "%s", value,
	    value > INT32_MAX || value < INT32_MIN ? "L" : "");
}

static void
start_value(const struct br_config_kafka *kafka, struct br_buffer *out)
{
	static const char *const words[] = {[BR_START_EARLIEST] = "earliest",
	    [BR_START_LATEST] = "latest",
	    [BR_START_ERROR] = "error"};
	time_t seconds = (time_t)(kafka->start_time_ms / 1000);
	struct tm tm;
	char text[40];

	if (kafka->start != BR_START_TIME) {
		quote(words[kafka->start], out);
		return;
	}
	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	br_buffer_format(
	    out, "\"%s.%03dZ\"", text, (int)(kafka->start_time_ms % 1000));
}

static void
listen_value(const struct br_config_admin *admin, struct br_buffer *out)
{
	bool v6 = strchr(admin->host, ':') != NULL;

	if (*admin->host == '\0')
		br_buffer_str(out, "\"\"");
	else
		br_buffer_format(out, v6 ? "\"[%s]:%u\"" : "\"%s:%u\"",
		    admin->host, (unsigned)admin->port);
}

static void
enum_value(const struct br_key *key, const void *at, struct br_buffer *out)
{
	int value =
	    key->size == sizeof(bool) ? *(const bool *)at : *(const int *)at;

	for (const struct br_key_name *n = key->names; n->name != NULL; n++) {
		if (n->later || n->value != value)
			continue;
		quote(n->name, out);
		return;
	}
}

static void
value(const struct br_key *key, const void *base, const struct shown *how,
    struct br_buffer *out)
{
	const void *at = (const char *)base + key->offset;

	switch (key->type) {
	case BR_KEY_STRING:
		text_value(key, *(char *const *)at, how->referenced, out);
		break;
	case BR_KEY_INTEGER:
		integer_value(*(const int64_t *)at, out);
		break;
	case BR_KEY_REAL:
		real_value(*(const double *)at, out);
		break;
	case BR_KEY_BOOLEAN:
		br_buffer_str(out, *(const bool *)at ? "true" : "false");
		break;
	case BR_KEY_ENUM:
		enum_value(key, at, out);
		break;
	case BR_KEY_STRINGS:
		strings_value(key, at, how->notes, out);
		break;
	case BR_KEY_STATUSES:
		statuses_value(at, out);
		break;
	case BR_KEY_START:
		start_value(at, out);
		break;
	case BR_KEY_LISTEN:
		listen_value(at, out);
		break;
	case BR_KEY_GROUPS: /* groups_value() */
		break;
	}
}

/* True for a string that is left empty: not worth a line in a list. */
static bool
is_empty(const struct br_key *key, const void *base)
{
	const char *text;

	if (key->type != BR_KEY_STRING)
		return false;
	text = *(char *const *)(const void *)((const char *)base + key->offset);
	return text == NULL || *text == '\0';
}

/* The keys of one element; those of a group inside it stand in braces. */
static void
element_value(const char *path, const void *base, const struct shown *how,
    struct br_buffer *out)
{
	const char *open = NULL;
	size_t open_len = 0;

	br_buffer_str(out, "{");
	for (size_t i = 0; i < br_table_count(); i++) {
		const struct br_key *key = br_table_at(i);
		const char *name = key->path + strlen(path) + 1, *dot;

		if (!br_table_is_within(key, path) || is_empty(key, base))
			continue;
		dot = strchr(name, '.');
		if (open != NULL &&
		    (dot == NULL || strncmp(name, open, open_len) != 0)) {
			br_buffer_str(out, " };");
			open = NULL;
		}
		if (dot != NULL && open == NULL) {
			open = name;
			open_len = (size_t)(dot + 1 - name);
			br_buffer_format(
			    out, " %.*s = {", (int)(open_len - 1), name);
		}
		br_buffer_format(out, " %s = ", dot != NULL ? dot + 1 : name);
		value(key, base, how, out);
		br_buffer_str(out, ";");
	}
	br_buffer_str(out, open != NULL ? " }; }" : " }");
}

static void
groups_value(const struct br_key *key, const struct br_config *c,
    const char *indent, struct br_buffer *out)
{
	const char *base = (const char *)c;
	const char *elements =
	    *(char *const *)(const void *)(base + key->offset);
	size_t n = *(const size_t *)(const void *)(base + key->count_offset);
	bool routes = strcmp(key->path, "routes") == 0;
	struct shown how = {0};
	char path[64];

	snprintf(path, sizeof(path), "%s[]", key->path);
	br_buffer_str(out, "(");
	for (size_t i = 0; i < n; i++) {
		how.referenced =
		    routes && c->notes->routes != NULL && c->notes->routes[i];
		br_buffer_format(out, "%s\n%s  ", i != 0 ? "," : "", indent);
		element_value(path, elements + i * key->size, &how, out);
	}
	br_buffer_str(out, " )");
}

/* One line: `name = value;  // default`. */
static void
line(const struct br_config *c, size_t row, const char *indent,
    struct br_buffer *out)
{
	const struct br_key *key = br_table_at(row);
	const char *dot = strrchr(key->path, '.');
	unsigned char notes = c->notes->keys[row];
	struct shown how = {.referenced = (notes & BR_NOTE_REFERENCED) != 0};

	if (strcmp(key->path, "kafka.properties") == 0)
		how.notes = c->notes->properties;
	br_buffer_format(
	    out, "%s%s = ", indent, dot != NULL ? dot + 1 : key->path);
	if (key->type == BR_KEY_GROUPS)
		groups_value(key, c, indent, out);
	else
		value(key, c, &how, out);
	br_buffer_format(
	    out, ";  // %s\n", (notes & BR_NOTE_SET) != 0 ? "set" : "default");
}

/* The groups that are open while the table is printed. */
struct open_groups {
	size_t count;
	const char *path[2]; /* of a key inside, and how much of it is group */
	size_t len[2];
};

/* Closes what the key does not stand in, and opens what it does. */
static void
enter(struct open_groups *g, const char *path, struct br_buffer *out)
{
	size_t keep = 0;

	while (
	    keep < g->count && strncmp(path, g->path[keep], g->len[keep]) == 0)
		keep++;
	while (g->count > keep)
		br_buffer_format(out, "%*s};\n", (int)(2 * --g->count), "");
	while (g->count < 2) {
		size_t from = g->count > 0 ? g->len[g->count - 1] : 0;
		size_t len = strcspn(path + from, ".");

		if (path[from + len] == '\0')
			break;
		br_buffer_format(out, "%*s%.*s = {\n", (int)(2 * g->count), "",
		    (int)len, path + from);
		g->path[g->count] = path;
		g->len[g->count++] = from + len + 1;
	}
}

void
br_config_print(const struct br_config *c, struct br_buffer *out)
{
	static const char *const indents[] = {"", "  ", "    "};
	struct open_groups open = {.count = 0};

	for (size_t i = 0; i < br_table_count(); i++) {
		if (!br_table_is_within(br_table_at(i), ""))
			continue;
		enter(&open, br_table_at(i)->path, out);
		line(c, i, indents[open.count], out);
	}
	enter(&open, "", out);
}
