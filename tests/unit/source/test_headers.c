/* What header bytes, keys and trace context say, in every spelling. */
#include "source_support.h"

#include "bridge/source/decimal.h"
#include "bridge/source/draft.h"
#include "bridge/source/field.h"
#include "bridge/source/text.h"
#include "bridge/source/trace.h"

#define UUID "00000000-0000-4000-8000-000000000001"
#define BYTES(text)                                                            \
	{                                                                      \
		(const uint8_t *)(text), sizeof(text) - 1                      \
	}
#define NONE                                                                   \
	{                                                                      \
		NULL, 0                                                        \
	}

static struct br_arena arena;

static void
test_header_text(void **state)
{
	static const struct {
		struct br_slice bytes;
		enum br_field_state state;
		struct br_slice text;
	} cases[] = {
	    {NONE, BR_FIELD_ABSENT, NONE},
	    {BYTES(""), BR_FIELD_ABSENT, NONE},
	    {BYTES("null"), BR_FIELD_ABSENT, NONE},
	    {BYTES("\"\""), BR_FIELD_ABSENT, NONE},
	    {BYTES("{\"schema\":{\"type\":\"string\"},\"payload\":null}"),
	        BR_FIELD_ABSENT, NONE},
	    {BYTES("{\"schema\":{\"type\":\"string\"},\"payload\":\"\"}"),
	        BR_FIELD_ABSENT, NONE},
	    {BYTES("key-1"), BR_FIELD_TEXT, BYTES("key-1")},
	    {BYTES(" key "), BR_FIELD_TEXT, BYTES(" key ")},
	    {BYTES("null "), BR_FIELD_TEXT, BYTES("null ")},
	    {BYTES("\"null\""), BR_FIELD_TEXT, BYTES("null")},
	    {BYTES("{\"schema\":null,\"payload\":\"null\"}"), BR_FIELD_TEXT,
	        BYTES("null")},
	    {BYTES("\"a\\\"b\\\\c,d\""), BR_FIELD_TEXT, BYTES("a\"b\\c,d")},
	    {BYTES("\"a"), BR_FIELD_TEXT, BYTES("\"a")},
	    {BYTES("\"a\" \"b\""), BR_FIELD_TEXT, BYTES("\"a\" \"b\"")},
	    {BYTES("\"\\\"twice\\\"\""), BR_FIELD_TEXT, BYTES("\"twice\"")},
	    {BYTES("{\"a\":1}"), BR_FIELD_TEXT, BYTES("{\"a\":1}")},
	    {BYTES("{not json"), BR_FIELD_TEXT, BYTES("{not json")},
	    {BYTES("{\"schema\":1,\"payload\":2,\"x\":3}"), BR_FIELD_TEXT,
	        BYTES("{\"schema\":1,\"payload\":2,\"x\":3}")},
	    {BYTES("{\"schema\":{\"type\":\"int32\"},\"payload\":5}"),
	        BR_FIELD_TEXT, BYTES("5")},
	    {BYTES("{\"payload\":\"x\",\"schema\":{}}"), BR_FIELD_TEXT,
	        BYTES("x")},
	    {BYTES("{\"scale\":0,\"value\":\"A+k=\"}"), BR_FIELD_TEXT,
	        BYTES("1001")},
	    {BYTES("{\"schema\":{\"type\":\"struct\"},\"payload\":"
	           "{\"scale\":0,\"value\":\"A+k=\"}}"),
	        BR_FIELD_TEXT, BYTES("1001")},
	    {BYTES("{\"scale\":2,\"value\":\"MDk=\"}"), BR_FIELD_TEXT,
	        BYTES("123.45")},
	    {BYTES("{\"scale\":0,\"value\":\"!\"}"), BR_FIELD_TEXT,
	        BYTES("{\"scale\":0,\"value\":\"!\"}")},
	    {BYTES("\xc5\x82"), BR_FIELD_TEXT, BYTES("\xc5\x82")},
	    {BYTES("a\xff"), BR_FIELD_MALFORMED, BYTES("a\xff")},
	    {BYTES("\"a\xff\""), BR_FIELD_MALFORMED, BYTES("\"a\xff\"")},
	    {BYTES("\"\\ud800\""), BR_FIELD_MALFORMED, BYTES("\"\\ud800\"")},
	    {BYTES("[B@1f3a"), BR_FIELD_JAVA, BYTES("[B@1f3a")},
	    {BYTES("Struct{a=1}"), BR_FIELD_JAVA, BYTES("Struct{a=1}")},
	    {BYTES("\"[B@1f3a\""), BR_FIELD_JAVA, BYTES("[B@1f3a")},
	    {BYTES("java.nio.HeapByteBuffer[pos=0 lim=1 cap=1]"), BR_FIELD_JAVA,
	        BYTES("java.nio.HeapByteBuffer[pos=0 lim=1 cap=1]")},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct br_field f = br_field_header(&arena, cases[i].bytes);

		if (f.state != cases[i].state)
			fail_msg("%zu: state %d", i, (int)f.state);
		if (f.state != BR_FIELD_ABSENT &&
		    !br_slice_eq(f.text, cases[i].text))
			fail_msg("%zu: %.*s", i, (int)f.text.len, f.text.data);
	}
}

