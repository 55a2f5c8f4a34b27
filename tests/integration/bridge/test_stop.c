/* The end: in time, nothing healthy dead-lettered, what was accepted is
 * committed, and the next bridge goes on from there. */
#include "harness.h"

#include <string.h>

#define REQUEST_TIMED_OUT 7

/* How much later than its limit an end may come on a busy machine. */
#define SLACK_MS 5000

static int64_t stop_began_ms; /* written before the stop, read after it */

/* Stops and measures; the bridge's exit status is 0. */
static int64_t
stop_ms(struct rig *r)
{
	stop_began_ms = br_clock_mono_ms();
	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	return br_clock_mono_ms() - stop_began_ms;
}

/* Offsets of a partition from its start that were all accepted. */
static int64_t
contiguous(struct rig *r, int32_t partition)
{
	int64_t at = 0;

	for (unsigned n = 0; n < r->count; n++) {
		struct rig_event e = rig_look(r, n);

		if (e.partition != partition)
			continue;
		if (e.accepted == 0)
			break;
		at = e.offset + 1;
	}
	return at;
}

/* ---- a healthy stop */

static int
slow(struct rig *r, struct exchange *x, unsigned n, unsigned attempt)
{
	(void)n;
	(void)attempt;
	if (atomic_load(&r->gate) == 0)
		return exchange_pause(x, 300) ? 200 : 0;
	return 200;
}

static void
commits_what_was_accepted(void **state)
{
	struct rig *r =
	    rig_new(&(struct rig_options){.partitions = 2, .script = slow});
	size_t requests;
	unsigned late = 0;

	(void)state;
	for (int i = 0; i < 100; i++)
		(void)rig_event(r, i % 2, i % 20);
	rig_flush(r);
	rig_start(r);
	/* In the middle of the third round. */
	WAIT_FOR(receiver_requests(r->receiver) >= 10);
	assert_true(stop_ms(r) < 10000);
	requests = receiver_requests(r->receiver);
	assert_true(requests < r->count);
	for (unsigned n = 0; n < r->count; n++) {
		struct rig_event e = rig_look(r, n);

		/* Every request was answered, and nothing new begun but what
		 * a worker was just about to send. */
		assert_int_equal(e.requests, e.accepted);
		late += e.requests != 0 && e.began_ms > stop_began_ms;
	}
	assert_true(late <= 4);
	for (int32_t p = 0; p < 2; p++)
		assert_int_equal(rig_committed(r, p), contiguous(r, p));
	assert_int_equal(rig_letters(r), 0);

	/* The next one does the rest, and again no more than it must. */
	atomic_store(&r->gate, 1);
	rig_start(r);
	WAIT_FOR(rig_all_accepted(r));
	WAIT_FOR(rig_all_committed(r));
	rig_check_book(r, 4);
	assert_int_equal(rig_letters(r), 0);
	for (unsigned n = 0; n < r->count; n++)
		assert_true(rig_look(r, n).requests <= 2);
	(void)stop_ms(r);
	rig_free(r);
}

/* ---- a receiver that never answers */

static int
never(struct rig *r, struct exchange *x, unsigned n, unsigned attempt)
{
	(void)n;
	(void)attempt;
	if (atomic_load(&r->gate) != 0)
		return 200;
	exchange_hold(x);
	return 0;
}

static void
ends_without_answers(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){.script = never,
	    .delivery = "timeout_ms = 60000;",
	    .rest = "limits = { shutdown_ms = 1500; };"});

	(void)state;
	for (int i = 0; i < 20; i++)
		(void)rig_event(r, 0, i);
	rig_flush(r);
	rig_start(r);
	WAIT_FOR(receiver_requests(r->receiver) == 4);
	assert_true(stop_ms(r) < 1500 + SLACK_MS);
	assert_int_equal(rig_committed(r, 0), 0);
	assert_int_equal(rig_letters(r), 0);
	assert_true(receiver_wait_open(r->receiver, 0, WAIT_MS));

	/* It left the group: the next one need not wait for its session. */
	atomic_store(&r->gate, 1);
	rig_start(r);
	WAIT_FOR(rig_all_accepted(r));
	WAIT_FOR(rig_all_committed(r));
	rig_check_book(r, 4);
	assert_int_equal(rig_letters(r), 0);
	(void)stop_ms(r);
	rig_free(r);
}

