/*
 * naive: what the scheduler should know, as one array of events that is
 * searched anew for every question. For test_scheduler_model.c; cmocka.h
 * comes before it.
 */
#ifndef TESTS_UNIT_CORE_NAIVE_H
#define TESTS_UNIT_CORE_NAIVE_H

#include "bridge/core/lane.h"
#include "bridge/core/ledger.h"
#include "bridge/core/parked.h"
#include "bridge/core/scheduler.h"
#include "events.h"
#include "seed.h"

#define EVENTS 40 /* at once */
#define EPOCHS 6
#define KEYS 5
#define TARGETS 3
#define ROUTES 2
#define TYPES 3
#define WORKERS 5
#define PREFER_MS 50
#define SHARE_MS 60000
#define LONG_AGO (INT64_MIN / 2)

enum place { WAITS, FLIES, DELAYED, SETTLED, BURYING };

struct item {
	struct br_ref *ref;
	struct epoch *epoch;
	int64_t offset;
	int key, target, route, type;
	uint32_t attempts, max_attempts, uncounted, probes;
	bool probe, hold_probe; /* FLIES: as one */
	bool undecodable, failed, shed;
	int64_t taken_ms; /* FLIES: since when */
	enum place at;
	int64_t since_ms; /* first of its lane: due since; DELAYED: due when */
	enum br_settled how; /* SETTLED: and not yet in the test's hands */
	uint64_t turn;       /* … when; what a close drops has one turn */
	int64_t bury_ms;     /* BURYING: when the DLQ will have it */
};

/* One assignment of a partition. */
struct epoch {
	struct br_sched_part *part; /* NULL: place is free */
	bool closed;
	struct br_ledger ledger;
	int64_t next;      /* offset */
	int64_t dropped;   /* the lowest that was dropped */
	int64_t watermark; /* the last one seen */
};

/* A target. What health.h says is believed: test_health.c is about it. */
struct place_to_go {
	struct br_health health;
	uint32_t picked;  /* probes since it closed */
	bool type[TYPES]; /* refused since the last 2xx */
	bool wanted;      /* by a lane whose first may be sent there … */
	int64_t left_ms;  /* … which it last ceased to be then */
	uint64_t used;    /* number of the take that went there last, … */
	int64_t used_ms;  /* … and when */
	struct {
		int64_t until_ms; /* 0: not held */
		bool probing;
	} hold[ROUTES];
};

struct model {
	uint64_t seed, random; /* of this run; its state */
	size_t step;
	struct br_sched_rules rules;
	struct br_sched *s;
	int64_t now_ms;
	uint64_t turn, takes;
	struct place_to_go to[TARGETS];
	struct item item[EVENTS];
	size_t items;
	struct epoch epoch[EPOCHS];
	struct item *busy[WORKERS];
	int last_target[WORKERS];
};

static inline void
expect(const struct model *m, bool ok, const char *what, int line)
{
	if (!ok)
		fail_msg("line %d: %s (step %zu of BRIDGE_TEST_SEED=%llu)",
		    line, what, m->step, (unsigned long long)m->seed);
}
#define EXPECT(m, what) expect(m, what, #what, __LINE__)

static inline size_t
below(struct model *m, size_t limit)
{
	return seed_below(&m->random, limit);
}

static inline int64_t
earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* It is in its lane: nobody of that may overtake it. */
static inline bool
holds(const struct item *i)
{
	return i->at != SETTLED || i->how == BR_SETTLED_DEAD;
}

static inline bool
same_lane(const struct model *m, const struct item *a, const struct item *b)
{
	if (a == b)
		return true;
	if (a->epoch != b->epoch || m->rules.order == BR_ORDER_NONE)
		return false;
	return m->rules.order == BR_ORDER_PARTITION ||
	       (a->key >= 0 && a->key == b->key);
}

static inline bool
is_first(const struct model *m, const struct item *i)
{
	for (size_t n = 0; n < m->items; n++) {
		const struct item *other = &m->item[n];

		if (holds(other) && other->offset < i->offset &&
		    same_lane(m, other, i))
			return false;
	}
	return holds(i);
}

static inline bool
is_due(const struct model *m, const struct item *i)
{
	if (i->at == DELAYED)
		return i->since_ms <= m->now_ms;
	return i->at == WAITS && is_first(m, i);
}

/* How many are in flight to one target or (-1) to all. */
static inline uint32_t
flying(const struct model *m, int target)
{
	uint32_t count = 0;

	for (size_t n = 0; n < m->items; n++)
		count += m->item[n].at == FLIES &&
		         (target < 0 || m->item[n].target == target);
	return count;
}

