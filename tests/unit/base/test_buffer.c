/* buffer: appending around every size at which it grows. */
#include "bridge/base/buffer.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static void
test_formats_of_every_length(void **state)
{
	static char text[2000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	for (int before = 0; before <= 600; before += 50)
		for (int len = 0; len <= 1100; len++) {
			struct br_buffer b = {0};

			br_buffer_add(&b, text, (size_t)before);
			br_buffer_format(&b, "%.*s", len, text);
			assert_int_equal(b.len, before + len);
			assert_int_equal(strlen(b.data), before + len);
			assert_true(b.capacity > b.len);
			br_buffer_str(&b, "!");
			assert_int_equal(b.data[before + len], '!');
			br_buffer_free(&b);
		}
}

static void
test_many_small_ones(void **state)
{
	struct br_buffer b = {0};
	char want[8];

	(void)state;
	for (int i = 0; i < 3000; i++)
		br_buffer_format(&b, "%04d.", i);
	assert_int_equal(b.len, 15000);
	memcpy(want, b.data + 5 * 2999, 6);
	assert_string_equal(want, "2999.");
	br_buffer_clear(&b);
	assert_int_equal(b.len, 0);
	assert_string_equal(b.data, "");
	br_buffer_add(&b, "a\0b", 3);
	assert_memory_equal(b.data, "a\0b", 4);
	br_buffer_free(&b);
	assert_null(b.data);
	br_buffer_free(&b);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_formats_of_every_length),
	    cmocka_unit_test(test_many_small_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
