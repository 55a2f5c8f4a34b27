/* target: see the header. */
#include "bridge/core/target.h"

#include <assert.h>
#include <stdlib.h>

/* Above so many, one that nobody uses makes place for a new one: wildcards
 * in event_urls allow any number of hosts over the life of the process. */
#define KEEP 1024
/* … and above so many also one that is closed, before its time. */
#define KEEP_CLOSED 4096

/* Keys of ready lanes: milliseconds, and below them a serial number, so that
 * what became ready in the same millisecond keeps its order. */
#define SERIAL_BITS 20

/* Every so manieth probe goes to the lane that waits for longest; of a target
 * that refuses more rarely, for there it may be the event's last attempt. */
#define OLDEST_EVERY 4
#define OLDEST_REFUSING_EVERY 16

static uint64_t
hash_of(const char *name)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (; *name != '\0'; name++)
		h = (h ^ (uint8_t)*name) * 0x100000001b3ULL;
	return h ^ h >> 32;
}

int64_t
br_ready_ms(int64_t key)
{
	return key >> SERIAL_BITS;
}

/* ---- the table */

static void
target_free(struct br_target *target)
{
	struct br_stream *s, *next;

	for (s = target->streams; s != NULL; s = next) {
		next = s->next;
		assert(s->lanes == 0);
		br_heap_free(&s->ready);
		free(s);
	}
	br_health_free(&target->health);
	free(target);
}

/* Nobody wants to go there, and nobody is there. */
static bool
is_idle(const struct br_target *target)
{
	if (target->in_flight != 0)
		return false;
	for (const struct br_stream *s = target->streams; s != NULL;
	     s = s->next)
		if (s->lanes != 0)
			return false;
	return true;
}

/* Idle for so long that it may be well again, whatever it was. */
static bool
is_stale(const struct br_target_table *t, const struct br_target *target,
    int64_t now_ms)
{
	return is_idle(target) &&
	       now_ms - target->left_ms >= t->rules->probe_max_ms;
}

/* Does it have to be known yet that it, or a route there, must be spared? */
static bool
is_remembered(const struct br_target_table *t, const struct br_target *target,
    int64_t now_ms)
{
	if (t->count >= KEEP_CLOSED)
		return false;
	if (target->health.state != BR_HEALTH_OPEN &&
	    !is_stale(t, target, now_ms))
		return true;
	for (const struct br_stream *s = target->streams; s != NULL;
	     s = s->next)
		if (s->held_until_ms > now_ms)
			return true;
	return false;
}

/* Drops the targets of one chain that hold nothing. */
static void
evict(struct br_target_table *t, struct br_target **at, int64_t now_ms)
{
	while (*at != NULL) {
		struct br_target *target = *at;

		if (target->workers == 0 && is_idle(target) &&
		    !is_remembered(t, target, now_ms)) {
			*at = target->next;
			t->count--;
			t->closed -= target->health.state != BR_HEALTH_OPEN;
			target_free(target);
		} else
			at = &target->next;
	}
}

static struct br_target *
target_get(struct br_target_table *t, const char *name, int64_t now_ms)
{
	uint64_t hash = hash_of(name);
	struct br_target **chain = &t->bucket[hash % BR_TARGET_BUCKETS],
	                 *target;
	size_t len = strlen(name);

	for (target = *chain; target != NULL; target = target->next)
		if (target->hash == hash && strcmp(target->name, name) == 0)
			return target;
	if (t->count >= KEEP)
		evict(t, chain, now_ms);
	target = calloc(1, sizeof(*target) + len + 1);
	if (target == NULL)
		abort();
	memcpy(target->name, name, len);
	target->hash = hash;
	target->wake =
	    (struct br_heap_node){.index = BR_HEAP_OUT, .owner = target};
	target->wake.kind = BR_WAKE_TARGET;
	br_health_init(&target->health, t->rules);
	target->next = *chain;
	*chain = target;
	t->count++;
	return target;
}

struct br_stream *
br_stream_get(struct br_target_table *t, const char *name, const char *route,
    int64_t now_ms)
{
	struct br_target *target = target_get(t, name, now_ms);
	struct br_stream *s = target->streams;
	size_t len = strlen(route);

	for (; s != NULL; s = s->next)
		if (strcmp(s->route, route) == 0)
			return s;
	s = calloc(1, sizeof(*s) + len + 1);
	if (s == NULL)
		abort();
	memcpy(s->route, route, len);
	s->target = target;
	s->turn = (struct br_heap_node){.index = BR_HEAP_OUT, .owner = s};
	s->wake = s->turn;
	s->wake.kind = BR_WAKE_STREAM;
	s->next = target->streams;
	target->streams = s;
	return s;
}

