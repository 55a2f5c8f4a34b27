/* deadletter: copies, classes of failure, and one result for each send. */
#include "harness.h"

#include <librdkafka/rdkafka.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "bridge/base/clock.h"
#include "bridge/base/log.h"
#include "bridge/kafka/deadletter.h"

#define TOPIC "outbox.dlq"
#define SOURCE "outbox.event.order"

static struct harness h;
static struct br_error err;

static int
set_up(void **state)
{
	static char topic[] = TOPIC;

	(void)state;
	br_log_setup(BR_ERROR, false);
	harness_start(&h, TOPIC, 3);
	h.config.dlq.topic = topic;
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	harness_stop(&h);
	return 0;
}

static struct br_dead_result
result(struct br_deadletter *d)
{
	int64_t until_ms = br_clock_mono_ms() + WAIT_MS;
	struct br_dead_result out;

	for (;;) {
		struct pollfd p = {br_deadletter_fd(d), POLLIN, 0};
		int64_t left = until_ms - br_clock_mono_ms();

		br_deadletter_wake_clear(d);
		if (br_deadletter_next(d, &out))
			return out;
		if (left <= 0)
			fail_msg("no result");
		(void)poll(&p, 1, (int)left);
	}
}

static struct br_dead_result
send_one(struct br_deadletter *d, const struct br_record *r,
    const struct br_header *added, size_t count)
{
	struct br_dead_result out;
	bool retry = true;
	int mark;

	assert_true(
	    br_deadletter_send(d, r, added, count, &mark, &retry, &err));
	assert_false(retry);
	assert_int_equal(br_deadletter_pending(d), 1);
	out = result(d);
	assert_ptr_equal(out.opaque, &mark);
	assert_int_equal(br_deadletter_pending(d), 0);
	return out;
}

struct seen {
	size_t count;
	int32_t partition;
};

static void
see_copy(void *arg, const struct br_record *r)
{
	struct seen *seen = arg;

	seen->partition = r->partition;
	if (seen->count++ > 0)
		return;
	assert_int_equal(r->timestamp_ms, 1700000000123);
	assert_bytes(r->key, "k\0y");
	assert_bytes(r->value, "{\"a\":\0001}");
	assert_int_equal(r->header_count, 5);
	assert_string_equal(r->headers[0].name, "id");
	assert_bytes(r->headers[0].value, "one");
	assert_string_equal(r->headers[1].name, "id");
	assert_bytes(r->headers[1].value, "a\0b");
	assert_null(r->headers[2].value.data);
	assert_bytes(r->headers[3].value, "");
	assert_string_equal(r->headers[4].name, "outbox.dlq.reason");
	assert_bytes(r->headers[4].value, "http-status");
}

static void
copies_byte_for_byte_to_the_partition_of_the_key(void **state)
{
	static const struct br_header headers[] = {
	    {"id", {(const uint8_t *)"one", 3}},
	    {"id", {(const uint8_t *)"a\0b", 3}}, {"none", {NULL, 0}},
	    {"empty", {(const uint8_t *)"", 0}}};
	static const struct br_header added[] = {
	    {"outbox.dlq.reason", {(const uint8_t *)"http-status", 11}}};
	struct br_record r = {.topic = SOURCE,
	    .partition = 17,
	    .timestamp_ms = 1700000000123,
	    .key = {(const uint8_t *)"k\0y", 3},
	    .value = {(const uint8_t *)"{\"a\":\0001}", 8},
	    .headers = headers,
	    .header_count = 4};
	struct br_deadletter *d = br_deadletter_new(&h.config, &err);
	struct seen seen = {0, -1};
	int32_t first;

	(void)state;
	assert_non_null(d);
	assert_int_equal(send_one(d, &r, added, 1).class, BR_DEAD_STORED);
	assert_true(
	    br_mock_read(h.mock, TOPIC, WAIT_MS, see_copy, &seen, &err));
	assert_int_equal(seen.count, 1);
	first = seen.partition;
	assert_int_equal(send_one(d, &r, added, 1).class, BR_DEAD_STORED);
	assert_int_equal(br_mock_end(h.mock, TOPIC, first, WAIT_MS), 2);
	br_deadletter_free(d, 1000);
}

