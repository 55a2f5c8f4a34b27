/* The scheduler: whose turn it is, when to come again, what its counts say. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine.h"

static void
deliver(struct engine *e, uint32_t w, const struct br_ref *want)
{
	struct br_ref *ref = engine_take(e, w);

	assert_ptr_equal(ref, want);
	engine_give(e, ref, 200);
}

/* Worker 0 was at TARGET: it stays, for a lane at most 50 ms younger. */
static void
test_prefers_its_target(void **state)
{
	static const struct {
		int64_t younger_ms;
		bool stays;
	} rows[] = {
	    {0, true}, {1, true}, {50, true}, {51, false}, {900, false}};
	struct engine e = engine_new();

	(void)state;
	deliver(&e, 0, engine_put_to(&e, 0, NULL, TARGET));
	deliver(&e, 1, engine_put_to(&e, 0, NULL, OTHER));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct br_ref *other = engine_put_to(&e, 1, NULL, OTHER);
		struct br_ref *own;

		e.now_ms += rows[i].younger_ms;
		own = engine_put_to(&e, 2, NULL, TARGET);
		e.now_ms += 10000; /* only the difference counts */
		deliver(&e, 0, rows[i].stays ? own : other);
		deliver(&e, 0, rows[i].stays ? other : own);
		/* back to where it was, for the next row */
		deliver(&e, 0, engine_put_to(&e, 3, NULL, TARGET));
	}
	engine_free(&e);
}

/* A worker without a past, or whose target has nothing, takes the oldest. */
static void
test_takes_the_oldest(void **state)
{
	struct engine e = engine_new();
	struct br_ref *ref[3];

	(void)state;
	ref[0] = engine_put_to(&e, 0, "a", OTHER);
	e.now_ms++;
	ref[1] = engine_put_to(&e, 1, "b", TARGET);
	e.now_ms++;
	ref[2] = engine_put_to(&e, 2, "c", "http://three.test:80");
	deliver(&e, 2, ref[0]);
	deliver(&e, 2, ref[1]);
	deliver(&e, 2, ref[2]);
	engine_free(&e);
}

/* One worker serves three targets in turn, whatever the age of what waits. */
static void
test_one_worker(void **state)
{
	static const char *const order[] = {
	    TARGET, OTHER, "c", TARGET, OTHER, TARGET, TARGET};
	struct br_sched_rules rules = engine_rules();
	struct engine e;

	(void)state;
	rules.workers = 1;
	e = engine_with(&rules);
	for (int i = 0; i < 4; i++)
		(void)engine_put_to(&e, i, NULL, TARGET);
	e.now_ms += HOUR_MS;
	(void)engine_put_to(&e, 4, NULL, OTHER);
	(void)engine_put_to(&e, 5, NULL, OTHER);
	e.now_ms++;
	(void)engine_put_to(&e, 6, NULL, "c");
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		struct br_ref *ref = engine_take(&e, 0);

		assert_non_null(ref);
		assert_string_equal(ref->event->target, order[i]);
		engine_give(&e, ref, 200);
	}
	assert_null(engine_take(&e, 0));
	assert_int_equal(engine_collect(&e), 7);
	engine_free(&e);
}

/* The next of a lane queues up behind other lanes: no key takes all. */
static void
test_lanes_take_turns(void **state)
{
	struct engine e = engine_new();
	struct br_ref *a1 = engine_put(&e, 1, "a");
	struct br_ref *a2 = engine_put(&e, 2, "a");
	struct br_ref *b3 = engine_put(&e, 3, "b");
	struct br_ref *c4 = engine_put(&e, 4, "c");

	(void)state;
	deliver(&e, 0, a1);
	deliver(&e, 0, b3);
	deliver(&e, 0, c4);
	deliver(&e, 0, a2);
	engine_free(&e);
}

/* Nobody asked while it became due: it still is older than what came later. */
static void
test_due_for_longest_first(void **state)
{
	struct engine e = engine_new();
	struct br_ref *again = engine_put(&e, 1, "again");
	struct br_ref *early, *late;

	(void)state;
	assert_ptr_equal(engine_take(&e, 0), again);
	engine_give(&e, again, 503); /* due in 20 s */
	e.now_ms += 19000;
	early = engine_put_to(&e, 2, "early", OTHER);
	e.now_ms += 4000;
	late = engine_put_to(&e, 3, "late", OTHER);
	e.now_ms += 2000;
	deliver(&e, 1, early);
	deliver(&e, 2, again);
	deliver(&e, 3, late);
	/* the same within one target */
	again = engine_put(&e, 4, "again");
	assert_ptr_equal(engine_take(&e, 0), again);
	engine_give(&e, again, 503);
	e.now_ms += 24000;
	late = engine_put(&e, 5, "late");
	e.now_ms += 1000;
	deliver(&e, 0, again);
	deliver(&e, 0, late);
	engine_free(&e);
}

