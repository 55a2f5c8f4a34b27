/*
 * br_decode over tables: bodies with any bytes, poison, the four kinds of
 * nothing, wrapped JSON, spellings of id and key.
 */
#include "source_support.h"

#include <stdio.h>

#define WRAP(payload) "{\"schema\":" SCHEMA ",\"payload\":" payload "}"

static void
check_bytes(const void *bytes, size_t len, const struct expect *e)
{
	const struct br_header id = header("id", UUID);
	struct br_record record = make("", &id, 1);

	record.value = (struct br_slice){bytes, len};
	check_record(&config, &record, e);
}

static void
delivers(const char *value, const char *body)
{
	const struct expect e = {.body = body, .id = UUID};

	check(value, &e);
}

static void
dies(const char *value, const char *reason)
{
	const struct expect e = {
	    .result = BR_DECODE_DEAD, .reason = reason, .order = "k"};

	check(value, &e);
}

static void
test_any_bytes(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} bodies[] = {{"\x61\0\0\0\0\x62", 6}, {"\0", 1}, {"\xef\xbb\xbf{}", 5},
	    {"\xff\xfe", 2}, {" ", 1}};
	static const enum br_format formats[] = {
	    BR_FORMAT_AUTO, BR_FORMAT_STRING, BR_FORMAT_BYTES};
	static uint8_t zeros[1 << 20];

	(void)state;
	for (size_t f = 0; f < COUNT(formats); f++) {
		struct expect e = {.body = (char *)zeros,
		    .body_len = sizeof(zeros),
		    .key = UUID};

		config.source.format = formats[f];
		check_bytes(zeros, sizeof(zeros), &e);
		for (size_t i = 0; i < COUNT(bodies); i++) {
			e.body = bodies[i].bytes;
			e.body_len = bodies[i].len;
			check_bytes(bodies[i].bytes, bodies[i].len, &e);
		}
	}
	/* An escaped NUL becomes one. */
	config.source.format = BR_FORMAT_JSON;
	check("\"a\\u0000b\"", &(struct expect){.body = "a\0b", .body_len = 3});
}

static void
test_body_flags(void **state)
{
	static const struct {
		const char *value;
		bool json, utf8;
		const char *format;
	} cases[] = {{"{\"a\":1}", true, true, "string"},
	    {"42", true, true, "string"}, {"not json", false, true, "string"},
	    {"{\"a\":1", false, true, "string"},
	    {"\xef\xbb\xbf{}", false, true, "string"},
	    {"\xff", false, false, "bytes"},
	    {"{\"a\":\"\xff\"}", false, false, "bytes"},
	    {"\"{\\\"a\\\":1}\"", true, true, "json"},
	    {WRAP("\"text\""), false, true, "json_schema"},
	    {WRAP("7"), true, true, "json_schema"}};
	const struct br_header id = header("id", UUID);
	struct br_decoder *d = br_decoder_new(&config);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct br_record record = make(cases[i].value, &id, 1);
		struct br_decoded out;

		br_decode(d, &record, &out);
		assert_int_equal(out.result, BR_DECODE_DELIVER);
		assert_int_equal(out.body_is_json, cases[i].json);
		assert_int_equal(out.body_is_utf8, cases[i].utf8);
		assert_string_equal(out.format, cases[i].format);
		assert_null(out.content_type.data);
	}
	br_decoder_free(d);
}

