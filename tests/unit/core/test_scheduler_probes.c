/* The scheduler and closed targets: who is sent as a probe, what it costs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine.h"

static struct engine
breaker(void)
{
	const struct br_sched_rules rules = engine_breaker();

	return engine_with(&rules);
}

/* Events 901, 902, … fail, until TARGET is closed; they wait for their time. */
static void
close_down(struct engine *e, struct br_ref *failed[FAILURES])
{
	for (int i = 0; i < FAILURES; i++) {
		e->now_ms++; /* they are due one after the other */
		failed[i] = engine_put(e, 901 + i, NULL);
		assert_ptr_equal(engine_take(e, 0), failed[i]);
		engine_give(e, failed[i], 503);
		assert_int_equal(e->decision.change,
		    i < FAILURES - 1 ? BR_TARGET_SAME : BR_TARGET_DOWN);
	}
}

/* Events of type "bad" end in the DLQ, until TARGET is closed. */
static void
close_refusing(struct engine *e)
{
	for (int i = 0; i < AFTER; i++) {
		struct br_ref *ref = engine_put(e, 901 + i, NULL);

		ref->event->event_type = "bad";
		assert_ptr_equal(engine_take(e, 0), ref);
		engine_give(e, ref, 400);
		assert_int_equal(e->decision.change,
		    i < AFTER - 1 ? BR_TARGET_SAME : BR_TARGET_REFUSING);
		assert_ptr_equal(br_sched_settled(e->s), ref);
		engine_bury(e, ref);
	}
}

/* The probe that goes out after `wait_ms`, not before and not with another. */
static void
probe(struct engine *e, int64_t wait_ms, const struct br_ref *want)
{
	assert_null(engine_take(e, 0));
	assert_int_equal(br_sched_ready(e->s, e->now_ms, 9), 0);
	assert_int_equal(e->wake_ms, e->now_ms + wait_ms);
	e->now_ms += wait_ms;
	assert_int_equal(br_sched_ready(e->s, e->now_ms, 9), 1);
	assert_ptr_equal(engine_take(e, 0), want);
	assert_null(engine_take(e, 1));
	assert_int_equal(br_sched_ready(e->s, e->now_ms, 9), 0);
}

/* Ends a probe that failed and cost its event nothing. */
static void
fail_probe(struct engine *e, struct br_ref *ref, int status, uint32_t attempts)
{
	engine_give(e, ref, status);
	assert_int_equal(e->decision.change, BR_TARGET_SAME);
	assert_int_equal(e->decision.verdict, BR_AGAIN);
	assert_false(e->decision.counted);
	assert_false(e->decision.exhausted);
	assert_int_equal(e->decision.wait_ms, -1);
	assert_int_equal(ref->attempts, attempts);
}

static void
test_closing_and_opening(void **state)
{
	struct engine e = breaker();
	struct br_ref *failed[FAILURES], *ref, *next;

	(void)state;
	ref = engine_put(&e, 1, NULL);
	assert_ptr_equal(engine_take(&e, 0), ref);
	close_down(&e, failed);
	assert_int_equal(e.decision.next_probe_ms, PROBE_MS);
	assert_int_equal(e.decision.waiting, FAILURES + 1);
	assert_true(e.decision.counted);
	assert_int_equal(failed[FAILURES - 1]->attempts, 1);
	assert_int_equal(e.decision.wait_ms, 20000);
	/* who was on the way may open it */
	engine_give(&e, ref, 200);
	assert_int_equal(e.decision.change, BR_TARGET_OPENED);
	ref = engine_put(&e, 2, NULL);
	next = engine_put(&e, 3, NULL);
	assert_ptr_equal(engine_take(&e, 0), ref);
	assert_null(engine_take(&e, 1)); /* the window is 1 */
	engine_give(&e, ref, 200);
	assert_ptr_equal(engine_take(&e, 0), next);
	(void)engine_put(&e, 4, NULL);
	(void)engine_put(&e, 5, NULL);
	assert_int_equal(br_sched_ready(e.s, e.now_ms, 9), 1); /* it is 2 */
	engine_give(&e, next, 200);
	assert_int_equal(br_sched_ready(e.s, e.now_ms, 9), 2);
	engine_free(&e);
}

