/* The text of a limit in an answer, wherever and in whatever pieces. */
#include "attempt.h"

#include <stdlib.h>

#define MATCH "concurrent request limit( has been)? exceeded"
#define SAID "Concurrent request limit exceeded"
#define BODY_MAX (64 * 1024)

/* One attempt that looks for `match`. */
static struct br_outcome
attempt(struct br_http *h, struct receiver *r, const char *match)
{
	struct br_http_request rq =
	    request_to(receiver_url(r), receiver_url(r), NULL, "{}");
	struct br_outcome out;

	rq.throttle_match = match;
	br_http_perform(h, &rq, &out);
	return out;
}

enum then { KEEPS, CLOSES, RESETS, HOLDS };

/* What a receiver sends; `from` to its end in pieces of one byte. */
struct said {
	char *bytes;
	size_t len, pieces_from;
	enum then then;
};

static void
say(struct exchange *x, void *context)
{
	const struct said *s = context;

	(void)exchange_send(x, s->bytes, s->pieces_from);
	for (size_t i = s->pieces_from; i < s->len; i++)
		if (!exchange_send(x, s->bytes + i, 1) || !exchange_pause(x, 1))
			break;
	if (s->then == CLOSES)
		exchange_close(x);
	else if (s->then == RESETS)
		exchange_reset(x);
	else if (s->then == HOLDS)
		exchange_hold(x);
}

static void
said_free(struct said *s)
{
	free(s->bytes);
}

/* A head, then a body that has `text` at `at`, of 'B' otherwise. */
static struct said
said(const char *head, size_t body_len, size_t at, const char *text)
{
	size_t head_len = strlen(head), len = strlen(text);
	struct said s = {.len = head_len + body_len};

	s.bytes = malloc(s.len + 1);
	assert_non_null(s.bytes);
	memcpy(s.bytes, head, head_len);
	memset(s.bytes + head_len, 'B', body_len);
	for (size_t i = 0; i < len && at + i < body_len; i++)
		s.bytes[head_len + at + i] = text[i];
	s.pieces_from = s.len;
	return s;
}

static struct br_outcome
answer_of(struct said *s, int64_t limit_ms, const char *match)
{
	struct receiver *r = receiver_with(say, s);
	struct br_http *h = hasty_client(limit_ms);
	struct br_outcome out = attempt(h, r, match);

	br_http_free(h);
	receiver_free(r);
	return out;
}

static void
test_any_status(void **state)
{
	static const int status[] = {200, 202, 302, 400, 403, 429, 500, 503};

	(void)state;
	for (size_t i = 0; i < sizeof(status) / sizeof(status[0]); i++)
		for (int words = 0; words < 2; words++) {
			char head[200];
			struct said s;
			struct br_outcome out;

			(void)snprintf(head, sizeof(head),
			    "HTTP/1.1 %d Odd\r\nContent-Length: 50\r\n\r\n",
			    status[i]);
			s = said(head, 50, 9, words ? SAID : "");
			out = answer_of(&s, LIMIT_MS, MATCH);
			expect(head, &out, status[i], BR_TRANSPORT_OK);
			assert_int_equal(out.throttle_text, words);
			assert_true((strstr(out.detail, "throttle_match") !=
			                NULL) == words);
			said_free(&s);
		}
}

/* Off, the same answer is what its status says. */
static void
test_off(void **state)
{
	static const char *const off[] = {NULL, "", "another text"};
	struct said s =
	    said("HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n", 40, 0, SAID);

	(void)state;
	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		struct br_outcome out = answer_of(&s, LIMIT_MS, off[i]);

		expect("off", &out, 200, BR_TRANSPORT_OK);
		assert_false(out.throttle_text);
		assert_string_equal(out.detail, "");
	}
	said_free(&s);
}

/* The text in pieces of one byte, plain and in chunks of HTTP. */
static void
test_pieces(void **state)
{
	static const char chunked[] =
	    "HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n"
	    "14\r\n{\"e\": \"Concurrent re\r\n"
	    "e\r\nquest limit ex\r\n6\r\nceeded\r\n0\r\n\r\n";
	struct said plain =
	    said("HTTP/1.1 200 OK\r\nContent-Length: 45\r\n\r\n", 45, 5, SAID);
	struct said chunks = said(chunked, 0, 0, "");
	struct br_outcome out;

	(void)state;
	plain.pieces_from -= 45;
	out = answer_of(&plain, LIMIT_MS, MATCH);
	expect("plain", &out, 200, BR_TRANSPORT_OK);
	assert_true(out.throttle_text);
	out = answer_of(&chunks, LIMIT_MS, MATCH);
	expect("chunks", &out, 503, BR_TRANSPORT_OK);
	assert_true(out.throttle_text);
	chunks.pieces_from = 0;
	out = answer_of(&chunks, LIMIT_MS, MATCH);
	expect("chunks in pieces", &out, 503, BR_TRANSPORT_OK);
	assert_true(out.throttle_text);
	said_free(&plain);
	said_free(&chunks);
}

