/*
 * decode: what a Kafka record says, in the words of the bridge.
 *
 * Kafka thread only: a decoder owns a scratch arena that the next call
 * reuses. Never blocks, never allocates without a bound (a few times the
 * record's size), knows neither routes nor HTTP. Rules: the wire formats of
 * Debezium, its outbox event router, Kafka Connect's converters, CloudEvents
 * and GoldenGate.
 */
#ifndef BRIDGE_SOURCE_DECODE_H
#define BRIDGE_SOURCE_DECODE_H

#include "bridge/config/config.h"
#include "bridge/core/record.h"
#include "bridge/source/registry.h"

enum br_decode_result {
	BR_DECODE_DELIVER,
	BR_DECODE_SKIP, /* not an event; counted under `reason` */
	BR_DECODE_DEAD, /* goes to the DLQ with `reason`, `detail`, `stage` */
	BR_DECODE_WAIT  /* its schema is asked for: again, once it is here */
};

/*
 * Slices point into the record or into the decoder's arena and live until
 * the next call. Absent: the record does not say. All text is valid UTF-8
 * and not empty; only `body` and `order_key` may hold any bytes, and only
 * `body` may be empty.
 */
struct br_decoded {
	enum br_decode_result result;
	const char *reason; /* static text; NULL for DELIVER */
	const char *stage;  /* static: detect decode extract validate */
	char detail[512];   /* for a person: what, where, what to do */
	const char *format; /* static, a name of source.format, or "" */
	struct br_slice body;
	struct br_slice event_id;
	struct br_slice idempotency_key; /* as the record spells it */
	struct br_slice order_key;       /* filled for DEAD too, where known */
	struct br_slice event_type;
	struct br_slice aggregate_type;
	struct br_slice target_url;
	struct br_slice content_type; /* NULL: by the body, see below */
	struct br_slice traceparent;  /* valid, or absent */
	struct br_slice tracestate;
	int64_t max_attempts; /* 0: not given or not usable */
	int64_t time_ms;      /* of the event; -1: not known */
	const char *hint;     /* static; worth a line per topic, or NULL */
	bool offset_key;      /* no key, and source.allow_offset_key: the
	                       * caller builds one from the position */
	bool body_is_json;    /* the body is one JSON text */
	bool body_is_utf8;
	struct br_schema_key schema; /* WAIT: which */
};

/* Where one field came from, and why the format is what it is. */
struct br_origin {
	const char *field;    /* static: event_id, body, ... */
	const char *kind;     /* static: header, column, key, ... */
	struct br_slice name; /* of the header or column; may be absent */
};

#define BR_ORIGINS 20

struct br_origins {
	const char *why; /* static: what gave the format away; or NULL */
	size_t count;
	struct br_origin item[BR_ORIGINS];
};

struct br_decoder;

/* `config` must outlive the decoder. Never NULL. */
struct br_decoder *br_decoder_new(const struct br_config *config);
void br_decoder_free(struct br_decoder *d);

/* From now on Avro is read, with schemas from there; it must outlive it. */
void br_decoder_use(struct br_decoder *d, struct br_registry *registry);

/* Decodes one record. Always fills `out`. */
void br_decode(struct br_decoder *d, const struct br_record *record,
    struct br_decoded *out);

/* The same, and fills `origins`, whose slices live as long. */
void br_decode_explained(struct br_decoder *d, const struct br_record *record,
    struct br_decoded *out, struct br_origins *origins);

/* A sentence for a person about a reason to skip; NULL for an unknown one. */
const char *br_decode_skip_text(const char *reason);

#endif
