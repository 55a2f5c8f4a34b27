/* One client, one connection: reuse, resends, switches, and the counts. */
#include "attempt.h"

#include <pthread.h>
#include <stdlib.h>

#include "bridge/base/clock.h"
#include "bridge/base/metrics.h"
#include "silent.h"

static int64_t
resends(void)
{
	return br_metric_get(BR_M_RESENDS);
}

static void
expect_open(int64_t expected)
{
	assert_int_equal(br_metric_get(BR_M_CONNECTIONS_OPEN), expected);
}

static void
test_reuse(void **state)
{
	struct receiver *r = receiver_with(NULL, NULL);
	struct br_http *h = plain_client();
	struct br_outcome out;

	(void)state;
	for (int i = 0; i < 20; i++) {
		out = post(h, receiver_url(r), "/", "k");
		expect("reuse", &out, 200, BR_TRANSPORT_OK);
		assert_int_equal(out.connection_reused, i > 0);
		assert_false(out.resent);
	}
	assert_int_equal(receiver_accepted(r), 1);
	assert_int_equal(
	    br_metric_get_label(BR_M_CONNECTIONS_OPENED, receiver_url(r)), 1);
	assert_int_equal(br_metric_get(BR_M_CONNECTIONS_OPEN_MAX), 1);
	expect_open(1);
	br_http_close(h);
	expect_open(0);
	assert_true(receiver_wait_open(r, 0, LIMIT_MS));
	br_http_close(h); /* nothing to close */
	out = post(h, receiver_url(r), "/", "k");
	assert_false(out.connection_reused);
	br_http_free(h);
	expect_open(0);
	receiver_free(r);
}

/* Answers, and ends the connection without having said that it would. */
static void
answer_and_close(struct exchange *x, void *context)
{
	(void)context;
	(void)exchange_answer(x, 200, "ok");
	exchange_close(x);
}

static void
answer_and_reset(struct exchange *x, void *context)
{
	(void)context;
	(void)exchange_answer(x, 200, "ok");
	exchange_reset(x);
}

/* The next request meets the end at any moment: before, while, after it is
 * sent. Nothing fails, and nothing is sent more than the resends say. */
static void
test_stale(void **state)
{
	static receiver_handler *const handlers[] = {
	    answer_and_close, answer_and_reset};
	int64_t before = resends();

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct receiver *r = receiver_with(handlers[k], NULL);
		struct br_http *h = plain_client();
		size_t attempts = 300;

		before = resends();
		for (size_t i = 0; i < attempts; i++) {
			struct br_outcome out =
			    post(h, receiver_url(r), "/", "k");

			/* a reset may overtake the answer of a first request,
			 * which is then not sent again */
			if (k == 1 && !out.head_complete) {
				assert_false(out.connection_reused);
				continue;
			}
			expect("stale", &out, 200,
			    out.transport == BR_TRANSPORT_RESET && k == 1
			        ? BR_TRANSPORT_RESET
			        : BR_TRANSPORT_OK);
		}
		assert_true(receiver_requests(r) <=
		            attempts + (size_t)(resends() - before));
		assert_int_equal(receiver_open_max(r), 1);
		br_http_free(h);
		receiver_free(r);
	}
}

/* Each connection serves one request; the second is read and reset. */
static void
reset_second(struct exchange *x, void *context)
{
	(void)context;
	if (exchange_request(x)->nth > 1)
		exchange_reset(x);
	else
		(void)exchange_answer(x, 200, "ok");
}

static void
close_second(struct exchange *x, void *context)
{
	(void)context;
	if (exchange_request(x)->nth > 1)
		exchange_close(x);
	else
		(void)exchange_answer(x, 200, "ok");
}

