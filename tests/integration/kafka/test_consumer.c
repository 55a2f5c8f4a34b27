/* consumer: reading, committing and asking on a mock cluster. */
#include "harness.h"

#include <librdkafka/rdkafka.h>
#include <string.h>

#include "bridge/base/log.h"

#define TOPIC "outbox.event.order"

static struct harness h;
static struct br_consumer *c;

/* One member for all tests of this file: joining takes seconds. */
static int
set_up(void **state)
{
	(void)state;
	harness_start(&h, TOPIC, 2);
	/* it stays a member while the brokers are away */
	harness_property(&h, "session.timeout.ms=12000");
	/* what should have stopped would show itself soon */
	harness_property(&h, "fetch.error.backoff.ms=1");
	c = harness_join(&h);
	harness_assign(c, 0);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	harness_leave(c);
	harness_stop(&h);
	return 0;
}

static void
reads_keys_headers_and_nulls(void **state)
{
	static const struct br_header headers[] = {
	    {"id", {(const uint8_t *)"one", 3}},
	    {"empty", {(const uint8_t *)"", 0}}, {"none", {NULL, 0}},
	    {"id", {(const uint8_t *)"a\0b", 3}}};
	struct br_record sent[] = {{.topic = TOPIC,
	                               .timestamp_ms = 1700000000123,
	                               .key = {(const uint8_t *)"k\0y", 3},
	                               .value = br_slice_str("value"),
	                               .headers = headers,
	                               .header_count = 4},
	    {.topic = TOPIC, .timestamp_ms = 1},
	    {.topic = TOPIC,
	        .timestamp_ms = 2,
	        .key = br_slice_str(""),
	        .value = br_slice_str("")}};
	struct br_error err;
	struct br_read got;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_true(br_mock_produce(h.mock, &sent[i], &err));
	assert_true(br_mock_flush(h.mock, WAIT_MS, &err));

	got = harness_read(c);
	assert_int_equal(got.kind, BR_READ_RECORD);
	assert_string_equal(got.record.topic, TOPIC);
	assert_int_equal(got.record.partition, 0);
	assert_int_equal(got.record.offset, 0);
	assert_int_equal(got.record.timestamp_ms, 1700000000123);
	assert_int_equal(got.record.time_kind, BR_TIME_CREATE);
	assert_bytes(got.record.key, "k\0y");
	assert_bytes(got.record.value, "value");
	assert_int_equal(got.record.header_count, 4);
	assert_string_equal(got.record.headers[0].name, "id");
	assert_bytes(got.record.headers[0].value, "one");
	assert_bytes(got.record.headers[1].value, "");
	assert_string_equal(got.record.headers[2].name, "none");
	assert_null(got.record.headers[2].value.data);
	assert_bytes(got.record.headers[3].value, "a\0b");

	got = harness_read(c);
	assert_int_equal(got.record.offset, 1);
	assert_null(got.record.key.data);
	assert_null(got.record.value.data);
	assert_int_equal(got.record.header_count, 0);

	got = harness_read(c);
	assert_int_equal(got.record.offset, 2);
	assert_bytes(got.record.key, "");
	assert_bytes(got.record.value, "");
}

static struct br_positions *
one(int32_t partition, int64_t offset, const char *metadata)
{
	struct br_positions *list = br_positions_new(1);
	struct br_position *p =
	    br_positions_add(list, TOPIC, partition, offset);

	if (metadata != NULL) {
		p->metadata = strdup(metadata);
		p->metadata_len = strlen(metadata);
	}
	return list;
}

static void
commit(int32_t partition, int64_t offset, const char *metadata, int expected)
{
	struct br_positions *list = one(partition, offset, metadata);
	struct br_kafka_event ev;
	struct br_error err;
	uint64_t ticket;

	assert_true(br_consumer_commit(c, list, &ticket, &err));
	ev = harness_event(c, BR_KAFKA_COMMITTED);
	assert_int_equal(ev.ticket, ticket);
	assert_int_equal(ev.error, expected);
	assert_int_equal(ev.positions->count, 1);
	assert_int_equal(ev.positions->item[0].partition, partition);
	if (expected != 0)
		assert_true(strlen(ev.text) > 0);
	br_kafka_event_clear(&ev);
	br_positions_free(list);
}

