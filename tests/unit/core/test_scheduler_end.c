/* The scheduler: how assignments and the whole end, and what it refuses. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine.h"

static bool
come_again(struct engine *e)
{
	return engine_take(e, 0) != NULL || e->wake_ms != INT64_MAX;
}

/* Waiting in every way there is: due, behind another, in the timer heap. */
static void
test_close_drops_what_waits(void **state)
{
	struct engine e = engine_new();
	struct br_ref *delayed = engine_put(&e, 1, "delayed"), *ref;
	bool seen[6] = {false};

	(void)state;
	(void)engine_put(&e, 2, "delayed");
	assert_ptr_equal(engine_take(&e, 0), delayed);
	engine_give(&e, delayed, 503);
	(void)engine_put(&e, 3, "due");
	(void)engine_put_bad(&e, 4, "due");
	(void)engine_put(&e, 5, NULL);
	br_sched_part_close(e.s, e.part, e.now_ms);
	assert_int_equal(br_sched_part_count(e.part), 0);
	ref = br_sched_settled(e.s);
	for (int i = 0; i < 5; i++) {
		struct br_ref *next;

		assert_non_null(ref);
		assert_int_equal(ref->settled, BR_SETTLED_DROPPED);
		assert_in_range(ref->offset, 1, 5);
		assert_false(seen[ref->offset]);
		seen[ref->offset] = true;
		next = ref->settled_next;
		ref_free(ref);
		ref = next;
	}
	assert_null(ref);
	e.now_ms += HOUR_MS;
	assert_false(come_again(&e));
	br_sched_part_free(e.part);
	br_sched_free(e.s);
}

/* What is in flight may still end well, or is not tried again. */
static void
test_close_and_in_flight(void **state)
{
	static const struct {
		int status;
		uint32_t max_attempts;
		enum br_settled want;
	} rows[] = {
	    {200, 5, BR_SETTLED_DELIVERED},
	    {503, 5, BR_SETTLED_DROPPED},
	    {0, 5, BR_SETTLED_DROPPED},
	    {503, 1, BR_SETTLED_DEAD},
	    {400, 5, BR_SETTLED_DEAD},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct engine e = engine_new();
		struct br_ref *ref = engine_put(&e, 1, "k");

		ref->event->max_attempts = rows[i].max_attempts;
		(void)engine_put(&e, 2, "k");
		assert_ptr_equal(engine_take(&e, 0), ref);
		br_sched_part_close(e.s, e.part, e.now_ms);
		assert_int_equal(engine_collect(&e), 1);
		assert_int_equal(br_sched_part_count(e.part), 1);
		engine_give(&e, ref, rows[i].status);
		assert_ptr_equal(br_sched_settled(e.s), ref);
		assert_null(ref->settled_next);
		assert_int_equal(ref->settled, rows[i].want);
		assert_false(come_again(&e));
		if (rows[i].want == BR_SETTLED_DEAD) {
			assert_int_equal(br_sched_part_count(e.part), 1);
			engine_bury(&e, ref);
		} else
			ref_free(ref);
		assert_int_equal(br_sched_part_count(e.part), 0);
		engine_free(&e);
	}
}

/* With the DLQ: it stays until that has it; who waits behind it is dropped. */
static void
test_close_and_dead(void **state)
{
	struct engine e = engine_new();
	struct br_ref *taken = engine_put_bad(&e, 1, "taken");
	struct br_ref *listed, *behind, *ref;

	(void)state;
	assert_ptr_equal(br_sched_settled(e.s), taken);
	listed = engine_put_bad(&e, 2, "listed");
	behind = engine_put(&e, 3, "listed");
	br_sched_part_close(e.s, e.part, e.now_ms);
	br_sched_part_close(
	    e.s, e.part, e.now_ms); /* once more changes nothing */
	assert_int_equal(br_sched_part_count(e.part), 2);
	ref = br_sched_settled(e.s);
	assert_ptr_equal(ref, listed);
	assert_int_equal(ref->settled, BR_SETTLED_DEAD);
	assert_ptr_equal(ref->settled_next, behind);
	assert_int_equal(behind->settled, BR_SETTLED_DROPPED);
	assert_null(behind->settled_next);
	ref_free(behind);
	engine_bury(&e, listed);
	engine_bury(&e, taken);
	assert_int_equal(br_sched_part_count(e.part), 0);
	assert_false(come_again(&e));
	engine_free(&e);
}

/* The next assignment of the partition does not wait for the one before. */
static void
test_close_is_of_one_assignment(void **state)
{
	int one, two;
	struct engine e = engine_new();
	struct br_sched_part *old = br_sched_part_open(e.s, &one);
	struct br_sched_part *next = br_sched_part_open(e.s, &two);
	struct br_ref *before = ref_new(old, 5, "k", TARGET);
	struct br_ref *after = ref_new(next, 5, "k", TARGET);

	(void)state;
	assert_ptr_equal(br_sched_part_opaque(old), &one);
	assert_ptr_equal(br_sched_part_opaque(next), &two);
	br_sched_put(e.s, before, e.now_ms);
	assert_ptr_equal(engine_take(&e, 0), before);
	br_sched_part_close(e.s, old, e.now_ms);
	br_sched_put(e.s, after, e.now_ms);
	assert_ptr_equal(engine_take(&e, 1), after);
	engine_give(&e, after, 200);
	assert_int_equal(engine_collect(&e), 1);
	br_sched_part_close(e.s, next, e.now_ms);
	br_sched_part_free(next);
	engine_give(&e, before, 503);
	assert_int_equal(before->settled, BR_SETTLED_DROPPED);
	assert_int_equal(engine_collect(&e), 1);
	br_sched_part_free(old);
	engine_free(&e);
}

