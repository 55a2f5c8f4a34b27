/*
 * Records that were deleted before they were read. The mock cluster keeps
 * about five megabytes of a partition.
 */
#include "harness.h"

#define BODY 20000
#define EVENTS 400

/* Values of the gate: all wait, all but the first go, all go. */
enum { SHUT, OTHERS_GO, ALL_GO };

static int
gated(struct rig *r, struct exchange *x, unsigned n, unsigned attempt)
{
	(void)attempt;
	while (atomic_load(&r->gate) < (n == 0 ? ALL_GO : OTHERS_GO))
		if (!exchange_pause(x, 2))
			return 0;
	return 200;
}

/* A bridge with some open events, and a log whose begin has moved on. */
static struct rig *
start(const char *kafka)
{
	struct rig *r = rig_new(&(struct rig_options){.body_bytes = BODY,
	    .script = gated,
	    .kafka = kafka,
	    .delivery = "timeout_ms = 100000;",
	    .rest = "limits = { buffer_bytes = 300000; };"});

	for (int i = 0; i < 30; i++)
		(void)rig_event(r, 0, i);
	rig_flush(r);
	rig_start(r);
	WAIT_FOR(receiver_requests(r->receiver) == 4);
	for (int i = 30; i < EVENTS; i++)
		(void)rig_event(r, 0, i % RIG_KEYS);
	rig_flush(r);
	atomic_store(&r->gate, OTHERS_GO);
	return r;
}

#define SMALL_FETCHES                                                          \
	"properties = [ \"queued.max.messages.kbytes=64\", "                   \
	"\"queued.min.messages=2\", \"fetch.message.max.bytes=60000\" ];"

/* What is open below the hole keeps the commit where it is. */
static void
steps_over(void **state)
{
	struct rig *r = start("on_gap = \"earliest\"; " SMALL_FETCHES);
	int64_t lost;

	(void)state;
	WAIT_FOR(br_metric_get_label(BR_M_SKIPPED, "gap") > 0);
	lost = br_metric_get_label(BR_M_SKIPPED, "gap");
	/* Event 0 holds those of its key. */
	WAIT_FOR(rig_look(r, EVENTS - 1).accepted == 1);
	WAIT_FOR(rig_accepted(r) + (unsigned)lost >= EVENTS - 10);
	assert_int_equal(rig_committed(r, 0), 0);
	assert_int_equal(rig_look(r, 0).accepted, 0);
	atomic_store(&r->gate, ALL_GO);
	WAIT_FOR(rig_accepted(r) + (unsigned)lost == EVENTS);
	WAIT_FOR(rig_all_committed(r));
	assert_true(rig_ready(r));
	rig_check_book(r, 4);
	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	rig_free(r);
}

/* The default: it waits for a person, and says what is missing. */
static void
holds(void **state)
{
	struct rig *r = start(SMALL_FETCHES);
	unsigned accepted;

	(void)state;
	WAIT_FOR(rig_complains(r, "offset_gap"));
	assert_true(rig_complains(r, "are no longer available"));
	atomic_store(&r->gate, ALL_GO);
	/* What was read before is delivered and committed. */
	accepted = rig_accepted(r);
	WAIT_FOR(rig_committed(r, 0) >= (int64_t)accepted);
	assert_true(rig_complains(r, "offset_gap"));
	assert_true(rig_committed(r, 0) < 300);
	assert_int_equal(rig_look(r, EVENTS - 1).requests, 0);
	assert_int_equal(rig_letters(r), 0);
	rig_check_book(r, 4);
	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	rig_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(steps_over),
	    cmocka_unit_test(holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