/* The first 64 KiB, and not a byte more; what comes behind is cut off. */
static void
test_bound(void **state)
{
	static const struct {
		size_t body_len, at;
		bool found;
	} rows[] = {
	    {BODY_MAX, BODY_MAX - sizeof(SAID) + 1, true},
	    {BODY_MAX + 1, BODY_MAX - sizeof(SAID) + 1, true},
	    {BODY_MAX + 1, BODY_MAX - sizeof(SAID) + 2, false},
	    {4 * BODY_MAX, BODY_MAX - sizeof(SAID) + 1, true},
	    {4 * BODY_MAX, BODY_MAX - sizeof(SAID) + 2, false},
	    {4 * BODY_MAX, BODY_MAX, false},
	    {4 * BODY_MAX, 2 * BODY_MAX, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char head[100];
		struct said s;
		struct br_outcome out;

		(void)snprintf(head, sizeof(head),
		    "HTTP/1.1 403 No\r\nContent-Length: %zu\r\n\r\n",
		    rows[i].body_len);
		s = said(head, rows[i].body_len, rows[i].at, SAID);
		out = answer_of(&s, LIMIT_MS, MATCH);
		expect("bound", &out, 403, BR_TRANSPORT_OK);
		if (out.throttle_text != rows[i].found)
			fail_msg("row %zu", i);
		said_free(&s);
	}
}

/* NULs and other bytes are in nobody's way. */
static void
test_binary(void **state)
{
	struct said s = said("HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n",
	    300, 260, "CONCURRENT REQUEST LIMIT EXCEEDED");
	char *body = s.bytes + s.len - 300;
	struct br_outcome out;

	(void)state;
	for (int i = 0; i < 256; i++)
		body[i] = (char)i;
	body[296] = '\0';
	out = answer_of(&s, LIMIT_MS, MATCH);
	assert_true(out.throttle_text);
	/* the dead letter gets the bytes as they came */
	assert_int_equal(out.body_len, 300);
	assert_memory_equal(out.body, body, 300);
	said_free(&s);
}

/* A body that is cut off: what came of it is looked at, and where that says
 * nothing the status decides, as it does without an expression. */
static void
test_cut_off(void **state)
{
	static const struct {
		enum then then;
		enum br_transport transport;
	} rows[] = {{CLOSES, BR_TRANSPORT_RESET}, {RESETS, BR_TRANSPORT_RESET},
	    {HOLDS, BR_TRANSPORT_TIMEOUT}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int whole = 0; whole < 2; whole++) {
			struct said s = said("HTTP/1.1 200 OK\r\n"
			                     "Content-Length: 999\r\n\r\n",
			    33 - !whole, 0, SAID);
			struct br_outcome out;

			s.then = rows[i].then;
			out = answer_of(&s,
			    rows[i].transport == BR_TRANSPORT_TIMEOUT
			        ? 300
			        : LIMIT_MS,
			    MATCH);
			expect("cut off", &out, 200, rows[i].transport);
			assert_int_equal(out.throttle_text, whole);
			said_free(&s);
		}
}

/* Not in the head, not in an interim answer, and not where no body is. */
static void
test_no_body(void **state)
{
	static const char *const heads[] = {
	    "HTTP/1.1 200 OK\r\nX-Error: " SAID "\r\nContent-Length: 0\r\n\r\n",
	    "HTTP/1.1 204 " SAID "\r\n\r\n",
	    "HTTP/1.1 103 Early\r\nLink: " SAID "\r\n\r\n"
	    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct said s = said(heads[i], 0, 0, "");
		struct br_outcome out = answer_of(&s, LIMIT_MS, MATCH);

		assert_int_equal(out.http_status / 100, 2);
		assert_false(out.throttle_text);
		said_free(&s);
	}
}

/* One client, one connection: each answer and each request for itself. */
static void
alternate(struct exchange *x, void *context)
{
	size_t *n = context;

	(void)exchange_answer(x, 200, (*n)++ % 2 == 0 ? SAID : "fine");
}

static void
hang_up(struct exchange *x, void *context)
{
	(void)context;
	exchange_close(x);
}

static void
test_one_after_the_other(void **state)
{
	static const char *const match[] = {MATCH, "FINE", "", MATCH, MATCH};
	static const bool found[] = {true, true, false, false, true};
	size_t n = 0;
	struct receiver *r = receiver_with(alternate, &n);
	struct br_http *h = plain_client();

	(void)state;
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(
		    attempt(h, r, match[i]).throttle_text, found[i]);
	assert_int_equal(receiver_accepted(r), 1);
	br_http_free(h);
	receiver_free(r);
	/* nobody answers: nothing of the last one is left */
	h = plain_client();
	n = 0;
	r = receiver_with(alternate, &n);
	assert_true(attempt(h, r, MATCH).throttle_text);
	receiver_free(r);
	r = receiver_with(hang_up, NULL);
	assert_false(attempt(h, r, MATCH).throttle_text);
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
	    cmocka_unit_test(test_any_status),
	    cmocka_unit_test(test_off),
	    cmocka_unit_test(test_pieces),
	    cmocka_unit_test(test_bound),
	    cmocka_unit_test(test_binary),
	    cmocka_unit_test(test_cut_off),
	    cmocka_unit_test(test_no_body),
	    cmocka_unit_test(test_one_after_the_other),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