/* Due, and neither its route nor its target forbids it. */
static inline bool
may_go(const struct model *m, const struct item *i)
{
	const struct place_to_go *to = &m->to[i->target];
	int64_t until_ms = to->hold[i->route].until_ms;

	if (!is_due(m, i))
		return false;
	if (until_ms != 0 &&
	    (to->hold[i->route].probing || m->now_ms < until_ms))
		return false;
	return br_health_allows(&to->health, flying(m, i->target), m->now_ms);
}

/* Until when a target leaves the last free worker to others. */
static inline int64_t
leaves_until(const struct model *m, int target)
{
	int64_t other_ms = LONG_AGO;

	for (int t = 0; t < TARGETS; t++)
		if (t != target && m->to[t].used_ms > other_ms)
			other_ms = m->to[t].used_ms;
	return other_ms + SHARE_MS;
}

/* … and there is a worker for it. */
static inline bool
may_take(const struct model *m, const struct item *i)
{
	uint32_t free_workers = m->rules.workers - flying(m, -1);

	if (free_workers == 0 || !may_go(m, i))
		return false;
	return free_workers > 1 || m->rules.workers == 1 ||
	       flying(m, i->target) == 0 ||
	       m->now_ms >= leaves_until(m, i->target);
}

/* Since when the oldest waits of those that `may`, of one target or (-1) of
 * all. */
static inline int64_t
oldest(const struct model *m,
    bool (*may)(const struct model *, const struct item *), int target)
{
	int64_t since_ms = INT64_MAX;

	for (size_t n = 0; n < m->items; n++)
		if ((target < 0 || m->item[n].target == target) &&
		    may(m, &m->item[n]))
			since_ms = earlier(since_ms, m->item[n].since_ms);
	return since_ms;
}

/* When something becomes possible by itself; `took`: not for the want of a
 * free worker. */
static inline int64_t
next_time(const struct model *m, bool took)
{
	int64_t next = INT64_MAX;

	for (size_t n = 0; n < m->items; n++) {
		const struct item *i = &m->item[n];
		const struct place_to_go *to = &m->to[i->target];

		if (i->at == DELAYED && i->since_ms > m->now_ms)
			next = earlier(next, i->since_ms);
		if (!is_due(m, i))
			continue;
		if (to->hold[i->route].until_ms > m->now_ms &&
		    !to->hold[i->route].probing)
			next = earlier(next, to->hold[i->route].until_ms);
		if (to->health.state != BR_HEALTH_OPEN && !to->health.probing &&
		    to->health.probe_at_ms > m->now_ms)
			next = earlier(next, to->health.probe_at_ms);
		if (!took && may_go(m, i) && !may_take(m, i) &&
		    flying(m, -1) < m->rules.workers)
			next = earlier(next, leaves_until(m, i->target));
	}
	return next;
}

/* Is `a` the better probe of a closed target? Equal ones of one ms: maybe. */
static inline bool
better_probe(const struct model *m, const struct item *a, const struct item *b)
{
	const struct place_to_go *to = &m->to[a->target];
	bool newest = to->picked % 2 != 0;

	if (to->health.state == BR_HEALTH_DOWN) {
		if (to->picked % 4 == 0)
			return a->since_ms < b->since_ms;
		if (a->probes != b->probes)
			return a->probes < b->probes;
		if (a->attempts != b->attempts)
			return a->attempts < b->attempts;
	} else {
		if (to->picked % 16 == 0)
			return a->since_ms < b->since_ms;
		if (to->type[a->type] != to->type[b->type])
			return to->type[b->type];
		if (a->attempts != b->attempts)
			return a->attempts < b->attempts;
	}
	return newest ? a->since_ms > b->since_ms : a->since_ms < b->since_ms;
}

static inline void
settle(struct model *m, struct item *i, enum br_settled how)
{
	i->at = SETTLED;
	i->how = how;
	i->turn = m->turn;
}

/* Somebody has become the first of the lane that `i` is, or was, in. */
static inline void
serve(struct model *m, const struct item *i)
{
	for (size_t n = 0; n < m->items; n++) {
		struct item *first = &m->item[n];

		if (first->at != WAITS || !same_lane(m, first, i) ||
		    !is_first(m, first))
			continue;
		first->since_ms = m->now_ms;
		if (first->undecodable) {
			m->turn++;
			settle(m, first, BR_SETTLED_DEAD);
		}
	}
}

static inline struct item *
find(struct model *m, const struct br_ref *ref)
{
	for (size_t n = 0; n < m->items; n++)
		if (m->item[n].ref == ref)
			return &m->item[n];
	expect(
	    m, false, "a reference that nobody put, or that is gone", __LINE__);
	return NULL;
}

