/*
 * avro_graph: whether a schema's graph of nodes is one that values can be
 * made of, and its text for avro-c. Private to avro_schema.
 */
#ifndef BRIDGE_SOURCE_AVRO_GRAPH_H
#define BRIDGE_SOURCE_AVRO_GRAPH_H

#include "bridge/base/buffer.h"
#include "bridge/source/avro_schema.h"

/*
 * Refuses what has no finite value, or one that is too large before a byte
 * was read: records that hold themselves directly, arrays of items without
 * bytes, more than some thousand values in one instance. Sets the weights.
 */
bool br_avro_graph_check(struct br_avro_schema *s, struct br_error *err);

/* Appends the schema with names of our own; false: too deep. */
bool br_avro_graph_text(struct br_avro_schema *s, struct br_buffer *out);

#endif
