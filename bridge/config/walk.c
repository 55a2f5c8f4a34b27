/* walk: the settings that libconfig read, key by key. See load.h. */
#include <libconfig.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/config/secrets.h"
#include "load.h"

#define PATH_MAX_LEN 128

/* The structure that is being filled. */
struct scope {
	const char *group; /* in the table: "", "kafka", "routes[].match" */
	void *base;
	unsigned char *notes; /* by position in the table */
};

/* A value on its way into its member. */
struct item {
	const struct br_key *key;
	struct scope *in;
	config_setting_t *setting;
	size_t row;
	size_t place; /* in the scan */
};

static void group(struct br_load *l, struct scope *in, config_setting_t *from);

/* Ties each setting to what the scanner knows of it: the order is the same. */
static bool
tie(struct br_load *l, config_setting_t *group_or_list, size_t *next)
{
	int n = config_setting_length(group_or_list);

	for (int i = 0; i < n; i++) {
		config_setting_t *s =
		    config_setting_get_elem(group_or_list, (unsigned)i);

		if (*next >= l->scan.count)
			return false;
		config_setting_set_hook(s, &l->scan.keys[(*next)++]);
		if (config_setting_is_aggregate(s) && !tie(l, s, next))
			return false;
	}
	return true;
}

static size_t
place_of(const struct br_load *l, const config_setting_t *s)
{
	const struct br_scan_key *k = config_setting_get_hook(s);

	return (size_t)(k - l->scan.keys);
}

