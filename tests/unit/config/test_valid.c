/* What must load, and what it means. */
#include "config_support.h"

#include <unistd.h>

#include "bridge/base/clock.h"

#define KAFKA "kafka = { brokers = \"b\"; topics = \"t\"; };\n"

static void
defaults(void **state)
{
	struct br_config *c = must_load(HEAD);

	(void)state;
	assert_string_equal(c->file, NAME);
	assert_string_equal(c->kafka.group, "outbox-bridge");
	assert_int_equal(c->kafka.start, BR_START_EARLIEST);
	assert_int_equal(c->kafka.on_gap, BR_ON_GAP_STOP);
	assert_int_equal(c->kafka.start_timeout_ms, 60000);
	assert_string_equal(c->kafka.instance, "");
	assert_int_equal(c->kafka.commit_interval_ms, 100);
	assert_int_equal(c->kafka.revoke_wait_ms, 10000);
	assert_int_equal(c->kafka.properties.count, 0);
	assert_int_equal(c->source.format, BR_FORMAT_AUTO);
	assert_int_equal(c->source.format_count, 0);
	assert_int_equal(c->source.skip_topics.count, 1);
	assert_int_equal(c->source.on_null_payload, BR_ON_NULL_DLQ);
	assert_int_equal(c->source.type_headers.count, 3);
	assert_string_equal(c->source.type_headers.item[2], "event_type");
	assert_int_equal(c->source.envelope_fields.count, 7);
	assert_string_equal(
	    c->source.envelope_fields.item[6], "idempotency_key");
	assert_false(c->source.allow_offset_key || c->source.strict_fields);
	assert_string_equal(
	    c->source.unavailable_value, "__debezium_unavailable_value");
	assert_int_equal(c->delivery.connections, 4);
	assert_int_equal(c->delivery.order, BR_ORDER_KEY);
	assert_int_equal(c->delivery.event_urls.count, 0);
	assert_false(c->delivery.event_url_ignore);
	assert_false(c->delivery.private_networks);
	assert_int_equal(c->delivery.timeout_ms, 5000);
	assert_int_equal(c->delivery.connect_timeout_ms, 3000);
	assert_string_equal(c->delivery.ca_file, "");
	assert_int_equal(c->delivery.max_idle_ms, 30000);
	assert_int_equal(c->delivery.max_life_ms, 300000);
	assert_int_equal(c->delivery.idempotency_headers.count, 2);
	assert_false(c->delivery.idempotency_sf);
	br_config_free(c);
}

static void
more_defaults(void **state)
{
	struct br_config *c = must_load(HEAD);

	(void)state;
	assert_int_equal(c->retry.max_attempts, 5);
	assert_int_equal(c->retry.rules.base_ms, 10000);
	assert_int_equal(c->retry.rules.max_delay_ms, 3600000);
	assert_true(c->retry.rules.jitter == 0.1);
	assert_int_equal(c->retry.rules.retry_after_max_ms, 3600000);
	for (int code = 100; code <= 999; code++) {
		assert_int_equal(
		    br_status_set_has(&c->retry.verdict.throttle_on, code),
		    code == 429);
		assert_false(
		    br_status_set_has(&c->retry.verdict.success_on, code));
		assert_false(
		    br_status_set_has(&c->retry.verdict.retry_on, code));
		assert_false(
		    br_status_set_has(&c->retry.verdict.drop_on, code));
	}
	assert_string_equal(c->retry.throttle_match, "");
	assert_int_equal(c->breaker.failures, 20);
	assert_int_equal(c->breaker.after, 100);
	assert_int_equal(c->breaker.probe_ms, 1000);
	assert_int_equal(c->breaker.probe_max_ms, 60000);
	assert_int_equal(c->breaker.give_up_ms, 0);
	assert_false(c->breaker.shed);
	assert_string_equal(c->dlq.topic, "outbox.dlq");
	assert_int_equal(c->route_count, 0);
	assert_int_equal(c->limits.buffer_bytes, 33554432);
	assert_int_equal(c->limits.open_per_partition, 100000);
	assert_int_equal(c->limits.body_bytes, 10485760);
	assert_int_equal(c->limits.shutdown_ms, 10000);
	assert_string_equal(c->admin.host, "127.0.0.1");
	assert_int_equal(c->admin.port, 9808);
	assert_int_equal(c->log.level, BR_INFO);
	assert_false(c->log.json || c->log.delivered);
	br_config_free(c);
}

