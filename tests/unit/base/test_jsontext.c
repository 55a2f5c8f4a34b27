/* jsontext: strings and base64 in JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bridge/base/jsontext.h"

#define BYTES(text)                                                            \
	(struct br_slice)                                                      \
	{                                                                      \
		(const uint8_t *)(text), sizeof(text) - 1                      \
	}

static void
expect_text(struct br_slice text, const char *expected)
{
	struct br_buffer out = {0};

	br_jsontext_string(&out, text);
	assert_string_equal(out.data, expected);
	assert_int_equal(out.len, strlen(expected));
	br_buffer_free(&out);
}

static void
strings(void **state)
{
	(void)state;
	expect_text(BYTES(""), "\"\"");
	expect_text((struct br_slice){NULL, 0}, "null");
	expect_text(BYTES("a\"b\\c/"), "\"a\\\"b\\\\c/\"");
	expect_text(BYTES("\n\r\t"), "\"\\n\\r\\t\"");
	expect_text(
	    BYTES("\0\x01\x1f\x7f"), "\"\\u0000\\u0001\\u001f\\u007f\"");
	expect_text(
	    BYTES("\xc5\x81\xf0\x9f\x98\x80"), "\"\xc5\x81\xf0\x9f\x98\x80\"");
	/* Each byte that is not UTF-8: overlong, cut off, a surrogate. */
	expect_text(BYTES("\xc0\xaf"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	expect_text(BYTES("a\xc5"), "\"a\xef\xbf\xbd\"");
	expect_text(
	    BYTES("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void
expect_base64(struct br_slice bytes, const char *expected)
{
	struct br_buffer out = {0};

	br_jsontext_base64(&out, bytes);
	assert_string_equal(out.data, expected);
	br_buffer_free(&out);
}

/* Of RFC 4648, section 10, and both of the last digits. */
static void
base64(void **state)
{
	(void)state;
	expect_base64((struct br_slice){NULL, 0}, "null");
	expect_base64(BYTES(""), "\"\"");
	expect_base64(BYTES("f"), "\"Zg==\"");
	expect_base64(BYTES("fo"), "\"Zm8=\"");
	expect_base64(BYTES("foo"), "\"Zm9v\"");
	expect_base64(BYTES("foob"), "\"Zm9vYg==\"");
	expect_base64(BYTES("fooba"), "\"Zm9vYmE=\"");
	expect_base64(BYTES("foobar"), "\"Zm9vYmFy\"");
	expect_base64(BYTES("\xfb\xff\xfe\0"), "\"+//+AA==\"");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(strings),
	    cmocka_unit_test(base64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
