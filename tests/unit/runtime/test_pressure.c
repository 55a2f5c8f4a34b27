/* What waits and fills the buffer: its alarms, and what is given up. */
#include "pool_rig.h"

#include "bridge/runtime/parts_internal.h"
#include "bridge/runtime/pressure.h"

#define REF 1000 /* bytes of each, see event_at() */

/* Three quarters of it are 30,000. */
#define LIMITS "limits = { buffer_bytes = 40000; };\n"
#define PATIENT "retry = { base_ms = 3600000; };\n"

/* A pool, one partition, and the time, which only this test tells. */
struct bench {
	struct rig r;
	struct br_parts parts;
	struct br_part part;
	struct br_alarms *alarms;
	struct br_pressure p;
	int64_t now_ms, next;
	FILE *lines;
};

static char topic[] = "orders";

static void
set_up(struct bench *b, const char *rest)
{
	memset(b, 0, sizeof(*b));
	rig_open_with(&b->r, 2, rest);
	b->lines = tmpfile();
	assert_non_null(b->lines);
	br_log_setup(BR_INFO, false);
	br_log_fd(fileno(b->lines));
	b->alarms = br_alarms_new();
	b->part.topic = topic;
	b->part.partition = 7;
	b->part.sched = br_pool_part_open(b->r.pool, &b->part);
	b->parts.pool = b->r.pool;
	b->parts.first = &b->part;
	b->p = (struct br_pressure){.config = b->r.config,
	    .parts = &b->parts,
	    .pool = b->r.pool,
	    .alarms = b->alarms};
	b->now_ms = 1000;
}

static struct br_ref *
add(struct bench *b, const char *key, const char *path, const char *target)
{
	struct br_ref *ref = event_at(&b->r, b->next++, key, path);

	if (target != NULL)
		ref->event->target = target;
	ref->part = b->part.sched;
	br_ledger_open(&b->part.ledger, ref);
	put(&b->r, ref);
	return ref;
}

/* What has settled is out of the ledger. */
static void
settle(struct bench *b)
{
	size_t from = b->r.settled;

	(void)collect(&b->r);
	for (; from < b->r.settled; from++)
		br_ledger_settle(&b->part.ledger, b->r.got[from]);
}

static void
tear_down(struct bench *b)
{
	br_pool_part_close(b->r.pool, b->part.sched);
	for (size_t i = 0; i < b->r.settled; i++)
		if (b->r.got[i]->settled == BR_SETTLED_DEAD)
			br_pool_buried(b->r.pool, b->r.got[i]);
	assert_true(br_pool_stop(b->r.pool, false, WAIT_MS));
	settle(b);
	assert_int_equal(b->part.ledger.open, 0);
	br_pool_part_free(b->r.pool, b->part.sched);
	rig_free(&b->r);
	br_alarms_free(b->alarms);
	br_log_fd(2);
	(void)fclose(b->lines);
}

/* The log so far; valid until the next call. */
static const char *
logged(struct bench *b)
{
	static char text[16384];
	size_t len;

	rewind(b->lines);
	len = fread(text, 1, sizeof(text) - 1, b->lines);
	text[len] = '\0';
	return text;
}

static void
says(struct bench *b, const char *words)
{
	if (strstr(logged(b), words) == NULL)
		fail_msg("no \"%s\" in:\n%s", words, logged(b));
}

static void
expect(struct bench *b, bool full, bool filling, bool parked)
{
	b->now_ms += 1000;
	br_pressure_look(&b->p, full, b->now_ms);
	assert_int_equal(
	    br_alarms_is(b->alarms, BR_ALARM_BUFFER_FILLING), filling);
	assert_int_equal(
	    br_alarms_is(b->alarms, BR_ALARM_BUFFER_PARKED), parked);
}

static size_t
delayed(struct bench *b)
{
	struct br_sched_stats stats;

	br_pool_stats(b->r.pool, &stats);
	return stats.delayed;
}

