/* avro_connect: an Avro record's schema in the form of Kafka Connect. */
#ifndef BRIDGE_SOURCE_AVRO_CONNECT_H
#define BRIDGE_SOURCE_AVRO_CONNECT_H

#include "bridge/source/avro_schema.h"

/*
 * The schema that JsonConverter would write beside a record of this type,
 * for what avro_json makes of it: names and units of times are there,
 * decimals are not, as they are plain numbers. An allocated string, or NULL
 * where it would be unreasonably long.
 */
char *br_avro_connect_schema(const struct br_avro_node *node);

#endif
