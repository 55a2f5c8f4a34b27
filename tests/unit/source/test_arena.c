/* The scratch memory: what is taken stays, a reset gives it back. */
#include "bridge/source/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define MIB (1024 * 1024)

static void
test_take(void **state)
{
	struct br_arena a = {NULL, 0};
	uint8_t *p[200];

	(void)state;
	assert_non_null(br_arena_take(&a, 0));
	for (int i = 0; i < 200; i++) {
		p[i] = br_arena_take(&a, (size_t)i * 100);
		memset(p[i], i, (size_t)i * 100);
	}
	for (int i = 0; i < 200; i++)
		for (int k = 0; k < i * 100; k++)
			assert_int_equal(p[i][k], i);
	br_arena_free(&a);
}

static void
test_return(void **state)
{
	struct br_arena a = {NULL, 0};
	uint8_t *p = br_arena_take(&a, 100);

	(void)state;
	br_arena_return(&a, 40);
	assert_ptr_equal(br_arena_take(&a, 1), p + 60);
	br_arena_free(&a);
}

/* The same work takes the same memory: nothing grows, nothing is freed. */
static void
test_reset(void **state)
{
	struct br_arena a = {NULL, 0};
	uint8_t *p;

	(void)state;
	for (int i = 0; i < 10; i++)
		br_arena_take(&a, 30000);
	br_arena_reset(&a);
	p = br_arena_take(&a, 60000);
	for (int i = 0; i < 10; i++) {
		br_arena_reset(&a);
		assert_ptr_equal(br_arena_take(&a, 60000), p);
	}
	br_arena_free(&a);
}

/* What one huge record needed is not kept. */
static void
test_huge(void **state)
{
	struct br_arena a = {NULL, 0};

	(void)state;
	br_arena_take(&a, MIB);
	br_arena_reset(&a);
	assert_non_null(a.block);
	br_arena_take(&a, 20 * MIB);
	br_arena_reset(&a);
	assert_null(a.block);
	br_arena_free(&a);
	br_arena_reset(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_take),
	    cmocka_unit_test(test_return),
	    cmocka_unit_test(test_reset),
	    cmocka_unit_test(test_huge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
