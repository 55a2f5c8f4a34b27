/*
 * fuzz_checkpoint: what can stand in commit metadata. The first byte of an
 * input chooses: the rest is metadata as it was found; or what the checksum
 * of metadata covers (and gets the right one, which no fuzzer would find); or
 * a ledger, byte by byte, that is written and read again.
 *
 * Beyond memory faults it aborts when one of these does not hold:
 * - what is read is sorted, lies in the log, and has due times within limits;
 * - the look-ups say the same as the arrays, in either direction;
 * - nothing is settled that was open, no attempt comes from nowhere;
 * - what is written fits, and is read again.
 */
#include <stdlib.h>
#include <string.h>

#include "bridge/core/base64.h"
#include "bridge/core/checkpoint.h"
#include "bridge/core/crc32c.h"

#define OFFSET 70000
#define LOG_END (OFFSET + (INT64_C(1) << 40))
#define NOW 1791000000
#define LONGEST 3600
#define OPEN 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct br_checkpoint_id id = {"g", "orders", 3, OFFSET};

static void
must(bool holds)
{
	if (!holds)
		abort();
}

static void
check_runs(struct br_checkpoint *c)
{
	int64_t last = OFFSET;

	for (size_t i = 0; i < c->runs; i++) {
		const struct br_checkpoint_run *r = &c->run[i];

		must(r->from > last && r->to > r->from && r->to <= LOG_END);
		last = r->to;
		must(br_checkpoint_settled(c, r->from));
		must(br_checkpoint_settled(c, r->to - 1));
		must(!br_checkpoint_settled(c, r->to));
		must(!br_checkpoint_settled(c, r->from - 1));
	}
	must(c->end >= last);
	for (size_t i = c->runs; i > 0; i--)
		must(br_checkpoint_settled(c, c->run[i - 1].from));
}

static void
check_retries(struct br_checkpoint *c)
{
	int64_t last = OFFSET - 1;

	for (size_t i = 0; i < c->retries; i++) {
		const struct br_checkpoint_retry *r = &c->retry[i];

		must(r->offset > last && r->offset < LOG_END);
		last = r->offset;
		must(r->attempts > 0 || r->due_unix_s > 0);
		must(r->due_unix_s == 0 ||
		     (r->due_unix_s >= NOW && r->due_unix_s <= NOW + LONGEST));
		must(br_checkpoint_tried(c, r->offset) == r);
		must(br_checkpoint_tried(c, r->offset) == r);
	}
	must(c->end > last);
	for (size_t i = c->retries; i > 0; i--)
		must(br_checkpoint_tried(c, c->retry[i - 1].offset) ==
		     &c->retry[i - 1]);
}

static struct br_checkpoint *
try_metadata(const void *text, size_t len)
{
	const struct br_checkpoint_now now = {LOG_END, NOW, LONGEST};
	enum br_checkpoint_verdict v;
	struct br_checkpoint *c =
	    br_checkpoint_decode(&id, (struct br_slice){text, len}, &now, &v);

	must((c != NULL) == (v == BR_CHECKPOINT_READ));
	must(br_checkpoint_verdict_text(v)[0] != '\0');
	if (c != NULL) {
		must(c->runs + c->retries <= len);
		check_runs(c);
		check_retries(c);
	}
	return c;
}

/* Metadata around these bytes. */
static void
try_covered(const uint8_t *data, size_t size)
{
	/* group, NUL, topic, NUL, 3, 70000 */
	static const char owner[] = "g\0orders\0\0\0\0\3\0\0\0\0\0\1\x11\x70";
	uint32_t crc = br_crc32c(0, owner, sizeof(owner) - 1);
	char *text = malloc(4 + BR_BASE64_CHARS(size + 4));
	struct br_base64 b = {.out = text + 4};

	must(text != NULL);
	memcpy(text, "ob1.", 4);
	crc = br_crc32c(crc, data, size);
	for (size_t i = 0; i < size; i++)
		br_base64_put(&b, data[i]);
	for (int shift = 24; shift >= 0; shift -= 8)
		br_base64_put(&b, (uint8_t)(crc >> shift));
	br_base64_end(&b);
	br_checkpoint_free(try_metadata(text, (size_t)(b.out - text)));
	free(text);
}

/* Is an offset of the ledger open? They are in order. */
static const struct br_ref *
open_at(const struct br_ref *ref, size_t refs, int64_t offset)
{
	size_t low = 0, high = refs;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (ref[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < refs && ref[low].offset == offset ? &ref[low] : NULL;
}

/* A byte is the gap before an open event (a power of two in its upper half),
 * and the attempts of it. */
static size_t
build(struct br_ledger *l, struct br_ref *ref,
    struct br_checkpoint_retry *retry, const uint8_t *data, size_t size)
{
	size_t refs = 0;

	br_ledger_init(l, OFFSET);
	for (size_t i = 0; i < size && refs < OPEN; i++, refs++) {
		int64_t gap = data[i] & 15;

		if (data[i] >= 128)
			gap = INT64_C(1) << (data[i] >> 2 & 31);
		if (i == 0)
			gap = 0;
		ref[refs] = (struct br_ref){.offset = l->next + gap};
		br_ledger_open(l, &ref[refs]);
		retry[refs] = (struct br_checkpoint_retry){ref[refs].offset,
		    data[i] & 3, data[i] & 16 ? NOW + data[i] : 0};
	}
	br_ledger_pass(l, l->next + (size > 0 ? data[size - 1] : 0));
	return refs;
}

static void
try_ledger(const uint8_t *data, size_t size)
{
	struct br_ref *ref = calloc(OPEN, sizeof(*ref));
	struct br_checkpoint_retry *retry = calloc(OPEN, sizeof(*retry));
	size_t limit = (size_t)data[0] << 8 | data[1];
	char *out = malloc(limit + 1);
	struct br_checkpoint *c;
	struct br_ledger l;
	size_t refs, len;

	must(ref != NULL && retry != NULL && out != NULL);
	refs = build(&l, ref, retry, data + 2, size - 2);
	if (refs > 0 && l.next <= LOG_END) {
		len = br_checkpoint_encode(&id, &l, retry, refs, limit, out);
		must(len <= limit);
		c = try_metadata(out, len);
		must((c != NULL) == (len > 0));
		for (size_t i = 0; i < refs; i++)
			must(!br_checkpoint_settled(c, ref[i].offset));
		for (size_t i = 0; c != NULL && i < c->retries; i++) {
			const struct br_ref *r =
			    open_at(ref, refs, c->retry[i].offset);

			must(r != NULL);
			must(c->retry[i].attempts == retry[r - ref].attempts);
		}
		br_checkpoint_free(c);
	}
	free(out);
	free(retry);
	free(ref);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return 0;
	if (data[0] % 3 == 0)
		br_checkpoint_free(try_metadata(data + 1, size - 1));
	else if (data[0] % 3 == 1)
		try_covered(data + 1, size - 1);
	else
		try_ledger(data + 1, size - 1);
	return 0;
}
