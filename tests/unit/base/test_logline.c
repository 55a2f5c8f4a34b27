/*
 * logline: escaping as a table, whole lines, limits; and random values that
 * a strict reader must find again, the same ones in both forms.
 */
#include "bridge/base/logline.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/base/utf8.h"

#define NOW_MS INT64_C(1767225600123) /* 2026-01-01T00:00:00.123Z */

static const struct br_kv no_fields[] = {{.kind = BR_KV_END}};

/* The line as a string, without its newline. */
static const char *
compose(
    bool json, const char *msg, const struct br_kv *fields, uint64_t suppressed)
{
	static char text[BR_LOGLINE_BYTES + 1];
	size_t len;

	memset(text, '#', sizeof(text));
	len = br_logline_compose(
	    text, json, NOW_MS, BR_WARN, msg, fields, suppressed);
	assert_in_range(len, 1, BR_LOGLINE_BYTES);
	assert_int_equal(text[len - 1], '\n');
	text[len - 1] = '\0';
	assert_int_equal(strlen(text), len - 1);
	return text;
}

static void
test_escapes(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *logfmt;
		const char *json; /* NULL: the same */
	} table[] = {
	    {"", 0, "\"\"", NULL},
	    {"plain", 5, "plain", "\"plain\""},
	    {"a/b:c?d#e~!", 11, "a/b:c?d#e~!", "\"a/b:c?d#e~!\""},
	    {"two words", 9, "\"two words\"", NULL},
	    {"a=b", 3, "\"a=b\"", NULL},
	    {"say \"hi\"", 8, "\"say \\\"hi\\\"\"", NULL},
	    {"c:\\x", 4, "\"c:\\\\x\"", NULL},
	    {"\n\r\t", 3, "\"\\n\\r\\t\"", NULL},
	    {"\0\x01\x1b\x1f", 4, "\"\\u0000\\u0001\\u001b\\u001f\"", NULL},
	    {"\x7f", 1, "\"\\u007f\"", NULL},
	    {"\xc2\x80\xc2\x9f", 4, "\"\\u0080\\u009f\"", NULL},
	    {"\xc2\xa0", 2, "\"\xc2\xa0\"", NULL},
	    {"gr\xc3\xbc\xc3\x9f", 6, "\"gr\xc3\xbc\xc3\x9f\"", NULL},
	    {"\xf0\x9f\x98\x80", 4, "\"\xf0\x9f\x98\x80\"", NULL},
	    {"\xe2\x80\xa8\xe2\x80\xae", 6, "\"\\u2028\\u202e\"", NULL},
	    {"\xe2\x81\xa6", 3, "\"\\u2066\"", NULL},
	    {"\xff\x80", 2, "\"\\\\xff\\\\x80\"", NULL},
	    {"a\xc0\xaf", 3, "\"a\\\\xc0\\\\xaf\"", NULL},
	    {"\xed\xa0\x80", 3, "\"\\\\xed\\\\xa0\\\\x80\"", NULL},
	    {"\xe2\x82", 2, "\"\\\\xe2\\\\x82\"", NULL},
	};
	char want[256];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct br_kv fields[] = {{.kind = BR_KV_BYTES,
		                                   .key = "v",
		                                   .str = table[i].bytes,
		                                   .len = table[i].len},
		    {.kind = BR_KV_END}};

		(void)snprintf(want, sizeof(want),
		    "ts=2026-01-01T00:00:00.123Z level=warn msg=\"m\" v=%s",
		    table[i].logfmt);
		assert_string_equal(compose(false, "m", fields, 0), want);
		(void)snprintf(want, sizeof(want),
		    "{\"ts\":\"2026-01-01T00:00:00.123Z\",\"level\":\"warn\","
		    "\"msg\":\"m\",\"v\":%s}",
		    table[i].json != NULL ? table[i].json : table[i].logfmt);
		assert_string_equal(compose(true, "m", fields, 0), want);
	}
}

static void
test_fields_in_order(void **state)
{
	const struct br_kv fields[] = {
	    {.kind = BR_KV_STR, .key = "topic", .str = "t", .len = 1},
	    {.kind = BR_KV_INT, .key = "offset", .num = INT64_MIN},
	    {.kind = BR_KV_STR, .key = "absent"},
	    {.kind = BR_KV_REAL, .key = "age", .real = 0.25},
	    {.kind = BR_KV_REAL, .key = "odd", .real = INFINITY},
	    {.kind = BR_KV_INT, .key = "n", .num = 7}, {.kind = BR_KV_END}};

	(void)state;
	assert_string_equal(compose(false, "two words", fields, 3),
	    "ts=2026-01-01T00:00:00.123Z level=warn msg=\"two words\" topic=t "
	    "offset=-9223372036854775808 age=0.25 odd=inf n=7 suppressed=3");
	assert_string_equal(compose(true, "two words", fields, 3),
	    "{\"ts\":\"2026-01-01T00:00:00.123Z\",\"level\":\"warn\","
	    "\"msg\":\"two words\",\"topic\":\"t\","
	    "\"offset\":-9223372036854775808,\"age\":0.25,\"odd\":null,"
	    "\"n\":7,\"suppressed\":3}");
	assert_string_equal(compose(false, "m", no_fields, 0),
	    "ts=2026-01-01T00:00:00.123Z level=warn msg=\"m\"");
}

