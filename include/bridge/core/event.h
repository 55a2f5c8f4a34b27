/*
 * event: one Kafka record once decoded, and the reference that the engine
 * moves around.
 *
 * The event is what was read: one allocation, made and freed by the Kafka
 * thread, never changed in between, so that every thread may read it. The
 * reference is what happens to it: its place in the ledger (Kafka thread
 * only), its place in a lane and its attempts (under the scheduler's lock).
 * They are two, so that a later version can drop the bodies of parked events
 * and read them again: `event == NULL` means "not in memory".
 */
#ifndef BRIDGE_CORE_EVENT_H
#define BRIDGE_CORE_EVENT_H

#include "bridge/core/record.h"
#include "bridge/core/verdict.h"

struct br_event {
	struct br_record record;     /* the original, untouched */
	struct br_slice body;        /* what is sent: a span of the value, or
	                              * decoded beside it */
	const char *event_id;        /* NULL where the record has none */
	const char *idempotency_key; /* as sent; NULL only when reason is set */
	const char *event_type;      /* NULL: none */
	const char *aggregate_type;  /* NULL: none */
	const char *url;    /* where it goes; NULL when reason is set */
	const char *target; /* scheme://host:port of it */
	const char *content_type;
	const char *traceparent;   /* NULL: none or invalid */
	const char *tracestate;    /* NULL: none */
	const char *format;        /* detected: "string", "json", … */
	const char *route;         /* name of the route, "" without one */
	struct br_slice order_key; /* absent or empty: no order */
	uint32_t max_attempts;     /* requests in total, at least 1 */
	bool url_from_event;       /* the address guard applies */
	bool literal_host;         /* … but the list names this host itself */
	const char *reason;        /* dead letter decided at intake, or NULL */
	const char *detail;        /* of it, or NULL */
	const char *stage;         /* detect decode extract validate */
};

struct br_lane;
struct br_sched_part;

/* Why and how an event failed so far; for the log and the dead letter. */
struct br_failure {
	struct br_outcome last;
	int64_t first_wall_ms; /* end of the first attempt */
	const char *reason;    /* static text */
};

/* What became of a reference when the scheduler gives it back. */
enum br_settled {
	BR_SETTLED_NOT,
	BR_SETTLED_DELIVERED, /* final 2xx: settle in the ledger */
	BR_SETTLED_DEAD,      /* must get into the DLQ; its lane holds */
	BR_SETTLED_DROPPED    /* its partition was revoked: forget it */
};

struct br_ref {
	/* ledger: Kafka thread only */
	struct br_ref *ledger_prev, *ledger_next;
	int64_t offset;
	/* scheduler: under its lock, until given back as settled */
	struct br_ref *next;         /* in its lane */
	struct br_ref *settled_next; /* in the settled list */
	struct br_lane *lane;
	uint32_t attempts;  /* requests handed to the HTTP client that count */
	int64_t due_ms;     /* not before, as its first; 0: now */
	uint32_t uncounted; /* … and that do not: throttled ones */
	uint64_t serial;    /* tells events apart while the engine runs */
	bool probe;         /* in flight: a probe of a closed target */
	bool hold_probe;    /* in flight: finds out whether a hold is over */
	bool failed;        /* its failure is counted in its lane's bytes */
	enum br_settled settled;
	const char *reason;         /* dead by our own decision: why; or NULL */
	struct br_failure *failure; /* NULL while none failed */
	/* fixed once opened */
	struct br_sched_part *part;
	size_t bytes; /* memory that it stands for, without its failure */
	struct br_event *event;
};

/* … and with it, under the scheduler's lock. */
static inline size_t
br_ref_weight(const struct br_ref *ref)
{
	return ref->bytes + (ref->failed ? sizeof(struct br_failure) : 0);
}

#endif
