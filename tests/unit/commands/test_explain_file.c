/* explain_file: records out of JSON, and what is wrong with others. */
#include "explain_support.h"

static struct br_explain_file *
open_text(const char *text)
{
	return br_explain_file_text("F", text, strlen(text));
}

/* The topics of all records, each with a space, or the fault. */
static void
expect_topics(const char *text, const char *expected)
{
	struct br_explain_file *f = open_text(text);
	enum br_explain_file_result result;
	struct br_buffer got = {0};
	struct br_record r;
	struct br_error err = {""};

	br_buffer_str(&got, "");
	while ((result = br_explain_file_next(f, &r, &err)) ==
	       BR_EXPLAIN_FILE_RECORD)
		br_buffer_format(&got, "%s ", r.topic);
	if (result == BR_EXPLAIN_FILE_FAULT)
		br_buffer_str(&got, err.text);
	assert_string_equal(got.data, expected);
	br_buffer_free(&got);
	br_explain_file_free(f);
}

#define R(topic) "{\"topic\":\"" topic "\",\"value\":null}"

static void
several(void **state)
{
	(void)state;
	expect_topics(R("a"), "a ");
	expect_topics("\n " R("a") " \r\n\n", "a ");
	expect_topics(R("a") "\n" R("b") "\n" R("c"), "a b c ");
	expect_topics(R("a") "\r\n\r\n \t\n" R("b") "\r\n", "a b ");
	expect_topics("[" R("a") ", " R("b") "]", "a b ");
	expect_topics("{\n  \"topic\": \"a\",\n  \"value\": null\n}\n", "a ");
}

static void
faults(void **state)
{
	(void)state;
	expect_topics("", "F: no record in it");
	expect_topics(" \n\n", "F: no record in it");
	expect_topics("[]", "F: no record in it");
	expect_topics(R("a") "\nx\n",
	    "a F:2: not a record: neither an object nor an array");
	expect_topics("[" R("a") ",1]", "a F: record 2: not a record: "
	                                "neither an object nor an array");
	expect_topics(
	    "[" R("a") ",[]]", "a F: record 2: not a record: not an object");
	expect_topics("{\"value\":null}",
	    "F: record 1: topic is not there, or not a string");
	expect_topics("{\"topic\":1,\"value\":null}",
	    "F: record 1: topic is not there, or not a string");
	expect_topics("{\"topic\":\"a\"}",
	    "F: record 1: value is not there (a string in base64, or null)");
	expect_topics("{\"topic\":\"a\",\"value\":\"!\"}",
	    "F: record 1: value is not base64");
	expect_topics("{\"topic\":\"a\",\"value\":{}}",
	    "F: record 1: value is neither null nor a string");
	expect_topics("{\"topic\":\"a\",\"value\":null,\"offset\":1.5}",
	    "F: record 1: offset is not a whole number from -1 to "
	    "9223372036854775807");
	expect_topics("{\"topic\":\"a\",\"value\":null,"
	              "\"partition\":2147483648}",
	    "F: record 1: partition is not a whole number from -1 to "
	    "2147483647");
	expect_topics("{\"topic\":\"a\",\"value\":null,\"headers\":{}}",
	    "F: record 1: headers is not a list");
	expect_topics("{\"topic\":\"a\",\"value\":null,\"headers\":[[\"a\"]]}",
	    "F: record 1: headers: each is a list [name, base64 or null]");
	expect_topics("{\"topic\":\"a\",\"value\":null,"
	              "\"timestamp\":1,\"timestamp_type\":\"x\"}",
	    "F: record 1: timestamp_type is neither \"create\" nor "
	    "\"append\"");
}

static void
whole_record(void **state)
{
	struct br_explain_file *f =
	    open_text("{\"topic\":\"t\\u00e9\",\"partition\":3,"
	              "\"offset\":9007199254740993,"
	              "\"timestamp\":1767225600123,"
	              "\"timestamp_type\":\"append\",\"key\":\"AP8=\","
	              "\"value\":\"\",\"headers\":[[\"id\",\"NDI=\"],"
	              "[\"n\",null],[\"id\",\"\"]],\"utf8\":{\"key\":1}}");
	struct br_record r;
	struct br_error err;

	(void)state;
	assert_int_equal(
	    br_explain_file_next(f, &r, &err), BR_EXPLAIN_FILE_RECORD);
	assert_string_equal(r.topic, "t\xc3\xa9");
	assert_int_equal(r.partition, 3);
	assert_true(r.offset == 9007199254740993);
	assert_true(r.timestamp_ms == 1767225600123);
	assert_int_equal(r.time_kind, BR_TIME_APPEND);
	assert_int_equal(r.key.len, 2);
	assert_memory_equal(r.key.data, "\0\xff", 2);
	assert_non_null(r.value.data);
	assert_int_equal(r.value.len, 0);
	assert_int_equal(r.header_count, 3);
	assert_string_equal(r.headers[0].name, "id");
	assert_true(br_slice_eq(r.headers[0].value, br_slice_str("42")));
	assert_null(r.headers[1].value.data);
	assert_non_null(r.headers[2].value.data);
	assert_int_equal(r.headers[2].value.len, 0);
	assert_int_equal(
	    br_explain_file_next(f, &r, &err), BR_EXPLAIN_FILE_END);
	br_explain_file_free(f);
}

static void
bare_record(void **state)
{
	struct br_explain_file *f = open_text(R("t"));
	struct br_record r;
	struct br_error err;

	(void)state;
	assert_int_equal(
	    br_explain_file_next(f, &r, &err), BR_EXPLAIN_FILE_RECORD);
	assert_true(r.timestamp_ms == -1);
	assert_int_equal(r.time_kind, BR_TIME_NONE);
	assert_int_equal(r.offset, 0);
	assert_null(r.key.data);
	assert_null(r.value.data);
	assert_int_equal(r.header_count, 0);
	br_explain_file_free(f);
}

/* More headers than the first room for them. */
static void
many_headers(void **state)
{
	struct br_buffer text = {0};
	struct br_explain_file *f;
	struct br_record r;
	struct br_error err;

	(void)state;
	br_buffer_str(&text, "{\"topic\":\"t\",\"value\":null,\"headers\":[");
	for (int i = 0; i < 100; i++)
		br_buffer_format(
		    &text, "%s[\"h%d\",\"NDI=\"]", i > 0 ? "," : "", i);
	br_buffer_str(&text, "]}");
	f = open_text(text.data);
	assert_int_equal(
	    br_explain_file_next(f, &r, &err), BR_EXPLAIN_FILE_RECORD);
	assert_int_equal(r.header_count, 100);
	assert_string_equal(r.headers[0].name, "h0");
	assert_string_equal(r.headers[99].name, "h99");
	br_explain_file_free(f);
	br_buffer_free(&text);
}

static void
no_such_file(void **state)
{
	struct br_error err;

	(void)state;
	assert_null(br_explain_file_open("/nonexistent/r.json", &err));
	assert_string_equal(
	    err.text, "/nonexistent/r.json: No such file or directory");
	assert_null(br_explain_file_open("/", &err));
	assert_string_equal(err.text, "/: Is a directory");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(several),
	    cmocka_unit_test(faults),
	    cmocka_unit_test(whole_record),
	    cmocka_unit_test(bare_record),
	    cmocka_unit_test(many_headers),
	    cmocka_unit_test(no_such_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
