/*
 * draft: one record on its way through the decoder, shared by the files that
 * each do a part of the work. Private to the room; lives for one call.
 */
#ifndef BRIDGE_SOURCE_DRAFT_H
#define BRIDGE_SOURCE_DRAFT_H

#include "bridge/source/avro.h"
#include "bridge/source/decode.h"
#include "bridge/source/json.h"
#include "bridge/source/field.h"
#include "bridge/source/names.h"
#include "bridge/source/row.h"
#include "bridge/source/schema.h"

/* Where the fields of an event stand. */
enum br_draft_kind {
	BR_DRAFT_ROUTED, /* headers, and members beside the payload */
	BR_DRAFT_ROW,    /* columns: `row` and `change` are filled in */
	BR_DRAFT_CLOUD   /* attributes of a CloudEvent: `cloud` */
};

/* What a change event tells beside its row. */
struct br_change {
	char op; /* c r u d t m, or 0: not told */
	bool oracle;
	struct br_slice schema, table; /* absent: not told */
	int64_t time_ms;               /* of the source; -1: not told */
};

/* Attributes of a CloudEvent that mean something to us. */
struct br_cloud {
	struct br_field id, source, type, subject, partition_key, time;
	struct br_field content_type, traceparent, tracestate;
};

struct br_draft {
	const struct br_config *config;
	const struct br_names *names;
	struct br_arena *arena;
	const struct br_record *record;
	const struct br_slice **header; /* by slot; NULL: no such header */
	struct br_json_value *member;   /* by slot; of envelope placement */
	bool placed;                    /* `member` is filled in */
	bool has_id;  /* a header `id`, whatever it says: the router's mark */
	bool has_key; /* that, or a header with an idempotency key */
	bool from_router; /* the topic or other headers look like the router */
	struct br_slice aggregate_topic; /* X of outbox.event.X, or absent */
	struct br_json_watch watch;      /* the placeholder */
	enum br_draft_kind kind;
	bool named; /* a format has found an event in it, payload or not */
	const struct br_columns *columns;
	struct br_row *row; /* scratch of the decoder */
	struct br_schemas *schemas;
	struct br_slice schema; /* Connect's, of the value; or absent */
	const char *within;     /* static: its field that is the row, or NULL */
	struct br_slice position; /* in GoldenGate's trail, or absent */
	struct br_pattern *const *tables;
	struct br_change change;
	struct br_cloud cloud;
	struct br_avro *avro;
	bool framed;   /* the value names a schema of a registry */
	bool rendered; /* it was made JSON of: strings have content of it */
	struct br_origins *origins; /* NULL: nobody asks */
	struct br_decoded *out;
};

/* What is known about the body's syntax. */
enum br_body_syntax { BR_BODY_UNKNOWN, BR_BODY_JSON, BR_BODY_NOT_JSON };

/* The payload that a format found in the value. */
struct br_payload {
	bool null; /* the column was NULL */
	enum br_body_syntax syntax;
	struct br_slice body;
};

/*
 * Each decides what becomes of the record, once: the first decision stays.
 * Always false, so that `return br_draft_dead(...)` reads.
 */
