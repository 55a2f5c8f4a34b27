/* The scheduler and targets that ask for less: windows, throttled answers,
 * Retry-After, and the sharing of workers between targets. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine.h"

static struct engine
patient(void)
{
	struct br_sched_rules rules = engine_breaker();

	rules.health.failures = rules.health.after = 0;
	return engine_with(&rules);
}

static struct br_outcome
later(int status, int64_t retry_after_ms)
{
	struct br_outcome o = outcome_of(status);

	o.retry_after_given = true;
	o.retry_after_ms = retry_after_ms;
	return o;
}

/* How many workers find something; they end well. */
static size_t
width(struct engine *e)
{
	struct br_ref *ref[WORKERS];
	size_t n = 0, ready = br_sched_ready(e->s, e->now_ms, WORKERS);

	while (n < WORKERS && (ref[n] = engine_take(e, (uint32_t)n)) != NULL)
		n++;
	assert_in_range(ready, n, n + 1); /* one may be another target's */
	for (size_t i = 0; i < n; i++)
		engine_give(e, ref[i], 200);
	return n;
}

/* ---- windows */

static void
test_window_bounds_what_is_open(void **state)
{
	static const size_t want[] = {1, 2, 3, 4, 4};
	struct br_outcome slow = outcome_of(0);
	struct engine e = patient();
	struct br_ref *ref[WORKERS];

	(void)state;
	slow.transport = BR_TRANSPORT_TIMEOUT;
	for (uint32_t i = 0; i < 30; i++)
		(void)engine_put(&e, i, NULL);
	for (uint32_t i = 0; i < WORKERS; i++)
		assert_non_null(ref[i] = engine_take(&e, i));
	engine_end(&e, ref[0], &slow); /* 2 */
	assert_null(engine_take(&e, 0));
	engine_give(&e, ref[1], 500); /* no sign */
	assert_null(engine_take(&e, 0));
	engine_give(&e, ref[2], 429); /* 1 */
	assert_null(engine_take(&e, 0));
	assert_int_equal(br_sched_ready(e.s, e.now_ms, 9), 0);
	engine_give(&e, ref[3], 500);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(width(&e), want[i]);
	engine_free(&e);
}

/* A refusal asks for less only while another of ours is there. */
static void
test_refused_beside_another(void **state)
{
	static const struct {
		enum br_transport transport;
		bool asks;
	} rows[] = {
	    {BR_TRANSPORT_REFUSED, true},
	    {BR_TRANSPORT_RESET, true},
	    {BR_TRANSPORT_EMPTY, true},
	    {BR_TRANSPORT_DNS, false},
	    {BR_TRANSPORT_TLS, false},
	    {BR_TRANSPORT_CONNECT_TIMEOUT, false},
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		struct br_outcome o = outcome_of(0);
		bool beside = i % 2 != 0;
		struct engine e = patient();
		struct br_ref *ref, *other;

		o.transport = rows[i / 2].transport;
		ref = engine_put(&e, 1, NULL);
		other = engine_put_to(&e, 2, NULL, beside ? TARGET : OTHER);
		assert_ptr_equal(engine_take(&e, 0), ref);
		assert_ptr_equal(engine_take(&e, 1), other);
		engine_end(&e, ref, &o);
		assert_true(e.decision.counted);
		engine_give(&e, other, 500);
		for (int n = 0; n < WORKERS; n++)
			(void)engine_put(&e, 3 + n, NULL);
		/* alone at TARGET, so that the sharing does not matter */
		e.now_ms += 10000;
		assert_int_equal(width(&e), beside && rows[i / 2].asks ? 2
		                            : beside                   ? 4
		                                                       : 3);
		engine_free(&e);
	}
}

/* ---- throttled */

/* The answers do not count while the window is above 1. */
static void
test_throttled_does_not_count(void **state)
{
	static const int64_t wait_ms[] = {20000, 20000, 20000, 40000};
	static const bool counted[] = {false, false, true, true};
	struct engine e = patient();
	struct br_ref *ref = engine_put(&e, 1, NULL);

	(void)state;
	for (size_t i = 0; i < 4; i++) { /* windows 4, 2, 1, 1 */
		assert_ptr_equal(engine_take(&e, 0), ref);
		engine_give(&e, ref, 429);
		assert_int_equal(e.decision.counted, counted[i]);
		assert_int_equal(e.decision.wait_ms, wait_ms[i]);
		e.now_ms += HOUR_MS;
	}
	assert_int_equal(ref->attempts, 2);
	assert_int_equal(ref->uncounted, 2);
	engine_free(&e);
}

