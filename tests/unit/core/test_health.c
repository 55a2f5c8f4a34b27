/* The health of a target: its window, when it closes, what an attempt costs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "breaker.h"

/* ---- window */

static void
test_window_starts_at_connections(void **state)
{
	static const uint32_t connections[] = {1, 2, 4, 64};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const struct br_health_rules rules =
		    never_closes(connections[i]);
		struct br_health h;

		br_health_init(&h, &rules);
		assert_int_equal(h.state, BR_HEALTH_OPEN);
		assert_int_equal(h.window, connections[i]);
		assert_true(br_health_allows(&h, connections[i] - 1, 0));
		assert_false(br_health_allows(&h, connections[i], 0));
		assert_false(br_health_begin(&h)); /* no probe */
		br_health_free(&h);
	}
}

static void
test_window_halves(void **state)
{
	static const struct {
		enum br_sign sign;
		bool others, halves;
	} rows[] = {
	    {BR_SIGN_THROTTLED, false, true},
	    {BR_SIGN_THROTTLED, true, true},
	    {BR_SIGN_SLOW, false, true},
	    {BR_SIGN_FAILURE, true, true},
	    {BR_SIGN_FAILURE, false, false},
	    {BR_SIGN_ALIVE, false, false},
	    {BR_SIGN_ALIVE, true, false},
	    {BR_SIGN_NEVER, false, false},
	    {BR_SIGN_NEVER, true, false},
	    {BR_SIGN_NONE, true, false},
	    {BR_SIGN_SUCCESS, true, false},
	};
	const struct br_health_rules rules = never_closes(9);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		static const uint32_t want[] = {9, 4, 2, 1, 1};
		struct br_health h;

		br_health_init(&h, &rules);
		for (size_t n = 0; n < 5; n++) {
			assert_int_equal(
			    h.window, rows[i].halves ? want[n] : 9);
			assert_false(br_health_end(&h, &rules, false,
			    rows[i].sign, n, false, rows[i].others, 0));
		}
		br_health_free(&h);
	}
}

/* One more per run of `window` successes: from 1 to 4 in 1 + 2 + 3. */
static void
test_window_grows(void **state)
{
	static const uint32_t want[] = {2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4};
	const struct br_health_rules rules = never_closes(4);
	struct br_health h;

	(void)state;
	br_health_init(&h, &rules);
	(void)end(&h, &rules, BR_SIGN_SLOW, 1);
	(void)end(&h, &rules, BR_SIGN_SLOW, 1);
	assert_int_equal(h.window, 1);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		(void)end(&h, &rules, BR_SIGN_SUCCESS, i);
		assert_int_equal(h.window, want[i]);
	}
	br_health_free(&h);
}

static void
test_window_wants_a_run(void **state)
{
	static const enum br_sign between[] = {
	    BR_SIGN_ALIVE, BR_SIGN_NEVER, BR_SIGN_FAILURE};
	const struct br_health_rules rules = never_closes(4);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct br_health h;

		br_health_init(&h, &rules);
		(void)end(&h, &rules, BR_SIGN_THROTTLED, 1);
		assert_int_equal(h.window, 2);
		for (int n = 0; n < 5; n++) {
			(void)end(&h, &rules, BR_SIGN_SUCCESS, 1);
			(void)end(&h, &rules, between[i], 1);
		}
		assert_int_equal(h.window, 2);
		(void)end(&h, &rules, BR_SIGN_SUCCESS, 1);
		(void)end(&h, &rules, BR_SIGN_NONE, 1); /* says nothing */
		(void)end(&h, &rules, BR_SIGN_SUCCESS, 1);
		assert_int_equal(h.window, 3);
		br_health_free(&h);
	}
}

/* ---- closing */

/* A letter is an event; lower case: a target failure; upper case: an answer
 * about the event, N one that says never; '+': a 2xx; '-': nobody was asked. */
static bool
play(struct br_health *h, const struct br_health_rules *rules, const char *row)
{
	for (; *row != '\0'; row++) {
		enum br_sign sign = BR_SIGN_FAILURE;

		if (*row == '+')
			sign = BR_SIGN_SUCCESS;
		else if (*row == '-')
			sign = BR_SIGN_NONE;
		else if (*row == 'N')
			sign = BR_SIGN_NEVER;
		else if (*row < 'a')
			sign = BR_SIGN_ALIVE;
		else if (*row == 't')
			sign = BR_SIGN_THROTTLED;
		else if (*row == 's')
			sign = BR_SIGN_SLOW;
		if (end(h, rules, sign, (uint64_t)*row))
			return row[1] == '\0';
	}
	return false;
}