/* The list has everything once, in the order in which it settled. */
static void
test_settled_order(void **state)
{
	static const int status[WORKERS] = {200, 400, 410, 204};
	struct engine e = engine_new();
	struct br_ref *ref[WORKERS], *at;

	(void)state;
	for (int i = 0; i < WORKERS; i++)
		ref[i] = engine_put(&e, i, NULL);
	for (uint32_t i = 0; i < WORKERS; i++)
		assert_ptr_equal(engine_take(&e, i), ref[i]);
	for (int i = WORKERS - 1; i >= 0; i--)
		engine_give(&e, ref[i], status[i]);
	at = br_sched_settled(e.s);
	for (int i = WORKERS - 1; i >= 0; i--) {
		assert_ptr_equal(at, ref[i]);
		assert_int_equal(at->settled,
		    status[i] < 300 ? BR_SETTLED_DELIVERED : BR_SETTLED_DEAD);
		at = at->settled_next;
	}
	assert_null(at);
	assert_null(br_sched_settled(e.s));
	for (int i = 0; i < WORKERS; i++)
		if (status[i] < 300)
			ref_free(ref[i]);
		else
			engine_bury(&e, ref[i]);
	assert_null(br_sched_settled(e.s));
	engine_free(&e);
}

/* Each of them but the first must end the process. */
enum misuse {
	NOTHING,
	FREE_WAITING,
	FREE_IN_FLIGHT,
	FREE_DELAYED,
	FREE_SETTLED,
	FREE_DEAD,
	PART_FREE_OPEN,
	PART_FREE_FULL,
	PUT_CLOSED,
	GIVE_WAITING,
	GIVE_TWICE,
	GIVE_SECOND,
	BURY_IN_FLIGHT,
	BURY_TWICE,
	MISUSES
};

/* Ends the scheduler while one event is left in the state that `what` says. */
static void
misuse_free(enum misuse what, struct engine *e)
{
	struct br_ref *ref = engine_put(e, 3, "last");

	if (what != FREE_WAITING)
		(void)engine_take(e, 0);
	if (what == FREE_DELAYED)
		engine_give(e, ref, 503);
	else if (what == FREE_SETTLED)
		engine_give(e, ref, 200);
	else if (what == FREE_DEAD) {
		engine_give(e, ref, 400);
		(void)br_sched_settled(e->s);
	}
	br_sched_free(e->s);
}

static void
misuse_part(enum misuse what, struct engine *e)
{
	(void)engine_put(e, 3, "last");
	(void)engine_take(e, 0);
	if (what == PART_FREE_OPEN) {
		br_sched_part_free(br_sched_part_open(e->s, NULL));
		return;
	}
	br_sched_part_close(e->s, e->part, e->now_ms);
	if (what == PUT_CLOSED)
		(void)engine_put(e, 9, "other");
	else
		br_sched_part_free(e->part);
}

static void
misuse_event(enum misuse what, struct engine *e)
{
	struct br_ref *ref = engine_put(e, 3, "last");
	struct br_ref *second = engine_put(e, 4, "last");

	if (what == GIVE_WAITING) {
		engine_give(e, ref, 200);
		return;
	}
	(void)engine_take(e, 0);
	if (what == GIVE_SECOND) {
		engine_give(e, second, 200);
		return;
	}
	if (what == BURY_IN_FLIGHT) {
		br_sched_buried(e->s, ref, e->now_ms);
		return;
	}
	engine_give(e, ref, what == GIVE_TWICE ? 200 : 400);
	(void)br_sched_settled(e->s);
	if (what == GIVE_TWICE) {
		engine_give(e, ref, 200);
		return;
	}
	br_sched_buried(e->s, ref, e->now_ms);
	br_sched_buried(e->s, ref, e->now_ms);
}

static void
misuse(void *argument)
{
	enum misuse what = *(enum misuse *)argument;
	struct engine e = engine_new();

	if (what >= GIVE_WAITING)
		misuse_event(what, &e);
	else if (what >= PART_FREE_OPEN)
		misuse_part(what, &e);
	else if (what >= FREE_WAITING)
		misuse_free(what, &e);
	else
		engine_free(&e);
}

static void
test_misuse_aborts(void **state)
{
	enum misuse what = NOTHING;

	(void)state;
	assert_false(aborts(misuse, &what));
	for (int i = 1; i < MISUSES; i++) {
		what = (enum misuse)i;
		if (!aborts(misuse, &what))
			fail_msg("misuse %d went through", i);
	}
}

static void
test_free_accepts_null(void **state)
{
	(void)state;
	br_sched_free(NULL);
	br_sched_part_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_close_drops_what_waits),
	    cmocka_unit_test(test_close_and_in_flight),
	    cmocka_unit_test(test_close_and_dead),
	    cmocka_unit_test(test_close_is_of_one_assignment),
	    cmocka_unit_test(test_settled_order),
	    cmocka_unit_test(test_misuse_aborts),
	    cmocka_unit_test(test_free_accepts_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
