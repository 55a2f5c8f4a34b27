/*
 * registry: the schemas that records name, kept once they are known.
 *
 * Kafka thread only, never blocks: what is not here is asked for through a
 * function, and the answer comes back through br_registry_answer(). A schema
 * never changes under its id, so that one that is here serves through any
 * outage. An outage is asked about again, at most ten seconds apart; an id
 * that the registry does not know (it may be new) three times within seconds,
 * then again after a minute.
 */
#ifndef BRIDGE_SOURCE_REGISTRY_H
#define BRIDGE_SOURCE_REGISTRY_H

#include "bridge/base/error.h"
#include "bridge/source/schema_key.h"
#include "bridge/source/avro_schema.h"

enum br_schema_state {
	BR_SCHEMA_WAIT, /* asked for */
	BR_SCHEMA_HERE,
	BR_SCHEMA_UNKNOWN, /* the registry has none of that id */
	BR_SCHEMA_UNUSABLE /* there is one, which cannot be read */
};

enum br_registry_outcome {
	BR_REGISTRY_FOUND,
	BR_REGISTRY_NONE, /* no schema of that id */
	BR_REGISTRY_UNUSABLE,
	BR_REGISTRY_OUTAGE
};

/* What the registry said. The texts belong to the reply. */
struct br_registry_reply {
	struct br_schema_key key;
	enum br_registry_outcome outcome;
	struct br_buffer *text; /* FOUND: as br_avro_schema_new() wants them */
	size_t text_count;
	struct br_error why;            /* all others */
	struct br_registry_reply *next; /* for queues */
};

void br_registry_reply_free(struct br_registry_reply *reply);

struct br_registry;

/*
 * `ask` passes a question on to whoever may block; it may also answer at
 * once, from within.
 */
struct br_registry *br_registry_new(
    void (*ask)(void *opaque, const struct br_schema_key *key), void *opaque);
void br_registry_free(struct br_registry *r);

/*
 * The state of one schema, which is asked for if nothing is known. HERE gives
 * the schema, valid until the second next call; UNKNOWN and UNUSABLE a reason.
 */
enum br_schema_state br_registry_find(struct br_registry *r,
    const struct br_schema_key *key, struct br_avro_schema **schema,
    const char **why);

/* Takes an answer and frees it. */
void br_registry_answer(
    struct br_registry *r, struct br_registry_reply *reply, int64_t now_ms);

/* Asks again what is due. Returns when to call again, INT64_MAX: not. */
int64_t br_registry_step(struct br_registry *r, int64_t now_ms);

/* Why schemas cannot be had at present, or NULL. */
const char *br_registry_trouble(const struct br_registry *r);

#endif
