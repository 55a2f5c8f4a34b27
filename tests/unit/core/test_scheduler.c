/* The scheduler: order, retries, dead letters. Its clock is the test's. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine.h"

static void
test_order_per_key(void **state)
{
	struct engine e = engine_new();
	struct br_ref *a1 = engine_put(&e, 1, "a");
	struct br_ref *a2 = engine_put(&e, 2, "a");
	struct br_ref *b3 = engine_put(&e, 3, "b");
	struct br_ref *a4 = engine_put(&e, 4, "a");

	(void)state;
	assert_ptr_equal(engine_take(&e, 0), a1);
	assert_ptr_equal(engine_take(&e, 1), b3);
	assert_null(engine_take(&e, 2));
	assert_true(e.wake_ms == INT64_MAX);
	engine_give(&e, b3, 200);
	assert_null(engine_take(&e, 1));
	engine_give(&e, a1, 200);
	assert_ptr_equal(engine_take(&e, 1), a2);
	assert_null(engine_take(&e, 0));
	engine_give(&e, a2, 204);
	assert_ptr_equal(engine_take(&e, 0), a4);
	assert_int_equal(a4->attempts, 1);
	engine_give(&e, a4, 200);
	assert_null(engine_take(&e, 0));
	assert_int_equal(engine_collect(&e), 4);
	engine_free(&e);
}

static void
test_failing_key_holds_no_other(void **state)
{
	struct engine e = engine_new();
	struct br_ref *a1 = engine_put(&e, 1, "a");
	struct br_ref *a2 = engine_put(&e, 2, "a");
	struct br_ref *ref;

	(void)state;
	assert_ptr_equal(engine_take(&e, 0), a1);
	engine_give(&e, a1, 503);
	for (int64_t i = 3; i < 103; i++) {
		ref = engine_put(&e, i, i % 2 != 0 ? "b" : "c");
		e.now_ms++;
		assert_ptr_equal(engine_take(&e, 0), ref);
		engine_give(&e, ref, 200);
	}
	assert_null(engine_take(&e, 0));
	e.now_ms = e.wake_ms;
	assert_ptr_equal(engine_take(&e, 0), a1);
	engine_give(&e, a1, 200);
	assert_ptr_equal(engine_take(&e, 0), a2);
	engine_give(&e, a2, 200);
	assert_int_equal(engine_collect(&e), 102);
	engine_free(&e);
}

/* Each step of the ladder to the ms; then the dead letter, then the next. */
static void
test_ladder(void **state)
{
	static const int64_t wait_ms[] = {20000, 40000, 80000, 160000};
	struct engine e = engine_new();
	struct br_ref *bad = engine_put(&e, 1, "k");
	struct br_ref *next = engine_put(&e, 2, "k");

	(void)state;
	for (uint32_t n = 1; n <= 4; n++) {
		int64_t due_ms = e.now_ms + 70 + wait_ms[n - 1];

		assert_ptr_equal(engine_take(&e, 0), bad);
		assert_int_equal(bad->attempts, n);
		e.now_ms += 70; /* the attempt takes time; the wait follows */
		engine_give(&e, bad, n % 2 != 0 ? 503 : 0);
		assert_int_equal(e.decision.verdict, BR_AGAIN);
		assert_false(e.decision.exhausted);
		assert_int_equal(e.decision.wait_ms, wait_ms[n - 1]);
		e.now_ms = due_ms - 1;
		assert_null(engine_take(&e, 0));
		assert_int_equal(e.wake_ms, due_ms);
		e.now_ms = due_ms;
	}
	assert_ptr_equal(engine_take(&e, 3), bad);
	assert_int_equal(bad->attempts, 5);
	engine_give(&e, bad, 503);
	assert_int_equal(e.decision.verdict, BR_AGAIN);
	assert_true(e.decision.exhausted);
	assert_string_equal(bad->failure->reason, "http-retries-exhausted");
	assert_ptr_equal(br_sched_settled(e.s), bad);
	assert_null(bad->settled_next);
	assert_int_equal(bad->settled, BR_SETTLED_DEAD);
	assert_null(br_sched_settled(e.s));
	e.now_ms += 100 * HOUR_MS;
	assert_null(engine_take(&e, 0));
	assert_true(e.wake_ms == INT64_MAX);
	engine_bury(&e, bad);
	assert_ptr_equal(engine_take(&e, 0), next);
	assert_int_equal(next->attempts, 1);
	engine_give(&e, next, 200);
	engine_free(&e);
}

