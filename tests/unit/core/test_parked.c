/* What is parked, what is given up of it, and what is told about it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "bridge/core/lane.h"
#include "bridge/core/parked.h"
#include "engine.h"

#define REF 100 /* bytes of each, see ref_new() */
#define LANE sizeof(struct br_lane)
#define FAILURE sizeof(struct br_failure)

static struct engine
breaker(void)
{
	const struct br_sched_rules rules = engine_breaker();

	return engine_with(&rules);
}

static size_t
parked(struct engine *e)
{
	return br_sched_parked(e->s, e->now_ms);
}

static size_t
extra(struct engine *e)
{
	struct br_sched_stats stats;

	br_sched_stats(e->s, &stats);
	return stats.extra;
}

/* OTHER is closed by these, which wait for their next attempts. */
static void
close_other(struct engine *e, struct br_ref *failed[FAILURES])
{
	for (int i = 0; i < FAILURES; i++) {
		failed[i] = engine_put_to(e, 800 + i, NULL, OTHER);
		assert_ptr_equal(engine_take(e, 0), failed[i]);
		engine_give(e, failed[i], 503);
	}
	assert_int_equal(e->decision.change, BR_TARGET_DOWN);
}

/* Waiting for a turn is not being parked; everything else is. */
static void
test_what_is_parked(void **state)
{
	struct engine e = breaker();
	struct br_ref *ref;

	(void)state;
	assert_int_equal(parked(&e), 0);
	ref = engine_put(&e, 1, "k");
	(void)engine_put(&e, 2, "k");
	assert_int_equal(parked(&e), 0);
	assert_int_equal(extra(&e), LANE + 1);
	assert_ptr_equal(engine_take(&e, 0), ref);
	assert_int_equal(parked(&e), 0);
	/* a request that takes long */
	e.now_ms += BR_PARKED_RUNNING_MS - 1;
	assert_int_equal(parked(&e), 0);
	e.now_ms++;
	assert_int_equal(parked(&e), LANE + 1 + 2 * REF);
	(void)engine_put(&e, 3, "k");
	assert_int_equal(parked(&e), LANE + 1 + 3 * REF);
	/* its next attempt */
	engine_give(&e, ref, 500);
	assert_int_equal(parked(&e), LANE + 1 + 3 * REF + FAILURE);
	assert_int_equal(extra(&e), LANE + 1 + FAILURE);
	(void)engine_put(&e, 4, "k");
	assert_int_equal(parked(&e), LANE + 1 + 4 * REF + FAILURE);
	e.now_ms += 20000;
	assert_ptr_equal(engine_take(&e, 0), ref);
	assert_int_equal(parked(&e), 0);
	/* the DLQ */
	engine_give(&e, ref, 400);
	assert_int_equal(parked(&e), LANE + 1 + 4 * REF + FAILURE);
	(void)engine_put(&e, 5, "k");
	assert_int_equal(parked(&e), LANE + 1 + 5 * REF + FAILURE);
	assert_ptr_equal(br_sched_settled(e.s), ref);
	engine_bury(&e, ref);
	assert_int_equal(parked(&e), 0);
	assert_int_equal(extra(&e), LANE + 1);
	engine_free(&e);
}

/* A closed target parks all that wants to go there, a hold its route. */
static void
test_closed_and_held(void **state)
{
	struct engine e = breaker();
	struct br_outcome later = outcome_of(503);
	struct br_ref *failed[FAILURES], *ref, *next;

	(void)state;
	close_other(&e, failed);
	assert_int_equal(parked(&e), FAILURES * (LANE + REF + FAILURE));
	(void)engine_put_to(&e, 1, "k", OTHER);
	(void)engine_put_to(&e, 2, "k", OTHER);
	assert_int_equal(
	    parked(&e), FAILURES * (LANE + REF + FAILURE) + LANE + 1 + 2 * REF);
	/* another target's is not */
	(void)engine_put(&e, 3, NULL);
	assert_int_equal(
	    parked(&e), FAILURES * (LANE + REF + FAILURE) + LANE + 1 + 2 * REF);
	engine_free(&e);

	e = breaker();
	ref = engine_put_route(&e, 1, "held");
	assert_ptr_equal(engine_take(&e, 0), ref);
	later.retry_after_given = true;
	later.retry_after_ms = 1000;
	(void)engine_put_route(&e, 2, "held");
	(void)engine_put_route(&e, 3, "other");
	engine_end(&e, ref, &later);
	assert_int_equal(parked(&e), 2 * (LANE + REF) + FAILURE);
	e.now_ms += 1000;
	/* one finds out whether it is over */
	ref = engine_take(&e, 0);
	next = engine_take(&e, 1);
	assert_int_equal(ref->offset + next->offset, 5);
	assert_int_equal(parked(&e), LANE + REF + FAILURE);
	engine_give(&e, ref, 200);
	engine_give(&e, next, 200);
	engine_free(&e);
}

