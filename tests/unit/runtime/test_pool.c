/* The pool against a receiver on loopback: who sends, who waits, who wakes. */
#include "pool_rig.h"

static void
expect_key(struct rig *r, size_t request, const char *key)
{
	char got[60];

	assert_true(receiver_header(receiver_request(r->receiver, request),
	    "Idempotency-Key", got, sizeof(got)));
	assert_string_equal(got, key);
}

/* Every one comes back once, those of a key in their order, over as many
 * connections as there may be. */
static void
delivers(void **state)
{
	static const char *const keys[] = {"a", "b", "c", "d", "e", "f"};
	struct br_ref *refs[600];
	int64_t last[6] = {-1, -1, -1, -1, -1, -1};
	struct rig r;

	(void)state;
	rig_open(&r, 4, "");
	for (int i = 0; i < 600; i++)
		refs[i] = event_at(&r, i, keys[i % 6], "/");
	br_pool_put(r.pool, refs, 600);
	WAIT_FOR(collect(&r) == 600);
	for (size_t i = 0; i < 600; i++) {
		size_t key = (size_t)(r.got[i]->offset % 6);

		assert_int_equal(r.got[i]->settled, BR_SETTLED_DELIVERED);
		assert_int_equal(r.got[i]->attempts, 1);
		assert_null(r.got[i]->failure);
		assert_true(r.got[i]->offset > last[key]);
		last[key] = r.got[i]->offset;
	}
	assert_int_equal(receiver_requests(r.receiver), 600);
	assert_true(receiver_open_max(r.receiver) <= 4);
	assert_int_equal(br_metric_get(BR_M_DELIVERED), 600);
	assert_int_equal(br_metric_get_label(BR_M_ATTEMPTS, "2xx"), 600);
	rig_free(&r);
}

/* All workers really work at the same time, and no more than they. */
static void
all_at_once(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 3, "");
	for (int i = 0; i < 5; i++)
		put(&r, event_at(&r, i, NULL, "/hold"));
	assert_true(receiver_wait_requests(r.receiver, 3, WAIT_MS));
	assert_true(br_pool_busy(r.pool));
	assert_int_equal(receiver_requests(r.receiver), 3);
	assert_int_equal(collect(&r), 0);
	atomic_store(&r.gate, true);
	WAIT_FOR(collect(&r) == 5);
	assert_int_equal(receiver_open_max(r.receiver), 3);
	/* It was told that it would hear when one lacks work. */
	WAIT_FOR(woken(&r, 0));
	assert_false(br_pool_busy(r.pool));
	rig_free(&r);
}

/* A dead one holds its key until its copy is stored, and nothing else. */
static void
dead_and_buried(void **state)
{
	struct br_ref *dead;
	struct rig r;

	(void)state;
	rig_open(&r, 2, "");
	atomic_store(&r.status, 422);
	put(&r, event_at(&r, 0, "k", "/"));
	assert_true(woken(&r, WAIT_MS));
	assert_int_equal(collect(&r), 1);
	dead = r.got[0];
	assert_int_equal(dead->settled, BR_SETTLED_DEAD);
	assert_int_equal(dead->attempts, 1);
	assert_string_equal(dead->failure->reason, "http-permanent");
	assert_int_equal(dead->failure->last.http_status, 422);
	assert_memory_equal(dead->failure->last.body, "answer", 6);
	assert_true(dead->failure->first_wall_ms > 0);
	assert_int_equal(
	    dead->failure->last.wall_ms, dead->failure->first_wall_ms);
	assert_int_equal(br_pool_part_failures(r.pool, r.part), 1);

	atomic_store(&r.status, 200);
	put(&r, event_at(&r, 1, "k", "/"));
	put(&r, event_at(&r, 2, "other", "/"));
	WAIT_FOR(collect(&r) == 2);
	assert_int_equal(r.got[1]->offset, 2);
	assert_int_equal(receiver_attempts(r.receiver, "event-1"), 0);
	br_pool_buried(r.pool, dead);
	WAIT_FOR(collect(&r) == 3);
	assert_int_equal(r.got[2]->offset, 1);
	assert_int_equal(r.got[2]->settled, BR_SETTLED_DELIVERED);
	rig_free(&r);
}

