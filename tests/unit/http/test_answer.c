/* What the client makes of answers, good, odd and hostile ones. */
#include "attempt.h"

#include <stdlib.h>

#include "bridge/http/answer.h"

/* The bytes that a handler answers with, and how it goes on. */
struct script {
	const char *text;
	bool close;
	bool reset;
	bool hold; /* says nothing more and keeps the connection */
};

static void
play(struct exchange *x, void *context)
{
	const struct script *script = context;

	(void)exchange_text(x, script->text);
	if (script->hold)
		exchange_hold(x);
	if (script->close)
		exchange_close(x);
	if (script->reset)
		exchange_reset(x);
}

/* One attempt at a receiver that plays the script. */
static struct br_outcome
attempt_at(const struct script *script, int64_t timeout_ms)
{
	struct script copy = *script;
	struct receiver *r = receiver_with(play, &copy);
	struct br_http *h = hasty_client(timeout_ms);
	struct br_outcome out = post(h, receiver_url(r), "/secret?x=1", "k");

	assert_int_equal(receiver_requests(r), 1);
	assert_true(out.request_sent);
	assert_false(out.resent);
	assert_null(strstr(out.detail, "secret"));
	br_http_free(h);
	receiver_free(r);
	return out;
}

static void
answer_by_path(struct exchange *x, void *context)
{
	int status = atoi(exchange_request(x)->path + 1);
	char text[128];

	(void)context;
	(void)snprintf(text, sizeof(text), "HTTP/1.1 %d Some\r\n%s\r\n", status,
	    status == 204 || status == 205 || status == 304
	        ? ""
	        : "Content-Length: 0\r\n");
	(void)exchange_text(x, text);
}

/* All on kept connections, and 204, 205 and 304 without any length: one that
 * waits for a body runs into the time-out. */
static void
test_statuses(void **state)
{
	static const int others[] = {101, 300, 301, 304, 400, 404, 410, 413,
	    429, 451, 499, 500, 503, 520, 599, 600, 700, 999};
	struct receiver *r = receiver_with(answer_by_path, NULL);
	struct br_http *h = plain_client();
	struct br_outcome out;
	char path[16];
	size_t n = 0;

	(void)state;
	for (int status = 200; status < 300; status++, n++) {
		(void)snprintf(path, sizeof(path), "/%d", status);
		out = post(h, receiver_url(r), path, "k");
		expect(path, &out, status, BR_TRANSPORT_OK);
		assert_int_equal(out.curl_code, 0);
		assert_int_equal(out.body_len, 0);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++, n++) {
		(void)snprintf(path, sizeof(path), "/%d", others[i]);
		out = post(h, receiver_url(r), path, "k");
		expect(path, &out, others[i], BR_TRANSPORT_OK);
	}
	assert_int_equal(receiver_requests(r), n);
	assert_int_equal(receiver_open_max(r), 1);
	br_http_free(h);
	receiver_free(r);
}