static void
test_closes_by_failures(void **state)
{
	static const struct {
		uint32_t failures;
		const char *row;
		bool closes; /* by the last, and not before */
	} rows[] = {
	    {3, "abc", true},
	    {3, "ab", false},
	    {3, "ats", true}, /* every kind of target failure */
	    {3, "aaaaaaaa", false},
	    {3, "abababab", false},
	    {3, "aabbabc", true},
	    {3, "ab+c", false}, /* a 2xx ends the row, … */
	    {3, "ab+cde", true},
	    {3, "abXc", false}, /* … and so does any answer */
	    {3, "abXcab", true},
	    {3, "abNc", false},
	    {3, "ab-c", true},
	    {1, "a", true},
	    {2, "aab", true},
	    {0, "abcdefghijklm", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct br_health_rules rules = usual;
		struct br_health h;

		rules.failures = rows[i].failures;
		br_health_init(&h, &rules);
		if (play(&h, &rules, rows[i].row) != rows[i].closes)
			fail_msg("row %zu: %s", i, rows[i].row);
		assert_int_equal(
		    h.state, rows[i].closes ? BR_HEALTH_DOWN : BR_HEALTH_OPEN);
		br_health_free(&h);
	}
}

static void
test_closes_by_dead_letters(void **state)
{
	struct br_health_rules rules = usual;
	struct br_health h;

	(void)state;
	br_health_init(&h, &rules);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < AFTER - 1; i++)
			assert_false(end_dead(&h, &rules, BR_SIGN_ALIVE));
		/* These end no row of dead letters … */
		assert_false(end(&h, &rules, BR_SIGN_FAILURE, 1));
		assert_false(end(&h, &rules, BR_SIGN_ALIVE, 2));
		if (round < 2) /* … but this does */
			assert_false(end(&h, &rules, BR_SIGN_SUCCESS, 3));
	}
	/* By the last attempt of one that the target failed, too. */
	assert_true(end_dead(&h, &rules, BR_SIGN_FAILURE));
	assert_int_equal(h.state, BR_HEALTH_REFUSING);
	br_health_free(&h);
	rules.after = 0;
	br_health_init(&h, &rules);
	for (int i = 0; i < 500; i++)
		assert_false(end_dead(&h, &rules, BR_SIGN_ALIVE));
	br_health_free(&h);
}

/* Both rules at once: it is not there. */
static void
test_down_wins(void **state)
{
	const struct br_health_rules rules = {.connections = 1,
	    .failures = 1,
	    .after = 1,
	    .probe_ms = 1,
	    .probe_max_ms = 1};
	struct br_health h;

	(void)state;
	br_health_init(&h, &rules);
	assert_true(end_dead(&h, &rules, BR_SIGN_FAILURE));
	assert_int_equal(h.state, BR_HEALTH_DOWN);
	br_health_free(&h);
}
/* ---- what counts as an attempt */

static void
test_counts_while_open(void **state)
{
	static const enum br_sign all[] = {BR_SIGN_NONE, BR_SIGN_SUCCESS,
	    BR_SIGN_ALIVE, BR_SIGN_NEVER, BR_SIGN_FAILURE, BR_SIGN_THROTTLED,
	    BR_SIGN_SLOW};
	const struct br_health_rules rules = never_closes(2);
	struct br_health h;

	(void)state;
	br_health_init(&h, &rules);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_int_equal(br_health_counts(&h, &rules, false, all[i], 0),
		    all[i] != BR_SIGN_THROTTLED);
	(void)end(&h, &rules, BR_SIGN_THROTTLED, 1);
	assert_int_equal(h.window, 1);
	assert_true(br_health_counts(&h, &rules, false, BR_SIGN_THROTTLED, 0));
	br_health_free(&h);
}

static void
test_counts_while_closed(void **state)
{
	static const struct {
		bool refusing, probe;
		enum br_sign sign;
		bool counts;
	} rows[] = {
	    {false, true, BR_SIGN_FAILURE, false},
	    {false, true, BR_SIGN_SLOW, false},
	    {false, true, BR_SIGN_THROTTLED, false},
	    {false, true, BR_SIGN_ALIVE, true},
	    {false, true, BR_SIGN_NEVER, true},
	    {false, true, BR_SIGN_SUCCESS, true},
	    {false, true, BR_SIGN_NONE, true},
	    {false, false, BR_SIGN_FAILURE, true},
	    {true, true, BR_SIGN_FAILURE, true},
	    {true, true, BR_SIGN_SLOW, true},
	    {true, true, BR_SIGN_ALIVE, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct br_health h;

		if (rows[i].refusing)
			close_refusing(&h, &usual);
		else
			close_down(&h, &usual);
		if (br_health_counts(&h, &usual, rows[i].probe, rows[i].sign,
		        INT64_MAX / 2) != rows[i].counts)
			fail_msg("row %zu", i);
		br_health_free(&h);
	}
}

static void
test_give_up(void **state)
{
	struct br_health_rules rules = usual;
	struct br_health h;

	(void)state;
	rules.give_up_ms = 7000;
	close_down(&h, &rules); /* at 0 */
	assert_false(br_health_counts(&h, &rules, true, BR_SIGN_FAILURE, 6999));
	assert_true(br_health_counts(&h, &rules, true, BR_SIGN_FAILURE, 7000));
	br_health_free(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_window_starts_at_connections),
	    cmocka_unit_test(test_window_halves),
	    cmocka_unit_test(test_window_grows),
	    cmocka_unit_test(test_window_wants_a_run),
	    cmocka_unit_test(test_closes_by_failures),
	    cmocka_unit_test(test_closes_by_dead_letters),
	    cmocka_unit_test(test_down_wins),
	    cmocka_unit_test(test_counts_while_open),
	    cmocka_unit_test(test_counts_while_closed),
	    cmocka_unit_test(test_give_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
