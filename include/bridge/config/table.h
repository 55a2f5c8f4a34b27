/*
 * table: every key of the configuration in one place: type, unit, range,
 * default, help, and where its value goes. Reading, checking, printing and
 * the test of the example file all walk this table. Constant; any thread.
 *
 * A path such as "routes[].match.topic" means a key in each group of a list;
 * its offset is one into the element's structure, all others are offsets into
 * struct br_config.
 */
#ifndef BRIDGE_CONFIG_TABLE_H
#define BRIDGE_CONFIG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/base/buffer.h"
#include "bridge/base/error.h"

enum br_key_type {
	BR_KEY_STRING,   /* char * */
	BR_KEY_INTEGER,  /* int64_t or uint64_t */
	BR_KEY_REAL,     /* double */
	BR_KEY_BOOLEAN,  /* bool */
	BR_KEY_ENUM,     /* an enum, or bool for two names */
	BR_KEY_STRINGS,  /* struct br_strings */
	BR_KEY_STATUSES, /* struct br_status_set */
	BR_KEY_START,    /* kafka.start: struct br_config_kafka */
	BR_KEY_LISTEN,   /* admin.listen: struct br_config_admin */
	BR_KEY_GROUPS    /* pointer to elements, and their number */
};

enum br_key_flag {
	BR_KEY_REQUIRED = 1, /* must be set, and not empty */
	BR_KEY_FILLED = 2,   /* may be left out, but not set to empty */
	BR_KEY_SECRET = 4,   /* what came from a reference is not shown */
	BR_KEY_URL = 8,      /* userinfo and query are not shown */
	BR_KEY_NULL = 16,    /* NULL, not "", when left out */
	BR_KEY_HIDDEN = 32   /* never shown, wherever it came from */
};

/* A name of an enum and its value; `later`: known, but not readable yet. */
struct br_key_name {
	const char *name;
	int value;
	bool later;
};

struct br_key {
	const char *path;
	enum br_key_type type;
	unsigned flags; /* of enum br_key_flag */
	const char *unit;
	int64_t min, max;
	const char *preset;  /* the default as text, lists with commas */
	const char *example; /* for messages, where the default shows nothing */
	const struct br_key_name *names; /* ends with a NULL name */
	/* Checks one string (of a list: each); may be NULL. */
	bool (*check)(const char *text, struct br_error *err);
	size_t offset;
	size_t size;         /* of the member; BR_KEY_GROUPS: of an element */
	size_t count_offset; /* BR_KEY_GROUPS */
	const char *help;
};

/* Number of keys, and the key at a position below it. */
size_t br_table_count(void);
const struct br_key *br_table_at(size_t i);

/* Position of a key; BR_TABLE_NONE when there is none of that path. */
#define BR_TABLE_NONE ((size_t)-1)
size_t br_table_find(const char *path);

/* True when keys stand below `path` ("" is the whole file). */
bool br_table_is_group(const char *path);

/*
 * True when the key stands directly or deeper in the group `path` of the
 * same structure: "routes[].match.topic" is in "routes[]", not in "".
 */
bool br_table_is_within(const struct br_key *key, const char *path);

/*
 * What to say about the unknown key `name` in the group `group`: the nearest
 * known key there, else in any group, else the names that are known there.
 */
void br_table_suggest(
    const char *group, const char *name, struct br_buffer *out);

/* "a whole number of ms from 1 to 3600000, for example base_ms = 10000". */
void br_table_expected(const struct br_key *key, struct br_buffer *out);

#endif
