/* scheduler: see the header. */
#include "bridge/core/scheduler.h"

#include <assert.h>
#include <stdlib.h>

#include "bridge/core/scheduler_private.h"

/* A worker stays with its connection for a lane at most so much younger. */
#define PREFER_MS 50

struct br_sched *
br_sched_new(const struct br_sched_rules *rules)
{
	struct br_sched *s = calloc(1, sizeof(*s));

	if (s == NULL)
		abort();
	s->rules = *rules;
	s->rules.health.connections = rules->workers;
	s->lanes.seed = rules->seed;
	s->targets.rules = &s->rules.health;
	br_share_init(&s->share);
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
	if (s->total != 0 || s->settled_first != NULL || s->parts != 0)
		abort();
	br_lane_table_free(&s->lanes);
	br_target_table_free(&s->targets);
	br_heap_free(&s->running);
	free(s->last_target);
	free(s);
}

/* The reference is out of the engine. */
static void
leave(struct br_sched *s, struct br_ref *ref)
{
	ref->part->count--;
	s->total--;
	if (ref->failed)
		s->extra -= sizeof(struct br_failure);
	ref->failed = false;
}

/* The reference leaves the engine, or (dead) waits for its burial. */
static void
settle(struct br_sched *s, struct br_ref *ref, enum br_settled how)
{
	ref->settled = how;
	if (how == BR_SETTLED_DEAD) {
		s->settled_dead++;
		s->dead++;
		if (ref->reason != NULL)
			s->dying += br_ref_weight(ref);
	} else
		leave(s, ref);
	ref->settled_next = NULL;
	if (s->settled_last != NULL)
		s->settled_last->settled_next = ref;
	else
		s->settled_first = ref;
	s->settled_last = ref;
}

static void
lane_aim(struct br_lane *lane, struct br_stream *stream, int64_t now_ms)
{
	lane->probes = 0;
	if (lane->stream == stream)
		return;
	if (lane->stream != NULL) {
		lane->stream->lanes--;
		lane->stream->target->left_ms = now_ms;
	}
	if (stream != NULL)
		stream->lanes++;
	lane->stream = stream;
}

/* A lane's state and the heap that goes with it, in one place. `at_ms` is
 * since when it is ready, or when it is due. */
static void
lane_move(struct br_sched *s, struct br_lane *lane, enum br_lane_state to,
    int64_t at_ms, int64_t now_ms)
{
	struct br_stream *stream = lane->stream;

	if (lane->state == BR_LANE_READY) {
		br_stream_unready(&s->targets, stream, lane, now_ms);
		s->ready--;
	} else if (lane->state == BR_LANE_DELAYED) {
		br_heap_remove(&s->targets.timers, &lane->place);
		s->targets.parked -= lane->bytes;
		s->delayed--;
	} else if (lane->state == BR_LANE_DEAD) {
		s->targets.parked -= lane->bytes;
	} else if (lane->state == BR_LANE_RUNNING) {
		br_heap_remove(&s->running, &lane->place);
		stream->target->in_flight--;
		s->in_flight--;
		br_target_update(&s->targets, stream->target, now_ms);
	}

	lane->state = to;
	if (to == BR_LANE_READY) {
		br_stream_ready(&s->targets, stream, lane, at_ms, now_ms);
		s->ready++;
	} else if (to == BR_LANE_DELAYED) {
		br_heap_add(&s->targets.timers, &lane->place, at_ms);
		s->targets.parked += lane->bytes;
		s->delayed++;
	} else if (to == BR_LANE_DEAD) {
		/* Where it goes is the DLQ. */
		lane_aim(lane, NULL, now_ms);
		s->targets.parked += lane->bytes;
	} else if (to == BR_LANE_RUNNING) {
		br_heap_add(&s->running, &lane->place, now_ms);
		stream->target->in_flight++;
		s->in_flight++;
		br_target_update(&s->targets, stream->target, now_ms);
	}
}

/* A lane has more bytes, or fewer, where it stands. */
static void
lane_weigh(struct br_sched *s, struct br_lane *lane, size_t more, size_t less)
{
	if (lane->state == BR_LANE_READY)
		br_stream_weigh(&s->targets, lane->stream, more, less);
	else if (lane->state == BR_LANE_DELAYED || lane->state == BR_LANE_DEAD)
		s->targets.parked += more - less;
}

static struct br_ref *
lane_pop(struct br_sched *s, struct br_lane *lane)
{
	struct br_ref *ref = br_lane_pop(lane);

	lane_weigh(s, lane, 0, br_ref_weight(ref));
	return ref;
}

static void
lane_push(struct br_sched *s, struct br_lane *lane, struct br_ref *ref)
{
	br_lane_push(lane, ref);
	lane_weigh(s, lane, br_ref_weight(ref), 0);
}

