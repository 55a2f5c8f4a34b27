/* samples: order, limit, and a random model. */
#include "bridge/base/samples.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

static void
test_order_and_limit(void **state)
{
	struct br_samples s = {0};

	(void)state;
	br_samples_add(&s, "b", 10, 4)->value = 1;
	br_samples_add(&s, "b", 9, 4)->value = 2;
	br_samples_add(&s, "a", 11, 4)->value = 3;
	br_samples_add(&s, "b", -1, 4)->value = 4;
	assert_null(br_samples_add(&s, "c", 0, 4));
	br_samples_add(&s, "b", 9, 4)->value += 5;
	assert_null(br_samples_find(&s, "c", 0));
	assert_null(br_samples_find(&s, "a", 10));

	assert_int_equal(s.count, 4);
	assert_string_equal(s.items[0].label, "a");
	assert_int_equal(s.items[1].partition, -1);
	assert_int_equal(s.items[2].partition, 9);
	assert_true(s.items[2].value == 7);
	assert_int_equal(s.items[3].partition, 10);

	br_samples_drop(&s, "b", 9);
	br_samples_drop(&s, "b", 9);
	assert_int_equal(s.count, 3);
	assert_true(br_samples_find(&s, "b", 10)->value == 1);
	assert_non_null(br_samples_add(&s, "c", 0, 4));
	br_samples_clear(&s);
	assert_int_equal(s.count, 0);
	assert_null(br_samples_find(&s, "a", 11));
	br_samples_clear(&s);
}

#define NAMES 5
#define PARTITIONS 8

static void
test_model(void **state)
{
	static const char *const names[NAMES] = {
	    "", "a", "aa", "b", "\xc3\xbc"};
	double value[NAMES][PARTITIONS] = {{0}};
	bool there[NAMES][PARTITIONS] = {{false}};
	struct br_samples s = {0};
	uint32_t seed = 3;
	size_t count = 0;

	(void)state;
	for (int step = 1; step <= 20000; step++) {
		size_t n, p, i = 0;

		seed = seed * 1664525 + 1013904223;
		n = (seed >> 8) % NAMES;
		p = (seed >> 16) % PARTITIONS;
		if ((seed >> 24) % 2 == 0) {
			br_samples_drop(&s, names[n], (int32_t)p);
			count -= there[n][p];
			there[n][p] = false;
		} else {
			br_samples_add(&s, names[n], (int32_t)p, SIZE_MAX)
			    ->value = step;
			count += !there[n][p];
			there[n][p] = true;
			value[n][p] = step;
		}
		assert_int_equal(s.count, count);
		for (n = 0; n < NAMES; n++)
			for (p = 0; p < PARTITIONS; p++) {
				if (!there[n][p])
					continue;
				assert_string_equal(s.items[i].label, names[n]);
				assert_int_equal(s.items[i].partition, p);
				assert_true(s.items[i++].value == value[n][p]);
			}
	}
	br_samples_clear(&s);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order_and_limit),
	    cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
