/* What is fetched ahead is bounded, also where properties are overridden. */
#include "harness.h"

#include <stdlib.h>

#include "client.h"

/* The value of a property of a client with these lines of the configuration. */
static int64_t
value_with(enum br_client_kind kind, const char *line, const char *property)
{
	char text[32] = "";
	size_t size = sizeof(text);
	struct br_error err = {""};
	struct harness h;
	rd_kafka_conf_t *conf;

	harness_start(&h, "t", 1);
	if (line != NULL)
		harness_property(&h, line);
	conf = br_client_conf(&h.config, kind, &err);
	if (conf == NULL)
		fail_msg("%s", err.text);
	assert_int_equal(
	    rd_kafka_conf_get(conf, property, text, &size), RD_KAFKA_CONF_OK);
	rd_kafka_conf_destroy(conf);
	harness_stop(&h);
	return strtoll(text, NULL, 10);
}

static void
an_answer_is_bounded(void **state)
{
	(void)state;
	assert_int_equal(
	    value_with(BR_CLIENT_CONSUMER, NULL, "fetch.max.bytes"), 1048576);
	assert_int_equal(value_with(BR_CLIENT_CONSUMER,
	                     "fetch.max.bytes=9000000", "fetch.max.bytes"),
	    9000000);
	/* Larger messages: librdkafka would refuse less. */
	assert_int_equal(value_with(BR_CLIENT_CONSUMER,
	                     "message.max.bytes=7000000", "fetch.max.bytes"),
	    7000000);
	assert_int_equal(
	    value_with(BR_CLIENT_CONSUMER, "producer.message.max.bytes=7000000",
	        "fetch.max.bytes"),
	    1048576);
	assert_int_equal(
	    value_with(BR_CLIENT_CONSUMER, "fetch.message.max.bytes=3000000",
	        "fetch.max.bytes"),
	    3000000);
}

static void
the_queue_is_bounded(void **state)
{
	const char *const count = "queued.min.messages";

	(void)state;
	assert_int_equal(value_with(BR_CLIENT_CONSUMER, NULL, count), 25000);
	assert_int_equal(value_with(BR_CLIENT_CONSUMER,
	                     "queued.max.messages.kbytes=32768", count),
	    100000);
	assert_int_equal(value_with(BR_CLIENT_CONSUMER,
	                     "queued.max.messages.kbytes=1024", count),
	    25000);
	assert_int_equal(value_with(BR_CLIENT_CONSUMER,
	                     "queued.max.messages.kbytes=2097151", count),
	    6399996);
	assert_int_equal(
	    value_with(BR_CLIENT_CONSUMER, "queued.min.messages=77", count),
	    77);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_answer_is_bounded),
	    cmocka_unit_test(the_queue_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
