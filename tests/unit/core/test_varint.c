/* Varints: every length, and what is none. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "bridge/core/varint.h"

static void
expect(uint64_t value, const char *bytes, size_t len)
{
	uint8_t out[BR_VARINT_MAX] = {0};
	uint64_t got = 0;

	assert_int_equal(br_varint_put(out, value), len);
	assert_memory_equal(out, bytes, len);
	assert_int_equal(br_varint_get(out, len, &got), len);
	assert_true(got == value);
	/* What stands behind it does not matter; what is missing does. */
	assert_int_equal(br_varint_get(out, sizeof(out), &got), len);
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(br_varint_get(out, cut, &got), 0);
}

static void
test_vectors(void **state)
{
	(void)state;
	expect(0, "\x00", 1);
	expect(1, "\x01", 1);
	expect(127, "\x7f", 1);
	expect(128, "\x80\x01", 2);
	expect(300, "\xac\x02", 2);
	expect(16383, "\xff\x7f", 2);
	expect(16384, "\x80\x80\x01", 3);
	expect(UINT32_MAX, "\xff\xff\xff\xff\x0f", 5);
	expect(INT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9);
	expect(
	    UINT64_C(1) << 63, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10);
	expect(UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
}

static void
refuse(const char *bytes, size_t len)
{
	uint8_t in[16];
	uint64_t got;

	memcpy(in, bytes, len);
	assert_int_equal(br_varint_get(in, len, &got), 0);
}

static void
test_refuses(void **state)
{
	(void)state;
	/* not the shortest form */
	refuse("\x80\x00", 2);
	refuse("\x81\x80\x00", 3);
	refuse("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 10);
	/* more than 64 bits */
	refuse("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
	refuse("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11);
	refuse("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 11);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_vectors),
	    cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