/* One key fails; what comes behind it fills the buffer. */
static void
one_key_fills_it(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, "breaker = { failures = 0; };\n" PATIENT LIMITS);
	atomic_store(&b.r.status, 500);
	(void)add(&b, "k\x01\xc3\xa9", "/", NULL);
	WAIT_FOR(delayed(&b) == 1);
	expect(&b, false, false, false);
	for (int i = 1; i < 13; i++)
		(void)add(&b, "k\x01\xc3\xa9", "/", NULL);
	expect(&b, false, false, false);
	for (int i = 13; i < 16; i++)
		(void)add(&b, "k\x01\xc3\xa9", "/", NULL);
	expect(&b, false, true, false);
	says(&b, "alarm=buffer_filling");
	says(&b, "of their 30000 bytes of limits.buffer_bytes");
	says(&b, " s at the present rate");
	says(&b, "largest: orders partition 7 key k.\xc3\xa9 (16 events, ");
	/* As full as it gets, but for what is read: no alarm of that yet. */
	for (int i = 16; i < 31; i++)
		(void)add(&b, "k\x01\xc3\xa9", "/", NULL);
	expect(&b, false, true, false);
	expect(&b, true, true, true);
	says(&b, "alarm=buffer_parked");
	says(&b, "fill their 30000 bytes of limits.buffer_bytes");
	says(&b, "key k.\xc3\xa9 (31 events, ");
	says(&b, "breaker.on_full=\\\"dlq\\\"");
	expect(&b, true, true, true);
	/* Reading goes on: it is over, and the other one when they are few. */
	expect(&b, false, true, false);
	br_pool_part_close(b.r.pool, b.part.sched);
	settle(&b);
	expect(&b, false, false, false);
	tear_down(&b);
}

/* Everything is open and nothing waits but for its turn. */
static void
a_full_buffer_is_no_alarm(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, "breaker = { failures = 0; };\n" LIMITS);
	for (int i = 0; i < 40; i++)
		(void)add(&b, NULL, "/hold", NULL);
	assert_true(br_parts_open_bytes(&b.parts) > 40 * REF);
	for (int i = 0; i < 10; i++)
		expect(&b, true, false, false);
	assert_string_equal(logged(&b), "");
	atomic_store(&b.r.gate, true);
	WAIT_FOR(collect(&b.r) == 40);
	for (size_t i = 0; i < 40; i++)
		br_ledger_settle(&b.part.ledger, b.r.got[i]);
	tear_down(&b);
}

/* An attempt of the long lane is no end of the alarm. */
static void
attempts_do_not_end_it(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, "breaker = { failures = 0; };\nretry = { base_ms = 100; "
	           "jitter = 0.0; };\n" LIMITS);
	atomic_store(&b.r.status, 500);
	(void)add(&b, "k", "/", NULL);
	WAIT_FOR(delayed(&b) == 1);
	for (int i = 1; i < 31; i++)
		(void)add(&b, "k", "/hold", NULL);
	/* The first one is dead-lettered, the second one hangs. */
	WAIT_FOR(receiver_requests(b.r.receiver) == 3);
	WAIT_FOR(collect(&b.r) == 1);
	expect(&b, true, true, true);
	br_ledger_settle(&b.part.ledger, b.r.got[0]);
	br_pool_buried(b.r.pool, b.r.got[0]);
	b.r.got[0]->settled = BR_SETTLED_DROPPED; /* it is out */
	WAIT_FOR(receiver_requests(b.r.receiver) == 4);
	assert_int_equal(br_pool_parked(b.r.pool), 0);
	expect(&b, true, true, true);
	br_pool_part_close(b.r.pool, b.part.sched);
	atomic_store(&b.r.gate, true);
	WAIT_FOR(collect(&b.r) == 31);
	for (size_t i = 1; i < 31; i++)
		br_ledger_settle(&b.part.ledger, b.r.got[i]);
	expect(&b, false, false, false);
	tear_down(&b);
}

