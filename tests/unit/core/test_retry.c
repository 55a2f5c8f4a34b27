/* The ladder: its steps, its limits, and that it never wraps. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bridge/core/retry.h"
#include "seed.h"

#define HOUR_MS UINT64_C(3600000)

/* The defaults, without jitter. */
static const struct br_retry_rules steady = {
    .base_ms = 10000,
    .max_delay_ms = HOUR_MS,
    .retry_after_max_ms = HOUR_MS,
};

static void
test_ladder(void **state)
{
	static const uint64_t want[] = {20000, 40000, 80000, 160000, 320000,
	    640000, 1280000, 2560000, HOUR_MS, HOUR_MS};
	uint64_t sum = 0;

	(void)state;
	for (uint32_t n = 1; n <= 10; n++)
		assert_int_equal(
		    br_retry_delay_ms(&steady, n, 0, 0.7), want[n - 1]);
	for (uint32_t n = 1; n <= 4; n++)
		sum += br_retry_delay_ms(&steady, n, 0, 0.7);
	assert_int_equal(sum, 300000);
}

static void
test_huge_attempts(void **state)
{
	static const uint32_t attempts[] = {
	    61, 62, 63, 64, 65, 1000, UINT32_MAX};
	struct br_retry_rules wide = steady;

	(void)state;
	wide.max_delay_ms = UINT64_C(1) << 62;
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		assert_int_equal(
		    br_retry_delay_ms(&steady, attempts[i], 0, 0.5), HOUR_MS);
		assert_int_equal(br_retry_delay_ms(&wide, attempts[i], 0, 0.5),
		    UINT64_C(1) << 62);
	}
	wide.base_ms = 1;
	assert_int_equal(
	    br_retry_delay_ms(&wide, 61, 0, 0.5), UINT64_C(1) << 61);
	assert_int_equal(
	    br_retry_delay_ms(&wide, 62, 0, 0.5), UINT64_C(1) << 62);
}

static void
test_huge_base(void **state)
{
	struct br_retry_rules rules = steady;

	(void)state;
	rules.base_ms = UINT64_MAX;
	assert_int_equal(br_retry_delay_ms(&rules, 1, 0, 0.5), HOUR_MS);
	rules.base_ms = UINT64_MAX / 2 + 1;
	assert_int_equal(br_retry_delay_ms(&rules, 1, 0, 0.5), HOUR_MS);
	/* Even without a useful cap the delay is long and never wraps. */
	rules.max_delay_ms = UINT64_MAX;
	rules.jitter = 1;
	assert_true(br_retry_delay_ms(&rules, 1, 0, 0.999) == UINT64_MAX);
	assert_true(br_retry_delay_ms(&rules, 62, 0, 0.5) == UINT64_MAX);
}

static void
test_base_above_cap_and_zero(void **state)
{
	struct br_retry_rules rules = steady;

	(void)state;
	rules.base_ms = 5000;
	rules.max_delay_ms = 1000;
	assert_int_equal(br_retry_delay_ms(&rules, 1, 0, 0.5), 1000);
	rules.base_ms = 0;
	assert_int_equal(br_retry_delay_ms(&rules, 9, 0, 0.5), 0);
	assert_int_equal(br_retry_delay_ms(&rules, UINT32_MAX, 0, 0.5), 0);
	rules.base_ms = 10;
	rules.max_delay_ms = 0;
	assert_int_equal(br_retry_delay_ms(&rules, 1, 0, 0.5), 0);
	/* A cap that is no power of two of the base is reached exactly. */
	rules.max_delay_ms = 31;
	assert_int_equal(br_retry_delay_ms(&rules, 1, 0, 0.5), 20);
	assert_int_equal(br_retry_delay_ms(&rules, 2, 0, 0.5), 31);
}