/* The oldest of closed targets, one of a lane, and no more than needed. */
static void
test_shed(void **state)
{
	struct engine e = breaker();
	struct br_ref *failed[FAILURES], *one, *two, *dead;

	(void)state;
	one = engine_put_to(&e, 1, "k", OTHER); /* the oldest of all */
	two = engine_put_to(&e, 2, "k", OTHER);
	assert_ptr_equal(engine_take(&e, 1), one);
	close_other(&e, failed);
	(void)engine_put(&e, 3, NULL); /* of an open target */
	/* it is with a worker, and nothing may overtake it */
	assert_int_equal(br_sched_shed(e.s, 1, e.now_ms), 1);
	dead = br_sched_settled(e.s);
	assert_ptr_equal(dead, failed[0]);
	assert_null(dead->settled_next);
	assert_int_equal(dead->settled, BR_SETTLED_DEAD);
	assert_string_equal(dead->reason, "target-down");
	assert_int_equal(dead->attempts, 1);
	/* what is on its way is enough */
	assert_int_equal(br_sched_shed(e.s, REF + FAILURE, e.now_ms), 0);
	assert_int_equal(br_sched_shed(e.s, REF + FAILURE + 1, e.now_ms), 1);
	assert_ptr_equal(br_sched_settled(e.s), failed[1]);
	engine_bury(&e, failed[0]);
	engine_bury(&e, failed[1]);
	/* the failed one back in its lane: first it, then the next */
	engine_give(&e, one, 503);
	assert_int_equal(br_sched_shed(e.s, 1000000, e.now_ms), 2);
	dead = br_sched_settled(e.s);
	assert_ptr_equal(dead, one);
	assert_ptr_equal(dead->settled_next, failed[2]);
	assert_int_equal(br_sched_shed(e.s, 1000000, e.now_ms), 0);
	engine_bury(&e, one);
	assert_int_equal(br_sched_shed(e.s, 1000000, e.now_ms), 1);
	assert_ptr_equal(br_sched_settled(e.s), two);
	engine_bury(&e, two);
	engine_bury(&e, failed[2]);
	assert_int_equal(br_sched_shed(e.s, 1000000, e.now_ms), 0);
	assert_int_equal(parked(&e), 0);
	engine_free(&e);
}

/* Nothing is given up while all targets are open. */
static void
test_shed_needs_a_closed_one(void **state)
{
	struct engine e = breaker();
	struct br_ref *ref = engine_put(&e, 1, "k");

	(void)state;
	assert_ptr_equal(engine_take(&e, 0), ref);
	engine_give(&e, ref, 500);
	(void)engine_put(&e, 2, NULL);
	assert_int_equal(br_sched_shed(e.s, 1000000, e.now_ms), 0);
	assert_null(br_sched_settled(e.s));
	engine_free(&e);
}