/* As the end-to-end tests write theirs. */
static void
everything(void **state)
{
	struct br_config *c = must_load(
	    "kafka = {\n  brokers = \"h:1,h:2\";\n  topics = [ \"a.ob\" ];\n"
	    "  group = \"a.g\";\n  start = \"latest\";\n  on_gap = "
	    "\"earliest\";\n  properties = [ \"session.timeout.ms=4000\", "
	    "\"consumer.fetch.wait.max.ms=10\", \"client.rack=\" ];\n};\n"
	    "source = {\n  format = \"json_schema\";\n  formats = ( { topic = "
	    "\"x*\"; format = \"bytes\"; }, { topic = \"y\"; format = "
	    "\"string\"; } );\n on_null_payload = \"send_empty\"; };\n"
	    "delivery = {\n  url = \"http://127.0.0.1:1/x\";\n  timeout_ms = "
	    "50;\n order = \"none\"; event_url = \"ignore\"; "
	    "idempotency_style = \"sf\"; };\n"
	    "retry = {\n  max_attempts = 5;\n  base_ms = 10;\n  jitter = "
	    "0.1;\n success_on = [ \"409\" ]; drop_on = [ \"5xx\", \"400-417\" "
	    "];\n  throttle_match = \"(rate|request) limit\\\\.\"; };\nbreaker "
	    "= {\n  failures = 0;\n  after = 0;\n"
	    "  on_full = \"dlq\"; };\n"
	    "dlq = {\n  topic = \"a.ob.dlq\";\n};\n"
	    "routes = ( {\n    name = \"r\";\n    match = {\n      topic = "
	    "\"a.*\";\n    };\n    url = \"http://h/\";\n  },\n{ name = \"s\"; "
	    "match = { event_type = \"e\"; aggregate_type = \"g\"; host = "
	    "\"*.h\"; header = \"a=b\"; } } );\n"
	    "admin = {\n  listen = \"[::1]:0\";\n};\n"
	    "log = {\n  level = \"debug\";\n  format = \"json\"; delivered = "
	    "True;\n};\nlimits = { buffer_bytes = 5000000000L; };\n");

	(void)state;
	assert_string_equal(c->kafka.brokers, "h:1,h:2");
	assert_int_equal(c->kafka.start, BR_START_LATEST);
	assert_int_equal(c->kafka.on_gap, BR_ON_GAP_EARLIEST);
	assert_int_equal(c->kafka.properties.count, 3);
	assert_int_equal(c->source.format, BR_FORMAT_JSON_SCHEMA);
	assert_int_equal(c->source.format_count, 2);
	assert_string_equal(c->source.formats[0].topic, "x*");
	assert_int_equal(c->source.formats[0].format, BR_FORMAT_BYTES);
	assert_int_equal(c->source.formats[1].format, BR_FORMAT_STRING);
	assert_int_equal(c->source.on_null_payload, BR_ON_NULL_SEND_EMPTY);
	assert_int_equal(c->delivery.timeout_ms, 50);
	assert_int_equal(c->delivery.order, BR_ORDER_NONE);
	assert_true(c->delivery.event_url_ignore && c->delivery.idempotency_sf);
	assert_int_equal(c->retry.rules.base_ms, 10);
	assert_true(br_status_set_has(&c->retry.verdict.success_on, 409));
	assert_true(br_status_set_has(&c->retry.verdict.drop_on, 599));
	assert_true(br_status_set_has(&c->retry.verdict.drop_on, 417));
	assert_false(br_status_set_has(&c->retry.verdict.drop_on, 418));
	assert_string_equal(c->retry.throttle_match, "(rate|request) limit\\.");
	assert_int_equal(c->breaker.failures, 0);
	assert_true(c->breaker.shed);
	assert_int_equal(c->route_count, 2);
	assert_string_equal(c->routes[0].name, "r");
	assert_string_equal(c->routes[0].match_topic, "a.*");
	assert_string_equal(c->routes[0].match_header, "");
	assert_string_equal(c->routes[0].url, "http://h/");
	assert_string_equal(c->routes[1].match_event_type, "e");
	assert_string_equal(c->routes[1].match_aggregate_type, "g");
	assert_string_equal(c->routes[1].match_host, "*.h");
	assert_string_equal(c->routes[1].match_header, "a=b");
	assert_null(c->routes[1].url);
	assert_string_equal(c->admin.host, "::1");
	assert_int_equal(c->admin.port, 0);
	assert_int_equal(c->log.level, BR_DEBUG);
	assert_true(c->log.json && c->log.delivered);
	assert_true(c->limits.buffer_bytes == 5000000000);
	br_config_free(c);
}

