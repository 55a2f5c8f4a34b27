/* CRC-32C: the vectors of RFC 3720, appendix B.4, and the usual one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "bridge/core/crc32c.h"

static void
test_vectors(void **state)
{
	uint8_t bytes[32];

	(void)state;
	assert_int_equal(br_crc32c(0, "", 0), 0);
	assert_int_equal(br_crc32c(0, "123456789", 9), 0xe3069283);
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(br_crc32c(0, bytes, sizeof(bytes)), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(br_crc32c(0, bytes, sizeof(bytes)), 0x62a8ab43);
	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	assert_int_equal(br_crc32c(0, bytes, sizeof(bytes)), 0x46dd794e);
	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(31 - i);
	assert_int_equal(br_crc32c(0, bytes, sizeof(bytes)), 0x113fdb5c);
}

static void
test_goes_on(void **state)
{
	static const char text[] = "123456789";

	(void)state;
	for (size_t i = 0; i <= 9; i++)
		assert_int_equal(
		    br_crc32c(br_crc32c(0, text, i), &text[i], 9 - i),
		    0xe3069283);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_vectors),
	    cmocka_unit_test(test_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
