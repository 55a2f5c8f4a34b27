/*
 * naive_parked: the model of naive.h and what core/parked.h tells: bytes of
 * lanes, which of them are parked, what is given up, what is forgotten.
 */
#ifndef TESTS_UNIT_CORE_NAIVE_PARKED_H
#define TESTS_UNIT_CORE_NAIVE_PARKED_H

#include "naive.h"

static inline size_t
weight(const struct item *i)
{
	return i->ref->bytes + (i->failed ? sizeof(struct br_failure) : 0);
}

/* What a lane costs by itself; `i` is in it. */
static inline size_t
lane_cost(const struct model *m, const struct item *i)
{
	return sizeof(struct br_lane) + (m->rules.order == BR_ORDER_KEY
	                                        ? i->ref->event->order_key.len
	                                        : 0);
}

/* All of the lane whose first one is `i`. */
static inline size_t
lane_bytes(const struct model *m, const struct item *i)
{
	size_t bytes = lane_cost(m, i);

	for (size_t n = 0; n < m->items; n++)
		if (holds(&m->item[n]) && same_lane(m, i, &m->item[n]))
			bytes += weight(&m->item[n]);
	return bytes;
}

/* Does the first of a lane wait for something else than its turn? */
static inline bool
is_parked(const struct model *m, const struct item *i)
{
	const struct place_to_go *to = &m->to[i->target];
	int64_t until_ms = to->hold[i->route].until_ms;

	if (i->at == FLIES)
		return m->now_ms - i->taken_ms >= 5000;
	if (!is_due(m, i) || to->health.state != BR_HEALTH_OPEN)
		return true;
	return until_ms != 0 &&
	       (to->hold[i->route].probing || m->now_ms < until_ms);
}

/* May it be given up because its target is closed? */
static inline bool
may_shed(const struct model *m, const struct item *i)
{
	return (i->at == WAITS || i->at == DELAYED) && is_first(m, i) &&
	       m->to[i->target].health.state != BR_HEALTH_OPEN;
}

/* Bytes. Asking for what is ready wakes what is due, as every take does. */
static inline void
check_bytes(struct model *m)
{
	size_t parked = 0, extra = 0;
	struct br_sched_stats stats;

	(void)br_sched_ready(m->s, m->now_ms, 1);
	for (size_t n = 0; n < m->items; n++) {
		const struct item *i = &m->item[n];

		if (holds(i) && i->failed)
			extra += sizeof(struct br_failure);
		if (!is_first(m, i))
			continue;
		extra += lane_cost(m, i);
		if (is_parked(m, i))
			parked += lane_bytes(m, i);
	}
	br_sched_stats(m->s, &stats);
	EXPECT(m, stats.extra == extra);
	EXPECT(m, br_sched_parked(m->s, m->now_ms) == parked);
}

/* Those that were put first go first, until enough are on their way. */
static inline void
shed(struct model *m)
{
	size_t want = below(m, 8) * 100, dying = 0, shed = 0;

	for (size_t n = 0; n < m->items; n++)
		if (m->item[n].shed &&
		    (m->item[n].at == BURYING || m->item[n].at == SETTLED))
			dying += weight(&m->item[n]);
	while (dying < want) {
		struct item *first = NULL;

		for (size_t n = 0; n < m->items; n++) {
			struct item *i = &m->item[n];

			if (may_shed(m, i) &&
			    (first == NULL ||
			        i->ref->serial < first->ref->serial))
				first = i;
		}
		if (first == NULL)
			break;
		m->turn++;
		settle(m, first, BR_SETTLED_DEAD);
		first->shed = true;
		dying += weight(first);
		shed++;
	}
	EXPECT(m, br_sched_shed(m->s, want, m->now_ms) == shed);
}

/* Closed targets that nobody wants for long are as new. */
static inline void
look(struct model *m)
{
	struct br_target_view list[2];
	size_t closed = 0;

	for (size_t n = 0; n < TARGETS; n++) {
		struct place_to_go *to = &m->to[n];

		if (to->health.state == BR_HEALTH_OPEN)
			continue;
		closed++;
		if (to->wanted ||
		    m->now_ms - to->left_ms < m->rules.health.probe_max_ms)
			continue;
		br_health_free(&to->health);
		br_health_init(&to->health, &m->rules.health);
		for (int type = 0; type < TYPES; type++)
			to->type[type] = false;
		closed--;
	}
	EXPECT(m, br_sched_closed(m->s, m->now_ms, list, 2) == closed);
	if (closed >= 2)
		EXPECT(m, list[0].waiting >= list[1].waiting);
}

/* Which targets are wanted now, and which are no more. */
static inline void
note_wanted(struct model *m)
{
	for (int t = 0; t < TARGETS; t++) {
		bool wanted = false;

		for (size_t n = 0; n < m->items; n++) {
			const struct item *i = &m->item[n];

			wanted |= i->target == t && i->at != SETTLED &&
			          i->at != BURYING && is_first(m, i);
		}
		if (m->to[t].wanted && !wanted)
			m->to[t].left_ms = m->now_ms;
		m->to[t].wanted = wanted;
	}
}

#endif
