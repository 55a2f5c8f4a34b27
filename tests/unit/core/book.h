/*
 * book: a ledger drawn as a map, and its checkpoint, for the tests of
 * checkpoints. cmocka.h comes before it.
 */
#ifndef TESTS_UNIT_CORE_BOOK_H
#define TESTS_UNIT_CORE_BOOK_H

#include "bridge/core/checkpoint.h"
#include "events.h"

struct book {
	struct br_ledger ledger;
	struct br_ref *ref; /* the open ones */
	size_t refs;
};

/* Offset `from` + i is open where map[i] is 'o', else settled. */
static inline void
book_open(struct book *b, int64_t from, const char *map, size_t len)
{
	br_ledger_init(&b->ledger, from);
	b->ref = must_calloc((len + 1) * sizeof(*b->ref));
	b->refs = 0;
	for (size_t i = 0; i < len; i++) {
		if (map[i] != 'o')
			continue;
		b->ref[b->refs].offset = from + (int64_t)i;
		br_ledger_open(&b->ledger, &b->ref[b->refs++]);
	}
	br_ledger_pass(&b->ledger, from + (int64_t)len);
}

static inline void
book_close(struct book *b)
{
	free(b->ref);
}

static inline struct br_checkpoint_id
id_at(int64_t offset)
{
	return (struct br_checkpoint_id){"g", "orders", 3, offset};
}

/* Reads bytes that end where their memory ends, so that a sanitizer sees
 * every step beyond. */
static inline struct br_checkpoint *
read_exactly(const struct br_checkpoint_id *id, const char *text, size_t len,
    const struct br_checkpoint_now *now, enum br_checkpoint_verdict *verdict)
{
	uint8_t *bytes = malloc(len > 0 ? len : 1);
	struct br_checkpoint *c;

	assert_non_null(bytes);
	memcpy(bytes, text, len);
	c = br_checkpoint_decode(
	    id, (struct br_slice){bytes, len}, now, verdict);
	free(bytes);
	assert_int_equal(c != NULL, *verdict == BR_CHECKPOINT_READ);
	return c;
}

/* Only the verdict. */
static inline enum br_checkpoint_verdict
judge(const struct br_checkpoint_id *id, const char *text, size_t len,
    int64_t log_end)
{
	const struct br_checkpoint_now now = {log_end, 1791000000, 3600};
	enum br_checkpoint_verdict v;

	br_checkpoint_free(read_exactly(id, text, len, &now, &v));
	return v;
}

#endif