static void
test_resend(void **state)
{
	static receiver_handler *const handlers[] = {
	    reset_second, close_second};

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct receiver *r = receiver_with(handlers[k], NULL);
		struct br_http *h = plain_client();
		int64_t before = resends();
		char key[16];

		for (int i = 0; i < 50; i++) {
			struct br_outcome out;

			(void)snprintf(key, sizeof(key), "k-%d", i);
			out = post(h, receiver_url(r), "/", key);
			expect("resend", &out, 200, BR_TRANSPORT_OK);
			assert_int_equal(out.resent, i > 0);
			assert_int_equal(
			    receiver_attempts(r, key), i > 0 ? 2 : 1);
		}
		assert_int_equal(resends() - before, 49);
		assert_int_equal(receiver_requests(r), 50 + 49);
		assert_int_equal(receiver_open_max(r), 1);
		/* The same body each time. */
		for (size_t i = 0; i < 99; i++) {
			const struct receiver_request *request =
			    receiver_request(r, i);

			assert_int_equal(request->body_len, 7);
			assert_memory_equal(request->body, "{\"n\":1}", 7);
		}
		br_http_free(h);
		receiver_free(r);
	}
}

/* Serves the very first request and resets or closes all that follow. */
static void
only_first(struct exchange *x, void *context)
{
	bool *reset = context;

	if (exchange_request(x)->connection == 1 &&
	    exchange_request(x)->nth == 1)
		(void)exchange_answer(x, 200, "ok");
	else if (*reset)
		exchange_reset(x);
	else
		exchange_close(x);
}

/* Never a third request in one attempt, and no second one on a connection
 * that was new. */
static void
test_no_third(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		bool reset = k == 1;
		struct receiver *r = receiver_with(only_first, &reset);
		struct br_http *h = plain_client();
		struct br_outcome out = post(h, receiver_url(r), "/", "first");
		enum br_transport transport =
		    reset ? BR_TRANSPORT_RESET : BR_TRANSPORT_EMPTY;

		expect("first", &out, 200, BR_TRANSPORT_OK);
		out = post(h, receiver_url(r), "/", "second");
		expect("second", &out, 0, transport);
		assert_true(out.resent);
		assert_int_equal(receiver_attempts(r, "second"), 2);
		out = post(h, receiver_url(r), "/", "third");
		expect("third", &out, 0, transport);
		assert_false(out.resent);
		assert_int_equal(receiver_attempts(r, "third"), 1);
		br_http_free(h);
		receiver_free(r);
	}
}

/* First request: answered. Second, on the same connection: as told. */
static void
second_holds(struct exchange *x, void *context)
{
	(void)context;
	if (exchange_request(x)->nth == 1) {
		(void)exchange_answer(x, 200, "ok");
		return;
	}
	exchange_hold(x);
	exchange_close(x);
}

static void
second_begins(struct exchange *x, void *context)
{
	(void)context;
	if (exchange_request(x)->nth == 1) {
		(void)exchange_answer(x, 200, "ok");
		return;
	}
	(void)exchange_text(x, "HTTP/1.1 103 Early\r\n\r\n");
	exchange_close(x);
}

/* The receiver may be at work on it: not again. */
static void
test_no_resend(void **state)
{
	static const struct {
		receiver_handler *handler;
		int64_t timeout_ms;
	} cases[] = {{second_holds, 400}, {second_begins, LIMIT_MS}};

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct receiver *r = receiver_with(cases[k].handler, NULL);
		struct br_http *h = hasty_client(cases[k].timeout_ms);
		struct br_outcome out = post(h, receiver_url(r), "/", "a");

		expect("first", &out, 200, BR_TRANSPORT_OK);
		out = post(h, receiver_url(r), "/", "b");
		assert_false(out.head_complete);
		assert_true(out.connection_reused);
		assert_false(out.resent);
		if (k == 0)
			expect("second", &out, 0, BR_TRANSPORT_TIMEOUT);
		assert_int_equal(receiver_requests(r), 2);
		br_http_free(h);
		receiver_free(r);
	}
}

/* What a test says to a handler that is under way. */
struct cue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int step;
};

static void
go_to(struct cue *cue, int step)
{
	pthread_mutex_lock(&cue->lock);
	cue->step = step;
	pthread_cond_broadcast(&cue->changed);
	pthread_mutex_unlock(&cue->lock);
}

static void
wait_for(struct cue *cue, int step)
{
	pthread_mutex_lock(&cue->lock);
	while (cue->step < step)
		pthread_cond_wait(&cue->changed, &cue->lock);
	pthread_mutex_unlock(&cue->lock);
}