static void
test_poison(void **state)
{
	static const char *const bad[] = {"{\"a\":", "nul", "\xff\xfe",
	    "{\"a\":1}{\"b\":2}", "\xef\xbb\xbf{}", " ", "\"\\ud800\"",
	    "\"{\\\"orderId\\\":47", "[1,]"};
	static char deep[10001];
	const struct br_header id = header("id", UUID);
	struct br_record healthy = make("{}", &id, 1);
	struct br_decoder *d;
	struct br_decoded out;

	(void)state;
	memset(deep, '[', 10000);
	config.source.format = BR_FORMAT_JSON;
	d = br_decoder_new(&config);
	for (size_t i = 0; i <= COUNT(bad); i++) {
		struct br_record record =
		    make(i < COUNT(bad) ? bad[i] : deep, &id, 1);

		br_decode(d, &record, &out);
		assert_decoded(&out, &(struct expect){.result = BR_DECODE_DEAD,
		                         .reason = "json-syntax",
		                         .id = UUID,
		                         .key = UUID,
		                         .order = "k"});
		assert_string_equal(out.stage, "decode");
		br_decode(d, &healthy, &out);
		assert_decoded(
		    &out, &(struct expect){.body = "{}", .key = UUID});
	}
	br_decoder_free(d);
}

/* Null, 0 bytes, the text null, a wrapped null; each with and without id. */
static void
test_nothing(void **state)
{
	static const struct {
		const char *value;
		const char *with, *without;
		enum br_decode_result without_result;
	} kinds[] = {
	    {NULL, "null-payload", "tombstone", BR_DECODE_SKIP},
	    {"", "empty-value", "empty-value", BR_DECODE_DEAD},
	    {"null", "null-payload", "tombstone", BR_DECODE_SKIP},
	    {WRAP("null"), "null-payload", "tombstone", BR_DECODE_SKIP},
	    {"\"\"", "empty-value", "empty-value", BR_DECODE_DEAD},
	    {WRAP("\"\""), "empty-value", "empty-value", BR_DECODE_DEAD},
	};
	const struct br_header id = header("id", UUID);

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct br_record with = make(kinds[i].value, &id, 1);
		struct br_record without = make(kinds[i].value, NULL, 0);
		struct expect e = {
		    .result = BR_DECODE_DEAD, .reason = kinds[i].with};

		config.source.on_null_payload = BR_ON_NULL_DLQ;
		check_record(&config, &with, &e);
		config.source.on_null_payload = BR_ON_NULL_SKIP;
		e.result = BR_DECODE_SKIP;
		e.reason = "null-payload";
		check_record(&config, &with, &e);
		config.source.on_null_payload = BR_ON_NULL_SEND_EMPTY;
		check_record(
		    &config, &with, &(struct expect){.body = "", .key = UUID});
		e.result = kinds[i].without_result;
		e.reason = kinds[i].without;
		check_record(&config, &without, &e);
		without.key = (struct br_slice){NULL, 0};
		e.order = ABSENT;
		check_record(&config, &without, &e);
	}
}

static void
test_null_in_formats(void **state)
{
	(void)state;
	config.source.format = BR_FORMAT_STRING;
	delivers("null", "null");
	dies("", "empty-value");
	config.source.format = BR_FORMAT_BYTES;
	delivers("null", "null");
	config.source.format = BR_FORMAT_JSON;
	dies("null", "null-payload");
	dies(" null\n", "null-payload");
	dies("\"\"", "empty-value");
	delivers("\"null\"", "null");
	config.source.format = BR_FORMAT_JSON_SCHEMA;
	dies("null", "null-payload");
	dies(WRAP("null"), "null-payload");
	delivers(WRAP("\"null\""), "null");
}

#define N "{\"n\":1}"
#define QUOTED "\"{\\\"n\\\":1}\""
#define TRIPLE "\"\\\"{\\\\\\\"n\\\\\\\":1}\\\"\""
#define OWN "{\"schema\":\"v1\",\"payload\":{\"n\":1}}"
#define OWN_WRAPPED "{\"schema\":{\"type\":\"order\"},\"payload\":{\"n\":1}}"

