/*
 * parts: the partitions that are ours, and how far each may be committed.
 *
 * Kafka thread only; nothing blocks. Answers the group's events: asks where
 * to begin, begins, commits watermarks, and gives partitions up when they are
 * revoked, once what is in flight is back or its time is over. Every
 * assignment of a partition is a `struct br_part` of its own (its epoch):
 * what settles for an old one is never committed.
 */
#ifndef BRIDGE_RUNTIME_PARTS_H
#define BRIDGE_RUNTIME_PARTS_H

#include "bridge/config/config.h"
#include "bridge/core/checkpoint.h"
#include "bridge/core/ledger.h"
#include "bridge/kafka/consumer.h"
#include "bridge/runtime/alarms.h"
#include "bridge/runtime/pool.h"
#include "bridge/source/registry.h"

/*
 * Life of an assignment. Legal moves: ASKING to STARTING, READING, HELD;
 * STARTING to READING; READING to HELD, ASKING (its position is in doubt);
 * HELD to STARTING, READING; any to CLOSING; any to GONE. GONE is the end: only waiting for what is still out.
 */
enum br_part_state {
	BR_PART_ASKING,   /* the brokers are asked where to begin */
	BR_PART_STARTING, /* a new start offset is being committed */
	BR_PART_READING,
	BR_PART_HELD,    /* a fault: nothing is read, `why` says it */
	BR_PART_CLOSING, /* revoked or shutting down: waiting for its events */
	BR_PART_GONE     /* not ours any more */
};

struct br_part {
	struct br_part *next;
	char *topic;
	int32_t partition;
	enum br_part_state state;
	struct br_ledger ledger;
	struct br_sched_part *sched;
	size_t out;           /* references that the engine has */
	int64_t committed;    /* acknowledged by the brokers; -1: none */
	bool committed_known; /* the start is known: it may be committed */
	struct br_checkpoint *checkpoint; /* of the last owner; NULL: none */
	int64_t begun_ms;                 /* READING: since when */
	bool resumed;        /* some events go on with attempts of before */
	uint64_t settled;    /* references, ever; … */
	uint64_t sent[2];    /* … that and failures in the commit under way */
	uint64_t written[2]; /* … and in the last acknowledged one */
	int64_t asked_ms;    /* ASKING: when to ask again */
	uint64_t ticket;     /* ASKING: of the question under way; 0: none */
	bool reading;        /* the client reads it */
	bool paused;         /* too many open events */
	bool gap;            /* HELD for a position that is not in the log */
	bool first_start;    /* its first record says since when they wait */
	bool corrupt;        /* what stands at `corrupt_at` cannot be read */
	int64_t corrupt_at;
	bool awaits; /* HELD for `schema` */
	struct br_schema_key schema;
	char why[400]; /* HELD */
};

struct br_parts;

struct br_parts *br_parts_new(const struct br_config *config,
    struct br_consumer *consumer, struct br_pool *pool,
    struct br_alarms *alarms);
/* Frees the partitions whose events are all back, and the rest of it. */
void br_parts_free(struct br_parts *ps);

/* Assignments, revokes, commit replies, answers; ignores other events. */
void br_parts_event(
    struct br_parts *ps, const struct br_kafka_event *ev, int64_t now_ms);

/* The assignment that records of this partition belong to, or NULL. */
struct br_part *br_parts_find(
    struct br_parts *ps, const char *topic, int32_t partition);

/* The reader met the end of a partition, or a fault. */
void br_parts_read(
    struct br_parts *ps, const struct br_read *read, int64_t now_ms);

/* Nothing more is read of this partition until the cure; `why` for people. */
void br_parts_hold(struct br_parts *ps, struct br_part *part, const char *why);

/* The first record behind a first start is there: says since when there are
 * events to send. */
void br_parts_first(struct br_part *part, const struct br_record *record);
/* The same until a schema is here, or known not to be. It goes on with the
 * record at `offset`. */
void br_parts_hold_schema(struct br_parts *ps, struct br_part *part,
    int64_t offset, const struct br_schema_key *schema);
/* Lets those go on whose schema need not be waited for any more. */
void br_parts_release_schemas(
    struct br_parts *ps, struct br_registry *registry);

/* References went to the engine, or came back and settled, or were dropped. */
void br_parts_opened(struct br_part *part, struct br_ref *ref);
void br_parts_settled(struct br_parts *ps, struct br_ref *ref);
void br_parts_dropped(struct br_parts *ps, struct br_ref *ref);

/* What is due: commits, revokes, questions. Returns when to call again. */
int64_t br_parts_step(struct br_parts *ps, int64_t now_ms);

/* Begins the end: nothing is read, what waits is dropped. */
void br_parts_shutdown(struct br_parts *ps, int64_t now_ms);
/* Patience has ended: what is still out is not waited for any more. */
void br_parts_leave(struct br_parts *ps, int64_t now_ms);
/* True when all that was in flight is back and committed. */
bool br_parts_quiet(const struct br_parts *ps);

/* True once the group gave us an assignment (which may be empty), and every
 * partition of it has found its start. */
bool br_parts_ready(const struct br_parts *ps);

/* True once the group gave us an assignment, even an empty one. */
bool br_parts_assigned(const struct br_parts *ps);

/* True while events of a partition that is gone are still out. */
bool br_parts_any_gone(const struct br_parts *ps);

/* The partitions whose logs are known to go on beyond what was read, or
 * NULL: none. The caller frees them. */
struct br_positions *br_parts_behind(const struct br_parts *ps);

/* Bytes of open events over all partitions, with their lanes and what is
 * known of their failures. */
uint64_t br_parts_open_bytes(const struct br_parts *ps);

/* The largest lanes, see br_sched_largest(); how many. */
size_t br_parts_largest(
    const struct br_parts *ps, struct br_lane_view *list, size_t max);

/* True, once: the process must end because `kafka.start = "error"` met a
 * group without offsets. */
bool br_parts_no_start(struct br_parts *ps);

/* Stops the client's reading of partitions with too many open events, and
 * lets it go on where they have become fewer. */
void br_parts_throttle(struct br_parts *ps);

/* Sets lag and age gauges. */
void br_parts_gauges(struct br_parts *ps, int64_t wall_ms);

#endif
