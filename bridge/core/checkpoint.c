/* checkpoint: see the header. */
#include "bridge/core/checkpoint.h"

#include <stdlib.h>

#include "bridge/core/base64.h"
#include "bridge/core/crc32c.h"
#include "bridge/core/varint.h"
#include "checkpoint_format.h"

#define RUN_BYTES_MIN 2   /* of an open and a settled run */
#define RETRY_BYTES_MIN 3 /* of an entry */
#define RETRY_BYTES_MAX (3 * (size_t)BR_VARINT_MAX)

static uint32_t
crc_number(uint32_t crc, uint64_t value, size_t bytes)
{
	uint8_t byte[8];

	for (size_t i = 0; i < bytes; i++)
		byte[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
	return br_crc32c(crc, byte, bytes);
}

/* The NULs keep "ab" and "c" from being "a" and "bc". */
uint32_t
br_checkpoint_crc(const struct br_checkpoint_id *id)
{
	uint32_t crc = br_crc32c(0, id->group, strlen(id->group) + 1);

	crc = br_crc32c(crc, id->topic, strlen(id->topic) + 1);
	crc = crc_number(crc, (uint32_t)id->partition, 4);
	return crc_number(crc, (uint64_t)id->offset, 8);
}

/* ---- writing */

struct writer {
	struct br_base64 text;
	uint32_t crc;
};

static void
put(struct writer *w, const uint8_t *bytes, size_t len)
{
	w->crc = br_crc32c(w->crc, bytes, len);
	for (size_t i = 0; i < len; i++)
		br_base64_put(&w->text, bytes[i]);
}

/* Bytes between prefix and end for metadata of so many characters. */
static size_t
room_of(size_t limit)
{
	if (limit > BR_CHECKPOINT_MAX)
		limit = BR_CHECKPOINT_MAX;
	return limit > BR_CHECKPOINT_PREFIX_CHARS
	           ? BR_BASE64_BYTES(limit - BR_CHECKPOINT_PREFIX_CHARS)
	           : 0;
}

size_t
br_checkpoint_retries_max(size_t limit)
{
	return room_of(limit) / 4 / RETRY_BYTES_MIN;
}

size_t
br_checkpoint_collect(const struct br_ledger *l, br_checkpoint_ask ask,
    void *opaque, struct br_checkpoint_retry *retry, size_t max)
{
	size_t count = 0;

	for (const struct br_ref *ref = l->first; ref != NULL && count < max;
	     ref = ref->ledger_next) {
		if (ref->attempts == 0 && ref->uncounted == 0)
			continue;
		retry[count] =
		    (struct br_checkpoint_retry){.offset = ref->offset};
		ask(opaque, ref, &retry[count]);
		if (retry[count].attempts != 0 || retry[count].due_unix_s != 0)
			count++;
	}
	return count;
}

static int64_t
due_within_s(int64_t due_s)
{
	if (due_s < 0)
		return 0;
	return due_s < BR_CHECKPOINT_DUE_MAX_S ? due_s
	                                       : BR_CHECKPOINT_DUE_MAX_S;
}

/* Composes an entry that comes after `b`; 0: it must be left out. */
static size_t
compose_retry(uint8_t out[RETRY_BYTES_MAX], struct br_checkpoint_before *b,
    const struct br_ledger *l, const struct br_checkpoint_retry *r)
{
	int64_t due_s = due_within_s(r->due_unix_s);
	int64_t step_s = due_s - b->due_s;
	uint64_t due = 0;
	size_t len;

	if (r->offset < b->next || r->offset >= l->next ||
	    (r->attempts == 0 && due_s == 0))
		return 0;
	if (due_s > 0) {
		due = step_s < 0 ? 2 * (uint64_t)-step_s
		                 : 2 * (uint64_t)step_s + 1;
		b->due_s = due_s;
	}
	len = br_varint_put(out, (uint64_t)(r->offset - b->next));
	len += br_varint_put(out + len, r->attempts);
	len += br_varint_put(out + len, due);
	b->next = r->offset + 1;
	return len;
}

/* How many of them fit into `room`; `*used` is what they take. */
static size_t
fit_retries(const struct br_checkpoint_id *id, const struct br_ledger *l,
    const struct br_checkpoint_retry *retry, size_t count, size_t room,
    size_t *used)
{
	struct br_checkpoint_before b = {.next = id->offset};
	uint8_t entry[RETRY_BYTES_MAX];
	size_t i;

	*used = 0;
	for (i = 0; i < count; i++) {
		size_t len = compose_retry(entry, &b, l, &retry[i]);

		if (len > room - *used)
			break;
		*used += len;
	}
	return i;
}

static void
put_retries(struct writer *w, const struct br_checkpoint_id *id,
    const struct br_ledger *l, const struct br_checkpoint_retry *retry,
    size_t count)
{
	static const uint8_t end_of_runs = 0;
	struct br_checkpoint_before b = {.next = id->offset};
	uint8_t entry[RETRY_BYTES_MAX];

	put(w, &end_of_runs, 1);
	for (size_t i = 0; i < count; i++)
		put(w, entry, compose_retry(entry, &b, l, &retry[i]));
}

/* Writes what fits into `room` and returns how many bytes that was. An open
 * run without a settled one behind it says nothing. */
static size_t
put_runs(struct writer *w, const struct br_ledger *l, size_t room)
{
	const struct br_ref *ref = l->first;
	size_t used = 0;

	while (ref != NULL && room - used >= RUN_BYTES_MIN) {
		const struct br_ref *first = ref;
		uint8_t pair[2 * BR_VARINT_MAX];
		int64_t open_end, end;
		size_t len;

		while (ref->ledger_next != NULL &&
		       ref->ledger_next->offset == ref->offset + 1)
			ref = ref->ledger_next;
		open_end = ref->offset + 1;
		ref = ref->ledger_next;
		end = ref != NULL ? ref->offset : l->next;
		if (end == open_end)
			break;
		len = br_varint_put(pair, (uint64_t)(open_end - first->offset));
		len += br_varint_put(pair + len, (uint64_t)(end - open_end));
		if (len > room - used)
			break;
		put(w, pair, len);
		used += len;
	}
	return used;
}

size_t
br_checkpoint_encode(const struct br_checkpoint_id *id,
    const struct br_ledger *l, const struct br_checkpoint_retry *retry,
    size_t retries, size_t limit, char *out)
{
	struct writer w = {.crc = br_checkpoint_crc(id)};
	size_t room = room_of(limit), used, fit, runs;
	uint32_t crc;

	/* Beside any other offset the runs would lie. */
	if (id->offset != br_ledger_watermark(l))
		abort();
	if (room < BR_CHECKPOINT_CRC_BYTES + RUN_BYTES_MIN)
		return 0;
	fit = fit_retries(id, l, retry, retries, room / 4, &used);
	room -= BR_CHECKPOINT_CRC_BYTES + (used > 0 ? used + 1 : 0);
	memcpy(out, BR_CHECKPOINT_PREFIX, BR_CHECKPOINT_PREFIX_CHARS);
	w.text.out = out + BR_CHECKPOINT_PREFIX_CHARS;
	runs = put_runs(&w, l, room);
	if (used > 0)
		put_retries(&w, id, l, retry, fit);
	else if (runs == 0)
		return 0;
	crc = w.crc;
	for (int shift = 24; shift >= 0; shift -= 8)
		br_base64_put(&w.text, (uint8_t)(crc >> shift));
	br_base64_end(&w.text);
	return (size_t)(w.text.out - out);
}
