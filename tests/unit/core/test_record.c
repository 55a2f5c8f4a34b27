/* The header look-up: the last of a name counts, null is not missing. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bridge/core/record.h"

static void
test_no_headers(void **state)
{
	struct br_record record = {.topic = "t"};

	(void)state;
	assert_null(br_record_header(&record, "id"));
	assert_null(br_record_header(&record, ""));
}

static void
test_last_one_counts(void **state)
{
	const struct br_header headers[] = {{"id", br_slice_str("first")},
	    {"type", br_slice_str("t")}, {"id", br_slice_str("last")},
	    {"ID", br_slice_str("other case")}, {"id2", br_slice_str("x")}};
	struct br_record record = {.headers = headers, .header_count = 5};

	(void)state;
	assert_ptr_equal(br_record_header(&record, "id"), &headers[2].value);
	assert_ptr_equal(br_record_header(&record, "ID"), &headers[3].value);
	assert_ptr_equal(br_record_header(&record, "type"), &headers[1].value);
	assert_null(br_record_header(&record, "i"));
	assert_null(br_record_header(&record, "id22"));
	/* Only the headers that are counted are looked at. */
	record.header_count = 2;
	assert_ptr_equal(br_record_header(&record, "id"), &headers[0].value);
	assert_null(br_record_header(&record, "id2"));
}

static void
test_null_and_empty_values(void **state)
{
	const struct br_header headers[] = {{"id", br_slice_str("first")},
	    {"id", {NULL, 0}}, {"empty", br_slice_str("")},
	    {"", br_slice_str("no name")}};
	struct br_record record = {.headers = headers, .header_count = 4};
	const struct br_slice *value;

	(void)state;
	/* A null header is there, and hides an earlier one. */
	value = br_record_header(&record, "id");
	assert_non_null(value);
	assert_null(value->data);
	value = br_record_header(&record, "empty");
	assert_non_null(value);
	assert_non_null(value->data);
	assert_int_equal(value->len, 0);
	assert_ptr_equal(br_record_header(&record, ""), &headers[3].value);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_no_headers),
	    cmocka_unit_test(test_last_one_counts),
	    cmocka_unit_test(test_null_and_empty_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