/* Lanes wake in the order of their times, not in that of their failures. */
static void
test_wakes_in_order_of_time(void **state)
{
	static const int64_t asked_ms[] = {70000, 30000, 50000};
	struct engine e = engine_new();
	struct br_ref *ref[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		ref[i] = engine_put(&e, i, NULL);
	for (uint32_t i = 0; i < 3; i++)
		assert_ptr_equal(engine_take(&e, i), ref[i]);
	for (int i = 0; i < 3; i++) {
		struct br_outcome o = outcome_of(503);

		o.retry_after_given = true;
		o.retry_after_ms = asked_ms[i];
		engine_end(&e, ref[i], &o);
	}
	assert_null(engine_take(&e, 0));
	assert_int_equal(e.wake_ms, e.now_ms + 30000);
	e.now_ms += 30000;
	deliver(&e, 0, ref[1]);
	/* also with an event in hand it says when the next is due */
	assert_int_equal(e.wake_ms, e.now_ms + 20000);
	assert_null(engine_take(&e, 0));
	assert_int_equal(e.wake_ms, e.now_ms + 20000);
	e.now_ms += HOUR_MS;
	deliver(&e, 0, ref[2]);
	assert_true(e.wake_ms == INT64_MAX);
	deliver(&e, 0, ref[0]);
	engine_free(&e);
}

static void
check_stats(const struct engine *e, size_t in_flight, size_t waiting,
    size_t delayed, size_t dead, size_t lanes)
{
	struct br_sched_stats stats;

	br_sched_stats(e->s, &stats);
	assert_int_equal(stats.in_flight, in_flight);
	assert_int_equal(stats.waiting, waiting);
	assert_int_equal(stats.delayed, delayed);
	assert_int_equal(stats.dead, dead);
	assert_int_equal(stats.lanes, lanes);
	assert_int_equal(
	    br_sched_part_count(e->part), in_flight + waiting + dead);
}

static void
check_settled(const struct engine *e, bool any, bool dead)
{
	struct br_sched_stats stats;

	br_sched_stats(e->s, &stats);
	assert_int_equal(stats.settled_any, any);
	assert_int_equal(stats.settled_dead, dead);
}

static void
test_stats(void **state)
{
	struct engine e = engine_new();
	struct br_ref *a1, *b3, *bad;

	(void)state;
	check_stats(&e, 0, 0, 0, 0, 0);
	check_settled(&e, false, false);
	a1 = engine_put(&e, 1, "a");
	(void)engine_put(&e, 2, "a");
	b3 = engine_put(&e, 3, "b");
	check_stats(&e, 0, 3, 0, 0, 2);
	assert_ptr_equal(engine_take(&e, 0), a1);
	assert_ptr_equal(engine_take(&e, 1), b3);
	check_stats(&e, 2, 1, 0, 0, 2);
	engine_give(&e, a1, 503);
	check_stats(&e, 1, 2, 1, 0, 2);
	check_settled(&e, false, false);
	engine_give(&e, b3, 200);
	check_stats(&e, 0, 2, 1, 0, 1);
	check_settled(&e, true, false);
	bad = engine_put_bad(&e, 4, NULL);
	check_stats(&e, 0, 2, 1, 1, 2);
	check_settled(&e, true, true);
	assert_int_equal(engine_collect(&e), 1);
	check_settled(&e, false, false);
	check_stats(&e, 0, 2, 1, 1, 2);
	engine_bury(&e, bad);
	check_stats(&e, 0, 2, 1, 0, 1);
	e.now_ms += 20000;
	assert_ptr_equal(engine_take(&e, 0), a1);
	check_stats(&e, 1, 1, 0, 0, 1);
	engine_give(&e, a1, 404);
	check_stats(&e, 0, 2, 1, 0, 1);
	br_sched_part_close(e.s, e.part, e.now_ms);
	check_stats(&e, 0, 0, 0, 0, 0);
	check_settled(&e, true, false);
	assert_int_equal(engine_collect(&e), 2);
	check_settled(&e, false, false);
	engine_free(&e);
}

static void
test_ready_and_suits(void **state)
{
	struct engine e = engine_new();
	struct br_ref *a, *next, *other;

	(void)state;
	assert_int_equal(br_sched_ready(e.s, e.now_ms, 10), 0);
	assert_false(br_sched_suits(e.s, 0));
	a = engine_put_to(&e, 1, "a", TARGET);
	next = engine_put_to(&e, 2, "a", TARGET);
	assert_int_equal(br_sched_ready(e.s, e.now_ms, 10), 1);
	assert_int_equal(br_sched_ready(e.s, e.now_ms, 0), 0);
	assert_false(br_sched_suits(e.s, 0));
	assert_ptr_equal(engine_take(&e, 0), a);
	assert_int_equal(br_sched_ready(e.s, e.now_ms, 10), 0);
	assert_false(br_sched_suits(e.s, 0));
	engine_give(&e, a, 200);
	assert_int_equal(br_sched_ready(e.s, e.now_ms, 10), 1);
	assert_true(br_sched_suits(e.s, 0));
	assert_false(br_sched_suits(e.s, 1));
	/* The younger one goes elsewhere; the oldest decides. */
	e.now_ms++;
	other = engine_put_to(&e, 3, NULL, OTHER);
	assert_int_equal(br_sched_ready(e.s, e.now_ms, 10), 2);
	assert_int_equal(br_sched_ready(e.s, e.now_ms, 1), 1);
	assert_true(br_sched_suits(e.s, 0));
	deliver(&e, 1, next);
	assert_false(br_sched_suits(e.s, 0));
	assert_false(br_sched_suits(e.s, 1));
	deliver(&e, 2, other);
	assert_int_equal(br_sched_ready(e.s, e.now_ms, 10), 0);
	engine_free(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_prefers_its_target),
	    cmocka_unit_test(test_takes_the_oldest),
	    cmocka_unit_test(test_one_worker),
	    cmocka_unit_test(test_lanes_take_turns),
	    cmocka_unit_test(test_due_for_longest_first),
	    cmocka_unit_test(test_wakes_in_order_of_time),
	    cmocka_unit_test(test_stats),
	    cmocka_unit_test(test_ready_and_suits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
