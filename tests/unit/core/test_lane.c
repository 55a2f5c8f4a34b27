/* Lanes: one for each partition and key, found again whatever the bytes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "bridge/core/lane.h"
#include "bridge/core/scheduler.h"
#include "events.h"
#include "seed.h"

#define MANY 5000

static struct br_sched *sched;
static struct br_sched_part *part[2];

static int
set_up(void **state)
{
	const struct br_sched_rules rules = {.workers = 1};

	(void)state;
	sched = br_sched_new(&rules);
	for (size_t i = 0; i < 2; i++)
		part[i] = br_sched_part_open(sched, NULL);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		br_sched_part_close(sched, part[i], 0);
		br_sched_part_free(part[i]);
	}
	br_sched_free(sched);
	return 0;
}

static struct br_slice
bytes(const char *data, size_t len)
{
	return (struct br_slice){(const uint8_t *)data, len};
}

static struct br_lane *
get(struct br_lane_table *t, size_t p, struct br_slice key, bool want_made)
{
	bool made = !want_made;
	struct br_lane *lane = br_lane_get(t, part[p], key, &made);

	assert_true(made == want_made);
	assert_ptr_equal(lane->part, part[p]);
	assert_true(lane->keyed);
	assert_int_equal(lane->key_len, key.len);
	if (key.len != 0)
		assert_memory_equal(lane->key, key.data, key.len);
	return lane;
}

static void
test_new_lane_is_in_nothing(void **state)
{
	struct br_lane_table t = {.seed = 1};
	struct br_lane *lane = get(&t, 0, br_slice_str("k"), true);

	(void)state;
	assert_int_equal(lane->state, BR_LANE_NEW);
	assert_null(lane->first);
	assert_null(lane->last);
	assert_null(lane->stream);
	assert_true(lane->place.index == BR_HEAP_OUT);
	assert_ptr_equal(lane->place.owner, lane);
	assert_int_equal(t.count, 1);
	br_lane_free(&t, lane);
	assert_int_equal(t.count, 0);
	/* Gone means gone: the same key makes a new one. */
	lane = get(&t, 0, br_slice_str("k"), true);
	br_lane_free(&t, lane);
	br_lane_table_free(&t);
}

