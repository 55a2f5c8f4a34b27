/* CloudEvents: both modes of the Kafka binding, and Debezium's own. */
#include "row_support.h"

#define HEAD                                                                   \
	"{\"specversion\":\"1.0\",\"id\":\"e1\",\"source\":\"/"                \
	"shop\",\"type\":"                                                     \
	"\"placed\""
#define JSON_TYPE "application/json"

static const struct {
	const char *rest; /* behind the attributes that must be there */
	const char *body; /* NULL: dead */
	const char *reason, *content;
} data_cases[] = {
    {",\"data\":{ \"a\":1.50 }", "{ \"a\":1.50 }", NULL, ABSENT},
    {",\"data\":[1]", "[1]", NULL, ABSENT},
    {",\"data\":12.50", "12.50", NULL, ABSENT},
    {",\"data\":true", "true", NULL, ABSENT},
    {",\"data\":\"x\\n\"", "\"x\\n\"", NULL, ABSENT},
    {",\"datacontenttype\":\"application/json\",\"data\":\"x\"", "\"x\"", NULL,
        JSON_TYPE},
    {",\"datacontenttype\":\"Application/Vnd.x+JSON; a=b\",\"data\":\"x\"",
        "\"x\"", NULL, "Application/Vnd.x+JSON; a=b"},
    {",\"datacontenttype\":\"text/xml\",\"data\":\"<a>\\u00e9</a>\"",
        "<a>\xc3\xa9</a>", NULL, "text/xml"},
    {",\"datacontenttype\":\"text/jsonx\",\"data\":\"x\"", "x", NULL,
        "text/jsonx"},
    {",\"data_base64\":\"AP8QCg==\"", "\0", NULL, ABSENT},
    {",\"data\":{\"schema\":{\"type\":\"struct\"},\"payload\":{\"a\":1}}",
        "{\"a\":1}", NULL, ABSENT},
    {",\"data\":{\"schema\":{\"type\":\"string\"},\"payload\":\"x\"}", "x",
        NULL, ABSENT},
    /* Documents that look like a change, or like a row, of their own. */
    {",\"data\":{\"before\":{\"n\":1},\"after\":{\"n\":2}}",
        "{\"before\":{\"n\":1},\"after\":{\"n\":2}}", NULL, ABSENT},
    {",\"data\":{\"id\":1,\"payload\":\"x\"}", "{\"id\":1,\"payload\":\"x\"}",
        NULL, ABSENT},
    {"", NULL, "null-payload", NULL},
    {",\"data\":null", NULL, "null-payload", NULL},
    {",\"datacontenttype\":\"text/plain\",\"data\":\"\"", NULL, "empty-value",
        NULL},
    {",\"data_base64\":\"A\"", NULL, "envelope-malformed", NULL},
    {",\"data_base64\":7", NULL, "envelope-malformed", NULL},
    {",\"datacontenttype\":\"application/avro\",\"data\":\"AAAAAAE=\"", NULL,
        "unsupported-framing", NULL},
    {",\"datacontenttype\":\"a\\u0001\",\"data\":1", NULL, "header-invalid",
        NULL},
    {",\"data\":\"__debezium_unavailable_value\"", NULL, "payload-unavailable",
        NULL},
};

static void
test_data(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(data_cases); i++) {
		struct expect e = {.format = "cloudevents",
		    .id = "e1",
		    .key = "e1",
		    .type = "placed",
		    .order = "k",
		    .aggregate = "db.public.t"};

		print_message("  %s\n", data_cases[i].rest);
		e.reason = data_cases[i].reason;
		if (e.reason != NULL) {
			e.result = BR_DECODE_DEAD;
		} else {
			e.body = data_cases[i].body;
			e.content = data_cases[i].content;
			if (*e.body == '\0') {
				e.body = "\0\xff\x10\n";
				e.body_len = 4;
			}
		}
		check_value(text(HEAD "%s}", data_cases[i].rest), &e);
	}
}

