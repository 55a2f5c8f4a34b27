/* harness: see the header. */
#include "harness.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "bridge/base/clock.h"

void
harness_start(struct harness *h, const char *topic, int partitions)
{
	static int number;
	static char group[64];
	static char empty[] = "";
	struct br_error err;

	memset(h, 0, sizeof(*h));
	h->mock = br_mock_new(1, &err);
	assert_non_null(h->mock);
	assert_true(br_mock_topic(h->mock, topic, partitions, &err));
	(void)snprintf(group, sizeof(group), "group-%d", ++number);
	h->config.kafka.brokers = (char *)(uintptr_t)br_mock_bootstrap(h->mock);
	h->config.kafka.group = group;
	h->config.kafka.instance = empty;
	h->topics[0] = (char *)(uintptr_t)topic;
	h->config.kafka.topics = (struct br_strings){h->topics, 1};
	h->config.kafka.properties = (struct br_strings){h->properties, 0};
	harness_property(h, "topic.metadata.refresh.interval.ms=1000");
	harness_property(h, "heartbeat.interval.ms=200");
	harness_property(h, "session.timeout.ms=2500");
}

void
harness_stop(struct harness *h)
{
	br_mock_free(h->mock);
}

void
harness_property(struct harness *h, const char *text)
{
	struct br_strings *p = &h->config.kafka.properties;

	assert_true(p->count < sizeof(h->properties) / sizeof(*h->properties));
	p->item[p->count++] = (char *)(uintptr_t)text;
}

void
harness_fill(struct harness *h, const char *topic, int32_t partition, int from,
    int count)
{
	struct br_error err;

	for (int i = from; i < from + count; i++) {
		char text[16];
		struct br_record r = {
		    .topic = topic, .partition = partition, .timestamp_ms = -1};

		(void)snprintf(text, sizeof(text), "%d", i);
		r.value = br_slice_str(text);
		assert_true(br_mock_produce(h->mock, &r, &err));
	}
	assert_true(br_mock_flush(h->mock, WAIT_MS, &err));
}

struct br_consumer *
harness_join(struct harness *h)
{
	struct br_error err;
	struct br_consumer *c = br_consumer_new(&h->config, NULL, 0, &err);

	assert_non_null(c);
	assert_true(br_consumer_subscribe(c, &err));
	return c;
}

void
harness_poll(struct br_consumer *const *member, size_t count, int64_t until_ms)
{
	struct pollfd p[4];
	int64_t left = until_ms - br_clock_mono_ms();

	if (left <= 0)
		fail_msg("waited too long");
	for (size_t i = 0; i < count; i++)
		p[i] = (struct pollfd){br_consumer_fd(member[i]), POLLIN, 0};
	(void)poll(p, (nfds_t)count, (int)left);
}

struct br_kafka_event
harness_event(struct br_consumer *c, enum br_kafka_what what)
{
	int64_t until_ms = br_clock_mono_ms() + WAIT_MS;
	struct br_kafka_event ev;

	for (;;) {
		br_consumer_wake_clear(c);
		while (br_consumer_next(c, &ev)) {
			if (ev.what == what)
				return ev;
			br_kafka_event_clear(&ev);
		}
		harness_poll(&c, 1, until_ms);
	}
}

void
harness_assign(struct br_consumer *c, int64_t offset)
{
	struct br_kafka_event ev = harness_event(c, BR_KAFKA_ASSIGN);
	struct br_error err;

	for (size_t i = 0; i < ev.positions->count; i++)
		ev.positions->item[i].offset = offset;
	assert_true(br_consumer_assign(c, ev.positions, &err));
	br_kafka_event_clear(&ev);
}

struct br_read
harness_read(struct br_consumer *c)
{
	int64_t until_ms = br_clock_mono_ms() + WAIT_MS;
	struct br_read got;

	for (;;) {
		br_consumer_wake_clear(c);
		while (br_consumer_read(c, &got, 1) == 1)
			if (got.kind != BR_READ_END)
				return got;
		harness_poll(&c, 1, until_ms);
	}
}

size_t
harness_batch(struct br_consumer *c, struct br_read *out, size_t max)
{
	int64_t until_ms = br_clock_mono_ms() + WAIT_MS;

	for (;;) {
		size_t n;

		br_consumer_wake_clear(c);
		n = br_consumer_read(c, out, max);
		if (n > 0)
			return n;
		harness_poll(&c, 1, until_ms);
	}
}

void
harness_leave(struct br_consumer *c)
{
	int64_t until_ms = br_clock_mono_ms() + WAIT_MS;
	struct br_kafka_event ev;
	struct br_error err;

	br_consumer_release(c);
	br_consumer_close(c);
	for (;;) {
		br_consumer_wake_clear(c);
		while (br_consumer_next(c, &ev)) {
			if (ev.what == BR_KAFKA_REVOKE)
				assert_true(br_consumer_unassign(
				    c, ev.positions, &err));
			br_kafka_event_clear(&ev);
		}
		if (br_consumer_closed(c))
			break;
		harness_poll(&c, 1, until_ms);
	}
	br_consumer_free(c);
}
