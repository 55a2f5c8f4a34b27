/* The headers of an event: the same at every attempt, and always legal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/base/hash.h"
#include "bridge/http/request.h"

static struct br_config
config_with(char **names, size_t count, bool structured)
{
	struct br_config config = {0};

	config.delivery.idempotency_headers.item = names;
	config.delivery.idempotency_headers.count = count;
	config.delivery.idempotency_sf = structured;
	return config;
}

static struct br_event
event_with(const char *key)
{
	return (struct br_event){.body = br_slice_str("{}"),
	    .idempotency_key = key,
	    .url = "https://hooks.example.test/orders?x=1",
	    .target = "https://hooks.example.test:443",
	    .content_type = "application/json; charset=UTF-8"};
}

/* Value of the only header of this name, or NULL. */
static const char *
value_of(const struct br_request *request, const char *name)
{
	const char *value = NULL;

	for (size_t i = 0; i < request->http.header_count; i++) {
		if (strcmp(request->http.headers[i].name, name) != 0)
			continue;
		assert_null(value);
		value = request->http.headers[i].value;
	}
	return value;
}

/* The key as it goes out. */
static void
expect_key(const char *key, bool structured, const char *expected)
{
	char name[] = "Idempotency-Key";
	char *names[] = {name};
	struct br_config config = config_with(names, 1, structured);
	struct br_request_rules *rules = br_request_rules_new(&config);
	struct br_event event = event_with(key);
	struct br_request *request = malloc(sizeof(*request));

	assert_non_null(request);
	br_request_build(rules, &event, request);
	assert_string_equal(value_of(request, "Idempotency-Key"), expected);
	free(request);
	br_request_rules_free(rules);
}

static void
test_all_headers(void **state)
{
	char first[] = "Idempotency-Key", second[] = "X-Idempotency-Key";
	char *names[] = {first, second};
	struct br_config config = config_with(names, 2, false);
	struct br_request_rules *rules = br_request_rules_new(&config);
	struct br_event event = event_with("order-1");
	struct br_request request;

	(void)state;
	/* The rules are copies. */
	first[0] = second[0] = '!';
	event.traceparent =
	    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
	event.tracestate = "a=b";
	br_request_build(rules, &event, &request);
	assert_string_equal(request.http.method, "POST");
	assert_string_equal(request.http.url, event.url);
	assert_string_equal(request.http.target, event.target);
	assert_true(br_slice_eq(request.http.body, event.body));
	assert_null(request.http.abort);
	assert_false(request.http.guard);
	assert_int_equal(request.http.header_count, 5);
	assert_string_equal(value_of(&request, "Idempotency-Key"), "order-1");
	assert_string_equal(value_of(&request, "X-Idempotency-Key"), "order-1");
	assert_string_equal(
	    value_of(&request, "Content-Type"), event.content_type);
	assert_string_equal(
	    value_of(&request, "traceparent"), event.traceparent);
	assert_string_equal(value_of(&request, "tracestate"), "a=b");
	br_request_rules_free(rules);
}

static void
test_trace(void **state)
{
	char name[] = "Idempotency-Key";
	char *names[] = {name};
	struct br_config config = config_with(names, 1, false);
	struct br_request_rules *rules = br_request_rules_new(&config);
	struct br_event event = event_with("k");
	struct br_request request;

	(void)state;
	event.tracestate = "a=b"; /* says nothing without a traceparent */
	br_request_build(rules, &event, &request);
	assert_null(value_of(&request, "tracestate"));
	assert_int_equal(request.http.header_count, 2);

	event.traceparent = "00-01";
	event.tracestate = "a=b\r\nX-Evil: 1";
	br_request_build(rules, &event, &request);
	assert_string_equal(value_of(&request, "traceparent"), "00-01");
	assert_null(value_of(&request, "tracestate"));

	event.traceparent = "00\n01";
	event.tracestate = "a=b";
	br_request_build(rules, &event, &request);
	assert_null(value_of(&request, "traceparent"));
	assert_null(value_of(&request, "tracestate"));
	br_request_rules_free(rules);
}

static void
test_raw_keys(void **state)
{
	(void)state;
	expect_key("9f1c2a52-7d3e-4b8a-9c60-1f2e3d4c5b6a", false,
	    "9f1c2a52-7d3e-4b8a-9c60-1f2e3d4c5b6a");
	expect_key("a \"b\" \\c ~", false, "a \"b\" \\c ~");
	expect_key("z\xc3\xa1kazka-1", false,
	    "sha256-1f846b9295870512e860dc84eec111c6a7ba77fd4553a034619f5bc04e"
	    "c63e02");
}

static void
test_structured_keys(void **state)
{
	(void)state;
	expect_key("order-1", true, "\"order-1\"");
	expect_key("a \"b\" \\c ~", true, "\"a \\\"b\\\" \\\\c ~\"");
	expect_key(" both ends ", true, "\" both ends \"");
	expect_key("z\xc3\xa1kazka-1", true,
	    "\"sha256-1f846b9295870512e860dc84eec111c6a7ba77fd4553a034619f5bc0"
	    "4ec63e02\"");
}