static void
test_largest(void **state)
{
	struct br_lane_view list[3];
	struct engine e = breaker();
	struct br_sched_part *more = br_sched_part_open(e.s, NULL);
	char key[100];
	size_t count;

	(void)state;
	assert_int_equal(br_sched_largest(e.part, list, 0, 3), 0);
	memset(key, 'x', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	for (int i = 0; i < 20; i++)
		(void)engine_put(&e, i, "two");
	for (int i = 20; i < 50; i++)
		(void)engine_put(&e, i, key);
	for (int i = 50; i < 55; i++)
		(void)engine_put(&e, i, "least");
	(void)engine_put(&e, 55, NULL);
	for (int i = 0; i < 10; i++)
		br_sched_put(e.s, ref_new(more, i, "two", TARGET), e.now_ms);
	count = br_sched_largest(e.part, list, 0, 3);
	assert_int_equal(count, 3);
	assert_int_equal(list[2].count, 5);
	count = br_sched_largest(more, list, count, 3);
	assert_int_equal(count, 3);
	assert_int_equal(list[0].count, 30);
	assert_int_equal(list[0].bytes, LANE + 99 + 30 * REF);
	assert_int_equal(list[0].key_len, 99);
	assert_memory_equal(list[0].key, key, BR_LANE_VIEW_KEY);
	assert_int_equal(list[1].count, 20);
	assert_int_equal(list[1].key_len, 3);
	assert_memory_equal(list[1].key, "two", 3);
	assert_ptr_equal(list[1].part, e.part);
	assert_int_equal(list[2].count, 10);
	assert_ptr_equal(list[2].part, more);
	br_sched_part_close(e.s, more, e.now_ms);
	(void)engine_collect(&e);
	br_sched_part_free(more);
	engine_free(&e);
}

static size_t
closed(struct engine *e, struct br_target_view *list, size_t max)
{
	return br_sched_closed(e->s, e->now_ms, list, max);
}

/* Closed ones are listed by what waits, with why they were closed. */
static void
test_closed_list(void **state)
{
	struct br_target_view list[2];
	struct engine e = breaker();
	struct br_ref *failed[FAILURES], *ref;

	(void)state;
	assert_int_equal(closed(&e, list, 2), 0);
	close_other(&e, failed);
	for (int i = 0; i < FAILURES; i++) {
		ref = engine_put_to(&e, 10 + i, NULL, "http://three.test:80");
		assert_ptr_equal(engine_take(&e, 0), ref);
		engine_give(&e, ref, 0);
	}
	for (int i = 0; i < FAILURES; i++) {
		ref = engine_put(&e, 20 + i, NULL);
		assert_ptr_equal(engine_take(&e, 0), ref);
		engine_give(&e, ref, 400);
		assert_ptr_equal(br_sched_settled(e.s), ref);
		engine_bury(&e, ref);
	}
	(void)engine_put_to(&e, 30, NULL, "http://three.test:80");
	assert_int_equal(closed(&e, list, 2), 3);
	assert_string_equal(list[0].name, "http://three.test:80");
	assert_int_equal(list[0].state, BR_HEALTH_DOWN);
	assert_int_equal(list[0].status, 0);
	assert_int_equal(list[0].transport, BR_TRANSPORT_REFUSED);
	assert_int_equal(list[0].waiting, FAILURES + 1);
	assert_int_equal(list[0].closed_ms, e.now_ms);
	assert_string_equal(list[1].name, OTHER);
	assert_int_equal(list[1].status, 503);
	assert_int_equal(list[1].waiting, FAILURES);
	engine_free(&e);
}

/* Who is closed and wanted by nobody is forgotten after the longest wait. */
static void
test_forgets_idle_ones(void **state)
{
	struct br_target_view list[2];
	struct engine e = breaker();
	struct br_ref *ref = NULL, *next;

	(void)state;
	for (int i = 0; i < AFTER; i++) {
		ref = engine_put(&e, i, NULL);
		assert_ptr_equal(engine_take(&e, 0), ref);
		engine_give(&e, ref, 400);
		(void)br_sched_settled(e.s);
		if (i < AFTER - 1)
			engine_bury(&e, ref);
	}
	assert_int_equal(closed(&e, list, 2), 1);
	assert_int_equal(list[0].state, BR_HEALTH_REFUSING);
	/* its last dead letter is no reason to keep it */
	assert_int_equal(list[0].waiting, 0);
	e.now_ms += PROBE_MAX_MS - 1;
	assert_int_equal(closed(&e, list, 2), 1);
	engine_bury(&e, ref);
	/* somebody wants it */
	ref = engine_put(&e, 10, NULL);
	e.now_ms += 10 * PROBE_MAX_MS;
	assert_int_equal(closed(&e, list, 2), 1);
	assert_ptr_equal(engine_take(&e, 0), ref);
	assert_true(ref->probe);
	engine_give(&e, ref, 400);
	(void)br_sched_settled(e.s);
	engine_bury(&e, ref);
	assert_int_equal(closed(&e, list, 2), 1);
	e.now_ms += PROBE_MAX_MS;
	assert_int_equal(closed(&e, list, 2), 0);
	/* as new */
	ref = engine_put(&e, 11, NULL);
	next = engine_put(&e, 12, NULL);
	assert_ptr_equal(engine_take(&e, 0), ref);
	assert_false(ref->probe);
	assert_ptr_equal(engine_take(&e, 1), next);
	engine_give(&e, ref, 200);
	engine_give(&e, next, 200);
	engine_free(&e);
}

struct seen {
	char text[200];
};

static void
see(void *opaque, const char *name, bool open)
{
	struct seen *seen = opaque;
	size_t len = strlen(seen->text);

	(void)snprintf(
	    seen->text + len, sizeof(seen->text) - len, "%s=%d ", name, open);
}

static void
test_each_target(void **state)
{
	struct engine e = breaker();
	struct br_ref *failed[FAILURES], *ref;
	struct seen seen = {""};

	(void)state;
	br_sched_each_target(e.s, see, &seen);
	assert_string_equal(seen.text, "");
	(void)engine_put(&e, 1, NULL);
	br_sched_each_target(e.s, see, &seen);
	assert_string_equal(seen.text, TARGET "=1 ");
	ref = engine_take(&e, 1);
	assert_int_equal(ref->offset, 1);
	close_other(&e, failed);
	seen.text[0] = '\0';
	br_sched_each_target(e.s, see, &seen);
	assert_string_equal(seen.text, OTHER "=0 " TARGET "=1 ");
	engine_give(&e, ref, 200);
	engine_free(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_what_is_parked),
	    cmocka_unit_test(test_closed_and_held),
	    cmocka_unit_test(test_shed),
	    cmocka_unit_test(test_shed_needs_a_closed_one),
	    cmocka_unit_test(test_largest),
	    cmocka_unit_test(test_closed_list),
	    cmocka_unit_test(test_forgets_idle_ones),
	    cmocka_unit_test(test_each_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