static void
test_attributes(void **state)
{
	static const char value[] =
	    HEAD ",\"subject\":\"order-7\",\"partitionkey\":\"p\",\"time\":"
	         "\"2026-01-01T01:00:00+01:00\",\"traceparent\":"
	         "\"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\","
	         "\"tracestate\":\"a=b\",\"other\":[{}],\"data\":1}";
	struct br_record record = {
	    .topic = "orders", .value = br_slice_str(value)};
	struct br_decoder *d = br_decoder_new(&config);
	struct br_decoded out;

	(void)state;
	br_decode(d, &record, &out);
	assert_decoded(&out, &(struct expect){.aggregate = "order-7",
	                         .order = "p",
	                         .time = 1767225600000,
	                         .body = "1"});
	assert_text("traceparent", out.traceparent,
	    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
	assert_text("tracestate", out.tracestate, "a=b");
	br_decoder_free(d);
	check_dead("{\"specversion\":\"1.0\",\"id\":\"\",\"source\":\"/s\","
	           "\"type\":\"t\",\"data\":1}",
	    "missing-id");
	check_dead("{\"specversion\":\"1.0\",\"id\":\"a\\u0001\",\"source\":"
	           "\"/s\",\"type\":\"t\",\"data\":1}",
	    "id-invalid");
}

/* A header that says so makes a value structured. */
static void
test_structured_header(void **state)
{
	static const struct {
		const char *type;
		const char *reason; /* NULL: read */
	} cases[] = {
	    {"application/cloudevents+json", NULL},
	    {"Application/CloudEvents+JSON; charset=utf-8", NULL},
	    {"\"application/cloudevents+json\"", NULL},
	    {"application/cloudevents", NULL},
	    {"application/cloudevents-batch+json", "unsupported-framing"},
	    {"application/cloudevents+avro", "unsupported-framing"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct br_header type[] = {
		    header("content-type", cases[i].type)};
		struct expect e = {.body = "1",
		    .content = ABSENT,
		    .format = "cloudevents",
		    .reason = cases[i].reason};

		print_message("  %s\n", cases[i].type);
		if (e.reason != NULL)
			e = (struct expect){.result = BR_DECODE_DEAD,
			    .reason = cases[i].reason};
		check_row_record(HEAD ",\"data\":1}", type, 1, &e);
		if (e.reason != NULL)
			continue;
		e = (struct expect){
		    .result = BR_DECODE_DEAD, .reason = "json-syntax"};
		check_row_record(HEAD ",\"data\":", type, 1, &e);
		e.reason = "format-mismatch";
		check_row_record("{\"id\":1}", type, 1, &e);
		check_row_record("[]", type, 1, &e);
	}
}

static void
test_binary(void **state)
{
	const struct br_header headers[] = {header("ce_specversion", "1.0"),
	    header("ce_id", "\"e1\""), header("ce_source", "/s"),
	    header("ce_type", "placed"), header("content-type", "text/plain"),
	    header("ce_subject", "s"), header("ce_partitionkey", "p"),
	    header("ce_time", "2026-01-01T00:00:00Z")};
	struct expect e = {.id = "e1",
	    .key = "e1",
	    .type = "placed",
	    .aggregate = "s",
	    .order = "k",
	    .content = "text/plain",
	    .time = 1767225600000,
	    .format = "cloudevents"};

	(void)state;
	e.body = "{\"op\":\"c\",\"source\":{},\"after\":{}}";
	check_row_record(e.body, headers, 8, &e);
	e.body = "\"quoted\"";
	check_row_record(e.body, headers, 8, &e);
	e.body = "\xff";
	check_row_record(e.body, headers, 8, &e);
	/* One of the four is missing: nothing says what it is. */
	check_row_record("{}", headers + 1, 7,
	    &(struct expect){
	        .result = BR_DECODE_DEAD, .reason = "unrecognised"});
	/* An event without data is still one. */
	e = (struct expect){
	    .result = BR_DECODE_DEAD, .reason = "null-payload", .key = "e1"};
	check_row_record(NULL, headers, 8, &e);
	e.reason = "empty-value";
	check_row_record("", headers, 8, &e);
	config.source.on_null_payload = BR_ON_NULL_SEND_EMPTY;
	check_row_record(
	    NULL, headers, 8, &(struct expect){.body = "", .key = "e1"});
	config.source.format = BR_FORMAT_CLOUDEVENTS;
	check_row_record("x", headers, 8, &(struct expect){.body = "x"});
	check_row_record("x", headers + 1, 3,
	    &(struct expect){
	        .result = BR_DECODE_DEAD, .reason = "json-syntax"});
}

/* Around an event of the router: its headers count as ever. */
static void
test_behind_router(void **state)
{
	const struct br_header headers[] = {header("id", UUID),
	    header("targetUrl", "https://h.test/"), header("maxRetries", "3"),
	    header("idempotencyKey", "own")};
	static const char generated[] =
	    "{\"specversion\":\"1.0\",\"id\":\"name:x;lsn:1;txId:2\","
	    "\"source\":"
	    "\"/debezium/postgresql/x\",\"type\":\"t\",\"iodebeziumop\":\"c\","
	    "\"data\":%s}";

	(void)state;
	check_row_record(text(generated, "{\"a\":1}"), headers, 4,
	    &(struct expect){.id = UUID,
	        .key = "own",
	        .url = "https://h.test/",
	        .attempts = 3,
	        .body = "{\"a\":1}"});
	/* Envelope placement. */
	check_row_record(
	    text(
	        generated, "{\"payload\":\"x\",\"target_url\":\"https://i/\"}"),
	    headers, 1,
	    &(struct expect){.key = UUID, .url = "https://i/", .body = "x"});
	/* Nothing names the event: Debezium's own id is not unique. */
	check_dead(text(generated, "{\"a\":1}"), "missing-id");
	/* A row inside. */
	check_value(text(generated, "{\"id\":\"r\",\"payload\":\"x\"}"),
	    &(struct expect){.id = "r", .body = "x"});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_data, setup),
	    cmocka_unit_test_setup(test_attributes, setup),
	    cmocka_unit_test_setup(test_structured_header, setup),
	    cmocka_unit_test_setup(test_binary, setup),
	    cmocka_unit_test_setup(test_behind_router, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