static void
lane_end(struct br_sched *s, struct br_lane *lane, int64_t now_ms)
{
	struct br_sched_part *p = lane->part;

	lane_move(s, lane, BR_LANE_NEW, 0, now_ms);
	lane_aim(lane, NULL, now_ms);
	if (lane->part_prev != NULL)
		lane->part_prev->part_next = lane->part_next;
	else
		p->lanes = lane->part_next;
	if (lane->part_next != NULL)
		lane->part_next->part_prev = lane->part_prev;
	s->lane_count--;
	s->extra -= lane->bytes;
	br_lane_free(&s->lanes, lane);
}

/* The lane has a new first reference, or none. */
static void
lane_serve(struct br_sched *s, struct br_lane *lane, int64_t now_ms)
{
	struct br_ref *ref = lane->first;

	if (ref == NULL) {
		lane_end(s, lane, now_ms);
		return;
	}
	if (ref->event->reason != NULL) {
		lane_move(s, lane, BR_LANE_DEAD, 0, now_ms);
		settle(s, ref, BR_SETTLED_DEAD);
		return;
	}
	if (lane->state == BR_LANE_RUNNING)
		lane_move(s, lane, BR_LANE_NEW, 0, now_ms);
	lane_aim(lane,
	    br_stream_get(
	        &s->targets, ref->event->target, ref->event->route, now_ms),
	    now_ms);
	if (ref->due_ms > now_ms)
		lane_move(s, lane, BR_LANE_DELAYED, ref->due_ms, now_ms);
	else
		lane_move(s, lane, BR_LANE_READY, now_ms, now_ms);
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
		s->extra += lane->bytes;
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
	ref->failed = false;
	ref->reason = NULL;
	ref->serial = ++s->serial;
	ref->part->count++;
	s->total++;
	lane_push(s, lane, ref);
	if (lane->first == ref)
		lane_serve(s, lane, now_ms);
}

void
br_sched_part_close(struct br_sched *s, struct br_sched_part *p, int64_t now_ms)
{
	struct br_lane *lane, *next;

	p->closed = true;
	for (lane = p->lanes; lane != NULL; lane = next) {
		bool held = lane->state == BR_LANE_RUNNING ||
		            lane->state == BR_LANE_DEAD;
		struct br_ref *first;

		next = lane->part_next;
		/* Out of its heap while its first reference still is one. */
		if (!held)
			lane_move(s, lane, BR_LANE_NEW, 0, now_ms);
		first = held ? lane_pop(s, lane) : NULL;
		while (lane->first != NULL)
			settle(s, lane_pop(s, lane), BR_SETTLED_DROPPED);
		if (first != NULL)
			lane_push(s, lane, first);
		else
			lane_end(s, lane, now_ms);
	}
}

/* ---- taking */

/* What waited for this time: lanes, holds of streams, probes of targets. */
static void
wake(struct br_sched *s, int64_t now_ms)
{
	struct br_heap *timers = &s->targets.timers;
	struct br_heap_node *n;

	while ((n = br_heap_top(timers)) != NULL && n->key <= now_ms) {
		if (n->kind == BR_WAKE_LANE) {
			lane_move(s, n->owner, BR_LANE_READY, n->key, now_ms);
			continue;
		}
		br_heap_remove(timers, n);
		br_target_update(&s->targets,
		    n->kind == BR_WAKE_TARGET
		        ? (struct br_target *)n->owner
		        : ((struct br_stream *)n->owner)->target,
		    now_ms);
	}
}

/*
 * The stream to send from next. NULL: none may send, or what may must leave
 * the last free worker to other targets, until `*until_ms`.
 */
static struct br_stream *
choose(struct br_sched *s, struct br_target *prefer, int64_t now_ms,
    int64_t *until_ms)
{
	*until_ms = INT64_MAX;
	if (s->rules.workers == 1)
		return br_stream_turn(&s->targets);
	if (s->rules.workers - s->in_flight == 1)
		return br_share_last(&s->share, &s->targets, now_ms, until_ms);
	return br_stream_next(&s->targets, prefer, PREFER_MS);
}

static void
note_use(struct br_sched *s, uint32_t worker, struct br_target *target,
    int64_t now_ms)
{
	br_share_note(&s->share, target, now_ms);
	target->used = ++s->turns;
	if (s->last_target[worker] == target)
		return;
	if (s->last_target[worker] != NULL)
		s->last_target[worker]->workers--;
	target->workers++;
	s->last_target[worker] = target;
}

struct br_ref *
br_sched_take(
    struct br_sched *s, uint32_t worker, int64_t now_ms, int64_t *wake_ms)
{
	struct br_stream *stream;
	struct br_lane *lane;
	struct br_ref *ref = NULL;
	const struct br_heap_node *n;

