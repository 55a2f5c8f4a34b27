/* Where an event goes: its own URL, its route's, the configured one, or none. */
#include "intake_gate.h"

/* The same from a topic that tells no aggregate. */
static enum br_intake_result
take_from(
    struct gate *g, const char *topic, const char *name, const char *value)
{
	const struct br_header headers[] = {
	    header("id", "42"), header(name, value)};
	struct br_record record = record_of("{\"a\":1}", headers, 2);

	record.topic = topic;
	return take(g, &record);
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
	expect_aim(&g, "http://fallback:81/f", "http://fallback:81", "", false);
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

/* A rule looks at all of a text, however long: else the event would go to
 * another receiver. */
static void
long_types(void **state)
{
	char type[305], aggregate[305];
	struct gate g;

	(void)state;
	open_gate(&g,
	    "delivery = { url = \"https://fallback/\"; };\nroutes = (\n"
	    " { name = \"type\"; match = { event_type = \"a*.end\"; }; },\n"
	    " { name = \"aggregate\"; match = { aggregate_type = "
	    "\"b*.end\"; }; } );");
	memset(type, 'a', 300);
	(void)strcpy(type + 300, ".end");
	(void)take_with(&g, "eventType", type, NULL, NULL);
	expect_text(g.ref->event->event_type, type);
	expect_text(g.ref->event->route, "type");
	memset(aggregate, 'b', 300);
	(void)strcpy(aggregate + 300, ".end");
	(void)take_from(&g, "a.topic", "aggregatetype", aggregate);
	expect_text(g.ref->event->aggregate_type, aggregate);
	expect_text(g.ref->event->route, "aggregate");
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
	assert_int_equal(take_url(&g, "https://own.example/"), BR_INTAKE_EVENT);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(which_url),
	    cmocka_unit_test(long_types),
	    cmocka_unit_test(refused_urls),
	    cmocka_unit_test(long_urls),
	    cmocka_unit_test(wire_form),
	    cmocka_unit_test(empty_list_holds),
	    cmocka_unit_test(event_url_ignored),
	    cmocka_unit_test(nowhere_to_go),
	};

	return cmocka_run_group_tests_name("intake_url", tests, NULL, NULL);
}
