/*
 * A topic that the metadata does not show any more. The mock cluster cannot
 * delete one (tests/acceptance does); it can say that it knows it no longer,
 * and so this is the way over the group: the client leaves the topic out of
 * its subscription before a fetch has told us.
 */
#include "harness.h"

#define UNKNOWN_TOPIC_OR_PARTITION 3 /* the protocol's number */

static void
metadata_says_unknown(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){
	    .kafka = "properties = "
	             "[ \"topic.metadata.refresh.interval.ms=200\" ];"});

	(void)state;
	(void)rig_event(r, 0, 1);
	rig_start(r);
	WAIT_FOR(rig_all_accepted(r) && rig_all_committed(r));
	br_mock_topic_error(r->mock, RIG_TOPIC, UNKNOWN_TOPIC_OR_PARTITION);
	WAIT_FOR(rig_complains(r, "topic_missing"));
	assert_true(rig_complains(r, RIG_TOPIC));
	br_mock_topic_error(r->mock, RIG_TOPIC, 0);
	WAIT_FOR(rig_ready(r));
	(void)rig_event(r, 0, 1);
	WAIT_FOR(rig_all_accepted(r) && rig_all_committed(r));
	assert_true(rig_ready(r));
	rig_check_once(r);
	rig_check_book(r, 4);
	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	rig_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(metadata_says_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
