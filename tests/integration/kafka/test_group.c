/* consumer: joining, losing and leaving the group, in both protocols. */
#include "harness.h"

#include <librdkafka/rdkafka.h>
#include <string.h>

#include "bridge/base/clock.h"
#include "bridge/base/log.h"

#define TOPIC "outbox.event.order"

static struct harness h;
static struct br_error err;

static int
set_up(void **state)
{
	(void)state;
	harness_start(&h, TOPIC, 2);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	harness_stop(&h);
	return 0;
}

static struct br_positions *
one(int32_t partition, int64_t offset)
{
	struct br_positions *list = br_positions_new(1);

	(void)br_positions_add(list, TOPIC, partition, offset);
	return list;
}

static void
assign_one(struct br_consumer *c, int32_t partition, int64_t offset)
{
	struct br_positions *list = one(partition, offset);

	assert_true(br_consumer_assign(c, list, &err));
	br_positions_free(list);
}

static void
unassign_one(struct br_consumer *c, int32_t partition)
{
	struct br_positions *list = one(partition, -1);

	assert_true(br_consumer_unassign(c, list, &err));
	br_positions_free(list);
}

/* The next record of this partition; the other one is passed over. */
static void
expect(struct br_consumer *c, int32_t partition, int64_t offset)
{
	struct br_read got;

	do {
		got = harness_read(c);
		assert_int_equal(got.kind, BR_READ_RECORD);
	} while (got.record.partition != partition);
	assert_int_equal(got.record.offset, offset);
}

/*
 * Answers an assignment of two partitions with one of them, reads half of it,
 * and adds the other: the first must go on where it was.
 */
static void
partial_answer(void)
{
	struct br_consumer *c;
	struct br_kafka_event ev;

	harness_fill(&h, TOPIC, 0, 0, 10);
	harness_fill(&h, TOPIC, 1, 0, 2);
	c = harness_join(&h);
	ev = harness_event(c, BR_KAFKA_ASSIGN);
	assert_int_equal(ev.positions->count, 2);
	br_kafka_event_clear(&ev);
	assign_one(c, 0, 2);
	for (int64_t offset = 2; offset < 6; offset++)
		expect(c, 0, offset);
	assign_one(c, 1, 1);
	for (int64_t next = 6, other = 1; next < 10 || other < 2;) {
		struct br_read got = harness_read(c);

		assert_int_equal(got.kind, BR_READ_RECORD);
		if (got.record.partition == 0)
			assert_int_equal(got.record.offset, next++);
		else
			assert_int_equal(got.record.offset, other++);
	}
	/* giving one back does not disturb the other */
	unassign_one(c, 1);
	harness_fill(&h, TOPIC, 1, 2, 1);
	harness_fill(&h, TOPIC, 0, 10, 1);
	expect(c, 0, 10);
	/* nor does beginning it again, with what was read ahead dropped */
	assert_true(br_consumer_seek(c, TOPIC, 0, 9, &err));
	expect(c, 0, 9);
	expect(c, 0, 10);
	harness_leave(c);
}

static void
adds_partitions_later_cooperative(void **state)
{
	(void)state;
	partial_answer();
}

static void
adds_partitions_later_eager(void **state)
{
	(void)state;
	harness_property(&h, "partition.assignment.strategy=range");
	partial_answer();
}

static void
begins_anew_after_it_lost_its_membership(void **state)
{
	struct br_consumer *c = harness_join(&h);
	struct br_positions *list = one(0, 1);
	struct br_kafka_event ev;
	uint64_t ticket;

	(void)state;
	harness_fill(&h, TOPIC, 0, 0, 3);
	harness_fill(&h, TOPIC, 1, 0, 3);
	harness_assign(c, 0);
	expect(c, 0, 0);
	br_mock_fail(h.mock, BR_MOCK_OFFSET_COMMIT,
	    RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, 1);
	assert_true(br_consumer_commit(c, list, &ticket, &err));
	ev = harness_event(c, BR_KAFKA_REVOKE);
	assert_true(ev.lost);
	assert_int_equal(ev.positions->count, 2);
	br_kafka_event_clear(&ev);
	/* in two parts: the answer is complete with the second */
	unassign_one(c, 0);
	unassign_one(c, 1);
	harness_assign(c, 2);
	expect(c, 0, 2);
	br_positions_free(list);
	harness_leave(c);
}

static void
keeps_a_seek_until_the_revoke_is_answered(void **state)
{
	struct br_consumer *c = harness_join(&h);
	struct br_kafka_event ev;

	(void)state;
	harness_fill(&h, TOPIC, 0, 0, 3);
	harness_fill(&h, TOPIC, 1, 0, 3);
	harness_assign(c, 0);
	expect(c, 0, 0);
	br_mock_fail(
	    h.mock, BR_MOCK_HEARTBEAT, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, 1);
	ev = harness_event(c, BR_KAFKA_REVOKE);
	assert_true(br_consumer_seek(c, TOPIC, 0, 1, &err));
	assert_true(br_consumer_unassign(c, ev.positions, &err));
	br_kafka_event_clear(&ev);
	assert_false(br_consumer_seek(c, TOPIC, 0, 1, &err));
	harness_assign(c, 2);
	expect(c, 0, 2);
	harness_leave(c);
}