void
br_target_table_free(struct br_target_table *t)
{
	for (size_t i = 0; i < BR_TARGET_BUCKETS; i++)
		for (struct br_target *target = t->bucket[i], *next;
		     target != NULL; target = next) {
			next = target->next;
			target_free(target);
		}
	br_heap_free(&t->turns);
	br_heap_free(&t->timers);
	*t = (struct br_target_table){0};
}

void
br_target_forget_idle(struct br_target_table *t, int64_t now_ms)
{
	if (t->closed == 0)
		return;
	for (size_t i = 0; i < BR_TARGET_BUCKETS; i++)
		for (struct br_target *target = t->bucket[i]; target != NULL;
		     target = target->next) {
			if (target->health.state == BR_HEALTH_OPEN ||
			    !is_stale(t, target, now_ms))
				continue;
			br_health_free(&target->health);
			br_health_init(&target->health, t->rules);
			target->run_types = 0;
			t->closed--;
			br_target_update(t, target, now_ms);
		}
}

/* ---- turns */

static void
set_timer(
    struct br_target_table *t, struct br_heap_node *node, bool on, int64_t at)
{
	if (!on)
		br_heap_remove(&t->timers, node);
	else if (node->index == BR_HEAP_OUT)
		br_heap_add(&t->timers, node, at);
	else if (node->key != at)
		br_heap_change(&t->timers, node, at);
}

static bool
hold_allows(const struct br_stream *s, int64_t now_ms)
{
	return s->held_until_ms == 0 ||
	       (!s->hold_probing && now_ms >= s->held_until_ms);
}

static void
set_shut(struct br_target_table *t, struct br_stream *s, bool shut)
{
	if (s->shut == shut)
		return;
	s->shut = shut;
	if (shut)
		t->parked += s->bytes;
	else
		t->parked -= s->bytes;
}

/* Puts the stream where its oldest ready lane belongs, or out of the turns. */
static void
update_stream(struct br_target_table *t, struct br_stream *s, bool allowed,
    int64_t now_ms)
{
	const struct br_heap_node *oldest = br_heap_top(&s->ready);
	bool held = !hold_allows(s, now_ms);

	set_shut(t, s, held || s->target->health.state != BR_HEALTH_OPEN);
	set_timer(t, &s->wake, oldest != NULL && held && !s->hold_probing,
	    s->held_until_ms);
	if (oldest == NULL || held || !allowed)
		br_heap_remove(&t->turns, &s->turn);
	else if (s->turn.index == BR_HEAP_OUT)
		br_heap_add(&t->turns, &s->turn, oldest->key);
	else if (s->turn.key != oldest->key)
		br_heap_change(&t->turns, &s->turn, oldest->key);
}

void
br_target_update(
    struct br_target_table *t, struct br_target *target, int64_t now_ms)
{
	const struct br_health *h = &target->health;
	bool allowed = br_health_allows(h, (uint32_t)target->in_flight, now_ms);
	bool waits = h->state != BR_HEALTH_OPEN && !h->probing && !allowed;
	bool wanted = false;

	for (struct br_stream *s = target->streams; s != NULL; s = s->next) {
		update_stream(t, s, allowed, now_ms);
		wanted |= s->ready.count != 0;
	}
	set_timer(t, &target->wake, waits && wanted, h->probe_at_ms);
}

void
br_stream_weigh(
    struct br_target_table *t, struct br_stream *s, size_t more, size_t less)
{
	s->bytes += more - less;
	if (s->shut)
		t->parked += more - less;
}

void
br_stream_ready(struct br_target_table *t, struct br_stream *s,
    struct br_lane *lane, int64_t since_ms, int64_t now_ms)
{
	int64_t serial = (int64_t)(t->serial++ & ((1ULL << SERIAL_BITS) - 1));

	br_heap_add(&s->ready, &lane->place, since_ms << SERIAL_BITS | serial);
	br_stream_weigh(t, s, lane->bytes, 0);
	br_target_update(t, s->target, now_ms);
}

void
br_stream_unready(struct br_target_table *t, struct br_stream *s,
    struct br_lane *lane, int64_t now_ms)
{
	br_heap_remove(&s->ready, &lane->place);
	br_stream_weigh(t, s, 0, lane->bytes);
	br_target_update(t, s->target, now_ms);
}

void
br_stream_hold(struct br_stream *s, int64_t until_ms)
{
	if (until_ms > s->held_until_ms)
		s->held_until_ms = until_ms;
}

void
br_stream_lift(struct br_stream *s)
{
	s->held_until_ms = 0;
	s->hold_probing = false;
}

struct br_stream *
br_stream_next(
    struct br_target_table *t, struct br_target *prefer, int64_t slack_ms)
{
	const struct br_heap_node *oldest = br_heap_top(&t->turns);
	struct br_stream *best = NULL;