static void
test_ids(void **state)
{
	static const struct {
		struct br_slice bytes, text;
	} cases[] = {
	    {BYTES(UUID), BYTES(UUID)},
	    {BYTES("\"" UUID "\""), BYTES(UUID)},
	    {BYTES(
	         "{\"schema\":{\"type\":\"string\"},\"payload\":\"" UUID "\"}"),
	        BYTES(UUID)},
	    {BYTES("\0\0\0\0\0\0\x40\0\x80\0\0\0\0\0\0\x01"), BYTES(UUID)},
	    {BYTES("\x9f\x1c\x2a\x52\x7d\x3e\x4b\x8a\x9c\x60\x1f\x2e\x3d\x4c"
	           "\x5b\x6a"),
	        BYTES("9f1c2a52-7d3e-4b8a-9c60-1f2e3d4c5b6a")},
	    {BYTES("sixteen letters!"), BYTES("sixteen letters!")},
	    {BYTES("1E+3"), BYTES("1000")},
	    {BYTES("-1.25E+2"), BYTES("-125")},
	    {BYTES("1.234E+2"), BYTES("1.234E+2")},
	    {BYTES("1E5"), BYTES("1E5")},
	    {BYTES("1E10"), BYTES("1E10")},
	    {BYTES("1E-3"), BYTES("1E-3")},
	    {BYTES("1e+3"), BYTES("1e+3")},
	    {BYTES("12E+3"), BYTES("12E+3")},
	    {BYTES("1E+99999"), BYTES("1E+99999")},
	    {BYTES("E+3"), BYTES("E+3")},
	    {BYTES("{\"scale\":-2,\"value\":\"Cg==\"}"), BYTES("1000")},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct br_field f = br_field_id(&arena, cases[i].bytes);

		assert_int_equal(f.state, BR_FIELD_TEXT);
		if (!br_slice_eq(f.text, cases[i].text))
			fail_msg("%zu: %.*s", i, (int)f.text.len, f.text.data);
	}
}

static void
test_decimals(void **state)
{
	static const struct {
		const char *base64;
		int64_t scale;
		const char *text;
	} cases[] = {{"AA==", 0, "0"}, {"AQ==", 0, "1"}, {"Kg==", 0, "42"},
	    {"fw==", 0, "127"}, {"AIA=", 0, "128"}, {"AP8=", 0, "255"},
	    {"AQA=", 0, "256"}, {"A+k=", 0, "1001"},
	    {"B1vNFQ==", 0, "123456789"},
	    {"DeC2s6dkAAA=", 0, "1000000000000000000"},
	    {"AIAAAAAAAAAA", 0, "9223372036854775808"},
	    {"SztMqFqGxHoJiiI//////w==", 0,
	        "99999999999999999999999999999999999999"},
	    {"/w==", 0, "-1"}, {"gA==", 0, "-128"}, {"/38=", 0, "-129"},
	    {"MDk=", 2, "123.45"}, {"z8c=", 0, "-12345"}, {"BQ==", 3, "0.005"},
	    {"+w==", 2, "-0.05"}, {"BQ==", -3, "5000"}, {"AA==", 2, "0.00"},
	    {"AA==", -3, "0"}};
	static const char *const bad[] = {
	    "A", "AA", "AAA", "A===", "AA=A", "A A=", "AA-=", "=AAA", "AAAA="};
	struct br_slice bytes, text;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_true(br_base64_padded(
		    &arena, br_slice_str(cases[i].base64), &bytes));
		assert_true(
		    br_decimal_text(&arena, bytes, cases[i].scale, &text));
		assert_text(cases[i].base64, text, cases[i].text);
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(
		    br_base64_padded(&arena, br_slice_str(bad[i]), &bytes));
	assert_false(br_decimal_text(&arena, br_slice_str(""), 0, &text));
	assert_false(br_decimal_text(&arena, br_slice_str("a"), 999, &text));
}

