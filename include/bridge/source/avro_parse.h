/*
 * avro_parse: the JSON of schemas to nodes. Private to avro_schema, which has
 * the rules; what it makes may still be a graph without an end.
 */
#ifndef BRIDGE_SOURCE_AVRO_PARSE_H
#define BRIDGE_SOURCE_AVRO_PARSE_H

#include "bridge/source/avro_schema.h"

/*
 * Adds the nodes of all texts to an empty schema, whose root becomes that of
 * the last. False and a reason; what was made so far stays in the schema.
 */
bool br_avro_parse(struct br_avro_schema *s, const struct br_slice *texts,
    size_t count, struct br_error *err);

#endif
