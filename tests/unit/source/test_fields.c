/*
 * The fields of a routed event: id, key, type, URL, attempts, trace context,
 * in every spelling and with every fault.
 */
#include "source_support.h"

static void
test_id_spellings(void **state)
{
	static const struct br_header ids[] = {
	    {"id", {(const uint8_t *)UUID, 36}},
	    {"id", {(const uint8_t *)"\"" UUID "\"", 38}},
	    {"id",
	        {(const uint8_t *)"{\"schema\":" SCHEMA ",\"payload\":\"" UUID
	                          "\"}",
	            sizeof("{\"schema\":" SCHEMA ",\"payload\":\"" UUID "\"}") -
	                1}},
	    {"id", {(const uint8_t *)"\0\0\0\0\0\0\x40\0\x80\0\0\0\0\0\0\x01",
	               16}},
	};
	static char big[102400];
	static const struct {
		struct br_slice key;
		const char *order;
	} keys[] = {{{NULL, 0}, ABSENT}, {{(const uint8_t *)"", 0}, ABSENT},
	    {{(const uint8_t *)"\0\1", 2}, NULL},
	    {{(const uint8_t *)"{\"id\":1}", 8}, "1"},
	    {{(const uint8_t *)"\"order-1\"", 9}, "order-1"},
	    {{(const uint8_t *)"\0\0\0\0\x29\x0e"
	                       "cust-77",
	         13},
	        NULL},
	    {{(uint8_t *)big, sizeof(big)}, NULL}};

	(void)state;
	memset(big, 'k', sizeof(big));
	for (size_t i = 0; i < COUNT(ids); i++)
		check_headers("{}", &ids[i], 1,
		    &(struct expect){.body = "{}", .id = UUID, .key = UUID});
	for (size_t i = 0; i < COUNT(keys); i++) {
		struct br_record record = make("{}", ids, 1);
		struct br_decoder *d = br_decoder_new(&config);
		struct br_decoded out;

		record.key = keys[i].key;
		br_decode(d, &record, &out);
		assert_decoded(&out,
		    &(struct expect){.body = "{}", .order = keys[i].order});
		if (keys[i].order == NULL)
			assert_true(br_slice_eq(out.order_key, record.key));
		br_decoder_free(d);
	}
}

static void
test_bad_ids(void **state)
{
	static char longest[256], longer[257];
	static const struct {
		const char *value, *reason;
	} bad[] = {{longer, "id-invalid"}, {"a\nb", "id-invalid"},
	    {"a\x7f", "id-invalid"}, {"\"a\\u0000b\"", "id-invalid"},
	    {"[B@1f3a", "id-invalid"}, {"Struct{a=1}", "id-invalid"},
	    {"a\xff", "id-invalid"}, {"\"\\ud800\"", "id-invalid"},
	    {"", "missing-id"}, {NULL, "missing-id"}, {"null", "missing-id"},
	    {"\"\"", "missing-id"}};

	(void)state;
	memset(longest, 'x', 255);
	memset(longer, 'x', 256);
	for (size_t i = 0; i < COUNT(bad); i++) {
		const struct br_header h = header("id", bad[i].value);

		check_headers("{}", &h, 1,
		    &(struct expect){.result = BR_DECODE_DEAD,
		        .reason = bad[i].reason,
		        .key = ABSENT});
	}
	check_headers("{}", (struct br_header[]){header("id", longest)}, 1,
	    &(struct expect){.body = "{}", .key = longest});
}