static void
test_numbers(void **state)
{
	static const struct {
		const char *text;
		bool good;
		int64_t number;
	} cases[] = {{"5", true, 5}, {"5.0", true, 5}, {"5.000", true, 5},
	    {"+5", true, 5}, {"-1", true, -1}, {"0", true, 0}, {"0.0", true, 0},
	    {"1E+1", true, 10}, {"50e-1", true, 5}, {"0.5e1", true, 5},
	    {"007", true, 7}, {"BQ==", true, 5}, {"Cg==", true, 10},
	    {"AA==", true, 0}, {"AIA=", true, 128}, {"BOI=", true, 1250},
	    {"99999999999999999999", true, INT64_MAX},
	    {"-99999999999999999999", true, INT64_MIN},
	    {"1e999999999999", true, INT64_MAX}, {"0e999999999", true, 0},
	    {"5.5", false, 0}, {"5e-1", false, 0}, {"five", false, 0},
	    {"", false, 0}, {".5", false, 0}, {"5.", false, 0},
	    {"0x5", false, 0}, {" 5", false, 0}, {"5 ", false, 0},
	    {"5e", false, 0}, {"-", false, 0}, {"AAAB", false, 0},
	    {"true", false, 0}, {"====", false, 0}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct br_field f = {.state = BR_FIELD_TEXT,
		    .text = br_slice_str(cases[i].text)};
		int64_t number = 0;

		if (br_field_number(&arena, &f, &number) != cases[i].good)
			fail_msg("%s", cases[i].text);
		if (cases[i].good)
			assert_int_equal(number, cases[i].number);
	}
}

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define SPAN "b7ad6b7169203331"
#define PARENT "00-" TRACE "-" SPAN "-01"

static void
test_parent(void **state)
{
	static const char *const good[] = {
	    PARENT, "00-" TRACE "-" SPAN "-00", "cc-" TRACE "-" SPAN "-01"};
	static const char *const bad[] = {"", "00", PARENT "x", PARENT "-x",
	    "cc-" TRACE "-" SPAN "-01x", "ff-" TRACE "-" SPAN "-01",
	    "00-00000000000000000000000000000000-" SPAN "-01",
	    "00-" TRACE "-0000000000000000-01",
	    "00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01",
	    "00_" TRACE "-" SPAN "-01", "00-" TRACE "_" SPAN "-01",
	    "00-" TRACE "-" SPAN "_01", "00-" TRACE "-" SPAN "-0g",
	    "0g-" TRACE "-" SPAN "-01", " " PARENT};

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_text(
		    "parent", br_trace_parent(br_slice_str(good[i])), good[i]);
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_null(br_trace_parent(br_slice_str(bad[i])).data);
	assert_text("later version",
	    br_trace_parent(br_slice_str("cc-" TRACE "-" SPAN "-01-what")),
	    "cc-" TRACE "-" SPAN "-01");
}

static void
test_state(void **state)
{
	static const char *const good[] = {"a=1", "rojo=00f067,congo=t61r",
	    "a=1,,b=2", "a=1 , b=2", "t@v=x y", "a=", "a=1,"};
	static const char *const bad[] = {"", "a", "=1", "A=1", "a=1,b",
	    "a=b=c", "a=\n", "a=\xc5\x82", "a b=1"};

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(br_trace_state_valid(br_slice_str(good[i])));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(br_trace_state_valid(br_slice_str(bad[i])));
	assert_false(br_trace_state_valid((struct br_slice){NULL, 0}));
}

static void
test_properties(void **state)
{
	static const char text[] = "#Thu Jan 01 00:00:00 UTC 2026\r\n"
	                           "! traceparent=comment\n"
	                           "\n"
	                           "  tracestate : a\\=1,\\\n    b\\u003d2\n"
	                           "uber-trace-id=1\\:2\n"
	                           "traceparent=" PARENT;

	(void)state;
	assert_text("parent",
	    br_trace_property(&arena, br_slice_str(text), "traceparent"),
	    PARENT);
	assert_text("state",
	    br_trace_property(&arena, br_slice_str(text), "tracestate"),
	    "a=1,b=2");
	assert_text("other",
	    br_trace_property(&arena, br_slice_str(text), "uber-trace-id"),
	    "1:2");
	assert_text("none", br_trace_property(&arena, br_slice_str(text), "b3"),
	    ABSENT);
	/* Nothing after an escape, a key or a separator. */
	br_trace_property(&arena, br_slice_str("traceparent=\\"), "a");
	br_trace_property(&arena, br_slice_str("a\\u00"), "a");
	assert_text(
	    "empty", br_trace_property(&arena, br_slice_str("a"), "a"), "");
}