static void fault(struct br_load *l, size_t place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void
fault(struct br_load *l, size_t place, const char *format, ...)
{
	struct br_buffer path = {0};
	char text[1500];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	br_scan_path(&l->scan, place, &path);
	br_load_fault(l, l->scan.keys[place].line, path.data, "%s", text);
	br_buffer_free(&path);
}

static void
fail(struct br_load *l, const struct item *it)
{
	if (it->in->base == l->config)
		l->failed[it->row] = true;
}

/* What stands there, for a message; not when it could be a secret. */
static void
describe(const struct item *it, char *out, size_t size)
{
	const config_setting_t *s = it->setting;
	bool hidden = (it->key->flags & (BR_KEY_SECRET | BR_KEY_URL)) != 0;

	switch (config_setting_type(s)) {
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		snprintf(out, size, hidden ? "a number" : "the number %lld",
		    config_setting_get_int64(s));
		break;
	case CONFIG_TYPE_FLOAT:
		snprintf(out, size, hidden ? "a number" : "the number %.15g",
		    config_setting_get_float(s));
		break;
	case CONFIG_TYPE_BOOL:
		snprintf(out, size, "%s",
		    config_setting_get_bool(s) ? "true" : "false");
		break;
	case CONFIG_TYPE_STRING:
		if (hidden || strstr(config_setting_get_string(s), "${"))
			snprintf(out, size, "a string");
		else
			snprintf(out, size, "the string \"%.60s\"",
			    config_setting_get_string(s));
		break;
	case CONFIG_TYPE_GROUP:
		snprintf(out, size, "a group");
		break;
	default:
		snprintf(out, size, "a list");
		break;
	}
}

/* A fault with what the table expects. */
static void
unfit(struct br_load *l, const struct item *it, const char *reason)
{
	struct br_buffer expected = {0};

	br_table_expected(it->key, &expected);
	fault(l, it->place, "%s; expected %s", reason, expected.data);
	br_buffer_free(&expected);
	fail(l, it);
}

static void
wrong_type(struct br_load *l, const struct item *it)
{
	char what[128], reason[160];

	describe(it, what, sizeof(what));
	snprintf(reason, sizeof(reason), "found %s", what);
	unfit(l, it, reason);
}

static bool
is_number(const struct br_key *key)
{
	return key->type == BR_KEY_INTEGER || key->type == BR_KEY_REAL;
}

static void
number(struct br_load *l, const struct item *it)
{
	const config_setting_t *s = it->setting;
	bool real = config_setting_type(s) == CONFIG_TYPE_FLOAT;
	char what[128], reason[160];
	struct br_error err;
	bool ok;

	if (it->key->type == BR_KEY_STATUSES && !real) {
		snprintf(
		    what, sizeof(what), "%lld", config_setting_get_int64(s));
		if (!br_value_text(it->key, it->in->base, what, &err))
			wrong_type(l, it);
		return;
	}
	if (!is_number(it->key)) {
		wrong_type(l, it);
		return;
	}
	ok = real ? br_value_real(
	                it->key, it->in->base, config_setting_get_float(s))
	          : br_value_integer(
	                it->key, it->in->base, config_setting_get_int64(s));
	if (ok)
		return;
	describe(it, what, sizeof(what));
	snprintf(reason, sizeof(reason), "%s does not fit", what);
	unfit(l, it, reason);
}

/* Remembers of an item of kafka.properties whether it held a reference. */
static void
note_property(struct br_load *l, const struct item *it, bool referenced)
{
	struct br_config_notes *notes = l->config->notes;
	size_t count = l->config->kafka.properties.count;
	unsigned char *grown;
	unsigned *lines;

	if (strcmp(it->key->path, "kafka.properties") != 0 || count == 0)
		return;
	grown = realloc(notes->properties, count);
	if (grown == NULL)
		abort();
	notes->properties = grown;
	lines = realloc(notes->property_lines, count * sizeof(*lines));
	if (lines == NULL)
		abort();
	notes->property_lines = lines;
	while (notes->property_count < count) {
		notes->properties[notes->property_count] = 0;
		lines[notes->property_count++] = l->scan.keys[it->place].line;
	}
	notes->properties[count - 1] = referenced;
}

static void
string(struct br_load *l, const struct item *it)
{
	const char *text = config_setting_get_string(it->setting);
	bool scalar = is_number(it->key) || it->key->type == BR_KEY_BOOLEAN;
	struct br_buffer value = {0};
	struct br_expanded how;
	struct br_error err;

	if (text == NULL)
		text = "";
	if (!br_secrets_expand(text, &value, &how, &err)) {
		fault(l, it->place, "%s", err.text);
		fail(l, it);
	} else if (scalar && !how.whole) {
		wrong_type(l, it);
	} else if (!br_value_text(it->key, it->in->base, value.data, &err)) {
		if (how.referenced)
			unfit(l, it,
			    "what the reference gives does not fit (it is not "
			    "shown)");
		else if (it->key->check != NULL)
			fault(l, it->place, "%s", err.text);
		else
			unfit(l, it, err.text);
		fail(l, it);
	} else {
		if (how.referenced)
			it->in->notes[it->row] |= BR_NOTE_REFERENCED;
		note_property(l, it, how.referenced);
	}
	br_buffer_free(&value);
}

static void
scalar(struct br_load *l, const struct item *it)
{
	int type = config_setting_type(it->setting);

	if (type == CONFIG_TYPE_STRING)
		string(l, it);
	else if (config_setting_is_number(it->setting))
		number(l, it);
	else if (type == CONFIG_TYPE_BOOL && it->key->type == BR_KEY_BOOLEAN)
		*(bool *)((char *)it->in->base + it->key->offset) =
		    config_setting_get_bool(it->setting) != 0;
	else
		wrong_type(l, it);
}

/* A list of strings or statuses; a single value is a list of one. */
static void
list(struct br_load *l, const struct item *it)
{
	const config_setting_t *s = it->setting;
	struct item one = *it;
	int n;

	br_value_clear(it->key, it->in->base);
	if (config_setting_type(s) != CONFIG_TYPE_LIST) {
		scalar(l, it);
		return;
	}
	n = config_setting_length(s);
	if (n == 0 && (it->key->flags & (BR_KEY_REQUIRED | BR_KEY_FILLED)) != 0)
		unfit(l, it, "must not be empty");
	for (int i = 0; i < n && !br_load_full(l); i++) {
		one.setting = config_setting_get_elem(s, (unsigned)i);
		one.place = place_of(l, one.setting);
		scalar(l, &one);
	}
}

/* ---- lists of groups */

/* Keys that an element needs and does not have. */
static void
missing_in(struct br_load *l, const struct scope *in, size_t place)
{
	struct br_buffer path = {0}, expected = {0};

	for (size_t i = 0; i < br_table_count(); i++) {
		const struct br_key *key = br_table_at(i);

		if ((key->flags & BR_KEY_REQUIRED) == 0 || in->notes[i] != 0 ||
		    !br_table_is_within(key, in->group))
			continue;
		br_buffer_clear(&path);
		br_buffer_clear(&expected);
		br_scan_path(&l->scan, place, &path);
		br_buffer_str(&path, key->path + strlen(in->group));
		br_table_expected(key, &expected);
		br_load_fault(l, l->scan.keys[place].line, path.data,
		    "missing (%s); expected %s", key->help, expected.data);
	}
	br_buffer_free(&path);
	br_buffer_free(&expected);
}

static void
element(struct br_load *l, const struct item *it, config_setting_t *s,
    void *base, unsigned char *notes)
{
	char path[PATH_MAX_LEN];
	struct scope in = {.group = path, .base = base, .notes = notes};
	struct item one = *it;
	size_t before = l->fault_count;

	snprintf(path, sizeof(path), "%s[]", it->key->path);
	one.setting = s;
	one.place = place_of(l, s);
	memset(notes, 0, br_table_count());
	if (!config_setting_is_group(s)) {
		wrong_type(l, &one);
		return;
	}
	group(l, &in, s);
	missing_in(l, &in, one.place);
	if (l->fault_count != before)
		fail(l, it);
}

/* Remembers whether the route's url held a reference. */
static void
note_route(struct br_load *l, size_t i, const unsigned char *notes)
{
	size_t row = br_table_find("routes[].url");

	l->config->notes->routes[i] = (notes[row] & BR_NOTE_REFERENCED) != 0;
}

static void
groups(struct br_load *l, const struct item *it)
{
	config_setting_t *s =
	    config_setting_get_elem(config_setting_parent(it->setting),
	        (unsigned)config_setting_index(it->setting));
	bool single = config_setting_is_group(s);
	size_t n = single ? 1 : (size_t)config_setting_length(s);
	bool routes = strcmp(it->key->path, "routes") == 0;
	char *at = (char *)it->in->base, path[PATH_MAX_LEN], *elements;
	unsigned char *notes = calloc(br_table_count(), 1);

	if (!single && config_setting_type(s) != CONFIG_TYPE_LIST) {
		free(notes);
		wrong_type(l, it);
		return;
	}
	snprintf(path, sizeof(path), "%s[]", it->key->path);
	br_value_clear(it->key, it->in->base);
	elements = calloc(n + 1, it->key->size);
	if (routes)
		l->config->notes->routes = calloc(n + 1, 1);
	if (elements == NULL || notes == NULL ||
	    (routes && l->config->notes->routes == NULL))
		abort();
	*(char **)(void *)(at + it->key->offset) = elements;
	for (size_t i = 0; i < n && !br_load_full(l); i++) {
		br_value_presets(path, elements + i * it->key->size);
		*(size_t *)(void *)(at + it->key->count_offset) = i + 1;
		element(l, it,
		    single ? s : config_setting_get_elem(s, (unsigned)i),
		    elements + i * it->key->size, notes);
		if (routes)
			note_route(l, i, notes);
	}
	free(notes);
}

/* ---- groups */

static void
known(struct br_load *l, struct scope *in, size_t row, config_setting_t *s)
{
	struct item it = {.key = br_table_at(row),
	    .in = in,
	    .setting = s,
	    .row = row,
	    .place = place_of(l, s)};

	in->notes[row] |= BR_NOTE_SET;
	if (in->base == l->config)
		l->line[row] = l->scan.keys[it.place].line;
	if (l->scan.keys[it.place].bad)
		fail(l, &it);
	else if (it.key->type == BR_KEY_GROUPS)
		groups(l, &it);
	else if (it.key->type == BR_KEY_STRINGS ||
	         it.key->type == BR_KEY_STATUSES)
		list(l, &it);
	else
		scalar(l, &it);
}

static void
unknown(struct br_load *l, const struct scope *in, const config_setting_t *s)
{
	struct br_buffer text = {0};

	br_table_suggest(in->group, config_setting_name(s), &text);
	fault(l, place_of(l, s), "unknown key; %s", text.data);
	br_buffer_free(&text);
}

static void
group(struct br_load *l, struct scope *in, config_setting_t *from)
{
	int n = config_setting_length(from);

	for (int i = 0; i < n && !br_load_full(l); i++) {
		config_setting_t *s =
		    config_setting_get_elem(from, (unsigned)i);
		struct scope deeper = *in;
		char path[PATH_MAX_LEN];
		size_t row;

		snprintf(path, sizeof(path), "%s%s%.64s", in->group,
		    *in->group != '\0' ? "." : "", config_setting_name(s));
		row = br_table_find(path);
		if (row != BR_TABLE_NONE) {
			known(l, in, row, s);
		} else if (!br_table_is_group(path)) {
			unknown(l, in, s);
		} else if (config_setting_is_group(s)) {
			deeper.group = path;
			group(l, &deeper, s);
		} else if (!l->scan.keys[place_of(l, s)].bad) {
			fault(l, place_of(l, s),
			    "expected a group: %s = { ... };",
			    config_setting_name(s));
		}
	}
}

void
br_load_walk(struct br_load *l)
{
	struct scope in = {
	    .group = "", .base = l->config, .notes = l->config->notes->keys};
	config_t tree;
	size_t next = 0;

	config_init(&tree);
	if (!config_read_string(&tree, l->scan.text))
		br_load_fault(l, (unsigned)config_error_line(&tree), "", "%s",
		    config_error_text(&tree) != NULL ? config_error_text(&tree)
		                                     : "cannot be read");
	else if (!tie(l, config_root_setting(&tree), &next))
		br_load_fault(l, 1, "", "cannot be read");
	else
		group(l, &in, config_root_setting(&tree));
	config_destroy(&tree);
}