static void
test_idempotency_keys(void **state)
{
	const struct br_header all[] = {header("Idempotency-Key", "third"),
	    header("idempotency_key", "second"),
	    header("idempotencyKey", "first"), header("id", UUID),
	    header("outbox.idempotency.key", "override")};
	const struct br_header empty[] = {header("id", "old"),
	    header("idempotencyKey", ""), header("id", UUID)};
	const struct br_header spoilt[] = {
	    header("id", UUID), header("idempotency_key", "\xff")};
	const struct br_header unneeded[] = {
	    header("id", "[B@1"), header("idempotency_key", "good")};

	(void)state;
	check_headers(
	    "{}", all, 5, &(struct expect){.id = UUID, .key = "override"});
	check_headers("{}", all, 4, &(struct expect){.key = "first"});
	check_headers("{}", all, 2, &(struct expect){.key = "second"});
	check_headers(
	    "{}", all, 1, &(struct expect){.id = ABSENT, .key = "third"});
	check_headers(
	    "{}", empty, 3, &(struct expect){.id = UUID, .key = UUID});
	/* The next best key would make another request of the same event. */
	check_headers("{}", spoilt, 2,
	    &(struct expect){.result = BR_DECODE_DEAD, .reason = "id-invalid"});
	check_headers(
	    "{}", unneeded, 2, &(struct expect){.id = ABSENT, .key = "good"});
}

static void
test_offset_key(void **state)
{
	struct br_record record = make("{}", NULL, 0);
	struct br_decoder *d;
	struct br_decoded out;

	(void)state;
	config.source.allow_offset_key = true;
	d = br_decoder_new(&config);
	br_decode(d, &record, &out);
	assert_decoded(&out, &(struct expect){.body = "{}", .key = ABSENT});
	assert_true(out.offset_key);
	record.topic = "elsewhere";
	br_decode(d, &record, &out);
	assert_decoded(&out, &(struct expect){.body = "{}", .key = ABSENT});
	assert_true(out.offset_key);
	/* What is no routed event is not sent under such a key either. */
	record.value = br_slice_str(
	    "{\"before\":null,\"after\":{},\"source\":{},\"op\":\"c\"}");
	br_decode(d, &record, &out);
	assert_decoded(&out, &(struct expect){.result = BR_DECODE_DEAD,
	                         .reason = "unrecognised"});
	assert_false(out.offset_key);
	br_decoder_free(d);
	config.source.format = BR_FORMAT_JSON;
	check_record(&config, &record,
	    &(struct expect){
	        .result = BR_DECODE_DEAD, .reason = "format-mismatch"});
}

static void
dies_unsent(
    struct br_record *record, const char *value, size_t len, const char *reason)
{
	record->value = (struct br_slice){(const uint8_t *)value, len};
	check_record(&config, record,
	    &(struct expect){.result = BR_DECODE_DEAD, .reason = reason});
}

static void
test_without_id(void **state)
{
	static const char avro[] = "\x00\x00\x00\x00\x01 avro";
	static const char other[] = "{\"Id\":1,\"BODY\":\"{}\"}";
	static const char event[] = "{\"specversion\":\"1.0\",\"id\":\"1\","
	                            "\"source\":\"/s\",\"type\":\"t\"}";
	const struct br_header type = header("eventType", "T");
	struct br_record record = make("", NULL, 0);

	(void)state;
	dies_unsent(&record, "{}", 2, "missing-id");
	record.topic = "elsewhere";
	dies_unsent(&record, "{}", 2, "unrecognised");
	dies_unsent(&record, "\xff", 1, "unrecognised");
	record.headers = &type;
	record.header_count = 1;
	dies_unsent(&record, "{}", 2, "missing-id");
	record.header_count = 0;
	/* What is known as something else has its name everywhere. */
	record.topic = "outbox.event.Order";
	config.source.allow_offset_key = true;
	dies_unsent(&record, avro, sizeof(avro) - 1, "unrecognised");
	dies_unsent(&record, event, sizeof(event) - 1, "null-payload");
	config.source.allow_offset_key = false;
	record.topic = "elsewhere";
	dies_unsent(&record, other, sizeof(other) - 1, "unrecognised");
	config.source.format = BR_FORMAT_STRING;
	dies_unsent(&record, "{}", 2, "missing-id");
}

