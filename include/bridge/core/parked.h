/*
 * parked: what stands in the way of reading on: the events that wait, by
 * their bytes, lanes and targets, and which of them may be given up.
 *
 * Parked is a lane whose first event waits: for its next attempt, for a target
 * that is closed, for the end of a hold, for the DLQ, or for the answer to a
 * request that takes long; with everything behind it. A lane that only waits
 * for its turn is not. Like scheduler.h in all else: pure, under one lock.
 */
#ifndef BRIDGE_CORE_PARKED_H
#define BRIDGE_CORE_PARKED_H

#include "bridge/core/scheduler.h"

/* A request under way for so long parks its lane. */
#define BR_PARKED_RUNNING_MS 5000

/* Reason of dead letters that were given up while their target was closed. */
#define BR_PARKED_REASON "target-down"

/* Bytes of parked lanes. */
size_t br_sched_parked(const struct br_sched *s, int64_t now_ms);

/*
 * Gives up events of closed targets, those that were put first first, until
 * at least `bytes` that were given up are on their way to the DLQ,
 * or there is none any more. Of a lane it is the first one; the next one may
 * follow when that is buried. Returns how many; they settle as dead.
 */
size_t br_sched_shed(struct br_sched *s, size_t bytes, int64_t now_ms);

#define BR_LANE_VIEW_KEY 60

/* A lane as a person should see it. */
struct br_lane_view {
	const struct br_sched_part *part;
	uint8_t key[BR_LANE_VIEW_KEY]; /* its beginning */
	size_t key_len;                /* of all of it; 0: no order */
	size_t count, bytes;
};

/* Puts the lanes of a partition into a list of the `max` largest, the largest
 * first, of which `count` are filled. Returns how many are then. */
size_t br_sched_largest(const struct br_sched_part *p,
    struct br_lane_view *list, size_t count, size_t max);

#define BR_TARGET_VIEW_NAME 300

/* A closed target as a person should see it. */
struct br_target_view {
	char name[BR_TARGET_VIEW_NAME];
	enum br_health_state state;
	int status;                  /* the answer that closed it; 0: none */
	enum br_transport transport; /* status 0: why not */
	size_t waiting;              /* lanes that want to go there */
	int64_t closed_ms;
};

/*
 * The `max` closed targets for which most waits, in this order. Returns how
 * many are closed. Those that nobody has wanted for long are forgotten first.
 */
size_t br_sched_closed(struct br_sched *s, int64_t now_ms,
    struct br_target_view *list, size_t max);

/* Shows every target: closed ones first. */
typedef void br_target_fn(void *opaque, const char *name, bool open);
void br_sched_each_target(
    const struct br_sched *s, br_target_fn *show, void *opaque);

#endif
