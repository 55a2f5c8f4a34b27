/*
 * Checkpoints of random ledgers against a naive account of what must stand in
 * them; every damage; and the lengths that a design was made for.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "book.h"
#include "seed.h"

#define SPAN 3000
#define NOW 1791000000
#define LONGEST 100000

/* A ledger, what was tried of it, and what was written of both. */
struct sample {
	char map[SPAN]; /* map[0] is open */
	size_t len;
	struct book book;
	struct br_checkpoint_id id;
	struct br_checkpoint_retry retry[SPAN];
	size_t retries;
	size_t limit;
	char out[BR_CHECKPOINT_MAX + 16];
	size_t written;
};

static int64_t
some_due(uint64_t *seed)
{
	switch (seed_below(seed, 4)) {
	case 0:
		return 0;
	case 1:
		return NOW + (int64_t)seed_below(seed, LONGEST + 1);
	default:
		return NOW + (int64_t)seed_below(seed, 200);
	}
}

static size_t
some_limit(uint64_t *seed)
{
	static const size_t limits[] = {4000, 2000, 1000, 500, 250};
	size_t pick = seed_below(seed, 8);

	return pick < 5 ? limits[pick] : seed_below(seed, 120);
}

static void
sample_make(struct sample *s, uint64_t *seed)
{
	static const int64_t starts[] = {
	    0, 1, 127, 1000000, INT64_C(1) << 40, INT64_MAX - SPAN};
	static const double shares[] = {0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 1};
	double settled = shares[seed_below(seed, 8)];
	double tried = shares[seed_below(seed, 8)];

	s->len = 1 + seed_below(seed, SPAN);
	s->limit = some_limit(seed);
	s->id = id_at(starts[seed_below(seed, 6)]);
	s->retries = 0;
	for (size_t i = 0; i < s->len; i++) {
		bool open = i == 0 || seed_fraction(seed) >= settled;

		s->map[i] = open ? 'o' : '.';
		if (open && seed_fraction(seed) < tried)
			s->retry[s->retries++] = (struct br_checkpoint_retry){
			    s->id.offset + (int64_t)i,
			    1 + (uint32_t)seed_below(seed,
			            seed_below(seed, 9) > 0 ? 5 : UINT32_MAX),
			    some_due(seed)};
	}
	book_open(&s->book, s->id.offset, s->map, s->len);
	memset(s->out, '#', sizeof(s->out));
	s->written = br_checkpoint_encode(
	    &s->id, &s->book.ledger, s->retry, s->retries, s->limit, s->out);
}

/* ---- the naive account */

static size_t
bytes_of(uint64_t value)
{
	return value < 128 ? 1 : 1 + bytes_of(value / 128);
}

static size_t
naive_room(const struct sample *s)
{
	size_t bytes = 0;

	while (4 + (bytes + 1) * 8 / 6 + ((bytes + 1) * 8 % 6 != 0) <= s->limit)
		bytes++;
	return bytes;
}

/* How many retries must stand there, and the bytes they take. */
static size_t
naive_retries(const struct sample *s, size_t *bytes)
{
	size_t quarter = naive_room(s) / 4, used = 0, i;
	int64_t next = s->id.offset, due = 0;

	for (i = 0; i < s->retries; i++) {
		const struct br_checkpoint_retry *r = &s->retry[i];
		size_t size = bytes_of((uint64_t)(r->offset - next)) +
		              bytes_of(r->attempts);

		if (r->due_unix_s == 0)
			size += 1;
		else if (r->due_unix_s >= due)
			size +=
			    bytes_of(1 + 2 * (uint64_t)(r->due_unix_s - due));
		else
			size += bytes_of(2 * (uint64_t)(due - r->due_unix_s));
		if (used + size > quarter)
			break;
		used += size;
		next = r->offset + 1;
		if (r->due_unix_s != 0)
			due = r->due_unix_s;
	}
	*bytes = used;
	return i;
}

/* Up to where what is settled must be known. */
static size_t
naive_end(const struct sample *s, size_t retry_bytes)
{
	size_t room = naive_room(s), used = 4, end = 0, i = 0;

	used += retry_bytes > 0 ? retry_bytes + 1 : 0;
	while (i < s->len) {
		size_t open = 0, settled = 0;

		for (; i < s->len && s->map[i] == 'o'; i++)
			open++;
		for (; i < s->len && s->map[i] == '.'; i++)
			settled++;
		used += bytes_of(open) + bytes_of(settled);
		if (settled == 0 || used > room)
			break;
		end = i;
	}
	return end;
}