static void
commits_and_is_told_what_was_committed(void **state)
{
	struct br_positions *list = one(0, -1, NULL);
	struct br_kafka_event ev;
	uint64_t ticket;

	(void)state;
	commit(0, 2, "ob1.AAAA", 0);
	(void)br_positions_add(list, TOPIC, 1, -1);
	ticket = br_consumer_ask(c, BR_ASK_POSITIONS, list, WAIT_MS);
	ev = harness_event(c, BR_KAFKA_ANSWER);
	assert_int_equal(ev.ticket, ticket);
	assert_int_equal(ev.question, BR_ASK_POSITIONS);
	assert_int_equal(ev.error, 0);
	assert_int_equal(ev.positions->count, 2);
	assert_int_equal(ev.positions->item[0].offset, 2);
	assert_int_equal(ev.positions->item[0].metadata_len, 8);
	assert_string_equal(ev.positions->item[0].metadata, "ob1.AAAA");
	assert_int_equal(ev.positions->item[0].low, 0);
	assert_int_equal(ev.positions->item[0].high, 3);
	assert_int_equal(ev.positions->item[1].offset, -1);
	assert_null(ev.positions->item[1].metadata);
	assert_int_equal(ev.positions->item[1].low, 0);
	assert_int_equal(ev.positions->item[1].high, 0);
	br_kafka_event_clear(&ev);
	br_positions_free(list);
	assert_int_equal(br_consumer_high(c, TOPIC, 0), 3);
	assert_int_equal(br_consumer_high(c, "no.such.topic", 0), -1);
}

static void
tells_refused_commits(void **state)
{
	static const int told[] = {RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE,
	    RD_KAFKA_RESP_ERR_INVALID_COMMIT_OFFSET_SIZE,
	    RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED};

	(void)state;
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		br_mock_fail(h.mock, BR_MOCK_OFFSET_COMMIT, told[i], 1);
		commit(0, 1, NULL, told[i]);
	}
	commit(0, 1, NULL, 0);
}

static void
finds_offsets_by_time(void **state)
{
	struct br_positions *list = one(0, 1, NULL);
	struct br_kafka_event ev;

	(void)state;
	(void)br_consumer_ask(c, BR_ASK_RANGE, list, WAIT_MS);
	ev = harness_event(c, BR_KAFKA_ANSWER);
	assert_int_equal(ev.question, BR_ASK_RANGE);
	assert_int_equal(ev.positions->item[0].low, 0);
	assert_int_equal(ev.positions->item[0].high, 3);
	br_kafka_event_clear(&ev);
	/* the mock knows no times and answers with the end, as for "none" */
	(void)br_consumer_ask(c, BR_ASK_TIME, list, WAIT_MS);
	ev = harness_event(c, BR_KAFKA_ANSWER);
	assert_int_equal(ev.error, 0);
	assert_int_equal(ev.positions->item[0].offset, 3);
	br_kafka_event_clear(&ev);
	br_positions_free(list);
}

static void
seeks_pauses_and_goes_on(void **state)
{
	struct br_error err;
	struct br_read got;

	(void)state;
	assert_true(br_consumer_seek(c, TOPIC, 0, 1, &err));
	got = harness_read(c);
	assert_int_equal(got.kind, BR_READ_RECORD);
	assert_int_equal(got.record.offset, 1);
	assert_true(br_consumer_seek(c, TOPIC, 0, -2, &err));
	got = harness_read(c);
	assert_int_equal(got.record.offset, 0);

	assert_true(br_consumer_pause(c, TOPIC, 0, true, &err));
	harness_fill(&h, TOPIC, 1, 0, 1);
	got = harness_read(c);
	assert_int_equal(got.record.partition, 1);
	assert_true(br_consumer_pause(c, TOPIC, 0, false, &err));
	got = harness_read(c);
	assert_int_equal(got.record.partition, 0);
	assert_int_equal(got.record.offset, 1);
	assert_int_equal(harness_read(c).record.offset, 2);
	assert_false(br_consumer_seek(c, "no.such.topic", 0, 1, &err));
	assert_false(br_consumer_pause(c, TOPIC, 9, true, &err));
}