/* What each format makes of each spelling; "!" and a reason for dead. */
static const struct {
	const char *value;
	const char *string, *json, *json_schema, *automatic;
} spellings[] = {
    {N, N, N, "!format-mismatch", N},
    {QUOTED, QUOTED, N, "!format-mismatch", N},
    {WRAP(QUOTED), WRAP(QUOTED), WRAP(QUOTED), N, N},
    {WRAP(N), WRAP(N), WRAP(N), N, N},
    {TRIPLE, TRIPLE, QUOTED, "!format-mismatch", TRIPLE},
    {"\"hello\"", "\"hello\"", "hello", "!format-mismatch", "\"hello\""},
    {OWN, OWN, OWN, "!format-mismatch", OWN},
    /* A business document that looks like a wrapper needs `string`. */
    {OWN_WRAPPED, OWN_WRAPPED, OWN_WRAPPED, N, N},
    {"[1, 2]", "[1, 2]", "[1, 2]", "!format-mismatch", "[1, 2]"},
    {" {\"n\":1}\r\n", " {\"n\":1}\r\n", " {\"n\":1}\r\n", "!format-mismatch",
        " {\"n\":1}\r\n"},
    {WRAP("12.50"), WRAP("12.50"), WRAP("12.50"), "12.50", "12.50"},
    {"12.50", "12.50", "12.50", "!format-mismatch", "12.50"},
    {"<xml/>", "<xml/>", "!json-syntax", "!json-syntax", "<xml/>"},
    {"{\"schema\":null,\"payload\":\"[]\"}",
        "{\"schema\":null,\"payload\":\"[]\"}",
        "{\"schema\":null,\"payload\":\"[]\"}", "[]", "[]"},
    {"{\"payload\":{\"n\":1}}", "{\"payload\":{\"n\":1}}",
        "{\"payload\":{\"n\":1}}", "!format-mismatch",
        "{\"payload\":{\"n\":1}}"},
};

static void
test_spellings(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(spellings); i++) {
		const char *const expected[] = {spellings[i].automatic,
		    spellings[i].string, spellings[i].json,
		    spellings[i].json_schema};

		for (size_t f = 0; f < COUNT(expected); f++) {
			config.source.format = (enum br_format)f;
			if (expected[f][0] == '!')
				dies(spellings[i].value, expected[f] + 1);
			else
				delivers(spellings[i].value, expected[f]);
		}
	}
}

/* A quoted scalar: auto asks the key and the headers, and says so. */
static void
test_quoted_scalar(void **state)
{
	const struct br_header bare[] = {header("id", UUID)};
	const struct br_header quoted[] = {header("id", "\"" UUID "\"")};
	const struct br_header other[] = {
	    header("id", UUID), header("x", "\"y\"")};
	struct br_record record = make("\"hello\"", bare, 1);
	struct br_decoder *d = br_decoder_new(&config);
	struct br_decoded out;

	(void)state;
	br_decode(d, &record, &out);
	assert_decoded(&out, &(struct expect){.body = "\"hello\""});
	assert_non_null(out.hint);
	record.key = br_slice_str("\"k\"");
	br_decode(d, &record, &out);
	assert_decoded(&out, &(struct expect){.body = "hello"});
	assert_null(out.hint);
	br_decoder_free(d);
	check_headers(
	    "\"hello\"", quoted, 1, &(struct expect){.body = "hello"});
	check_headers(
	    "\"hello\"", other, 2, &(struct expect){.body = "\"hello\""});
}

#define PLACED(rest) "{\"eventType\":\"T\"," rest "}"

