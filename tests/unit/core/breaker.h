/*
 * breaker: rules for tests of a target's health, and ways to end attempts and
 * to close it. cmocka.h comes before it.
 */
#ifndef TESTS_UNIT_CORE_BREAKER_H
#define TESTS_UNIT_CORE_BREAKER_H

#include "bridge/core/health.h"

#define FAILURES 3
#define AFTER 4
#define PROBE_MS 1000
#define PROBE_MAX_MS 5000

static const struct br_health_rules usual = {.connections = 4,
    .failures = FAILURES,
    .after = AFTER,
    .probe_ms = PROBE_MS,
    .probe_max_ms = PROBE_MAX_MS};

/* One end of an attempt that is no probe. */
static inline bool
end(struct br_health *h, const struct br_health_rules *rules, enum br_sign sign,
    uint64_t serial)
{
	return br_health_end(h, rules, false, sign, serial, false, false, 0);
}

/* One that goes to the DLQ by this answer. */
static inline bool
end_dead(
    struct br_health *h, const struct br_health_rules *rules, enum br_sign sign)
{
	return br_health_end(h, rules, false, sign, 1, true, false, 0);
}

/* Rules in which nothing ever closes. */
static inline struct br_health_rules
never_closes(uint32_t connections)
{
	return (struct br_health_rules){.connections = connections};
}

static inline void
close_down(struct br_health *h, const struct br_health_rules *rules)
{
	br_health_init(h, rules);
	for (uint64_t i = 1; i <= FAILURES; i++)
		assert_true(
		    end(h, rules, BR_SIGN_FAILURE, i) == (i == FAILURES));
	assert_int_equal(h->state, BR_HEALTH_DOWN);
}

static inline void
close_refusing(struct br_health *h, const struct br_health_rules *rules)
{
	br_health_init(h, rules);
	for (uint64_t i = 1; i <= AFTER; i++)
		assert_true(end_dead(h, rules, BR_SIGN_ALIVE) == (i == AFTER));
	assert_int_equal(h->state, BR_HEALTH_REFUSING);
}

#endif
