/*
 * field: what the bytes of one header, or one member of a JSON value, say,
 * whichever of Kafka Connect's converters wrote them: bare text, a quoted
 * JSON string, a {schema, payload} wrapper, a {scale, value} decimal. Pure,
 * any thread.
 */
#ifndef BRIDGE_SOURCE_FIELD_H
#define BRIDGE_SOURCE_FIELD_H

#include "bridge/source/json.h"

enum br_field_state {
	BR_FIELD_ABSENT,    /* none, null or empty */
	BR_FIELD_TEXT,      /* UTF-8, not empty */
	BR_FIELD_MALFORMED, /* not UTF-8; `text` is the bytes */
	BR_FIELD_JAVA       /* text that Java prints for an object */
};

struct br_field {
	enum br_field_state state;
	bool quoted;          /* the bytes are one JSON string */
	struct br_slice text; /* spans of the bytes, or in the arena */
};

/* Reads a header's bytes. The bare text `null` is absent. */
struct br_field br_field_header(struct br_arena *arena, struct br_slice bytes);

/* The same for an id: 16 raw bytes are a UUID, 1E+3 is 1000. */
struct br_field br_field_id(struct br_arena *arena, struct br_slice bytes);

/* Reads bytes that are the text itself; empty is absent. */
struct br_field br_field_plain(struct br_slice text);

/* Reads a scanned JSON value; only JSON's null is absent. */
struct br_field br_field_json(
    struct br_arena *arena, const struct br_json_value *value);

/*
 * Number of requests that a field asks for: 5, 5.0, or an unscaled decimal in
 * base64 (`BQ==`). False when it is no whole number.
 */
bool br_field_number(
    struct br_arena *arena, const struct br_field *field, int64_t *number);

/* {schema, payload} and nothing else: the two members' values, or false. */
bool br_field_wrapper(const struct br_json_object *object,
    const struct br_json_value **schema, const struct br_json_value **payload);

#endif