static void
stops_outside_the_log_and_goes_on_after_a_seek(void **state)
{
	static const int64_t outside[] = {1000, 4};
	struct br_positions *list = one(0, 2, NULL);
	struct br_error err;
	struct br_read got;

	(void)state;
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		assert_true(br_consumer_seek(c, TOPIC, 0, outside[i], &err));
		got = harness_read(c);
		assert_int_equal(got.kind, BR_READ_OUT_OF_RANGE);
		assert_string_equal(got.record.topic, TOPIC);
		assert_int_equal(got.record.partition, 0);
		assert_int_equal(got.record.offset, outside[i]);
		assert_true(strlen(got.text) > 0);
		/* the other partition goes on, this one does not */
		harness_fill(&h, TOPIC, 1, 1 + (int)i, 1);
		got = harness_read(c);
		assert_int_equal(got.record.partition, 1);
		assert_int_equal(got.record.offset, 1 + (int)i);
		/* either way goes on */
		if (i == 0)
			assert_true(br_consumer_seek(c, TOPIC, 0, 2, &err));
		else
			assert_true(br_consumer_assign(c, list, &err));
		got = harness_read(c);
		assert_int_equal(got.kind, BR_READ_RECORD);
		assert_int_equal(got.record.partition, 0);
		assert_int_equal(got.record.offset, 2);
	}
	br_positions_free(list);
}

static void
tells_ends(void **state)
{
	struct br_positions *list = one(0, 0, NULL);
	struct br_error err;
	struct br_read got[8];
	size_t n = 0, records = 0;
	int64_t end = -1;

	(void)state;
	assert_true(br_consumer_unassign(c, list, &err));
	assert_true(br_consumer_assign(c, list, &err));
	while (end < 0) {
		n = harness_batch(c, got, 8);
		for (size_t i = 0; i < n; i++) {
			if (got[i].record.partition != 0)
				continue;
			if (got[i].kind == BR_READ_END)
				end = got[i].record.offset;
			else
				assert_int_equal(
				    got[i].record.offset, records++);
		}
		br_consumer_release(c);
	}
	assert_int_equal(records, 3);
	assert_int_equal(end, 3);
	br_positions_free(list);
}

static void
goes_on_after_errors_of_single_requests(void **state)
{
	struct br_read got;

	(void)state;
	br_mock_fail(h.mock, BR_MOCK_FETCH,
	    RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, 2);
	harness_fill(&h, TOPIC, 1, 3, 1);
	do
		got = harness_read(c);
	while (got.kind == BR_READ_ERROR);
	assert_int_equal(got.kind, BR_READ_RECORD);
	assert_int_equal(got.record.partition, 1);
	assert_int_equal(got.record.offset, 3);
}

/* Goes on as soon as librdkafka knows that the topic is back. */
static void
expect_again(int32_t partition, int64_t last)
{
	struct br_error err;
	struct br_read got;

	do {
		assert_true(
		    br_consumer_seek(c, TOPIC, partition, last - 1, &err));
		got = harness_read(c);
	} while (got.kind == BR_READ_TOPIC_GONE);
	for (int64_t offset = last - 1;; got = harness_read(c)) {
		assert_int_equal(got.kind, BR_READ_RECORD);
		assert_int_equal(got.record.partition, partition);
		assert_int_equal(got.record.offset, offset);
		if (offset++ == last)
			return;
	}
}