/* Sends, on the first connection, an answer that nobody asked for. */
static void
answer_twice(struct exchange *x, void *context)
{
	struct cue *cue = context;

	if (exchange_request(x)->connection > 1) {
		(void)exchange_answer(x, 503, "right");
		return;
	}
	(void)exchange_answer(x, 200, "first");
	wait_for(cue, 1);
	(void)exchange_answer(x, 200, "stray");
	go_to(cue, 2);
}

static void
test_stray_answer(void **state)
{
	struct cue cue = {.lock = PTHREAD_MUTEX_INITIALIZER,
	    .changed = PTHREAD_COND_INITIALIZER};
	struct receiver *r = receiver_with(answer_twice, &cue);
	struct br_http *h = plain_client();
	struct br_outcome out = post(h, receiver_url(r), "/", "a");

	(void)state;
	expect("first", &out, 200, BR_TRANSPORT_OK);
	go_to(&cue, 1);
	wait_for(&cue, 2);
	out = post(h, receiver_url(r), "/", "b");
	expect("second", &out, 503, BR_TRANSPORT_OK);
	assert_memory_equal(out.body, "right", 5);
	assert_int_equal(receiver_open_max(r), 1);
	br_http_free(h);
	receiver_free(r);
}

static void
test_expiry(void **state)
{
	struct br_http_rules rules = test_rules();
	struct receiver *r = receiver_with(NULL, NULL);
	struct br_http *h;
	int64_t now_ms, due_ms;

	(void)state;
	h = client_with(&rules);
	assert_true(br_http_expire(h, INT64_MAX - 1) == INT64_MAX);
	(void)post(h, receiver_url(r), "/", "k");
	now_ms = br_clock_mono_ms();
	due_ms = br_http_expire(h, now_ms);
	assert_true(due_ms > now_ms && due_ms <= now_ms + 60000);
	assert_true(br_http_expire(h, due_ms - 1) == due_ms);
	expect_open(1);
	assert_true(br_http_expire(h, due_ms) == INT64_MAX);
	expect_open(0);
	assert_true(receiver_wait_open(r, 0, LIMIT_MS));
	br_http_free(h);

	/* Nobody asked in time: not used all the same. */
	rules.max_idle_ms = 0;
	h = client_with(&rules);
	for (int i = 0; i < 3; i++) {
		struct br_outcome out = post(h, receiver_url(r), "/", "k");

		assert_false(out.connection_reused);
	}
	br_http_free(h);
	/* Idle for no time, but old. */
	rules = test_rules();
	rules.max_life_ms = 0;
	h = client_with(&rules);
	(void)post(h, receiver_url(r), "/", "k");
	assert_true(br_http_expire(h, br_clock_mono_ms()) == INT64_MAX);
	expect_open(0);
	br_http_free(h);
	receiver_free(r);
}

#define CLIENTS 4
#define ROUNDS 64

struct crowd {
	struct receiver *receiver[4];
	pthread_barrier_t all_connected;
	const char *ca_file;
	atomic_int failed;
};

static void *
alternate(void *context)
{
	struct crowd *crowd = context;
	struct br_http_rules rules = test_rules();
	struct br_error err;
	struct br_http *h;

	rules.ca_file = crowd->ca_file;
	h = br_http_new(&rules, &err);
	for (int i = 0; h != NULL && i < ROUNDS; i++) {
		/* one, one, the next: reuse and switches */
		struct receiver *r = crowd->receiver[i / 2 % 4];
		struct br_outcome out = post(h, receiver_url(r), "/", "k");

		if (out.http_status != 200)
			atomic_fetch_add(&crowd->failed, 1);
	}
	/* now each holds its idle connection */
	(void)pthread_barrier_wait(&crowd->all_connected);
	br_http_free(h);
	return NULL;
}