/* The alarm names three, and why. */
static void
closed_targets_are_named(void **state)
{
	static const char *const names[] = {
	    "http://a:1", "http://b:2", "http://c:3", "http://d:4"};
	struct bench b;

	(void)state;
	set_up(&b, "breaker = { failures = 1; };\n" PATIENT LIMITS);
	br_pressure_look(&b.p, false, b.now_ms);
	assert_false(br_alarms_is(b.alarms, BR_ALARM_TARGET_CLOSED));
	atomic_store(&b.r.status, 503);
	for (int i = 0; i < 4; i++)
		for (int k = 0; k <= i; k++) {
			(void)add(&b, NULL, "/", names[i]);
			WAIT_FOR(
			    br_pool_closed_targets(b.r.pool) == (size_t)i + 1);
		}
	br_pressure_look(&b.p, false, b.now_ms);
	assert_true(br_alarms_is(b.alarms, BR_ALARM_TARGET_CLOSED));
	says(&b, "http://d:4 (1 events in a row: 503; 4 waiting), "
	         "http://c:3 (1 events in a row: 503; 3 waiting), "
	         "http://b:2 (1 events in a row: 503; 2 waiting) and 1 more; "
	         "waiting events are not dead-lettered; breaker.failures=0 "
	         "dead-letters each after max_attempts; it ends when a probe");
	br_pool_show_targets(b.r.pool);
	for (int i = 0; i < 4; i++) {
		char sample[80];
		struct br_buffer page = {0};

		br_metrics_render(&page);
		(void)snprintf(sample, sizeof(sample),
		    "outbox_bridge_target_open{target=\"%s\"} 0\n", names[i]);
		assert_non_null(strstr(page.data, sample));
		br_buffer_free(&page);
	}
	tear_down(&b);
}

/* Fills the buffer with events of a target that is closed, and one event of
 * another one that waits for its next attempt. */
static void
fill(struct bench *b)
{
	atomic_store(&b->r.status, 500);
	(void)add(b, "other", "/", "http://other:1");
	WAIT_FOR(delayed(b) == 1);
	atomic_store(&b->r.status, 503);
	(void)add(b, NULL, "/", "http://down:1");
	WAIT_FOR(br_pool_closed_targets(b->r.pool) == 1);
	for (int i = 2; i < 20; i++)
		(void)add(b, "k", "/", "http://down:1");
	while (br_parts_open_bytes(&b->parts) < 30000)
		(void)add(b, NULL, "/", "http://down:1");
}

static void
gives_up_as_much_as_needed(void **state)
{
	uint64_t open, dead = 0;
	struct bench b;
	size_t count;

	(void)state;
	set_up(&b,
	    "breaker = { failures = 1; probe_ms = 3600000; probe_max_ms = "
	    "3600000; on_full = \"dlq\"; };\n" PATIENT LIMITS);
	fill(&b);
	open = br_parts_open_bytes(&b.parts);
	br_pressure_relieve(&b.p, open, b.now_ms);
	says(&b, "events of closed targets go to the DLQ");
	assert_true(woken(&b.r, WAIT_MS));
	count = collect(&b.r);
	assert_true(count >= 2);
	for (size_t i = 0; i < count; i++) {
		const struct br_ref *ref = b.r.got[i];

		assert_int_equal(ref->settled, BR_SETTLED_DEAD);
		assert_string_equal(ref->reason, "target-down");
		assert_string_equal(ref->event->target, "http://down:1");
		dead += br_ref_weight(ref);
		/* The oldest first, and of the lane only its first. */
		assert_int_equal(ref->offset, i < 2 ? i + 1 : i + 18);
	}
	assert_true(open - dead < 26250);
	assert_true(open - dead + REF + sizeof(struct br_failure) >= 26250);
	/* They are on their way: that is enough. */
	br_pressure_relieve(&b.p, open, b.now_ms);
	assert_int_equal(collect(&b.r), count);
	for (size_t i = 0; i < count; i++)
		br_ledger_settle(&b.part.ledger, b.r.got[i]);
	tear_down(&b);
}

static void
holds_unless_told(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b,
	    "breaker = { failures = 1; probe_ms = 3600000; probe_max_ms = "
	    "3600000; };\n" PATIENT LIMITS);
	fill(&b);
	br_pressure_relieve(&b.p, br_parts_open_bytes(&b.parts), b.now_ms);
	assert_int_equal(collect(&b.r), 0);
	tear_down(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_key_fills_it),
	    cmocka_unit_test(a_full_buffer_is_no_alarm),
	    cmocka_unit_test(attempts_do_not_end_it),
	    cmocka_unit_test(closed_targets_are_named),
	    cmocka_unit_test(gives_up_as_much_as_needed),
	    cmocka_unit_test(holds_unless_told),
	};

	return cmocka_run_group_tests_name(
	    "pressure", tests, rig_begin, rig_end);
}
