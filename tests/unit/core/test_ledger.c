/* The ledger: what may be committed, and what never. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bridge/core/ledger.h"
#include "events.h"
#include "seed.h"

static struct br_ref
at(int64_t offset)
{
	return (struct br_ref){.offset = offset, .bytes = 10};
}

static void
test_begins_where_told(void **state)
{
	struct br_ledger l;
	struct br_ref ref = at(41);

	(void)state;
	br_ledger_init(&l, 41);
	assert_int_equal(br_ledger_watermark(&l), 41);
	br_ledger_open(&l, &ref);
	assert_int_equal(br_ledger_watermark(&l), 41);
	assert_int_equal(l.open, 1);
	assert_int_equal(l.open_bytes, 10);
	br_ledger_settle(&l, &ref);
	assert_int_equal(br_ledger_watermark(&l), 42);
	assert_int_equal(l.open, 0);
	assert_int_equal(l.open_bytes, 0);
}

static void
test_lowest_open_holds(void **state)
{
	static const size_t order[] = {3, 1, 0, 4, 2};
	static const int64_t want[] = {0, 0, 2, 2, 5};
	struct br_ref ref[5];
	struct br_ledger l;

	(void)state;
	br_ledger_init(&l, 0);
	for (int i = 0; i < 5; i++) {
		ref[i] = at(i);
		br_ledger_open(&l, &ref[i]);
	}
	for (size_t i = 0; i < 5; i++) {
		br_ledger_settle(&l, &ref[order[i]]);
		assert_int_equal(br_ledger_watermark(&l), want[i]);
	}
}

static void
test_gaps_and_passes(void **state)
{
	struct br_ref low = at(10), high = at(20);
	struct br_ledger l;

	(void)state;
	br_ledger_init(&l, 3);
	br_ledger_pass(&l, 2);
	assert_int_equal(br_ledger_watermark(&l), 3);
	br_ledger_pass(&l, 7);
	assert_int_equal(br_ledger_watermark(&l), 7);
	/* What lies between is no event: nothing keeps it open. */
	br_ledger_open(&l, &low);
	assert_int_equal(br_ledger_watermark(&l), 10);
	br_ledger_pass(&l, 15);
	assert_int_equal(br_ledger_watermark(&l), 10);
	br_ledger_open(&l, &high);
	br_ledger_settle(&l, &low);
	assert_int_equal(br_ledger_watermark(&l), 20);
	br_ledger_pass(&l, 20);
	br_ledger_settle(&l, &high);
	assert_int_equal(br_ledger_watermark(&l), 21);
	br_ledger_pass(&l, 9);
	assert_int_equal(br_ledger_watermark(&l), 21);
}

/* One stuck event below 1,500,000 settled ones is one entry. */
static void
test_long_span(void **state)
{
	struct br_ref stuck = at(0), other;
	struct br_ledger l;

	(void)state;
	br_ledger_init(&l, 0);
	br_ledger_open(&l, &stuck);
	for (int64_t i = 1; i <= 1500000; i++) {
		other = at(i);
		br_ledger_open(&l, &other);
		br_ledger_settle(&l, &other);
	}
	assert_int_equal(br_ledger_watermark(&l), 0);
	assert_int_equal(l.open, 1);
	assert_int_equal(l.open_bytes, 10);
	assert_ptr_equal(l.first, &stuck);
	assert_ptr_equal(l.last, &stuck);
	assert_null(stuck.ledger_prev);
	assert_null(stuck.ledger_next);
	br_ledger_settle(&l, &stuck);
	assert_int_equal(br_ledger_watermark(&l), 1500001);
	assert_null(l.first);
	assert_null(l.last);
}

static void
open_twice(void *opaque)
{
	struct br_ref again = at(*(int64_t *)opaque), first = at(5);
	struct br_ledger l;

	br_ledger_init(&l, 4);
	br_ledger_open(&l, &first);
	br_ledger_open(&l, &again);
}

static void
open_below_pass(void *opaque)
{
	struct br_ref ref = at(8);
	struct br_ledger l;

	(void)opaque;
	br_ledger_init(&l, 4);
	br_ledger_pass(&l, 9);
	br_ledger_open(&l, &ref);
}

