/* What the client sends, and how it reports where nothing came back. */
#include "attempt.h"

#include <pthread.h>
#include <stdlib.h>

#include "silent.h"

/* Sends `body` and compares what the receiver read. */
static void
check_body(struct br_http *h, struct receiver *r, const void *body, size_t len)
{
	struct br_http_header header = {"Content-Type", "text/plain"};
	struct br_http_request rq =
	    request_to(receiver_url(r), receiver_url(r), &header, NULL);
	size_t before = receiver_requests(r);
	const struct receiver_request *seen;
	struct br_outcome out;
	char length[32], expected[32];

	rq.body = (struct br_slice){body, len};
	br_http_perform(h, &rq, &out);
	expect("body", &out, 200, BR_TRANSPORT_OK);
	assert_int_equal(receiver_requests(r), before + 1);
	seen = receiver_request(r, before);
	assert_int_equal(seen->body_len, len);
	assert_true(len == 0 || memcmp(seen->body, body, len) == 0);
	assert_true(
	    receiver_header(seen, "Content-Length", length, sizeof(length)));
	(void)snprintf(expected, sizeof(expected), "%zu", len);
	assert_string_equal(length, expected);
}

static void
test_bodies(void **state)
{
	static const uint8_t holes[] = {0x61, 0, 0, 0, 0, 0x62};
	static const uint8_t bom[] = {0xef, 0xbb, 0xbf, '{', '}'};
	static const char wide[] = "\xc5\x81\xe2\x82\xac\xf0\x9f\x98\x80";
	size_t large = (size_t)1 << 20;
	uint8_t *zeros = calloc(1, large);
	struct receiver *r = receiver_with(NULL, NULL);
	struct br_http *h = plain_client();

	(void)state;
	assert_non_null(zeros);
	check_body(h, r, holes, sizeof(holes));
	check_body(h, r, "", 1); /* a single NUL */
	check_body(h, r, "", 0);
	check_body(h, r, NULL, 0);
	check_body(h, r, zeros, large);
	check_body(h, r, bom, sizeof(bom));
	check_body(h, r, wide, sizeof(wide) - 1);
	assert_int_equal(receiver_accepted(r), 1);
	br_http_free(h);
	receiver_free(r);
	free(zeros);
}

/* The whole head, line by line: nothing else is ever sent. */
static void
test_head(void **state)
{
	struct br_http_header headers[] = {{"Idempotency-Key", "k-1"},
	    {"X-Empty", ""}, {"content-type", "application/json"}};
	struct receiver *r = receiver_with(NULL, NULL);
	struct br_http *h = plain_client();
	struct br_http_request rq =
	    request_to(receiver_url(r), NULL, headers, "{}");
	struct br_outcome out;
	char url[128], expected[512];

	(void)state;
	(void)snprintf(
	    url, sizeof(url), "%s/a/../b?x=1&y=%%20", receiver_url(r));
	rq.url = url;
	rq.header_count = 3;
	br_http_perform(h, &rq, &out);
	expect("head", &out, 200, BR_TRANSPORT_OK);
	(void)snprintf(expected, sizeof(expected),
	    "POST /a/../b?x=1&y=%%20 HTTP/1.1\r\n"
	    "Host: 127.0.0.1:%u\r\n"
	    "User-Agent: outbox-bridge/%s\r\n"
	    "Idempotency-Key: k-1\r\n"
	    "X-Empty:\r\n"
	    "content-type: application/json\r\n"
	    "Content-Length: 2\r\n\r\n",
	    receiver_port(r), BRIDGE_VERSION);
	assert_string_equal(receiver_request(r, 0)->head, expected);
	/* without a content type libcurl would name a form */
	rq.header_count = 1;
	br_http_perform(h, &rq, &out);
	assert_null(strcasestr(receiver_request(r, 1)->head, "content-type"));
	br_http_free(h);
	receiver_free(r);
}

