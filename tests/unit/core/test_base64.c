/* Base64: the vectors of RFC 4648, section 10, less their padding. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "bridge/core/base64.h"

static void
expect(const void *bytes, size_t len, const char *text)
{
	size_t chars = strlen(text);
	char out[400];
	uint8_t back[300];
	struct br_base64 b = {.out = out};

	assert_int_equal(BR_BASE64_CHARS(len), chars);
	assert_int_equal(BR_BASE64_BYTES(chars), len);
	for (size_t i = 0; i < len; i++)
		br_base64_put(&b, ((const uint8_t *)bytes)[i]);
	br_base64_end(&b);
	assert_int_equal(b.out - out, chars);
	assert_memory_equal(out, text, chars);
	memset(back, '#', sizeof(back));
	assert_int_equal(
	    br_base64_decode((const uint8_t *)out, chars, back), len);
	assert_memory_equal(back, bytes, len);
	assert_int_equal(back[len], '#');
}

static void
test_vectors(void **state)
{
	(void)state;
	expect("", 0, "");
	expect("f", 1, "Zg");
	expect("fo", 2, "Zm8");
	expect("foo", 3, "Zm9v");
	expect("foob", 4, "Zm9vYg");
	expect("fooba", 5, "Zm9vYmE");
	expect("foobar", 6, "Zm9vYmFy");
	/* The alphabet in its order. */
	expect(
	    "\x00\x10\x83\x10\x51\x87\x20\x92\x8b\x30\xd3\x8f\x41\x14\x93\x51"
	    "\x55\x97\x61\x96\x9b\x71\xd7\x9f\x82\x18\xa3\x92\x59\xa7\xa2\x9a"
	    "\xab\xb2\xdb\xaf\xc3\x1c\xb3\xd3\x5d\xb7\xe3\x9e\xbb\xf3\xdf\xbf",
	    48,
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
}

static size_t
decode(const char *text)
{
	uint8_t out[16];

	return br_base64_decode((const uint8_t *)text, strlen(text), out);
}

static void
test_refuses(void **state)
{
	char text[] = "Zm9v";
	uint8_t out[3];

	(void)state;
	assert_true(decode("Z") == SIZE_MAX);
	assert_true(decode("Zm9vY") == SIZE_MAX);
	assert_true(decode("Zh") == SIZE_MAX); /* bits without a meaning */
	assert_true(decode("Zm9") == SIZE_MAX);
	assert_true(decode("Zg==") == SIZE_MAX);
	for (int c = 0; c < 256; c++) {
		text[2] = (char)c;
		assert_int_equal(br_base64_span((const uint8_t *)text, 4) == 4,
		    c != 0 &&
		        strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
		               "uvwxyz0123456789+/",
		            c) != NULL);
		assert_int_equal(
		    br_base64_decode((const uint8_t *)text, 4, out),
		    br_base64_span((const uint8_t *)text, 4) == 4 ? 3
		                                                  : SIZE_MAX);
	}
	assert_int_equal(br_base64_span((const uint8_t *)text, 0), 0);
	assert_int_equal(br_base64_span((const uint8_t *)text, 2), 2);
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
