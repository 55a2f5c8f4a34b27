/* positions: lists of ours and librdkafka's, and metadata of foreign hands. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "positions.h"

static void
goes_to_librdkafka_and_back(void **state)
{
	struct br_positions *list = br_positions_new(0), *back, *copy;
	rd_kafka_topic_partition_list_t *theirs;

	(void)state;
	for (int32_t i = 0; i < 20; i++)
		(void)br_positions_add(list, "topic", i, i == 7 ? -1 : i * 10);
	list->item[3].metadata = strdup("ob1.");
	list->item[3].metadata_len = 4;
	list->item[3].high = 55;
	copy = br_positions_copy(list);
	theirs = br_positions_to(copy);
	theirs->elems[4].err = RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID;
	back = br_positions_from(theirs);
	assert_int_equal(copy->item[3].high, 55);
	assert_int_equal(back->count, 20);
	for (int32_t i = 0; i < 20; i++) {
		assert_string_equal(back->item[i].topic, "topic");
		assert_int_equal(back->item[i].partition, i);
		assert_int_equal(back->item[i].offset, i == 7 ? -1 : i * 10);
		assert_int_equal(back->item[i].low, -1);
		assert_int_equal(back->item[i].error,
		    i == 4 ? RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID : 0);
		assert_int_equal(back->item[i].metadata_len, i == 3 ? 4 : 0);
	}
	assert_string_equal(back->item[3].metadata, "ob1.");
	assert_null(br_positions_from(NULL));
	rd_kafka_topic_partition_list_destroy(theirs);
	br_positions_free(back);
	br_positions_free(copy);
	br_positions_free(list);
	br_positions_free(NULL);
}

static void
check_metadata(const void *bytes, size_t allocated, size_t size, size_t kept)
{
	struct br_position p = {0};
	char *theirs = malloc(allocated);

	assert_non_null(theirs);
	memcpy(theirs, bytes, allocated);
	br_position_metadata(&p, theirs, size);
	free(theirs);
	assert_int_equal(p.metadata_len, kept);
	if (kept > 0)
		assert_memory_equal(p.metadata, bytes, kept);
	free(p.metadata);
}

static void
reads_no_metadata_behind_its_end(void **state)
{
	(void)state;
	check_metadata("ob1.", 4, 4, 4);      /* no NUL at all */
	check_metadata("ob1.", 5, 4, 4);      /* one behind it */
	check_metadata("ob1.\0", 5, 4000, 4); /* the size tells lies */
	check_metadata("\0", 1, 12, 0);       /* nothing but a NUL */
	check_metadata("x", 1, 0, 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(goes_to_librdkafka_and_back),
	    cmocka_unit_test(reads_no_metadata_behind_its_end),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