	assert(worker < s->rules.workers);
	wake(s, now_ms);
	stream = choose(s, s->last_target[worker], now_ms, wake_ms);
	if (stream != NULL) {
		*wake_ms = INT64_MAX;
		lane = br_stream_pick(stream);
		stream = lane->stream; /* a probe may be another one's */
		ref = lane->first;
		ref->probe = br_health_begin(&stream->target->health);
		ref->hold_probe = stream->held_until_ms != 0;
		stream->hold_probing = ref->hold_probe;
		lane_move(s, lane, BR_LANE_RUNNING, 0, now_ms);
		note_use(s, worker, stream->target, now_ms);
		ref->attempts++;
	}
	n = br_heap_top(&s->targets.timers);
	if (n != NULL && n->key < *wake_ms)
		*wake_ms = n->key;
	return ref;
}

/* ---- giving back */

/* Holds the route at this target, or lifts a hold that proved over. */
static void
hold(struct br_sched *s, const struct br_ref *ref, const struct br_outcome *o,
    enum br_verdict verdict, int64_t now_ms)
{
	struct br_stream *stream = ref->lane->stream;
	int64_t wait_ms = o->retry_after_ms;
	int64_t most_ms = s->rules.health.probe_max_ms;

	if ((uint64_t)most_ms > s->rules.retry.retry_after_max_ms)
		most_ms = (int64_t)s->rules.retry.retry_after_max_ms;
	if (wait_ms > most_ms)
		wait_ms = most_ms;
	if (ref->hold_probe)
		stream->hold_probing = false;
	if (verdict == BR_AGAIN && o->retry_after_given && wait_ms > 0)
		br_stream_hold(stream, now_ms + wait_ms);
	else if (ref->hold_probe)
		br_stream_lift(stream);
}

/*
 * Does this attempt count against its event? Notes when it does not: a
 * throttled event may be sent so often more. Probes of a target that is down
 * are free of that limit; they end by give_up_ms.
 */
static bool
count(const struct br_sched *s, struct br_ref *ref, const struct br_outcome *o,
    enum br_sign sign, int64_t now_ms)
{
	const struct br_health *h = &ref->lane->stream->target->health;
	bool counted =
	    br_health_counts(h, &s->rules.health, ref->probe, sign, now_ms);

	if (!ref->probe || h->state != BR_HEALTH_DOWN) {
		if (ref->hold_probe && br_sign_later(sign, o))
			counted = false;
		if (ref->uncounted >= ref->event->max_attempts)
			counted = true;
		if (!counted)
			ref->uncounted++;
	}
	if (!counted)
		ref->attempts--;
	return counted;
}

static void
tell_change(struct br_target_table *t, struct br_target *target,
    const struct br_outcome *o, int64_t now_ms, struct br_decision *d)
{
	bool open = target->health.state == BR_HEALTH_OPEN;

	t->closed += open ? (size_t)-1 : 1;
	target->why_status = o->head_complete ? o->http_status : 0;
	target->why_transport = o->transport;
	target->picked = 0;
	switch (target->health.state) {
	case BR_HEALTH_OPEN:
		d->change = BR_TARGET_OPENED;
		break;
	case BR_HEALTH_DOWN:
		d->change = BR_TARGET_DOWN;
		break;
	case BR_HEALTH_REFUSING:
		d->change = BR_TARGET_REFUSING;
		break;
	}
	d->waiting = br_target_waiting(target);
	d->next_probe_ms = target->health.probe_at_ms - now_ms;
}

/* The target learns from the outcome, after the verdict. */
static void
teach(struct br_sched *s, const struct br_ref *ref, const struct br_outcome *o,
    enum br_sign sign, int64_t now_ms, struct br_decision *d)
{
	struct br_target *target = ref->lane->stream->target;
	bool dead = d->verdict == BR_NEVER || d->exhausted;
	bool answered = dead && o->head_complete;
	bool others = target->in_flight > 1 && br_sign_turned_away(o);
	enum br_health_state was = target->health.state;

	if (answered)
		br_target_refused(target, ref->event->event_type);
	if (sign == BR_SIGN_SUCCESS)
		target->run_types = 0;
	if (br_health_end(&target->health, &s->rules.health, ref->probe, sign,
	        ref->serial, answered, others, now_ms))
		tell_change(&s->targets, target, o, now_ms, d);
	else if (target->health.state != was) {
		/* Closed before and now, by the other rule. */
		target->why_status = o->head_complete ? o->http_status : 0;
		target->why_transport = o->transport;
	}
}

/* Its lane weighs so much more from the first failure on. */
static void
note_failure(struct br_sched *s, struct br_ref *ref)
{
	if (ref->failure == NULL)
		abort();
	ref->part->failures++;
	if (ref->failed)
		return;
	ref->failed = true;
	ref->lane->bytes += sizeof(struct br_failure);
	s->extra += sizeof(struct br_failure);
}