/* ---- events that wait for their next attempt */

static int
unavailable(struct rig *r, struct exchange *x, unsigned n, unsigned attempt)
{
	(void)x;
	(void)n;
	(void)attempt;
	return atomic_load(&r->gate) != 0 ? 200 : 503;
}

/* Nobody waits for them, they are not committed, and the next bridge goes on
 * with their attempts and their waits. */
static void
leaves_retries_behind(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){.script = unavailable,
	    .no_retry_group = true,
	    .rest = "retry = { base_ms = 4000; jitter = 0.0; };"});
	struct rig_event first[10];

	(void)state;
	for (int i = 0; i < 10; i++)
		(void)rig_event(r, 0, i);
	rig_flush(r);
	rig_start(r);
	WAIT_FOR(receiver_requests(r->receiver) == 10);
	assert_true(stop_ms(r) < 10000);
	for (unsigned n = 0; n < 10; n++)
		first[n] = rig_look(r, n);
	assert_int_equal(rig_committed(r, 0), 0);
	assert_int_equal(rig_letters(r), 0);
	atomic_store(&r->gate, 1);
	rig_start(r);
	WAIT_FOR(rig_all_accepted(r));
	WAIT_FOR(rig_all_committed(r));
	rig_check_book(r, 4);
	for (unsigned n = 0; n < 10; n++) {
		struct rig_event e = rig_look(r, n);

		assert_int_equal(e.requests, 2);
		/* Its 8 seconds, kept as whole seconds. */
		assert_true(e.began_ms - first[n].ended_ms >= 7000);
	}
	(void)stop_ms(r);
	rig_free(r);
}

/* ---- while dead letters cannot be written */

static int
refuse_first(struct rig *r, struct exchange *x, unsigned n, unsigned attempt)
{
	(void)attempt;
	if (n == 0)
		(void)rig_at_gate(r, x, 1);
	return n == 0 ? 400 : 200;
}

static void
keeps_dead_letters(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){.script = refuse_first,
	    .kafka = "properties = [ \"producer.message.timeout.ms=1000\" ];",
	    .delivery = "timeout_ms = 60000;",
	    .rest = "limits = { shutdown_ms = 3000; };"});
	unsigned behind;

	(void)state;
	r->dead[0] = true;
	assert_int_equal(rig_event(r, 0, 1), 0);
	behind = rig_event(r, 0, 1);
	rig_flush(r);
	rig_start(r);
	WAIT_FOR(rig_look(r, 0).requests == 1);
	br_mock_fail(r->mock, BR_MOCK_PRODUCE, REQUEST_TIMED_OUT, 1000);
	atomic_store(&r->gate, 1);
	WAIT_FOR(rig_complains(r, "dlq_unavailable"));
	assert_true(stop_ms(r) < 3000 + SLACK_MS);
	assert_int_equal(rig_committed(r, 0), 0);
	assert_int_equal(rig_look(r, behind).requests, 0);
	assert_int_equal(rig_letters(r), 0);
	rig_free(r);
}

/* ---- before anything began */

static void
stops_while_it_joins(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){0});

	(void)state;
	(void)rig_event(r, 0, 1);
	rig_flush(r);
	for (int wait_ms = 0; wait_ms <= 2000; wait_ms += 500) {
		rig_begin(r);
		(void)poll(NULL, 0, wait_ms);
		assert_true(stop_ms(r) < 10000 + SLACK_MS);
	}
	rig_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(commits_what_was_accepted),
	    cmocka_unit_test(ends_without_answers),
	    cmocka_unit_test(leaves_retries_behind),
	    cmocka_unit_test(keeps_dead_letters),
	    cmocka_unit_test(stops_while_it_joins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