static void
test_times(void **state)
{
	static const struct {
		int64_t wall_ms;
		const char *text;
	} table[] = {
	    {0, "1970-01-01T00:00:00.000Z"},
	    {-1, "1970-01-01T00:00:00.000Z"},
	    {951782399999, "2000-02-28T23:59:59.999Z"},
	    {951782400000, "2000-02-29T00:00:00.000Z"},
	    {INT64_C(4102444799001), "2099-12-31T23:59:59.001Z"},
	};
	char text[BR_LOGLINE_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		(void)br_logline_compose(
		    text, false, table[i].wall_ms, BR_INFO, "m", no_fields, 0);
		assert_memory_equal(text + 3, table[i].text, 24);
	}
	/* Nothing a broken clock says may break the line. */
	assert_true(br_logline_compose(text, false, INT64_MAX, BR_INFO, "m",
	                no_fields, 0) < 100);
}

struct pair {
	char key[64];
	char value[2 * BR_LOGLINE_BYTES]; /* decoded; a number as it stands */
	size_t len;
};

static unsigned int
hex4(const char *p)
{
	unsigned int code = 0;

	for (int i = 0; i < 4; i++) {
		assert_true(isxdigit((unsigned char)p[i]) != 0);
		assert_false(p[i] >= 'A' && p[i] <= 'F');
		code =
		    code * 16 +
		    (unsigned int)(p[i] <= '9' ? p[i] - '0' : p[i] - 'a' + 10);
	}
	return code;
}

static void
put_code(struct pair *pair, unsigned int code)
{
	assert_true(code < 0x10000);
	if (code < 0x80) {
		pair->value[pair->len++] = (char)code;
	} else if (code < 0x800) {
		pair->value[pair->len++] = (char)(0xc0 | code >> 6);
		pair->value[pair->len++] = (char)(0x80 | (code & 0x3f));
	} else {
		pair->value[pair->len++] = (char)(0xe0 | code >> 12);
		pair->value[pair->len++] = (char)(0x80 | (code >> 6 & 0x3f));
		pair->value[pair->len++] = (char)(0x80 | (code & 0x3f));
	}
}

/* Reads a JSON string as strictly as RFC 8259 has it. */
static const char *
read_string(const char *p, struct pair *pair)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	uint32_t code;
	size_t n;

	assert_int_equal(*p++, '"');
	while (*p != '"') {
		if (*p == '\\' && p[1] == 'u') {
			put_code(pair, hex4(p + 2));
			p += 6;
		} else if (*p == '\\') {
			const char *at = strchr(from, p[1]);

			assert_non_null(at);
			assert_int_not_equal(p[1], '\0');
			pair->value[pair->len++] = to[at - from];
			p += 2;
		} else {
			n = br_utf8_char(p, strlen(p), &code);
			assert_int_not_equal(n, 0);
			assert_true(code >= 0x20);
			memcpy(pair->value + pair->len, p, n);
			pair->len += n;
			p += n;
		}
	}
	return p + 1;
}

static const char *
read_bare(const char *p, struct pair *pair, const char *ends)
{
	while (*p != '\0' && strchr(ends, *p) == NULL) {
		assert_true(*p > ' ' && *p <= '~' && *p != '"');
		pair->value[pair->len++] = *p++;
	}
	assert_int_not_equal(pair->len, 0);
	return p;
}

static size_t
read_line(const char *p, bool json, struct pair pairs[16])
{
	size_t count = 0;

	if (json)
		assert_int_equal(*p++, '{');
	for (;; p++) {
		struct pair *pair = &pairs[count++], key = {.len = 0};

		assert_in_range(count, 1, 16);
		pair->len = 0;
		if (json) {
			p = read_string(p, &key);
			assert_int_equal(*p++, ':');
		} else {
			p = read_bare(p, &key, "=");
			assert_int_equal(*p++, '=');
		}
		assert_in_range(key.len, 1, sizeof(pair->key) - 1);
		memcpy(pair->key, key.value, key.len);
		pair->key[key.len] = '\0';
		p = *p == '"' ? read_string(p, pair)
		              : read_bare(p, pair, json ? ",}" : " ");
		if (*p != (json ? ',' : ' '))
			break;
	}
	assert_string_equal(p, json ? "}" : "");
	return count;
}

/* What a reader finds: the bytes, with \xHH for what is not UTF-8. */
static void
check_value(const struct pair *pair, const uint8_t *bytes, size_t len)
{
	char want[4 * 4096];
	size_t n = 0, used;
	uint32_t code;

	for (size_t i = 0; i < len; i += used) {
		used = br_utf8_char(bytes + i, len - i, &code);
		if (used == 0) {
			n += (size_t)sprintf(want + n, "\\x%02x", bytes[i]);
			used = 1;
		} else {
			memcpy(want + n, bytes + i, used);
			n += used;
		}
	}
	if (pair->len != n) { /* cut: a beginning of it and dots */
		assert_true(pair->len >= 3);
		assert_memory_equal(pair->value + pair->len - 3, "...", 3);
		assert_true(pair->len - 3 < n);
		assert_memory_equal(pair->value, want, pair->len - 3);
	} else {
		assert_memory_equal(pair->value, want, n);
	}
}

