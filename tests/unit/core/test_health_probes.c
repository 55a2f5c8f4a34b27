/* The health of a closed target: its probes, and what opens it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "breaker.h"

/* Waits for the probe to the ms, sends it, and ends it. */
static bool
probe(struct br_health *h, const struct br_health_rules *rules, int64_t wait_ms,
    enum br_sign sign, uint64_t serial, int64_t *now_ms)
{
	assert_false(br_health_allows(h, 0, *now_ms + wait_ms - 1));
	*now_ms += wait_ms;
	assert_true(br_health_allows(h, 0, *now_ms));
	assert_true(br_health_allows(h, 4, *now_ms)); /* older ones are out */
	assert_true(br_health_begin(h));
	/* one at a time, however long it takes */
	assert_false(br_health_allows(h, 0, *now_ms + 100 * PROBE_MAX_MS));
	*now_ms += 300;
	return br_health_end(
	    h, rules, true, sign, serial, false, false, *now_ms);
}

/* Five that fail, each after twice the wait, up to the most; then a 2xx. */
static int64_t
check_doubling(struct br_health *h, const enum br_sign sign[5])
{
	static const int64_t wait_ms[] = {1000, 2000, 4000, 5000, 5000};
	int64_t now_ms = 0;

	for (size_t i = 0; i < 5; i++)
		assert_false(probe(h, &usual, wait_ms[i], sign[i], 9, &now_ms));
	assert_true(probe(h, &usual, 5000, BR_SIGN_SUCCESS, 9, &now_ms));
	assert_int_equal(h->state, BR_HEALTH_OPEN);
	assert_int_equal(h->window, 1);
	return now_ms;
}

static void
test_probes_double_while_down(void **state)
{
	static const enum br_sign sign[] = {BR_SIGN_FAILURE, BR_SIGN_SLOW,
	    BR_SIGN_THROTTLED, BR_SIGN_FAILURE, BR_SIGN_FAILURE};
	struct br_health h;
	int64_t now_ms;

	(void)state;
	close_down(&h, &usual);
	now_ms = check_doubling(&h, sign);
	assert_true(br_health_allows(&h, 0, now_ms));
	assert_false(br_health_allows(&h, 1, now_ms));
	/* A row begins anew, and closed again it waits as at first. */
	for (uint64_t i = 1; i <= FAILURES; i++)
		assert_true(br_health_end(&h, &usual, false, BR_SIGN_FAILURE, i,
		                false, false, now_ms) == (i == FAILURES));
	assert_false(probe(&h, &usual, 1000, BR_SIGN_FAILURE, 9, &now_ms));
	br_health_free(&h);
}

/* An outage may answer: whatever says "again" makes the next probe wait. */
static void
test_probes_double_while_refusing(void **state)
{
	static const enum br_sign sign[] = {BR_SIGN_ALIVE, BR_SIGN_FAILURE,
	    BR_SIGN_ALIVE, BR_SIGN_SLOW, BR_SIGN_ALIVE};
	struct br_health h;

	(void)state;
	close_refusing(&h, &usual);
	(void)check_doubling(&h, sign);
	br_health_free(&h);
}

/* So many bad events, one each `wait_ms`. */
static void
nevers(struct br_health *h, int count, int64_t wait_ms, int64_t *now_ms)
{
	for (int i = 0; i < count; i++)
		assert_false(
		    probe(h, &usual, wait_ms, BR_SIGN_NEVER, 9, now_ms));
}

/* Bad events are gone through quickly, but not for ever. */
static void
test_nevers_double_by_and_by(void **state)
{
	struct br_health h;
	int64_t now_ms = 0;

	(void)state;
	close_refusing(&h, &usual);
	nevers(&h, BR_HEALTH_NEVERS, 1000, &now_ms);
	nevers(&h, BR_HEALTH_NEVERS, 2000, &now_ms);
	nevers(&h, BR_HEALTH_NEVERS - 1, 4000, &now_ms);
	/* an "again" doubles at once, and the counting begins anew */
	assert_false(probe(&h, &usual, 4000, BR_SIGN_ALIVE, 9, &now_ms));
	h.probe_wait_ms = 1000;
	h.probe_at_ms = now_ms + 1000;
	nevers(&h, BR_HEALTH_NEVERS, 1000, &now_ms);
	nevers(&h, 1, 2000, &now_ms);
	/* so it does with the next closing */
	assert_true(probe(&h, &usual, 2000, BR_SIGN_SUCCESS, 9, &now_ms));
	for (int i = 0; i < AFTER; i++)
		(void)br_health_end(
		    &h, &usual, false, BR_SIGN_NEVER, 9, true, false, now_ms);
	assert_int_equal(h.state, BR_HEALTH_REFUSING);
	nevers(&h, BR_HEALTH_NEVERS, 1000, &now_ms);
	br_health_free(&h);
}