static void
see_null(void *arg, const struct br_record *r)
{
	int64_t *before = arg;

	if (r->key.data == NULL && r->value.data == NULL &&
	    r->header_count == 0 && r->timestamp_ms >= *before)
		*before = INT64_MAX;
}

static void
keeps_nulls_and_gives_a_time_to_records_without_one(void **state)
{
	struct br_record r = {.topic = SOURCE, .timestamp_ms = 0};
	struct br_deadletter *d = br_deadletter_new(&h.config, &err);
	int64_t before = br_clock_wall_ms();

	(void)state;
	assert_int_equal(send_one(d, &r, NULL, 0).class, BR_DEAD_STORED);
	br_deadletter_free(d, 1000);
	assert_true(
	    br_mock_read(h.mock, TOPIC, WAIT_MS, see_null, &before, &err));
	assert_int_equal(before, INT64_MAX);
}

static void
sorts_refusals_by_what_cures_them(void **state)
{
	static const struct {
		int error;
		enum br_dead_class class;
	} cases[] = {
	    {RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, BR_DEAD_TIMESTAMP},
	    {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, BR_DEAD_TOO_LARGE},
	    {RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE, BR_DEAD_TOO_LARGE},
	    {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, BR_DEAD_WAIT},
	    {RD_KAFKA_RESP_ERR_INVALID_RECORD, BR_DEAD_WAIT},
	};
	struct br_record r = {
	    .topic = SOURCE, .timestamp_ms = 1, .value = br_slice_str("v")};
	struct br_deadletter *d = br_deadletter_new(&h.config, &err);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct br_dead_result out;

		br_mock_fail(h.mock, BR_MOCK_PRODUCE, cases[i].error, 1);
		out = send_one(d, &r, NULL, 0);
		assert_int_equal(out.class, cases[i].class);
		assert_int_equal(out.error, cases[i].error);
		assert_string_equal(out.text, rd_kafka_err2str(out.error));
		/* librdkafka remembers a refusal until it asks again */
		do
			out = send_one(d, &r, NULL, 0);
		while (out.error == cases[i].error);
		assert_int_equal(out.class, BR_DEAD_STORED);
	}
	br_deadletter_free(d, 1000);
}

/* A broker refuses batches: each record must be one, to be judged alone. */
static void
refuses_one_without_its_neighbours(void **state)
{
	enum { COUNT = 100 };
	static const int errors[] = {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
	    RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP};
	struct br_record r = {.topic = SOURCE,
	    .timestamp_ms = 1,
	    .key = br_slice_str("one partition"),
	    .value = br_slice_str("v")};

	(void)state;
	for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
		struct br_deadletter *d = br_deadletter_new(&h.config, &err);
		int refused = 0, stored = 0, mark;
		bool retry;

		br_mock_fail(h.mock, BR_MOCK_PRODUCE, errors[e], 1);
		/* All are there before the first can be sent. */
		for (int i = 0; i < COUNT; i++)
			assert_true(br_deadletter_send(
			    d, &r, NULL, 0, &mark, &retry, &err));
		for (int i = 0; i < COUNT; i++) {
			struct br_dead_result out = result(d);

			refused += out.error == errors[e];
			stored += out.class == BR_DEAD_STORED;
		}
		assert_int_equal(refused, 1);
		assert_int_equal(stored, COUNT - 1);
		br_deadletter_free(d, 1000);
	}
}

enum { LETTERS = 60 };

static void
count_copy(void *arg, const struct br_record *r)
{
	int *copies = arg;
	int n = 0;

	if (r->key.data == NULL || r->key.len != 4 || r->key.data[0] != 'n')
		return;
	for (size_t i = 1; i < r->key.len; i++)
		n = 10 * n + (r->key.data[i] - '0');
	assert_true(n >= 0 && n < LETTERS);
	copies[n]++;
}

