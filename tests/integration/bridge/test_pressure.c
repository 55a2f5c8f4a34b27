/* Small buffers: reading waits, memory stays bounded, all is delivered. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#define BUFFER 200000
/* What may come on top of three quarters of a buffer: an event that is read
 * when they are nearly full, and what the lanes of one read take. */
#define ON_TOP 60000

static int
short_pause(struct rig *r, struct exchange *x, unsigned n, unsigned attempt)
{
	(void)r;
	(void)attempt;
	/* Most are quick, or it takes too long. */
	if (n % 16 == 0)
		(void)exchange_pause(x, 4);
	return 200;
}

static void
finish(struct rig *r)
{
	WAIT_FOR(rig_all_committed(r));
	rig_check_book(r, 4);
	rig_check_once(r);
	assert_int_equal(rig_letters(r), 0);
	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	rig_free(r);
}

/* Waits for all to be accepted; the most bytes that were open meanwhile. */
static int64_t
most_open_bytes(struct rig *r)
{
	int64_t until_ms = br_clock_mono_ms() + WAIT_MS, most = 0;

	while (!rig_all_accepted(r)) {
		int64_t open = br_metric_get(BR_M_BUFFER_BYTES);

		most = open > most ? open : most;
		/* Quick receivers: it may be full, and is no alarm. */
		assert_int_equal(
		    br_metric_get_label(BR_M_ALARM, "buffer_parked"), 0);
		assert_true(br_clock_mono_ms() < until_ms);
		(void)poll(NULL, 0, 1);
	}
	return most;
}

static void
buffer_is_bounded(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){.partitions = 4,
	    .body_bytes = 200,
	    .script = short_pause,
	    .rest = "limits = { buffer_bytes = 200000; };"});
	int64_t most;

	(void)state;
	for (int i = 0; i < 5000; i++)
		(void)rig_event(r, i % 4, i % 64);
	rig_flush(r);
	rig_start(r);
	most = most_open_bytes(r);
	assert_true(most > 0 && most < BUFFER / 4 * 3 + ON_TOP);
	finish(r);
}

/* A key that holds everything up: what can be read behind it is bounded, the
 * alarm says so, and it goes on by itself. */
static int
hold_first(struct rig *r, struct exchange *x, unsigned n, unsigned attempt)
{
	(void)attempt;
	if (n == 0)
		(void)rig_at_gate(r, x, 1);
	return 200;
}

static void
one_key_fills_it(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){.partitions = 2,
	    .body_bytes = 200,
	    .script = hold_first,
	    .delivery = "timeout_ms = 60000;",
	    .rest = "limits = { buffer_bytes = 100000; };"});

	(void)state;
	for (int i = 0; i < 2000; i++)
		(void)rig_event(r, 0, 1);
	for (int i = 0; i < 10; i++)
		(void)rig_event(r, 1, 2);
	rig_flush(r);
	rig_start(r);
	WAIT_FOR(rig_look(r, 0).requests == 1);
	WAIT_FOR(br_metric_get_label(BR_M_ALARM, "buffer_parked") == 1);
	/* It is no reason to stop a roll-out. */
	assert_true(rig_ready(r));
	assert_int_equal(br_metric_get_label(BR_M_ALARM, "buffer_filling"), 1);
	assert_true(br_metric_get(BR_M_BUFFER_BYTES) < 75000 + ON_TOP);
	assert_int_equal(rig_committed(r, 0), 0);
	atomic_store(&r->gate, 1);
	WAIT_FOR(rig_all_accepted(r));
	WAIT_FOR(br_metric_get_label(BR_M_ALARM, "buffer_parked") == 0);
	finish(r);
}

/* One partition has too many open events: the other one is read on. */
static void
partition_is_paused(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){.partitions = 2,
	    .script = hold_first,
	    .kafka = "properties = [ \"queued.min.messages=20\", "
	             "\"fetch.message.max.bytes=2000\" ];",
	    .delivery = "timeout_ms = 60000;",
	    .rest = "limits = { open_per_partition = 50; };"});

	(void)state;
	for (int i = 0; i < 1500; i++)
		(void)rig_event(r, 0, 1);
	for (int i = 0; i < 300; i++)
		(void)rig_event(r, 1, i % 10);
	rig_flush(r);
	rig_start(r);
	WAIT_FOR(rig_committed(r, 1) == 300);
	assert_int_equal(rig_committed(r, 0), 0);
	/* New ones of the other partition still come. */
	(void)rig_event(r, 1, 5);
	rig_flush(r);
	WAIT_FOR(rig_committed(r, 1) == 301);
	/* All of partition 1, and of the other about as much as may be open:
	 * it is looked at after some batches. */
	assert_true(br_metric_get(BR_M_RECORDS) < 301 + 1000);
	assert_true(rig_ready(r));
	atomic_store(&r->gate, 1);
	WAIT_FOR(rig_all_accepted(r));
	finish(r);
}