/* … and at most max_attempts times: then it goes the usual way. */
static void
test_throttled_has_an_end(void **state)
{
	struct engine e = patient();
	struct br_ref *ref = NULL, *good;
	int requests = 0;

	(void)state;
	do {
		/* others do well: the window is as wide as it can be */
		for (int i = 0; i < 10; i++) {
			good = engine_put_to(&e, 2, NULL, TARGET);
			if (engine_take(&e, 1) != good)
				fail_msg("not the good one");
			engine_give(&e, good, 200);
		}
		e.now_ms += HOUR_MS;
		(void)engine_collect(&e);
		if (ref == NULL) {
			ref = engine_put(&e, 1, NULL);
			ref->event->max_attempts = 3;
		}
		assert_ptr_equal(engine_take(&e, 0), ref);
		engine_give(&e, ref, 429);
		requests++;
		assert_int_equal(e.decision.counted, requests > 3);
	} while (!e.decision.exhausted && requests < 20);
	assert_int_equal(requests, 6);
	assert_int_equal(ref->attempts, 3);
	assert_ptr_equal(br_sched_settled(e.s), ref);
	engine_bury(&e, ref);
	engine_free(&e);
}

/* ---- Retry-After */

/* Holds its route at that target, for at most probe_max_ms; nothing else. */
static void
test_hold_is_of_one_route(void **state)
{
	static const struct {
		int status;
		int64_t asked_ms, held_ms;
	} rows[] = {
	    {429, 1500, 1500}, {503, 1500, 1500},
	    {500, 1500, 1500}, /* any other "again" */
	    {404, 1, 1}, {429, 3 * PROBE_MAX_MS, PROBE_MAX_MS}, {429, 0, 0},
	    {429, -5, 0}, {400, 1500, 0}, /* never: nobody comes again */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct br_outcome o = later(rows[i].status, rows[i].asked_ms);
		struct engine e = patient();
		struct br_ref *ref = engine_put_route(&e, 1, "one");
		struct br_ref *held, *two, *other;

		assert_ptr_equal(engine_take(&e, 0), ref);
		engine_end(&e, ref, &o);
		held = engine_put_route(&e, 2, "one");
		if (rows[i].held_ms > 0) {
			two = engine_put_route(&e, 3, "two");
			other = engine_put_to(&e, 4, NULL, OTHER);
			other->event->route = "one";
			assert_ptr_equal(engine_take(&e, 0), two);
			assert_ptr_equal(engine_take(&e, 1), other);
			assert_null(engine_take(&e, 2));
			assert_int_equal(e.wake_ms, e.now_ms + rows[i].held_ms);
			engine_give(&e, two, 200);
			engine_give(&e, other, 200);
			e.now_ms += rows[i].held_ms - 1;
			assert_null(engine_take(&e, 2));
			e.now_ms++;
		}
		assert_ptr_equal(engine_take(&e, 2), held);
		engine_give(&e, held, 200);
		if (rows[i].status == 400) {
			(void)engine_collect(&e);
			engine_bury(&e, ref);
		}
		engine_free(&e);
	}
}

