/*
 * Retries, dead letters and what is no event: one bridge, many checks,
 * because a mock group takes seconds to join.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>

/* What the receiver answers, by key. */
enum {
	FINE,       /* 200 */
	FLAKY,      /* 503 twice, then 200 */
	BAD,        /* the key's first event: always 500 */
	NEVER,      /* 400 */
	TWICE,      /* always 500; its events allow two requests */
	SLOW_RETRY, /* 503 once, then 200 */
	CUT,        /* the connection ends before an answer; then 200 */
	GONE        /* 410 */
};

static int
by_key(struct rig *r, struct exchange *x, unsigned n, unsigned attempt)
{
	struct rig_event e = rig_look(r, n);

	switch (e.key) {
	case FLAKY:
		return attempt <= 2 ? 503 : 200;
	case BAD:
		return r->dead[n] ? 500 : 200;
	case NEVER:
		return r->dead[n] ? 400 : 200;
	case TWICE:
		return 500;
	case GONE:
		return 410;
	case SLOW_RETRY:
		return attempt == 1 ? 503 : 200;
	case CUT:
		if (attempt > 1)
			return 200;
		exchange_close(x);
		return 0;
	default:
		return 200;
	}
}

static int
set_up(void **state)
{
	struct rig *r =
	    rig_new(&(struct rig_options){.partitions = 2, .script = by_key});

	rig_start(r);
	*state = r;
	return 0;
}

static int
tear_down(void **state)
{
	struct rig *r = *state;

	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	rig_free(r);
	return 0;
}

/* An event that must end in the DLQ. */
static unsigned
doomed(struct rig *r, int32_t partition, int key,
    const struct br_header *headers, size_t count)
{
	(void)pthread_mutex_lock(&r->lock);
	r->dead[r->count] = true;
	(void)pthread_mutex_unlock(&r->lock);
	return rig_event_with(r, partition, key, headers, count);
}

static bool
has_header(const struct rig_letter *letter, const char *name, const char *text)
{
	const char *value = rig_header(letter, name);

	if (value == NULL || strcmp(value, text) != 0)
		print_message("%s: %s\n", name, value != NULL ? value : "-");
	return value != NULL && strcmp(value, text) == 0;
}

static void
until_committed(struct rig *r)
{
	WAIT_FOR(rig_all_committed(r));
	rig_check_book(r, 4);
}

static void
retries_until_accepted(void **state)
{
	struct rig *r = *state;
	unsigned n = rig_event(r, 0, FLAKY), next = rig_event(r, 0, FLAKY);

	rig_flush(r);
	WAIT_FOR(rig_look(r, next).accepted == 1);
	until_committed(r);
	assert_int_equal(rig_look(r, n).requests, 3);
	assert_int_equal(rig_look(r, n).accepted, 1);
	assert_int_equal(rig_look(r, next).requests, 3);
	assert_int_equal(rig_letters(r), 0);
}

static void
cut_connection_is_tried_again(void **state)
{
	struct rig *r = *state;
	unsigned n = rig_event(r, 1, CUT);

	rig_flush(r);
	WAIT_FOR(rig_look(r, n).accepted == 1);
	until_committed(r);
	/* A resend on a new connection, or the next attempt. */
	assert_int_equal(rig_look(r, n).requests, 2);
}

