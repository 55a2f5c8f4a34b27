/* utf8: every code point, and what RFC 3629 forbids. */
#include "bridge/base/utf8.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static size_t
encode(uint32_t code, uint8_t out[4])
{
	if (code < 0x80) {
		out[0] = (uint8_t)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (uint8_t)(0xc0 | code >> 6);
		out[1] = (uint8_t)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (uint8_t)(0xe0 | code >> 12);
		out[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
		out[2] = (uint8_t)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (uint8_t)(0xf0 | code >> 18);
	out[1] = (uint8_t)(0x80 | (code >> 12 & 0x3f));
	out[2] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
	out[3] = (uint8_t)(0x80 | (code & 0x3f));
	return 4;
}

static void
test_every_code_point(void **state)
{
	(void)state;
	for (uint32_t want = 0; want <= 0x110000; want++) {
		uint8_t bytes[4];
		uint32_t code = 0;
		size_t len = encode(want, bytes);
		size_t got = br_utf8_char(bytes, len, &code);

		if ((want >= 0xd800 && want <= 0xdfff) || want > 0x10ffff) {
			assert_int_equal(got, 0);
			continue;
		}
		assert_int_equal(got, len);
		assert_int_equal(code, want);
		/* Cut off, it is none. */
		if (len > 1)
			assert_int_equal(
			    br_utf8_char(bytes, len - 1, &code), 0);
	}
}

static void
test_malformed(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} table[] = {
	    {"", 0},
	    {"\x80", 1},
	    {"\xbf\x80", 2},
	    {"\xc0\x80", 2},
	    {"\xc1\xbf", 2},
	    {"\xc3\x28", 2},
	    {"\xe0\x80\x80", 3},
	    {"\xe0\x9f\xbf", 3},
	    {"\xe2\x28\xa1", 3},
	    {"\xe2\x82\x28", 3},
	    {"\xf0\x80\x80\x80", 4},
	    {"\xf0\x8f\xbf\xbf", 4},
	    {"\xf0\x9f\x98\x28", 4},
	    {"\xf5\x80\x80\x80", 4},
	    {"\xf8\x88\x80\x80\x80", 5},
	    {"\xfe", 1},
	    {"\xff\xff\xff\xff", 4},
	};
	uint32_t code;

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_int_equal(
		    br_utf8_char(table[i].bytes, table[i].len, &code), 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_code_point),
	    cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
