/* The JSON scanner: a table of texts, spans, decoded strings. */
#include "bridge/source/json.h"

#include "bridge/base/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TEXT(s)                                                                \
	{                                                                      \
		(const uint8_t *)(s), sizeof(s) - 1                            \
	}

static const struct br_slice good[] = {
    TEXT("{}"),
    TEXT("[]"),
    TEXT("null"),
    TEXT("true"),
    TEXT("false"),
    TEXT("0"),
    TEXT("-0"),
    TEXT("7"),
    TEXT("-12"),
    TEXT("0.5"),
    TEXT("1.50"),
    TEXT("1e3"),
    TEXT("1E+3"),
    TEXT("1e-300"),
    TEXT("1e400"),
    TEXT("-0.0e-0"),
    TEXT("12345678901234567890123456789012345678901"),
    TEXT("\"\""),
    TEXT("\"a\""),
    TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
    TEXT("\"\\u0000\""),
    TEXT("\"\\u00e9\\uD83D\\uDE00\""),
    TEXT("\"\\ud800\""),
    TEXT("\"\\udc00\\ud800\""),
    TEXT("\"\x7f\""),
    TEXT("\"\xc2\x80\""),
    TEXT("\"\xe2\x82\xac\""),
    TEXT("\"\xed\x9f\xbf\xee\x80\x80\""),
    TEXT("\"\xf0\x9f\x98\x80\""),
    TEXT("\"\xf4\x8f\xbf\xbf\""),
    TEXT("\"\xe2\x80\xa8\xef\xbb\xbf\""),
    TEXT(" \t\r\n{ } \t\r\n"),
    TEXT("[ 1 , 2 ]"),
    TEXT("[[],{},[[]]]"),
    TEXT("{\"\":0}"),
    TEXT("{\"a\":1,\"a\":2}"),
    TEXT("{\"a\" : [ ] }"),
    TEXT("[\"12345678\\n12345678\"]"),
    TEXT("[\"1234567\\\\\"]"),
    TEXT("[1,\n2]"),
    TEXT("{\"a\":{\"b\":{\"c\":[1,{\"d\":null}]}}}"),
};

static const struct br_slice bad[] = {
    TEXT(""),
    TEXT(" "),
    TEXT("\n"),
    TEXT("{"),
    TEXT("}"),
    TEXT("["),
    TEXT("]"),
    TEXT("{]"),
    TEXT("[}"),
    TEXT("{\"a\""),
    TEXT("{\"a\":"),
    TEXT("{\"a\":}"),
    TEXT("{\"a\" 1}"),
    TEXT("{\"a\":1,}"),
    TEXT("{,}"),
    TEXT("{1:2}"),
    TEXT("{a:1}"),
    TEXT("{'a':1}"),
    TEXT("{\"a\":1 \"b\":2}"),
    TEXT("{\"a\":1}}"),
    TEXT("{\"a\":1}{\"b\":2}"),
    TEXT("{} x"),
    TEXT("{\"a\":1]"),
    TEXT("[1,]"),
    TEXT("[,1]"),
    TEXT("[1,,2]"),
    TEXT("[1 2]"),
    TEXT("[1"),
    TEXT("[1}"),
    TEXT("[1]]"),
    TEXT("[\"a\""),
    TEXT("nul"),
    TEXT("nulll"),
    TEXT("Null"),
    TEXT("True"),
    TEXT("tru"),
    TEXT("falsy"),
    TEXT("NaN"),
    TEXT("Infinity"),
    TEXT("-Infinity"),
    TEXT("undefined"),
    TEXT("+1"),
    TEXT("-"),
    TEXT("--1"),
    TEXT("01"),
    TEXT("-01"),
    TEXT("00"),
    TEXT("1."),
    TEXT(".5"),
    TEXT("1.e3"),
    TEXT("1e"),
    TEXT("1e+"),
    TEXT("1E-"),
    TEXT("0x1"),
    TEXT("1_000"),
    TEXT("1 000"),
    TEXT("1a"),
    TEXT("0e"),
    TEXT("\""),
    TEXT("\"a"),
    TEXT("\"\\\""),
    TEXT("\"\\"),
    TEXT("\"\\x41\""),
    TEXT("\"\\a\""),
    TEXT("\"\\0\""),
    TEXT("\"\\\0\""),
    TEXT("\"\\u\""),
    TEXT("\"\\u12\""),
    TEXT("\"\\u123\""),
    TEXT("\"\\u123g\""),
    TEXT("\"\\U0041\""),
    TEXT("\"\n\""),
    TEXT("\"\t\""),
    TEXT("\"\0\""),
    TEXT("\"\x1f\""),
    TEXT("\"1234567\n12345678\""),
    TEXT("'a'"),
    TEXT("\"\x80\""),
    TEXT("\"\xff\""),
    TEXT("\"\xc0\x80\""),
    TEXT("\"\xc1\xbf\""),
    TEXT("\"\xc3\""),
    TEXT("\"\xc3\x28\""),
    TEXT("\"\xe0\x80\x80\""),
    TEXT("\"\xe2\x82\""),
    TEXT("\"\xed\xa0\x80\""),
    TEXT("\"\xf0\x80\x80\x80\""),
    TEXT("\"\xf4\x90\x80\x80\""),
    TEXT("\"\xf5\x80\x80\x80\""),
    TEXT("\"12345678\xff\""),
    TEXT("\xef\xbb\xbf{}"),
    TEXT("\xff\xfe"),
    TEXT("{}\0"),
    TEXT("\0"),
    TEXT("\v1"),
    TEXT("\xc2\xa0{}"),
    TEXT("// c\n1"),
    TEXT("/**/1"),
    TEXT("[1]#"),
    TEXT("{\"a\":1}\""),
    TEXT("[\"\\ud8\"]"),
};