/* A second settle would take the whole list along and let a commit pass it. */
static void
settle_twice(void *opaque)
{
	struct br_ref ref[3] = {at(1), at(2), at(3)};
	struct br_ledger l;

	br_ledger_init(&l, 0);
	for (size_t i = 0; i < 3; i++)
		br_ledger_open(&l, &ref[i]);
	br_ledger_settle(&l, &ref[*(size_t *)opaque]);
	br_ledger_settle(&l, &ref[*(size_t *)opaque]);
}

static void
test_misuse_aborts(void **state)
{
	int64_t offset;
	size_t index;

	(void)state;
	for (offset = 3; offset <= 5; offset++)
		assert_true(aborts(open_twice, &offset));
	offset = 6;
	assert_false(aborts(open_twice, &offset));
	assert_true(aborts(open_below_pass, NULL));
	for (index = 0; index < 3; index++)
		assert_true(aborts(settle_twice, &index));
}

/* The naive ledger: what every offset is. */
#define SPAN 3000

struct naive {
	bool open[SPAN];
	struct br_ref ref[SPAN];
	int64_t next;
	int64_t watermark; /* the last one seen */
};

static void
compare(struct naive *n, const struct br_ledger *l)
{
	const struct br_ref *ref = l->first, *prev = NULL;
	int64_t lowest = n->next;
	uint64_t open = 0, bytes = 0;

	for (int64_t i = n->next - 1; i >= 0; i--)
		if (n->open[i]) {
			lowest = i;
			open++;
			bytes += n->ref[i].bytes;
		}
	assert_int_equal(br_ledger_watermark(l), lowest);
	assert_true(lowest >= n->watermark);
	n->watermark = lowest;
	assert_int_equal(l->open, open);
	assert_int_equal(l->open_bytes, bytes);
	for (int64_t i = 0; i < n->next; i++) {
		if (!n->open[i])
			continue;
		assert_non_null(ref);
		assert_int_equal(ref->offset, i);
		assert_ptr_equal(ref->ledger_prev, prev);
		prev = ref;
		ref = ref->ledger_next;
	}
	assert_null(ref);
	assert_ptr_equal(l->last, prev);
}

static void
step(struct naive *n, struct br_ledger *l, uint64_t *seed)
{
	int64_t skip =
	    seed_below(seed, 4) != 0 ? 0 : (int64_t)seed_below(seed, 5);
	size_t pick = seed_below(seed, SPAN);

	switch (seed_below(seed, 8)) {
	case 0:
		/* also backwards, which must change nothing */
		skip = (int64_t)seed_below(seed, 8) - 4;
		br_ledger_pass(l, n->next + skip);
		n->next += skip > 0 ? skip : 0;
		break;
	case 1:
	case 2:
	case 3:
		n->next += skip;
		n->ref[n->next] = (struct br_ref){
		    .offset = n->next, .bytes = seed_below(seed, 1000)};
		n->open[n->next] = true;
		br_ledger_open(l, &n->ref[n->next++]);
		break;
	default:
		for (size_t i = 0; i < SPAN; i++, pick = (pick + 1) % SPAN)
			if (n->open[pick]) {
				n->open[pick] = false;
				br_ledger_settle(l, &n->ref[pick]);
				break;
			}
	}
}

static void
test_random(void **state)
{
	uint64_t seed = seed_take();

	(void)state;
	for (int run = 0; run < 20; run++) {
		struct naive *n = must_calloc(sizeof(*n));
		struct br_ledger l;

		n->next = n->watermark = (int64_t)seed_below(&seed, 10);
		br_ledger_init(&l, n->next);
		for (int i = 0; i < 600 && n->next < SPAN - 10; i++) {
			step(n, &l, &seed);
			compare(n, &l);
		}
		free(n);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_begins_where_told),
	    cmocka_unit_test(test_lowest_open_holds),
	    cmocka_unit_test(test_gaps_and_passes),
	    cmocka_unit_test(test_long_span),
	    cmocka_unit_test(test_misuse_aborts),
	    cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
