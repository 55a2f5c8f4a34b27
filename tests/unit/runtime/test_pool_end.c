/* How work ends: partitions that are closed, and the pool itself. */
#include "pool_rig.h"

/* Closing drops what waits at once, and what is in flight when it ends. */
static void
close_drops(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 1, "retry = { base_ms = 3600000; };");
	put(&r, event_at(&r, 0, "a", "/hold"));
	put(&r, event_at(&r, 1, "a", "/"));
	put(&r, event_at(&r, 2, "b", "/"));
	assert_true(receiver_wait_requests(r.receiver, 1, WAIT_MS));
	atomic_store(&r.status, 500);
	close_part(&r);
	assert_int_equal(collect(&r), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(r.got[i]->settled, BR_SETTLED_DROPPED);
		assert_int_not_equal(r.got[i]->offset, 0);
		assert_int_equal(r.got[i]->attempts, 0);
	}
	/* It would have been tried again. */
	atomic_store(&r.gate, true);
	WAIT_FOR(collect(&r) == 3);
	assert_int_equal(r.got[2]->offset, 0);
	assert_int_equal(r.got[2]->settled, BR_SETTLED_DROPPED);
	assert_int_equal(receiver_requests(r.receiver), 1);
	rig_free(&r);
}

/* What is delivered while the partition closes is delivered. */
static void
close_waits_for_the_answer(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 1, "");
	put(&r, event_at(&r, 0, "a", "/hold"));
	assert_true(receiver_wait_requests(r.receiver, 1, WAIT_MS));
	close_part(&r);
	assert_int_equal(collect(&r), 0);
	atomic_store(&r.gate, true);
	WAIT_FOR(collect(&r) == 1);
	assert_int_equal(r.got[0]->settled, BR_SETTLED_DELIVERED);
	rig_free(&r);
}

/* Another partition does not notice. */
static void
close_of_one_partition(void **state)
{
	struct br_sched_part *other;
	struct br_ref *ref;
	struct rig r;

	(void)state;
	rig_open(&r, 2, "");
	other = br_pool_part_open(r.pool, NULL);
	ref = event_at(&r, 0, "k", "/");
	ref->part = other;
	ref->due_ms = br_clock_mono_ms() + 3600000;
	put(&r, ref);
	br_pool_part_close(r.pool, other);
	assert_int_equal(collect(&r), 1);
	assert_int_equal(r.got[0]->settled, BR_SETTLED_DROPPED);
	br_pool_part_free(r.pool, other);
	put(&r, event_at(&r, 1, "k", "/"));
	WAIT_FOR(collect(&r) == 2);
	assert_int_equal(r.got[1]->settled, BR_SETTLED_DELIVERED);
	rig_free(&r);
}

/* The receiver never answers: a stop waits, one that aborts does not. */
static void
stop_with_abort(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 3, "");
	put(&r, event_at(&r, 0, "a", "/hold"));
	put(&r, event_at(&r, 1, "b", "/hold"));
	put(&r, event_at(&r, 2, "a", "/"));
	assert_true(receiver_wait_requests(r.receiver, 2, WAIT_MS));
	close_part(&r);
	assert_false(br_pool_stop(r.pool, false, 50));
	assert_int_equal(collect(&r), 1);
	assert_true(br_pool_stop(r.pool, true, WAIT_MS));
	assert_int_equal(collect(&r), 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(r.got[i]->settled, BR_SETTLED_DROPPED);
	assert_false(atomic_load(&r.gate));
	assert_int_equal(receiver_requests(r.receiver), 2);
	assert_true(receiver_wait_open(r.receiver, 0, WAIT_MS));
	rig_free(&r);
}

/* The pool goes on after it: what was cut off comes back and is dropped. */
static void
abort_without_stop(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 2, "");
	br_pool_eager(r.pool, true);
	put(&r, event_at(&r, 0, "a", "/hold"));
	assert_true(receiver_wait_requests(r.receiver, 1, WAIT_MS));
	close_part(&r);
	br_pool_abort(r.pool);
	assert_true(woken(&r, WAIT_MS));
	assert_int_equal(collect(&r), 1);
	assert_int_equal(r.got[0]->settled, BR_SETTLED_DROPPED);
	assert_false(atomic_load(&r.gate));
	rig_free(&r);
}

/* A worker that has ended takes nothing, and one in flight is let end. */
static void
stop_lets_end(void **state)
{
	struct br_sched_stats stats;
	struct rig r;

	(void)state;
	rig_open(&r, 1, "");
	put(&r, event_at(&r, 0, "a", "/hold"));
	put(&r, event_at(&r, 1, "b", "/"));
	assert_true(receiver_wait_requests(r.receiver, 1, WAIT_MS));
	assert_false(br_pool_stop(r.pool, false, 1));
	atomic_store(&r.gate, true);
	assert_true(br_pool_stop(r.pool, false, WAIT_MS));
	assert_int_equal(collect(&r), 1);
	assert_int_equal(r.got[0]->settled, BR_SETTLED_DELIVERED);
	br_pool_stats(r.pool, &stats);
	assert_int_equal(stats.waiting, 1);
	assert_int_equal(receiver_requests(r.receiver), 1);
	assert_true(receiver_wait_open(r.receiver, 0, WAIT_MS));
	close_part(&r);
	assert_int_equal(collect(&r), 2);
	rig_free(&r);
}

/* Threads that were never started are not waited for. */
static void
never_started(void **state)
{
	struct br_config *c =
	    config_of("delivery = { url = \"https://h/\"; };");
	struct br_error err = {""};
	struct br_pool *p = br_pool_new(c, -1, &err);

	(void)state;
	assert_non_null(p);
	assert_true(br_pool_stop(p, false, WAIT_MS));
	br_pool_free(p);
	br_pool_free(NULL);
	br_config_free(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(close_drops),
	    cmocka_unit_test(close_waits_for_the_answer),
	    cmocka_unit_test(close_of_one_partition),
	    cmocka_unit_test(stop_with_abort),
	    cmocka_unit_test(abort_without_stop),
	    cmocka_unit_test(stop_lets_end),
	    cmocka_unit_test(never_started),
	};

	return cmocka_run_group_tests_name(
	    "pool_end", tests, rig_begin, rig_end);
}