bool br_draft_skip(struct br_draft *d, const char *reason);
bool br_draft_dead(struct br_draft *d, const char *stage, const char *reason,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Notes where a field came from, for `explain`. */
void br_draft_from(struct br_draft *d, const char *field, const char *kind,
    struct br_slice name);

/*
 * Payload of the value in one format; false: the record's fate is decided.
 * The value is neither null nor empty.
 */
bool br_payload_json(struct br_draft *d, struct br_payload *p);
bool br_payload_json_schema(struct br_draft *d, struct br_payload *p);
bool br_payload_auto(struct br_draft *d, struct br_payload *p);

/* The same for the formats in which a row, or a CloudEvent, is the event. */
bool br_payload_shaped(
    struct br_draft *d, enum br_format format, struct br_payload *p);

/*
 * The payload inside a scanned value: null, the decoded string, or the span.
 * `span` is what is sent when it is neither. An object in envelope placement
 * gives its member `payload` and fills in the others.
 */
bool br_payload_value(struct br_draft *d, const struct br_json_value *value,
    struct br_slice span, struct br_payload *p);
bool br_payload_object(struct br_draft *d, const struct br_json_object *object,
    struct br_slice span, struct br_payload *p);

/*
 * An Avro value; `known`: the user said so. Without a registry, or while the
 * schema is awaited, the record's fate is decided.
 */
bool br_payload_avro(struct br_draft *d, bool known, struct br_payload *p);

/* By its first byte alone: does the value look like it? */
bool br_payload_is_avro(const struct br_draft *d);

/* Decodes the order key where an Avro converter wrote it. */
void br_avro_order_key(struct br_draft *d);

/* CloudEvents as the headers, or else the members, tell. */
bool br_payload_cloud(struct br_draft *d, struct br_payload *p);

/* The value is not JSON: dead. */
bool br_payload_fault(struct br_draft *d, const struct br_json_fault *fault);

/* {schema, payload} of Kafka Connect: a schema is null or has a type. */
bool br_payload_wrapper(const struct br_json_object *object,
    const struct br_json_value **schema, const struct br_json_value **payload);

/*
 * The event in an object whose shape is known. Each may decide that there is
 * none, and then returns false.
 */
bool br_envelope_payload(
    struct br_draft *d, struct br_slice object, struct br_payload *p);
bool br_flattened_payload(
    struct br_draft *d, struct br_slice object, struct br_payload *p);
bool br_goldengate_payload(
    struct br_draft *d, struct br_slice object, struct br_payload *p);
bool br_cloud_structured(
    struct br_draft *d, struct br_slice object, struct br_payload *p);
/* Attributes in headers, `ce_`; the value is the payload as it is. */
bool br_cloud_binary(struct br_draft *d, struct br_payload *p);

/* The content of a logical message of PostgreSQL; `message` is its object. */
bool br_message_payload(struct br_draft *d, const struct br_json_value *message,
    struct br_payload *p);

/*
 * Decides by `change`, and by the row, whether this is a new event, and finds
 * its payload. `after` is the row, or NULL where there is none.
 */
bool br_change_payload(struct br_draft *d, const struct br_json_value *after,
    struct br_payload *p);

/* The same for a row that is filled in already. */
bool br_change_row(struct br_draft *d, struct br_payload *p);

/* Op and times as a record spells them: its text, or 0 and -1. */
char br_change_op(const struct br_field *field);

/* The order key of a record's key; absent: no order. */
struct br_slice br_order_key(struct br_arena *arena, struct br_slice key);

/* Fill in the fields of an event of that kind; may decide that it is dead. */
void br_routed_fields(struct br_draft *d);
void br_row_fields(struct br_draft *d);
void br_cloud_fields(struct br_draft *d);

/* The event's URL and max_retries as the router places them. */
void br_routed_url(struct br_draft *d);
void br_routed_retries(struct br_draft *d);

/* Text of a header, absent where there is none; notes nothing. */
struct br_field br_header_field(struct br_draft *d, int slot);

/*
 * Check a field and fill it in; absent ones are left alone. `where` is
 * "header", "column" and the like, for messages.
 */
void br_set_key(struct br_draft *d, const struct br_field *field,
    const char *what, const char *where);
void br_set_type(struct br_draft *d, const struct br_field *field);
void br_set_aggregate(struct br_draft *d, const struct br_field *field);
void br_set_url(
    struct br_draft *d, const struct br_field *field, const char *where);
void br_set_retries(
    struct br_draft *d, const struct br_field *field, const char *where);
void br_set_content_type(
    struct br_draft *d, const struct br_field *field, const char *where);

/* The key of an event that no one named. */
void br_set_no_key(struct br_draft *d, const char *what);

/* Trace context: the headers', else the text of a tracingspancontext. */
void br_set_trace(struct br_draft *d, const struct br_field *tracing);

/* Checks the body and fills it in; may decide that the record is dead. */
void br_set_body(struct br_draft *d, const struct br_payload *p);

#endif