/* The attempt failed: wait, or die. */
static void
fail(struct br_sched *s, struct br_ref *ref, const struct br_outcome *o,
    int64_t now_ms, double random, struct br_decision *d)
{
	struct br_lane *lane = ref->lane;
	bool down =
	    lane->stream->target->health.state == BR_HEALTH_DOWN && ref->probe;
	uint64_t asked = 0;

	note_failure(s, ref);
	if (d->verdict == BR_NEVER || d->exhausted) {
		ref->failure->reason = br_dead_reason(&s->rules.verdict, o);
		lane_move(s, lane, BR_LANE_DEAD, 0, now_ms);
		settle(s, ref, BR_SETTLED_DEAD);
		return;
	}
	if (down && !d->counted && !ref->part->closed) {
		/* It waits with the others for the target, not for a time. */
		d->wait_ms = -1;
		lane->probes++;
		lane_move(s, lane, BR_LANE_READY, now_ms, now_ms);
		return;
	}
	if (o->retry_after_given && o->retry_after_ms > 0)
		asked = (uint64_t)o->retry_after_ms;
	d->wait_ms = (int64_t)br_retry_delay_ms(&s->rules.retry,
	    ref->attempts > 0 ? ref->attempts : 1, asked, random);
	ref->due_ms = now_ms + d->wait_ms;
	if (ref->part->closed) {
		(void)lane_pop(s, lane);
		d->dropped = true;
		settle(s, ref, BR_SETTLED_DROPPED);
		lane_end(s, lane, now_ms);
		return;
	}
	lane_move(s, lane, BR_LANE_DELAYED, ref->due_ms, now_ms);
}

struct br_decision
br_sched_give_back(struct br_sched *s, uint32_t worker, struct br_ref *ref,
    const struct br_outcome *outcome, int64_t now_ms, double random)
{
	struct br_decision d = {
	    .verdict = br_verdict(&s->rules.verdict, outcome)};
	enum br_sign sign = br_sign_of(&s->rules.verdict, outcome);
	struct br_lane *lane = ref->lane;

	(void)worker;
	if (lane == NULL || lane->state != BR_LANE_RUNNING ||
	    lane->first != ref)
		abort();
	d.counted = count(s, ref, outcome, sign, now_ms);
	d.exhausted = d.verdict == BR_AGAIN && d.counted &&
	              ref->attempts >= ref->event->max_attempts;
	hold(s, ref, outcome, d.verdict, now_ms);
	teach(s, ref, outcome, sign, now_ms, &d);
	if (d.verdict != BR_DELIVERED) {
		fail(s, ref, outcome, now_ms, random, &d);
		return d;
	}
	(void)lane_pop(s, lane);
	settle(s, ref, BR_SETTLED_DELIVERED);
	lane_serve(s, lane, now_ms);
	return d;
}

void
br_sched_kill(struct br_sched *s, struct br_lane *lane, const char *reason,
    int64_t now_ms)
{
	struct br_ref *ref = lane->first;

	if (lane->state != BR_LANE_READY && lane->state != BR_LANE_DELAYED)
		abort();
	ref->reason = reason;
	lane_move(s, lane, BR_LANE_DEAD, 0, now_ms);
	settle(s, ref, BR_SETTLED_DEAD);
}

void
br_sched_buried(struct br_sched *s, struct br_ref *ref, int64_t now_ms)
{
	struct br_lane *lane = ref->lane;

	if (lane == NULL || lane->state != BR_LANE_DEAD || lane->first != ref)
		abort();
	(void)lane_pop(s, lane);
	s->dead--;
	if (ref->reason != NULL)
		s->dying -= br_ref_weight(ref);
	leave(s, ref);
	lane_serve(s, lane, now_ms);
}

size_t
br_sched_ready(struct br_sched *s, int64_t now_ms, size_t limit)
{
	size_t ready = 0, free_workers = s->rules.workers - s->in_flight;
	int64_t until_ms;

	wake(s, now_ms);
	/* The last one may be there for other targets. */
	if (free_workers == 1 && choose(s, NULL, now_ms, &until_ms) == NULL)
		return 0;
	if (free_workers < limit)
		limit = free_workers;
	for (size_t i = 0; i < s->targets.turns.count && ready < limit; i++) {
		const struct br_stream *stream =
		    s->targets.turns.node[i]->owner;
		const struct br_target *target = stream->target;
		size_t room = 1;

		if (target->health.state == BR_HEALTH_OPEN)
			room = target->health.window - target->in_flight;
		if (stream->held_until_ms != 0)
			room = 1;
		ready +=
		    stream->ready.count < room ? stream->ready.count : room;
	}
	return ready < limit ? ready : limit;
}