/* Large records, with a few of which the buffer is full: only one more than
 * there is room for is read, whatever the broker sends at once. */
static void
large_records(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){.partitions = 8,
	    .body_bytes = 20000,
	    .script = hold_first,
	    .delivery = "timeout_ms = 60000;",
	    .rest = "limits = { buffer_bytes = 400000; };"});
	int64_t until_ms;

	(void)state;
	for (int i = 0; i < 400; i++)
		(void)rig_event(r, i % 8, i % 8);
	rig_flush(r);
	rig_start(r);
	until_ms = br_clock_mono_ms() + WAIT_MS;
	while (br_metric_get_label(BR_M_ALARM, "buffer_parked") == 0) {
		assert_true(br_metric_get(BR_M_BUFFER_BYTES) < 300000 + ON_TOP);
		assert_true(br_clock_mono_ms() < until_ms);
		(void)poll(NULL, 0, 1);
	}
	assert_true(br_metric_get(BR_M_BUFFER_BYTES) >= 300000 / 8 * 7);
	atomic_store(&r->gate, 1);
	WAIT_FOR(rig_all_accepted(r));
	finish(r);
}

/* Nobody answers with 2xx until the gate opens. */
static int
down_until_gate(struct rig *r, struct exchange *x, unsigned n, unsigned attempt)
{
	(void)x;
	(void)n;
	(void)attempt;
	return atomic_load(&r->gate) == 1 ? 200 : 503;
}

/* breaker.on_full = "dlq": reading goes on, for the price of dead letters. */
static void
given_up_when_full(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){.partitions = 2,
	    .body_bytes = 200,
	    .script = down_until_gate,
	    .breaker = "failures = 1; probe_ms = 20; probe_max_ms = 200; "
	               "on_full = \"dlq\";",
	    .rest = "limits = { buffer_bytes = 200000; };"});
	unsigned letters, accepted = 0;
	int64_t last[RIG_PARTITIONS][4];

	(void)state;
	memset(last, 0xff, sizeof(last));
	for (int i = 0; i < 1500; i++) {
		/* All may end in the DLQ, and be passed by others. */
		r->dead[i] = true;
		(void)rig_event(r, i % 2, i % 4);
	}
	rig_flush(r);
	rig_start(r);
	/* All are read, although they are more than the buffer holds. */
	WAIT_FOR(br_metric_get(BR_M_RECORDS) == 1500);
	assert_true(br_metric_get(BR_M_BUFFER_BYTES) < 150000 + ON_TOP);
	assert_int_equal(br_metric_get_label(BR_M_ALARM, "target_closed"), 1);
	atomic_store(&r->gate, 1);
	WAIT_FOR(rig_all_committed(r));
	WAIT_FOR(br_metric_get_label(BR_M_ALARM, "target_closed") == 0);
	letters = (unsigned)rig_letters(r);
	assert_true(letters > 300 && letters < 1500);
	/* Of each lane the first ones, in their order. */
	for (unsigned i = 0; i < letters; i++) {
		const struct rig_letter *l = &r->letter[i];
		struct rig_event e = rig_look(r, l->n);

		assert_string_equal(
		    rig_header(l, "outbox.dlq.reason"), "target-down");
		assert_non_null(rig_header(l, "outbox.dlq.attempts"));
		assert_true(e.offset > last[e.partition][e.key]);
		last[e.partition][e.key] = e.offset;
		assert_int_equal(e.accepted, 0);
	}
	for (unsigned n = 0; n < 1500; n++)
		accepted += rig_look(r, n).accepted;
	assert_int_equal(accepted + letters, 1500);
	assert_int_equal(
	    br_metric_get_label(BR_M_DEAD_LETTERS, "target-down"), letters);
	rig_check_book(r, 4);
	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	rig_free(r);
}

/* An event that is larger than the buffer passes alone. */
static void
larger_than_the_buffer(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){
	    .body_bytes = 20000, .rest = "limits = { buffer_bytes = 1024; };"});

	(void)state;
	for (int i = 0; i < 20; i++)
		(void)rig_event(r, 0, i % 3);
	rig_flush(r);
	rig_start(r);
	WAIT_FOR(rig_all_accepted(r));
	finish(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(buffer_is_bounded),
	    cmocka_unit_test(one_key_fills_it),
	    cmocka_unit_test(partition_is_paused),
	    cmocka_unit_test(large_records),
	    cmocka_unit_test(given_up_when_full),
	    cmocka_unit_test(larger_than_the_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
