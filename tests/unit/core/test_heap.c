/* The heap: against a plain array, and at its edges. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "bridge/core/heap.h"
#include "seed.h"

#define NODES 200

static struct br_heap_node node[NODES];

static void
reset(void)
{
	for (size_t i = 0; i < NODES; i++)
		node[i] = (struct br_heap_node){
		    .index = BR_HEAP_OUT, .owner = &node[i]};
}

/* Every node knows its place, and no parent is above its child. */
static void
check_shape(const struct br_heap *h)
{
	for (size_t i = 0; i < h->count; i++) {
		assert_int_equal(h->node[i]->index, i);
		assert_ptr_equal(h->node[i]->owner, h->node[i]);
		if (i > 0)
			assert_true(
			    h->node[(i - 1) / 2]->key <= h->node[i]->key);
	}
}

static void
test_empty(void **state)
{
	struct br_heap h = {0};

	(void)state;
	reset();
	assert_null(br_heap_top(&h));
	br_heap_remove(&h, &node[0]);
	assert_int_equal(h.count, 0);
	br_heap_free(&h);
	/* After br_heap_free() it is an empty heap again. */
	br_heap_add(&h, &node[0], 7);
	assert_ptr_equal(br_heap_top(&h), &node[0]);
	br_heap_free(&h);
}

static void
test_sorts_extremes(void **state)
{
	static const int64_t keys[] = {
	    5, INT64_MAX, -1, INT64_MIN, 0, 5, INT64_MAX, -1};
	static const int64_t want[] = {
	    INT64_MIN, -1, -1, 0, 5, 5, INT64_MAX, INT64_MAX};
	struct br_heap h = {0};

	(void)state;
	reset();
	for (size_t i = 0; i < 8; i++)
		br_heap_add(&h, &node[i], keys[i]);
	for (size_t i = 0; i < 8; i++) {
		struct br_heap_node *top = br_heap_top(&h);

		assert_true(top->key == want[i]);
		br_heap_remove(&h, top);
		assert_true(top->index == BR_HEAP_OUT);
		check_shape(&h);
	}
	assert_null(br_heap_top(&h));
	br_heap_free(&h);
}

/* The hole is filled from the end, which may have to rise instead of sink. */
static void
test_remove_lets_last_rise(void **state)
{
	static const int64_t keys[] = {0, 10, 1, 11, 12, 2, 3};
	struct br_heap h = {0};

	(void)state;
	reset();
	for (size_t i = 0; i < 7; i++)
		br_heap_add(&h, &node[i], keys[i]);
	br_heap_remove(&h, &node[3]);
	check_shape(&h);
	assert_int_equal(h.count, 6);
	br_heap_free(&h);
}

static void
compare(const struct br_heap *h)
{
	const struct br_heap_node *least = NULL;
	size_t in = 0;

	for (size_t i = 0; i < NODES; i++)
		if (node[i].index != BR_HEAP_OUT) {
			in++;
			if (least == NULL || node[i].key < least->key)
				least = &node[i];
		}
	assert_int_equal(h->count, in);
	if (least == NULL)
		assert_null(br_heap_top(h));
	else
		assert_true(br_heap_top(h)->key == least->key);
	check_shape(h);
}

static void
test_random(void **state)
{
	uint64_t seed = seed_take();
	struct br_heap h = {0};

	(void)state;
	reset();
	for (size_t step = 0; step < 20000; step++) {
		struct br_heap_node *n = &node[seed_below(&seed, NODES)];
		/* few keys: many are equal */
		int64_t key = (int64_t)seed_below(&seed, 60) - 30;
		/* grows and shrinks in turn, so that it is full and empty */
		bool grow = seed_below(&seed, 8) < (step / 1000 % 2 ? 2u : 6u);

		if (n->index == BR_HEAP_OUT) {
			if (grow)
				br_heap_add(&h, n, key);
		} else if (seed_below(&seed, 3) == 0)
			br_heap_change(&h, n, key);
		else if (!grow)
			br_heap_remove(&h, n);
		compare(&h);
	}
	br_heap_free(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_empty),
	    cmocka_unit_test(test_sorts_extremes),
	    cmocka_unit_test(test_remove_lets_last_rise),
	    cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
