/*
 * detect: what a record is, told by its headers and the shape of its value.
 */
#ifndef BRIDGE_SOURCE_DETECT_H
#define BRIDGE_SOURCE_DETECT_H

#include "bridge/source/draft.h"

enum br_shape {
	BR_SHAPE_OTHER,
	/* not events */
	BR_SHAPE_HEARTBEAT,
	BR_SHAPE_TRANSACTION,
	BR_SHAPE_SCHEMA_CHANGE,
	BR_SHAPE_NOTIFICATION,
	/* events in formats of their own */
	BR_SHAPE_CLOUDEVENT,
	BR_SHAPE_ENVELOPE,
	BR_SHAPE_FLATTENED,
	BR_SHAPE_GOLDENGATE,
	BR_SHAPE_AVRO
};

/* Told by the record's headers alone: AVRO, CLOUDEVENT or OTHER. */
enum br_shape br_shape_of_headers(const struct br_draft *d);

/* CloudEvents in binary mode: all four attributes that must be there. */
bool br_shape_is_cloud_binary(const struct br_draft *d);

/*
 * Told by the members of an object; `schema` is the wrapper's member of that
 * name, or NULL. Of a record with an `id` header only what stands above it:
 * a schema's name, CloudEvents.
 */
enum br_shape br_shape_of_object(const struct br_draft *d,
    const struct br_json_object *object, const struct br_json_value *schema);

/*
 * Has the object the members of that shape, whatever the headers say? Of a
 * row, `text` is the same object.
 */
bool br_shape_fits(struct br_draft *d, enum br_shape shape,
    const struct br_json_object *object, struct br_slice text);

/* Text that Java printed for a control record. Without an `id` header. */
enum br_shape br_shape_of_java(const struct br_record *record);

/* Skips what is no event; true for anything else, where nothing is decided. */
bool br_shape_control(struct br_draft *d, enum br_shape shape);

/*
 * The event in an object of that shape, which `object` is known to have.
 * False: the record's fate is decided.
 */
bool br_payload_shape(struct br_draft *d, enum br_shape shape,
    struct br_slice object, struct br_payload *p);

/* "a change event of Debezium" and the like, for messages. */
const char *br_shape_text(enum br_shape shape);

#endif