static void
test_jitter_ends(void **state)
{
	struct br_retry_rules rules = steady;

	(void)state;
	rules.jitter = 0.1;
	assert_int_equal(br_retry_delay_ms(&rules, 1, 0, 0), 18000);
	assert_int_equal(br_retry_delay_ms(&rules, 1, 0, 0.5), 20000);
	assert_in_range(br_retry_delay_ms(&rules, 1, 0, 0x1.fffffffffffffp-1),
	    21999, 22000);
	rules.jitter = 1;
	assert_int_equal(br_retry_delay_ms(&rules, 1, 0, 0), 0);
	assert_in_range(br_retry_delay_ms(&rules, 1, 0, 0x1.fffffffffffffp-1),
	    39999, 40000);
	/* Jitter spreads around the cap; only the step is capped. */
	rules.jitter = 0.1;
	assert_int_equal(br_retry_delay_ms(&rules, 20, 0, 0), HOUR_MS / 10 * 9);
}

static void
test_jitter_stays_within_and_spreads(void **state)
{
	struct br_retry_rules rules = steady;
	uint64_t rng = seed_take();

	(void)state;
	rules.jitter = 0.1;
	for (uint32_t n = 1; n <= 12; n++) {
		uint64_t step = br_retry_delay_ms(&steady, n, 0, 0.5);
		uint64_t least = UINT64_MAX, most = 0;

		for (int i = 0; i < 20000; i++) {
			uint64_t delay = br_retry_delay_ms(
			    &rules, n, 0, seed_fraction(&rng));

			/* The result is rounded down to whole ms. */
			assert_in_range(
			    delay, step - step / 10 - 1, step + step / 10);
			least = delay < least ? delay : least;
			most = delay > most ? delay : most;
		}
		/* Both ends are come near to. */
		assert_true(least < step - step / 11);
		assert_true(most > step + step / 11);
	}
}

static void
test_retry_after(void **state)
{
	(void)state;
	/* Shorter than the ladder: the ladder holds. */
	assert_int_equal(br_retry_delay_ms(&steady, 1, 1, 0.5), 20000);
	assert_int_equal(br_retry_delay_ms(&steady, 1, 20000, 0.5), 20000);
	assert_int_equal(br_retry_delay_ms(&steady, 1, 20001, 0.5), 20001);
	assert_int_equal(br_retry_delay_ms(&steady, 1, 30000, 0.5), 30000);
	assert_int_equal(br_retry_delay_ms(&steady, 2, 30000, 0.5), 40000);
	/* Capped, and no overflow into an instant retry. */
	assert_int_equal(
	    br_retry_delay_ms(&steady, 1, UINT64_C(86400000), 0.5), HOUR_MS);
	assert_int_equal(
	    br_retry_delay_ms(&steady, 1, UINT64_MAX, 0.5), HOUR_MS);
}

static void
test_properties(void **state)
{
	uint64_t rng = seed_take();

	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct br_retry_rules rules = {
		    .base_ms = seed_next(&rng) >> seed_below(&rng, 64),
		    .max_delay_ms = seed_next(&rng) >> seed_below(&rng, 64),
		    .retry_after_max_ms =
		        seed_next(&rng) >> seed_below(&rng, 64),
		    .jitter = seed_fraction(&rng),
		};
		uint32_t n = 1 + (uint32_t)seed_below(&rng, 100);
		uint64_t asked = seed_next(&rng) >> seed_below(&rng, 64);
		double random = seed_fraction(&rng);
		uint64_t delay = br_retry_delay_ms(&rules, n, asked, random);
		uint64_t capped = asked < rules.retry_after_max_ms
		                      ? asked
		                      : rules.retry_after_max_ms;
		double most = (double)rules.max_delay_ms * (1 + rules.jitter);

		assert_true(delay >= capped);
		assert_true(delay >= br_retry_delay_ms(&rules, n, 0, random));
		assert_true(delay <= capped || (double)delay <= most);
		/* Without jitter a later attempt never waits less. */
		rules.jitter = 0;
		assert_true(br_retry_delay_ms(&rules, n, 0, random) <=
		            br_retry_delay_ms(&rules, n + 1, 0, random));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ladder),
	    cmocka_unit_test(test_huge_attempts),
	    cmocka_unit_test(test_huge_base),
	    cmocka_unit_test(test_base_above_cap_and_zero),
	    cmocka_unit_test(test_jitter_ends),
	    cmocka_unit_test(test_jitter_stays_within_and_spreads),
	    cmocka_unit_test(test_retry_after),
	    cmocka_unit_test(test_properties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
