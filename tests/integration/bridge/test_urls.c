/* Where events go: their own URLs, routes, and what may not be sent. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

/* A second receiver, which an event or a route names. */
struct other {
	struct receiver *receiver;
	char url[128];
};

static struct other
other_new(void)
{
	struct other o;

	o.receiver = receiver_new(&(struct receiver_options){0});
	assert_non_null(o.receiver);
	(void)snprintf(
	    o.url, sizeof(o.url), "%s/theirs?a=1", receiver_url(o.receiver));
	return o;
}

static void
check_path(struct receiver *r, size_t i, const char *path)
{
	assert_non_null(receiver_request(r, i));
	assert_string_equal(receiver_request(r, i)->path, path);
}

static void
own_url_wins(void **state)
{
	struct other o = other_new();
	struct br_header own = {"targetUrl", br_slice_str(o.url)};
	struct br_header foreign = {
	    "targetUrl", br_slice_str("http://127.0.0.1:1/x")};
	struct br_header broken = {"target_url", br_slice_str("ftp://a/b")};
	char delivery[200];
	struct rig *r;
	unsigned forbidden, invalid;

	(void)state;
	(void)snprintf(delivery, sizeof(delivery), "event_urls = [ \"%s\" ];",
	    receiver_url(o.receiver));
	r = rig_new(
	    &(struct rig_options){.delivery = delivery, .order = RIG_NO_ORDER});
	(void)rig_event_with(r, 0, 1, &own, 1);
	forbidden = rig_event_with(r, 0, 1, &foreign, 1);
	invalid = rig_event_with(r, 0, 2, &broken, 1);
	(void)rig_event(r, 0, 1);
	rig_flush(r);
	rig_start(r);
	WAIT_FOR(rig_all_committed(r));
	assert_int_equal(receiver_requests(o.receiver), 1);
	check_path(o.receiver, 0, "/theirs?a=1");
	assert_int_equal(receiver_requests(r->receiver), 1);
	check_path(r->receiver, 0, "/hook");
	assert_int_equal(rig_letters(r), 2);
	assert_string_equal(
	    rig_header(rig_letter(r, forbidden), "outbox.dlq.reason"),
	    "url-forbidden");
	assert_string_equal(
	    rig_header(rig_letter(r, forbidden), "outbox.dlq.attempts"), "0");
	assert_string_equal(
	    rig_header(rig_letter(r, invalid), "outbox.dlq.reason"),
	    "url-invalid");
	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	rig_free(r);
	receiver_free(o.receiver);
}

/* Without event_urls its partition waits; a line of configuration cures it. */
static void
waits_for_event_urls(void **state)
{
	struct other o = other_new();
	struct br_header own = {"targetUrl", br_slice_str(o.url)};
	char delivery[200];
	struct rig *r = rig_new(&(struct rig_options){.partitions = 2});
	unsigned held;

	(void)state;
	for (int i = 0; i < 10; i++)
		(void)rig_event(r, 0, i);
	held = rig_event_with(r, 0, 1, &own, 1);
	for (int i = 0; i < 20; i++)
		(void)rig_event(r, i % 2, i);
	rig_flush(r);
	rig_begin(r);
	WAIT_FOR(rig_complains(r, "event_urls_empty"));
	/* It names what is missing. */
	assert_true(rig_complains(r, receiver_url(o.receiver)));
	assert_true(rig_complains(r, "delivery.event_urls"));
	WAIT_FOR(rig_accepted(r) == 20);
	WAIT_FOR(rig_committed(r, 1) == 10 && rig_committed(r, 0) == 10);
	/* The other partition goes on; this one stays where it is. */
	for (int i = 0; i < 10; i++) {
		(void)rig_event(r, 1, 30);
		(void)rig_event(r, 0, 31);
	}
	rig_flush(r);
	WAIT_FOR(rig_committed(r, 1) == 20);
	assert_int_equal(rig_committed(r, 0), rig_look(r, held).offset);
	assert_int_equal(rig_accepted(r), 30);
	assert_int_equal(rig_letters(r), 0);
	assert_int_equal(receiver_requests(o.receiver), 0);
	assert_true(rig_complains(r, "event_urls_empty"));
	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	assert_int_equal(rig_committed(r, 0), rig_look(r, held).offset);

	(void)snprintf(delivery, sizeof(delivery), "event_urls = [ \"%s\" ];",
	    receiver_url(o.receiver));
	r->options.delivery = delivery;
	rig_start(r);
	WAIT_FOR(rig_all_committed(r));
	assert_int_equal(receiver_requests(o.receiver), 1);
	assert_int_equal(rig_accepted(r), r->count - 1);
	assert_int_equal(rig_letters(r), 0);
	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	rig_free(r);
	receiver_free(o.receiver);
}

static void
ignored_urls(void **state)
{
	struct br_header own = {
	    "targetUrl", br_slice_str("https://elsewhere.example/x")};
	struct rig *r = rig_new(
	    &(struct rig_options){.delivery = "event_url = \"ignore\";"});

	(void)state;
	(void)rig_event_with(r, 0, 1, &own, 1);
	rig_flush(r);
	rig_start(r);
	WAIT_FOR(rig_all_accepted(r));
	WAIT_FOR(rig_all_committed(r));
	check_path(r->receiver, 0, "/hook");
	rig_check_once(r);
	assert_int_equal(rig_letters(r), 0);
	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	rig_free(r);
}

static size_t
seen_with_path(struct receiver *r, const char *path)
{
	size_t count = 0;

	for (size_t i = 0; i < receiver_requests(r); i++)
		count += strcmp(receiver_request(r, i)->path, path) == 0;
	return count;
}

/* Routes by event type and header; no delivery.url: what matches none dies. */
static void
routes(void **state)
{
	struct br_header paid = {"eventType", br_slice_str("order.paid")};
	struct br_header lost = {"eventType", br_slice_str("parcel.lost")};
	struct br_header tenant = {"tenant", br_slice_str("acme")};
	char rest[600];
	struct rig *r = rig_new(&(struct rig_options){.no_url = true});
	unsigned none;

	(void)state;
	(void)snprintf(rest, sizeof(rest),
	    "routes = ( { name = \"orders\"; "
	    "match = { event_type = \"order.*\"; topic = \"outbox.*\"; }; "
	    "url = \"%s/orders\"; }, "
	    "{ name = \"acme\"; match = { header = \"tenant=acme\"; }; "
	    "url = \"%s/acme\"; } );",
	    receiver_url(r->receiver), receiver_url(r->receiver));
	r->options.rest = rest;
	for (int i = 0; i < 5; i++) {
		(void)rig_event_with(r, 0, i, &paid, 1);
		(void)rig_event_with(r, 0, i, &tenant, 1);
	}
	none = rig_event_with(r, 0, 1, &lost, 1);
	rig_flush(r);
	rig_start(r);
	WAIT_FOR(rig_all_committed(r));
	rig_check_book(r, 4);
	assert_int_equal(receiver_requests(r->receiver), 10);
	assert_int_equal(seen_with_path(r->receiver, "/orders"), 5);
	assert_int_equal(seen_with_path(r->receiver, "/acme"), 5);
	assert_int_equal(rig_letters(r), 1);
	assert_string_equal(
	    rig_header(rig_letter(r, none), "outbox.dlq.reason"), "no-route");
	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	rig_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(own_url_wins),
	    cmocka_unit_test(waits_for_event_urls),
	    cmocka_unit_test(ignored_urls),
	    cmocka_unit_test(routes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
