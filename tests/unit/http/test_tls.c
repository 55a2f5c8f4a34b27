/* Certificates: only a good one sees a request. And a peer that resets. */
#include "attempt.h"

#include <signal.h>

static struct authority *authority;

static struct receiver *
tls_receiver(enum certificate_kind kind, receiver_handler *on_request)
{
	struct receiver_options options = {.on_request = on_request,
	    .authority = authority,
	    .certificate = kind};
	struct receiver *r = receiver_new(&options);

	assert_non_null(r);
	return r;
}

static struct br_http *
tls_client(void)
{
	struct br_http_rules rules = test_rules();

	rules.ca_file = authority_file(authority);
	return client_with(&rules);
}

static void
test_good(void **state)
{
	struct receiver *r = tls_receiver(CERTIFICATE_GOOD, NULL);
	struct br_http *h = tls_client();
	struct br_outcome out;

	(void)state;
	for (int i = 0; i < 5; i++) {
		out = post(h, receiver_url(r), "/", "k");
		expect("good", &out, 200, BR_TRANSPORT_OK);
		assert_int_equal(out.connection_reused, i > 0);
	}
	assert_int_equal(receiver_accepted(r), 1);
	br_http_free(h);
	assert_true(receiver_wait_open(r, 0, LIMIT_MS));
	receiver_free(r);
}

/* No byte of the request for somebody who is not who we meant. */
static void
test_bad_certificates(void **state)
{
	static const enum certificate_kind kinds[] = {CERTIFICATE_SELF_SIGNED,
	    CERTIFICATE_EXPIRED, CERTIFICATE_WRONG_HOST};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct receiver *r = tls_receiver(kinds[i], NULL);
		struct br_http *h = tls_client();
		struct br_outcome out = post(h, receiver_url(r), "/", "k");

		expect("bad", &out, 0, BR_TRANSPORT_TLS);
		assert_false(out.request_sent);
		assert_int_not_equal(out.detail[0], '\0');
		br_http_free(h);
		assert_true(receiver_wait_open(r, 0, LIMIT_MS));
		assert_int_equal(receiver_accepted(r), 1);
		assert_int_equal(receiver_requests(r), 0);
		receiver_free(r);
	}
}

/* A good certificate of an authority that is not ours. */
static void
test_unknown_authority(void **state)
{
	struct receiver *r = tls_receiver(CERTIFICATE_GOOD, NULL);
	struct br_http *h = plain_client();
	struct br_outcome out = post(h, receiver_url(r), "/", "k");

	(void)state;
	expect("unknown", &out, 0, BR_TRANSPORT_TLS);
	assert_false(out.request_sent);
	br_http_free(h);
	receiver_free(r);
}

static void
not_tls(struct exchange *x, void *context)
{
	(void)context;
	(void)exchange_answer(x, 400, "speak TLS");
	exchange_close(x);
}

/* Plain HTTP where TLS is meant. */
static void
test_not_tls(void **state)
{
	struct receiver_options options = {
	    .on_accept = not_tls, .authority = authority};
	struct receiver *r = receiver_new(&options);
	struct br_http *h = tls_client();
	struct br_outcome out = post(h, receiver_url(r), "/", "k");

	(void)state;
	expect("not TLS", &out, 0, BR_TRANSPORT_TLS);
	assert_false(out.request_sent);
	br_http_free(h);
	receiver_free(r);
}

static void
reset(struct exchange *x, void *context)
{
	(void)context;
	exchange_reset(x);
}

static void
reset_in_body(struct exchange *x, void *context)
{
	(void)context;
	(void)exchange_text(
	    x, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
	exchange_reset(x);
}

static void
reset_after_answer(struct exchange *x, void *context)
{
	(void)context;
	(void)exchange_answer(x, 200, "ok");
	exchange_reset(x);
}

/* OpenSSL writes to a connection that is gone, when it closes: SIGPIPE ends
 * a process that does not ignore it. */
static void
test_sigpipe(void **state)
{
	static const struct {
		receiver_handler *on_accept, *on_head, *on_request;
	} cases[] = {{reset, NULL, NULL}, {NULL, reset, NULL},
	    {NULL, NULL, reset}, {NULL, NULL, reset_in_body},
	    {NULL, NULL, reset_after_answer}};
	struct sigaction action;

	(void)state;
	assert_int_equal(sigaction(SIGPIPE, NULL, &action), 0);
	assert_true(action.sa_handler == SIG_IGN);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct receiver_options options = {
		    .on_accept = cases[i].on_accept,
		    .on_head = cases[i].on_head,
		    .on_request = cases[i].on_request,
		    .authority = authority};
		struct receiver *r = receiver_new(&options);
		struct br_http *h = tls_client();

		for (int j = 0; j < 10; j++) {
			struct br_outcome out =
			    post(h, receiver_url(r), "/", "k");

			/* a head that came counts; the rest is a failure */
			if (out.head_complete)
				assert_int_equal(out.http_status, 200);
			else
				assert_int_not_equal(
				    out.transport, BR_TRANSPORT_OK);
		}
		br_http_free(h);
		receiver_free(r);
	}
}

static int
start(void **state)
{
	struct br_error err;

	(void)state;
	authority = authority_new();
	return br_http_global_init(&err) ? 0 : -1;
}

static int
stop(void **state)
{
	(void)state;
	br_http_global_cleanup();
	authority_free(authority);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_good),
	    cmocka_unit_test(test_bad_certificates),
	    cmocka_unit_test(test_unknown_authority),
	    cmocka_unit_test(test_not_tls),
	    cmocka_unit_test(test_sigpipe),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