/* One at random that is at `at`, or NULL. */
static inline struct item *
any(struct model *m, enum place at)
{
	size_t start = below(m, EVENTS);

	for (size_t n = 0; n < m->items; n++) {
		struct item *i = &m->item[(start + n) % m->items];

		if (i->at == at)
			return i;
	}
	return NULL;
}

/* Takes it out of the array, where the last one gets its place. */
static inline void
forget(struct model *m, struct item *i)
{
	const struct item *last = &m->item[--m->items];

	for (size_t w = 0; w < WORKERS; w++)
		if (m->busy[w] == last)
			m->busy[w] = i;
	*i = *last;
}

/* What receivers say, and the verdict on it. */
static const struct answer {
	int status;
	enum br_transport transport;
	int64_t retry_after_ms; /* -1: not given */
	enum br_verdict verdict;
} answers[] = {
    {200, BR_TRANSPORT_OK, -1, BR_DELIVERED},
    {204, BR_TRANSPORT_OK, -1, BR_DELIVERED},
    {299, BR_TRANSPORT_OK, -1, BR_DELIVERED},
    {503, BR_TRANSPORT_OK, -1, BR_AGAIN},
    {503, BR_TRANSPORT_OK, 0, BR_AGAIN},
    {429, BR_TRANSPORT_OK, 300, BR_AGAIN},
    {429, BR_TRANSPORT_OK, 100000, BR_AGAIN},
    {429, BR_TRANSPORT_OK, -1, BR_AGAIN},
    {503, BR_TRANSPORT_OK, 40, BR_AGAIN},
    {302, BR_TRANSPORT_OK, -1, BR_AGAIN},
    {500, BR_TRANSPORT_OK, 30, BR_AGAIN},
    {0, BR_TRANSPORT_RESET, -1, BR_AGAIN},
    {0, BR_TRANSPORT_FORBIDDEN, -1, BR_NEVER},
    {0, BR_TRANSPORT_REFUSED, -1, BR_AGAIN},
    {0, BR_TRANSPORT_TIMEOUT, -1, BR_AGAIN},
    {400, BR_TRANSPORT_OK, -1, BR_NEVER},
    {410, BR_TRANSPORT_OK, 60, BR_NEVER},
};

/* Does it cost an attempt? */
static inline bool
counts(struct model *m, struct item *i, const struct br_outcome *o,
    enum br_sign sign)
{
	const struct br_health *h = &m->to[i->target].health;
	bool counted =
	    br_health_counts(h, &m->rules.health, i->probe, sign, m->now_ms);

	if (i->probe && h->state == BR_HEALTH_DOWN)
		return counted;
	if (i->hold_probe && br_sign_later(sign, o))
		counted = false;
	if (counted || i->uncounted >= i->max_attempts)
		return true;
	i->uncounted++;
	return false;
}

/* What the target and the route learn from it. */
static inline void
teach(struct model *m, const struct item *i, const struct answer *a,
    const struct br_outcome *o, bool dead, const struct br_decision *d)
{
	struct place_to_go *to = &m->to[i->target];
	enum br_sign sign = br_sign_of(&m->rules.verdict, o);
	bool others = flying(m, i->target) > 1 && br_sign_turned_away(o);
	int64_t asked =
	    earlier(earlier(a->retry_after_ms, m->rules.health.probe_max_ms),
	        (int64_t)m->rules.retry.retry_after_max_ms);

	if (i->hold_probe)
		to->hold[i->route].probing = false;
	if (a->verdict == BR_AGAIN && asked > 0) {
		if (to->hold[i->route].until_ms < m->now_ms + asked)
			to->hold[i->route].until_ms = m->now_ms + asked;
	} else if (i->hold_probe)
		to->hold[i->route].until_ms = 0;
	if (dead && a->status != 0)
		to->type[i->type] = true;
	for (int type = 0; type < TYPES && sign == BR_SIGN_SUCCESS; type++)
		to->type[type] = false;
	if (br_health_end(&to->health, &m->rules.health, i->probe, sign,
	        i->ref->serial, dead && a->status != 0, others, m->now_ms)) {
		to->picked = 0;
		EXPECT(m, d->change != BR_TARGET_SAME);
	} else
		EXPECT(m, d->change == BR_TARGET_SAME);
	if (d->change == BR_TARGET_OPENED)
		EXPECT(m, to->health.state == BR_HEALTH_OPEN);
	if (d->change == BR_TARGET_DOWN)
		EXPECT(m, to->health.state == BR_HEALTH_DOWN);
	if (d->change == BR_TARGET_REFUSING)
		EXPECT(m, to->health.state == BR_HEALTH_REFUSING);
}

#endif
