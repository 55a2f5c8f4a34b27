/* explain_look: the outcomes, whose URL it is, what is shown of it. */
#include "explain_support.h"

#include "bridge/base/metrics.h"

#define OPEN "delivery = { url = \"https://own.test/in\"; "

static json_t *
event_of(struct desk *d, const char *name, const char *value)
{
	const struct br_header headers[] = {
	    header("id", UUID), header(name, value)};
	struct br_record r =
	    record_of("{\"a\":1}", headers, name != NULL ? 2 : 1);

	return json_of(d, &r);
}

static const char *
request_url(const json_t *json)
{
	return json_string_value(
	    json_object_get(json_object_get(json, "request"), "url"));
}

static void
deliver(void **state)
{
	struct desk d = open_desk(OPEN "};");
	json_t *json = event_of(&d, "eventType", "Placed");

	(void)state;
	expect_member(json, "outcome", "deliver");
	expect_member(json, "reason", NULL);
	expect_member(json, "topic", "outbox.event.Order");
	assert_int_equal(
	    json_integer_value(json_object_get(json, "partition")), 2);
	assert_int_equal(
	    json_integer_value(json_object_get(json, "offset")), 77);
	expect_member(json, "format", "string");
	expect_member(json, "event_id", UUID);
	expect_member(json, "idempotency_key", UUID);
	expect_member(json, "order_key", "k1");
	expect_member(json, "order_key_base64", NULL);
	expect_member(json, "aggregate_type", "Order");
	expect_member(json, "event_type", "Placed");
	expect_member(json, "target_url", NULL);
	expect_member(json, "target", "https://own.test:443");
	expect_member(json, "body", "eyJhIjoxfQ==");
	expect_member(json, "content_type", "application/json; charset=UTF-8");
	assert_int_equal(
	    json_integer_value(json_object_get(json, "max_attempts")), 5);
	assert_string_equal(request_url(json), "https://own.test/in");
	assert_string_equal(request_header(json, "Idempotency-Key"), UUID);
	assert_string_equal(request_header(json, "Host"), "own.test");
	assert_string_equal(request_header(json, "Content-Length"), "7");
	assert_string_equal(request_header(json, "User-Agent"),
	    "outbox-bridge/" BRIDGE_VERSION);
	json_decref(json);
	close_desk(&d);
}

/* Each field says where it was found. */
static void
origins(void **state)
{
	const struct br_header headers[] = {header("id", UUID),
	    header("type", "T"), header("max_retries", "3")};
	struct br_record r = record_of("{\"a\":1}", headers, 3);
	struct desk d = open_desk(OPEN "};");
	const struct br_explained *x = br_explainer_look(d.explainer, &r);
	static const struct {
		const char *field, *kind, *name;
	} expected[] = {{"event_id", "header", "id"},
	    {"idempotency_key", "header", "id"},
	    {"event_type", "header", "type"},
	    {"max_attempts", "header", "max_retries"},
	    {"order_key", "key of the record", NULL},
	    {"aggregate_type", "topic", "Order"}};

	(void)state;
	for (size_t i = 0; i < COUNT(expected); i++) {
		const struct br_origin *o =
		    br_explained_origin(x, expected[i].field);

		if (o == NULL)
			fail_msg("nothing noted for %s", expected[i].field);
		assert_string_equal(o->kind, expected[i].kind);
		assert_true(
		    br_slice_eq(o->name, br_slice_str(expected[i].name)));
	}
	assert_null(br_explained_origin(x, "target_url"));
	close_desk(&d);
}

/* Of a configured URL, what `check` shows too; of the event's, all. */
static void
urls(void **state)
{
	struct desk d = open_desk(
	    "delivery = { url = \"https://own.test/in?sig=S1G\"; "
	    "event_urls = [ \"their.test\" ]; };\n"
	    "routes = ( { name = \"first\"; match = { event_type = \"A\"; }; "
	    "url = \"https://route.test/${env:EXPLAIN_TOKEN}\"; }, "
	    "{ name = \"bare\"; match = { event_type = \"B\"; }; } );");
	json_t *json = event_of(&d, NULL, NULL);

	(void)state;
	assert_string_equal(request_url(json), "https://own.test/in?***");
	expect_member(json, "route", NULL);
	json_decref(json);
	json = event_of(&d, "eventType", "A");
	assert_string_equal(request_url(json), "https://route.test/***");
	expect_member(json, "route", "first");
	json_decref(json);
	json = event_of(&d, "eventType", "B");
	assert_string_equal(request_url(json), "https://own.test/in?***");
	expect_member(json, "route", "bare");
	json_decref(json);
	json = event_of(&d, "target_url", "https://their.test/a?x=1");
	assert_string_equal(request_url(json), "https://their.test/a?x=1");
	expect_member(json, "target_url", "https://their.test/a?x=1");
	json_decref(json);
	json = event_of(&d, "target_url", "https://evil.test/");
	expect_member(json, "outcome", "dlq");
	expect_member(json, "reason", "url-forbidden");
	expect_member(json, "stage", "validate");
	expect_member(json, "target_url", "https://evil.test/");
	expect_member(json, "request", NULL);
	expect_member(json, "body", NULL);
	json_decref(json);
	close_desk(&d);
}

