/* Intake: what a record becomes, where it goes, and what is kept of it. */
#include "runtime_support.h"

#include "bridge/base/log.h"
#include "bridge/base/metrics.h"
#include "bridge/runtime/intake.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define JSON_TYPE "application/json; charset=UTF-8"

static int a_part; /* only its address counts */

/* A configuration, its intake, and the last thing that it said. */
struct gate {
	struct br_config *config;
	struct br_intake *intake;
	struct br_ref *ref;
	char host[400];
};

static void
open_gate(struct gate *g, const char *rest)
{
	struct br_error err = {""};

	br_log_setup(BR_WARN, false);
	br_metrics_reset();
	*g = (struct gate){.config = config_of(rest)};
	g->intake = br_intake_new(g->config, &err);
	if (g->intake == NULL)
		fail_msg("%s", err.text);
}

static void
close_gate(struct gate *g)
{
	br_ref_free(g->ref);
	br_intake_free(g->intake);
	br_config_free(g->config);
}

static struct br_sched_part *
part(void)
{
	return (struct br_sched_part *)(void *)&a_part;
}

static enum br_intake_result
take(struct gate *g, const struct br_record *record)
{
	br_ref_free(g->ref);
	g->ref = NULL;
	(void)strcpy(g->host, "(untouched)");
	return br_intake_take(g->intake, record, part(), &g->ref, g->host,
	    sizeof(g->host));
}

static struct br_record
record_of(const char *body, const struct br_header *headers, size_t count)
{
	return (struct br_record){.topic = "outbox.event.order",
	    .partition = 2,
	    .offset = 77,
	    .timestamp_ms = 1700000000123,
	    .time_kind = BR_TIME_APPEND,
	    .key = br_slice_str("k1"),
	    .value = br_slice_str(body),
	    .headers = headers,
	    .header_count = count};
}

static struct br_header
header(const char *name, const char *value)
{
	return (struct br_header){name, br_slice_str(value)};
}

/* Takes an event with an id and up to two further headers (NULL: none). */
static enum br_intake_result
take_with(struct gate *g, const char *name, const char *value,
    const char *name2, const char *value2)
{
	struct br_header headers[] = {header("id", "42"),
	    header(name != NULL ? name : "", value),
	    header(name2 != NULL ? name2 : "", value2)};
	struct br_record record = record_of("{\"a\":1}", headers,
	    name == NULL        ? 1
	        : name2 == NULL ? 2
	                        : 3);

	return take(g, &record);
}

static enum br_intake_result
take_url(struct gate *g, const char *url)
{
	return take_with(g, "target_url", url, NULL, NULL);
}

static void
expect_text(const char *got, const char *expected)
{
	if (expected == NULL) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_string_equal(got, expected);
}

static void
expect_slice(struct br_slice got, const char *expected)
{
	if (!br_slice_eq(got, br_slice_str(expected)))
		fail_msg("\"%.*s\" is not \"%s\"", (int)got.len,
		    (const char *)got.data,
		    expected != NULL ? expected : "(absent)");
}

/* The event that was taken goes there. */
static void
expect_aim(const struct gate *g, const char *url, const char *target,
    const char *route, bool own)
{
	const struct br_event *ev = g->ref->event;

	expect_text(ev->reason, NULL);
	expect_text(ev->url, url);
	expect_text(ev->target, target);
	expect_text(ev->route, route);
	assert_int_equal(ev->url_from_event, own);
}

static void
expect_dead(const struct gate *g, const char *reason, const char *stage)
{
	const struct br_event *ev = g->ref->event;

	expect_text(ev->reason, reason);
	expect_text(ev->stage, stage);
	expect_text(ev->url, NULL);
	assert_non_null(ev->detail);
	assert_int_not_equal(ev->detail[0], '\0');
}

