/*
 * engine: a scheduler with a fake clock and one partition, for table tests.
 */
#ifndef TESTS_UNIT_CORE_ENGINE_H
#define TESTS_UNIT_CORE_ENGINE_H

#include "bridge/core/scheduler.h"
#include "events.h"

#define WORKERS 4
#define HOUR_MS 3600000
#define OTHER "https://two.test:443"

struct engine {
	struct br_sched *s;
	struct br_sched_part *part;
	int64_t now_ms, wake_ms;
	struct br_decision decision; /* the last one */
};

/* The design's ladder, without jitter. */
static inline struct br_sched_rules
engine_rules(void)
{
	return (struct br_sched_rules){
	    .order = BR_ORDER_KEY,
	    .retry =
	        {
	            .base_ms = 10000,
	            .max_delay_ms = HOUR_MS,
	            .retry_after_max_ms = HOUR_MS,
	        },
	    .workers = WORKERS,
	    .seed = 1,
	};
}

#define FAILURES 3
#define AFTER 3
#define PROBE_MS 1000
#define PROBE_MAX_MS 4000

/* … with a breaker that closes soon. */
static inline struct br_sched_rules
engine_breaker(void)
{
	struct br_sched_rules rules = engine_rules();

	rules.health = (struct br_health_rules){.failures = FAILURES,
	    .after = AFTER,
	    .probe_ms = PROBE_MS,
	    .probe_max_ms = PROBE_MAX_MS};
	(void)br_status_set_add(&rules.verdict.throttle_on, "429");
	return rules;
}

static inline struct engine
engine_with(const struct br_sched_rules *rules)
{
	struct engine e = {.s = br_sched_new(rules), .now_ms = 1000000};

	e.part = br_sched_part_open(e.s, NULL);
	return e;
}

static inline struct engine
engine_new(void)
{
	const struct br_sched_rules rules = engine_rules();

	return engine_with(&rules);
}

static inline struct br_ref *
engine_put(struct engine *e, int64_t offset, const char *key)
{
	struct br_ref *ref = ref_new(e->part, offset, key, TARGET);

	br_sched_put(e->s, ref, e->now_ms);
	return ref;
}

static inline struct br_ref *
engine_put_to(
    struct engine *e, int64_t offset, const char *key, const char *target)
{
	struct br_ref *ref = ref_new(e->part, offset, key, target);

	br_sched_put(e->s, ref, e->now_ms);
	return ref;
}

static inline struct br_ref *
engine_put_route(struct engine *e, int64_t offset, const char *route)
{
	struct br_ref *ref = ref_new(e->part, offset, NULL, TARGET);

	ref->event->route = route;
	br_sched_put(e->s, ref, e->now_ms);
	return ref;
}

/* One that the intake could not decode: no target, no url. */
static inline struct br_ref *
engine_put_bad(struct engine *e, int64_t offset, const char *key)
{
	struct br_ref *ref = ref_new(e->part, offset, key, NULL);

	ref->event->reason = "json-syntax";
	br_sched_put(e->s, ref, e->now_ms);
	return ref;
}

/* What worker `w` gets now, or NULL; the time to come again in wake_ms. */
static inline struct br_ref *
engine_take(struct engine *e, uint32_t w)
{
	return br_sched_take(e->s, w, e->now_ms, &e->wake_ms);
}

static inline void
engine_end(struct engine *e, struct br_ref *ref, const struct br_outcome *o)
{
	if (o->http_status < 200 || o->http_status > 299)
		ref_failed(ref);
	e->decision = br_sched_give_back(e->s, 0, ref, o, e->now_ms, 0.5);
}

static inline void
engine_give(struct engine *e, struct br_ref *ref, int status)
{
	const struct br_outcome outcome = outcome_of(status);

	engine_end(e, ref, &outcome);
}

/* Takes and frees what settled; the number of delivered and dropped ones. */
static inline size_t
engine_collect(struct engine *e)
{
	struct br_ref *ref = br_sched_settled(e->s), *next;
	size_t count = 0;

	for (; ref != NULL; ref = next) {
		next = ref->settled_next;
		if (ref->settled == BR_SETTLED_DEAD)
			continue;
		ref_free(ref);
		count++;
	}
	return count;
}

static inline void
engine_bury(struct engine *e, struct br_ref *ref)
{
	br_sched_buried(e->s, ref, e->now_ms);
	ref_free(ref);
}

/* Everything must have come back; what settled last is freed here. */
static inline void
engine_free(struct engine *e)
{
	br_sched_part_close(e->s, e->part, e->now_ms);
	(void)engine_collect(e);
	br_sched_part_free(e->part);
	br_sched_free(e->s);
}

#endif