/* The verdict first, then the closing: this was its last attempt. */
static void
test_closing_failure_counts(void **state)
{
	struct engine e = breaker();
	struct br_ref *failed[FAILURES], *last = NULL;

	(void)state;
	for (int i = 0; i < FAILURES; i++) {
		last = failed[i] = engine_put(&e, i, NULL);
		failed[i]->event->max_attempts = i < FAILURES - 1 ? 5 : 1;
		assert_ptr_equal(engine_take(&e, 0), failed[i]);
		engine_give(&e, failed[i], 503);
	}
	assert_int_equal(e.decision.change, BR_TARGET_DOWN);
	assert_true(e.decision.exhausted);
	assert_ptr_equal(br_sched_settled(e.s), last);
	engine_bury(&e, last);
	engine_free(&e);
}

/* Fewest probes first, then fewest attempts; of equal ones in turn the newest
 * and the oldest; every fourth is the oldest of all. */
static void
test_probes_go_round(void **state)
{
	struct engine e = breaker();
	struct br_ref *failed[FAILURES], *fresh[3];

	(void)state;
	close_down(&e, failed);
	e.now_ms += 30000; /* all due, with one attempt each */
	for (int i = 0; i < 3; i++)
		fresh[i] = engine_put(&e, i, NULL);
	assert_ptr_equal(engine_take(&e, 0), fresh[2]);
	fail_probe(&e, fresh[2], 503, 0);
	probe(&e, 2 * PROBE_MS, fresh[0]);
	fail_probe(&e, fresh[0], 0, 0);
	probe(&e, 4 * PROBE_MS, fresh[1]);
	fail_probe(&e, fresh[1], 429, 0);
	probe(&e, PROBE_MAX_MS, failed[0]);
	fail_probe(&e, failed[0], 503, 1);
	probe(&e, PROBE_MAX_MS, failed[2]);
	fail_probe(&e, failed[2], 503, 1);
	probe(&e, PROBE_MAX_MS, failed[1]);
	fail_probe(&e, failed[1], 503, 1);
	/* the second round: by attempts again */
	probe(&e, PROBE_MAX_MS, fresh[1]);
	fail_probe(&e, fresh[1], 503, 0);
	probe(&e, PROBE_MAX_MS, fresh[2]); /* waits for longest */
	engine_give(&e, fresh[2], 200);
	assert_int_equal(e.decision.change, BR_TARGET_OPENED);
	assert_int_equal(fresh[2]->attempts, 1);
	engine_free(&e);
}

/* New lanes that fail cannot keep an old one from its turn. */
static void
test_old_lane_gets_its_probe(void **state)
{
	struct engine e = breaker();
	struct br_ref *failed[FAILURES], *ref = NULL;
	int probes = 0;

	(void)state;
	close_down(&e, failed);
	e.now_ms += 30000;
	for (; ref != failed[0] && probes < 100; probes++) {
		(void)engine_put(&e, probes, NULL);
		e.now_ms += PROBE_MAX_MS;
		ref = engine_take(&e, 0);
		assert_non_null(ref);
		if (ref != failed[0])
			fail_probe(&e, ref, 503, ref->attempts - 1);
	}
	assert_in_range(probes, 1, 4);
	engine_give(&e, ref, 200);
	engine_free(&e);
}

/* The best probe of all routes at the target, not of the one that waits for
 * longest; and a lane behind a probed one does not move. */
static void
test_probes_of_all_routes(void **state)
{
	struct engine e = breaker();
	struct br_ref *failed[FAILURES], *fresh;

	(void)state;
	close_down(&e, failed);
	e.now_ms += 30000;
	fresh = engine_put_route(&e, 1, "other");
	(void)engine_put_to(&e, 2, "k", OTHER);
	assert_ptr_equal(engine_take(&e, 0), fresh);
	assert_int_equal(br_sched_ready(e.s, e.now_ms, 9), 1); /* OTHER's */
	engine_give(&e, fresh, 200);
	engine_free(&e);
}