/* Sends all, and again what was refused, until every one is stored. */
static void
store_all(struct br_deadletter *d, char keys[LETTERS][8])
{
	int waiting[LETTERS], count = LETTERS, done = 0;

	for (int i = 0; i < LETTERS; i++)
		waiting[i] = i;
	while (done < LETTERS) {
		int failed = 0;

		for (int i = 0; i < count; i++) {
			char *key = keys[waiting[i]];
			struct br_record r = {.topic = SOURCE,
			    .timestamp_ms = 1,
			    .key = br_slice_str(key)};
			bool retry;

			assert_true(br_deadletter_send(
			    d, &r, NULL, 0, key, &retry, &err));
		}
		for (int i = 0; i < count; i++) {
			struct br_dead_result out = result(d);

			if (out.class == BR_DEAD_STORED)
				done++;
			else
				waiting[failed++] =
				    (int)((char(*)[8])out.opaque - keys);
		}
		count = failed;
	}
}

/* What is told to be stored is, whatever was refused before it. */
static void
stores_what_it_calls_stored(void **state)
{
	static const int errors[] = {
	    RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
	    RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
	    RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
	    RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
	    RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
	    RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
	    RD_KAFKA_RESP_ERR_INVALID_RECORD};
	enum { ERRORS = sizeof(errors) / sizeof(errors[0]) };
	char keys[LETTERS][8];

	(void)state;
	for (int i = 0; i < LETTERS; i++)
		(void)snprintf(keys[i], sizeof(keys[i]), "n%03d", i);
	for (int round = 0; round < 6; round++) {
		struct br_deadletter *d = br_deadletter_new(&h.config, &err);
		int copies[LETTERS] = {0};

		for (int i = 0; i < ERRORS; i++)
			br_mock_fail(h.mock, BR_MOCK_PRODUCE,
			    errors[(i + round) % ERRORS], 1);
		store_all(d, keys);
		br_deadletter_free(d, 1000);
		assert_true(br_mock_read(
		    h.mock, TOPIC, WAIT_MS, count_copy, copies, &err));
		for (int i = 0; i < LETTERS; i++)
			if (copies[i] != round + 1)
				fail_msg("round %d: %d copies of %d", round,
				    copies[i], i);
	}
}

static void
tries_again_by_itself_what_a_new_leader_cures(void **state)
{
	struct br_record r = {
	    .topic = SOURCE, .timestamp_ms = 1, .value = br_slice_str("v")};
	struct br_deadletter *d = br_deadletter_new(&h.config, &err);

	(void)state;
	br_mock_fail(h.mock, BR_MOCK_PRODUCE,
	    RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, 1);
	br_mock_fail(
	    h.mock, BR_MOCK_PRODUCE, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, 1);
	assert_int_equal(send_one(d, &r, NULL, 0).class, BR_DEAD_STORED);
	br_deadletter_free(d, 1000);
}

static void
goes_on_with_a_new_producer_after_a_fatal_error(void **state)
{
	enum { COUNT = 20 };
	struct br_record r = {.topic = SOURCE,
	    .timestamp_ms = 1,
	    .key = br_slice_str("one partition"),
	    .value = br_slice_str("v")};
	struct br_deadletter *d = br_deadletter_new(&h.config, &err);
	int answers[COUNT] = {0}, waits = 0;
	bool retry;

	(void)state;
	assert_int_equal(send_one(d, &r, NULL, 0).class, BR_DEAD_STORED);
	br_mock_fail(h.mock, BR_MOCK_PRODUCE,
	    RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, 1);
	for (int i = 0; i < COUNT; i++)
		assert_true(br_deadletter_send(
		    d, &r, NULL, 0, &answers[i], &retry, &err));
	for (int i = 0; i < COUNT; i++) {
		struct br_dead_result out = result(d);

		assert_true(
		    out.class == BR_DEAD_WAIT || out.class == BR_DEAD_STORED);
		waits += out.class == BR_DEAD_WAIT;
		(*(int *)out.opaque)++;
	}
	assert_true(waits > 0);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(answers[i], 1);
	assert_int_equal(br_deadletter_pending(d), 0);
	while (!br_deadletter_send(d, &r, NULL, 0, answers, &retry, &err))
		assert_true(retry);
	assert_int_equal(result(d).class, BR_DEAD_STORED);
	br_deadletter_free(d, 1000);
}