static void
test_max_attempts_is_the_events(void **state)
{
	static const uint32_t most[] = {1, 2, 7};
	struct engine e = engine_new();

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct br_ref *ref = ref_new(e.part, 1, "k", TARGET);

		ref->event->max_attempts = most[i];
		br_sched_put(e.s, ref, e.now_ms);
		for (uint32_t n = 1; n <= most[i]; n++) {
			assert_ptr_equal(engine_take(&e, 0), ref);
			engine_give(&e, ref, 500);
			assert_int_equal(e.decision.exhausted, n == most[i]);
			e.now_ms += e.decision.wait_ms;
		}
		assert_ptr_equal(br_sched_settled(e.s), ref);
		assert_int_equal(ref->attempts, most[i]);
		engine_bury(&e, ref);
	}
	engine_free(&e);
}

static void
test_never_is_dead_at_once(void **state)
{
	static const struct {
		int status;
		enum br_transport transport;
		const char *reason;
	} rows[] = {
	    {400, BR_TRANSPORT_OK, "http-permanent"},
	    {422, BR_TRANSPORT_OK, "http-permanent"},
	    {410, BR_TRANSPORT_OK, "http-gone"},
	    {0, BR_TRANSPORT_FORBIDDEN, "url-forbidden"},
	};
	struct engine e = engine_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct br_ref *bad = engine_put(&e, 1, "k");
		struct br_ref *next = engine_put(&e, 2, "k");
		struct br_ref *other = engine_put(&e, 3, "other");
		struct br_outcome o = outcome_of(rows[i].status);

		o.transport = rows[i].transport;
		assert_ptr_equal(engine_take(&e, 0), bad);
		engine_end(&e, bad, &o);
		assert_int_equal(e.decision.verdict, BR_NEVER);
		assert_false(e.decision.exhausted);
		assert_string_equal(bad->failure->reason, rows[i].reason);
		assert_int_equal(bad->attempts, 1);
		/* Its lane holds, whether the list was taken or not. */
		assert_ptr_equal(engine_take(&e, 0), other);
		assert_null(engine_take(&e, 1));
		assert_ptr_equal(br_sched_settled(e.s), bad);
		e.now_ms += HOUR_MS;
		assert_null(engine_take(&e, 1));
		engine_bury(&e, bad);
		assert_ptr_equal(engine_take(&e, 1), next);
		engine_give(&e, next, 200);
		engine_give(&e, other, 200);
		assert_int_equal(engine_collect(&e), 2);
	}
	engine_free(&e);
}

/* No key and an empty key have no order; a key of one NUL has. */
static void
test_without_key_in_parallel(void **state)
{
	static const uint8_t nul[1];
	struct engine e = engine_new();
	struct br_ref *ref[4], *keyed[2];

	(void)state;
	for (int i = 0; i < 4; i++)
		ref[i] = engine_put(&e, i, i < 2 ? NULL : "");
	for (int i = 0; i < 2; i++) {
		keyed[i] = ref_new(e.part, 4 + i, NULL, TARGET);
		keyed[i]->event->order_key = (struct br_slice){nul, 1};
		br_sched_put(e.s, keyed[i], e.now_ms);
	}
	for (uint32_t i = 0; i < 4; i++)
		assert_ptr_equal(engine_take(&e, i), ref[i]);
	for (int i = 3; i >= 0; i--)
		engine_give(&e, ref[i], 200);
	assert_ptr_equal(engine_take(&e, 0), keyed[0]);
	assert_null(engine_take(&e, 1));
	engine_give(&e, keyed[0], 200);
	assert_ptr_equal(engine_take(&e, 1), keyed[1]);
	engine_give(&e, keyed[1], 200);
	engine_free(&e);
}

