/* One value and its bytes: what it is as JSON, or why it is none. */
#include "source_support.h"

#include "bridge/base/buffer.h"
#include "bridge/source/avro_datum.h"
#include "bridge/source/avro_json.h"
#include "bridge/source/json.h"

#include <stdio.h>

#define DECIMAL(scale)                                                         \
	"{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"scale\":" #scale "}"
#define VARIABLE                                                               \
	"{\"type\":\"record\",\"name\":\"io.debezium.data."                    \
	"VariableScaleDecimal"                                                 \
	"\",\"fields\":[{\"name\":\"scale\",\"type\":\"int\"},{\"name\":"      \
	"\"value\",\"type\":\"bytes\"}]}"
#define PAIR                                                                   \
	"{\"type\":\"record\",\"name\":\"P\",\"fields\":[{\"name\":\"a\","     \
	"\"type\":\"int\"},{\"name\":\"b\\u0022\",\"type\":[\"null\",\"P\"]}]" \
	"}"
#define ENUM "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\"]}"
#define FIXED2 "{\"type\":\"fixed\",\"name\":\"F\",\"size\":2}"
#define INTS "{\"type\":\"array\",\"items\":\"int\"}"
#define MAP "{\"type\":\"map\",\"values\":\"long\"}"

static struct br_arena arena;

static size_t
unhex(const char *hex, uint8_t *out)
{
	size_t n = 0;

	for (; *hex != '\0'; hex++) {
		unsigned byte;

		if (*hex == ' ')
			continue;
		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		out[n++] = (uint8_t)byte;
		hex++;
	}
	return n;
}

static struct br_avro_schema *
schema_of(const char *text)
{
	struct br_slice slice = br_slice_str(text);
	struct br_error err = {{0}};
	struct br_avro_schema *s = br_avro_schema_new(&slice, 1, &err);

	if (s == NULL)
		fail_msg("%s: %s", text, err.text);
	return s;
}

static const struct {
	const char *schema, *hex, *json;
} values[] = {
    {"\"null\"", "", "null"},
    {"\"boolean\"", "00", "false"},
    {"\"boolean\"", "01", "true"},
    {"\"int\"", "01", "-1"},
    {"\"int\"", "feffffff0f", "2147483647"},
    {"\"int\"", "ffffffff0f", "-2147483648"},
    {"\"long\"", "feffffffffffffffff01", "9223372036854775807"},
    {"\"long\"", "ffffffffffffffffff01", "-9223372036854775808"},
    {"\"long\"", "808000", "0"},
    {"\"float\"", "0000c03f", "1.5"},
    {"\"float\"", "cdcccc3d", "0.1"},
    {"\"float\"", "0000c07f", "\"NaN\""},
    {"\"double\"", "0000000000408f40", "1000.0"},
    {"\"double\"", "9a9999999999b93f", "0.1"},
    {"\"double\"", "333333333333d33f", "0.3"},
    {"\"double\"", "343333333333d33f", "0.30000000000000004"},
    {"\"double\"", "0000000000000080", "-0.0"},
    {"\"double\"", "000000000000f0ff", "\"-Infinity\""},
    {"\"double\"", "a1b17d1d04250444", "4.645027134739868e+19"},
    {"\"string\"", "00", "\"\""},
    {"\"string\"", "06 410042", "\"A\\u0000B\""},
    {"\"string\"", "10 22 5c 0a 1f 7f c3 a9 2f",
        "\"\\\"\\\\\\n\\u001f\x7f\xc3\xa9/\""},
    {"\"bytes\"", "00", "\"\""},
    {"\"bytes\"", "02ff", "\"/w==\""},
    {"\"bytes\"", "0400ff", "\"AP8=\""},
    {"\"bytes\"", "06000102", "\"AAEC\""},
    {FIXED2, "0102", "\"AQI=\""},
    {ENUM, "02", "\"B\""},
    {INTS, "00", "[]"},
    {INTS, "06 02 04 06 00", "[1,2,3]"},
    {INTS, "02 02 03 04 04 06 00", "[1,2,3]"},
    {MAP, "00", "{}"},
    {MAP, "04 02 61 02 04 62 22 04 00", "{\"a\":1,\"b\\\"\":2}"},
    {"[\"null\",\"string\"]", "00", "null"},
    {"[\"int\",\"null\"]", "02", "null"},
    {"[\"int\",\"null\"]", "0002", "1"},
    {PAIR, "02 02 04 00",
        "{\"a\":1,\"b\\u0022\":{\"a\":2,"
        "\"b\\u0022\":null}}"},
    {DECIMAL(0), "020a", "10"},
    {DECIMAL(0), "0403e7", "999"},
    {DECIMAL(2), "0404e2", "12.50"},
    {DECIMAL(2), "02ff", "-0.01"},
    {DECIMAL(0), "20 4b3b4ca85a86c47a098a223fffffffff",
        "99999999999999999999999999999999999999"},
    /* no number without a byte: what it is stays visible */
    {DECIMAL(0), "00", "\"\""},
    {DECIMAL(200), "0201", "\"AQ==\""},
    {VARIABLE, "00 04 03e9", "1001"},
    {VARIABLE, "04 04 04e2", "12.50"},
    {VARIABLE, "03 02 07", "700"},
    {VARIABLE, "a003 02 07", "{\"scale\":208,\"value\":\"Bw==\"}"},
};

