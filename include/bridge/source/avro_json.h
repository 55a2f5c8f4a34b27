/*
 * avro_json: an Avro value as one JSON text, as Kafka Connect's JsonConverter
 * would write it, but for decimals, which are plain numbers:
 *
 *     int, long, boolean, null     the same in JSON
 *     float, double                the shortest digits that read back equal;
 *                                  always with a point or an exponent; NaN and
 *                                  the infinities as "NaN", "Infinity", …
 *     string, enum                 a string
 *     bytes, fixed                 base64 in a string
 *     decimal, Debezium's too      a number, every digit of it ("12.50" keeps
 *                                  its zero)
 *     array, map, record           array, object, object in field order
 *     union                        its value
 *
 * Strings and bytes can be asked for as they came, see br_avro_json_raw().
 * One owner, one thread; what it gives out lives until the next call.
 */
#ifndef BRIDGE_SOURCE_AVRO_JSON_H
#define BRIDGE_SOURCE_AVRO_JSON_H

#include "bridge/base/error.h"
#include "bridge/source/arena.h"
#include "bridge/source/avro_schema.h"

struct br_avro_json;

struct br_avro_json *br_avro_json_new(void);
void br_avro_json_free(struct br_avro_json *j);

/*
 * Renders a body that br_avro_datum_check() has passed. False only where
 * avro-c disagrees with that check.
 */
bool br_avro_json_render(struct br_avro_json *j, struct br_avro_schema *schema,
    struct br_slice body, struct br_arena *arena, struct br_slice *text);

/*
 * The content of a string or bytes value, for the JSON string that stands for
 * it in the text rendered last (compared by its place). False for any other.
 */
bool br_avro_json_raw(const struct br_avro_json *j, struct br_slice json_string,
    struct br_slice *content);

/* avro-c's value of a schema, kept in it; private to avro_schema. */
struct br_avro_value;
void br_avro_value_free(struct br_avro_value *v);

#endif
