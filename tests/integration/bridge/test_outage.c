/* The dead letter topic cannot be written: nothing is lost, others go on. */
#include "harness.h"

#include <string.h>

/* Answers of a broker. */
#define REQUEST_TIMED_OUT 7
#define MESSAGE_TOO_LARGE 10
#define AUTHORIZATION_FAILED 29
#define INVALID_TIMESTAMP 32
#define OUT_OF_ORDER 45

enum { BAD = 1, WORSE = 2, OTHERS = 10 };

/* Values of the gate: everybody waits, the refused ones go, all go. */
enum { SHUT, REFUSED_GO, ALL_GO };

static bool
is_doomed(struct rig *r, unsigned n)
{
	bool doomed;

	(void)pthread_mutex_lock(&r->lock);
	doomed = r->dead[n];
	(void)pthread_mutex_unlock(&r->lock);
	return doomed;
}

/* Doomed events get a 400; the others come later than those. */
static int
refuse_doomed(struct rig *r, struct exchange *x, unsigned n, unsigned attempt)
{
	bool doomed = is_doomed(r, n);

	(void)attempt;
	while (atomic_load(&r->gate) < (doomed ? REFUSED_GO : ALL_GO))
		if (!exchange_pause(x, 2))
			return 0;
	return doomed ? 400 : 200;
}

static unsigned
doomed(struct rig *r, int32_t partition, int key)
{
	(void)pthread_mutex_lock(&r->lock);
	r->dead[r->count] = true;
	(void)pthread_mutex_unlock(&r->lock);
	return rig_event(r, partition, key);
}

static int
set_up(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){.partitions = 2,
	    .script = refuse_doomed,
	    .kafka = "properties = [ \"producer.message.timeout.ms=1000\", "
	             "\"producer.retry.backoff.ms=400\" ];",
	    .delivery = "timeout_ms = 60000;"});

	rig_start(r);
	*state = r;
	return 0;
}

static int
tear_down(void **state)
{
	struct rig *r = *state;

	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	rig_free(r);
	return 0;
}

/* All is well again; `letters` are there, one of each doomed event. */
static void
check_cured(struct rig *r, size_t letters)
{
	WAIT_FOR(rig_all_accepted(r) || rig_accepted(r) + letters == r->count);
	WAIT_FOR(rig_all_committed(r));
	WAIT_FOR(rig_ready(r));
	rig_check_book(r, 4);
	assert_int_equal(rig_letters(r), letters);
	for (unsigned n = 0; n < r->count; n++) {
		struct rig_event e = rig_look(r, n);

		assert_int_equal(e.requests, 1);
		assert_int_equal(e.accepted, !is_doomed(r, n));
		/* Fails for none and for two. */
		if (is_doomed(r, n))
			assert_string_equal(
			    rig_header(rig_letter(r, n), "outbox.dlq.reason"),
			    "http-permanent");
	}
}

/* Two keys wait for their dead letters, with an event behind each; the
 * others are delivered meanwhile, and nothing of partition 0 is committed. */
static void
outage(struct rig *r, int error, size_t failures)
{
	size_t letters = rig_letters(r) + 2;
	unsigned bad, worse, behind, others = 0;
	int64_t before = r->end[0], other_end;

	atomic_store(&r->gate, SHUT);
	bad = doomed(r, 0, BAD);
	worse = doomed(r, 0, WORSE);
	rig_flush(r);
	WAIT_FOR(
	    rig_look(r, bad).requests == 1 && rig_look(r, worse).requests == 1);
	behind = rig_event(r, 0, BAD);
	(void)rig_event(r, 0, WORSE);
	for (; others < 60; others++)
		(void)rig_event(
		    r, (int32_t)(others % 2), OTHERS + (int)(others % 12));
	rig_flush(r);
	other_end = r->end[1];
	br_mock_fail(r->mock, BR_MOCK_PRODUCE, error, failures);
	atomic_store(&r->gate, REFUSED_GO);
	WAIT_FOR(rig_complains(r, "dlq_unavailable"));
	assert_int_equal(br_metric_get_label(BR_M_ALARM, "dlq_unavailable"), 1);
	atomic_store(&r->gate, ALL_GO);
	WAIT_FOR(rig_committed(r, 1) == other_end);
	WAIT_FOR(rig_accepted(r) + letters == r->count - 2);
	/* Still out: or what follows proves nothing. */
	assert_int_equal(rig_committed(r, 0), before);
	assert_int_equal(rig_look(r, behind).requests, 0);
	assert_true(rig_complains(r, "dlq_unavailable"));
	check_cured(r, letters);
}

static void
refused(void **state)
{
	outage(*state, AUTHORIZATION_FAILED, 4);
}

/* librdkafka tries each of them again every 400 ms, for a second. */
static void
timed_out(void **state)
{
	outage(*state, REQUEST_TIMED_OUT, 10);
}

/* The idempotent producer is beyond repair: a new one is made. */
static void
broken_producer(void **state)
{
	struct rig *r = *state;
	size_t letters = rig_letters(r) + 3;
	unsigned last = 0;

	atomic_store(&r->gate, SHUT);
	for (int i = 0; i < 3; i++)
		last = doomed(r, i % 2, BAD + i);
	rig_flush(r);
	WAIT_FOR(rig_look(r, last).requests == 1);
	for (int i = 0; i < 3; i++)
		(void)rig_event(r, i % 2, BAD + i);
	rig_flush(r);
	br_mock_fail(r->mock, BR_MOCK_PRODUCE, OUT_OF_ORDER, 3);
	atomic_store(&r->gate, ALL_GO);
	check_cured(r, letters);
}

/* What a change of the record cures. */
static void
changed_record(struct rig *r, int error, const struct rig_letter **letter)
{
	size_t letters = rig_letters(r) + 1;
	unsigned n;

	atomic_store(&r->gate, SHUT);
	n = doomed(r, 0, BAD);
	rig_flush(r);
	WAIT_FOR(rig_look(r, n).requests == 1);
	br_mock_fail(r->mock, BR_MOCK_PRODUCE, error, 1);
	atomic_store(&r->gate, ALL_GO);
	check_cured(r, letters);
	*letter = rig_letter(r, n);
}

static void
refused_timestamp(void **state)
{
	const struct rig_letter *letter;

	changed_record(*state, INVALID_TIMESTAMP, &letter);
	assert_string_equal(
	    rig_header(letter, "outbox.dlq.timestamp.replaced"), "true");
	assert_non_null(rig_header(letter, "outbox.dlq.timestamp.ms"));
}

static void
too_large_for_headers(void **state)
{
	const struct rig_letter *letter;

	changed_record(*state, MESSAGE_TOO_LARGE, &letter);
	assert_null(rig_header(letter, "outbox.dlq.group"));
	assert_string_equal(rig_header(letter, "outbox.dlq.attempts"), "1");
	assert_string_equal(
	    rig_header(letter, "outbox.dlq.http.status"), "400");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(refused),
	    cmocka_unit_test(timed_out),
	    cmocka_unit_test(broken_producer),
	    cmocka_unit_test(refused_timestamp),
	    cmocka_unit_test(too_large_for_headers),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
