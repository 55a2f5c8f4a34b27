/* outage: when it is told that all brokers are out of reach, and with what
 * reason. No broker is needed. */
#include "harness.h"

#include <librdkafka/rdkafka.h>

#include "outage.h"

#define TRANSPORT RD_KAFKA_RESP_ERR__TRANSPORT
#define LOGIN RD_KAFKA_RESP_ERR__AUTHENTICATION

static struct br_outage o;

static int
set_up(void **state)
{
	(void)state;
	o = (struct br_outage){0};
	return 0;
}

static void
is_told_once_when_it_has_lasted(void **state)
{
	(void)state;
	br_outage_complaint(&o, TRANSPORT, "Connection refused");
	assert_false(br_outage_due(&o, 50000));
	assert_true(br_outage_begin(&o, 50000));
	assert_false(br_outage_begin(&o, 50500));
	assert_false(br_outage_due(&o, 50999));
	assert_true(br_outage_due(&o, 51000));
	assert_string_equal(o.why, "Connection refused");
	assert_false(br_outage_due(&o, 60000));
	assert_true(br_outage_end(&o));
	assert_false(br_outage_end(&o));
	assert_false(br_outage_due(&o, 70000));
}

/* The end of a login, and the next one at once. */
static void
a_short_one_is_never_told(void **state)
{
	(void)state;
	assert_true(br_outage_begin(&o, 50000));
	assert_false(br_outage_end(&o));
	assert_true(br_outage_begin(&o, 50900));
	assert_false(br_outage_due(&o, 51800));
	assert_false(br_outage_end(&o));
}

static void
is_told_again_when_the_reason_changes(void **state)
{
	(void)state;
	br_outage_complaint(&o, TRANSPORT, "Disconnected");
	(void)br_outage_begin(&o, 0);
	assert_true(br_outage_due(&o, 1000));
	br_outage_complaint(&o, TRANSPORT, "Connection refused");
	assert_false(br_outage_due(&o, 1100));
	br_outage_complaint(&o, LOGIN, "SASL authentication error");
	assert_true(br_outage_due(&o, 1200));
	assert_string_equal(o.why, "SASL authentication error");
	assert_false(br_outage_due(&o, 1300));
}

static void
only_complaints_about_brokers_count(void **state)
{
	(void)state;
	br_outage_complaint(&o, LOGIN, "SASL authentication error");
	br_outage_complaint(
	    &o, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, "no such topic");
	br_outage_complaint(
	    &o, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, "1/1 brokers are down");
	assert_string_equal(o.why, "SASL authentication error");
	/* what ended says nothing about the next one */
	(void)br_outage_begin(&o, 0);
	(void)br_outage_end(&o);
	assert_string_equal(o.why, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(is_told_once_when_it_has_lasted, set_up),
	    cmocka_unit_test_setup(a_short_one_is_never_told, set_up),
	    cmocka_unit_test_setup(
	        is_told_again_when_the_reason_changes, set_up),
	    cmocka_unit_test_setup(only_complaints_about_brokers_count, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