	if (oldest == NULL)
		return NULL;
	for (struct br_stream *s = prefer != NULL ? prefer->streams : NULL;
	     s != NULL; s = s->next)
		if (s->turn.index != BR_HEAP_OUT &&
		    (best == NULL || s->turn.key < best->turn.key))
			best = s;
	if (best != NULL &&
	    br_ready_ms(best->turn.key) - br_ready_ms(oldest->key) <= slack_ms)
		return best;
	return oldest->owner;
}

struct br_stream *
br_stream_turn(struct br_target_table *t)
{
	struct br_stream *best = NULL;

	for (size_t i = 0; i < t->turns.count; i++) {
		struct br_stream *s = t->turns.node[i]->owner;

		if (best == NULL || s->target->used < best->target->used ||
		    (s->target->used == best->target->used &&
		        s->turn.key < best->turn.key))
			best = s;
	}
	return best;
}

size_t
br_target_waiting(const struct br_target *target)
{
	size_t waiting = 0;

	for (const struct br_stream *s = target->streams; s != NULL;
	     s = s->next)
		waiting += s->lanes;
	return waiting;
}

/* ---- probes */

static bool
in_run(const struct br_target *target, const struct br_lane *lane)
{
	const char *type = lane->first->event->event_type;
	uint64_t hash = hash_of(type != NULL ? type : "");

	/* More than can be noted: no type is known to be outside. */
	if (target->run_types == BR_RUN_TYPES)
		return true;
	for (size_t i = 0; i < target->run_types; i++)
		if (target->run_type[i] == hash)
			return true;
	return false;
}

void
br_target_refused(struct br_target *target, const char *event_type)
{
	uint64_t hash = hash_of(event_type != NULL ? event_type : "");

	for (size_t i = 0; i < target->run_types; i++)
		if (target->run_type[i] == hash)
			return;
	if (target->run_types < BR_RUN_TYPES)
		target->run_type[target->run_types++] = hash;
}

/* In turn the newest and the oldest: a heap of bad ones that came at once is
 * not gone through before a good one is tried. */
static bool
better_age(const struct br_target *target, const struct br_lane *a,
    const struct br_lane *b)
{
	return target->picked % 2 != 0 ? a->place.key > b->place.key
	                               : a->place.key < b->place.key;
}

/* Is `a` a better probe than `b` for a target that is down? Fewest probes,
 * then fewest attempts; but now and then just the oldest, or new lanes that
 * fail would keep an old one from its turn for ever. */
static bool
better_down(const struct br_target *target, const struct br_lane *a,
    const struct br_lane *b)
{
	if (target->picked % OLDEST_EVERY == 0)
		return a->place.key < b->place.key;
	if (a->probes != b->probes)
		return a->probes < b->probes;
	if (a->first->attempts != b->first->attempts)
		return a->first->attempts < b->first->attempts;
	return better_age(target, a, b);
}

/* … and for one that refuses: types that were not refused first, then fewest
 * attempts: these probes count, and should take as many events as there are
 * before they end one. `b_in` is b's; a's is found out only where it matters. */
static bool
better_refusing(const struct br_target *target, const struct br_lane *a,
    const struct br_lane *b, bool *b_in)
{
	bool first, a_in;

	if (target->picked % OLDEST_REFUSING_EVERY == 0)
		return a->place.key < b->place.key;
	first = a->first->attempts != b->first->attempts
	            ? a->first->attempts < b->first->attempts
	            : better_age(target, a, b);
	if (!first && !*b_in)
		return false;
	a_in = in_run(target, a);
	if (a_in != *b_in ? a_in : !first)
		return false;
	*b_in = a_in;
	return true;
}

struct br_lane *
br_stream_pick(struct br_stream *s)
{
	struct br_target *target = s->target;
	struct br_lane *best = br_heap_top(&s->ready)->owner, *lane;
	bool down = target->health.state == BR_HEALTH_DOWN;
	bool best_in;

	if (target->health.state == BR_HEALTH_OPEN)
		return best;
	best_in = in_run(target, best);
	target->picked++;
	for (s = target->streams; s != NULL; s = s->next) {
		if (s->turn.index == BR_HEAP_OUT)
			continue;
		for (size_t i = 0; i < s->ready.count; i++) {
			lane = s->ready.node[i]->owner;
			if (down
			        ? better_down(target, lane, best)
			        : better_refusing(target, lane, best, &best_in))
				best = lane;
		}
	}
	return best;
}

void
br_target_probe_now(struct br_target_table *t, int64_t now_ms)
{
	for (size_t i = 0; i < t->timers.count;) {
		struct br_heap_node *n = t->timers.node[i];
		struct br_target *target = n->owner;

		if (n->kind != BR_WAKE_TARGET ||
		    target->health.probe_at_ms <= now_ms) {
			i++;
			continue;
		}
		br_health_probe_now(&target->health, now_ms);
		br_target_update(t, target, now_ms);
		i = 0; /* the heap has moved */
	}
}