static void
test_order_partition(void **state)
{
	struct br_sched_rules rules = engine_rules();
	struct br_sched_part *second;
	struct br_ref *ref[3], *apart;
	struct engine e;

	(void)state;
	rules.order = BR_ORDER_PARTITION;
	e = engine_with(&rules);
	second = br_sched_part_open(e.s, NULL);
	ref[0] = engine_put(&e, 0, "a");
	ref[1] = engine_put(&e, 1, NULL);
	ref[2] = engine_put(&e, 2, "b");
	apart = ref_new(second, 0, "a", TARGET);
	br_sched_put(e.s, apart, e.now_ms);
	assert_ptr_equal(engine_take(&e, 0), ref[0]);
	assert_ptr_equal(engine_take(&e, 1), apart);
	for (int i = 0; i < 3; i++) {
		assert_null(engine_take(&e, 2));
		engine_give(&e, ref[i], 200);
		if (i < 2)
			assert_ptr_equal(engine_take(&e, 0), ref[i + 1]);
	}
	engine_give(&e, apart, 200);
	assert_int_equal(engine_collect(&e), 4);
	br_sched_part_close(e.s, second, e.now_ms);
	br_sched_part_free(second);
	engine_free(&e);
}

static void
test_order_none(void **state)
{
	struct br_sched_rules rules = engine_rules();
	struct br_ref *ref[3];
	struct engine e;

	(void)state;
	rules.order = BR_ORDER_NONE;
	e = engine_with(&rules);
	for (int i = 0; i < 3; i++)
		ref[i] = engine_put(&e, i, "same");
	for (uint32_t i = 0; i < 3; i++)
		assert_ptr_equal(engine_take(&e, i), ref[i]);
	engine_give(&e, ref[0], 400);
	engine_give(&e, ref[2], 200);
	engine_give(&e, ref[1], 200);
	assert_int_equal(engine_collect(&e), 2);
	engine_bury(&e, ref[0]);
	engine_free(&e);
}

/* The lanes of equal keys in two partitions know nothing of each other. */
static void
test_equal_keys_of_two_partitions(void **state)
{
	struct engine e = engine_new();
	struct br_sched_part *second = br_sched_part_open(e.s, NULL);
	struct br_ref *one = engine_put(&e, 7, "k");
	struct br_ref *two = ref_new(second, 7, "k", TARGET);

	(void)state;
	br_sched_put(e.s, two, e.now_ms);
	assert_ptr_equal(engine_take(&e, 0), one);
	assert_ptr_equal(engine_take(&e, 1), two);
	engine_give(&e, one, 400);
	engine_give(&e, two, 200);
	assert_int_equal(engine_collect(&e), 1);
	engine_bury(&e, one);
	br_sched_part_close(e.s, second, e.now_ms);
	br_sched_part_free(second);
	engine_free(&e);
}

/* What the intake could not decode waits for its turn and is never sent. */
static void
test_undecodable(void **state)
{
	struct engine e = engine_new();
	struct br_ref *bad1 = engine_put_bad(&e, 1, "k");
	struct br_ref *good2 = engine_put(&e, 2, "k");
	struct br_ref *bad3 = engine_put_bad(&e, 3, "k");
	struct br_ref *bad4 = engine_put_bad(&e, 4, "k");
	struct br_ref *good5 = engine_put(&e, 5, "k");
	struct br_ref *free6 = engine_put_bad(&e, 6, NULL);

	(void)state;
	assert_null(engine_take(&e, 0));
	assert_ptr_equal(br_sched_settled(e.s), bad1);
	assert_ptr_equal(bad1->settled_next, free6);
	assert_null(free6->settled_next);
	assert_int_equal(bad1->settled, BR_SETTLED_DEAD);
	assert_int_equal(bad1->attempts, 0);
	assert_null(bad1->failure);
	engine_bury(&e, free6);
	engine_bury(&e, bad1);
	assert_null(br_sched_settled(e.s));
	assert_ptr_equal(engine_take(&e, 0), good2);
	assert_null(br_sched_settled(e.s));
	engine_give(&e, good2, 200);
	/* The delivered one first, then who became first by it. */
	assert_ptr_equal(br_sched_settled(e.s), good2);
	assert_ptr_equal(good2->settled_next, bad3);
	assert_null(bad3->settled_next);
	assert_null(engine_take(&e, 0));
	ref_free(good2);
	engine_bury(&e, bad3);
	assert_ptr_equal(br_sched_settled(e.s), bad4);
	assert_null(engine_take(&e, 0));
	engine_bury(&e, bad4);
	assert_ptr_equal(engine_take(&e, 0), good5);
	engine_give(&e, good5, 200);
	engine_free(&e);
}