/* What HTTP cannot carry, in both styles. */
static void
test_hashed_keys(void **state)
{
	static const char *const keys[] = {
	    "a\r\nX-Evil: 1", "a\nb", "tab\there", "\x7f", "\x01", "\xff"};
	char hex[BR_SHA256_HEX], raw[80], quoted[82];

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		br_sha256_hex(keys[i], strlen(keys[i]), hex);
		(void)snprintf(raw, sizeof(raw), "sha256-%s", hex);
		(void)snprintf(quoted, sizeof(quoted), "\"%s\"", raw);
		expect_key(keys[i], false, raw);
		expect_key(keys[i], true, quoted);
	}
	/* printf ' x' | sha256sum, and so on */
	expect_key(" x", false,
	    "sha256-"
	    "830a815db067f9501633539c2505e8c8a82ecc045b2adea256a55365ef516c4b");
	expect_key("x ", false,
	    "sha256-"
	    "2ac3e029f2ae0ed36a9af34bd225e889df2818556266577aeb79530d6c14a8b3");
}

static void
test_long_keys(void **state)
{
	char key[1200], expected[1300], hex[BR_SHA256_HEX];

	(void)state;
	memset(key, 'k', sizeof(key));
	key[1099] = '\0'; /* just fits with its NUL */
	expect_key(key, false, key);
	br_sha256_hex(key, 1099, hex);
	(void)snprintf(expected, sizeof(expected), "\"sha256-%s\"", hex);
	expect_key(key, true, expected);
	key[1099] = 'k';
	key[1100] = '\0';
	br_sha256_hex(key, 1100, hex);
	(void)snprintf(expected, sizeof(expected), "sha256-%s", hex);
	expect_key(key, false, expected);
	/* 1024 quotes: twice as long when escaped */
	memset(key, '"', 1024);
	key[1024] = '\0';
	br_sha256_hex(key, 1024, hex);
	(void)snprintf(expected, sizeof(expected), "\"sha256-%s\"", hex);
	expect_key(key, true, expected);
	/* 255, the longest that intake lets through, as quotes */
	memset(key, '"', 255);
	key[255] = '\0';
	expected[0] = '"';
	for (size_t i = 0; i < 255; i++) {
		expected[1 + 2 * i] = '\\';
		expected[2 + 2 * i] = '"';
	}
	memcpy(expected + 511, "\"", 2);
	expect_key(key, true, expected);
}

static void
test_content_type(void **state)
{
	static const struct {
		const char *given, *sent;
	} cases[] = {{"text/plain; charset=UTF-8", "text/plain; charset=UTF-8"},
	    {NULL, "application/octet-stream"},
	    {"", "application/octet-stream"},
	    {"text/plain\r\nX-Evil: 1", "application/octet-stream"},
	    {"text/\xc3\xa1", "application/octet-stream"}};
	struct br_config config = config_with(NULL, 0, false);
	struct br_request_rules *rules = br_request_rules_new(&config);
	struct br_event event = event_with("k");
	struct br_request request;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		event.content_type = cases[i].given;
		br_request_build(rules, &event, &request);
		assert_int_equal(request.http.header_count, 1);
		assert_string_equal(
		    value_of(&request, "Content-Type"), cases[i].sent);
	}
	br_request_rules_free(rules);
}

/* Only an event's own URL that no list names literally is guarded. */
static void
test_guard(void **state)
{
	struct br_config config = config_with(NULL, 0, false);
	struct br_event event = event_with("k");
	struct br_request request;

	(void)state;
	for (int i = 0; i < 8; i++) {
		struct br_request_rules *rules;

		event.url_from_event = (i & 1) != 0;
		event.literal_host = (i & 2) != 0;
		config.delivery.private_networks = (i & 4) != 0;
		rules = br_request_rules_new(&config);
		br_request_build(rules, &event, &request);
		assert_int_equal(request.http.guard, i == 1);
		br_request_rules_free(rules);
	}
}

/* More names than fit: no overflow, and the event's own headers are there. */
static void
test_many_names(void **state)
{
	char text[20][8];
	char *names[20];
	struct br_config config = config_with(names, 20, false);
	struct br_event event = event_with("k");
	struct br_request_rules *rules;
	struct br_request request;

	(void)state;
	for (int i = 0; i < 20; i++) {
		(void)snprintf(text[i], sizeof(text[i]), "X-%d", i);
		names[i] = text[i];
	}
	event.traceparent = "00-01";
	event.tracestate = "a=b";
	rules = br_request_rules_new(&config);
	br_request_build(rules, &event, &request);
	assert_int_equal(request.http.header_count, BR_REQUEST_HEADERS);
	assert_string_equal(value_of(&request, "X-12"), "k");
	assert_null(value_of(&request, "X-13"));
	assert_string_equal(value_of(&request, "tracestate"), "a=b");
	br_request_rules_free(rules);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all_headers),
	    cmocka_unit_test(test_trace),
	    cmocka_unit_test(test_raw_keys),
	    cmocka_unit_test(test_structured_keys),
	    cmocka_unit_test(test_hashed_keys),
	    cmocka_unit_test(test_long_keys),
	    cmocka_unit_test(test_content_type),
	    cmocka_unit_test(test_guard),
	    cmocka_unit_test(test_many_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