static void
test_order_keys(void **state)
{
	static const struct {
		struct br_slice key, order;
	} cases[] = {
	    {NONE, NONE},
	    {BYTES(""), NONE},
	    {BYTES("null"), NONE},
	    {BYTES("\"\""), NONE},
	    {BYTES("{\"schema\":{\"type\":\"string\"},\"payload\":null}"),
	        NONE},
	    {BYTES("cust-77"), BYTES("cust-77")},
	    {BYTES("\"cust-77\""), BYTES("cust-77")},
	    {BYTES("\"null\""), BYTES("null")},
	    {BYTES("{\"schema\":{\"type\":\"string\"},\"payload\":\"c\"}"),
	        BYTES("c")},
	    {BYTES("{\"schema\":{\"type\":\"struct\"},\"payload\":"
	           "{\"id\": 7}}"),
	        BYTES("7")},
	    {BYTES("{\"ID\":{\"scale\":0,\"value\":\"A+k=\"}}"), BYTES("1001")},
	    {BYTES("{\"id\":\"a\\u0041\"}"), BYTES("aA")},
	    {BYTES("{\"id\":null}"), BYTES("{\"id\":null}")},
	    {BYTES("{\"id\": {\"x\": 1}}"), BYTES("{\"id\":{\"x\":1}}")},
	    {BYTES("{ \"b\" : 2, \"a\" : \"x y\" }"),
	        BYTES("{\"b\":2,\"a\":\"x y\"}")},
	    {BYTES("{}"), BYTES("{}")},
	    {BYTES("{broken"), BYTES("{broken")},
	    {BYTES("\"broken"), BYTES("\"broken")},
	    {BYTES("1001"), BYTES("1001")},
	    {BYTES("\x00\x01"), BYTES("\x00\x01")},
	    {BYTES("\xff\xfe"), BYTES("\xff\xfe")},
	    {BYTES("Struct{id=1}"), BYTES("Struct{id=1}")},
	    {BYTES("[B@1f3a"), BYTES("[B@")},
	    {BYTES("[B@77aa01"), BYTES("[B@")},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct br_slice order = br_order_key(&arena, cases[i].key);

		if (!br_slice_eq(order, cases[i].order))
			fail_msg("%zu: %.*s", i, (int)order.len, order.data);
	}
}

/* The names of a configuration, and the last header of each. */
static void
test_names(void **state)
{
	struct br_config own = default_config();
	const struct br_header headers[] = {header("id", "first"),
	    header("Content-Type", "text/plain"), header("x", "y"),
	    header("id", "last"), header("type", "T"), header("ID", "other")};
	struct br_record record = {
	    .headers = headers, .header_count = COUNT(headers)};
	struct br_names *n = br_names_new(&own.source);
	const struct br_slice *at[64];
	const int *types;
	size_t count;
	bool listed;

	(void)state;
	assert_true(br_names_slots(n) <= COUNT(at));
	br_names_collect(n, &record, at);
	assert_ptr_equal(at[BR_SLOT_ID], &headers[3].value);
	assert_ptr_equal(at[BR_SLOT_CONTENT_TYPE], &headers[1].value);
	assert_null(at[BR_SLOT_URL]);
	types = br_names_types(n, &count);
	assert_int_equal(count, 3);
	assert_null(at[types[0]]);
	assert_ptr_equal(at[types[1]], &headers[4].value);
	assert_int_equal(br_names_find(n, br_slice_str("target_url"), &listed),
	    BR_SLOT_URL + 1);
	assert_true(listed);
	assert_int_equal(
	    br_names_find(n, br_slice_str("id"), &listed), BR_SLOT_ID);
	assert_false(listed);
	assert_int_equal(
	    br_names_find(n, br_slice_str(""), &listed), BR_SLOT_NONE);
	br_names_free(n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_header_text),
	    cmocka_unit_test(test_ids),
	    cmocka_unit_test(test_decimals),
	    cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_parent),
	    cmocka_unit_test(test_state),
	    cmocka_unit_test(test_properties),
	    cmocka_unit_test(test_order_keys),
	    cmocka_unit_test(test_names),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	br_arena_free(&arena);
	return failed;
}