/* 5, 5.0, 5L, 0x5 and "${…}" are one number; so are lists of one. */
static void
spellings(void **state)
{
	static const char *const fives[] = {"5", "5.0", "5L", "5LL", "0x5",
	    "0x5L", "+5", "5e0", "0.5e1", "5.", "\"${env:BR_FIVE}\"",
	    "\"${env:BR_NOT_THERE:-5.0}\"", "\"${env:BR_NOT_THERE:-5L}\""};
	static const char *const topics[] = {"\"t\"", "[ \"t\" ]", "( \"t\" )",
	    "[\"t\"]", "(\"t\")", "\"${env:BR_T}\""};
	struct br_buffer text = {0};
	struct br_config *c;

	(void)state;
	setenv("BR_FIVE", "5", 1);
	setenv("BR_T", "t", 1);
	unsetenv("BR_NOT_THERE");
	for (size_t i = 0; i < sizeof(fives) / sizeof(*fives); i++) {
		br_buffer_clear(&text);
		br_buffer_format(
		    &text, HEAD "retry = { base_ms = %s; };", fives[i]);
		c = must_load(text.data);
		assert_int_equal(c->retry.rules.base_ms, 5);
		br_config_free(c);
	}
	for (size_t i = 0; i < sizeof(topics) / sizeof(*topics); i++) {
		br_buffer_clear(&text);
		br_buffer_format(&text,
		    "kafka = { brokers = \"b\"; topics = %s; }; delivery = { "
		    "url = \"http://h/\"; };",
		    topics[i]);
		c = must_load(text.data);
		assert_int_equal(c->kafka.topics.count, 1);
		assert_string_equal(c->kafka.topics.item[0], "t");
		br_config_free(c);
	}
	c = must_load(HEAD "retry = { jitter = 1; retry_on = ( 409, \"5xx\" "
	                   "); }; log = { delivered = \"${env:BR_NOT_THERE:-"
	                   "true}\"; }; routes = { name = \"one\"; };");
	assert_true(c->retry.rules.jitter == 1.0);
	assert_true(br_status_set_has(&c->retry.verdict.retry_on, 409));
	assert_true(br_status_set_has(&c->retry.verdict.retry_on, 500));
	assert_true(c->log.delivered);
	assert_int_equal(c->route_count, 1);
	assert_string_equal(c->routes[0].name, "one");
	br_config_free(c);
	br_buffer_free(&text);
}

/* Legal libconfig, if unusual, stays legal. */
static void
grammar(void **state)
{
	static const char *const texts[] = {HEAD "retry = { base_ms = 5 }",
	    HEAD "retry : { base_ms : 5, jitter : 0 }",
	    HEAD "retry={base_ms=5 jitter=0.}",
	    HEAD "retry={base_ms=5jitter=.0}",
	    HEAD "# note\n// note\n/* note\n * note */ retry = { } // end",
	    HEAD "# a = \"b",
	    HEAD "retry = { /* 5ms 010 'x' */ base_ms = 0x1F/**/; };\r\n",
	    HEAD "log = { delivered = TRUE; };\f",
	    HEAD "retry = { retry_on = ( ); drop_on = [ ]; };",
	    HEAD "dlq = { topic = \"\\x64\\x6Cq\" };",
	    ("kafka = { brokers = \"b\"; topics = \"^a\\.b\"; }; delivery = { "
	     "event_urls = \"h\"; };")};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		br_config_free(must_load(texts[i]));
}

static void
references(void **state)
{
	char file[] = "/tmp/br_config_XXXXXX";
	struct br_buffer text = {0};
	int fd = mkstemp(file);
	struct br_config *c;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "gr\nup\r\n", 7), 7);
	close(fd);
	setenv("BR_A", "a", 1);
	setenv("BR_EMPTY", "", 1);
	br_buffer_format(&text,
	    "kafka = { brokers = \"${env:BR_A}${env:BR_A}:1\"; topics = [ "
	    "\"t\" ]; group = \"${file:%s}\"; instance = \"$${env:BR_A} $ $$ "
	    "${env:BR_EMPTY}|${env:BR_EMPTY:-d:-e}\"; };\n"
	    "delivery = { url = \"http://${env:BR_A}/\"; };",
	    file);
	c = must_load(text.data);
	assert_string_equal(c->kafka.brokers, "aa:1");
	assert_string_equal(c->kafka.group, "gr\nup");
	assert_string_equal(c->kafka.instance, "${env:BR_A} $ $$ |d:-e");
	assert_string_equal(c->delivery.url, "http://a/");
	br_config_free(c);
	unlink(file);
	br_buffer_free(&text);
}