static void
loses_nothing_behind_a_full_queue(void **state)
{
	enum { COUNT = 5000 };
	static char answers[COUNT];
	struct br_record r = {.topic = SOURCE,
	    .timestamp_ms = 1,
	    .value = br_slice_str("some value")};
	struct br_deadletter *d;
	int done = 0, refused = 0;

	(void)state;
	harness_property(&h, "producer.queue.buffering.max.messages=100");
	d = br_deadletter_new(&h.config, &err);
	h.config.kafka.properties.count--;
	for (int i = 0; i < COUNT; i++) {
		bool retry = false;

		while (!br_deadletter_send(
		    d, &r, NULL, 0, &answers[i], &retry, &err)) {
			struct br_dead_result out = result(d);

			assert_true(retry);
			assert_int_equal(out.class, BR_DEAD_STORED);
			(*(char *)out.opaque)++;
			done++;
			refused++;
		}
	}
	for (; done < COUNT; done++)
		(*(char *)result(d).opaque)++;
	assert_true(refused > 0);
	assert_int_equal(br_deadletter_pending(d), 0);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(answers[i], 1);
	br_deadletter_free(d, 1000);
}

static void
tells_a_limit_of_its_own_like_one_of_the_broker(void **state)
{
	size_t size = 2000000;
	struct br_record r = {.topic = SOURCE, .timestamp_ms = 1};
	uint8_t *value = calloc(1, size);
	struct br_deadletter *d = br_deadletter_new(&h.config, &err);

	(void)state;
	assert_non_null(value);
	r.value = (struct br_slice){value, size};
	assert_int_equal(send_one(d, &r, NULL, 0).class, BR_DEAD_STORED);
	br_deadletter_free(d, 1000);
	harness_property(&h, "message.max.bytes=1000000");
	d = br_deadletter_new(&h.config, &err);
	h.config.kafka.properties.count--;
	assert_int_equal(send_one(d, &r, NULL, 0).class, BR_DEAD_TOO_LARGE);
	br_deadletter_free(d, 1000);
	free(value);
}

static void
waits_for_brokers_and_ends_without_them(void **state)
{
	struct br_record r = {
	    .topic = SOURCE, .timestamp_ms = 1, .value = br_slice_str("v")};
	struct br_deadletter *d;
	int64_t start_ms;
	bool retry;

	(void)state;
	harness_property(&h, "producer.message.timeout.ms=1500");
	d = br_deadletter_new(&h.config, &err);
	h.config.kafka.properties.count--;
	br_mock_down(h.mock, true);
	assert_int_equal(send_one(d, &r, NULL, 0).class, BR_DEAD_WAIT);
	assert_true(br_deadletter_send(d, &r, NULL, 0, NULL, &retry, &err));
	start_ms = br_clock_mono_ms();
	br_deadletter_free(d, 5000);
	assert_true(br_clock_mono_ms() - start_ms < 10000);
	br_mock_down(h.mock, false);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(copies_byte_for_byte_to_the_partition_of_the_key),
	    cmocka_unit_test(
	        keeps_nulls_and_gives_a_time_to_records_without_one),
	    cmocka_unit_test(sorts_refusals_by_what_cures_them),
	    cmocka_unit_test(refuses_one_without_its_neighbours),
	    cmocka_unit_test(stores_what_it_calls_stored),
	    cmocka_unit_test(tries_again_by_itself_what_a_new_leader_cures),
	    cmocka_unit_test(goes_on_with_a_new_producer_after_a_fatal_error),
	    cmocka_unit_test(loses_nothing_behind_a_full_queue),
	    cmocka_unit_test(tells_a_limit_of_its_own_like_one_of_the_broker),
	    cmocka_unit_test(waits_for_brokers_and_ends_without_them),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