static void
leaves_with_an_assignment_unanswered(void **state)
{
	struct br_consumer *c = harness_join(&h);
	struct br_kafka_event ev = harness_event(c, BR_KAFKA_ASSIGN);

	(void)state;
	br_kafka_event_clear(&ev);
	harness_leave(c);
}

static void
leaves_before_it_has_joined(void **state)
{
	(void)state;
	harness_leave(harness_join(&h));
}

static void
tells_that_it_is_fenced(void **state)
{
	static char instance[] = "one";
	struct br_consumer *c;
	struct br_kafka_event ev;

	(void)state;
	h.config.kafka.instance = instance;
	c = harness_join(&h);
	harness_assign(c, 0);
	br_mock_fail(
	    h.mock, BR_MOCK_HEARTBEAT, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, 1);
	ev = harness_event(c, BR_KAFKA_FATAL);
	assert_int_equal(ev.error, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID);
	assert_non_null(strstr(ev.text, "fenced"));
	br_kafka_event_clear(&ev);
	harness_leave(c);
}

/* Serves a member once; gives how many partitions it has after that. */
static size_t
serve(struct br_consumer *c, size_t count, bool *gave_up)
{
	struct br_kafka_event ev;

	br_consumer_wake_clear(c);
	while (br_consumer_next(c, &ev)) {
		if (ev.what == BR_KAFKA_ASSIGN) {
			count = ev.positions->count;
			assert_true(br_consumer_assign(c, ev.positions, &err));
		} else if (ev.what == BR_KAFKA_REVOKE) {
			count = 0;
			*gave_up = true;
			assert_true(
			    br_consumer_unassign(c, ev.positions, &err));
		}
		br_kafka_event_clear(&ev);
	}
	return count;
}

static void
shares_with_a_second_member(void **state)
{
	int64_t until_ms = br_clock_mono_ms() + WAIT_MS;
	struct br_consumer *member[2];
	size_t count[2] = {0, 0};
	bool gave_up[2] = {false, false};

	(void)state;
	harness_property(&h, "partition.assignment.strategy=range");
	member[0] = harness_join(&h);
	while ((count[0] = serve(member[0], count[0], gave_up)) != 2)
		harness_poll(member, 1, until_ms);
	member[1] = harness_join(&h);
	while (count[0] != 1 || count[1] != 1) {
		harness_poll(member, 2, until_ms);
		for (int i = 0; i < 2; i++)
			count[i] = serve(member[i], count[i], &gave_up[i]);
	}
	assert_true(gave_up[0]);
	harness_leave(member[1]);
	harness_leave(member[0]);
}

static void
never_matches_an_excluded_topic(void **state)
{
	static const char *const exclude[] = {"outbox.dlq"};
	static char pattern[] = "outbox*";
	struct br_consumer *c;
	struct br_kafka_event ev;
	int near = 0;

	(void)state;
	assert_true(br_mock_topic(h.mock, "outbox.dlq", 1, &err));
	assert_true(br_mock_topic(h.mock, "outboxxdlq", 1, &err));
	assert_true(br_mock_topic(h.mock, "outbox.dlq.more", 1, &err));
	assert_true(br_mock_topic(h.mock, "other", 1, &err));
	h.topics[0] = pattern;
	c = br_consumer_new(&h.config, exclude, 1, &err);
	assert_non_null(c);
	assert_true(br_consumer_subscribe(c, &err));
	ev = harness_event(c, BR_KAFKA_ASSIGN);
	assert_int_equal(ev.positions->count, 4);
	for (size_t i = 0; i < ev.positions->count; i++) {
		const char *topic = ev.positions->item[i].topic;

		if (strcmp(topic, "outbox.dlq.more") == 0 ||
		    strcmp(topic, "outboxxdlq") == 0)
			near++;
		else
			assert_string_equal(topic, TOPIC);
	}
	assert_int_equal(near, 2);
	br_kafka_event_clear(&ev);
	harness_leave(c);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    TEST(adds_partitions_later_cooperative),
	    TEST(adds_partitions_later_eager),
	    TEST(begins_anew_after_it_lost_its_membership),
	    TEST(keeps_a_seek_until_the_revoke_is_answered),
	    TEST(leaves_with_an_assignment_unanswered),
	    TEST(leaves_before_it_has_joined),
	    TEST(tells_that_it_is_fenced),
	    TEST(shares_with_a_second_member),
	    TEST(never_matches_an_excluded_topic),
	};

	br_log_setup(BR_ERROR, false);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