static void
bad_references(void **state)
{
	static const struct {
		const char *value;
		const char *words;
	} rows[] = {{"${env:BR_NOT_THERE}", "BR_NOT_THERE is not set"},
	    {"${env:}", "needs the name"}, {"${file:}", "needs the path"},
	    {"${file:/nonexistent}", "No such file"},
	    {"${file:/tmp}", "it is a directory"},
	    {"${file:/dev/zero}", "larger than 1 MiB"},
	    {"${HOME}", "is written ${env:NAME}"},
	    {"a${env:HOME", "has no '}'"}};
	struct br_buffer text = {0}, faults = {0};

	(void)state;
	unsetenv("BR_NOT_THERE");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		br_buffer_clear(&text);
		br_buffer_clear(&faults);
		br_buffer_format(
		    &text, HEAD "dlq = { topic = \"%s\"; };", rows[i].value);
		assert_null(load(text.data, &faults));
		if (strstr(faults.data, NAME ":2: dlq.topic: ") == NULL ||
		    strstr(faults.data, rows[i].words) == NULL)
			fail_msg("%s gives %s", rows[i].value, faults.data);
	}
	br_buffer_free(&text);
	br_buffer_free(&faults);
}

/* ms since 1970 that kafka.start means. */
static int64_t
start_ms(const char *text)
{
	struct br_buffer b = {0};
	struct br_config *c;
	int64_t ms;

	br_buffer_format(&b,
	    "kafka = { brokers = \"b\"; topics = \"t\"; start = \"%s\"; }; "
	    "delivery = { url = \"http://h/\"; };",
	    text);
	c = must_load(b.data);
	assert_int_equal(c->kafka.start, BR_START_TIME);
	ms = c->kafka.start_time_ms;
	br_config_free(c);
	br_buffer_free(&b);
	return ms;
}

static void
start_times(void **state)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} ago[] = {{"-90s", 90}, {"-5m", 300}, {"-2h", 7200}, {"-3d", 259200},
	    {"-0s", 0}};

	(void)state;
	assert_int_equal(start_ms("1970-01-01T00:00:00Z"), 0);
	assert_int_equal(start_ms("2026-01-31T08:00:00Z"), 1769846400000);
	assert_int_equal(start_ms("2026-01-31T08:00:00.25Z"), 1769846400250);
	assert_int_equal(
	    start_ms("2026-01-31t10:00:00.123456+02:00"), 1769846400123);
	assert_int_equal(start_ms("2026-01-31 02:30:00-05:30"), 1769846400000);
	assert_int_equal(start_ms("2024-02-29T00:00:00z"), 1709164800000);
	assert_int_equal(start_ms("2000-03-01T00:00:00Z"), 951868800000);
	for (size_t i = 0; i < sizeof(ago) / sizeof(*ago); i++) {
		int64_t before = br_clock_wall_ms();
		int64_t got = start_ms(ago[i].text);

		assert_in_range(got, before - ago[i].seconds * 1000,
		    br_clock_wall_ms() - ago[i].seconds * 1000);
	}
}

/* No delivery.url is needed when events or routes have one. */
static void
destinations(void **state)
{
	static const char *const texts[] = {KAFKA
	    "delivery = { event_urls = [ \"h\", \"*.x.test:8443\", "
	    "\"http://localhost:8080\" ]; };",
	    KAFKA "routes = ( { name = \"a\"; url = \"https://h/\"; } );",
	    KAFKA "delivery = { url = \"http://h/\"; }; routes = ( { name = "
	          "\"a\"; } );",
	    KAFKA "delivery = { event_urls = \"h\"; }; routes = ( { name = "
	          "\"a\"; } );"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		br_config_free(must_load(texts[i]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(defaults),
	    cmocka_unit_test(more_defaults), cmocka_unit_test(everything),
	    cmocka_unit_test(spellings), cmocka_unit_test(grammar),
	    cmocka_unit_test(references), cmocka_unit_test(bad_references),
	    cmocka_unit_test(start_times), cmocka_unit_test(destinations)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
