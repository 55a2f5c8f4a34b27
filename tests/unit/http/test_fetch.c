/* One GET of the bridge's own: what goes out, and what counts as an answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/base/clock.h"
#include "bridge/http/client.h"
#include "bridge/http/fetch.h"
#include "receiver.h"
#include "silent.h"

#define LIMIT_MS 20000

static struct authority *authority;

static struct br_fetch_rules
rules_of(void)
{
	return (struct br_fetch_rules){.user = "",
	    .password = "",
	    .token = "",
	    .ca_file = "",
	    .timeout_ms = LIMIT_MS,
	    .connect_timeout_ms = LIMIT_MS};
}

static struct br_fetch *
fetch_with(const struct br_fetch_rules *rules)
{
	struct br_error err = {{0}};
	struct br_fetch *f = br_fetch_new(rules, &err);

	if (f == NULL)
		fail_msg("%s", err.text);
	return f;
}

static struct receiver *
receiver_with(receiver_handler *on_request)
{
	struct receiver_options options = {.on_request = on_request};
	struct receiver *r = receiver_new(&options);

	assert_non_null(r);
	return r;
}

/* GETs a path there: the status, and the body or the reason in `text`. */
static int
get(struct br_fetch *f, struct receiver *r, const char *path, char *text,
    size_t size)
{
	struct br_buffer body = {0};
	struct br_error err = {{0}};
	char url[200];
	int status;

	snprintf(url, sizeof(url), "%s%s", receiver_url(r), path);
	status = br_fetch_get(f, url, &body, &err);
	snprintf(text, size, "%.*s", (int)size - 1,
	    status == 0         ? err.text
	    : body.data != NULL ? body.data
	                        : "");
	br_buffer_free(&body);
	return status;
}

static void
test_request(void **state)
{
	struct br_fetch_rules rules = rules_of();
	struct br_fetch *f = fetch_with(&rules);
	struct receiver *r = receiver_with(NULL);
	const struct receiver_request *rq;
	char text[200], value[200];

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(
		    get(f, r, "/r/schemas/ids/7", text, sizeof(text)), 200);
	assert_string_equal(text, "ok");
	assert_int_equal(receiver_accepted(r), 1);
	rq = receiver_request(r, 0);
	assert_string_equal(rq->method, "GET");
	assert_string_equal(rq->path, "/r/schemas/ids/7");
	assert_int_equal(rq->body_len, 0);
	assert_true(receiver_header(rq, "Accept", value, sizeof(value)));
	assert_non_null(strstr(value, "application/json"));
	assert_true(receiver_header(rq, "User-Agent", value, sizeof(value)));
	assert_non_null(strstr(value, "outbox-bridge/"));
	assert_false(
	    receiver_header(rq, "Authorization", value, sizeof(value)));
	br_fetch_free(f);
	receiver_free(r);
}

static void
test_authentication(void **state)
{
	struct br_fetch_rules rules = rules_of();
	struct receiver *r = receiver_with(NULL);
	struct br_fetch *f;
	char text[200], value[200];

	(void)state;
	rules.user = "bridge";
	rules.password = "pa:ss";
	f = fetch_with(&rules);
	assert_int_equal(get(f, r, "/", text, sizeof(text)), 200);
	br_fetch_free(f);
	assert_true(receiver_header(
	    receiver_request(r, 0), "Authorization", value, sizeof(value)));
	assert_string_equal(value, "Basic YnJpZGdlOnBhOnNz");
	rules = rules_of();
	rules.token = "t0ken";
	f = fetch_with(&rules);
	assert_int_equal(get(f, r, "/", text, sizeof(text)), 200);
	br_fetch_free(f);
	assert_true(receiver_header(
	    receiver_request(r, 1), "Authorization", value, sizeof(value)));
	assert_string_equal(value, "Bearer t0ken");
	receiver_free(r);
}

static void
by_path(struct exchange *x, void *context)
{
	const char *path = exchange_request(x)->path;

	(void)context;
	if (strcmp(path, "/404") == 0)
		exchange_answer(x, 404, "{\"error_code\":40403}");
	else if (strcmp(path, "/301") == 0)
		exchange_text(x, "HTTP/1.1 301 Moved\r\nLocation: /ok\r\n"
		                 "Content-Length: 0\r\n\r\n");
	else if (strcmp(path, "/cut") == 0) {
		exchange_text(x, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n"
		                 "\r\nhalf");
		exchange_close(x);
	} else if (strcmp(path, "/reset") == 0)
		exchange_reset(x);
	else if (strcmp(path, "/hold") == 0)
		exchange_hold(x);
	else if (strcmp(path, "/junk") == 0) {
		exchange_text(x, "hello\r\n\r\n");
		exchange_close(x);
	} else
		exchange_answer(x, 200, "ok");
}

