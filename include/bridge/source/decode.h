/*
 * decode: what a Kafka record says, in the words of the bridge.
 *
 * Kafka thread only: a decoder owns a scratch arena that the next call
 * reuses. Never blocks, never allocates without a bound (a few times the
 * record's size), knows neither routes nor HTTP. Rules: the wire formats of
 * Debezium's outbox event router and of Kafka Connect's converters.
 */
#ifndef BRIDGE_SOURCE_DECODE_H
#define BRIDGE_SOURCE_DECODE_H

#include "bridge/config/config.h"
#include "bridge/core/record.h"

enum br_decode_result {
	BR_DECODE_DELIVER,
	BR_DECODE_SKIP, /* not an event; counted under `reason` */
	BR_DECODE_DEAD  /* goes to the DLQ with `reason`, `detail`, `stage` */
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
	const char *format; /* static: string json json_schema bytes, or "" */
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
	const char *hint;     /* static; worth a line per topic, or NULL */
	bool offset_key;      /* no key, and source.allow_offset_key: the
	                       * caller builds one from the position */
	bool body_is_json;    /* the body is one JSON text */
	bool body_is_utf8;
};

struct br_decoder;

/* `config` must outlive the decoder. Never NULL. */
struct br_decoder *br_decoder_new(const struct br_config *config);
void br_decoder_free(struct br_decoder *d);

/* Decodes one record. Always fills `out`. */
void br_decode(struct br_decoder *d, const struct br_record *record,
    struct br_decoded *out);

#endif
