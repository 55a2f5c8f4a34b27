/* suggest: the texts of table.h that tell a person what to write. */
#include "bridge/config/table.h"

#include <inttypes.h>
#include <string.h>

#define NAME_MAX_LEN 40

/* The last name of a path. */
static const char *
leaf(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot != NULL ? dot + 1 : path;
}

static size_t
least(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/*
 * Edits (one letter put in, left out, replaced, or two swapped) that lead
 * from one name to the other; names that are too long are far apart.
 */
static size_t
distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t d[NAME_MAX_LEN + 1][NAME_MAX_LEN + 1];

	if (a_len > NAME_MAX_LEN || b_len > NAME_MAX_LEN)
		return NAME_MAX_LEN;
	for (size_t i = 0; i <= a_len; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= b_len; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		for (size_t j = 1; j <= b_len; j++) {
			size_t other = a[i - 1] != b[j - 1];

			d[i][j] = least(d[i - 1][j] + 1, d[i][j - 1] + 1,
			    d[i - 1][j - 1] + other);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	}
	return d[a_len][b_len];
}

/* Distance, with a name that begins with all of the other counted as near. */
static size_t
unlikeness(const char *name, const char *known, size_t known_len)
{
	size_t name_len = strlen(name);
	size_t edits = distance(name, name_len, known, known_len);
	size_t shorter = name_len < known_len ? name_len : known_len;

	if (shorter >= 5 && strncmp(name, known, shorter) == 0 && edits > 2)
		return 2;
	/* A third of the letters may be wrong; more is another word. */
	return edits <= (known_len + 2) / 3 ? edits : NAME_MAX_LEN;
}

/* Length of the name that stands in the group directly, 0 if none does. */
static size_t
child(const struct br_key *key, const char *group, const char **name)
{
	size_t len = strlen(group);

	if (len == 0) {
		*name = key->path;
	} else {
		if (strncmp(key->path, group, len) != 0 ||
		    key->path[len] != '.')
			return 0;
		*name = key->path + len + 1;
	}
	return strcspn(*name, ".[");
}

/* The names of a group, with commas between. */
static void
list_names(const char *group, struct br_buffer *out)
{
	const char *last = NULL, *name;
	size_t last_len = 0, len;

	for (size_t i = 0; i < br_table_count(); i++) {
		len = child(br_table_at(i), group, &name);
		if (len == 0 || (last != NULL && len == last_len &&
		                    strncmp(last, name, len) == 0))
			continue;
		br_buffer_format(
		    out, "%s%.*s", last != NULL ? ", " : "", (int)len, name);
		last = name;
		last_len = len;
	}
}

void
br_table_suggest(const char *group, const char *name, struct br_buffer *out)
{
	size_t best = NAME_MAX_LEN, best_len = 0, far = NAME_MAX_LEN;
	const char *best_name = NULL, *far_path = NULL;

	for (size_t i = 0; i < br_table_count(); i++) {
		const struct br_key *key = br_table_at(i);
		const char *known;
		size_t len = child(key, group, &known);
		size_t d;

		if (len != 0 && (d = unlikeness(name, known, len)) < best) {
			best = d;
			best_name = known;
			best_len = len;
		}
		known = leaf(key->path);
		d = unlikeness(name, known, strlen(known));
		if (d < far) {
			far = d;
			far_path = key->path;
		}
	}
	if (best_name != NULL)
		br_buffer_format(out, "did you mean \"%s%s%.*s\"?", group,
		    group[0] != '\0' ? "." : "", (int)best_len, best_name);
	else if (far_path != NULL)
		br_buffer_format(out, "did you mean \"%s\"?", far_path);
	else {
		br_buffer_format(out,
		    "known %s%s: ", group[0] != '\0' ? "keys in " : "groups",
		    group);
		list_names(group, out);
	}
}

/* "one of "key", "partition", "none"", without those of a later version. */
static void
list_enum(const struct br_key *key, struct br_buffer *out)
{
	br_buffer_str(out, "one of ");
	for (const struct br_key_name *n = key->names; n->name != NULL; n++)
		if (!n->later)
			br_buffer_format(out, "%s\"%s\"",
			    n != key->names ? ", " : "", n->name);
}

static const char *
example(const struct br_key *key)
{
	if (key->example != NULL || key->preset == NULL)
		return key->example;
	return key->preset;
}

/* "from 1 to 1000 ms", open ends left out. */
static void
number(const struct br_key *key, struct br_buffer *out)
{
	br_buffer_str(
	    out, key->type == BR_KEY_REAL ? "a number" : "a whole number");
	if (key->unit != NULL)
		br_buffer_format(out, " of %s", key->unit);
	br_buffer_format(
	    out, " from %" PRId64 " to %" PRId64, key->min, key->max);
	br_buffer_format(
	    out, ", for example %s = %s", leaf(key->path), example(key));
}

void
br_table_expected(const struct br_key *key, struct br_buffer *out)
{
	const char *name = leaf(key->path), *shown = example(key);
	int first = shown != NULL ? (int)strcspn(shown, ",") : 0;

	switch (key->type) {
	case BR_KEY_INTEGER:
	case BR_KEY_REAL:
		number(key, out);
		break;
	case BR_KEY_BOOLEAN:
		br_buffer_str(out, "true or false, without quotes");
		break;
	case BR_KEY_ENUM:
		list_enum(key, out);
		break;
	case BR_KEY_LISTEN:
		br_buffer_format(out,
		    "HOST:PORT, for example %s = \"%s\" (\"0.0.0.0:9808\" "
		    "for every address, \"\" for none)",
		    name, shown);
		break;
	case BR_KEY_STRING:
		br_buffer_format(
		    out, "a string, for example %s = \"%s\"", name, shown);
		break;
	case BR_KEY_START:
		br_buffer_format(out,
		    "\"earliest\", \"latest\", \"error\", a time such as "
		    "\"2026-01-31T08:00:00Z\", or \"-2h\" (s, m, h, d)");
		break;
	case BR_KEY_STRINGS:
		br_buffer_format(out,
		    "a list of strings, for example %s = [ \"%.*s\" ]", name,
		    first, shown);
		break;
	case BR_KEY_STATUSES:
		br_buffer_format(out,
		    "a list of statuses such as \"409\", \"5xx\" or "
		    "\"400-417\", for example %s = [ \"%.*s\" ]",
		    name, first, shown);
		break;
	case BR_KEY_GROUPS:
		br_buffer_format(out,
		    "a list of groups, for example %s = ( %s )", name, shown);
		break;
	}
}
