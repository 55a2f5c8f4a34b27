/* scheduler: see the header. */
#include "bridge/core/scheduler.h"

#include <assert.h>
#include <stdlib.h>

#include "bridge/core/lane.h"
#include "bridge/core/target.h"

/* A worker stays with its connection for a lane at most so much younger. */
#define PREFER_MS 50

struct br_sched_part {
	void *opaque;
	bool closed;
	size_t count; /* references in here */
	struct br_lane *lanes;
};

struct br_sched {
	struct br_sched_rules rules;
	struct br_lane_table lanes;
	struct br_target_table targets;
	struct br_heap timers;          /* DELAYED lanes by due time */
	struct br_target **last_target; /* by worker; NULL: none yet */
	struct br_ref *settled_first, *settled_last;
	size_t settled_dead; /* dead ones in that list */
	size_t ready;        /* READY lanes */
	size_t lane_count;
	size_t in_flight, dead, total;
};

struct br_sched *
br_sched_new(const struct br_sched_rules *rules)
{
	struct br_sched *s = calloc(1, sizeof(*s));

	if (s == NULL)
		abort();
	s->rules = *rules;
	s->lanes.seed = rules->seed;
	s->last_target = calloc(rules->workers, sizeof(struct br_target *));
	if (s->last_target == NULL)
		abort();
	return s;
}

void
br_sched_free(struct br_sched *s)
{
	if (s == NULL)
		return;
	if (s->total != 0 || s->settled_first != NULL)
		abort();
	br_lane_table_free(&s->lanes);
	br_target_table_free(&s->targets);
	br_heap_free(&s->timers);
	free(s->last_target);
	free(s);
}

struct br_sched_part *
br_sched_part_open(struct br_sched *s, void *opaque)
{
	struct br_sched_part *p = calloc(1, sizeof(*p));

	(void)s;
	if (p == NULL)
		abort();
	p->opaque = opaque;
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
	free(p);
}

/* The reference leaves the engine, or (dead) waits for its burial. */
static void
settle(struct br_sched *s, struct br_ref *ref, enum br_settled how)
{
	ref->settled = how;
	if (how == BR_SETTLED_DEAD) {
		s->settled_dead++;
		s->dead++;
	} else {
		ref->part->count--;
		s->total--;
	}
	ref->settled_next = NULL;
	if (s->settled_last != NULL)
		s->settled_last->settled_next = ref;
	else
		s->settled_first = ref;
	s->settled_last = ref;
}

/* A lane's state and the list or heap that goes with it, in one place. */
static void
lane_move(struct br_sched *s, struct br_lane *lane, enum br_lane_state to,
    int64_t at_ms)
{
	if (lane->state == BR_LANE_READY) {
		br_target_unready(&s->targets, lane->target, lane);
		s->ready--;
	} else if (lane->state == BR_LANE_DELAYED)
		br_heap_remove(&s->timers, &lane->timer);
	else if (lane->state == BR_LANE_RUNNING) {
		lane->target->in_flight--;
		s->in_flight--;
	}

	lane->state = to;
	if (to == BR_LANE_READY) {
		br_target_ready(&s->targets, lane->target, lane, at_ms);
		s->ready++;
	} else if (to == BR_LANE_DELAYED)
		br_heap_add(&s->timers, &lane->timer, at_ms);
	else if (to == BR_LANE_RUNNING) {
		lane->target->in_flight++;
		s->in_flight++;
	}
}

static void
lane_aim(struct br_lane *lane, struct br_target *target)
{
	if (lane->target == target)
		return;
	if (lane->target != NULL)
		lane->target->lanes--;
	if (target != NULL)
		target->lanes++;
	lane->target = target;
}

static void
lane_end(struct br_sched *s, struct br_lane *lane)
{
	struct br_sched_part *p = lane->part;

	lane_move(s, lane, BR_LANE_NEW, 0);
	lane_aim(lane, NULL);
	if (lane->part_prev != NULL)
		lane->part_prev->part_next = lane->part_next;
	else
		p->lanes = lane->part_next;
	if (lane->part_next != NULL)
		lane->part_next->part_prev = lane->part_prev;
	s->lane_count--;
	br_lane_free(&s->lanes, lane);
}

/* The lane has a new first reference, or none. */
static void
lane_serve(struct br_sched *s, struct br_lane *lane, int64_t now_ms)
{
	struct br_ref *ref = lane->first;

	if (ref == NULL) {
		lane_end(s, lane);
		return;
	}
	if (ref->event->reason != NULL) {
		lane_move(s, lane, BR_LANE_DEAD, 0);
		settle(s, ref, BR_SETTLED_DEAD);
		return;
	}
	if (lane->state == BR_LANE_RUNNING)
		lane_move(s, lane, BR_LANE_NEW, 0);
	lane_aim(lane, br_target_get(&s->targets, ref->event->target));
	lane_move(s, lane, BR_LANE_READY, now_ms);
}

static struct br_lane *
lane_of(struct br_sched *s, const struct br_ref *ref)
{
	struct br_slice key = ref->event->order_key;
	struct br_lane *lane;
	bool made = true;

	if (s->rules.order == BR_ORDER_PARTITION)
		lane =
		    br_lane_get(&s->lanes, ref->part, br_slice_str(""), &made);
	else if (s->rules.order == BR_ORDER_NONE || key.len == 0)
		lane = br_lane_single(ref->part);
	else
		lane = br_lane_get(&s->lanes, ref->part, key, &made);
	if (made) {
		lane->part_next = ref->part->lanes;
		if (lane->part_next != NULL)
			lane->part_next->part_prev = lane;
		ref->part->lanes = lane;
		s->lane_count++;
	}
	return lane;
}

