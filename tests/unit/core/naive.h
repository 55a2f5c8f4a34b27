/*
 * naive: what the scheduler should know, as one array of events that is
 * searched anew for every question. For test_scheduler_model.c; cmocka.h
 * comes before it.
 */
#ifndef TESTS_UNIT_CORE_NAIVE_H
#define TESTS_UNIT_CORE_NAIVE_H

#include "bridge/core/ledger.h"
#include "bridge/core/scheduler.h"
#include "events.h"
#include "seed.h"

#define EVENTS 40 /* at once */
#define EPOCHS 6
#define KEYS 5
#define TARGETS 3
#define WORKERS 5
#define PREFER_MS 50

enum place { WAITS, FLIES, DELAYED, SETTLED, BURYING };

struct item {
	struct br_ref *ref;
	struct epoch *epoch;
	int64_t offset;
	int key, target;
	uint32_t attempts, max_attempts;
	bool undecodable;
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

struct model {
	uint64_t seed, random; /* of this run; its state */
	size_t step;
	struct br_sched_rules rules;
	struct br_sched *s;
	int64_t now_ms;
	uint64_t turn;
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

/* Since when the oldest that is due waits, of one target or (-1) of all. */
static inline int64_t
oldest_due(const struct model *m, int target)
{
	int64_t oldest = INT64_MAX;

	for (size_t n = 0; n < m->items; n++)
		if ((target < 0 || m->item[n].target == target) &&
		    is_due(m, &m->item[n]))
			oldest = earlier(oldest, m->item[n].since_ms);
	return oldest;
}

static inline int64_t
next_due(const struct model *m)
{
	int64_t next = INT64_MAX;

	for (size_t n = 0; n < m->items; n++)
		if (m->item[n].at == DELAYED && m->item[n].since_ms > m->now_ms)
			next = earlier(next, m->item[n].since_ms);
	return next;
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

#endif