/* What was found undeliverable at intake is never sent, and keeps order. */
static void
dead_at_intake(void **state)
{
	struct br_event *bad;
	struct br_ref *ref;
	struct rig r;

	(void)state;
	rig_open(&r, 1, "");
	put(&r, event_at(&r, 0, "k", "/hold"));
	assert_true(receiver_wait_requests(r.receiver, 1, WAIT_MS));
	for (int i = 1; i < 3; i++) {
		ref = event_at(&r, i, "k", "/");
		bad = ref->event;
		bad->reason = "json-syntax";
		bad->url = bad->target = NULL;
		put(&r, ref);
	}
	assert_int_equal(collect(&r), 0);
	atomic_store(&r.gate, true);
	WAIT_FOR(collect(&r) == 2);
	assert_int_equal(r.got[1]->offset, 1);
	assert_int_equal(r.got[1]->settled, BR_SETTLED_DEAD);
	assert_int_equal(r.got[1]->attempts, 0);
	assert_null(r.got[1]->failure);
	while (woken(&r, 0))
		;
	/* Its follower is dead too: the Kafka thread must hear of it. */
	br_pool_buried(r.pool, r.got[1]);
	assert_true(woken(&r, WAIT_MS));
	assert_int_equal(collect(&r), 3);
	br_pool_buried(r.pool, r.got[2]);
	assert_int_equal(receiver_requests(r.receiver), 1);
	/* And one that is the first of its lane at once. */
	ref = event_at(&r, 3, "new", "/");
	bad = ref->event;
	bad->reason = "json-syntax";
	bad->url = bad->target = NULL;
	put(&r, ref);
	assert_true(woken(&r, WAIT_MS));
	assert_int_equal(collect(&r), 4);
	br_pool_buried(r.pool, r.got[3]);
	rig_free(&r);
}

/* A failed event waits for an hour; the only worker goes on without it. */
static void
waiting_keeps_no_worker(void **state)
{
	struct br_sched_stats stats;
	struct rig r;

	(void)state;
	rig_open(&r, 1, "retry = { base_ms = 3600000; jitter = 0.0; };");
	atomic_store(&r.status, 500);
	put(&r, event_at(&r, 0, "bad", "/"));
	WAIT_FOR((br_pool_stats(r.pool, &stats), stats.delayed == 1));
	atomic_store(&r.status, 200);
	put(&r, event_at(&r, 1, "bad", "/"));
	for (int i = 2; i < 50; i++)
		put(&r, event_at(&r, i, "good", "/"));
	WAIT_FOR(collect(&r) == 48);
	for (size_t i = 0; i < 48; i++)
		assert_int_equal(r.got[i]->offset, i + 2);
	assert_int_equal(receiver_attempts(r.receiver, "event-0"), 1);
	assert_int_equal(receiver_attempts(r.receiver, "event-1"), 0);
	br_pool_stats(r.pool, &stats);
	assert_int_equal(stats.in_flight, 0);
	assert_int_equal(stats.waiting, 2);
	close_part(&r);
	WAIT_FOR(collect(&r) == 50);
	rig_free(&r);
}

/* Again and again until the attempts are used up, the same each time. */
static void
tries_again(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 2, "retry = { base_ms = 5; };");
	atomic_store(&r.status, 500);
	put(&r, event_at(&r, 7, "k", "/x"));
	WAIT_FOR(collect(&r) == 1);
	assert_int_equal(r.got[0]->settled, BR_SETTLED_DEAD);
	assert_int_equal(r.got[0]->attempts, 3);
	assert_string_equal(
	    r.got[0]->failure->reason, "http-retries-exhausted");
	assert_true(
	    r.got[0]->failure->first_wall_ms < r.got[0]->failure->last.wall_ms);
	assert_int_equal(receiver_requests(r.receiver), 3);
	for (size_t i = 0; i < 3; i++) {
		expect_key(&r, i, "event-7");
		assert_string_equal(
		    receiver_request(r.receiver, i)->path, "/x");
	}
	assert_int_equal(br_pool_part_failures(r.pool, r.part), 3);
	br_pool_buried(r.pool, r.got[0]);
	rig_free(&r);
}