static void
test_whole_answers(void **state)
{
	static const struct {
		const char *text;
		int status;
		bool close;
		const char *body;
	} cases[] = {
	    {"HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No\r\n\r\n",
	        204, false, ""},
	    {"HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 102 Wait\r\n\r\n"
	     "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
	        200, false, "ok"},
	    {"HTTP/1.0 200 OK\r\n\r\n", 200, true, ""},
	    {"HTTP/1.0 503 No\r\n\r\nbusy", 503, true, "busy"},
	    {"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, false, ""},
	    {"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, false, "ok"},
	    {"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n"
	     "3\r\nbad\r\n0\r\nX-Trailer: 1\r\n\r\n",
	        500, false, "bad"},
	    {"HTTP/1.1 205 Reset\r\nContent-Length: 0\r\n\r\n", 205, false, ""},
	    {"HTTP/1.1 205 Reset\r\nTransfer-Encoding: chunked\r\n"
	     "Content-Length: 0\r\n\r\n",
	        205, false, ""},
	    {"HTTP/1.1 205 Reset\r\nContent-Length: 5\r\n\r\n", 205, false, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct script script = {cases[i].text, .close = cases[i].close};
		struct br_outcome out = attempt_at(&script, LIMIT_MS);

		expect(cases[i].text, &out, cases[i].status, BR_TRANSPORT_OK);
		assert_int_equal(out.body_len, strlen(cases[i].body));
		assert_memory_equal(
		    out.body, cases[i].body, strlen(cases[i].body));
	}
}

/* The head decides, whatever became of the body. */
static void
test_broken_bodies(void **state)
{
	static const char half[] =
	    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc";
	static const char chunks[] =
	    "HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
	struct script closed = {half, .close = true};
	struct script reset = {half, .reset = true};
	struct script held = {half, .hold = true};
	struct script garbled = {chunks, .close = true};
	struct br_outcome out;

	(void)state;
	out = attempt_at(&closed, LIMIT_MS);
	expect("closed", &out, 200, BR_TRANSPORT_RESET);
	assert_memory_equal(out.body, "abc", 3);
	out = attempt_at(&reset, LIMIT_MS);
	expect("reset", &out, 200, BR_TRANSPORT_RESET);
	out = attempt_at(&held, 300);
	expect("held", &out, 200, BR_TRANSPORT_TIMEOUT);
	out = attempt_at(&garbled, LIMIT_MS);
	expect("garbled", &out, 400, BR_TRANSPORT_RESET);
}

static void
test_no_answers(void **state)
{
	static const struct {
		struct script script;
		enum br_transport transport;
	} cases[] = {
	    {{"", .close = true}, BR_TRANSPORT_EMPTY},
	    {{"", .reset = true}, BR_TRANSPORT_RESET},
	    {{"", .hold = true}, BR_TRANSPORT_TIMEOUT},
	    {{"garbage\r\n\r\n", .close = true}, BR_TRANSPORT_BAD_RESPONSE},
	    {{"garbage\r\n\r\n", .hold = true}, BR_TRANSPORT_BAD_RESPONSE},
	    {{"SSH-2.0-x\r\n", .close = true}, BR_TRANSPORT_BAD_RESPONSE},
	    {{.text = "HTTP/1.1 000 Odd\r\nContent-Length: 0\r\n\r\n"},
	        BR_TRANSPORT_BAD_RESPONSE},
	    {{"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", .close = true},
	        BR_TRANSPORT_BAD_RESPONSE},
	    {{"HTTP/1.1 200 OK\r\nX-Half: ", .hold = true},
	        BR_TRANSPORT_TIMEOUT},
	    {{"HTTP/1.1 200 OK\r\nX-Half: ", .reset = true},
	        BR_TRANSPORT_RESET},
	    {{"HTTP/1.1 103 Early\r\n\r\n", .hold = true},
	        BR_TRANSPORT_TIMEOUT},
	    {{"HTTP/1.1 103 Early\r\n\r\n", .reset = true}, BR_TRANSPORT_RESET},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct br_outcome out = attempt_at(&cases[i].script,
		    cases[i].transport == BR_TRANSPORT_TIMEOUT ? 300
		                                               : LIMIT_MS);

		expect(cases[i].script.text, &out, 0, cases[i].transport);
		assert_int_equal(out.body_len, 0);
	}
}

/* A head that the connection's end cuts off is no answer. */
static void
test_half_head(void **state)
{
	struct script script = {"HTTP/1.1 200 OK\r\nX-Half: ", .close = true};
	struct br_outcome out = attempt_at(&script, LIMIT_MS);

	(void)state;
	assert_false(out.head_complete);
	assert_int_equal(out.http_status, 0);
	assert_int_not_equal(out.transport, BR_TRANSPORT_OK);
}

static void
endless_body(struct exchange *x, void *context)
{
	static const char piece[16384] = "B";

	(void)context;
	(void)exchange_text(
	    x, "HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n");
	while (exchange_send(x, piece, sizeof(piece)))
		;
	exchange_close(x);
}

static void
test_endless_body(void **state)
{
	struct receiver *r = receiver_with(endless_body, NULL);
	struct br_http *h = plain_client();
	struct br_outcome out = post(h, receiver_url(r), "/", "k");

	(void)state;
	expect("endless", &out, 200, BR_TRANSPORT_OK);
	assert_int_equal(out.curl_code, 0);
	assert_string_equal(out.detail, "");
	assert_int_equal(out.body_len, BR_OUTCOME_BODY);
	assert_int_equal(out.body[0], 'B');
	assert_true(receiver_wait_open(r, 0, LIMIT_MS));
	br_http_free(h);
	receiver_free(r);
}

static void
endless_head(struct exchange *x, void *context)
{
	char line[1001];
	bool going = exchange_text(x, "HTTP/1.1 200 OK\r\n");

	(void)context;
	memset(line, 'h', sizeof(line));
	memcpy(line, "X-A: ", 5);
	memcpy(line + 998, "\r\n", 3);
	for (int i = 0; going && i < 10000; i++)
		going = exchange_text(x, line);
	(void)exchange_text(x, "\r\n");
	exchange_close(x);
}

static void
long_line(struct exchange *x, void *context)
{
	static char line[200001];

	(void)context;
	memset(line, 'h', sizeof(line) - 1);
	memcpy(line, "X-A: ", 5);
	if (exchange_text(x, "HTTP/1.1 200 OK\r\n") && exchange_text(x, line))
		(void)exchange_text(x, "\r\nContent-Length: 0\r\n\r\n");
	exchange_close(x);
}

static void
endless_interim(struct exchange *x, void *context)
{
	(void)context;
	while (exchange_text(x, "HTTP/1.1 103 Early\r\nX-A: 1\r\n\r\n"))
		;
	exchange_close(x);
}

static void
test_endless_heads(void **state)
{
	static receiver_handler *const handlers[] = {
	    endless_head, long_line, endless_interim};

	(void)state;
	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
		struct receiver *r = receiver_with(handlers[i], NULL);
		struct br_http *h = plain_client();
		struct br_outcome out = post(h, receiver_url(r), "/", "k");

		expect("head", &out, 0, BR_TRANSPORT_BAD_RESPONSE);
		assert_true(receiver_wait_open(r, 0, LIMIT_MS));
		br_http_free(h);
		receiver_free(r);
	}
}

/* One byte after the other, for ever. */
static void
drip(struct exchange *x, void *context)
{
	const char *text = context;

	do {
		if (!exchange_send(x, text, 1))
			break;
		if (text[1] != '\0')
			text++;
	} while (exchange_pause(x, 5));
	exchange_close(x);
}

static void
test_dripping(void **state)
{
	char head[] = "HTTP/1.1 200 OK\r\nX-Long: aaaaaaaaaaaaaaaaaaaaaaaaaa";
	char body[] = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nbbbb";
	char *texts[] = {head, body};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct receiver *r = receiver_with(drip, texts[i]);
		struct br_http *h = hasty_client(1500);
		struct br_outcome out = post(h, receiver_url(r), "/", "k");

		expect(texts[i], &out, i == 0 ? 0 : 200, BR_TRANSPORT_TIMEOUT);
		br_http_free(h);
		receiver_free(r);
	}
}

static void
refuse_early(struct exchange *x, void *context)
{
	(void)context;
	(void)exchange_text(x, "HTTP/1.1 413 Too Large\r\nConnection: close\r\n"
	                       "Content-Length: 0\r\n\r\n");
	/* closing with unread bytes resets the connection */
	exchange_close(x);
}

static void
test_early_refusal(void **state)
{
	struct receiver_options options = {.on_head = refuse_early};
	struct receiver *r = receiver_new(&options);
	size_t len = (size_t)10 << 20;
	uint8_t *body = calloc(1, len);
	struct br_http_request rq =
	    request_to(receiver_url(r), receiver_url(r), NULL, NULL);
	struct br_http *h = plain_client();
	struct br_outcome out;

	(void)state;
	assert_non_null(body);
	rq.body = (struct br_slice){body, len};
	for (int i = 0; i < 5; i++) {
		br_http_perform(h, &rq, &out);
		expect("early", &out, 413, BR_TRANSPORT_OK);
	}
	br_http_free(h);
	receiver_free(r);
	free(body);
}

/* The same when libcurl gave up before it looked, which is a matter of
 * chance: what was left on the connection. */
static void
test_late_answer(void **state)
{
	static const struct {
		const char *bytes;
		int status;
		size_t body_len;
	} cases[] = {
	    {"HTTP/1.1 413 No\r\nContent-Length: 3\r\n\r\nbig", 413, 3},
	    {"HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 401 No\r\n\r\n", 401, 0},
	    {"HTTP/1.1 413 No\r\nContent-Length: 3\r\n", 0, 0},
	    {"HTTP/1.1 413 No\r\n", 0, 0},
	    {"HTTP/1.1 4x3 No\r\n\r\n", 0, 0},
	    {"HTTP/1.1 41", 0, 0},
	    {"\x15\x03\x03 garbage HTTP/1.1 200 OK\r\n\r\n", 0, 0},
	    {"HTTP/1.1 100 Go\r\n\r\n", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct br_answer a;

		br_answer_reset(&a);
		br_answer_late(&a, cases[i].bytes, strlen(cases[i].bytes));
		assert_int_equal(a.head_complete, cases[i].status != 0);
		assert_int_equal(a.status, cases[i].status);
		assert_int_equal(a.body_len, cases[i].body_len);
	}
}

struct redirect {
	int status;
	const char *location;
};

static void
redirect(struct exchange *x, void *context)
{
	const struct redirect *to = context;
	char text[512];

	(void)snprintf(text, sizeof(text),
	    "HTTP/1.1 %d Elsewhere\r\nLocation: %s\r\n"
	    "Content-Length: 0\r\n\r\n",
	    to->status, to->location);
	(void)exchange_text(x, text);
}

static void
test_redirects(void **state)
{
	static const int statuses[] = {301, 302, 303, 307, 308};
	struct receiver *other = receiver_with(NULL, NULL);
	char location[128], detail[160];

	(void)state;
	(void)snprintf(location, sizeof(location),
	    "http://me:pw@127.0.0.1:%u/login?token=1", receiver_port(other));
	(void)snprintf(detail, sizeof(detail),
	    "points to 127.0.0.1:%u, not followed", receiver_port(other));
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct redirect to = {statuses[i], location};
		struct receiver *r = receiver_with(redirect, &to);
		struct br_http *h = plain_client();
		struct br_outcome out = post(h, receiver_url(r), "/", "k");

		expect(location, &out, statuses[i], BR_TRANSPORT_OK);
		assert_string_equal(out.detail, detail);
		to.location = "/login";
		out = post(h, receiver_url(r), "/", "k");
		expect(to.location, &out, statuses[i], BR_TRANSPORT_OK);
		assert_string_equal(out.detail, "");
		to.location = "file:///etc/hostname";
		out = post(h, receiver_url(r), "/", "k");
		expect(to.location, &out, statuses[i], BR_TRANSPORT_OK);
		assert_int_equal(out.body_len, 0);
		assert_int_equal(receiver_requests(r), 3);
		br_http_free(h);
		receiver_free(r);
	}
	assert_int_equal(receiver_accepted(other), 0);
	receiver_free(other);
}

#define DATE "Date: Wed, 21 Oct 2026 07:28:00 GMT\r\n"

static void
test_retry_after(void **state)
{
	static const struct {
		const char *fields;
		bool given;
		int64_t ms;
	} cases[] = {
	    {"", false, 0},
	    {"Retry-After: 120\r\n", true, 120000},
	    {"retry-after:0  \r\n", true, 0},
	    {"Retry-After: 7\r\nRetry-After: 7\r\n", true, 7000},
	    {"Retry-After: 7\r\nRetry-After: 8\r\n", false, 0},
	    {"Retry-After: 7, 8\r\n", false, 0},
	    {"Retry-After: soon\r\n", false, 0},
	    {"Retry-After: -1\r\n", false, 0},
	    {DATE "Retry-After: Wed, 21 Oct 2026 07:29:30 GMT\r\n", true,
	        90000},
	    {"Retry-After: Wed, 21 Oct 2026 07:29:30 GMT\r\n" DATE, true,
	        90000},
	    {DATE "Retry-After: Wed, 21 Oct 2026 07:27:00 GMT\r\n", true, 0},
	    {"Date: nonsense\r\n"
	     "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
	        true, 0},
	    {"Retry-After: 00000000000000000000000000000000000000000000000000"
	     "00000000000000000000000000000000000000000000000000000000005\r\n",
	        false, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512];
		struct script script = {.text = text};
		struct br_outcome out;

		/* one of an interim answer does not count */
		(void)snprintf(text, sizeof(text),
		    "HTTP/1.1 103 Early\r\nRetry-After: 9\r\n\r\n"
		    "HTTP/1.1 429 Slower\r\n%sContent-Length: 0\r\n\r\n",
		    cases[i].fields);
		out = attempt_at(&script, LIMIT_MS);
		expect(text, &out, 429, BR_TRANSPORT_OK);
		if (out.retry_after_given != cases[i].given ||
		    out.retry_after_ms != cases[i].ms)
			fail_msg("%s: %d %lld", cases[i].fields,
			    out.retry_after_given,
			    (long long)out.retry_after_ms);
	}
}

/* Without a Date of the answer our own clock counts. */
static void
test_retry_after_date(void **state)
{
	struct script script = {
	    .text = "HTTP/1.1 503 No\r\nContent-Length: 0\r\n"
	            "Retry-After: Fri, 31 Dec 2100 23:59:59 GMT\r\n\r\n"};
	struct br_outcome out = attempt_at(&script, LIMIT_MS);

	(void)state;
	expect("date", &out, 503, BR_TRANSPORT_OK);
	assert_true(out.retry_after_given);
	assert_true(out.retry_after_ms > 0);
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
	    cmocka_unit_test(test_statuses),
	    cmocka_unit_test(test_whole_answers),
	    cmocka_unit_test(test_broken_bodies),
	    cmocka_unit_test(test_no_answers),
	    cmocka_unit_test(test_half_head),
	    cmocka_unit_test(test_endless_body),
	    cmocka_unit_test(test_endless_heads),
	    cmocka_unit_test(test_dripping),
	    cmocka_unit_test(test_early_refusal),
	    cmocka_unit_test(test_late_answer),
	    cmocka_unit_test(test_redirects),
	    cmocka_unit_test(test_retry_after),
	    cmocka_unit_test(test_retry_after_date),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