static void
everything_of_an_event(void **state)
{
	const struct br_header headers[] = {header("id", "42"),
	    header("eventType", "OrderPlaced"),
	    header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-"
	                          "b7ad6b7169203331-01"),
	    header("tracestate", "a=b"), {"null", {NULL, 0}},
	    header("empty", "")};
	struct br_record record = record_of("{\"a\": 1.50}", headers, 6);
	const struct br_event *ev;
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://H.example/hook?a=b\"; };\n"
	              "source = { format = \"json\"; };");
	assert_int_equal(take(&g, &record), BR_INTAKE_EVENT);
	ev = g.ref->event;
	expect_aim(&g, "https://H.example/hook?a=b", "https://h.example:443",
	    "", false);
	expect_slice(ev->body, "{\"a\": 1.50}");
	expect_text(ev->event_id, "42");
	expect_text(ev->idempotency_key, "42");
	expect_text(ev->event_type, "OrderPlaced");
	expect_text(ev->aggregate_type, "order");
	expect_text(ev->traceparent,
	    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
	expect_text(ev->tracestate, "a=b");
	expect_text(ev->content_type, JSON_TYPE);
	expect_text(ev->format, "json");
	expect_text(ev->detail, NULL);
	expect_slice(ev->order_key, "k1");
	assert_int_equal(ev->max_attempts, 5);
	assert_false(ev->literal_host);
	assert_int_equal(g.ref->offset, 77);
	assert_ptr_equal(g.ref->part, part());
	assert_int_equal(g.ref->attempts, 0);
	assert_int_equal(g.ref->due_ms, 0);
	assert_null(g.ref->failure);
	close_gate(&g);
}

/* event > route > delivery.url */
static void
which_url(void **state)
{
	struct gate g;

	(void)state;
	open_gate(&g,
	    "delivery = { url = \"http://fallback:81/f\";\n"
	    "  event_urls = [ \"own.example\" ]; };\n"
	    "routes = ( { name = \"first\"; match = { event_type = \"A*\"; };"
	    " url = \"https://route.example/r\"; },\n"
	    " { name = \"host\"; match = { host = \"own.*\"; }; },\n"
	    " { name = \"bare\"; match = { event_type = \"B\"; }; } );");
	assert_int_equal(
	    take_with(&g, NULL, NULL, NULL, NULL), BR_INTAKE_EVENT);
	expect_aim(
	    &g, "http://fallback:81/f", "http://fallback:81", "", false);
	(void)take_with(&g, "eventType", "A1", NULL, NULL);
	expect_aim(&g, "https://route.example/r", "https://route.example:443",
	    "first", false);
	/* A route without a URL, and one for a host of the event's own. */
	(void)take_with(&g, "eventType", "B", NULL, NULL);
	expect_aim(
	    &g, "http://fallback:81/f", "http://fallback:81", "bare", false);
	(void)take_url(&g, "https://own.example/o");
	expect_aim(&g, "https://own.example/o", "https://own.example:443",
	    "host", true);
	(void)take_with(
	    &g, "eventType", "A1", "target_url", "https://own.example/o");
	expect_aim(&g, "https://own.example/o", "https://own.example:443",
	    "first", true);
	close_gate(&g);
}

/* Never a silent fallback to a receiver that the event did not name. */
static void
refused_urls(void **state)
{
	static const char *const invalid[] = {"ftp://own.example/secret",
	    "https://user:secret@own.example/", "own.example/secret",
	    "https://own.example:0/secret", "https://own.example/secret#x",
	    "https://own.example/a secret"};
	static const char *const forbidden[] = {"https://other.example/secret",
	    "https://own.example:444/secret", "http://own.example/secret",
	    "https://sub.own.example/secret", "http://127.0.0.1/secret"};
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://fallback/\"; "
	              "event_urls = [ \"own.example\" ]; };");
	for (size_t i = 0; i < COUNT(invalid); i++) {
		assert_int_equal(take_url(&g, invalid[i]), BR_INTAKE_EVENT);
		expect_dead(&g, "url-invalid", "validate");
		assert_null(strstr(g.ref->event->detail, "secret"));
	}
	for (size_t i = 0; i < COUNT(forbidden); i++) {
		assert_int_equal(take_url(&g, forbidden[i]), BR_INTAKE_EVENT);
		expect_dead(&g, "url-forbidden", "validate");
		assert_null(strstr(g.ref->event->detail, "secret"));
	}
	/* It says which. */
	(void)take_url(&g, "https://other.example/secret?x");
	assert_non_null(
	    strstr(g.ref->event->detail, "https://other.example:443"));
	/* The rest of a dead letter's event is there. */
	expect_text(g.ref->event->idempotency_key, "42");
	expect_slice(g.ref->event->order_key, "k1");
	expect_slice(g.ref->event->record.value, "{\"a\":1}");
	close_gate(&g);
}

