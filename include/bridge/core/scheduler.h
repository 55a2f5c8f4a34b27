/*
 * scheduler: which event is sent next, by whom, and what becomes of it.
 *
 * Pure: no thread, no clock, no library. The caller brings the time (ms of
 * any clock that does not go back) and random numbers. It is the one meeting
 * point of the threads, so every call is made under one lock, which belongs
 * to the caller (runtime/pool).
 *
 * Keeps true:
 * - of a lane at most one event is in flight or in the DLQ's hands, and it
 *   is the one with the lowest offset (P4);
 * - an event that waits for its time holds a place in a heap and nothing
 *   else: no worker, no connection;
 * - every reference that was put comes back exactly once through
 *   br_sched_settled(): delivered, dead or dropped.
 */
#ifndef BRIDGE_CORE_SCHEDULER_H
#define BRIDGE_CORE_SCHEDULER_H

#include "bridge/core/event.h"
#include "bridge/core/health.h"
#include "bridge/core/retry.h"

struct br_sched;
struct br_target;

enum br_order { BR_ORDER_KEY, BR_ORDER_PARTITION, BR_ORDER_NONE };

struct br_sched_rules {
	enum br_order order;
	struct br_retry_rules retry;
	struct br_verdict_rules verdict;
	struct br_health_rules health; /* its `connections`: of each target */
	uint32_t workers;
	uint64_t seed; /* of the hash of keys */
};

struct br_sched *br_sched_new(const struct br_sched_rules *rules);
/* Everything must have come back; aborts otherwise. */
void br_sched_free(struct br_sched *s);

/* One assignment of one partition; `opaque` is the caller's. */
struct br_sched_part *br_sched_part_open(struct br_sched *s, void *opaque);
void *br_sched_part_opaque(const struct br_sched_part *p);
/*
 * Drops what waits (it comes back as dropped); what is in flight, or in the
 * DLQ's hands, comes back when it ends: delivered, dead, or dropped where it
 * would have been tried again. Nothing may be put any more.
 */
void br_sched_part_close(
    struct br_sched *s, struct br_sched_part *p, int64_t now_ms);
/* References of it that are still in the scheduler. */
size_t br_sched_part_count(const struct br_sched_part *p);
/* How many attempts of its events have failed, ever: whether there is
 * something new to write down. */
uint64_t br_sched_part_failures(const struct br_sched_part *p);
/* Closed and empty only; aborts otherwise. The caller's thread only, with no
 * lock needed but that of the scheduler. */
void br_sched_part_free(struct br_sched_part *p);

/*
 * Puts an event at the end of its lane. `attempts` and `due_ms` of the
 * reference say what is known from before a restart, 0 otherwise. An event whose `reason` is set is
 * never sent: it comes back as dead when it is the first of its lane.
 */
void br_sched_put(struct br_sched *s, struct br_ref *ref, int64_t now_ms);

/*
 * Next event for worker `worker` (0 … workers-1), which is now in flight, or
 * NULL; then `*wake_ms` is when to ask again at the latest (INT64_MAX: only
 * after another call changed something). Prefers the target that the worker
 * used last when its oldest due event is at most 50 ms younger than the
 * oldest of all. The last free worker is kept for a target that has none while
 * several are in use; one worker alone serves them in turn. Counts the attempt: ref->attempts is its number, until
 * br_sched_give_back() finds that it does not count.
 */
struct br_ref *br_sched_take(
    struct br_sched *s, uint32_t worker, int64_t now_ms, int64_t *wake_ms);

/* What an attempt's end did to its target. */
enum br_target_change {
	BR_TARGET_SAME,
	BR_TARGET_OPENED,
	BR_TARGET_DOWN,    /* closed by target failures in a row */
	BR_TARGET_REFUSING /* closed by dead letters in a row */
};

/* What br_sched_give_back() decided, for the log. */
struct br_decision {
	enum br_verdict verdict;
	bool exhausted;  /* again, but no attempt is left: dead */
	bool counted;    /* false: this attempt costs the event nothing */
	bool dropped;    /* its partition is closing: not tried again here */
	int64_t wait_ms; /* again: until the next attempt; -1: when the target
	                  * opens */
	enum br_target_change change; /* opened or closed */
	size_t waiting; /* after a change: events that want to go there */
	int64_t next_probe_ms; /* closed: from now */
};

/*
 * Ends an attempt. `random` is uniform in [0, 1). When the outcome is not
 * delivered the caller has filled ref->failure before.
 */
struct br_decision br_sched_give_back(struct br_sched *s, uint32_t worker,
    struct br_ref *ref, const struct br_outcome *outcome, int64_t now_ms,
    double random);

/* Closed targets are probed at once: an operator says that it is worth it. */
void br_sched_probe_now(struct br_sched *s, int64_t now_ms);

/*
 * Takes the whole list of settled references, in the order in which they
 * settled; NULL when there is none. Delivered and dropped ones are out of
 * the scheduler. Dead ones still hold their lane.
 */
struct br_ref *br_sched_settled(struct br_sched *s);

/* The dead letter is acknowledged (or, after a revoke, given up): its lane
 * moves on, and the reference is out of the scheduler. */
void br_sched_buried(struct br_sched *s, struct br_ref *ref, int64_t now_ms);

struct br_sched_stats {
	size_t in_flight;
	size_t waiting; /* put and not settled, not in flight */
	size_t delayed; /* of them: lanes in the timer heap */
	size_t dead;    /* in the DLQ's hands */
	size_t lanes;
	size_t closed;     /* targets */
	size_t extra;      /* bytes of lanes and of what failures left, which
	                    * the `bytes` of references do not hold */
	bool settled_any;  /* the settled list is not empty */
	bool settled_dead; /* … and holds a dead one: wake the Kafka thread */
};
void br_sched_stats(const struct br_sched *s, struct br_sched_stats *out);

/*
 * What has been tried of an open reference, for the checkpoint: attempts that
 * are over and count, and when it is due (0: now). False: nothing.
 */
bool br_sched_tried(
    const struct br_ref *ref, uint32_t *attempts, int64_t *due_ms);

/* How many workers would find something to do now, at most `limit`: due, and
 * allowed by windows, holds and probes. Of several workers it may count one
 * too many, which is kept for another target; 1 is exact. */
size_t br_sched_ready(struct br_sched *s, int64_t now_ms, size_t limit);

/* True when the event that is due for longest goes to the target that this
 * worker used last: it is the one to wake. */
bool br_sched_suits(struct br_sched *s, uint32_t worker);

#endif