static void
test_values(void **state)
{
	struct br_avro_json *j = br_avro_json_new();

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		struct br_avro_schema *s = schema_of(values[i].schema);
		struct br_slice text, body;
		struct br_avro_fault fault;
		struct br_json_fault json_fault;
		uint8_t bytes[64];

		body.len = unhex(values[i].hex, bytes);
		body.data = bytes;
		if (!br_avro_datum_check(s->root, body, &fault))
			fail_msg("%s %s: %s", values[i].schema, values[i].hex,
			    fault.what);
		/* Twice: what the value held before must not show. */
		for (int k = 0; k < 2; k++)
			assert_true(
			    br_avro_json_render(j, s, body, &arena, &text));
		if (!br_slice_eq(text, br_slice_str(values[i].json)))
			fail_msg("%s %s: %.*s, not %s", values[i].schema,
			    values[i].hex, (int)text.len, text.data,
			    values[i].json);
		assert_true(br_json_check(text, NULL, NULL, &json_fault));
		br_avro_schema_free(s);
	}
	br_avro_json_free(j);
}

static void
test_faults(void **state)
{
	static const struct {
		const char *schema, *hex, *why;
	} cases[] = {
	    {"\"int\"", "", "inside a number"},
	    {"\"int\"", "80", "inside a number"},
	    {"\"int\"", "80808080 10", "an int is out of range"},
	    {"\"long\"", "ffffffffffffffffff02", "64 bits"},
	    {"\"long\"", "ffffffffffffffffff7f", "64 bits"},
	    {"\"long\"", "8080808080808080808000", "64 bits"},
	    {"\"long\"", "0000", "left behind"},
	    {"\"boolean\"", "", "inside a value"},
	    {"\"boolean\"", "02", "neither 0 nor 1"},
	    {"\"float\"", "000000", "inside a value"},
	    {"\"double\"", "00000000000000", "inside a value"},
	    {"\"string\"", "0a4142", "a length"},
	    {"\"string\"", "feffffff0f", "a length"},
	    {"\"string\"", "01", "a length"},
	    {"\"string\"", "ffffffffffffffffff01", "a length"},
	    {"\"string\"", "04fffe", "not UTF-8"},
	    {"\"string\"", "04 c080", "not UTF-8"},
	    {"\"bytes\"", "0a4142", "a length"},
	    {FIXED2, "01", "inside a value"},
	    {ENUM, "04", "index"},
	    {ENUM, "01", "index"},
	    {ENUM, "8080808020", "index"},
	    {"[\"null\",\"int\"]", "04", "index"},
	    {"[\"null\",\"int\"]", "01", "index"},
	    {"[\"null\",\"int\"]", "8080808080 40", "index"},
	    {INTS, "0402", "inside a number"},
	    {INTS, "06 02 04", "inside a number"},
	    {INTS, "808080800200", "inside a number"},
	    {INTS, "03 03 02 04 00", "size of a block"},
	    {INTS, "03 06 02 04 00", "size of a block is wrong"},
	    {INTS, "03 08 02 04 00", "size of a block"},
	    {INTS, "ffffffffffffffffff01 00", "count of a block"},
	    {MAP, "02 04 6100 02 00", "NUL"},
	    {MAP, "02 02 ff 02 00", "not UTF-8"},
	    {MAP, "02 0a 61", "a length"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct br_avro_schema *s = schema_of(cases[i].schema);
		struct br_slice body;
		struct br_avro_fault fault;
		uint8_t bytes[64];

		body.len = unhex(cases[i].hex, bytes);
		body.data = bytes;
		if (br_avro_datum_check(s->root, body, &fault))
			fail_msg(
			    "%s %s is taken", cases[i].schema, cases[i].hex);
		if (strstr(fault.what, cases[i].why) == NULL)
			fail_msg("%s %s: \"%s\", not \"%s\"", cases[i].schema,
			    cases[i].hex, fault.what, cases[i].why);
		assert_true(fault.at <= body.len);
		br_avro_schema_free(s);
	}
}

/* A record in itself, deeper than is taken. */
static void
test_depth(void **state)
{
	struct br_avro_schema *s = schema_of(PAIR);
	struct br_avro_json *j = br_avro_json_new();
	struct br_avro_fault fault;
	uint8_t bytes[200];

	(void)state;
	memset(bytes, 0x02, sizeof(bytes));
	for (size_t depth = 20; depth <= 90; depth += 70) {
		struct br_slice body = {bytes, 2 * depth}, text;

		bytes[2 * depth - 1] = 0x00;
		assert_int_equal(
		    br_avro_datum_check(s->root, body, &fault), depth == 20);
		bytes[2 * depth - 1] = depth == 20 ? 0x00 : 0x02;
		if (depth == 20)
			assert_true(
			    br_avro_json_render(j, s, body, &arena, &text));
		bytes[2 * depth - 1] = 0x02;
	}
	assert_non_null(strstr(fault.what, "levels deep"));
	br_avro_json_free(j);
	br_avro_schema_free(s);
}

/* Few bytes that unfold to many values: unions of large records. */
static void
test_values_limit(void **state)
{
	struct br_avro_schema *s;
	struct br_buffer text = {0};
	struct br_avro_fault fault;
	size_t len = 100000;
	uint8_t *bytes = calloc(1, len + 10);
	size_t head = 0;

	(void)state;
	br_buffer_str(&text,
	    "{\"type\":\"array\",\"items\":[\"null\",{\"type\":"
	    "\"record\",\"name\":\"R\",\"fields\":[");
	for (int i = 0; i < 200; i++)
		br_buffer_format(&text, "%s{\"name\":\"f%d\",\"type\":\"int\"}",
		    i > 0 ? "," : "", i);
	br_buffer_str(&text, "]}]}");
	s = schema_of(text.data);
	/* 100,000 nulls, which avro-c would give 4 kB each. */
	for (uint64_t bits = 2 * len; bits > 0; bits >>= 7)
		bytes[head++] =
		    (uint8_t)((bits & 0x7f) | (bits > 0x7f ? 0x80 : 0));
	assert_false(br_avro_datum_check(
	    s->root, (struct br_slice){bytes, head + len + 1}, &fault));
	assert_non_null(strstr(fault.what, "2,000,000"));
	br_avro_schema_free(s);
	br_buffer_free(&text);
	free(bytes);
}

static void
add_nulls(struct br_buffer *text)
{
	for (int i = 0; i < 200; i++)
		br_buffer_format(
		    text, ",{\"name\":\"n%d\",\"type\":\"null\"}", i);
}

/*
 * A and B lead to each other, and B is large. Whichever of them is weighed
 * first, an array of A holds a B in each item, of one byte.
 */
static void
test_cycle_limit(void **state)
{
#define RECORD(name) "{\"type\":\"record\",\"name\":\"" name "\",\"fields\":["
#define FIELD(name) "{\"name\":\"" name "\",\"type\":"
	static const char *const begin[] = {
	    RECORD("R") FIELD("a") "[\"null\"," RECORD("A") FIELD("b")
	        RECORD("B") FIELD("u") "[\"null\",\"A\"]}",
	    RECORD("R") FIELD("b2") "[\"null\"," RECORD("B")
	        FIELD("u") "[\"null\"," RECORD("A") FIELD("b") "\"B\"}]}]}"};
	static const char *const end[] = {
	    "]}}]}]}," FIELD("z") "{\"type\":\"array\",\"items\":\"A\"}}"
	                          "," FIELD("b2") "[\"null\",\"B\"]}]}",
	    "]}]}," FIELD("z") "{\"type\":\"array\",\"items\":\"A\"}}," FIELD(
	        "a") "[\"null\",\"A\"]}]}"};
	static uint8_t bytes[100000 + 6] = {0, 0xc0, 0x9a, 0x0c};
	struct br_slice many = {bytes, sizeof(bytes)};
	uint8_t three[] = {0, 6, 0, 0, 0, 0, 0};
	struct br_slice few = {three, sizeof(three)};

	(void)state;
	for (size_t i = 0; i < COUNT(begin); i++) {
		struct br_buffer text = {0};
		struct br_avro_schema *s;
		struct br_avro_fault fault;

		br_buffer_str(&text, begin[i]);
		add_nulls(&text);
		br_buffer_str(&text, end[i]);
		s = schema_of(text.data);
		if (br_avro_datum_check(s->root, many, &fault))
			fail_msg("%zu: %zu values", i, fault.values);
		assert_non_null(strstr(fault.what, "2,000,000"));
		assert_true(br_avro_datum_check(s->root, few, &fault));
		/* Three of A, each with the fields of a B. */
		assert_true(fault.values > 3 * 200);
		br_avro_schema_free(s);
		br_buffer_free(&text);
	}
#undef RECORD
#undef FIELD
}

/* Content of strings and bytes, asked for by their place in the text. */
static void
test_raw(void **state)
{
	struct br_avro_schema *s = schema_of(
	    "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\","
	    "\"type\":\"string\"},{\"name\":\"b\",\"type\":[\"null\",\"bytes\"]"
	    "},{\"name\":\"c\",\"type\":" INTS "},{\"name\":\"d\",\"type\":{"
	    "\"type\":\"array\",\"items\":\"string\"}}]}");
	struct br_avro_json *j = br_avro_json_new();
	uint8_t bytes[64];
	struct br_slice body = {bytes, 0}, text, content;
	struct br_json_object object;
	struct br_json_fault fault;

	(void)state;
	body.len = unhex("04 0a00  02 06 00ff22  02 02 00  02 02 61 00", bytes);
	assert_true(br_avro_json_render(j, s, body, &arena, &text));
	assert_true(br_json_read(text, NULL, &object, &fault));
	assert_true(
	    br_avro_json_raw(j, br_json_get(&object, "a")->text, &content));
	assert_int_equal(content.len, 2);
	assert_memory_equal(content.data, "\n\0", 2);
	assert_true(
	    br_avro_json_raw(j, br_json_get(&object, "b")->text, &content));
	assert_int_equal(content.len, 3);
	assert_memory_equal(content.data, "\0\xff\"", 3);
	assert_false(
	    br_avro_json_raw(j, br_json_get(&object, "c")->text, &content));
	assert_false(
	    br_avro_json_raw(j, br_slice_str("\"elsewhere\""), &content));
	br_avro_json_free(j);
	br_avro_schema_free(s);
}

static void
test_top(void **state)
{
	struct br_avro_schema *s = schema_of("[\"int\",\"null\",\"string\"]");
	uint8_t bytes[8];
	struct br_slice body = {bytes, 0}, inner;

	(void)state;
	body.len = unhex("04 04 6869", bytes);
	assert_int_equal(
	    br_avro_datum_top(s->root, body, &inner)->type, BR_AVRO_STRING);
	assert_ptr_equal(inner.data, bytes + 2);
	assert_int_equal(inner.len, 2);
	body.len = unhex("02", bytes);
	assert_int_equal(
	    br_avro_datum_top(s->root, body, &inner)->type, BR_AVRO_NULL);
	br_avro_schema_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values),
	    cmocka_unit_test(test_faults),
	    cmocka_unit_test(test_depth),
	    cmocka_unit_test(test_values_limit),
	    cmocka_unit_test(test_cycle_limit),
	    cmocka_unit_test(test_raw),
	    cmocka_unit_test(test_top),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	br_arena_free(&arena);
	return failed;
}
