/* scheduler_view: partitions as handles, what has settled, and what can be
 * asked; see scheduler.h. */
#include <stdlib.h>

#include "bridge/core/scheduler_private.h"

struct br_sched_part *
br_sched_part_open(struct br_sched *s, void *opaque)
{
	struct br_sched_part *p = calloc(1, sizeof(*p));

	if (p == NULL)
		abort();
	p->sched = s;
	p->opaque = opaque;
	s->parts++;
	return p;
}

void *
br_sched_part_opaque(const struct br_sched_part *p)
{
	return p->opaque;
}

size_t
br_sched_part_count(const struct br_sched_part *p)
{
	return p->count;
}

void
br_sched_part_free(struct br_sched_part *p)
{
	if (p == NULL)
		return;
	if (!p->closed || p->count != 0 || p->lanes != NULL)
		abort();
	p->sched->parts--;
	free(p);
}

struct br_ref *
br_sched_settled(struct br_sched *s)
{
	struct br_ref *list = s->settled_first;

	s->settled_first = s->settled_last = NULL;
	s->settled_dead = 0;
	return list;
}

void
br_sched_probe_now(struct br_sched *s, int64_t now_ms)
{
	br_target_probe_now(&s->targets, now_ms);
}

void
br_sched_stats(const struct br_sched *s, struct br_sched_stats *out)
{
	*out = (struct br_sched_stats){
	    .in_flight = s->in_flight,
	    .waiting = s->total - s->in_flight - s->dead,
	    .delayed = s->delayed,
	    .dead = s->dead,
	    .lanes = s->lane_count,
	    .closed = s->targets.closed,
	    .extra = s->extra,
	    .settled_any = s->settled_first != NULL,
	    .settled_dead = s->settled_dead != 0,
	};
}

bool
br_sched_suits(struct br_sched *s, uint32_t worker)
{
	const struct br_stream *next = br_stream_next(&s->targets, NULL, 0);

	return next != NULL && next->target == s->last_target[worker];
}

bool
br_sched_tried(const struct br_ref *ref, uint32_t *attempts, int64_t *due_ms)
{
	const struct br_lane *lane = ref->lane;
	bool running = lane != NULL && lane->first == ref &&
	               lane->state == BR_LANE_RUNNING;

	*attempts = ref->attempts - running;
	*due_ms = running ? 0 : ref->due_ms;
	return *attempts != 0 || *due_ms != 0;
}

uint64_t
br_sched_part_failures(const struct br_sched_part *p)
{
	return p->failures;
}
