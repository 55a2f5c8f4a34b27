/* Commits that fail: the bridge lives, and they reach the end in the end. */
#include "harness.h"

/* Answers of a broker to OffsetCommit. */
#define COORDINATOR_NOT_AVAILABLE 15
#define NOT_COORDINATOR 16
#define ILLEGAL_GENERATION 22
#define UNKNOWN_MEMBER 25
#define REBALANCE_IN_PROGRESS 27

static int
set_up(void **state)
{
	struct rig *r = rig_new(&(struct rig_options){.partitions = 2});

	rig_start(r);
	*state = r;
	return 0;
}

static int
tear_down(void **state)
{
	struct rig *r = *state;

	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	assert_true(rig_all_committed(r));
	rig_free(r);
	return 0;
}

/* The answer of the next commits. `told`: librdkafka does not cure it. */
static void
fails(struct rig *r, int error, size_t count, bool told)
{
	int64_t last[2] = {rig_committed(r, 0), rig_committed(r, 1)};
	int64_t errors = br_metric_get(BR_M_COMMIT_ERRORS);
	int64_t until_ms = br_clock_mono_ms() + WAIT_MS;

	br_mock_fail(r->mock, BR_MOCK_OFFSET_COMMIT, error, count);
	for (int i = 0; i < 40; i++)
		(void)rig_event(r, i % 2, i % 20);
	rig_flush(r);
	do {
		for (int32_t p = 0; p < 2; p++) {
			int64_t at = rig_committed(r, p);

			assert_true(at >= last[p] && at <= r->end[p]);
			last[p] = at;
		}
		assert_true(br_clock_mono_ms() < until_ms);
		assert_false(atomic_load(&r->ended));
	} while (last[0] != r->end[0] || last[1] != r->end[1]);
	if (told)
		assert_true(br_metric_get(BR_M_COMMIT_ERRORS) > errors);
	WAIT_FOR(rig_ready(r) && rig_all_accepted(r));
	rig_check_book(r, 4);
}

static void
coordinator_moves(void **state)
{
	fails(*state, COORDINATOR_NOT_AVAILABLE, 1, false);
	fails(*state, NOT_COORDINATOR, 1, false);
}

static void
rebalance_goes_on(void **state)
{
	fails(*state, REBALANCE_IN_PROGRESS, 1, true);
	fails(*state, REBALANCE_IN_PROGRESS, 50, true);
}

static void
generation_is_old(void **state)
{
	fails(*state, ILLEGAL_GENERATION, 1, true);
}

static void
member_is_unknown(void **state)
{
	fails(*state, UNKNOWN_MEMBER, 1, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(coordinator_moves),
	    cmocka_unit_test(rebalance_goes_on),
	    cmocka_unit_test(generation_is_old),
	    cmocka_unit_test(member_is_unknown),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