/* The record is copied whole, and the lane waits for the copy. */
static void
dead_letter_is_the_original(void **state)
{
	struct rig *r = *state;
	const struct br_header extra[] = {
	    {"eventType", br_slice_str("order.placed")},
	    {"twice", br_slice_str("1")},
	    {"twice", br_slice_str("2")},
	    {"null", {NULL, 0}},
	    {"empty", br_slice_str("")},
	};
	int64_t before_ms = br_clock_wall_ms();
	unsigned n = doomed(r, 0, BAD, extra, 5), next = rig_event(r, 0, BAD);
	const struct rig_letter *letter;
	struct br_buffer body = {0};
	const struct br_header *h;
	char offset[24];

	rig_flush(r);
	WAIT_FOR(rig_look(r, next).accepted == 1);
	until_committed(r);
	assert_int_equal(rig_look(r, n).requests, 5);
	assert_int_equal(rig_look(r, next).requests, 1);
	assert_int_equal(rig_letters(r), 1);
	letter = rig_letter(r, n);
	rig_body(r, n, &body);
	assert_int_equal(letter->record.value.len, body.len);
	assert_memory_equal(letter->record.value.data, body.data, body.len);
	assert_string_equal((const char *)letter->record.key.data, "key-2");
	assert_true(letter->record.timestamp_ms >= before_ms &&
	            letter->record.timestamp_ms <= rig_look(r, n).ended_ms -
	                                               br_clock_mono_ms() +
	                                               br_clock_wall_ms());
	/* The original headers first, in their order. */
	h = letter->record.headers;
	assert_string_equal(h[0].name, "id");
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(h[i + 1].name, extra[i].name);
		assert_true(br_slice_eq(h[i + 1].value, extra[i].value));
	}
	for (size_t i = 6; i < letter->record.header_count; i++)
		assert_memory_equal(h[i].name, "outbox.dlq.", 11);
	(void)snprintf(
	    offset, sizeof(offset), "%lld", (long long)rig_look(r, n).offset);
	assert_true(
	    has_header(letter, "outbox.dlq.reason", "http-retries-exhausted"));
	assert_true(has_header(letter, "outbox.dlq.attempts", "5"));
	assert_true(has_header(letter, "outbox.dlq.topic", RIG_TOPIC));
	assert_true(has_header(letter, "outbox.dlq.partition", "0"));
	assert_true(has_header(letter, "outbox.dlq.offset", offset));
	assert_true(has_header(letter, "outbox.dlq.http.status", "500"));
	assert_true(has_header(letter, "outbox.dlq.http.body", "answer"));
	assert_true(
	    has_header(letter, "outbox.dlq.event.type", "order.placed"));
	assert_true(has_header(letter, "outbox.dlq.stage", "deliver"));
	assert_true(
	    has_header(letter, "outbox.dlq.target", receiver_url(r->receiver)));
	br_buffer_free(&body);
}

static void
never_is_one_request(void **state)
{
	struct rig *r = *state;
	size_t before = rig_letters(r);
	unsigned n = doomed(r, 1, NEVER, NULL, 0);
	unsigned gone = doomed(r, 1, GONE, NULL, 0);
	unsigned next = rig_event(r, 1, NEVER);

	rig_flush(r);
	WAIT_FOR(rig_look(r, next).accepted == 1);
	until_committed(r);
	assert_int_equal(rig_look(r, n).requests, 1);
	assert_int_equal(rig_look(r, gone).requests, 1);
	assert_int_equal(rig_letters(r), before + 2);
	assert_true(has_header(
	    rig_letter(r, n), "outbox.dlq.reason", "http-permanent"));
	assert_true(
	    has_header(rig_letter(r, gone), "outbox.dlq.reason", "http-gone"));
	assert_true(has_header(rig_letter(r, n), "outbox.dlq.attempts", "1"));
}

static void
event_says_how_often(void **state)
{
	struct rig *r = *state;
	const struct br_header two = {"max_retries", br_slice_str("2")};
	const struct br_header none = {"maxRetries", br_slice_str("0")};
	unsigned a = doomed(r, 0, TWICE, &two, 1);
	unsigned b = doomed(r, 0, TWICE, &none, 1);

	rig_flush(r);
	until_committed(r);
	assert_int_equal(rig_look(r, a).requests, 2);
	assert_int_equal(rig_look(r, b).requests, 1);
	(void)rig_letters(r);
	assert_true(has_header(rig_letter(r, a), "outbox.dlq.attempts", "2"));
	assert_true(has_header(rig_letter(r, b), "outbox.dlq.attempts", "1"));
}