/* Four mean four, as the receivers see it. */
static void
test_four(void **state)
{
	struct authority *authority = authority_new();
	struct receiver_tally tally = {0, 0};
	struct crowd crowd = {.ca_file = authority_file(authority)};
	pthread_t thread[CLIENTS];

	(void)state;
	br_metrics_reset();
	for (int i = 0; i < 4; i++) {
		struct receiver_options options = {
		    .authority = i % 2 == 1 ? authority : NULL,
		    .discard = true,
		    .tally = &tally};

		crowd.receiver[i] = receiver_new(&options);
		assert_non_null(crowd.receiver[i]);
	}
	(void)pthread_barrier_init(&crowd.all_connected, NULL, CLIENTS);
	for (int i = 0; i < CLIENTS; i++)
		assert_int_equal(
		    pthread_create(&thread[i], NULL, alternate, &crowd), 0);
	for (int i = 0; i < CLIENTS; i++)
		(void)pthread_join(thread[i], NULL);
	for (int i = 0; i < 4; i++) {
		assert_true(receiver_wait_open(crowd.receiver[i], 0, LIMIT_MS));
		assert_int_equal(
		    receiver_requests(crowd.receiver[i]), CLIENTS * ROUNDS / 4);
		receiver_free(crowd.receiver[i]);
	}
	assert_int_equal(atomic_load(&crowd.failed), 0);
	assert_int_equal(tally.open_max, CLIENTS);
	assert_int_equal(br_metric_get(BR_M_CONNECTIONS_OPEN_MAX), CLIENTS);
	expect_open(0);
	(void)pthread_barrier_destroy(&crowd.all_connected);
	authority_free(authority);
}

/* libcurl 7.88 closes these sockets without telling us. */
static void
test_no_drift(void **state)
{
	struct br_http_rules rules = test_rules();
	struct silent *s = silent_new(false, 0);
	struct receiver *r = receiver_with(NULL, NULL);
	struct br_http *h;
	char target[64];

	(void)state;
	assert_non_null(s);
	rules.connect_timeout_ms = 100;
	h = client_with(&rules);
	(void)snprintf(
	    target, sizeof(target), "http://127.0.0.1:%u", silent_port(s));
	for (int i = 0; i < 5; i++) {
		struct br_outcome out = post(h, target, "/", "k");

		expect("silent", &out, 0, BR_TRANSPORT_CONNECT_TIMEOUT);
		expect_open(0);
		out = post(h, receiver_url(r), "/", "k");
		expect("open", &out, 200, BR_TRANSPORT_OK);
		expect_open(1);
	}
	assert_int_equal(
	    br_metric_get_label(BR_M_CONNECTIONS_OPENED, target), 0);
	assert_int_equal(
	    br_metric_get_label(BR_M_CONNECTIONS_OPENED, receiver_url(r)), 5);
	br_http_free(h);
	expect_open(0);
	receiver_free(r);
	silent_free(s);
}

/* A name with two addresses of which the first says nothing: the second is
 * tried soon, and the first try is given up for it. */
static void
test_dual_stack(void **state)
{
	struct br_http_rules rules = test_rules();
	struct receiver *r = receiver_with(NULL, NULL);
	struct silent *s = silent_new(true, receiver_port(r));
	struct br_outcome out;
	struct br_http *h;
	char target[64], resolve[128];

	(void)state;
	if (s == NULL) {
		receiver_free(r);
		skip(); /* no IPv6 here */
	}
	br_metrics_reset();
	(void)snprintf(
	    target, sizeof(target), "http://both.test:%u", receiver_port(r));
	(void)snprintf(resolve, sizeof(resolve), "both.test:%u:[::1],127.0.0.1",
	    receiver_port(r));
	rules.resolve = resolve;
	h = client_with(&rules);
	for (int i = 0; i < 3; i++) {
		out = post(h, target, "/", "k");
		expect("dual", &out, 200, BR_TRANSPORT_OK);
		expect_open(1);
		br_http_close(h);
		expect_open(0);
	}
	assert_int_equal(br_metric_get(BR_M_CONNECTIONS_OPEN_MAX), 1);
	br_http_free(h);
	receiver_free(r);
	silent_free(s);
}

static int
start(void **state)
{
	struct br_error err;

	(void)state;
	br_metrics_reset();
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
	    cmocka_unit_test(test_reuse),
	    cmocka_unit_test(test_stale),
	    cmocka_unit_test(test_resend),
	    cmocka_unit_test(test_no_third),
	    cmocka_unit_test(test_no_resend),
	    cmocka_unit_test(test_stray_answer),
	    cmocka_unit_test(test_expiry),
	    cmocka_unit_test(test_four),
	    cmocka_unit_test(test_no_drift),
	    cmocka_unit_test(test_dual_stack),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
