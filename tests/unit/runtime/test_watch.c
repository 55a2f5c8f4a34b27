/* Watch: when a partition that stands still is stuck, and when it is not. */
#include "runtime_support.h"

#include <string.h>

#include "bridge/runtime/watch.h"

#define TOPIC "outbox.event.order"
#define TURN_MS 500
/* Long enough for the first question, and for the next ones after it. */
#define STILL_MS 20500
#define AGAIN_MS 10500
#define LONG_MS 60000

struct fixture {
	struct br_watch *watch;
	int64_t now_ms;
	int64_t next[2]; /* of partitions 0 and 1; -1: not read */
	bool drained;
	struct br_positions *asked; /* the last question, not answered yet */
	int questions;
};

static struct fixture f;

static int
set_up(void **state)
{
	(void)state;
	f = (struct fixture){
	    .watch = br_watch_new(), .next = {5, -1}, .drained = true};
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	br_positions_free(f.asked);
	br_watch_free(f.watch);
	return 0;
}

static void
turn(int64_t ms)
{
	struct br_positions *list;

	f.now_ms += ms;
	if (!br_watch_begin(f.watch, f.drained, f.now_ms))
		return;
	for (int32_t p = 0; p < 2; p++)
		if (f.next[p] >= 0)
			br_watch_see(f.watch, TOPIC, p, f.next[p]);
	list = br_watch_end(f.watch);
	if (list == NULL)
		return;
	assert_null(f.asked);
	f.asked = list;
	f.questions++;
}

static void
pass(int64_t ms)
{
	for (int64_t t = 0; t < ms; t += TURN_MS)
		turn(TURN_MS);
}

/* Passes time until there is a question, but at most so long. */
static void
wait_question(int64_t most_ms)
{
	for (int64_t t = 0; t < most_ms && f.asked == NULL; t += TURN_MS)
		turn(TURN_MS);
	assert_non_null(f.asked);
}

/* Answers the question that is out, the same for all its partitions. */
static void
answer(int64_t low, int64_t high, int error)
{
	for (size_t i = 0; i < f.asked->count; i++) {
		f.asked->item[i].low = low;
		f.asked->item[i].high = high;
		f.asked->item[i].error = error;
	}
	br_watch_told(f.watch, f.asked);
	br_positions_free(f.asked);
	f.asked = NULL;
}

static void
stick(void)
{
	wait_question(STILL_MS);
	answer(0, 20, 0);
	assert_null(br_watch_why(f.watch));
	wait_question(AGAIN_MS);
	answer(0, 20, 0);
	assert_non_null(br_watch_why(f.watch));
}

static void
two_answers_make_it_stuck_and_movement_ends_it(void **state)
{
	const char *why;

	(void)state;
	stick();
	why = br_watch_why(f.watch);
	assert_non_null(strstr(why, TOPIC " partition 0"));
	assert_non_null(strstr(why, "offset 5 "));
	assert_non_null(strstr(why, "ends at 20"));
	f.next[0] = 6;
	turn(TURN_MS);
	assert_null(br_watch_why(f.watch));
}

static void
is_not_asked_about_before_its_time(void **state)
{
	(void)state;
	/* the first look only notes where it stands */
	turn(TURN_MS);
	pass(19500);
	assert_int_equal(f.questions, 0);
	turn(TURN_MS);
	assert_int_equal(f.questions, 1);
	assert_int_equal(f.asked->count, 1);
	assert_string_equal(f.asked->item[0].topic, TOPIC);
	assert_int_equal(f.asked->item[0].partition, 0);
}

static void
one_that_moves_is_never_asked_about(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		pass(10000);
		f.next[0]++;
	}
	assert_int_equal(f.questions, 0);
}

/* At the end of the log, an open transaction included: the brokers name the
 * end of what may be read. */
static void
an_idle_one_is_asked_about_seldom_and_is_not_stuck(void **state)
{
	(void)state;
	wait_question(STILL_MS);
	for (int i = 0; i < 5; i++) {
		answer(0, 5, 0);
		assert_null(br_watch_why(f.watch));
		pass(29000);
		assert_null(f.asked);
		wait_question(1500);
	}
}

static void
a_record_that_came_just_now_is_no_reason(void **state)
{
	(void)state;
	wait_question(STILL_MS);
	answer(0, 6, 0);
	f.next[0] = 6;
	wait_question(STILL_MS);
	/* the answer before was about another place */
	answer(0, 7, 0);
	assert_null(br_watch_why(f.watch));
}