static struct br_checkpoint *
sample_read(
    const struct sample *s, int64_t log_end, enum br_checkpoint_verdict *v)
{
	const struct br_checkpoint_now now = {log_end, NOW, LONGEST};

	return read_exactly(&s->id, s->out, s->written, &now, v);
}

/* What is read of every offset, in order and at random. */
static void
check_look_ups(const struct sample *s, struct br_checkpoint *c, size_t end,
    size_t retries, uint64_t *seed)
{
	size_t tried = 0, asked = 0;

	for (size_t i = 0; i < s->len; i++) {
		int64_t offset = s->id.offset + (int64_t)i;
		const struct br_checkpoint_retry *r =
		    br_checkpoint_tried(c, offset);

		assert_int_equal(br_checkpoint_settled(c, offset),
		    i < end && s->map[i] == '.');
		if (tried == retries || s->retry[tried].offset != offset) {
			assert_null(r);
			continue;
		}
		assert_non_null(r);
		assert_int_equal(r->offset, s->retry[tried].offset);
		assert_int_equal(r->attempts, s->retry[tried].attempts);
		assert_int_equal(r->due_unix_s, s->retry[tried].due_unix_s);
		tried++;
	}
	assert_int_equal(tried, retries);
	for (; asked < 100; asked++) {
		size_t i = seed_below(seed, s->len);
		int64_t offset = s->id.offset + (int64_t)i;
		const struct br_checkpoint_retry *r =
		    br_checkpoint_tried(c, offset);

		assert_int_equal(br_checkpoint_settled(c, offset),
		    i < end && s->map[i] == '.');
		assert_true(r == NULL || r->offset == offset);
	}
}

static void
sample_check(const struct sample *s, uint64_t *seed)
{
	enum br_checkpoint_verdict v;
	size_t bytes, retries = naive_retries(s, &bytes);
	size_t end = naive_end(s, bytes);
	int64_t top = s->id.offset + (int64_t)end;
	struct br_checkpoint *c;

	assert_true(s->written <= s->limit);
	for (size_t i = s->limit; i < sizeof(s->out); i++)
		assert_int_equal(s->out[i], '#');
	if (retries == 0 && end == 0) {
		assert_int_equal(s->written, 0);
		return;
	}
	if (retries > 0 && s->retry[retries - 1].offset >= top)
		top = s->retry[retries - 1].offset + 1;
	c = sample_read(s, top, &v);
	assert_int_equal(v, BR_CHECKPOINT_READ);
	assert_int_equal(c->end, top);
	assert_int_equal(c->retries, retries);
	check_look_ups(s, c, end, retries, seed);
	br_checkpoint_free(c);
	(void)sample_read(s, top - 1, &v);
	assert_int_equal(v, BR_CHECKPOINT_BEYOND);
}

static void
test_random_ledgers(void **state)
{
	uint64_t seed = seed_take();
	struct sample *s = must_calloc(sizeof(*s));

	(void)state;
	for (int run = 0; run < 1500; run++) {
		sample_make(s, &seed);
		sample_check(s, &seed);
		book_close(&s->book);
	}
	free(s);
}

/* ---- one life after another */

/* What is true, whatever a checkpoint had room for. */
struct truth {
	bool settled[SPAN];
	int64_t committed;
	char text[600];
	size_t len;
};

/* Begins where the last life's commit and checkpoint say, reads on, settles
 * some, commits, and ends without a word. */
