/* Sets of status codes: every item that is legal, and what is not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "bridge/core/status.h"

/* The set holds exactly first..last. */
static void
assert_exactly(const struct br_status_set *set, int first, int last)
{
	for (int code = -70; code < 1200; code++)
		assert_int_equal(br_status_set_has(set, code),
		    code >= first && code <= last);
}

static void
test_empty(void **state)
{
	struct br_status_set set = {0};

	(void)state;
	assert_exactly(&set, 1, 0);
}

static void
test_every_code(void **state)
{
	(void)state;
	for (int code = 100; code <= 999; code++) {
		struct br_status_set set = {0};
		char item[16];

		(void)snprintf(item, sizeof(item), "%d", code);
		assert_true(br_status_set_add(&set, item));
		assert_exactly(&set, code, code);
	}
}

static void
test_every_class(void **state)
{
	(void)state;
	for (int class = 1; class <= 9; class ++) {
		struct br_status_set set = {0};
		char item[16];

		(void)snprintf(item, sizeof(item), "%dxx", class);
		assert_true(br_status_set_add(&set, item));
		assert_exactly(&set, class * 100, class * 100 + 99);
	}
}

static void
test_ranges(void **state)
{
	static const struct {
		const char *item;
		int first, last;
	} rows[] = {{"400-417", 400, 417}, {"100-999", 100, 999},
	    {"500-500", 500, 500}, {"499-500", 499, 500}, {"127-128", 127, 128},
	    {"191-192", 191, 192}, {"998-999", 998, 999}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct br_status_set set = {0};

		assert_true(br_status_set_add(&set, rows[i].item));
		assert_exactly(&set, rows[i].first, rows[i].last);
	}
}

static void
test_refused(void **state)
{
	static const char *const items[] = {"", "0", "99", "099", "1000", "5x",
	    "5xxx", "xxx", "0xx", "5XX", "5xX", "x5x", "50x", "4-5", "400-",
	    "-400", "417-400", "400-1000", "099-200", "400--417", "400 - 417",
	    " 409", "409 ", "+409", "-09", "4o9", "400-41x", "4xx-5xx",
	    "400,401", "409\n", "٤٠٩", "all", "*", "400:417", "400-4177",
	    "0400", "0x1"};

	(void)state;
	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
		struct br_status_set set = {0};

		if (br_status_set_add(&set, items[i]))
			fail_msg("\"%s\" was accepted", items[i]);
		assert_exactly(&set, 1, 0);
	}
}

static void
test_items_add_up(void **state)
{
	struct br_status_set set = {0};

	(void)state;
	assert_true(br_status_set_add(&set, "5xx"));
	assert_true(br_status_set_add(&set, "409"));
	assert_false(br_status_set_add(&set, "nonsense"));
	assert_true(br_status_set_add(&set, "400-402"));
	for (int code = 100; code <= 999; code++)
		assert_int_equal(br_status_set_has(&set, code),
		    (code >= 500 && code <= 599) || code == 409 ||
		        (code >= 400 && code <= 402));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_empty),
	    cmocka_unit_test(test_every_code),
	    cmocka_unit_test(test_every_class),
	    cmocka_unit_test(test_ranges),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_items_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
