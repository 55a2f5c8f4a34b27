/* client: kafka.properties; topics: questions beside the work. */
#include "harness.h"

#include <string.h>

#include "bridge/base/clock.h"
#include "bridge/base/log.h"
#include "bridge/kafka/deadletter.h"
#include "bridge/kafka/topics.h"

#define TOPIC "outbox.event.order"

static struct harness h;
static struct br_error err;

static int
set_up(void **state)
{
	static char dlq[] = "outbox.dlq";

	(void)state;
	harness_start(&h, TOPIC, 3);
	h.config.kafka.properties.count = 0;
	h.config.dlq.topic = dlq;
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	harness_stop(&h);
	return 0;
}

/* Makes both clients with one property; true when both took it. */
static bool
both_take(const char *property)
{
	struct br_consumer *c;
	struct br_deadletter *d;
	struct br_error why;

	h.config.kafka.properties.count = 0;
	harness_property(&h, property);
	err.text[0] = '\0';
	c = br_consumer_new(&h.config, NULL, 0, &err);
	d = br_deadletter_new(&h.config, c != NULL ? &err : &why);
	if (c != NULL)
		harness_leave(c);
	br_deadletter_free(d, 1000);
	return c != NULL && d != NULL;
}

static void
takes_what_either_client_knows(void **state)
{
	static const char *const good[] = {"queue.buffering.max.messages=100",
	    "fetch.wait.max.ms=50", "socket.timeout.ms=10000",
	    "consumer.fetch.wait.max.ms=50", "producer.linger.ms=1",
	    "session.timeout.ms=6000", "partition.assignment.strategy=range",
	    " client.id = other name", "sasl.password=a=b"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!both_take(good[i]))
			fail_msg("%s: %s", good[i], err.text);
}

static void
refuses_what_none_knows_or_nobody_may_change(void **state)
{
	static const struct {
		const char *property, *said;
	} bad[] = {
	    {"sesion.timeout.ms=6000", "sesion.timeout.ms"},
	    {"consumer.linger.milli=1", "linger.milli"},
	    {"socket.timeout.ms=soon", "socket.timeout.ms"},
	    {"socket.timeout.ms", "name=value"},
	    {"=5", "name=value"},
	    {"enable.auto.commit=true", "enable.auto.commit"},
	    {"consumer.isolation.level=read_uncommitted", "isolation.level"},
	    {"auto.offset.reset=earliest", "kafka.start"},
	    {"group.id=other", "kafka.group"},
	    {"bootstrap.servers=other:9092", "kafka.brokers"},
	    {"session.timeout.ms=400000", "session.timeout.ms"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(both_take(bad[i].property));
		if (strstr(err.text, bad[i].said) == NULL)
			fail_msg("%s: %s", bad[i].property, err.text);
	}
}

static void
never_shows_a_secret(void **state)
{
	(void)state;
	assert_false(both_take("ssl.keystore.password.enc=hunter2"));
	assert_null(strstr(err.text, "hunter2"));
	assert_non_null(strstr(err.text, "ssl.keystore.password.enc"));
	h.config.kafka.properties.count = 0;
}

static void
knows_facts_of_topics(void **state)
{
	struct br_topics *t = br_topics_new(&h.config, &err);
	struct br_topic_facts facts;
	int64_t start_ms = br_clock_mono_ms();

	(void)state;
	assert_non_null(t);
	assert_true(br_topics_facts(t, TOPIC, WAIT_MS, &facts, &err));
	assert_true(facts.exists);
	assert_int_equal(facts.partitions, 3);
	/* no such request there, which must not cost the whole time */
	assert_false(facts.configs_known);
	assert_true(strlen(facts.note) > 0);
	assert_true(br_clock_mono_ms() - start_ms < WAIT_MS / 2);
	br_mock_topic_error(h.mock, TOPIC, 3);
	assert_true(br_topics_facts(t, TOPIC, WAIT_MS, &facts, &err));
	assert_false(facts.exists);
	br_mock_topic_error(h.mock, TOPIC, 29);
	assert_false(br_topics_facts(t, TOPIC, WAIT_MS, &facts, &err));
	assert_non_null(strstr(err.text, TOPIC));
	br_topics_free(t);
}

static void
says_why_no_broker_answers(void **state)
{
	static char nowhere[] = "127.0.0.1:1";
	struct br_topic_facts facts;
	struct br_topics *t;

	(void)state;
	h.config.kafka.brokers = nowhere;
	t = br_topics_new(&h.config, &err);
	assert_false(br_topics_facts(t, TOPIC, 500, &facts, &err));
	assert_non_null(strstr(err.text, "Connection refused"));
	assert_int_equal(br_topics_members(t, "group", 500, &err), -1);
	assert_non_null(strstr(err.text, "Connection refused"));
	br_topics_free(t);
	assert_non_null(strstr(br_kafka_version(), "librdkafka "));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(takes_what_either_client_knows),
	    cmocka_unit_test(refuses_what_none_knows_or_nobody_may_change),
	    cmocka_unit_test(never_shows_a_secret),
	    cmocka_unit_test(knows_facts_of_topics),
	    cmocka_unit_test(says_why_no_broker_answers),
	};

	br_log_setup(BR_ERROR, false);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