static bool
accepts(struct br_slice text)
{
	struct br_json_fault fault;
	/* A copy without a byte to spare, for the address sanitizer. */
	uint8_t *copy = malloc(text.len != 0 ? text.len : 1);
	bool accepted;

	memcpy(copy, text.data, text.len);
	accepted = br_json_check(
	    (struct br_slice){copy, text.len}, NULL, NULL, &fault);
	assert_true(accepted == (fault.what == NULL));
	assert_true(accepted || fault.at <= text.len);
	free(copy);
	return accepted;
}

static void
test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		if (!accepts(good[i]))
			fail_msg("refused: %s", good[i].data);
	for (size_t i = 0; i < COUNT(bad); i++)
		if (accepts(bad[i]))
			fail_msg("accepted: %s", bad[i].data);
}

static void
test_fault(void **state)
{
	struct br_json_fault fault;

	(void)state;
	assert_false(br_json_check(
	    br_slice_str("{\"a\":1,\"b\":nul}"), NULL, NULL, &fault));
	assert_int_equal(fault.at, 11);
	assert_string_equal(fault.what, "a value is missing");
	assert_false(br_json_check(br_slice_str("[1]x"), NULL, NULL, &fault));
	assert_int_equal(fault.at, 3);
}

/* `levels` arrays, or objects, or both in turn. */
static struct br_slice
nested(size_t levels, int kind, struct br_buffer *b)
{
	br_buffer_clear(b);
	for (size_t i = 0; i < levels; i++)
		br_buffer_str(b,
		    kind == 0 || (kind == 2 && i % 2 == 0) ? "[" : "{\"a\":");
	br_buffer_str(b, "1");
	for (size_t i = levels; i > 0; i--)
		br_buffer_str(b,
		    kind == 0 || (kind == 2 && (i - 1) % 2 == 0) ? "]" : "}");
	return (struct br_slice){(uint8_t *)b->data, b->len};
}

static void
test_depth(void **state)
{
	struct br_buffer b = {NULL, 0, 0};
	struct br_json_iter it;
	struct br_json_member member;

	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		assert_true(accepts(nested(1, kind, &b)));
		assert_true(accepts(nested(BR_JSON_DEPTH, kind, &b)));
		assert_false(accepts(nested(BR_JSON_DEPTH + 1, kind, &b)));
		/* The walk counts the level it stands in. */
		br_json_begin(&it, nested(BR_JSON_DEPTH, kind, &b), NULL);
		assert_true(br_json_next(&it, &member));
		assert_false(br_json_next(&it, &member));
		assert_null(it.fault.what);
		br_json_begin(&it, nested(BR_JSON_DEPTH + 1, kind, &b), NULL);
		assert_false(br_json_next(&it, &member));
		assert_non_null(it.fault.what);
	}
	assert_false(accepts(nested(100000, 0, &b)));
	br_buffer_clear(&b);
	for (int i = 0; i < 10000; i++)
		br_buffer_str(&b, "[");
	assert_false(accepts((struct br_slice){(uint8_t *)b.data, b.len}));
	br_buffer_free(&b);
}