static void
test_placement(void **state)
{
	static const enum br_format formats[] = {
	    BR_FORMAT_AUTO, BR_FORMAT_JSON};
	const struct br_header both[] = {
	    header("id", UUID), header("eventType", "H")};

	(void)state;
	for (size_t f = 0; f < COUNT(formats); f++) {
		config.source.format = formats[f];
		check(PLACED("\"payload\":\"{\\\"n\\\": 1}\",\"targetUrl\":"
		             "\"https://a.test/\",\"max_retries\":\"BQ==\","
		             "\"idempotency_key\":\"key-1\""),
		    &(struct expect){.body = "{\"n\": 1}",
		        .type = "T",
		        .url = "https://a.test/",
		        .attempts = 5,
		        .id = UUID,
		        .key = "key-1"});
		delivers(PLACED("\"payload\": { \"n\" : 12.50 } "),
		    "{ \"n\" : 12.50 }");
		delivers(PLACED("\"payload\":12.50"), "12.50");
		dies(PLACED("\"payload\":null"), "null-payload");
		dies(PLACED("\"payload\":\"\""), "empty-value");
		dies(PLACED("\"payload\":\"\\ud800\""), "json-syntax");
		/* Null and empty members say nothing. */
		check(PLACED("\"payload\":1,\"targetUrl\":null,"
		             "\"idempotency_key\":\"\",\"max_retries\":null"),
		    &(struct expect){.body = "1", .url = ABSENT, .key = UUID});
		check(PLACED("\"payload\":1,\"targetUrl\":\"null\""),
		    &(struct expect){.body = "1", .url = "null"});
		/* A member that is not listed: a document of its own. */
		check(PLACED("\"payload\":1,\"other\":2"),
		    &(struct expect){
		        .body = PLACED("\"payload\":1,\"other\":2"),
		        .type = ABSENT});
		check(PLACED("\"payload\":1,\"payload\":2"),
		    &(struct expect){
		        .body = PLACED("\"payload\":1,\"payload\":2")});
		check_headers(PLACED("\"payload\":1"), both, 2,
		    &(struct expect){.body = "1", .type = "H"});
	}
	config.source.format = BR_FORMAT_JSON_SCHEMA;
	check("{\"schema\":{\"type\":\"struct\"},\"payload\":" PLACED(
	          "\"payload\":\"x\"") "}",
	    &(struct expect){
	        .body = "x", .type = "T", .format = "json_schema"});
	config.source.format = BR_FORMAT_STRING;
	delivers(PLACED("\"payload\":1"), PLACED("\"payload\":1"));
}

#define GONE "__debezium_unavailable_value"
#define GONE64 "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="

static void
test_unavailable(void **state)
{
	static const char *const bad[] = {GONE, GONE64, "\"" GONE "\"",
	    "\"" GONE64 "\"", "{\"a\":\"" GONE "\"}",
	    "[[{\"a\":[1,\"" GONE "\"]}]]", "\"{\\\"a\\\":\\\"" GONE "\\\"}\"",
	    WRAP("\"" GONE "\""), WRAP("{\"a\":\"" GONE "\"}"),
	    PLACED("\"payload\":\"" GONE "\""),
	    "{\"a\":\"\\u005f_debezium_unavailable_value\"}"};
	static const char *const fine[] = {"see " GONE,
	    "{\"a\":\"see " GONE "\"}", "{\"" GONE "\":1}", "[\"" GONE ".\"]",
	    GONE "\n", "{\"a\":\"" GONE "\""};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		dies(bad[i], "payload-unavailable");
	for (size_t i = 0; i < COUNT(fine); i++)
		delivers(fine[i], fine[i]);
	/* Outside the payload it is not the payload that is missing. */
	check(PLACED("\"payload\":{\"n\":1},\"type\":\"" GONE "\""),
	    &(struct expect){.body = "{\"n\":1}"});
	config.source.format = BR_FORMAT_BYTES;
	dies("[\"" GONE "\"]", "payload-unavailable");
	config.source.unavailable_value = "[gone]";
	delivers(GONE, GONE);
	dies("[gone]", "payload-unavailable");
	config.source.unavailable_value = "";
	delivers("[gone]", "[gone]");
}

static void
test_too_large(void **state)
{
	(void)state;
	config.limits.body_bytes = 4;
	delivers("1234", "1234");
	dies("12345", "payload-too-large");
	config.source.format = BR_FORMAT_JSON;
	delivers("\"1234\"", "1234");
	dies("\"12345\"", "payload-too-large");
}

