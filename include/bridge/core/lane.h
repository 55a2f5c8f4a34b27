/*
 * lane: the queue of events of one partition and one ordering key.
 *
 * A lane exists only while it holds something. Its first reference is the
 * only one that may be sent; the others wait behind it, whatever it does.
 * Under the scheduler's lock, like everything in here; shared by the files
 * of the scheduler and nobody else.
 */
#ifndef BRIDGE_CORE_LANE_H
#define BRIDGE_CORE_LANE_H

#include "bridge/core/event.h"
#include "bridge/core/heap.h"

/*
 * Where a lane is, by its first reference. Legal moves: NEW to READY, DEAD;
 * READY to RUNNING; RUNNING to READY (the next one), DELAYED, DEAD; DELAYED
 * to READY; DEAD to READY, DEAD (the next one). Any state may end.
 */
enum br_lane_state {
	BR_LANE_NEW,     /* in nothing */
	BR_LANE_READY,   /* in its stream's heap: may be sent now */
	BR_LANE_RUNNING, /* with a worker */
	BR_LANE_DELAYED, /* in the timer heap: waits for its time */
	BR_LANE_DEAD     /* its dead letter is under way */
};

struct br_lane {
	enum br_lane_state state;
	struct br_ref *first, *last;
	struct br_sched_part *part;
	struct br_lane *part_prev, *part_next; /* lanes of the partition */
	struct br_stream *stream;  /* where its first wants to go; NULL: NEW */
	struct br_heap_node place; /* READY: in the stream's heap, by since
	                            * when; DELAYED: in the timers, by due
	                            * time; RUNNING: by since when */
	size_t count;              /* references in it */
	size_t bytes;              /* what they weigh, and the lane itself */
	uint32_t probes;           /* of its first, while the target is down */
	struct br_lane *hash_next; /* lanes with a key */
	uint64_t hash;
	bool keyed;
	size_t key_len;
	uint8_t key[]; /* of the partition, when keyed */
};

/* Lanes with a key, by partition and key. */
struct br_lane_table {
	struct br_lane **bucket;
	size_t buckets; /* a power of two, or 0 */
	size_t count;
	uint64_t seed;
};

/* Finds the lane of a key, or makes it (state NEW, not yet in `part`). */
struct br_lane *br_lane_get(struct br_lane_table *t, struct br_sched_part *part,
    struct br_slice key, bool *made);

/* A lane without a key: of one event that has no order. */
struct br_lane *br_lane_single(struct br_sched_part *part);

/* Takes it out of the table, if it is there, and frees it; it is empty. */
void br_lane_free(struct br_lane_table *t, struct br_lane *lane);

void br_lane_table_free(struct br_lane_table *t);

/* Appends a reference. */
void br_lane_push(struct br_lane *lane, struct br_ref *ref);

/* Takes the first reference out. */
struct br_ref *br_lane_pop(struct br_lane *lane);

#endif
