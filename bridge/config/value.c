/* value: see the header. */
#include "bridge/config/value.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bridge/base/clock.h"
#include "bridge/config/check.h"

static void *
member(const struct br_key *key, void *base)
{
	return (char *)base + key->offset;
}

static char *
copy(const char *text)
{
	char *p = strdup(text);

	if (p == NULL)
		abort();
	return p;
}

static void
strings_free(struct br_strings *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->item[i]);
	free(list->item);
	*list = (struct br_strings){0};
}

static void
strings_add(struct br_strings *list, const char *text)
{
	char **grown =
	    realloc(list->item, (list->count + 1) * sizeof(*list->item));

	if (grown == NULL)
		abort();
	list->item = grown;
	list->item[list->count++] = copy(text);
}

/* Frees the elements, each with what it holds. */
static void
groups_free(const struct br_key *key, void *base)
{
	char **elements = member(key, base), path[64];
	size_t *count = (size_t *)(void *)((char *)base + key->count_offset);

	snprintf(path, sizeof(path), "%s[]", key->path);
	for (size_t i = 0; i < *count; i++)
		br_value_release(path, *elements + i * key->size);
	free(*elements);
	*elements = NULL;
	*count = 0;
}

void
br_value_clear(const struct br_key *key, void *base)
{
	void *at = member(key, base);

	switch (key->type) {
	case BR_KEY_STRING:
		free(*(char **)at);
		*(char **)at = NULL;
		break;
	case BR_KEY_STRINGS:
		strings_free(at);
		break;
	case BR_KEY_STATUSES:
		*(struct br_status_set *)at = (struct br_status_set){0};
		break;
	case BR_KEY_LISTEN:
		free(((struct br_config_admin *)at)->host);
		((struct br_config_admin *)at)->host = NULL;
		break;
	case BR_KEY_GROUPS:
		groups_free(key, base);
		break;
	case BR_KEY_INTEGER:
	case BR_KEY_REAL:
	case BR_KEY_BOOLEAN:
	case BR_KEY_ENUM:
	case BR_KEY_START:
		break;
	}
}

bool
br_value_integer(const struct br_key *key, void *base, int64_t value)
{
	if (value < key->min || value > key->max)
		return false;
	if (key->type == BR_KEY_REAL)
		*(double *)member(key, base) = (double)value;
	else
		*(int64_t *)member(key, base) = value;
	return true;
}

bool
br_value_real(const struct br_key *key, void *base, double value)
{
	if (!(value >= (double)key->min && value <= (double)key->max))
		return false;
	if (key->type == BR_KEY_INTEGER) {
		/* Every range ends far below 2^53. */
		if (value != (double)(int64_t)value)
			return false;
		return br_value_integer(key, base, (int64_t)value);
	}
	*(double *)member(key, base) = value;
	return true;
}

/* A number as a reference may give it: 5, 5.0, 5L. */
static bool
number_text(const struct br_key *key, void *base, const char *text)
{
	size_t len = strspn(text, "0123456789+-.eE");
	const char *digit = text + strspn(text, "+-");
	char *end;
	double value;

	if (len == 0 || (*digit == '0' && digit[1] >= '0' && digit[1] <= '9'))
		return false;
	value = strtod(text, &end);
	if (*end == 'L' && strspn(text, "+-0123456789") == len)
		end += 1 + (end[1] == 'L');
	return end != text && *end == '\0' && br_value_real(key, base, value);
}

static bool
enum_text(const struct br_key *key, void *base, const char *text,
    struct br_error *err)
{
	for (const struct br_key_name *n = key->names; n->name != NULL; n++) {
		if (strcmp(text, n->name) != 0)
			continue;
		if (n->later)
			return br_fail(
			    err, "this version does not read \"%s\" yet", text);
		if (key->size == sizeof(bool))
			*(bool *)member(key, base) = n->value != 0;
		else
			*(int *)member(key, base) = n->value;
		return true;
	}
	return br_fail(err, "\"%.64s\" is not known", text);
}

static bool
boolean_text(const struct br_key *key, void *base, const char *text)
{
	bool yes = strcasecmp(text, "true") == 0;

	if (!yes && strcasecmp(text, "false") != 0)
		return false;
	*(bool *)member(key, base) = yes;
	return true;
}

static void
string_text(const struct br_key *key, void *base, const char *text)
{
	char **at = member(key, base);

	free(*at);
	*at = (key->flags & BR_KEY_NULL) != 0 && *text == '\0' ? NULL
	                                                       : copy(text);
}

bool
br_value_text(const struct br_key *key, void *base, const char *text,
    struct br_error *err)
{
	bool list = key->type == BR_KEY_STRINGS;

	if (*text == '\0' &&
	    (list || (key->flags & (BR_KEY_REQUIRED | BR_KEY_FILLED)) != 0))
		return br_fail(err, "must not be empty");
	if (key->check != NULL && (list || *text != '\0') &&
	    !key->check(text, err))
		return false;
	switch (key->type) {
	case BR_KEY_STRING:
		string_text(key, base, text);
		return true;
	case BR_KEY_STRINGS:
		strings_add(member(key, base), text);
		return true;
	case BR_KEY_STATUSES:
		return br_status_set_add(member(key, base), text) ||
		       br_fail(err, "\"%.32s\" is no status", text);
	case BR_KEY_ENUM:
		return enum_text(key, base, text, err);
	case BR_KEY_START:
		return br_check_start(
		    text, br_clock_wall_ms(), member(key, base), err);
	case BR_KEY_LISTEN:
		return br_check_listen(text, member(key, base), err);
	case BR_KEY_INTEGER:
	case BR_KEY_REAL:
		return number_text(key, base, text) ||
		       br_fail(err, "is no such number");
	case BR_KEY_BOOLEAN:
		return boolean_text(key, base, text) ||
		       br_fail(err, "is neither true nor false");
	case BR_KEY_GROUPS:
		break;
	}
	return br_fail(err, "takes no string");
}

/* Gives one member its default; a list gets each of the items. */
static void
preset(const struct br_key *key, void *base)
{
	const char *text = key->preset;
	struct br_error err;
	bool list = key->type == BR_KEY_STRINGS || key->type == BR_KEY_STATUSES;

	br_value_clear(key, base);
	if (key->type == BR_KEY_GROUPS)
		return;
	if (!list) {
		if (key->type == BR_KEY_STRING)
			string_text(key, base, text);
		else if (!br_value_text(key, base, text, &err))
			abort(); /* the table contradicts itself */
		return;
	}
	while (*text != '\0') {
		size_t len = strcspn(text, ",");
		char item[64];

		assert(len < sizeof(item));
		memcpy(item, text, len);
		item[len] = '\0';
		if (!br_value_text(key, base, item, &err))
			abort();
		text += len + (text[len] == ',');
	}
}

void
br_value_presets(const char *path, void *base)
{
	for (size_t i = 0; i < br_table_count(); i++)
		if (br_table_is_within(br_table_at(i), path))
			preset(br_table_at(i), base);
}

void
br_value_release(const char *path, void *base)
{
	for (size_t i = 0; i < br_table_count(); i++)
		if (br_table_is_within(br_table_at(i), path))
			br_value_clear(br_table_at(i), base);
}

struct br_config *
br_config_new(void)
{
	struct br_config *c = calloc(1, sizeof(*c));

	if (c == NULL || (c->notes = calloc(1, sizeof(*c->notes))) == NULL ||
	    (c->notes->keys = calloc(br_table_count(), 1)) == NULL)
		abort();
	br_value_presets("", c);
	return c;
}
