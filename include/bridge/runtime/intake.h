/*
 * intake: a Kafka record to an event: decode, route, check the URL, copy.
 *
 * Kafka thread only. The only file that knows records, decoding and the
 * engine's events at once. Never blocks.
 */
#ifndef BRIDGE_RUNTIME_INTAKE_H
#define BRIDGE_RUNTIME_INTAKE_H

#include "bridge/base/error.h"
#include "bridge/config/config.h"
#include "bridge/core/event.h"
#include "bridge/core/url.h"
#include "bridge/source/decode.h"
#include "bridge/source/registry.h"

enum br_intake_result {
	BR_INTAKE_EVENT, /* `ref` is made */
	BR_INTAKE_SKIP,  /* counted; the offset is passed */
	BR_INTAKE_HOLD,  /* the record must wait: its partition holds */
	BR_INTAKE_WAIT   /* so must it, until its schema is here */
};

struct br_intake;

/* NULL and a reason for rules that do not compile. */
struct br_intake *br_intake_new(
    const struct br_config *config, struct br_error *err);
void br_intake_free(struct br_intake *in);

/*
 * Takes one record. EVENT: `*ref` is made, with its event and `part`, and
 * belongs to the caller. HOLD: an event names a URL of its own and
 * delivery.event_urls is empty; `host` tells which.
 */
enum br_intake_result br_intake_take(struct br_intake *in,
    const struct br_record *record, struct br_sched_part *part,
    struct br_ref **ref, char *host, size_t host_size);

/* From now on Avro is read, with the schemas of `registry`. */
void br_intake_use(struct br_intake *in, struct br_registry *registry);

/* WAIT: the schema that the last record waits for. */
const struct br_schema_key *br_intake_schema(const struct br_intake *in);

/* All that is found out about one record, for a person who asks. */
struct br_intake_view {
	enum br_intake_result result;
	struct br_decoded decoded; /* its slices live until the next record */
	struct br_origins origins; /* so do these */
	struct br_ref *ref;        /* EVENT: the caller's; otherwise NULL */
	int route;                 /* index of the route, or -1 */
	bool route_url;            /* the request's URL is the route's */
	char host[sizeof(((struct br_url *)NULL)->target)]; /* HOLD */
};

/* Finds out what br_intake_take() would, and counts and logs nothing. */
void br_intake_look(struct br_intake *in, const struct br_record *record,
    struct br_intake_view *view);

/* Frees a reference and what it holds. */
void br_ref_free(struct br_ref *ref);

#endif