static void
test_one_probe_into_a_hold(void **state)
{
	static const struct {
		int status;
		int64_t asked_ms; /* 0: none */
		bool ends, counted;
	} rows[] = {
	    {200, 0, true, true},
	    {500, 0, true, true},
	    {429, 0, true, false},
	    {429, 700, false, false},
	    {503, 700, false, false},
	    {503, 0, true, true},
	    {500, 700, false, true},
	    {0, 0, true, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct br_outcome first = later(429, 1000), o;
		struct engine e = patient();
		struct br_ref *ref[5];

		for (int n = 0; n < 3; n++) { /* the window is 1 */
			ref[n] = engine_put(&e, n, NULL);
			assert_ptr_equal(engine_take(&e, 0), ref[n]);
			engine_end(&e, ref[n], &first);
			e.now_ms += 1000;
		}
		ref[3] = engine_put(&e, 3, NULL);
		ref[4] = engine_put(&e, 4, NULL);
		assert_int_equal(br_sched_ready(e.s, e.now_ms, 9), 1);
		assert_ptr_equal(engine_take(&e, 0), ref[3]);
		assert_null(engine_take(&e, 1));
		e.now_ms += 5000;
		assert_null(engine_take(&e, 1)); /* still only one */
		o = outcome_of(rows[i].status);
		o.retry_after_given = rows[i].asked_ms > 0;
		o.retry_after_ms = rows[i].asked_ms;
		engine_end(&e, ref[3], &o);
		assert_int_equal(e.decision.counted, rows[i].counted);
		if (!rows[i].ends) {
			assert_null(engine_take(&e, 1));
			assert_int_equal(
			    e.wake_ms, e.now_ms + rows[i].asked_ms);
			e.now_ms = e.wake_ms;
		}
		assert_ptr_equal(engine_take(&e, 1), ref[4]);
		engine_give(&e, ref[4], 200);
		engine_free(&e);
	}
}

/* One that was on its way may make the hold longer, but lets out no second
 * probe, and its 2xx does not end it. */
static void
test_hold_and_who_was_on_the_way(void **state)
{
	struct br_outcome first = later(500, 1000), more = later(500, 2000);
	struct engine e = patient();
	struct br_ref *ref[6];

	(void)state;
	for (int i = 0; i < 6; i++)
		ref[i] = engine_put(&e, i, NULL);
	for (uint32_t i = 0; i < 3; i++)
		assert_ptr_equal(engine_take(&e, i), ref[i]);
	engine_end(&e, ref[0], &first);
	engine_give(&e, ref[1], 200);
	assert_null(engine_take(&e, 0));
	e.now_ms += 1000;
	assert_ptr_equal(engine_take(&e, 0), ref[3]);
	engine_end(&e, ref[2], &more);
	assert_null(engine_take(&e, 1));
	e.now_ms += 2000;
	assert_null(engine_take(&e, 1));
	engine_give(&e, ref[3], 200);
	assert_ptr_equal(engine_take(&e, 1), ref[4]);
	assert_ptr_equal(engine_take(&e, 2), ref[5]);
	engine_give(&e, ref[4], 200);
	engine_give(&e, ref[5], 200);
	engine_free(&e);
}

/* ---- several targets */

static void
test_last_worker_is_shared(void **state)
{
	struct engine e = patient();
	struct br_ref *ref[8], *other, *third;

	(void)state;
	other = engine_put_to(&e, 0, NULL, OTHER);
	assert_ptr_equal(engine_take(&e, 0), other);
	engine_give(&e, other, 200);
	e.now_ms += 1000;
	for (int i = 0; i < 8; i++)
		ref[i] = engine_put(&e, i, NULL);
	for (uint32_t i = 0; i < 3; i++)
		assert_ptr_equal(engine_take(&e, i), ref[i]);
	assert_null(engine_take(&e, 3));
	assert_int_equal(br_sched_ready(e.s, e.now_ms, 9), 0);
	assert_int_equal(e.wake_ms, e.now_ms - 1000 + 60000);
	/* one that has none gets it, used before or not */
	third = engine_put_to(&e, 8, NULL, "https://three.test:443");
	assert_int_equal(br_sched_ready(e.s, e.now_ms, 9), 1);
	assert_ptr_equal(engine_take(&e, 3), third);
	engine_give(&e, third, 200);
	other = engine_put_to(&e, 9, NULL, OTHER);
	assert_ptr_equal(engine_take(&e, 3), other);
	(void)engine_put_to(&e, 10, NULL, OTHER);
	engine_give(&e, ref[0], 200);
	/* it may have a second one only of two that are free */
	assert_null(engine_take(&e, 0));
	engine_give(&e, ref[1], 200);
	assert_ptr_equal(engine_take(&e, 0), ref[3]);
	assert_null(engine_take(&e, 1));
	engine_give(&e, other, 200);
	for (uint32_t i = 2; i < 4; i++)
		engine_give(&e, ref[i], 200);
	engine_free(&e);
}

/* After a minute in which nobody else came, one target may have all. */
static void
test_alone_after_a_minute(void **state)
{
	struct engine e = patient();
	struct br_ref *ref[4], *other = engine_put_to(&e, 0, NULL, OTHER);

	(void)state;
	assert_ptr_equal(engine_take(&e, 0), other);
	engine_give(&e, other, 200);
	for (int i = 0; i < 4; i++)
		ref[i] = engine_put(&e, i, NULL);
	for (uint32_t i = 0; i < 3; i++)
		assert_ptr_equal(engine_take(&e, i), ref[i]);
	e.now_ms += 59999;
	assert_null(engine_take(&e, 3));
	assert_int_equal(e.wake_ms, e.now_ms + 1);
	e.now_ms++;
	assert_ptr_equal(engine_take(&e, 3), ref[3]);
	for (uint32_t i = 0; i < 4; i++)
		engine_give(&e, ref[i], 200);
	engine_free(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_window_bounds_what_is_open),
	    cmocka_unit_test(test_refused_beside_another),
	    cmocka_unit_test(test_throttled_does_not_count),
	    cmocka_unit_test(test_throttled_has_an_end),
	    cmocka_unit_test(test_hold_is_of_one_route),
	    cmocka_unit_test(test_one_probe_into_a_hold),
	    cmocka_unit_test(test_hold_and_who_was_on_the_way),
	    cmocka_unit_test(test_last_worker_is_shared),
	    cmocka_unit_test(test_alone_after_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