/* Put before it is due: sleepers must learn when to wake, and the one that
 * slept until a later time too. */
static void
delayed_wake(void **state)
{
	int64_t now_ms;
	struct br_ref *ref;
	struct rig r;

	(void)state;
	rig_open(&r, 2, "");
	/* All sleep without a time. */
	WAIT_FOR(!br_pool_busy(r.pool));
	now_ms = br_clock_mono_ms();
	ref = event_at(&r, 0, "far", "/");
	ref->due_ms = now_ms + 3600000;
	put(&r, ref);
	ref = event_at(&r, 1, "near", "/");
	ref->due_ms = now_ms + 150;
	ref->attempts = 2;
	put(&r, ref);
	WAIT_FOR(collect(&r) == 1);
	assert_int_equal(r.got[0]->offset, 1);
	assert_true(br_clock_mono_ms() >= now_ms + 150);
	/* What was tried before counts on. */
	assert_int_equal(r.got[0]->attempts, 3);
	close_part(&r);
	WAIT_FOR(collect(&r) == 2);
	assert_int_equal(r.got[1]->settled, BR_SETTLED_DROPPED);
	rig_free(&r);
}

/* One worker is stuck, and what is put at once with something delayed must
 * not cost the delayed one its alarm clock. */
static void
delayed_wake_beside_a_stuck_one(void **state)
{
	struct br_ref *refs[2];
	struct rig r;

	(void)state;
	rig_open(&r, 2, "");
	WAIT_FOR(!br_pool_busy(r.pool));
	refs[0] = event_at(&r, 0, "stuck", "/hold");
	refs[1] = event_at(&r, 1, "late", "/");
	refs[1]->due_ms = br_clock_mono_ms() + 100;
	br_pool_put(r.pool, refs, 2);
	WAIT_FOR(collect(&r) == 1);
	assert_int_equal(r.got[0]->offset, 1);
	assert_false(atomic_load(&r.gate));
	atomic_store(&r.gate, true);
	WAIT_FOR(collect(&r) == 2);
	rig_free(&r);
}

/* Only one sleeper watches the clock: it must wake the others. */
static void
due_together(void **state)
{
	struct br_ref *refs[3];
	struct rig r;

	(void)state;
	rig_open(&r, 3, "");
	WAIT_FOR(!br_pool_busy(r.pool));
	for (int i = 0; i < 3; i++) {
		refs[i] = event_at(&r, i, NULL, "/hold");
		refs[i]->due_ms = br_clock_mono_ms() + 100;
	}
	br_pool_put(r.pool, refs, 3);
	assert_true(receiver_wait_requests(r.receiver, 3, WAIT_MS));
	assert_int_equal(collect(&r), 0);
	atomic_store(&r.gate, true);
	WAIT_FOR(collect(&r) == 3);
	rig_free(&r);
}

/* A single delivered one wakes the Kafka thread only when it asked so. */
static void
eager(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 1, "");
	put(&r, event_at(&r, 0, NULL, "/"));
	WAIT_FOR(collect(&r) == 1);
	assert_false(woken(&r, 0));
	br_pool_eager(r.pool, true);
	put(&r, event_at(&r, 1, NULL, "/"));
	assert_true(woken(&r, WAIT_MS));
	assert_int_equal(collect(&r), 2);
	br_pool_eager(r.pool, false);
	/* Batches are told of in any case. */
	for (int i = 2; i < 1002; i++)
		put(&r, event_at(&r, i, NULL, "/"));
	assert_true(woken(&r, WAIT_MS));
	WAIT_FOR(collect(&r) == 1002);
	rig_free(&r);
}