/* Any number of failed probes; then the ladder goes on where it stood. */
static void
test_probes_cost_nothing(void **state)
{
	struct engine e = breaker();
	struct br_ref *failed[FAILURES], *only;

	(void)state;
	close_down(&e, failed);
	only = engine_put(&e, 1, NULL);
	only->event->max_attempts = 2;
	for (int i = 0; i < 3; i++) { /* the others are not due yet */
		e.now_ms += PROBE_MAX_MS;
		assert_ptr_equal(engine_take(&e, 0), only);
		fail_probe(&e, only, i % 2 != 0 ? 503 : 0, 0);
	}
	/* not the allowance of throttled events either */
	assert_int_equal(only->uncounted, 0);
	e.now_ms += PROBE_MAX_MS;
	assert_ptr_equal(engine_take(&e, 0), only);
	/* an answer about the event counts: the target is there */
	engine_give(&e, only, 500);
	assert_int_equal(e.decision.change, BR_TARGET_OPENED);
	assert_true(e.decision.counted);
	assert_int_equal(only->attempts, 1);
	assert_int_equal(e.decision.wait_ms, 20000);
	engine_free(&e);
}

static void
test_never_is_dead_at_once(void **state)
{
	struct engine e = breaker();
	struct br_ref *failed[FAILURES], *only, *behind;
	struct br_outcome forbidden = outcome_of(0);

	(void)state;
	forbidden.transport = BR_TRANSPORT_FORBIDDEN;
	close_down(&e, failed);
	only = engine_put(&e, 1, "k");
	behind = engine_put(&e, 2, "k");
	/* Nobody was asked: it stays closed, and the probe comes no later. */
	probe(&e, PROBE_MS, only);
	engine_end(&e, only, &forbidden);
	assert_int_equal(e.decision.verdict, BR_NEVER);
	assert_int_equal(e.decision.change, BR_TARGET_SAME);
	assert_ptr_equal(br_sched_settled(e.s), only);
	assert_int_equal(only->attempts, 1);
	engine_bury(&e, only);
	probe(&e, PROBE_MS, behind);
	engine_give(&e, behind, 400);
	assert_int_equal(e.decision.verdict, BR_NEVER);
	assert_int_equal(e.decision.change, BR_TARGET_OPENED);
	assert_ptr_equal(br_sched_settled(e.s), behind);
	engine_bury(&e, behind);
	engine_free(&e);
}

/* After give_up_ms probes count, whatever they are answered, to the end. */
static void
test_give_up(void **state)
{
	struct br_sched_rules rules = engine_breaker();
	struct br_ref *failed[FAILURES], *only;
	struct br_outcome asked = outcome_of(429);
	struct engine e;

	(void)state;
	asked.retry_after_given = true;
	asked.retry_after_ms = 1000;
	rules.health.give_up_ms = 10000;
	e = engine_with(&rules);
	close_down(&e, failed);
	only = engine_put(&e, 1, NULL);
	only->event->max_attempts = 2;
	e.now_ms += 9999;
	assert_ptr_equal(engine_take(&e, 0), only);
	engine_end(&e, only, &asked);
	assert_false(e.decision.counted);
	for (uint32_t n = 1; n <= 2; n++) {
		int tries = 0;

		/* the ones that closed it are probed in between */
		for (;; tries++) {
			struct br_ref *ref;

			e.now_ms += HOUR_MS;
			ref = engine_take(&e, 0);
			assert_non_null(ref);
			engine_end(&e, ref, &asked);
			assert_true(e.decision.counted);
			if (ref == only)
				break;
			assert_true(tries < 10);
		}
		assert_int_equal(only->attempts, n);
		assert_int_equal(e.decision.exhausted, n == 2);
	}
	for (struct br_ref *ref = br_sched_settled(e.s), *next; ref != NULL;
	     ref = next) {
		next = ref->settled_next;
		engine_bury(&e, ref);
	}
	engine_free(&e);
}

/* Who refuses is alive: probes count. Types outside the run first, then fewest
 * attempts, then newest and oldest in turn. */