static uint32_t
next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static size_t
random_value(uint32_t *seed, uint8_t value[3000])
{
	static const char words[] = "ab \"=\\\n\x7f\xc3\xbc\xe2\x80\xae\xff";
	size_t len = next_random(seed) % 3000;

	if (next_random(seed) % 4 != 0)
		len %= 40;
	for (size_t i = 0; i < len; i++)
		value[i] =
		    next_random(seed) % 2 == 0
		        ? (uint8_t)next_random(seed)
		        : (uint8_t)
		              words[next_random(seed) % (sizeof(words) - 1)];
	return len;
}

static void
test_random_values_come_back(void **state)
{
	static struct pair pairs[16];
	static uint8_t first[3000], second[3000];
	uint32_t seed = 1;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		size_t first_len = random_value(&seed, first);
		size_t second_len = random_value(&seed, second);
		const struct br_kv fields[] = {{.kind = BR_KV_BYTES,
		                                   .key = "first",
		                                   .str = (const char *)first,
		                                   .len = first_len},
		    {.kind = BR_KV_BYTES,
		        .key = "second",
		        .str = (const char *)second,
		        .len = second_len},
		    {.kind = BR_KV_INT, .key = "last", .num = i},
		    {.kind = BR_KV_END}};

		for (int json = 0; json <= 1; json++) {
			const char *line =
			    compose(json == 1, "m", fields, UINT64_MAX);
			size_t n = read_line(line, json == 1, pairs);
			char number[16];

			assert_int_equal(n, 7);
			assert_string_equal(pairs[3].key, "first");
			check_value(&pairs[3], first, first_len);
			check_value(&pairs[4], second, second_len);
			(void)snprintf(number, sizeof(number), "%d", i);
			assert_int_equal(pairs[5].len, strlen(number));
			assert_memory_equal(
			    pairs[5].value, number, pairs[5].len);
			assert_string_equal(pairs[6].key, "suppressed");
			assert_memory_equal(
			    pairs[6].value, "18446744073709551615", 20);
		}
	}
}

/* However much is said, the line stays whole and the small fields stay. */
static void
test_long_lines(void **state)
{
	static struct pair pairs[16];
	static char big[100000];
	const struct br_kv text = {
	    .kind = BR_KV_BYTES, .key = "big", .str = big, .len = sizeof(big)};
	const struct br_kv fields[] = {text, text, text, text,
	    {.kind = BR_KV_INT, .key = "n", .num = 1}, text, text,
	    {.kind = BR_KV_END}};

	(void)state;
	for (int c = 0; c < 256; c++) {
		memset(big, c, sizeof(big));
		for (int json = 0; json <= 1; json++) {
			const char *line =
			    compose(json == 1, "m", fields, UINT64_MAX);
			size_t n = read_line(line, json == 1, pairs);

			assert_true(strlen(line) > 3900);
			assert_string_equal(pairs[n - 1].key, "suppressed");
			assert_string_equal(pairs[3].key, "big");
			assert_in_range(
			    pairs[3].len, 200, BR_LOGLINE_VALUE_BYTES);
			check_value(&pairs[3], (uint8_t *)big, 2000);
			for (size_t i = 4; i < n - 1; i++)
				assert_true(strcmp(pairs[i].key, "big") == 0 ||
				            strcmp(pairs[i].key, "n") == 0);
		}
	}
	/* A message alone is cut too. */
	big[sizeof(big) - 1] = '\0';
	memset(big, 'x', sizeof(big) - 1);
	assert_int_equal(
	    read_line(compose(true, big, no_fields, 0), true, pairs), 3);
	assert_int_equal(pairs[2].len, BR_LOGLINE_VALUE_BYTES - 2);
}

/* A reason of 1023 characters (struct br_error) is never cut. */
static void
test_error_text_fits(void **state)
{
	static struct pair pairs[16];
	char text[1024];
	const struct br_kv fields[] = {
	    {.kind = BR_KV_STR, .key = "reason", .str = text, .len = 1023},
	    {.kind = BR_KV_END}};

	(void)state;
	memset(text, 'y', 1023);
	text[1000] = ' ';
	text[1023] = '\0';
	assert_int_equal(
	    read_line(compose(false, text, fields, 0), false, pairs), 4);
	assert_int_equal(pairs[2].len, 1023);
	assert_int_equal(pairs[3].len, 1023);
	assert_memory_equal(pairs[3].value, text, 1023);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_escapes),
	    cmocka_unit_test(test_fields_in_order),
	    cmocka_unit_test(test_times),
	    cmocka_unit_test(test_random_values_come_back),
	    cmocka_unit_test(test_long_lines),
	    cmocka_unit_test(test_error_text_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
