/* single: one record by its place, or why there is none. */
#include "harness.h"

#include <string.h>

#include "bridge/base/clock.h"
#include "bridge/kafka/single.h"

#define TOPIC "outbox.event.order"
#define LIMIT_MS 20000

static struct harness h;
static struct br_error err;

static int
set_up(void **state)
{
	(void)state;
	harness_start(&h, TOPIC, 2);
	harness_fill(&h, TOPIC, 1, 0, 5);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	harness_stop(&h);
	return 0;
}

static void
each_record(void **state)
{
	const struct br_header headers[] = {{"id", br_slice_str("42")},
	    {"none", {NULL, 0}}, {"id", br_slice_str("")}};
	struct br_record made = {.topic = TOPIC,
	    .partition = 1,
	    .timestamp_ms = 1767225600123,
	    .key = br_slice_str("k"),
	    .value = {(const uint8_t *)"\0\xff", 2},
	    .headers = headers,
	    .header_count = 3};
	const struct br_record *r;
	struct br_single *s;

	(void)state;
	assert_true(br_mock_produce(h.mock, &made, &err));
	assert_true(br_mock_flush(h.mock, LIMIT_MS, &err));
	for (int64_t offset = 0; offset < 5; offset++) {
		char text[8] = {(char)('0' + offset)};

		s = br_single_read(&h.config, TOPIC, 1, offset, LIMIT_MS, &err);
		if (s == NULL)
			fail_msg("%s", err.text);
		r = br_single_record(s);
		assert_true(r->offset == offset);
		assert_true(br_slice_eq(r->value, br_slice_str(text)));
		assert_int_equal(r->header_count, 0);
		br_single_free(s);
	}
	s = br_single_read(&h.config, TOPIC, 1, 5, LIMIT_MS, &err);
	if (s == NULL)
		fail_msg("%s", err.text);
	r = br_single_record(s);
	assert_string_equal(r->topic, TOPIC);
	assert_int_equal(r->partition, 1);
	assert_true(r->timestamp_ms == 1767225600123);
	assert_int_equal(r->time_kind, BR_TIME_CREATE);
	assert_bytes(r->key, "k");
	assert_bytes(r->value, "\0\xff");
	assert_int_equal(r->header_count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(r->headers[i].name, headers[i].name);
		assert_int_equal(r->headers[i].value.len, headers[i].value.len);
	}
	assert_null(r->headers[1].value.data);
	br_single_free(s);
}

static void
expect_none(int32_t partition, int64_t offset, const char *part)
{
	assert_null(br_single_read(
	    &h.config, TOPIC, partition, offset, LIMIT_MS, &err));
	if (strstr(err.text, part) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err.text, part);
}

static void
outside(void **state)
{
	(void)state;
	expect_none(1, 5, "it holds 0 to 4");
	expect_none(1, INT64_MAX, "it holds 0 to 4");
	expect_none(0, 0, "holds no record; the next one will get offset 0");
	expect_none(2, 0, "no partition 2: they are 0 to 1");
}

/* A broker that does not answer: an end within the limit, and why. */
static void
no_broker(void **state)
{
	int64_t from_ms = br_clock_mono_ms();

	(void)state;
	br_mock_down(h.mock, true);
	assert_null(br_single_read(&h.config, TOPIC, 1, 0, 1000, &err));
	assert_non_null(strstr(err.text, "no Kafka broker answers"));
	assert_true(br_clock_mono_ms() - from_ms < LIMIT_MS);
	br_mock_down(h.mock, false);
}

/* Fetches that fail do not last longer than the limit either. */
static void
no_fetch(void **state)
{
	(void)state;
	br_mock_fail(h.mock, BR_MOCK_FETCH, 6, 1000);
	assert_null(br_single_read(&h.config, TOPIC, 1, 0, 1500, &err));
	assert_non_null(strstr(err.text, TOPIC ":1:0 cannot be read"));
	br_mock_fail(h.mock, BR_MOCK_FETCH, 0, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(each_record, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(outside, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(no_broker, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(no_fetch, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