static void
test_refusing(void **state)
{
	struct engine e = breaker();
	struct br_ref *ref[6];

	(void)state;
	close_refusing(&e);
	assert_int_equal(e.decision.next_probe_ms, PROBE_MS);
	for (int i = 0; i < 6; i++) {
		ref[i] = engine_put(&e, i, NULL);
		ref[i]->event->event_type = i == 2 || i == 3 ? NULL : "bad";
		e.now_ms++;
	}
	e.now_ms -= 6;
	/* the newest of those outside the run */
	probe(&e, PROBE_MS, ref[3]);
	engine_give(&e, ref[3], 503);
	assert_true(e.decision.counted);
	assert_int_equal(e.decision.wait_ms, 20000);
	probe(&e, 2 * PROBE_MS, ref[2]);
	engine_give(&e, ref[2], 500);
	assert_true(e.decision.counted);
	probe(&e, 4 * PROBE_MS, ref[5]);
	engine_give(&e, ref[5], 500);
	/* an answer that is about the event slows nothing */
	probe(&e, PROBE_MAX_MS, ref[0]);
	engine_give(&e, ref[0], 400);
	assert_ptr_equal(br_sched_settled(e.s), ref[0]);
	engine_bury(&e, ref[0]);
	probe(&e, PROBE_MAX_MS, ref[4]);
	engine_give(&e, ref[4], 404);
	assert_int_equal(ref[4]->attempts, 1);
	probe(&e, PROBE_MAX_MS, ref[1]);
	engine_give(&e, ref[1], 200);
	assert_int_equal(e.decision.change, BR_TARGET_OPENED);
	engine_free(&e);
}

/* A type joins the run when one of its events is refused. */
static void
test_types_of_the_run(void **state)
{
	struct engine e = breaker();
	struct br_ref *ref[4];

	(void)state;
	close_refusing(&e);
	for (int i = 0; i < 4; i++) {
		ref[i] = engine_put(&e, i, NULL);
		ref[i]->event->event_type = i < 2 ? "bad" : "worse";
	}
	probe(&e, PROBE_MS, ref[3]);
	engine_give(&e, ref[3], 422);
	assert_ptr_equal(br_sched_settled(e.s), ref[3]);
	engine_bury(&e, ref[3]);
	probe(&e, PROBE_MS, ref[0]); /* the oldest: "worse" has joined */
	engine_give(&e, ref[0], 500);
	probe(&e, 2 * PROBE_MS, ref[2]);
	engine_give(&e, ref[2], 200);
	engine_free(&e);
}

static struct br_ref *
put_tried(struct engine *e, int64_t offset, uint32_t attempts)
{
	struct br_ref *ref = ref_new(e->part, offset, NULL, TARGET);

	ref->event->event_type = "bad";
	ref->attempts = attempts;
	br_sched_put(e->s, ref, e->now_ms++);
	return ref;
}

/* Who was tried most may be a good event that has one attempt left. */
static void
test_refusing_spares_the_tried(void **state)
{
	struct engine e = breaker();
	struct br_ref *tried, *once, *fresh;

	(void)state;
	close_refusing(&e);
	tried = put_tried(&e, 1, 4);
	fresh = put_tried(&e, 2, 0);
	once = put_tried(&e, 3, 1);
	e.now_ms -= 3;
	probe(&e, PROBE_MS, fresh);
	engine_give(&e, fresh, 500);
	probe(&e, 2 * PROBE_MS, once);
	engine_give(&e, once, 500);
	assert_int_equal(e.decision.wait_ms, 40000);
	probe(&e, 4 * PROBE_MS, tried);
	engine_give(&e, tried, 500);
	assert_true(e.decision.exhausted);
	assert_ptr_equal(br_sched_settled(e.s), tried);
	engine_bury(&e, tried);
	engine_free(&e);
}

/* … but every sixteenth probe is for the oldest: bad ones that come all the
 * time do not keep it from its turn. */