static void
test_retry_after(void **state)
{
	static const struct {
		bool given;
		int64_t asked_ms, want_ms;
	} rows[] = {
	    {true, 5000, 20000}, /* the ladder is longer */
	    {true, 20001, 20001}, {true, 60000, 60000},
	    {true, HOUR_MS, HOUR_MS}, {true, 2 * HOUR_MS, HOUR_MS},
	    {true, INT64_MAX, HOUR_MS}, {true, 0, 20000},
	    {true, -60000, 20000}, /* a date in the past */
	    {false, 60000, 20000}, /* nothing was asked */
	};
	struct engine e = engine_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct br_ref *ref = engine_put(&e, 1, "a");
		struct br_ref *other = engine_put(&e, 2, "b");
		struct br_outcome o = outcome_of(429);

		o.retry_after_given = rows[i].given;
		o.retry_after_ms = rows[i].asked_ms;
		assert_ptr_equal(engine_take(&e, 0), ref);
		engine_end(&e, ref, &o);
		assert_int_equal(e.decision.wait_ms, rows[i].want_ms);
		/* It was one event that should wait. */
		assert_ptr_equal(engine_take(&e, 0), other);
		engine_give(&e, other, 200);
		e.now_ms += rows[i].want_ms - 1;
		assert_null(engine_take(&e, 0));
		assert_int_equal(e.wake_ms, e.now_ms + 1);
		e.now_ms++;
		assert_ptr_equal(engine_take(&e, 0), ref);
		engine_give(&e, ref, 200);
	}
	assert_int_equal(engine_collect(&e), 18);
	engine_free(&e);
}

/* The next of a lane goes where it wants to. */
static void
test_lane_of_two_targets(void **state)
{
	struct engine e = engine_new();
	struct br_ref *one = engine_put_to(&e, 1, "k", TARGET);
	struct br_ref *two = engine_put_to(&e, 2, "k", OTHER);
	struct br_ref *three = engine_put_to(&e, 3, "k", TARGET);

	(void)state;
	assert_ptr_equal(engine_take(&e, 0), one);
	engine_give(&e, one, 200);
	assert_ptr_equal(engine_take(&e, 0), two);
	engine_give(&e, two, 503);
	assert_null(engine_take(&e, 0));
	e.now_ms = e.wake_ms;
	assert_ptr_equal(engine_take(&e, 0), two);
	engine_give(&e, two, 400);
	assert_int_equal(engine_collect(&e), 1);
	assert_null(engine_take(&e, 0));
	engine_bury(&e, two);
	assert_ptr_equal(engine_take(&e, 0), three);
	engine_give(&e, three, 200);
	engine_free(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order_per_key),
	    cmocka_unit_test(test_failing_key_holds_no_other),
	    cmocka_unit_test(test_ladder),
	    cmocka_unit_test(test_max_attempts_is_the_events),
	    cmocka_unit_test(test_never_is_dead_at_once),
	    cmocka_unit_test(test_without_key_in_parallel),
	    cmocka_unit_test(test_order_partition),
	    cmocka_unit_test(test_order_none),
	    cmocka_unit_test(test_equal_keys_of_two_partitions),
	    cmocka_unit_test(test_undecodable),
	    cmocka_unit_test(test_retry_after),
	    cmocka_unit_test(test_lane_of_two_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
