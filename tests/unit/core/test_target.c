/* Targets: who is served next, and that their number is bounded. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "bridge/core/target.h"

#define SLACK_MS 50

static void
test_one_for_each_name(void **state)
{
	struct br_target_table t = {0};
	struct br_target *one = br_target_get(&t, "https://a.test:443");
	struct br_target *two = br_target_get(&t, "https://a.test:8443");

	(void)state;
	assert_ptr_not_equal(one, two);
	assert_string_equal(one->name, "https://a.test:443");
	assert_string_equal(two->name, "https://a.test:8443");
	assert_ptr_equal(br_target_get(&t, "https://a.test:443"), one);
	assert_ptr_equal(br_target_get(&t, "https://a.test:8443"), two);
	assert_int_equal(t.count, 2);
	assert_null(br_target_next(&t, NULL, SLACK_MS));
	assert_null(br_target_next(&t, one, SLACK_MS));
	br_target_table_free(&t);
}

/* The head of a target's list decides when it is its turn. */
static void
test_oldest_first(void **state)
{
	struct br_target_table t = {0};
	struct br_target *a = br_target_get(&t, "a");
	struct br_target *b = br_target_get(&t, "b");
	struct br_lane lane[5] = {0};

	(void)state;
	br_target_ready(&t, b, &lane[0], 10);
	br_target_ready(&t, a, &lane[1], 20);
	br_target_ready(&t, b, &lane[2], 30);
	br_target_ready(&t, a, &lane[3], 40);
	br_target_ready(&t, a, &lane[4], 50);
	assert_ptr_equal(br_target_next(&t, NULL, 0), b);
	br_target_unready(&t, b, &lane[0]);
	assert_ptr_equal(br_target_next(&t, NULL, 0), a);
	/* out of the middle and off the end: nothing changes for the rest */
	br_target_unready(&t, a, &lane[3]);
	br_target_unready(&t, a, &lane[4]);
	assert_ptr_equal(a->first, &lane[1]);
	assert_ptr_equal(a->last, &lane[1]);
	br_target_unready(&t, a, &lane[1]);
	assert_null(a->first);
	assert_null(a->last);
	assert_ptr_equal(br_target_next(&t, NULL, 0), b);
	assert_ptr_equal(b->first, &lane[2]);
	br_target_ready(&t, a, &lane[1], 60);
	assert_ptr_equal(br_target_next(&t, NULL, 0), b);
	br_target_unready(&t, b, &lane[2]);
	assert_ptr_equal(br_target_next(&t, NULL, 0), a);
	br_target_unready(&t, a, &lane[1]);
	assert_null(br_target_next(&t, NULL, 0));
	br_target_table_free(&t);
}

static void
test_preference_has_a_limit(void **state)
{
	struct br_target_table t = {0};
	struct br_target *a = br_target_get(&t, "a");
	struct br_target *b = br_target_get(&t, "b");
	struct br_target *c = br_target_get(&t, "c");
	struct br_lane lane[2] = {0};

	(void)state;
	br_target_ready(&t, a, &lane[0], 1000);
	br_target_ready(&t, b, &lane[1], 1050);
	assert_ptr_equal(br_target_next(&t, b, SLACK_MS), b);
	assert_ptr_equal(br_target_next(&t, b, SLACK_MS - 1), a);
	assert_ptr_equal(br_target_next(&t, a, SLACK_MS), a);
	assert_ptr_equal(br_target_next(&t, c, SLACK_MS), a);
	assert_ptr_equal(br_target_next(&t, NULL, SLACK_MS), a);
	br_target_unready(&t, a, &lane[0]);
	br_target_unready(&t, b, &lane[1]);
	br_target_table_free(&t);
}

/* Any number of hosts may come by; what is in use stays. */
static void
test_unused_ones_go(void **state)
{
	struct br_target_table t = {0};
	struct br_target *aimed = br_target_get(&t, "aimed at");
	struct br_target *last = br_target_get(&t, "used last");
	char name[32];

	(void)state;
	aimed->lanes = 1;
	last->workers = 1;
	for (int i = 0; i < 20000; i++) {
		struct br_target *target;

		(void)snprintf(name, sizeof(name), "https://h%d.test:443", i);
		target = br_target_get(&t, name);
		assert_string_equal(target->name, name);
		assert_int_equal(target->lanes, 0);
		/* 1024, and one more in each chain that was empty */
		assert_true(t.count <= 1024 + 256);
	}
	assert_ptr_equal(br_target_get(&t, "aimed at"), aimed);
	assert_ptr_equal(br_target_get(&t, "used last"), last);
	assert_true(t.count >= 256);
	br_target_table_free(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_one_for_each_name),
	    cmocka_unit_test(test_oldest_first),
	    cmocka_unit_test(test_preference_has_a_limit),
	    cmocka_unit_test(test_unused_ones_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
