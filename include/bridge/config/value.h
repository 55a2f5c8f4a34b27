/*
 * value: moves values between text and the members that the table names.
 * `base` is the structure that the key's offset points into. One owner.
 */
#ifndef BRIDGE_CONFIG_VALUE_H
#define BRIDGE_CONFIG_VALUE_H

#include "bridge/config/config.h"
#include "bridge/config/table.h"

/* What is remembered of a key for br_config_print(). */
enum br_note {
	BR_NOTE_SET = 1,       /* it stands in the file */
	BR_NOTE_REFERENCED = 2 /* a reference was in it */
};

struct br_config_notes {
	unsigned char *keys;       /* by position in the table */
	unsigned char *routes;     /* of each route's url */
	unsigned char *properties; /* of each of kafka.properties … */
	unsigned *property_lines;  /* … and where it stands */
	size_t property_count;
};

struct br_config *br_config_new(void); /* filled with the defaults */

/* Gives the members of the group `path` in `base` their defaults. */
void br_value_presets(const char *path, void *base);

/* Frees the members of the group `path` in `base`. */
void br_value_release(const char *path, void *base);

/* Empties one member; of a list, all its items. */
void br_value_clear(const struct br_key *key, void *base);

/*
 * Sets the member from a text, or adds the text to it when it is a list.
 * False and a reason that completes "KEY: …", the member unchanged.
 */
bool br_value_text(const struct br_key *key, void *base, const char *text,
    struct br_error *err);

/* Sets an integer or real member; false when it is out of range or not whole
 * where a whole number is needed. */
bool br_value_integer(const struct br_key *key, void *base, int64_t value);
bool br_value_real(const struct br_key *key, void *base, double value);

#endif
