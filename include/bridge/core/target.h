/*
 * target: scheme, host and port that is really called, and the lanes whose
 * first event wants to go there now.
 *
 * The place where the health of a destination lives, apart from the back-off
 * of single events. Under the scheduler's lock; shared by the files of the
 * scheduler and nobody else.
 */
#ifndef BRIDGE_CORE_TARGET_H
#define BRIDGE_CORE_TARGET_H

#include "bridge/core/lane.h"

struct br_target {
	struct br_target *next;       /* in the table's chain */
	struct br_lane *first, *last; /* ready lanes, oldest first */
	struct br_heap_node turn; /* in the table's heap while it has some; key:
	                             * since when its oldest lane is ready */
	size_t in_flight;
	size_t lanes;   /* lanes that point here */
	size_t workers; /* workers that used it last */
	uint64_t hash;
	char name[]; /* scheme://host:port */
};

struct br_target_table {
	struct br_target *bucket[256];
	size_t count;
	struct br_heap turns; /* targets with something to send */
};

/* Finds or makes the target of this name. */
struct br_target *br_target_get(struct br_target_table *t, const char *name);

/* Appends a lane to those that are ready. */
void br_target_ready(struct br_target_table *t, struct br_target *target,
    struct br_lane *lane, int64_t now_ms);

/* Takes a ready lane out, wherever it stands. */
void br_target_unready(
    struct br_target_table *t, struct br_target *target, struct br_lane *lane);

/*
 * The target to send to next: the one whose lane is ready for longest, but
 * `prefer` (or NULL) when its oldest is at most `slack_ms` younger. NULL when
 * nothing is ready.
 */
struct br_target *br_target_next(const struct br_target_table *t,
    struct br_target *prefer, int64_t slack_ms);

void br_target_table_free(struct br_target_table *t);

#endif