static void
test_refusing_old_lane(void **state)
{
	struct engine e = breaker();
	struct br_ref *old, *fresh;

	(void)state;
	close_refusing(&e);
	old = put_tried(&e, 1, 4);
	for (int i = 1; i <= 16; i++) {
		fresh = put_tried(&e, 1 + i, 0);
		e.now_ms = e.now_ms + PROBE_MAX_MS;
		assert_ptr_equal(engine_take(&e, 0), i < 16 ? fresh : old);
		if (i == 16)
			break;
		engine_give(&e, fresh, 400);
		assert_ptr_equal(br_sched_settled(e.s), fresh);
		engine_bury(&e, fresh);
	}
	engine_give(&e, old, 200);
	assert_int_equal(e.decision.change, BR_TARGET_OPENED);
	engine_free(&e);
}

/* It refuses, and then it is not there: events are held back again. */
static void
test_refusing_goes_down(void **state)
{
	struct engine e = breaker();
	struct br_ref *ref[FAILURES], *only;

	(void)state;
	close_refusing(&e);
	for (int i = 0; i < FAILURES; i++) {
		ref[i] = engine_put(&e, i, NULL);
		probe(&e, PROBE_MS << i, ref[i]);
		engine_give(&e, ref[i], 0);
		assert_true(e.decision.counted);
		assert_int_equal(e.decision.change, BR_TARGET_SAME);
	}
	only = engine_put(&e, 9, NULL);
	probe(&e, PROBE_MS, only);
	fail_probe(&e, only, 0, 0);
	probe(&e, 2 * PROBE_MS, only);
	engine_give(&e, only, 200);
	assert_int_equal(e.decision.change, BR_TARGET_OPENED);
	engine_free(&e);
}

static void
test_probe_now(void **state)
{
	struct engine e = breaker();
	struct br_ref *failed[FAILURES], *ref;

	(void)state;
	br_sched_probe_now(e.s, e.now_ms);
	close_down(&e, failed);
	ref = engine_put(&e, 1, NULL);
	assert_null(engine_take(&e, 0));
	br_sched_probe_now(e.s, e.now_ms);
	assert_ptr_equal(engine_take(&e, 0), ref);
	br_sched_probe_now(e.s, e.now_ms);
	(void)engine_put(&e, 2, NULL);
	assert_null(engine_take(&e, 1)); /* one at a time */
	fail_probe(&e, ref, 503, 0);
	assert_null(engine_take(&e, 0));
	engine_free(&e);
}

/* The assignment that a probe belonged to goes: another may follow. */
static void
test_probe_of_a_closed_part(void **state)
{
	struct engine e = breaker();
	struct br_sched_part *second = br_sched_part_open(e.s, NULL);
	struct br_ref *failed[FAILURES], *ref, *next;

	(void)state;
	close_down(&e, failed);
	ref = ref_new(second, 1, NULL, TARGET);
	br_sched_put(e.s, ref, e.now_ms);
	probe(&e, PROBE_MS, ref);
	next = engine_put(&e, 2, NULL);
	br_sched_part_close(e.s, second, e.now_ms);
	assert_null(engine_take(&e, 1));
	engine_give(&e, ref, 503);
	assert_true(e.decision.dropped);
	assert_int_equal(engine_collect(&e), 1);
	br_sched_part_free(second);
	probe(&e, 2 * PROBE_MS, next);
	engine_give(&e, next, 200);
	engine_free(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_closing_and_opening),
	    cmocka_unit_test(test_closing_failure_counts),
	    cmocka_unit_test(test_probes_go_round),
	    cmocka_unit_test(test_old_lane_gets_its_probe),
	    cmocka_unit_test(test_probes_of_all_routes),
	    cmocka_unit_test(test_probes_cost_nothing),
	    cmocka_unit_test(test_never_is_dead_at_once),
	    cmocka_unit_test(test_give_up),
	    cmocka_unit_test(test_refusing),
	    cmocka_unit_test(test_types_of_the_run),
	    cmocka_unit_test(test_refusing_spares_the_tried),
	    cmocka_unit_test(test_refusing_old_lane),
	    cmocka_unit_test(test_refusing_goes_down),
	    cmocka_unit_test(test_probe_now),
	    cmocka_unit_test(test_probe_of_a_closed_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