/* CloudEvents in binary mode: all four headers. */
static void
test_cloud_headers(void **state)
{
	const struct br_header headers[] = {header("id", UUID),
	    header("ce_specversion", "1.0"), header("ce_id", "1"),
	    header("ce_source", "/s"), header("ce_type", "t")};

	(void)state;
	check_headers("{}", headers, 4, &(struct expect){.key = UUID});
	check_headers("{}", headers, 5,
	    &(struct expect){.id = "1", .key = "1", .type = "t"});
	config.source.format = BR_FORMAT_STRING;
	check_headers("{}", headers, 5, &(struct expect){.key = UUID});
}

/* ExtractNewRecordState's mark of a delete: no event, whatever its id. */
static void
test_deleted(void **state)
{
	const struct br_header bare[] = {
	    header("id", UUID), header("__op", "d")};
	const struct br_header quoted[] = {
	    header("id", UUID), header("__op", "\"d\"")};
	const struct br_header wrapped[] = {header("id", UUID),
	    header("__op", "{\"schema\":" SCHEMA ",\"payload\":\"d\"}")};
	const struct br_header created[] = {
	    header("id", UUID), header("__op", "c")};
	struct expect e = {.result = BR_DECODE_SKIP, .reason = "tombstone"};

	(void)state;
	check_headers(NULL, bare, 2, &e);
	check_headers(NULL, quoted, 2, &e);
	check_headers(NULL, wrapped, 2, &e);
	e.result = BR_DECODE_DEAD;
	e.reason = "null-payload";
	check_headers(NULL, created, 2, &e);
}

static void
test_types_and_urls(void **state)
{
	const struct br_header headers[] = {header("id", UUID),
	    header("event_type", "third"), header("type", "second"),
	    header("eventType", ""), header("target_url", "https://b.test/"),
	    header("targetUrl", "https://a.test/\xc5\x82")};
	const struct br_header java[] = {
	    header("id", UUID), header("targetUrl", "Struct{a=1}")};
	const struct br_header spoilt[] = {
	    header("id", UUID), header("targetUrl", "http://\xff/")};
	const struct br_header type[] = {
	    header("id", UUID), header("type", "\xff")};
	const struct br_header java_type[] = {
	    header("id", UUID), header("type", "[B@1")};
	struct br_record record = make("{}", headers, 6);

	(void)state;
	check_headers("{}", headers, 6,
	    &(struct expect){.body = "{}",
	        .type = "second",
	        .url = "https://a.test/\xc5\x82"});
	check_headers("{}", java, 2,
	    &(struct expect){.result = BR_DECODE_DEAD, .reason = "java-text"});
	check_headers("{}", spoilt, 2,
	    &(struct expect){
	        .result = BR_DECODE_DEAD, .reason = "url-invalid"});
	check_headers("{}", type, 2,
	    &(struct expect){
	        .result = BR_DECODE_DEAD, .reason = "field-invalid"});
	check_headers("{}", java_type, 2,
	    &(struct expect){.result = BR_DECODE_DEAD, .reason = "java-text"});
	record.topic = "outbox.event.";
	check_record(&config, &record, &(struct expect){.aggregate = ABSENT});
	record.topic = "outbox.event.a.B";
	check_record(&config, &record, &(struct expect){.aggregate = "a.B"});
	record.topic = "webhooks";
	record.headers = (struct br_header[]){header("id", UUID),
	    header("aggregateType", "X"), header("aggregatetype", "\"Y\"")};
	record.header_count = 3;
	check_record(&config, &record, &(struct expect){.aggregate = "Y"});
}

static void
test_attempts(void **state)
{
	static const struct {
		const char *value;
		int64_t attempts; /* 0: the default */
		bool strict;      /* accepted with strict_fields */
	} cases[] = {{"5", 5, true}, {"5.0", 5, true}, {"\"5\"", 5, true},
	    {"\"BQ==\"", 5, true}, {"BQ==", 5, true}, {"10.0", 10, true},
	    {"0", 1, true}, {"-1", 1, false}, {"999", 999, true},
	    {"1000", 0, false}, {"many", 0, false}, {"5.5", 0, false},
	    {"\xff", 0, false}, {"", 0, true}, {"null", 0, true},
	    {"{\"scale\":0,\"value\":\"BQ==\"}", 5, true}, {NULL, 0, true}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct br_header h[] = {
		    header("id", UUID), header("maxRetries", cases[i].value)};
		struct br_record record = make("{}", h, 2);
		struct br_decoder *d;
		struct br_decoded out;

		config.source.strict_fields = false;
		d = br_decoder_new(&config);
		br_decode(d, &record, &out);
		assert_int_equal(out.result, BR_DECODE_DELIVER);
		assert_int_equal(out.max_attempts, cases[i].attempts);
		br_decoder_free(d);
		config.source.strict_fields = true;
		if (cases[i].strict)
			check_headers(
			    "{}", h, 2, &(struct expect){.key = UUID});
		else
			check_headers("{}", h, 2,
			    &(struct expect){.result = BR_DECODE_DEAD,
			        .reason = "field-invalid"});
	}
}