/* A target closes, nothing goes there, and an operator has it tried. */
static void
closed_target(void **state)
{
	struct br_sched_stats stats;
	struct rig r;

	(void)state;
	rig_open_with(&r, 1,
	    "breaker = { failures = 2; after = 0; probe_ms = 3600000; "
	    "probe_max_ms = 3600000; };\nretry = { base_ms = 3600000; };");
	assert_int_equal(br_pool_closed_targets(r.pool), 0);
	atomic_store(&r.status, 502);
	put(&r, event_at(&r, 0, "a", "/"));
	put(&r, event_at(&r, 1, "b", "/"));
	WAIT_FOR(br_pool_closed_targets(r.pool) == 1);
	atomic_store(&r.status, 200);
	for (int i = 2; i < 10; i++)
		put(&r, event_at(&r, i, "c", "/"));
	WAIT_FOR((br_pool_stats(r.pool, &stats), stats.in_flight == 0));
	assert_int_equal(receiver_requests(r.receiver), 2);
	assert_int_equal(collect(&r), 0);
	br_pool_probe_now(r.pool);
	WAIT_FOR(collect(&r) >= 8);
	assert_int_equal(br_pool_closed_targets(r.pool), 0);
	for (size_t i = 0; i < r.settled; i++)
		assert_int_equal(r.got[i]->settled, BR_SETTLED_DELIVERED);
	assert_int_equal(
	    br_metric_get_label(BR_M_TARGET_OPEN, receiver_url(r.receiver)), 1);
	close_part(&r);
	WAIT_FOR(collect(&r) == 10);
	rig_free(&r);
}

/* What a commit says of the events that are still open. */
static void
collects_what_was_tried(void **state)
{
	struct br_checkpoint_retry tried[4];
	struct br_sched_stats stats;
	struct br_ledger ledger;
	struct br_ref *refs[3];
	int64_t before_ms, after_ms;
	uint64_t failures = 99;
	struct rig r;

	(void)state;
	rig_open(&r, 1,
	    "retry = { base_ms = 3600000; max_delay_ms = 3600000; "
	    "jitter = 0.0; };");
	br_ledger_init(&ledger, 10);
	for (int i = 0; i < 3; i++) {
		refs[i] = event_at(&r, 10 + i, "k", "/");
		br_ledger_open(&ledger, refs[i]);
	}
	/* Taken over from somebody who tried it four times. */
	refs[0]->due_ms = br_clock_mono_ms() + 3600000;
	refs[0]->attempts = 4;
	br_pool_put(r.pool, refs, 2);
	assert_int_equal(br_pool_collect(r.pool, r.part, &ledger, tried, 4,
	                     false, &failures),
	    0);
	assert_int_equal(failures, 0);
	assert_int_equal(
	    br_pool_collect(r.pool, r.part, &ledger, tried, 4, true, &failures),
	    1);
	assert_int_equal(tried[0].offset, 10);
	assert_int_equal(tried[0].attempts, 4);

	refs[2]->event->order_key = br_slice_str("other");
	atomic_store(&r.status, 500);
	before_ms = br_clock_wall_ms();
	put(&r, refs[2]);
	WAIT_FOR((br_pool_stats(r.pool, &stats), stats.delayed == 2));
	after_ms = br_clock_wall_ms();
	assert_int_equal(br_pool_collect(r.pool, r.part, &ledger, tried, 4,
	                     false, &failures),
	    2);
	assert_int_equal(failures, 1);
	assert_int_equal(tried[1].offset, 12);
	assert_int_equal(tried[1].attempts, 1);
	/* Seconds, rounded up; both clocks are read in milliseconds. */
	assert_true(tried[1].due_unix_s * 1000 >= before_ms + 3600000 - 2);
	assert_true(tried[1].due_unix_s * 1000 <= after_ms + 3600000 + 1002);
	assert_int_equal(
	    br_pool_collect(r.pool, r.part, &ledger, tried, 0, true, &failures),
	    0);
	close_part(&r);
	WAIT_FOR(collect(&r) == 3);
	rig_free(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(delivers),
	    cmocka_unit_test(all_at_once),
	    cmocka_unit_test(dead_and_buried),
	    cmocka_unit_test(dead_at_intake),
	    cmocka_unit_test(waiting_keeps_no_worker),
	    cmocka_unit_test(tries_again),
	    cmocka_unit_test(delayed_wake),
	    cmocka_unit_test(delayed_wake_beside_a_stuck_one),
	    cmocka_unit_test(due_together),
	    cmocka_unit_test(eager),
	    cmocka_unit_test(closed_target),
	    cmocka_unit_test(collects_what_was_tried),
	};

	return cmocka_run_group_tests_name("pool", tests, rig_begin, rig_end);
}