static void
test_url_and_method(void **state)
{
	struct receiver *r = receiver_with(NULL, NULL);
	struct br_http *h = plain_client();
	struct br_http_request rq =
	    request_to(receiver_url(r), NULL, NULL, "x");
	struct br_outcome out;
	char url[128];

	(void)state;
	(void)snprintf(url, sizeof(url), "%s/\xc3\xa1?q=\xff", receiver_url(r));
	rq.url = url;
	rq.method = "PUT";
	br_http_perform(h, &rq, &out);
	expect("PUT", &out, 200, BR_TRANSPORT_OK);
	assert_string_equal(receiver_request(r, 0)->method, "PUT");
	assert_string_equal(receiver_request(r, 0)->path, "/%C3%A1?q=%FF");
	rq.method = "POST";
	br_http_perform(h, &rq, &out);
	assert_string_equal(receiver_request(r, 1)->method, "POST");
	rq.url = "gopher://127.0.0.1/";
	br_http_perform(h, &rq, &out);
	expect("gopher", &out, 0, BR_TRANSPORT_OTHER);
	assert_false(out.request_sent);
	br_http_free(h);
	receiver_free(r);
}

/* A proxy of the environment is none of ours. */
static void
test_environment(void **state)
{
	struct receiver *r = receiver_with(NULL, NULL);
	struct br_http *h;
	struct br_outcome out;

	(void)state;
	assert_int_equal(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
	assert_int_equal(setenv("ALL_PROXY", "http://127.0.0.1:1", 1), 0);
	h = plain_client();
	out = post(h, receiver_url(r), "/", "k");
	expect("proxy", &out, 200, BR_TRANSPORT_OK);
	(void)unsetenv("http_proxy");
	(void)unsetenv("ALL_PROXY");
	br_http_free(h);
	receiver_free(r);
}

/* A port where nobody listens (it was free a moment ago). */
static void
test_refused(void **state)
{
	struct receiver *r = receiver_with(NULL, NULL);
	struct br_http *h = plain_client();
	struct br_outcome out;
	char target[64];

	(void)state;
	(void)snprintf(target, sizeof(target), "%s", receiver_url(r));
	receiver_free(r);
	out = post(h, target, "/secret?token=1", "k");
	expect("refused", &out, 0, BR_TRANSPORT_REFUSED);
	assert_int_equal(out.curl_code, 7);
	assert_false(out.request_sent);
	assert_false(out.resent);
	assert_string_equal(out.detail, "Connection refused");
	br_http_free(h);
}

static void
test_no_such_name(void **state)
{
	/* A label longer than DNS allows needs no server to be unknown. */
	static const char target[] =
	    "http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	    "aaaaaaaaaaaaaaaaa.test:80";
	struct br_http *h = plain_client();
	struct br_outcome out = post(h, target, "/", "k");

	(void)state;
	expect("dns", &out, 0, BR_TRANSPORT_DNS);
	assert_false(out.request_sent);
	br_http_free(h);
}

static void
test_connect_timeout(void **state)
{
	struct br_http_rules rules = test_rules();
	struct silent *s = silent_new(false, 0);
	struct br_http *h;
	struct br_outcome out;
	char target[64];

	(void)state;
	assert_non_null(s);
	rules.connect_timeout_ms = 300;
	h = client_with(&rules);
	(void)snprintf(
	    target, sizeof(target), "http://127.0.0.1:%u", silent_port(s));
	out = post(h, target, "/", "k");
	expect("connect", &out, 0, BR_TRANSPORT_CONNECT_TIMEOUT);
	assert_false(out.request_sent);
	br_http_free(h);
	silent_free(s);
}

static void
hold(struct exchange *x, void *context)
{
	(void)context;
	exchange_hold(x);
	exchange_close(x);
}

static void
test_timeout(void **state)
{
	struct receiver *r = receiver_with(hold, NULL);
	struct br_http *h = hasty_client(300);
	struct br_outcome out = post(h, receiver_url(r), "/", "k");

	(void)state;
	expect("hold", &out, 0, BR_TRANSPORT_TIMEOUT);
	assert_true(out.request_sent);
	/* The limit is 0.3 s; libcurl's clocks differ by a millisecond. */
	assert_true(out.seconds > 0.2 && out.seconds < LIMIT_MS / 1e3);
	assert_true(out.wall_ms > 0);
	assert_int_equal(receiver_requests(r), 1);
	br_http_free(h);
	receiver_free(r);
}

struct aborter {
	struct receiver *receiver;
	atomic_bool flag;
};

static void *
abort_when_seen(void *context)
{
	struct aborter *a = context;

	/* Without the request the test fails below. */
	(void)receiver_wait_requests(a->receiver, 1, LIMIT_MS);
	atomic_store(&a->flag, true);
	return NULL;
}

static void
test_abort(void **state)
{
	struct aborter a = {.receiver = receiver_with(hold, NULL)};
	const char *url = receiver_url(a.receiver);
	struct br_http *h = plain_client();
	struct br_http_request rq = request_to(url, url, NULL, "x");
	struct br_outcome out;
	pthread_t thread;

	(void)state;
	rq.abort = &a.flag;
	assert_int_equal(pthread_create(&thread, NULL, abort_when_seen, &a), 0);
	br_http_perform(h, &rq, &out);
	(void)pthread_join(thread, NULL);
	expect("abort", &out, 0, BR_TRANSPORT_OTHER);
	assert_string_equal(out.detail, "aborted");
	assert_true(out.request_sent);
	/* it is set: the next one is not even begun */
	br_http_perform(h, &rq, &out);
	expect("abort", &out, 0, BR_TRANSPORT_OTHER);
	assert_false(out.request_sent);
	assert_int_equal(receiver_requests(a.receiver), 1);
	br_http_free(h);
	receiver_free(a.receiver);
}

static void
test_bad_ca_file(void **state)
{
	struct br_http_rules rules = test_rules();
	struct br_error err = {""};

	(void)state;
	rules.ca_file = "/nonexistent/ca.pem";
	assert_null(br_http_new(&rules, &err));
	assert_non_null(strstr(err.text, "/nonexistent/ca.pem"));
	rules.ca_file = "/dev/null";
	assert_null(br_http_new(&rules, &err));
	assert_non_null(strstr(err.text, "/dev/null"));
	assert_non_null(strstr(br_http_version(), "libcurl/"));
}

static void
test_guard(void **state)
{
	struct receiver *r = receiver_with(NULL, NULL);
	struct br_http *h = plain_client();
	const char *url = receiver_url(r);
	struct br_http_request rq = request_to(url, url, NULL, "x");
	struct br_outcome out;

	(void)state;
	/* The pool holds a connection that nobody checked. */
	out = post(h, url, "/", "k");
	expect("free", &out, 200, BR_TRANSPORT_OK);
	rq.guard = true;
	br_http_perform(h, &rq, &out);
	expect("guarded", &out, 0, BR_TRANSPORT_FORBIDDEN);
	assert_false(out.request_sent);
	rq.guard = false;
	br_http_perform(h, &rq, &out);
	expect("free again", &out, 200, BR_TRANSPORT_OK);
	assert_int_equal(receiver_requests(r), 2);
	assert_int_equal(receiver_accepted(r), 2);
	br_http_free(h);
	receiver_free(r);
}

/* The resolved address counts, and each one that is tried. */
static void
test_guard_by_name(void **state)
{
	struct receiver *r = receiver_with(NULL, NULL);
	struct br_http_rules rules = test_rules();
	struct br_http_request rq;
	struct br_outcome out;
	struct br_http *h;
	char target[64], resolve[128];

	(void)state;
	(void)snprintf(
	    target, sizeof(target), "http://inside.test:%u", receiver_port(r));
	(void)snprintf(resolve, sizeof(resolve),
	    "inside.test:%u:127.0.0.1,10.0.0.1,[::1]", receiver_port(r));
	rules.resolve = resolve;
	h = client_with(&rules);
	rq = request_to(target, target, NULL, "x");
	rq.guard = true;
	br_http_perform(h, &rq, &out);
	expect("by name", &out, 0, BR_TRANSPORT_FORBIDDEN);
	assert_int_equal(receiver_accepted(r), 0);
	rq.guard = false;
	br_http_perform(h, &rq, &out);
	expect("by name", &out, 200, BR_TRANSPORT_OK);
	br_http_free(h);
	receiver_free(r);
}

static int
start(void **state)
{
	struct br_error err;

	(void)state;
	return br_http_global_init(&err) ? 0 : -1;
}

static int
stop(void **state)
{
	(void)state;
	br_http_global_cleanup();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bodies),
	    cmocka_unit_test(test_head),
	    cmocka_unit_test(test_url_and_method),
	    cmocka_unit_test(test_environment),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_no_such_name),
	    cmocka_unit_test(test_connect_timeout),
	    cmocka_unit_test(test_timeout),
	    cmocka_unit_test(test_abort),
	    cmocka_unit_test(test_bad_ca_file),
	    cmocka_unit_test(test_guard),
	    cmocka_unit_test(test_guard_by_name),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
