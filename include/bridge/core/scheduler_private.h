/*
 * scheduler_private: what the files of the scheduler share, and nobody else
 * includes.
 */
#ifndef BRIDGE_CORE_SCHEDULER_PRIVATE_H
#define BRIDGE_CORE_SCHEDULER_PRIVATE_H

#include "bridge/core/lane.h"
#include "bridge/core/scheduler.h"
#include "bridge/core/share.h"
#include "bridge/core/target.h"

struct br_sched_part {
	struct br_sched *sched;
	void *opaque;
	bool closed;
	size_t count; /* references in here */
	struct br_lane *lanes;
	uint64_t failures; /* attempts that ended so, ever */
};

struct br_sched {
	struct br_sched_rules rules;
	struct br_lane_table lanes;
	struct br_target_table targets; /* and all timers */
	struct br_heap running;         /* lanes, by since when */
	struct br_target **last_target; /* by worker; NULL: none yet */
	struct br_share share;
	uint64_t turns; /* taken so far */
	struct br_ref *settled_first, *settled_last;
	size_t settled_dead; /* dead ones in that list */
	size_t ready;        /* READY lanes */
	size_t delayed;      /* DELAYED lanes */
	size_t lane_count;
	size_t in_flight, dead, total;
	size_t dying; /* bytes of the dead ones */
	size_t extra; /* bytes of lanes and failures */
	size_t parts; /* not freed yet */
	uint64_t serial;
};

/* The first of a READY or DELAYED lane goes to the DLQ, for this reason. */
void br_sched_kill(struct br_sched *s, struct br_lane *lane, const char *reason,
    int64_t now_ms);

#endif