void
br_sched_put(struct br_sched *s, struct br_ref *ref, int64_t now_ms)
{
	struct br_lane *lane;

	if (ref->part->closed)
		abort();
	lane = lane_of(s, ref);
	ref->settled = BR_SETTLED_NOT;
	ref->part->count++;
	s->total++;
	br_lane_push(lane, ref);
	if (lane->first == ref)
		lane_serve(s, lane, now_ms);
}

void
br_sched_part_close(struct br_sched *s, struct br_sched_part *p)
{
	struct br_lane *lane, *next;

	p->closed = true;
	for (lane = p->lanes; lane != NULL; lane = next) {
		bool held = lane->state == BR_LANE_RUNNING ||
		            lane->state == BR_LANE_DEAD;
		struct br_ref *first = held ? br_lane_pop(lane) : NULL;

		next = lane->part_next;
		while (lane->first != NULL)
			settle(s, br_lane_pop(lane), BR_SETTLED_DROPPED);
		if (first != NULL)
			br_lane_push(lane, first);
		else
			lane_end(s, lane);
	}
}

/* Lanes whose time has come become ready, in the order of their times. */
static void
wake_lanes(struct br_sched *s, int64_t now_ms)
{
	struct br_heap_node *n;

	while ((n = br_heap_top(&s->timers)) != NULL && n->key <= now_ms)
		lane_move(s, n->owner, BR_LANE_READY, now_ms);
}

struct br_ref *
br_sched_take(
    struct br_sched *s, uint32_t worker, int64_t now_ms, int64_t *wake_ms)
{
	struct br_target *target;
	struct br_lane *lane;
	const struct br_heap_node *n;

	assert(worker < s->rules.workers);
	wake_lanes(s, now_ms);
	n = br_heap_top(&s->timers);
	*wake_ms = n != NULL ? n->key : INT64_MAX;
	target = br_target_next(&s->targets, s->last_target[worker], PREFER_MS);
	if (target == NULL)
		return NULL;
	lane = target->first;
	lane_move(s, lane, BR_LANE_RUNNING, 0);
	if (s->last_target[worker] != target) {
		if (s->last_target[worker] != NULL)
			s->last_target[worker]->workers--;
		target->workers++;
		s->last_target[worker] = target;
	}
	lane->first->attempts++;
	return lane->first;
}

/* The attempt failed: wait, or die. */
static void
fail(struct br_sched *s, struct br_ref *ref, const struct br_outcome *outcome,
    int64_t now_ms, double random, struct br_decision *d)
{
	struct br_lane *lane = ref->lane;
	uint64_t asked = 0;

	d->exhausted =
	    d->verdict == BR_AGAIN && ref->attempts >= ref->event->max_attempts;
	if (d->verdict == BR_NEVER || d->exhausted) {
		ref->failure->reason =
		    br_dead_reason(&s->rules.verdict, outcome);
		lane_move(s, lane, BR_LANE_DEAD, 0);
		settle(s, ref, BR_SETTLED_DEAD);
		return;
	}
	if (ref->part->closed) {
		(void)br_lane_pop(lane);
		settle(s, ref, BR_SETTLED_DROPPED);
		lane_end(s, lane);
		return;
	}
	if (outcome->retry_after_given && outcome->retry_after_ms > 0)
		asked = (uint64_t)outcome->retry_after_ms;
	d->wait_ms = (int64_t)br_retry_delay_ms(
	    &s->rules.retry, ref->attempts, asked, random);
	lane_move(s, lane, BR_LANE_DELAYED, now_ms + d->wait_ms);
}

struct br_decision
br_sched_give_back(struct br_sched *s, uint32_t worker, struct br_ref *ref,
    const struct br_outcome *outcome, int64_t now_ms, double random)
{
	struct br_decision d = {
	    .verdict = br_verdict(&s->rules.verdict, outcome)};
	struct br_lane *lane = ref->lane;

	(void)worker;
	if (lane == NULL || lane->state != BR_LANE_RUNNING ||
	    lane->first != ref)
		abort();
	if (d.verdict != BR_DELIVERED) {
		fail(s, ref, outcome, now_ms, random, &d);
		return d;
	}
	(void)br_lane_pop(lane);
	settle(s, ref, BR_SETTLED_DELIVERED);
	lane_serve(s, lane, now_ms);
	return d;
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
br_sched_buried(struct br_sched *s, struct br_ref *ref, int64_t now_ms)
{
	struct br_lane *lane = ref->lane;

	if (lane == NULL || lane->state != BR_LANE_DEAD || lane->first != ref)
		abort();
	(void)br_lane_pop(lane);
	ref->part->count--;
	s->total--;
	s->dead--;
	lane_serve(s, lane, now_ms);
}

void
br_sched_stats(const struct br_sched *s, struct br_sched_stats *out)
{
	*out = (struct br_sched_stats){
	    .in_flight = s->in_flight,
	    .waiting = s->total - s->in_flight - s->dead,
	    .delayed = s->timers.count,
	    .dead = s->dead,
	    .lanes = s->lane_count,
	    .settled_any = s->settled_first != NULL,
	    .settled_dead = s->settled_dead != 0,
	};
}

size_t
br_sched_ready(const struct br_sched *s, size_t limit)
{
	return s->ready < limit ? s->ready : limit;
}

bool
br_sched_suits(const struct br_sched *s, uint32_t worker)
{
	const struct br_target *next = br_target_next(&s->targets, NULL, 0);

	return next != NULL && next == s->last_target[worker];
}