/* 1000 bytes are allowed, the next one is not. */
static void
long_urls(void **state)
{
	char url[1002] = "https://own.example/";
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { event_urls = [ \"own.example\" ]; };");
	memset(url + 20, 'a', 981);
	(void)take_url(&g, url);
	expect_dead(&g, "url-invalid", "validate");
	url[1000] = '\0';
	(void)take_url(&g, url);
	expect_aim(&g, url, "https://own.example:443", "", true);
	/* All of it three times as long on the wire. */
	for (size_t i = 20; i < 1000; i += 2)
		memcpy(url + i, "\xc3\xa9", 2);
	(void)take_url(&g, url);
	expect_text(g.ref->event->reason, NULL);
	assert_int_equal(strlen(g.ref->event->url), 20 + 3 * 980);
	assert_string_equal(g.ref->event->url + 20 + 3 * 978, "%C3%A9");
	close_gate(&g);
}

static void
wire_form(void **state)
{
	struct gate g;

	(void)state;
	open_gate(&g,
	    "delivery = { url = \"https://h/\xc3\xb3?q=%20\";\n"
	    "event_urls = [ \"*.own.example:8443\", \"http://127.0.0.1:80\","
	    " \"http://localhost:8080\" ]; };");
	(void)take_with(&g, NULL, NULL, NULL, NULL);
	expect_aim(&g, "https://h/%C3%B3?q=%20", "https://h:443", "", false);
	(void)take_url(&g, "https://A.Own.Example:8443/\xc3\xb3");
	expect_aim(&g, "https://A.Own.Example:8443/%C3%B3",
	    "https://a.own.example:8443", "", true);
	assert_false(g.ref->event->literal_host);
	/* The list itself names a private address: it is meant. */
	(void)take_url(&g, "http://127.0.0.1/x");
	expect_aim(&g, "http://127.0.0.1/x", "http://127.0.0.1:80", "", true);
	assert_true(g.ref->event->literal_host);
	(void)take_url(&g, "http://localhost:8080/x");
	assert_true(g.ref->event->literal_host);
	close_gate(&g);
}

/* Without a list an event that names a URL waits; others do not. */
static void
empty_list_holds(void **state)
{
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://fallback/\"; };");
	assert_int_equal(
	    take_url(&g, "https://Own.example/secret?x"), BR_INTAKE_HOLD);
	assert_null(g.ref);
	assert_string_equal(g.host, "https://own.example:443");
	assert_int_equal(
	    take_with(&g, NULL, NULL, NULL, NULL), BR_INTAKE_EVENT);
	assert_string_equal(g.host, "(untouched)");
	/* No line of configuration would cure this one. */
	assert_int_equal(take_url(&g, "gopher://x/"), BR_INTAKE_EVENT);
	expect_dead(&g, "url-invalid", "validate");
	close_gate(&g);
}

static void
event_url_ignored(void **state)
{
	struct gate g;

	(void)state;
	open_gate(&g,
	    "delivery = { url = \"https://fallback/\"; event_url = \"ignore\";"
	    " };\nroutes = ( { name = \"own\"; "
	    "match = { host = \"*\"; }; url = \"https://route/\"; } );");
	assert_int_equal(
	    take_url(&g, "https://own.example/"), BR_INTAKE_EVENT);
	expect_aim(&g, "https://fallback/", "https://fallback:443", "", false);
	(void)take_url(&g, "no URL at all");
	expect_aim(&g, "https://fallback/", "https://fallback:443", "", false);
	close_gate(&g);
}

static void
nowhere_to_go(void **state)
{
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { event_urls = [ \"own.example\" ]; };\n"
	              "routes = ( { name = \"bare\"; "
	              "match = { event_type = \"B\"; }; } );");
	assert_int_equal(
	    take_with(&g, NULL, NULL, NULL, NULL), BR_INTAKE_EVENT);
	expect_dead(&g, "no-route", "validate");
	expect_text(g.ref->event->idempotency_key, "42");
	(void)take_with(&g, "eventType", "B", NULL, NULL);
	expect_dead(&g, "no-route", "validate");
	expect_text(g.ref->event->route, "bare");
	(void)take_url(&g, "https://own.example/");
	expect_text(g.ref->event->reason, NULL);
	close_gate(&g);
}

/* An event without any id: dead, or a key from where it lies. */
static void
offset_key(void **state)
{
	struct br_record record = record_of("{\"a\":1}", NULL, 0);
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://h/\"; };");
	assert_int_equal(take(&g, &record), BR_INTAKE_EVENT);
	expect_dead(&g, "missing-id", "extract");
	expect_text(g.ref->event->idempotency_key, NULL);
	close_gate(&g);

	open_gate(&g, "delivery = { url = \"https://h/\"; };\n"
	              "source = { allow_offset_key = true; };");
	record.offset = 9007199254740993;
	assert_int_equal(take(&g, &record), BR_INTAKE_EVENT);
	expect_text(g.ref->event->reason, NULL);
	expect_text(g.ref->event->event_id, NULL);
	expect_text(g.ref->event->idempotency_key,
	    "outbox.event.order-2-9007199254740993");
	/* One with an id keeps it. */
	(void)take_with(&g, NULL, NULL, NULL, NULL);
	expect_text(g.ref->event->idempotency_key, "42");
	(void)take_with(&g, "idempotency_key", "own-key", NULL, NULL);
	expect_text(g.ref->event->idempotency_key, "own-key");
	expect_text(g.ref->event->event_id, "42");
	close_gate(&g);
}

static void
expect_type(struct gate *g, struct br_slice value, const char *given,
    const char *expected)
{
	const struct br_header headers[] = {
	    header("id", "42"), header("content-type", given)};
	struct br_record record =
	    record_of(NULL, headers, given != NULL ? 2 : 1);

	record.value = value;
	assert_int_equal(take(g, &record), BR_INTAKE_EVENT);
	expect_text(g->ref->event->reason, NULL);
	expect_text(g->ref->event->content_type, expected);
	assert_true(br_slice_eq(g->ref->event->body, value));
}

static void
content_types(void **state)
{
	static const uint8_t binary[] = {0x80, 0x00, 0x01};
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://h/\"; };\n"
	              "source = { format = \"string\"; };");
	expect_type(&g, br_slice_str("[1]"), NULL, JSON_TYPE);
	expect_type(&g, br_slice_str("za\xc5\xbc"), NULL,
	    "text/plain; charset=UTF-8");
	expect_type(&g, (struct br_slice){binary, sizeof(binary)}, NULL,
	    "application/octet-stream");
	expect_type(&g, br_slice_str("<a/>"), "application/xml",
	    "application/xml");
	expect_type(&g, br_slice_str("[1]"), "application/x; v=\"1\"",
	    "application/x; v=\"1\"");
	close_gate(&g);
}

static void
attempts_and_order(void **state)
{
	static const struct {
		const char *given;
		uint32_t expected;
	} cases[] = {
	    {"3", 3}, {"1", 1}, {"0", 1}, {"999", 999}, {"x", 7}, {"1000", 7}};
	const struct br_header id = header("id", "42");
	struct br_record record = record_of("{\"a\":1}", &id, 1);
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://h/\"; };\n"
	              "retry = { max_attempts = 7; };");
	for (size_t i = 0; i < COUNT(cases); i++) {
		(void)take_with(
		    &g, "max_retries", cases[i].given, NULL, NULL);
		assert_int_equal(
		    g.ref->event->max_attempts, cases[i].expected);
	}
	(void)take(&g, &record);
	assert_int_equal(g.ref->event->max_attempts, 7);
	/* A converter's quotes do not make another key; none is none. */
	record.key = br_slice_str("\"k1\"");
	(void)take(&g, &record);
	expect_slice(g.ref->event->order_key, "k1");
	expect_slice(g.ref->event->record.key, "\"k1\"");
	record.key = br_slice_str(NULL);
	(void)take(&g, &record);
	assert_int_equal(g.ref->event->order_key.len, 0);
	assert_null(g.ref->event->record.key.data);
	record.key = br_slice_str("");
	(void)take(&g, &record);
	assert_int_equal(g.ref->event->order_key.len, 0);
	assert_non_null(g.ref->event->record.key.data);
	close_gate(&g);
}