#define PARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
#define PARENT2 "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203332-01"

static void
check_trace(const struct br_header *headers, size_t count, const char *parent,
    const char *trace_state)
{
	struct br_record record = make("{}", headers, count);
	struct br_decoder *d = br_decoder_new(&config);
	struct br_decoded out;

	br_decode(d, &record, &out);
	assert_int_equal(out.result, BR_DECODE_DELIVER);
	assert_text("traceparent", out.traceparent, parent);
	assert_text("tracestate", out.tracestate, trace_state);
	br_decoder_free(d);
}

static void
test_trace(void **state)
{
	const struct br_header twice[] = {header("id", UUID),
	    header("traceparent", PARENT), header("tracestate", "a=1"),
	    header("traceparent", "\"" PARENT2 "\""),
	    header("traceparent", "rubbish"), header("tracestate", "a b")};
	const struct br_header invalid[] = {header("id", UUID),
	    header("traceparent", "rubbish"), header("tracestate", "a=1")};
	const struct br_header column[] = {header("id", UUID),
	    header("tracingspancontext",
	        "#comment\ntraceparent=" PARENT "\ntracestate=b\\=2\n")};
	const struct br_header both[] = {header("id", UUID),
	    header("tracingspancontext", "traceparent=" PARENT),
	    header("traceparent", PARENT2)};
	const struct br_header java[] = {header("id", UUID),
	    header("traceparent", "[B@1"), header("tracestate", "\xff")};

	(void)state;
	check_trace(twice, 6, PARENT2, "a=1");
	check_trace(twice, 2, PARENT, ABSENT);
	check_trace(invalid, 3, ABSENT, ABSENT);
	check_trace(column, 2, PARENT, "b=2");
	check_trace(both, 3, PARENT2, ABSENT);
	check_trace(java, 3, ABSENT, ABSENT);
}

static void
test_content_type(void **state)
{
	const struct br_header given[] = {
	    header("id", UUID), header("Content-Type", "\"text/csv\"")};
	const struct br_header bad[] = {
	    header("id", UUID), header("content-type", "text/\r\nX: y")};
	struct br_record record = make("a,b", given, 2);
	struct br_decoder *d = br_decoder_new(&config);
	struct br_decoded out;

	(void)state;
	br_decode(d, &record, &out);
	assert_int_equal(out.result, BR_DECODE_DELIVER);
	assert_text("content type", out.content_type, "text/csv");
	br_decoder_free(d);
	check_headers("{}", bad, 2,
	    &(struct expect){
	        .result = BR_DECODE_DEAD, .reason = "header-invalid"});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_id_spellings, setup),
	    cmocka_unit_test_setup(test_bad_ids, setup),
	    cmocka_unit_test_setup(test_idempotency_keys, setup),
	    cmocka_unit_test_setup(test_offset_key, setup),
	    cmocka_unit_test_setup(test_without_id, setup),
	    cmocka_unit_test_setup(test_cloud_headers, setup),
	    cmocka_unit_test_setup(test_deleted, setup),
	    cmocka_unit_test_setup(test_types_and_urls, setup),
	    cmocka_unit_test_setup(test_attempts, setup),
	    cmocka_unit_test_setup(test_trace, setup),
	    cmocka_unit_test_setup(test_content_type, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
