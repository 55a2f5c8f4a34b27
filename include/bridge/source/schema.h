/*
 * schema: what a schema of Kafka Connect (the member `schema` that
 * JsonConverter writes) tells about a column: the unit of its time, the scale
 * of its decimal. One owner, no lock.
 */
#ifndef BRIDGE_SOURCE_SCHEMA_H
#define BRIDGE_SOURCE_SCHEMA_H

#include "bridge/source/json.h"
#include "bridge/source/times.h"

struct br_schema_column {
	bool decimal; /* base64 of an unscaled integer */
	int64_t scale;
	enum br_time_unit unit;
};

/* Schemas seen before: a topic writes the same one with every record. */
struct br_schemas;

struct br_schemas *br_schemas_new(void);
void br_schemas_free(struct br_schemas *s);

/*
 * The column `name` of the struct `schema`, or of its field `within` when
 * that is not NULL. False when the schema says nothing of use about it. The
 * text is one that the scanner has accepted.
 */
bool br_schemas_column(struct br_schemas *s, struct br_slice schema,
    const char *within, struct br_slice name, struct br_schema_column *column);

/* The name of a schema, as it stands between its quotes; absent: none. */
struct br_slice br_schema_name(struct br_slice schema);

#endif