static void
live(struct truth *t, uint64_t *seed)
{
	const struct br_checkpoint_now now = {SPAN, NOW, LONGEST};
	struct br_ref *ref = must_calloc(SPAN * sizeof(*ref));
	struct br_checkpoint_id id = id_at(t->committed);
	enum br_checkpoint_verdict v;
	struct br_checkpoint *c = read_exactly(&id, t->text, t->len, &now, &v);
	int64_t head = t->committed + (int64_t)seed_below(seed, 400);
	struct br_ledger l;

	assert_int_equal(
	    v, t->len > 0 ? BR_CHECKPOINT_READ : BR_CHECKPOINT_NONE);
	br_ledger_init(&l, t->committed);
	for (int64_t i = t->committed; i < head && i < SPAN; i++) {
		if (br_checkpoint_settled(c, i)) {
			assert_true(t->settled[i]);
			br_ledger_pass(&l, i + 1);
			continue;
		}
		ref[i].offset = i;
		br_ledger_open(&l, &ref[i]);
		if (seed_below(seed, 3) != 0) {
			t->settled[i] = true;
			br_ledger_settle(&l, &ref[i]);
		}
	}
	br_checkpoint_free(c);
	id.offset = t->committed = br_ledger_watermark(&l);
	t->len = br_checkpoint_encode(
	    &id, &l, NULL, 0, seed_below(seed, sizeof(t->text)), t->text);
	for (int64_t i = 0; i < t->committed; i++)
		assert_true(t->settled[i]);
	free(ref);
}

static void
test_lives(void **state)
{
	uint64_t seed = seed_take();

	(void)state;
	for (int run = 0; run < 20; run++) {
		struct truth t = {.len = 0};
		int lives = 0;

		for (; t.committed < SPAN; lives++)
			live(&t, &seed);
		assert_true(lives > 1);
	}
}

/* ---- damage */

static void
damage(const struct sample *s)
{
	struct br_checkpoint_id other = s->id;
	char text[sizeof(s->out)];

	for (size_t len = 0; len < s->written; len++)
		assert_int_not_equal(
		    judge(&s->id, s->out, len, INT64_MAX), BR_CHECKPOINT_READ);
	memcpy(text, s->out, s->written);
	for (size_t i = 0; i < s->written; i++)
		for (int bit = 0; bit < 8; bit++) {
			text[i] = (char)(s->out[i] ^ 1 << bit);
			assert_int_not_equal(
			    judge(&s->id, text, s->written, INT64_MAX),
			    BR_CHECKPOINT_READ);
			text[i] = s->out[i];
		}
	assert_int_equal(
	    judge(&s->id, text, s->written, INT64_MAX), BR_CHECKPOINT_READ);
	for (int bit = 0; bit < 63; bit++) {
		other.offset = s->id.offset ^ INT64_C(1) << bit;
		assert_int_equal(judge(&other, text, s->written, INT64_MAX),
		    BR_CHECKPOINT_CHECKSUM);
	}
	other = s->id;
	for (int bit = 0; bit < 31; bit++) {
		other.partition = s->id.partition ^ 1 << bit;
		assert_int_equal(judge(&other, text, s->written, INT64_MAX),
		    BR_CHECKPOINT_CHECKSUM);
	}
}

static void
test_every_damage_is_seen(void **state)
{
	uint64_t seed = seed_take();
	struct sample *s = must_calloc(sizeof(*s));
	int damaged = 0;

	(void)state;
	while (damaged < 20) {
		sample_make(s, &seed);
		if (s->written > 0 && s->written < 800) {
			damage(s);
			damaged++;
		}
		book_close(&s->book);
	}
	free(s);
}

/* ---- the ledgers of the design: 100,000 offsets */

#define MANY 100000

/* Encodes within `limit`; returns the length and what is known then. */
static size_t
known_of(const char *map, size_t len, size_t limit, int64_t *end)
{
	const struct br_checkpoint_id id = id_at(0);
	const struct br_checkpoint_now now = {(int64_t)len, NOW, LONGEST};
	enum br_checkpoint_verdict v;
	struct br_checkpoint *c;
	struct book b;
	char out[BR_CHECKPOINT_MAX];
	size_t written;

	book_open(&b, 0, map, len);
	written = br_checkpoint_encode(&id, &b.ledger, NULL, 0, limit, out);
	c = read_exactly(&id, out, written, &now, &v);
	assert_int_equal(v, BR_CHECKPOINT_READ);
	for (size_t i = 0; i < (size_t)c->end; i++)
		assert_int_equal(
		    br_checkpoint_settled(c, (int64_t)i), map[i] == '.');
	*end = c->end;
	br_checkpoint_free(c);
	book_close(&b);
	return written;
}

