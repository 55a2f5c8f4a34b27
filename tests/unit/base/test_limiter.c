/* limiter: the span, the counts, forgetting, and a random model. */
#include "bridge/base/limiter.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static void
pass(struct br_limiter *l, const char *group, int64_t now_ms, uint64_t want)
{
	uint64_t suppressed = 999;

	assert_true(br_limiter_allow(l, group, now_ms, &suppressed));
	assert_int_equal(suppressed, want);
}

static void
stop(struct br_limiter *l, const char *group, int64_t now_ms)
{
	uint64_t suppressed;

	assert_false(br_limiter_allow(l, group, now_ms, &suppressed));
}

static void
test_ten_in_ten_seconds(void **state)
{
	struct br_limiter *l = br_limiter_new(4);

	(void)state;
	for (int i = 0; i < 10; i++)
		pass(l, "a", 500, 0);
	stop(l, "a", 500);
	stop(l, "a", 10499);
	pass(l, "b", 10499, 0); /* another group has its own ten */
	pass(l, "a", 10500, 2);
	pass(l, "a", 10500, 0); /* told once */
	br_limiter_free(l);
}

/* A window that is cut at fixed times would let twenty through. */
static void
test_any_span(void **state)
{
	struct br_limiter *l = br_limiter_new(4);

	(void)state;
	pass(l, "a", 0, 0);
	for (int i = 0; i < 9; i++)
		pass(l, "a", 9000, 0);
	stop(l, "a", 9999);
	pass(l, "a", 10000, 1);
	stop(l, "a", 10000);
	stop(l, "a", 18999);
	pass(l, "a", 19000, 2);
	br_limiter_free(l);
}

static void
test_forgets_the_oldest(void **state)
{
	struct br_limiter *l = br_limiter_new(2);

	(void)state;
	for (int i = 0; i < 10; i++) {
		pass(l, "a", 0, 0);
		pass(l, "b", 0, 0);
	}
	stop(l, "b", 1);
	stop(l, "a", 2); /* b is now the oldest */
	pass(l, "c", 3, 0);
	stop(l, "a", 4);
	pass(l, "b", 5, 0); /* forgotten, so new; takes the place of c */
	stop(l, "a", 6);
	br_limiter_free(l);
	br_limiter_free(NULL);
}

static uint32_t
next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

#define STEPS 20000
#define MODEL_GROUPS 7

/* The rule in its plainest form: count what passed in the last ten seconds. */
static void
test_model(void **state)
{
	static int64_t passed[MODEL_GROUPS][STEPS];
	size_t count[MODEL_GROUPS] = {0};
	uint64_t left_out[MODEL_GROUPS] = {0};
	struct br_limiter *l = br_limiter_new(MODEL_GROUPS);
	uint32_t seed = 7;
	int64_t now_ms = 0;

	(void)state;
	for (int step = 0; step < STEPS; step++) {
		size_t g = next_random(&seed) % MODEL_GROUPS, recent = 0;
		char name[16];

		now_ms += next_random(&seed) % 300;
		(void)snprintf(name, sizeof(name), "group %zu", g);
		for (size_t i = count[g]; i > 0; i--) {
			if (passed[g][i - 1] <= now_ms - 10000)
				break;
			recent++;
		}
		if (recent >= 10) {
			stop(l, name, now_ms);
			left_out[g]++;
			continue;
		}
		pass(l, name, now_ms, left_out[g]);
		left_out[g] = 0;
		passed[g][count[g]++] = now_ms;
	}
	br_limiter_free(l);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ten_in_ten_seconds),
	    cmocka_unit_test(test_any_span),
	    cmocka_unit_test(test_forgets_the_oldest),
	    cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