static void
test_java_text(void **state)
{
	static const enum br_format formats[] = {BR_FORMAT_AUTO,
	    BR_FORMAT_STRING, BR_FORMAT_BYTES, BR_FORMAT_JSON,
	    BR_FORMAT_JSON_SCHEMA};
	const struct br_header id = header("id", UUID);
	struct br_record record = make("[B@1f3a", &id, 1);
	struct br_decoder *d = br_decoder_new(&config);
	struct br_decoded out;

	(void)state;
	br_decode(d, &record, &out);
	assert_non_null(strstr(out.detail, "ByteArrayConverter"));
	record.value = br_slice_str("Struct{a=1}");
	br_decode(d, &record, &out);
	assert_non_null(strstr(out.detail, "JsonConverter"));
	br_decoder_free(d);
	for (size_t f = 0; f < COUNT(formats); f++) {
		config.source.format = formats[f];
		dies("Struct{payload={}}", "java-text");
		dies("[B@1f3a", "java-text");
		dies("java.nio.HeapByteBuffer[pos=0 lim=33 cap=33]",
		    "java-text");
		dies("Struct{status=BEGIN,id=1}", "java-text");
	}
	config.source.format = BR_FORMAT_AUTO;
	delivers("Structure", "Structure");
	delivers("[B]", "[B]");
}