static void
test_keys_are_bytes(void **state)
{
	const struct br_slice keys[] = {bytes("", 0), bytes("\0", 1),
	    bytes("\0\0", 2), bytes("a", 1), bytes("a\0", 2), bytes("a\0b", 3),
	    bytes("a\0c", 3), bytes("\xFF\xFE", 2), bytes("ab", 2)};
	enum { COUNT = sizeof(keys) / sizeof(keys[0]) };
	struct br_lane_table t = {.seed = 2};
	struct br_lane *lane[COUNT];

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		lane[i] = get(&t, 0, keys[i], true);
	assert_int_equal(t.count, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		assert_ptr_equal(get(&t, 0, keys[i], false), lane[i]);
	/* An absent key has no bytes either. */
	assert_ptr_equal(get(&t, 0, bytes(NULL, 0), false), lane[0]);
	for (size_t i = 0; i < COUNT; i++)
		br_lane_free(&t, lane[i]);
	br_lane_table_free(&t);
}

static void
test_key_is_copied(void **state)
{
	struct br_lane_table t = {.seed = 3};
	char key[] = "order-1";
	struct br_lane *lane = get(&t, 0, br_slice_str(key), true);

	(void)state;
	key[6] = '2';
	assert_ptr_equal(get(&t, 0, br_slice_str("order-1"), false), lane);
	br_lane_free(&t, lane);
	br_lane_table_free(&t);
}

static void
test_partitions_are_apart(void **state)
{
	struct br_lane_table t = {.seed = 4};
	struct br_lane *zero = get(&t, 0, br_slice_str("k"), true);
	struct br_lane *one = get(&t, 1, br_slice_str("k"), true);

	(void)state;
	assert_ptr_not_equal(zero, one);
	assert_ptr_equal(get(&t, 0, br_slice_str("k"), false), zero);
	assert_ptr_equal(get(&t, 1, br_slice_str("k"), false), one);
	br_lane_free(&t, zero);
	assert_ptr_equal(get(&t, 1, br_slice_str("k"), false), one);
	br_lane_free(&t, one);
	br_lane_table_free(&t);
}

/* Two keys of one hash: the bytes and the partition decide. */
static void
test_equal_hashes(void **state)
{
	struct br_lane_table t = {.seed = 5};
	struct br_lane *lane[3];
	struct br_lane **bucket;

	(void)state;
	lane[0] = get(&t, 0, br_slice_str("b"), true);
	lane[1] = get(&t, 0, br_slice_str("a"), true);
	lane[2] = get(&t, 1, br_slice_str("b"), true);
	/* Nobody finds such keys by trying; so they are made equal. */
	memset(t.bucket, 0, t.buckets * sizeof(struct br_lane *));
	bucket = &t.bucket[lane[0]->hash & (t.buckets - 1)];
	lane[1]->hash = lane[2]->hash = lane[0]->hash;
	*bucket = lane[2];
	lane[2]->hash_next = lane[1];
	lane[1]->hash_next = lane[0];
	lane[0]->hash_next = NULL;
	assert_ptr_equal(get(&t, 0, br_slice_str("b"), false), lane[0]);
	br_lane_free(&t, lane[1]);
	assert_ptr_equal(get(&t, 0, br_slice_str("b"), false), lane[0]);
	assert_ptr_equal(*bucket, lane[2]);
	br_lane_free(&t, lane[2]);
	br_lane_free(&t, lane[0]);
	assert_null(*bucket);
	br_lane_table_free(&t);
}

static struct br_slice
number(char text[16], size_t i)
{
	(void)snprintf(text, 16, "key-%zu", i);
	return br_slice_str(text);
}

static size_t
longest_chain(const struct br_lane_table *t)
{
	size_t longest = 0;

	for (size_t i = 0; i < t->buckets; i++) {
		size_t length = 0;

		for (const struct br_lane *lane = t->bucket[i]; lane != NULL;
		     lane = lane->hash_next) {
			assert_int_equal(lane->hash & (t->buckets - 1), i);
			length++;
		}
		longest = length > longest ? length : longest;
	}
	return longest;
}

/* Grows under its lanes; chains stay short, and lose nobody who stays. */
static void
test_many(void **state)
{
	struct br_lane **lane = must_calloc(2 * MANY * sizeof(*lane));
	struct br_lane_table t = {.seed = seed_take()};
	uint64_t seed = t.seed;
	char text[16];

	(void)state;
	for (size_t i = 0; i < 2 * MANY; i++)
		lane[i] = get(&t, i % 2, number(text, i / 2), true);
	assert_int_equal(t.count, 2 * MANY);
	assert_true(t.buckets >= t.count);
	assert_int_equal(t.buckets & (t.buckets - 1), 0);
	assert_in_range(longest_chain(&t), 2, 15);
	for (size_t i = 0; i < 2 * MANY; i++)
		assert_ptr_equal(
		    get(&t, i % 2, number(text, i / 2), false), lane[i]);
	for (size_t i = 0; i < 2 * MANY; i++)
		if (seed_below(&seed, 2) == 0) {
			br_lane_free(&t, lane[i]);
			lane[i] = NULL;
		}
	for (size_t i = 0; i < 2 * MANY; i++)
		if (lane[i] != NULL)
			assert_ptr_equal(
			    get(&t, i % 2, number(text, i / 2), false),
			    lane[i]);
	for (size_t i = 0; i < 2 * MANY; i++)
		if (lane[i] != NULL)
			br_lane_free(&t, lane[i]);
	assert_int_equal(t.count, 0);
	br_lane_table_free(&t);
	free(lane);
}

static void
test_single_is_in_no_table(void **state)
{
	struct br_lane_table t = {.seed = 6};
	struct br_lane *one = br_lane_single(part[0]);
	struct br_lane *two = br_lane_single(part[0]);

	(void)state;
	assert_ptr_not_equal(one, two);
	assert_false(one->keyed);
	assert_ptr_equal(one->part, part[0]);
	assert_int_equal(t.count, 0);
	br_lane_free(&t, one);
	br_lane_free(&t, two);
	br_lane_table_free(&t);
}

static void
test_first_in_first_out(void **state)
{
	struct br_lane_table t = {.seed = 7};
	struct br_lane *lane = br_lane_single(part[0]);
	struct br_ref ref[3] = {0};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		br_lane_push(lane, &ref[i]);
		assert_ptr_equal(ref[i].lane, lane);
		assert_ptr_equal(lane->first, &ref[0]);
		assert_ptr_equal(lane->last, &ref[i]);
	}
	assert_ptr_equal(br_lane_pop(lane), &ref[0]);
	assert_null(ref[0].lane);
	assert_null(ref[0].next);
	br_lane_push(lane, &ref[0]);
	assert_ptr_equal(br_lane_pop(lane), &ref[1]);
	assert_ptr_equal(br_lane_pop(lane), &ref[2]);
	assert_ptr_equal(br_lane_pop(lane), &ref[0]);
	assert_null(lane->first);
	assert_null(lane->last);
	br_lane_free(&t, lane);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_new_lane_is_in_nothing),
	    cmocka_unit_test(test_keys_are_bytes),
	    cmocka_unit_test(test_key_is_copied),
	    cmocka_unit_test(test_partitions_are_apart),
	    cmocka_unit_test(test_equal_hashes),
	    cmocka_unit_test(test_many),
	    cmocka_unit_test(test_single_is_in_no_table),
	    cmocka_unit_test(test_first_in_first_out),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