static void
skipped_is_counted(void **state)
{
	struct br_record record = record_of(NULL, NULL, 0);
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://h/\"; };");
	assert_int_equal(take(&g, &record), BR_INTAKE_SKIP);
	assert_null(g.ref);
	assert_int_equal(br_metric_get_label(BR_M_SKIPPED, "tombstone"), 1);
	assert_int_equal(take(&g, &record), BR_INTAKE_SKIP);
	assert_int_equal(br_metric_get_label(BR_M_SKIPPED, "tombstone"), 2);
	close_gate(&g);
}

/* Its own memory for every text, exactly as long: a sanitizer sees a step
 * beyond it, and a use after it was freed. */
static struct br_slice
own(const char *bytes, size_t len)
{
	uint8_t *copy = malloc(len != 0 ? len : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	return (struct br_slice){copy, len};
}

#define OWN(text) own((text), sizeof(text) - 1)

static void
disown(struct br_slice s)
{
	union {
		const uint8_t *data;
		void *memory;
	} u = {.data = s.data};

	if (s.data == NULL)
		return;
	memset(u.memory, 'Z', s.len);
	free(u.memory);
}

static char *
own_text(const char *text)
{
	char *copy = strdup(text);

	assert_non_null(copy);
	return copy;
}

static void
original_stays(const struct br_event *ev)
{
	const struct br_record *r = &ev->record;
	static const char *const names[] = {"id", "a", "a", "null", "empty"};

	expect_text(r->topic, "outbox.event.order");
	assert_int_equal(r->partition, 2);
	assert_int_equal(r->offset, 77);
	assert_int_equal(r->timestamp_ms, 1700000000123);
	assert_int_equal(r->time_kind, BR_TIME_APPEND);
	assert_int_equal(r->key.len, 4);
	assert_memory_equal(r->key.data, "k\0\xff" "1", 4);
	expect_slice(r->value, "\"z\\u0142\\n\"");
	assert_int_equal(r->header_count, 5);
	for (size_t i = 0; i < 5; i++)
		expect_text(r->headers[i].name, names[i]);
	expect_slice(r->headers[0].value, "42");
	assert_int_equal(r->headers[1].value.len, 3);
	assert_memory_equal(r->headers[1].value.data, "\0\xfe\xff", 3);
	expect_slice(r->headers[2].value, "again");
	assert_null(r->headers[3].value.data);
	assert_non_null(r->headers[4].value.data);
	assert_int_equal(r->headers[4].value.len, 0);
}

/* The record's memory is gone, and so is the decoder's. */
static void
copies_are_its_own(void **state)
{
	struct br_header headers[5] = {{own_text("id"), OWN("42")},
	    {own_text("a"), OWN("\0\xfe\xff")}, {own_text("a"), OWN("again")},
	    {own_text("null"), {NULL, 0}}, {own_text("empty"), OWN("")}};
	struct br_record record = record_of(NULL, headers, 5);
	char *topic = own_text("outbox.event.order");
	struct br_ref *ref;
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://h/x\"; };\n"
	              "source = { format = \"json\"; };");
	record.topic = topic;
	record.key = OWN("k\0\xff" "1");
	record.value = OWN("\"z\\u0142\\n\"");
	assert_int_equal(take(&g, &record), BR_INTAKE_EVENT);
	ref = g.ref;
	g.ref = NULL;
	for (size_t i = 0; i < 5; i++) {
		union {
			const char *name;
			void *memory;
		} u = {.name = headers[i].name};

		disown(headers[i].value);
		memset(u.memory, 'Z', strlen(headers[i].name));
		free(u.memory);
	}
	memset(headers, 0, sizeof(headers));
	disown(record.key);
	disown(record.value);
	free(topic);
	(void)take_with(&g, "eventType", "another", NULL, NULL);
	close_gate(&g);

	original_stays(ref->event);
	expect_slice(ref->event->body, "z\xc5\x82\n");
	expect_text(ref->event->event_id, "42");
	expect_text(ref->event->idempotency_key, "42");
	expect_text(ref->event->url, "https://h/x");
	expect_text(ref->event->target, "https://h:443");
	expect_text(ref->event->route, "");
	expect_text(ref->event->aggregate_type, "order");
	assert_int_equal(ref->event->order_key.len, 4);
	br_ref_free(ref);
	br_ref_free(NULL);
}