static void
test_answers(void **state)
{
	static const struct {
		const char *path;
		int status;
		const char *text;
	} cases[] = {{"/ok", 200, "ok"}, {"/404", 404, "40403"},
	    {"/301", 301, ""}, {"/cut", 0, "transfer closed"},
	    {"/reset", 0, ""}, {"/junk", 0, ""}, {"/ok", 200, "ok"}};
	struct br_fetch_rules rules = rules_of();
	struct br_fetch *f = fetch_with(&rules);
	struct receiver *r = receiver_with(by_path);
	char text[400];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status = get(f, r, cases[i].path, text, sizeof(text));

		if (status != cases[i].status ||
		    strstr(text, cases[i].text) == NULL)
			fail_msg("%s: %d %s", cases[i].path, status, text);
		if (status == 0)
			assert_int_not_equal(text[0], '\0');
	}
	br_fetch_free(f);
	receiver_free(r);
}

static void
endless(struct exchange *x, void *context)
{
	static char block[65536];

	(void)context;
	memset(block, ' ', sizeof(block));
	exchange_text(x, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
	while (exchange_send(x, block, sizeof(block)))
		;
}

static void
test_limits(void **state)
{
	struct br_fetch_rules rules = rules_of();
	struct receiver *r = receiver_with(endless);
	struct br_fetch *f = fetch_with(&rules);
	char text[400];

	(void)state;
	assert_int_equal(get(f, r, "/", text, sizeof(text)), 0);
	assert_non_null(strstr(text, "larger than 8388608"));
	br_fetch_free(f);
	receiver_free(r);
	r = receiver_with(by_path);
	rules.timeout_ms = 50;
	f = fetch_with(&rules);
	assert_int_equal(get(f, r, "/hold", text, sizeof(text)), 0);
	assert_int_not_equal(text[0], '\0');
	assert_int_equal(get(f, r, "/ok", text, sizeof(text)), 200);
	br_fetch_free(f);
	receiver_free(r);
}

static void
test_connect(void **state)
{
	struct br_fetch_rules rules = rules_of();
	struct silent *silent = silent_new(false, 0);
	struct br_buffer body = {0};
	struct br_error err = {{0}};
	struct br_fetch *f;
	char url[100];

	(void)state;
	assert_non_null(silent);
	rules.connect_timeout_ms = 50;
	f = fetch_with(&rules);
	snprintf(
	    url, sizeof(url), "http://127.0.0.1:%d/", (int)silent_port(silent));
	assert_int_equal(br_fetch_get(f, url, &body, &err), 0);
	assert_int_not_equal(err.text[0], '\0');
	silent_free(silent);
	/* Now nobody listens there. */
	assert_int_equal(br_fetch_get(f, url, &body, &err), 0);
	assert_int_not_equal(err.text[0], '\0');
	br_fetch_free(f);
	br_buffer_free(&body);
}

static void
test_tls(void **state)
{
	struct receiver_options options = {
	    .authority = authority, .certificate = CERTIFICATE_GOOD};
	struct br_fetch_rules rules = rules_of();
	struct receiver *r = receiver_new(&options);
	struct br_error err = {{0}};
	struct br_fetch *f;
	char text[400];

	(void)state;
	assert_non_null(r);
	rules.ca_file = authority_file(authority);
	f = fetch_with(&rules);
	assert_int_equal(get(f, r, "/", text, sizeof(text)), 200);
	br_fetch_free(f);
	/* Not one of the system's. */
	rules.ca_file = "";
	f = fetch_with(&rules);
	assert_int_equal(get(f, r, "/", text, sizeof(text)), 0);
	br_fetch_free(f);
	assert_int_equal(receiver_requests(r), 1);
	rules.ca_file = "/nonexistent/ca.pem";
	assert_null(br_fetch_new(&rules, &err));
	assert_non_null(strstr(err.text, "/nonexistent/ca.pem"));
	receiver_free(r);
}

static void *
abort_it(void *opaque)
{
	br_fetch_abort(opaque);
	return NULL;
}

static void
abort_when_asked(struct exchange *x, void *context)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, abort_it, *(void **)context) != 0)
		abort();
	(void)pthread_join(thread, NULL);
	exchange_hold(x);
}

/* Long before the time-out, and for good. */
static void
test_abort(void **state)
{
	struct br_fetch_rules rules = rules_of();
	struct br_fetch *f;
	struct receiver_options options = {
	    .on_request = abort_when_asked, .context = &f};
	struct receiver *r;
	char text[400];

	(void)state;
	rules.timeout_ms = 10 * LIMIT_MS;
	f = fetch_with(&rules);
	r = receiver_new(&options);
	assert_non_null(r);
	assert_int_equal(get(f, r, "/", text, sizeof(text)), 0);
	assert_string_equal(text, "aborted");
	assert_int_equal(get(f, r, "/", text, sizeof(text)), 0);
	assert_string_equal(text, "aborted");
	assert_int_equal(receiver_requests(r), 1);
	br_fetch_free(f);
	receiver_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_request),
	    cmocka_unit_test(test_authentication),
	    cmocka_unit_test(test_answers),
	    cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_connect),
	    cmocka_unit_test(test_tls),
	    cmocka_unit_test(test_abort),
	};
	struct br_error err;
	int failed;

	if (!br_http_global_init(&err))
		return 1;
	authority = authority_new();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	authority_free(authority);
	br_http_global_cleanup();
	return failed;
}