/* Nothing is read while the brokers answer a number of other questions. */
static void
expect_silence(void)
{
	struct br_positions *list = one(0, -1, NULL);
	struct br_read got;

	for (int i = 0; i < 20; i++) {
		struct br_kafka_event ev;

		(void)br_consumer_ask(c, BR_ASK_RANGE, list, WAIT_MS);
		ev = harness_event(c, BR_KAFKA_ANSWER);
		br_kafka_event_clear(&ev);
		assert_int_equal(br_consumer_read(c, &got, 1), 0);
	}
	br_positions_free(list);
}

/* Both partitions stop, once, until each is told where to go on. */
static void
expect_stop(enum br_read_kind kind)
{
	bool seen[2] = {false, false};

	while (!seen[0] || !seen[1]) {
		struct br_read got = harness_read(c);

		assert_int_equal(got.kind, kind);
		assert_int_not_equal(got.error, 0);
		assert_true(strlen(got.text) > 0);
		assert_in_range(got.record.partition, 0, 1);
		assert_false(seen[got.record.partition]);
		seen[got.record.partition] = true;
	}
	/* nobody answers questions about a topic that is gone */
	if (kind == BR_READ_CORRUPT)
		expect_silence();
	br_mock_fail(h.mock, BR_MOCK_FETCH, 0, 0);
	br_mock_topic_error(h.mock, TOPIC, 0);
	expect_again(0, 2);
	expect_again(1, 3);
}

static void
stops_at_what_it_cannot_read(void **state)
{
	(void)state;
	/* the two may come with different requests */
	br_mock_fail(h.mock, BR_MOCK_FETCH, RD_KAFKA_RESP_ERR_INVALID_MSG, 100);
	expect_stop(BR_READ_CORRUPT);
}

static void
stops_when_the_topic_is_gone(void **state)
{
	(void)state;
	br_mock_topic_error(
	    h.mock, TOPIC, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
	expect_stop(BR_READ_TOPIC_GONE);
}

static void
tells_when_all_brokers_are_gone_and_back(void **state)
{
	struct br_positions *list = one(0, 0, NULL);
	struct br_kafka_event ev;
	struct br_read got;

	(void)state;
	br_mock_down(h.mock, true);
	ev = harness_event(c, BR_KAFKA_BROKERS_DOWN);
	assert_true(strlen(ev.text) > 0);
	br_kafka_event_clear(&ev);
	(void)br_consumer_ask(c, BR_ASK_RANGE, list, 1000);
	ev = harness_event(c, BR_KAFKA_ANSWER);
	assert_int_not_equal(ev.error, 0);
	assert_true(strlen(ev.text) > 0);
	br_kafka_event_clear(&ev);
	br_mock_down(h.mock, false);
	ev = harness_event(c, BR_KAFKA_BROKERS_UP);
	br_kafka_event_clear(&ev);
	harness_fill(&h, TOPIC, 1, 4, 1);
	do
		got = harness_read(c);
	while (got.kind != BR_READ_RECORD);
	assert_int_equal(got.record.offset, 4);
	br_positions_free(list);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_keys_headers_and_nulls),
	    cmocka_unit_test(commits_and_is_told_what_was_committed),
	    cmocka_unit_test(tells_refused_commits),
	    cmocka_unit_test(finds_offsets_by_time),
	    cmocka_unit_test(seeks_pauses_and_goes_on),
	    cmocka_unit_test(stops_outside_the_log_and_goes_on_after_a_seek),
	    cmocka_unit_test(tells_ends),
	    cmocka_unit_test(goes_on_after_errors_of_single_requests),
	    cmocka_unit_test(stops_at_what_it_cannot_read),
	    cmocka_unit_test(stops_when_the_topic_is_gone),
	    cmocka_unit_test(tells_when_all_brokers_are_gone_and_back),
	};

	br_log_setup(BR_ERROR, false);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