static size_t
bytes_of(struct gate *g, size_t key, size_t value, size_t header_value)
{
	static char text[5000];
	struct br_header headers[2] = {header("id", "42"), {"h", {NULL, 0}}};
	struct br_record record;

	memset(text, '7', sizeof(text));
	record = record_of(NULL, headers, 2);
	headers[1].value = (struct br_slice){(uint8_t *)text, header_value};
	record.key = (struct br_slice){(uint8_t *)text, key};
	record.value = (struct br_slice){(uint8_t *)text, value};
	assert_int_equal(take(g, &record), BR_INTAKE_EVENT);
	expect_text(g->ref->event->reason, NULL);
	return g->ref->bytes;
}

/* Every byte that is kept is counted, and a body inside the value once. */
static void
bytes_are_counted(void **state)
{
	struct gate g;
	size_t base;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://h/x\"; };");
	base = bytes_of(&g, 10, 10, 10);
	assert_true(base > sizeof(struct br_ref) + sizeof(struct br_event) +
	                       2 * sizeof(struct br_header) + 30);
	assert_true(base < sizeof(struct br_ref) + sizeof(struct br_event) +
	                       2 * sizeof(struct br_header) + 300);
	assert_int_equal(bytes_of(&g, 10, 4010, 10), base + 4000);
	assert_int_equal(bytes_of(&g, 10, 10, 4010), base + 4000);
	/* Once as it came and once as the order key. */
	assert_int_equal(bytes_of(&g, 4010, 10, 10), base + 8000);
	close_gate(&g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(everything_of_an_event),
	    cmocka_unit_test(which_url),
	    cmocka_unit_test(refused_urls),
	    cmocka_unit_test(long_urls),
	    cmocka_unit_test(wire_form),
	    cmocka_unit_test(empty_list_holds),
	    cmocka_unit_test(event_url_ignored),
	    cmocka_unit_test(nowhere_to_go),
	    cmocka_unit_test(offset_key),
	    cmocka_unit_test(content_types),
	    cmocka_unit_test(attempts_and_order),
	    cmocka_unit_test(skipped_is_counted),
	    cmocka_unit_test(copies_are_its_own),
	    cmocka_unit_test(bytes_are_counted),
	};

	return cmocka_run_group_tests_name("intake", tests, NULL, NULL);
}