static void
assert_slice(struct br_slice got, const char *expected)
{
	if (!br_slice_eq(got, br_slice_str(expected)))
		fail_msg(
		    "\"%.*s\", not \"%s\"", (int)got.len, got.data, expected);
}

static void
test_members(void **state)
{
	static const char text[] =
	    " { \"a\" : 1.50 , \"b\\n\":[1, {\"x\":2}],\"a\": \"q\\\"\", "
	    "\"C\":{ } , \"d\":null,\"e\":true,\"f\":false } ";
	static const struct {
		const char *name, *value;
		enum br_json_kind kind;
	} expected[] = {
	    {"\"a\"", "1.50", BR_JSON_NUMBER},
	    {"\"b\\n\"", "[1, {\"x\":2}]", BR_JSON_ARRAY},
	    {"\"a\"", "\"q\\\"\"", BR_JSON_STRING},
	    {"\"C\"", "{ }", BR_JSON_OBJECT},
	    {"\"d\"", "null", BR_JSON_NULL},
	    {"\"e\"", "true", BR_JSON_TRUE},
	    {"\"f\"", "false", BR_JSON_FALSE},
	};
	struct br_json_object object;
	struct br_json_fault fault;

	(void)state;
	assert_true(br_json_read(br_slice_str(text), NULL, &object, &fault));
	assert_int_equal(object.count, COUNT(expected));
	for (size_t i = 0; i < object.count; i++) {
		assert_slice(object.member[i].name.text, expected[i].name);
		assert_slice(object.member[i].value.text, expected[i].value);
		assert_int_equal(object.member[i].value.kind, expected[i].kind);
	}
	assert_slice(br_json_get(&object, "a")->text, "\"q\\\"\"");
	assert_non_null(br_json_get(&object, "b\n"));
	assert_null(br_json_get(&object, "c"));
	assert_non_null(br_json_get_any_case(&object, "c"));
	assert_null(br_json_get(&object, "x"));
	assert_false(br_json_read(br_slice_str("[1]"), NULL, &object, &fault));
	assert_false(br_json_read(br_slice_str("1"), NULL, &object, &fault));
	assert_false(
	    br_json_read(br_slice_str("{\"a\":1"), NULL, &object, &fault));
	assert_false(
	    br_json_read(br_slice_str("{\"a\":1}}"), NULL, &object, &fault));
}

static void
test_elements(void **state)
{
	struct br_json_iter it;
	struct br_json_member m;

	(void)state;
	br_json_begin(&it, br_slice_str("[ 1,\"a\" ,[] ]"), NULL);
	assert_int_equal(it.kind, BR_JSON_ARRAY);
	assert_true(br_json_next(&it, &m));
	assert_int_equal(m.name.kind, BR_JSON_NONE);
	assert_slice(m.value.text, "1");
	assert_true(br_json_next(&it, &m));
	assert_slice(m.value.text, "\"a\"");
	assert_true(br_json_next(&it, &m));
	assert_slice(m.value.text, "[]");
	assert_false(br_json_next(&it, &m));
	assert_null(it.fault.what);
	assert_false(br_json_next(&it, &m));
}

/* More members than are kept: counted, and still checked. */
static void
test_many_members(void **state)
{
	struct br_buffer b = {NULL, 0, 0};
	struct br_json_object object;
	struct br_json_fault fault;

	(void)state;
	for (int i = 0; i < 200; i++)
		br_buffer_format(&b, "%s\"m%d\":%d", i == 0 ? "{" : ",", i, i);
	assert_false(br_json_read((struct br_slice){(uint8_t *)b.data, b.len},
	    NULL, &object, &fault));
	br_buffer_str(&b, "}");
	assert_true(br_json_read((struct br_slice){(uint8_t *)b.data, b.len},
	    NULL, &object, &fault));
	assert_int_equal(object.count, 200);
	assert_slice(br_json_get(&object, "m63")->text, "63");
	assert_null(br_json_get(&object, "m64"));
	br_buffer_free(&b);
}

