/*
 * avro_frame: where a record says which schema its value or key has, and
 * where the Avro bytes begin. Pure, any thread.
 *
 *     00 + 4 bytes                    Confluent, Apicurio 3: `registry.id4`
 *     00 + 8 bytes                    Apicurio 2: `registry.id8`; its upper
 *                                     half is 0, which no 4-byte id is
 *     01 + 16 bytes                   GUID; only where Avro is said to be
 *     __value_schema_id               01 + GUID, or 00 + 4 bytes
 *     apicurio.value.globalId         8 bytes
 *     apicurio.value.contentId        8 bytes
 *
 * and the same with `key`. Headers win; after them the bytes are bare.
 */
#ifndef BRIDGE_SOURCE_AVRO_FRAME_H
#define BRIDGE_SOURCE_AVRO_FRAME_H

#include "bridge/config/config.h"
#include "bridge/core/record.h"
#include "bridge/source/schema_key.h"

enum br_frame_kind {
	BR_FRAME_NONE,       /* nothing says that it is Avro */
	BR_FRAME_AVRO,       /* `key` and `body` are filled in */
	BR_FRAME_UNSUPPORTED /* a registry wrote it in a way not known: `what` */
};

enum br_frame_part { BR_FRAME_VALUE, BR_FRAME_KEY };

struct br_frame {
	enum br_frame_kind kind;
	struct br_schema_key key;
	struct br_slice body;
	bool from_header;
	/* Confluent's serializers write the content of a schema that is just
	 * "bytes" without its length. */
	bool bare_bytes;
	const char *what; /* static */
};

/*
 * `known`: the part is said to be Avro, so that everything that is no frame
 * is UNSUPPORTED. Otherwise bytes that begin with 00 and have room for an id
 * count as framed.
 */
struct br_frame br_avro_frame(const struct br_record *record,
    enum br_frame_part part, const struct br_config_registry *config,
    bool known);

#endif
