/*
 * draft: one record on its way through the decoder, shared by the files that
 * each do a part of the work. Private to the room; lives for one call.
 */
#ifndef BRIDGE_SOURCE_DRAFT_H
#define BRIDGE_SOURCE_DRAFT_H

#include "bridge/source/decode.h"
#include "bridge/source/json.h"
#include "bridge/source/names.h"

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

/*
 * Payload of the value in one format; false: the record's fate is decided.
 * The value is neither null nor empty.
 */
bool br_payload_json(struct br_draft *d, struct br_payload *p);
bool br_payload_json_schema(struct br_draft *d, struct br_payload *p);
bool br_payload_auto(struct br_draft *d, struct br_payload *p);

/*
 * The payload inside a scanned value: null, the decoded string, or the span.
 * `span` is what is sent when it is neither. An object in envelope placement
 * gives its member `payload` and fills in the others.
 */
bool br_payload_value(struct br_draft *d, const struct br_json_value *value,
    struct br_slice span, struct br_payload *p);
bool br_payload_object(struct br_draft *d, const struct br_json_object *object,
    struct br_slice span, struct br_payload *p);

/* The order key of a record's key; absent: no order. */
struct br_slice br_order_key(struct br_arena *arena, struct br_slice key);

/* Fills in the fields of a routed event; may decide that it is dead. */
void br_routed_fields(struct br_draft *d);

/* Checks the body and fills it in; may decide that the record is dead. */
void br_routed_body(struct br_draft *d, const struct br_payload *p);

#endif