/* An answer may be older than what was read meanwhile. */
static void
an_answer_for_an_older_place_says_nothing(void **state)
{
	(void)state;
	wait_question(STILL_MS);
	answer(0, 20, 0);
	wait_question(AGAIN_MS);
	f.next[0] = 6;
	turn(TURN_MS);
	answer(0, 20, 0);
	assert_null(br_watch_why(f.watch));
	/* nor is it the first of two */
	pass(19000);
	assert_null(f.asked);
	wait_question(1500);
}

static void
only_drained_time_counts(void **state)
{
	(void)state;
	f.drained = false;
	pass(LONG_MS);
	assert_int_equal(f.questions, 0);
	/* neither does time between two drained turns with another between */
	for (int i = 0; i < 200; i++) {
		f.drained = i % 2 == 0;
		turn(TURN_MS);
	}
	assert_int_equal(f.questions, 0);
	f.drained = true;
	wait_question(STILL_MS);
}

/* Turns come much more often than looks. */
static void
short_turns_add_up(void **state)
{
	(void)state;
	for (int i = 0; i < 19000; i++)
		turn(1);
	assert_int_equal(f.questions, 0);
	for (int i = 0; i < 2001; i++)
		turn(1);
	assert_int_equal(f.questions, 1);
}

static void
one_that_is_not_read_any_more_is_forgotten(void **state)
{
	(void)state;
	stick();
	f.next[0] = -1;
	turn(TURN_MS);
	assert_null(br_watch_why(f.watch));
	/* held or revoked, and back: all begins again */
	f.next[0] = 5;
	turn(TURN_MS);
	pass(19500);
	assert_int_equal(f.questions, 2);
	assert_null(br_watch_why(f.watch));
}

static void
a_failed_answer_proves_nothing_and_takes_nothing_back(void **state)
{
	(void)state;
	wait_question(STILL_MS);
	for (int i = 0; i < 3; i++) {
		answer(-1, -1, 7);
		assert_null(br_watch_why(f.watch));
		wait_question(30500);
	}
	answer(0, 20, 0);
	wait_question(AGAIN_MS);
	answer(0, 20, 0);
	assert_non_null(br_watch_why(f.watch));
	wait_question(AGAIN_MS);
	answer(-1, -1, 7);
	assert_non_null(br_watch_why(f.watch));
}

/* The log was shortened to where we stand; or begins behind it, which
 * librdkafka tells by itself. */
static void
an_answer_ends_it_too(void **state)
{
	(void)state;
	stick();
	wait_question(AGAIN_MS);
	answer(0, 5, 0);
	assert_null(br_watch_why(f.watch));
	wait_question(30500);
	answer(8, 20, 0);
	wait_question(30500);
	answer(8, 20, 0);
	assert_null(br_watch_why(f.watch));
}

static void
a_question_without_an_answer_is_asked_again(void **state)
{
	(void)state;
	wait_question(STILL_MS);
	br_watch_told(f.watch, NULL);
	br_positions_free(f.asked);
	f.asked = NULL;
	wait_question(AGAIN_MS);
}

static void
each_partition_is_judged_by_itself(void **state)
{
	const char *why;

	(void)state;
	f.next[1] = 7;
	wait_question(STILL_MS);
	assert_int_equal(f.asked->count, 2);
	answer(0, 20, 0);
	f.next[0] = 6;
	wait_question(AGAIN_MS);
	assert_int_equal(f.asked->count, 1);
	assert_int_equal(f.asked->item[0].partition, 1);
	answer(0, 20, 0);
	why = br_watch_why(f.watch);
	assert_non_null(why);
	assert_non_null(strstr(why, "partition 1:"));
	assert_non_null(strstr(why, "(1 such"));
	/* the other one is given up: this one stays */
	f.next[0] = -1;
	turn(TURN_MS);
	assert_non_null(br_watch_why(f.watch));
}

int
main(void)
{
#define T(x) cmocka_unit_test_setup_teardown(x, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    T(two_answers_make_it_stuck_and_movement_ends_it),
	    T(is_not_asked_about_before_its_time),
	    T(one_that_moves_is_never_asked_about),
	    T(an_idle_one_is_asked_about_seldom_and_is_not_stuck),
	    T(a_record_that_came_just_now_is_no_reason),
	    T(an_answer_for_an_older_place_says_nothing),
	    T(only_drained_time_counts),
	    T(short_turns_add_up),
	    T(one_that_is_not_read_any_more_is_forgotten),
	    T(a_failed_answer_proves_nothing_and_takes_nothing_back),
	    T(an_answer_ends_it_too),
	    T(a_question_without_an_answer_is_asked_again),
	    T(each_partition_is_judged_by_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