/* No id, no request. */
static void
what_cannot_be_sent(void **state)
{
	struct rig *r = *state;
	const struct br_header java = {"id", br_slice_str("Struct{a=1}")};
	struct br_record record = {.topic = RIG_TOPIC,
	    .partition = 1,
	    .timestamp_ms = 1700000000123,
	    .key = br_slice_str("key-0"),
	    .value = br_slice_str("{\"a\":1}"),
	    .headers = &java};
	unsigned nameless = rig_record(r, &record), java_id, after;
	size_t requests = receiver_requests(r->receiver);

	record.header_count = 1;
	java_id = rig_record(r, &record);
	rig_flush(r);
	until_committed(r);
	assert_int_equal(receiver_requests(r->receiver), requests);
	after = rig_event(r, 1, FINE);
	rig_flush(r);
	WAIT_FOR(rig_look(r, after).accepted == 1);
	(void)rig_letters(r);
	assert_true(has_header(
	    rig_letter(r, nameless), "outbox.dlq.reason", "missing-id"));
	assert_true(
	    has_header(rig_letter(r, nameless), "outbox.dlq.attempts", "0"));
	assert_null(
	    rig_header(rig_letter(r, nameless), "outbox.dlq.http.status"));
	assert_int_equal(
	    rig_letter(r, nameless)->record.timestamp_ms, 1700000000123);
	assert_true(has_header(
	    rig_letter(r, java_id), "outbox.dlq.reason", "id-invalid"));
}

/* Tombstones and heartbeats are passed and counted. */
static void
what_is_no_event(void **state)
{
	struct rig *r = *state;
	struct br_record record = {.topic = RIG_TOPIC,
	    .partition = 0,
	    .timestamp_ms = -1,
	    .key = br_slice_str("{\"serverName\":\"db\"}")};
	size_t requests = receiver_requests(r->receiver);
	size_t letters = rig_letters(r);

	(void)rig_record(r, &record);
	(void)rig_record(r, &record);
	record.value = br_slice_str("{\"ts_ms\":1700000000000}");
	(void)rig_record(r, &record);
	rig_flush(r);
	until_committed(r);
	assert_int_equal(br_metric_get_label(BR_M_SKIPPED, "tombstone"), 2);
	assert_int_equal(receiver_requests(r->receiver), requests);
	assert_int_equal(rig_letters(r) - letters, 0);
	WAIT_FOR(rig_sample("outbox_bridge_lag{topic=\"" RIG_TOPIC
	                    "\",partition=\"0\"}") == 0);
}

/* An idle bridge wakes for every single event. */
static void
wakes_for_one(void **state)
{
	struct rig *r = *state;

	for (int i = 0; i < 60; i++) {
		int64_t until_ms = br_clock_mono_ms() + 2000;
		unsigned n = rig_event(r, i % 2, 50);

		rig_flush(r);
		while (rig_look(r, n).accepted == 0) {
			assert_true(br_clock_mono_ms() < until_ms);
			(void)poll(NULL, 0, 1);
		}
		/* Also after everybody has fallen asleep. */
		(void)poll(NULL, 0, i % 10);
	}
	until_committed(r);
}

/* While a key waits for its time, others come at once. */
static void
waiting_key_delays_nobody(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){.script = by_key,
	    .no_retry_group = true,
	    .rest = "retry = { base_ms = 2000; };"});
	unsigned slow, n = 0;

	(void)state;
	rig_start(r);
	slow = rig_event(r, 0, SLOW_RETRY);
	rig_flush(r);
	WAIT_FOR(rig_look(r, slow).requests == 1);
	for (int i = 0; i < 10; i++) {
		n = rig_event(r, 0, 40 + i % 3);
		rig_flush(r);
		WAIT_FOR(rig_look(r, n).accepted == 1);
	}
	/* All of them before its four seconds were over. */
	WAIT_FOR(rig_look(r, slow).accepted == 1);
	assert_true(rig_look(r, n).ended_ms < rig_look(r, slow).began_ms);
	assert_int_equal(rig_look(r, slow).requests, 2);
	until_committed(r);
	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	rig_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(retries_until_accepted),
	    cmocka_unit_test(cut_connection_is_tried_again),
	    cmocka_unit_test(dead_letter_is_the_original),
	    cmocka_unit_test(never_is_one_request),
	    cmocka_unit_test(event_says_how_often),
	    cmocka_unit_test(what_cannot_be_sent),
	    cmocka_unit_test(what_is_no_event),
	    cmocka_unit_test(wakes_for_one),
	};

	const struct CMUnitTest alone[] = {
	    cmocka_unit_test(waiting_key_delays_nobody),
	};
	int failed = cmocka_run_group_tests(tests, set_up, tear_down);

	return failed + cmocka_run_group_tests(alone, NULL, NULL);
}
