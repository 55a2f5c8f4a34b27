/*
 * avro: what a record written by an Avro converter says, as content or as
 * JSON text that the rest of the room reads like any other JSON.
 *
 * Kafka thread only; never blocks. Owned by a decoder; what it gives out
 * lives until its next call for the same part of a record, or in the arena.
 */
#ifndef BRIDGE_SOURCE_AVRO_H
#define BRIDGE_SOURCE_AVRO_H

#include "bridge/source/arena.h"
#include "bridge/source/avro_frame.h"
#include "bridge/source/registry.h"

enum br_avro_kind {
	BR_AVRO_NOT_FRAMED, /* not Avro */
	BR_AVRO_EMPTY,      /* null */
	BR_AVRO_CONTENT,    /* a string or bytes: `text` is the content */
	BR_AVRO_JSON,       /* anything else: `text` is JSON */
	BR_AVRO_WAIT,       /* its schema is asked for */
	BR_AVRO_DEAD        /* it cannot be read: `reason`, `detail` */
};

struct br_avro_value_read {
	enum br_avro_kind kind;
	struct br_slice text; /* CONTENT: a span of the record */
	/* JSON: the schema in the form that JsonConverter writes; absent
	 * where the value is no record. Decimals in it are plain numbers. */
	struct br_slice schema;
	bool record;
	struct br_schema_key key; /* of all but NOT_FRAMED */
	const char *reason;       /* static */
	char detail[400];
};

struct br_avro;

/* `config` must outlive it. Never NULL. */
struct br_avro *br_avro_new(const struct br_config *config);
void br_avro_free(struct br_avro *a);

/* From now on schemas come from there; NULL, as at first: there is none. */
void br_avro_use(struct br_avro *a, struct br_registry *registry);

/* True when there is a registry. */
bool br_avro_on(const struct br_avro *a);

/*
 * Reads one part of a record. `known`: it is said to be Avro. Without a
 * registry nothing is read: NOT_FRAMED.
 */
void br_avro_read(struct br_avro *a, const struct br_record *record,
    enum br_frame_part part, bool known, struct br_arena *arena,
    struct br_avro_value_read *out);

/*
 * The content of a string or bytes field of the value read last, for the JSON
 * string that stands for it. False when the text is not one of that value.
 */
bool br_avro_raw(const struct br_avro *a, struct br_slice json_string,
    struct br_slice *content);

#endif