static void
test_unquote(void **state)
{
	static const struct {
		struct br_slice text, decoded;
	} cases[] = {
	    {TEXT("\"plain\""), TEXT("plain")},
	    {TEXT("\"\""), TEXT("")},
	    {TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), TEXT("\"\\/\b\f\n\r\t")},
	    {TEXT("\"a\\u0000b\""), TEXT("a\0b")},
	    {TEXT("\"\\u0041\\u00e9\\u20AC\""), TEXT("A\xc3\xa9\xe2\x82\xac")},
	    {TEXT("\"\\uD83D\\uDE00\""), TEXT("\xf0\x9f\x98\x80")},
	    {TEXT("\"\\udbff\\udfff\""), TEXT("\xf4\x8f\xbf\xbf")},
	    {TEXT("\"\\uffff\\u07ff\\u0800\""),
	        TEXT("\xef\xbf\xbf\xdf\xbf\xe0\xa0\x80")},
	    {TEXT("\"\xc5\x81\\n\xc5\xba\""), TEXT("\xc5\x81\n\xc5\xba")},
	    {TEXT("\"\\\\ud800\""), TEXT("\\ud800")},
	};
	static const char *const lone[] = {"\"\\ud800\"", "\"\\udc00\"",
	    "\"a\\ud800b\"", "\"\\ud800\\n\"", "\"\\ud800\\ud800\"",
	    "\"\\udc00\\ud800\"", "\"\\ud800\\u0041\"", "\"\\ud800u\"",
	    "\"\\ud800\\ue000\""};
	struct br_arena arena = {NULL, 0};
	struct br_json_value value;
	struct br_json_fault fault;
	struct br_slice out;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_true(br_json_check(cases[i].text, NULL, &value, &fault));
		assert_true(br_json_unquote(&arena, &value, &out));
		assert_true(br_slice_eq(out, cases[i].decoded));
		assert_true(br_json_is(&value, cases[i].decoded));
		assert_false(br_json_is(&value, br_slice_str("other")));
	}
	for (size_t i = 0; i < COUNT(lone); i++) {
		assert_true(
		    br_json_check(br_slice_str(lone[i]), NULL, &value, &fault));
		assert_false(br_json_unquote(&arena, &value, &out));
		assert_false(br_json_is(&value, br_slice_str("x")));
	}
	br_arena_free(&arena);
}

static bool
watch_hits(const char *text)
{
	struct br_json_watch watch = {
	    {br_slice_str("__gone"), br_slice_str("Z29uZQ==")}, false};
	struct br_json_fault fault;

	br_json_check(br_slice_str(text), &watch, NULL, &fault);
	return watch.hit;
}

static void
test_watch(void **state)
{
	(void)state;
	assert_true(watch_hits("\"__gone\""));
	assert_true(watch_hits("{\"a\":[1,\"__gone\"]}"));
	assert_true(watch_hits("{\"a\":\"Z29uZQ==\"}"));
	assert_true(watch_hits("[\"\\u005f_gone\"]"));
	assert_false(watch_hits("{\"__gone\":1}"));
	assert_false(watch_hits("[\"__gone.\"]"));
	assert_false(watch_hits("[\"x__gone\"]"));
	assert_false(watch_hits("[\"__gon\"]"));
}

static void
test_compact(void **state)
{
	struct br_arena arena = {NULL, 0};

	(void)state;
	assert_slice(
	    br_json_compact(
	        &arena, br_slice_str(" { \"a b\" : \"x \\\" y\" ,\n1: [ ] } ")),
	    "{\"a b\":\"x \\\" y\",1:[]}");
	br_arena_free(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_fault),
	    cmocka_unit_test(test_depth),
	    cmocka_unit_test(test_members),
	    cmocka_unit_test(test_elements),
	    cmocka_unit_test(test_many_members),
	    cmocka_unit_test(test_unquote),
	    cmocka_unit_test(test_watch),
	    cmocka_unit_test(test_compact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
