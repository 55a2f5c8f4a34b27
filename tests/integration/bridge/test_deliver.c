/* Everything arrives, once, in order, over few connections; P1 to P4. */
#include "harness.h"

#include <string.h>

static void
finish(struct rig *r, int connections)
{
	WAIT_FOR(rig_all_committed(r));
	rig_check_book(r, connections);
	rig_check_once(r);
	assert_int_equal(rig_letters(r), 0);
	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	/* The end changes nothing. */
	assert_true(rig_all_committed(r));
	assert_int_equal(br_metric_get(BR_M_DELIVERED), r->count);
	rig_free(r);
}

/* ---- order by key, four connections */

static int
random_delay(struct rig *r, struct exchange *x, unsigned n, unsigned attempt)
{
	(void)r;
	(void)attempt;
	(void)exchange_pause(x, (int)(n * 2654435761u >> 16) % 6);
	return 200;
}

static void
delivers_everything(void **state)
{
	struct rig *r = rig_new(
	    &(struct rig_options){.partitions = 6, .script = random_delay});

	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		int key = (int)(i * 7919u % 50);

		(void)rig_event(r, key % 6, key);
	}
	rig_flush(r);
	rig_start(r);
	WAIT_FOR(rig_all_accepted(r));
	/* Four at once, or the limit below proves nothing. */
	assert_int_equal(receiver_open_max(r->receiver), 4);
	WAIT_FOR(rig_sample("outbox_bridge_lag{topic=\"" RIG_TOPIC
	                    "\",partition=\"5\"}") == 0);
	finish(r, 4);
}

static void
one_connection(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){.partitions = 4,
	    .script = random_delay,
	    .delivery = "connections = 1;"});

	(void)state;
	for (unsigned i = 0; i < 300; i++)
		(void)rig_event(r, (int32_t)(i % 4), (int)(i % 20));
	rig_flush(r);
	rig_start(r);
	WAIT_FOR(rig_all_accepted(r));
	finish(r, 1);
}

/* ---- order by partition, and none */

static void
order_by_partition(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){.partitions = 3,
	    .script = random_delay,
	    .order = RIG_BY_PARTITION,
	    .delivery = "order = \"partition\";"});

	(void)state;
	for (unsigned i = 0; i < 300; i++)
		(void)rig_event(r, (int32_t)(i % 3), (int)(i % 50));
	rig_flush(r);
	rig_start(r);
	WAIT_FOR(rig_all_accepted(r));
	finish(r, 4);
}

/* The first two of the key are answered only once both have come. */
static int
wait_for_both(struct rig *r, struct exchange *x, unsigned n, unsigned attempt)
{
	if (n < 2 && attempt == 1) {
		(void)atomic_fetch_add(&r->gate, 1);
		(void)rig_at_gate(r, x, 2);
	}
	return 200;
}

static void
no_order(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){.script = wait_for_both,
	    .order = RIG_NO_ORDER,
	    .delivery = "order = \"none\";"});

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		(void)rig_event(r, 0, 1);
	rig_flush(r);
	rig_start(r);
	WAIT_FOR(rig_all_accepted(r));
	assert_true(r->overlaps > 0);
	finish(r, 4);
}

/* ---- watermark */

/* Event 5 stays open; everything else is answered at once. */
static int
hold_five(struct rig *r, struct exchange *x, unsigned n, unsigned attempt)
{
	(void)attempt;
	if (n == 5 && !rig_at_gate(r, x, 1))
		return 0;
	return 200;
}

static void
commit_stops_at_open(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){.partitions = 2,
	    .script = hold_five,
	    .delivery = "timeout_ms = 60000;"});
	int64_t last = 0;

	(void)state;
	for (unsigned i = 0; i < 200; i++)
		(void)rig_event(r, 0, (int)(i % 40) + 1);
	for (unsigned i = 0; i < 20; i++)
		(void)rig_event(r, 1, (int)i);
	rig_flush(r);
	rig_start(r);
	/* All but event 5 and the four behind it of the same key. */
	WAIT_FOR(rig_accepted(r) == r->count - 5);
	WAIT_FOR(rig_committed(r, 1) == 20 && rig_committed(r, 0) == 5);
	for (int i = 0; i < 30; i++) {
		int64_t at = rig_committed(r, 0);

		assert_true(at >= last && at <= 5);
		last = at;
		/* New ones far above do not move it. */
		(void)rig_event(r, 0, 2);
		rig_flush(r);
	}
	WAIT_FOR(rig_accepted(r) == r->count - 5);
	assert_int_equal(rig_committed(r, 0), 5);
	atomic_store(&r->gate, 1);
	WAIT_FOR(rig_all_accepted(r));
	finish(r, 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(delivers_everything),
	    cmocka_unit_test(one_connection),
	    cmocka_unit_test(order_by_partition),
	    cmocka_unit_test(no_order),
	    cmocka_unit_test(commit_stops_at_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