/* What refused everything, and then is not there any more, is down. */
static void
test_refusing_goes_down(void **state)
{
	struct br_health h;
	int64_t now_ms = 0;

	(void)state;
	close_refusing(&h, &usual);
	(void)probe(&h, &usual, 1000, BR_SIGN_FAILURE, 1, &now_ms);
	(void)probe(&h, &usual, 2000, BR_SIGN_FAILURE, 2, &now_ms);
	(void)probe(&h, &usual, 4000, BR_SIGN_ALIVE, 3, &now_ms);
	(void)probe(&h, &usual, 5000, BR_SIGN_FAILURE, 1, &now_ms);
	(void)probe(&h, &usual, 5000, BR_SIGN_FAILURE, 2, &now_ms);
	assert_int_equal(h.state, BR_HEALTH_REFUSING);
	/* it stays closed: that is no change to tell */
	assert_false(probe(&h, &usual, 5000, BR_SIGN_FAILURE, 3, &now_ms));
	assert_int_equal(h.state, BR_HEALTH_DOWN);
	(void)probe(&h, &usual, 1000, BR_SIGN_FAILURE, 4, &now_ms);
	(void)probe(&h, &usual, 2000, BR_SIGN_FAILURE, 5, &now_ms);
	br_health_free(&h);
}

/* An answer about the event shows that a target that was down is there. */
static void
test_what_opens(void **state)
{
	static const struct {
		bool refusing, probe;
		enum br_sign sign;
		bool opens;
	} rows[] = {
	    {false, true, BR_SIGN_SUCCESS, true},
	    {false, true, BR_SIGN_ALIVE, true},
	    {false, true, BR_SIGN_NEVER, true},
	    {false, true, BR_SIGN_FAILURE, false},
	    {false, true, BR_SIGN_THROTTLED, false},
	    {false, true, BR_SIGN_SLOW, false},
	    {false, true, BR_SIGN_NONE, false},
	    {true, true, BR_SIGN_SUCCESS, true},
	    {true, true, BR_SIGN_ALIVE, false},
	    {true, true, BR_SIGN_NEVER, false},
	    {true, true, BR_SIGN_FAILURE, false},
	    /* was on its way when the target closed */
	    {false, false, BR_SIGN_SUCCESS, true},
	    {false, false, BR_SIGN_ALIVE, false},
	    {false, false, BR_SIGN_NEVER, false},
	    {false, false, BR_SIGN_FAILURE, false},
	    {true, false, BR_SIGN_SUCCESS, true},
	    {true, false, BR_SIGN_ALIVE, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct br_health h;

		if (rows[i].refusing)
			close_refusing(&h, &usual);
		else
			close_down(&h, &usual);
		if (rows[i].probe)
			assert_true(br_health_begin(&h));
		if (br_health_end(&h, &usual, rows[i].probe, rows[i].sign, 99,
		        false, false, 1500) != rows[i].opens)
			fail_msg("row %zu", i);
		assert_int_equal(h.state == BR_HEALTH_OPEN, rows[i].opens);
		assert_false(h.probing);
		/* who is no probe moves no probe */
		if (!rows[i].opens && !rows[i].probe)
			assert_int_equal(h.probe_at_ms, PROBE_MS);
		br_health_free(&h);
	}
}

/* One that outlives an opening still is the only one. */
static void
test_one_probe_at_a_time(void **state)
{
	struct br_health h;

	(void)state;
	close_down(&h, &usual);
	assert_true(br_health_begin(&h));
	assert_true(end(&h, &usual, BR_SIGN_SUCCESS, 7));
	for (uint64_t i = 1; i <= FAILURES; i++)
		(void)end(&h, &usual, BR_SIGN_FAILURE, i);
	assert_int_equal(h.state, BR_HEALTH_DOWN);
	assert_false(br_health_allows(&h, 0, 100 * PROBE_MAX_MS));
	(void)br_health_end(
	    &h, &usual, true, BR_SIGN_FAILURE, 9, false, false, 0);
	assert_true(br_health_allows(&h, 0, 100 * PROBE_MAX_MS));
	br_health_free(&h);
}

/* A forbidden address is no answer: the next probe comes no later. */
static void
test_nobody_asked(void **state)
{
	struct br_health h;
	int64_t now_ms = 0;

	(void)state;
	close_down(&h, &usual);
	assert_false(probe(&h, &usual, 1000, BR_SIGN_NONE, 9, &now_ms));
	assert_false(probe(&h, &usual, 1000, BR_SIGN_FAILURE, 9, &now_ms));
	assert_false(probe(&h, &usual, 2000, BR_SIGN_NONE, 9, &now_ms));
	assert_false(probe(&h, &usual, 2000, BR_SIGN_FAILURE, 9, &now_ms));
	br_health_free(&h);
}

static void
test_probe_now(void **state)
{
	struct br_health h;

	(void)state;
	br_health_init(&h, &usual);
	br_health_probe_now(&h, 5);
	assert_int_equal(h.state, BR_HEALTH_OPEN);
	br_health_free(&h);
	close_down(&h, &usual);
	assert_false(br_health_allows(&h, 0, 5));
	br_health_probe_now(&h, 5);
	assert_true(br_health_allows(&h, 0, 5));
	assert_true(br_health_begin(&h));
	br_health_probe_now(&h, 6);
	assert_false(br_health_allows(&h, 0, 6)); /* one at a time */
	br_health_free(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_probes_double_while_down),
	    cmocka_unit_test(test_probes_double_while_refusing),
	    cmocka_unit_test(test_nevers_double_by_and_by),
	    cmocka_unit_test(test_refusing_goes_down),
	    cmocka_unit_test(test_what_opens),
	    cmocka_unit_test(test_one_probe_at_a_time),
	    cmocka_unit_test(test_nobody_asked),
	    cmocka_unit_test(test_probe_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