static void
test_control_records(void **state)
{
	static const struct {
		const char *topic, *key, *value, *reason;
	} cases[] = {
	    {"__debezium-heartbeat.x", "k", "{}", "heartbeat"},
	    {"hb", "{\"serverName\":\"x\"}", "{\"ts_ms\":1,\"ts_us\":2}",
	        "heartbeat"},
	    {"hb", "Struct{serverName=x}", "Struct{ts_ms=1}", "heartbeat"},
	    {"hb", "Struct{serverName=x}", "{\"ts_ms\":1}", "heartbeat"},
	    {"t", "k", "{\"status\":\"BEGIN\",\"id\":\"1:2\",\"ts_ms\":1}",
	        "transaction-metadata"},
	    {"t", "Struct{id=1}", "Struct{status=BEGIN,id=1}",
	        "transaction-metadata"},
	    {"t", "Struct{id=1}", "Struct{status=END,id=1,event_count=2}",
	        "transaction-metadata"},
	    {"t", "k", "{\"databaseName\":\"d\",\"ddl\":\"CREATE\"}",
	        "schema-change"},
	    {"t", "k",
	        "{\"id\":\"1\",\"type\":\"x\",\"aggregate_type\":\"y\","
	        "\"additional_data\":{}}",
	        "notification"},
	    {"t", "k",
	        "{\"schema\":{\"type\":\"struct\",\"fields\":[],\"name\":"
	        "\"io.debezium.connector.common.Heartbeat\"},\"payload\":"
	        "{\"ts_ms\":1}}",
	        "heartbeat"},
	    {"t", "k",
	        "{\"schema\":{\"type\":\"struct\",\"name\":"
	        "\"io.debezium.connector.common.TransactionMetadataValue\"},"
	        "\"payload\":{\"status\":\"BEGIN\"}}",
	        "transaction-metadata"},
	    {"t", "k",
	        "{\"schema\":{\"type\":\"struct\",\"name\":"
	        "\"io.debezium.connector.mysql.SchemaChangeValue\"},"
	        "\"payload\":{\"ddl\":\"x\"}}",
	        "schema-change"},
	    {"t", "k",
	        "{\"schema\":{\"type\":\"struct\",\"name\":"
	        "\"io.debezium.connector.common.Notification\"},"
	        "\"payload\":{\"id\":\"x\"}}",
	        "notification"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct br_record record = {.topic = cases[i].topic,
		    .key = br_slice_str(cases[i].key),
		    .value = br_slice_str(cases[i].value)};

		check_record(&config, &record,
		    &(struct expect){
		        .result = BR_DECODE_SKIP, .reason = cases[i].reason});
	}
	/* With an id header the same shapes are payloads. */
	delivers("{\"ts_ms\":1}", "{\"ts_ms\":1}");
	delivers("{\"status\":\"BEGIN\",\"id\":\"1\",\"ts_ms\":1}",
	    "{\"status\":\"BEGIN\",\"id\":\"1\",\"ts_ms\":1}");
	delivers("{\"op\":\"c\",\"source\":{},\"after\":{}}",
	    "{\"op\":\"c\",\"source\":{},\"after\":{}}");
}

static void
test_topics(void **state)
{
	static char *skip[] = {"^__debezium-heartbeat", "noise.*"};
	static struct br_topic_format formats[] = {
	    {"outbox.event.J*", BR_FORMAT_JSON},
	    {"outbox.event.*", BR_FORMAT_STRING}};
	const struct br_header id = header("id", UUID);
	struct br_record record = make("\"x\"", &id, 1);
	struct br_decoder *d;
	struct br_decoded out;
	char topic[64];

	(void)state;
	config.source.skip_topics = (struct br_strings){skip, 2};
	config.source.formats = formats;
	config.source.format_count = 2;
	d = br_decoder_new(&config);
	/* Three times as many topics as a decoder remembers. */
	for (int i = 0; i < 768; i++) {
		snprintf(topic, sizeof(topic), "noise.%d", i);
		record.topic = topic;
		br_decode(d, &record, &out);
		assert_decoded(&out, &(struct expect){.result = BR_DECODE_SKIP,
		                         .reason = "topic-skipped"});
		record.topic = "outbox.event.Json";
		br_decode(d, &record, &out);
		assert_decoded(&out, &(struct expect){.body = "x"});
		record.topic = "outbox.event.Text";
		br_decode(d, &record, &out);
		assert_decoded(&out, &(struct expect){.body = "\"x\""});
	}
	br_decoder_free(d);
}

/* Records of all sizes through one decoder: nothing is left over. */
static void
test_reuse(void **state)
{
	const struct br_header id = header("id", UUID);
	struct br_decoder *d;
	struct br_decoded out;
	size_t size = 1;

	(void)state;
	config.source.format = BR_FORMAT_JSON;
	d = br_decoder_new(&config);
	for (int i = 0; i < 46; i++) {
		struct br_record record = make("", &id, 1);
		char *value = malloc(size + 5);

		/* "\n" and then letters: decoded into the arena. */
		memcpy(value, "\"\\n", 3);
		memset(value + 3, 'x', size);
		value[size + 3] = '"';
		record.value = (struct br_slice){(uint8_t *)value, size + 4};
		br_decode(d, &record, &out);
		assert_int_equal(out.result, BR_DECODE_DELIVER);
		assert_int_equal(out.body.len, size + 1);
		assert_int_equal(out.body.data[0], '\n');
		assert_int_equal(out.body.data[size], 'x');
		free(value);
		size = i < 23 ? size * 2 : size / 2 + 1;
	}
	br_decoder_free(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_any_bytes, setup),
	    cmocka_unit_test_setup(test_body_flags, setup),
	    cmocka_unit_test_setup(test_poison, setup),
	    cmocka_unit_test_setup(test_nothing, setup),
	    cmocka_unit_test_setup(test_null_in_formats, setup),
	    cmocka_unit_test_setup(test_spellings, setup),
	    cmocka_unit_test_setup(test_quoted_scalar, setup),
	    cmocka_unit_test_setup(test_placement, setup),
	    cmocka_unit_test_setup(test_unavailable, setup),
	    cmocka_unit_test_setup(test_too_large, setup),
	    cmocka_unit_test_setup(test_java_text, setup),
	    cmocka_unit_test_setup(test_control_records, setup),
	    cmocka_unit_test_setup(test_topics, setup),
	    cmocka_unit_test_setup(test_reuse, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