/* No secret reaches a person or a program. */
static void
masks(void **state)
{
	const struct br_header headers[] = {header("id", "K3Y")};
	struct br_record r = record_of("{\"a\":1}", headers, 1);
	struct desk d = open_desk(
	    "delivery = { url = \"https://own.test/${env:EXPLAIN_TOKEN}\"; "
	    "idempotency_headers = [ \"X-Auth-Token\", \"Authorization\", "
	    "\"Idempotency-Key\" ]; };");
	json_t *json = json_of(&d, &r);
	struct br_buffer text = text_of(&d, &r, 80, false);
	char *all = json_dumps(json, 0);

	(void)state;
	assert_string_equal(request_header(json, "X-Auth-Token"), "***");
	assert_string_equal(request_header(json, "Authorization"), "***");
	assert_string_equal(request_header(json, "Idempotency-Key"), "K3Y");
	assert_null(strstr(all, "T0KEN"));
	assert_null(strstr(text.data, "T0KEN"));
	assert_non_null(strstr(text.data, "X-Auth-Token: ***"));
	free(all);
	br_buffer_free(&text);
	json_decref(json);
	close_desk(&d);
}

static void
secret_names(void **state)
{
	static const char *const secret[] = {"Authorization",
	    "proxy-authorization", "Cookie", "X-Api-Key", "X-Auth-Token",
	    "webhook-signature", "X-Client-Secret", "X-Password"};
	static const char *const open[] = {"Idempotency-Key", "Content-Type",
	    "Host", "User-Agent", "traceparent", "Content-Length"};

	(void)state;
	for (size_t i = 0; i < COUNT(secret); i++)
		if (!br_explain_is_secret(secret[i]))
			fail_msg("%s is shown", secret[i]);
	for (size_t i = 0; i < COUNT(open); i++)
		if (br_explain_is_secret(open[i]))
			fail_msg("%s is hidden", open[i]);
}

static void
skipped(void **state)
{
	struct desk d = open_desk(OPEN "};");
	struct br_record r = record_of(NULL, NULL, 0);
	json_t *json;

	(void)state;
	br_metrics_reset();
	json = json_of(&d, &r);
	expect_member(json, "outcome", "skip");
	expect_member(json, "reason", "tombstone");
	expect_member(json, "detail", br_decode_skip_text("tombstone"));
	expect_member(json, "request", NULL);
	expect_member(json, "advice", NULL);
	assert_true(json_is_null(json_object_get(json, "max_attempts")));
	/* To look is not to pass: nothing is counted. */
	assert_int_equal(br_metric_get_label(BR_M_SKIPPED, "tombstone"), 0);
	json_decref(json);
	close_desk(&d);
}

static void
dead(void **state)
{
	struct desk d = open_desk(OPEN "};");
	struct br_record r = record_of("{\"a\":1}", NULL, 0);
	json_t *json = json_of(&d, &r);

	(void)state;
	expect_member(json, "outcome", "dlq");
	expect_member(json, "reason", "missing-id");
	expect_member(json, "stage", "extract");
	assert_true(json_is_string(json_object_get(json, "detail")));
	assert_true(json_is_string(json_object_get(json, "advice")));
	json_decref(json);
	close_desk(&d);
	d = open_desk(OPEN "}; source = { allow_offset_key = true; };");
	json = json_of(&d, &r);
	expect_member(json, "outcome", "deliver");
	expect_member(json, "event_id", NULL);
	expect_member(json, "idempotency_key", "outbox.event.Order-2-77");
	json_decref(json);
	close_desk(&d);
}

static void
hold(void **state)
{
	struct desk d = open_desk(OPEN "};");
	json_t *json = event_of(&d, "target_url", "https://their.test/a");

	(void)state;
	expect_member(json, "outcome", "hold");
	expect_member(json, "reason", "event_urls_empty");
	assert_non_null(
	    strstr(json_string_value(json_object_get(json, "detail")),
	        "https://their.test:443"));
	expect_member(json, "request", NULL);
	json_decref(json);
	close_desk(&d);
}

