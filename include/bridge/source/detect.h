/*
 * detect: what a record is, told by its headers and the shape of its value.
 * Formats that this version cannot read are recognised, so that they end in
 * the DLQ with their name instead of at a receiver.
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

/*
 * Told by the members of an object; `schema` is the wrapper's member of that
 * name, or NULL. Of a record with an `id` header only what stands above it:
 * a schema's name, CloudEvents.
 */
enum br_shape br_shape_of_object(const struct br_draft *d,
    const struct br_json_object *object, const struct br_json_value *schema);

/* Text that Java printed for a control record. Without an `id` header. */
enum br_shape br_shape_of_java(const struct br_record *record);

/*
 * Decides: skips what is no event, dead-letters what cannot be read; true
 * for OTHER, where nothing is decided.
 */
bool br_shape_decide(struct br_draft *d, enum br_shape shape);

#endif