static size_t
known_of_random(
    double settled, size_t limit, int64_t *end, size_t *last_settled)
{
	char *map = must_calloc(MANY);
	uint64_t seed = 20261130; /* fixed: what is asserted is a size */
	size_t written;

	for (size_t i = 0; i < MANY; i++) {
		map[i] = i > 0 && seed_fraction(&seed) < settled ? '.' : 'o';
		if (map[i] == '.')
			*last_settled = i;
	}
	written = known_of(map, MANY, limit, end);
	free(map);
	return written;
}

static void
test_sizes(void **state)
{
	int64_t end;
	size_t last;

	(void)state;
	/* 1 in 1000 settled: about 100 pairs of 2 + 1 bytes */
	assert_in_range(known_of_random(0.001, 4000, &end, &last), 300, 500);
	assert_int_equal(end, last + 1);
	/* one of 1000 keys is blocked: the same the other way round */
	assert_in_range(known_of_random(0.999, 4000, &end, &last), 300, 500);
	assert_int_equal(end, last + 1);
	/* ten of 1000 */
	assert_in_range(known_of_random(0.99, 4000, &end, &last), 2600, 3200);
	assert_int_equal(end, last + 1);
	/* a hundred of 1000: as much as there is room for */
	assert_in_range(known_of_random(0.9, 4000, &end, &last), 3995, 4000);
	assert_in_range(end, 15000, 18000);
	assert_in_range(
	    known_of_random(0.9, BR_CHECKPOINT_MAX, &end, &last), 23000, 26000);
	assert_int_equal(end, last + 1);
	assert_in_range(known_of_random(0.5, 4000, &end, &last), 3995, 4000);
	assert_in_range(end, 5500, 6500);
}

static void
test_sizes_of_regular_ledgers(void **state)
{
	char *map = must_calloc(1500000);
	int64_t end;

	(void)state;
	/* every 1000th is open: 100 pairs of 1 + 2 bytes, and the CRC */
	for (size_t i = 0; i < MANY; i++)
		map[i] = i % 1000 == 0 ? 'o' : '.';
	assert_int_equal(known_of(map, MANY, 4000, &end), 4 + 406);
	assert_int_equal(end, MANY);
	/* all but the last */
	memset(map, 'o', MANY);
	map[MANY - 1] = '.';
	assert_int_equal(known_of(map, MANY, 4000, &end), 4 + 11);
	assert_int_equal(end, MANY);
	/* a key that failed for five minutes at 5,000 events a second */
	memset(map, '.', 1500000);
	map[0] = 'o';
	assert_int_equal(known_of(map, 1500000, 4000, &end), 4 + 11);
	assert_int_equal(end, 1500000);
	free(map);
}

/* What was tried a lot leaves three quarters to the runs. */
static void
test_a_quarter_for_retries(void **state)
{
	const struct br_checkpoint_now now = {SPAN, NOW, LONGEST};
	struct sample *s = must_calloc(sizeof(*s));
	enum br_checkpoint_verdict v;
	struct br_checkpoint *c;

	(void)state;
	s->id = id_at(0);
	for (size_t i = 0; i < SPAN; i++)
		s->map[i] = i % 2 == 0 ? 'o' : '.';
	for (size_t i = 0; i < SPAN / 2; i++)
		s->retry[i] = (struct br_checkpoint_retry){
		    2 * (int64_t)i, 5, NOW + (int64_t)(i % 60)};
	book_open(&s->book, 0, s->map, SPAN);
	s->written = br_checkpoint_encode(
	    &s->id, &s->book.ledger, s->retry, SPAN / 2, 4000, s->out);
	c = read_exactly(&s->id, s->out, s->written, &now, &v);
	assert_int_equal(v, BR_CHECKPOINT_READ);
	/* 2997 bytes, a quarter is 749: one entry of seven and 247 of three
	 * are 748; then 0, the CRC, and pairs of two. */
	assert_int_equal(c->retries, 248);
	assert_int_equal(c->runs, (2997 - 748 - 1 - 4) / 2);
	br_checkpoint_free(c);
	book_close(&s->book);
	free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_random_ledgers),
	    cmocka_unit_test(test_lives),
	    cmocka_unit_test(test_every_damage_is_seen),
	    cmocka_unit_test(test_sizes),
	    cmocka_unit_test(test_sizes_of_regular_ledgers),
	    cmocka_unit_test(test_a_quarter_for_retries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