/* Nobody listens at port 1: what `run` would wait for. */
static void
no_registry(void **state)
{
	static const uint8_t framed[] = {0, 0, 0, 0, 7, 2, 'a'};
	const struct br_header id = header("id", UUID);
	struct br_record r = record_of(NULL, &id, 1);
	struct desk d = open_desk(
	    OPEN "}; registry = { url = [ \"http://127.0.0.1:1\" ]; };");
	json_t *json;

	(void)state;
	r.value = (struct br_slice){framed, sizeof(framed)};
	json = json_of(&d, &r);
	expect_member(json, "outcome", "hold");
	expect_member(json, "reason", "registry_down");
	assert_true(json_is_string(json_object_get(json, "advice")));
	json_decref(json);
	close_desk(&d);
}

/* Bytes that no JSON string can hold stand beside it exactly. */
static void
binary_key(void **state)
{
	const struct br_header id = header("id", UUID);
	struct br_record r = record_of("{}", &id, 1);
	struct desk d = open_desk(OPEN "};");
	json_t *json;

	(void)state;
	r.key = (struct br_slice){(const uint8_t *)"\xff\0", 2};
	json = json_of(&d, &r);
	expect_member(json, "order_key_base64", "/wA=");
	json_decref(json);
	close_desk(&d);
}

static void
expect_why(
    const char *config, const char *value, const char *format, const char *why)
{
	const struct br_header id = header("id", UUID);
	struct br_record r = record_of(value, &id, 1);
	struct desk d = open_desk(config);
	json_t *json = json_of(&d, &r);

	expect_member(json, "format", format);
	expect_member(json, "format_why", why);
	json_decref(json);
	close_desk(&d);
}

static void
reasons_of_formats(void **state)
{
	(void)state;
	expect_why(OPEN "};", "{\"a\":1}", "string",
	    "no other format fits: sent as it is");
	expect_why(OPEN "};", "\"{\\\"a\\\":1}\"", "json",
	    "a JSON string that holds JSON");
	expect_why(OPEN "};",
	    "{\"schema\":{\"type\":\"string\",\"optional\":false},"
	    "\"payload\":\"x\"}",
	    "json_schema",
	    "an object of schema and payload, as JsonConverter writes");
	expect_why(OPEN "}; source = { format = \"json\"; };", "{}", "json",
	    "source.format or source.formats says so");
}

/* A row in a change event is not found by its header, but by its members. */
static void
reason_of_envelope(void **state)
{
	struct br_record r =
	    record_of("{\"before\":null,\"after\":{\"id\":1,"
	              "\"payload\":\"{}\",\"status\":\"PENDING\"},"
	              "\"source\":{},\"op\":\"c\"}",
	        NULL, 0);
	struct desk d = open_desk(OPEN "};");
	json_t *json = json_of(&d, &r);

	(void)state;
	expect_member(json, "outcome", "deliver");
	expect_member(json, "format", "envelope");
	expect_member(json, "format_why",
	    "the members op, source and after of a change event");
	json_decref(json);
	close_desk(&d);
}

/* A topic that run does not read is explained, and said to be none. */
static void
other_topic(void **state)
{
	static const struct {
		const char *topic;
		bool read;
	} cases[] = {{"outbox.event.Order", true}, {"t", true}, {"tt", false},
	    {"my.outbox.event", false}};
	const struct br_header id = header("id", UUID);
	struct br_record r = record_of("{}", &id, 1);
	struct desk d = open_desk(OPEN "};");

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct br_buffer text;
		json_t *json;

		r.topic = cases[i].topic;
		json = json_of(&d, &r);
		text = text_of(&d, &r, 80, false);
		expect_member(json, "outcome", "deliver");
		assert_int_equal(
		    json_is_true(json_object_get(json, "topic_read")),
		    cases[i].read);
		assert_int_equal(
		    strstr(text.data, "run never reads it") == NULL,
		    cases[i].read);
		br_buffer_free(&text);
		json_decref(json);
	}
	close_desk(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(deliver),
	    cmocka_unit_test(origins),
	    cmocka_unit_test(urls),
	    cmocka_unit_test(masks),
	    cmocka_unit_test(secret_names),
	    cmocka_unit_test(skipped),
	    cmocka_unit_test(dead),
	    cmocka_unit_test(hold),
	    cmocka_unit_test(no_registry),
	    cmocka_unit_test(binary_key),
	    cmocka_unit_test(reasons_of_formats),
	    cmocka_unit_test(reason_of_envelope),
	    cmocka_unit_test(other_topic),
	};

	(void)setenv("EXPLAIN_TOKEN", "T0KEN", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
