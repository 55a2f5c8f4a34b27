/* checkpoint: see the header. */
#include "bridge/core/checkpoint.h"

#include <stdlib.h>

#include "bridge/core/base64.h"
#include "bridge/core/crc32c.h"
#include "bridge/core/varint.h"

#define PREFIX "ob1."
#define PREFIX_CHARS 4
#define CRC_BYTES 4
#define RUN_BYTES_MIN 2   /* of an open and a settled run */
#define RETRY_BYTES_MIN 3 /* of an entry */
#define RETRY_BYTES_MAX (3 * (size_t)BR_VARINT_MAX)
/* The year 36812: sums of seconds below it cannot overflow. */
#define DUE_MAX_S (INT64_C(1) << 40)

/* What an entry of the retries is written relative to. */
struct before {
	int64_t next;  /* lowest offset that it can have */
	int64_t due_s; /* of the last one that had a due time */
};

static uint32_t
crc_number(uint32_t crc, uint64_t value, size_t bytes)
{
	uint8_t byte[8];

	for (size_t i = 0; i < bytes; i++)
		byte[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
	return br_crc32c(crc, byte, bytes);
}

/* The NULs keep "ab" and "c" from being "a" and "bc". */
static uint32_t
crc_of_id(const struct br_checkpoint_id *id)
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
	return limit > PREFIX_CHARS ? BR_BASE64_BYTES(limit - PREFIX_CHARS) : 0;
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

/* Composes an entry that comes after `b`; 0: it must be left out. */
static size_t
compose_retry(uint8_t out[RETRY_BYTES_MAX], struct before *b,
    const struct br_ledger *l, const struct br_checkpoint_retry *r)
{
	int64_t due_s = r->due_unix_s < DUE_MAX_S ? r->due_unix_s : DUE_MAX_S;
	int64_t step_s = due_s - b->due_s;
	uint64_t due = 0;
	size_t len;

	if (r->offset < b->next || r->offset >= l->next ||
	    (r->attempts == 0 && due_s <= 0))
		return 0;
	if (due_s > 0) {
		due = step_s < 0 ? 2 * (uint64_t)-step_s : 2 * (uint64_t)step_s + 1;
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
	struct before b = {.next = id->offset};
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
	struct before b = {.next = id->offset};
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
	struct writer w = {.crc = crc_of_id(id)};
	size_t room = room_of(limit), used, fit, runs;
	uint32_t crc;

	/* Beside any other offset the runs would lie. */
	if (id->offset != br_ledger_watermark(l))
		abort();
	if (room <= CRC_BYTES + RUN_BYTES_MIN)
		return 0;
	fit = fit_retries(id, l, retry, retries, room / 4, &used);
	room -= CRC_BYTES + (used > 0 ? used + 1 : 0);
	memcpy(out, PREFIX, PREFIX_CHARS);
	w.text.out = out + PREFIX_CHARS;
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

/* ---- reading */

const char *
br_checkpoint_verdict_text(enum br_checkpoint_verdict v)
{
	switch (v) {
	case BR_CHECKPOINT_READ:
		return "read";
	case BR_CHECKPOINT_NONE:
		return "there is none";
	case BR_CHECKPOINT_FOREIGN:
		return "written by another program";
	case BR_CHECKPOINT_VERSION:
		return "of an unknown version";
	case BR_CHECKPOINT_CHECKSUM:
		return "damaged, or of another group, topic, partition or "
		       "offset";
	case BR_CHECKPOINT_DAMAGED:
		return "not well-formed";
	case BR_CHECKPOINT_BEYOND:
		return "the log ends before what it says is settled";
	}
	return "unknown";
}

/* Bytes that are read one number at a time. */
struct reader {
	const uint8_t *at;
	size_t len;
};

static bool
take(struct reader *r, uint64_t *value)
{
	size_t len = br_varint_get(r->at, r->len, value);

	r->at += len;
	r->len -= len;
	return len > 0;
}

/* Reads the runs up to their end; what is found is counted, and kept when
 * there is a place for it. */
static enum br_checkpoint_verdict
take_runs(struct reader *r, struct br_checkpoint *c, int64_t log_end)
{
	int64_t at = c->end;
	uint64_t open, settled;

	while (r->len > 0) {
		if (!take(r, &open))
			return BR_CHECKPOINT_DAMAGED;
		if (open == 0)
			return r->len > 0 ? BR_CHECKPOINT_READ
			                  : BR_CHECKPOINT_DAMAGED;
		if (!take(r, &settled) || settled == 0)
			return BR_CHECKPOINT_DAMAGED;
		/* One after the other, so that no sum can overflow. */
		if (open > (uint64_t)(log_end - at))
			return BR_CHECKPOINT_BEYOND;
		at += (int64_t)open;
		if (settled > (uint64_t)(log_end - at))
			return BR_CHECKPOINT_BEYOND;
		if (c->run != NULL)
			c->run[c->runs] = (struct br_checkpoint_run){
			    at, at + (int64_t)settled};
		at += (int64_t)settled;
		c->end = at;
		c->runs++;
	}
	return BR_CHECKPOINT_READ;
}

/* The due time that was written as `value`, after `before_s`. -1: none that
 * we write. */
static int64_t
due_of(uint64_t value, int64_t before_s)
{
	uint64_t zigzag = value - 1;
	int64_t step_s = (int64_t)(zigzag >> 1);
	int64_t due_s;

	if (step_s > DUE_MAX_S)
		return -1;
	due_s = (zigzag & 1) != 0 ? before_s - step_s - 1 : before_s + step_s;
	return due_s > 0 && due_s <= DUE_MAX_S ? due_s : -1;
}

/* A clock that was set, or a changed limit, must not make an event wait for
 * longer than it could have been told to. */
static int64_t
clamp_due(int64_t due_s, const struct br_checkpoint_now *now)
{
	if (due_s == 0)
		return 0;
	if (due_s < now->unix_s)
		return now->unix_s;
	return due_s - now->unix_s > now->wait_max_s
	           ? now->unix_s + now->wait_max_s
	           : due_s;
}

static enum br_checkpoint_verdict
take_retries(struct reader *r, struct br_checkpoint *c, int64_t from,
    const struct br_checkpoint_now *now)
{
	struct before b = {.next = from};
	uint64_t gap, attempts, due;

	while (r->len > 0) {
		int64_t due_s = 0;

		if (!take(r, &gap) || !take(r, &attempts) || !take(r, &due) ||
		    attempts > UINT32_MAX || (attempts == 0 && due == 0))
			return BR_CHECKPOINT_DAMAGED;
		if (gap >= (uint64_t)(now->log_end - b.next))
			return BR_CHECKPOINT_BEYOND;
		if (due != 0) {
			due_s = b.due_s = due_of(due, b.due_s);
			if (due_s < 0)
				return BR_CHECKPOINT_DAMAGED;
		}
		b.next += (int64_t)gap + 1;
		if (c->retry != NULL)
			c->retry[c->retries] = (struct br_checkpoint_retry){
			    .offset = b.next - 1,
			    .attempts = (uint32_t)attempts,
			    .due_unix_s = clamp_due(due_s, now)};
		if (c->end < b.next)
			c->end = b.next;
		c->retries++;
	}
	return BR_CHECKPOINT_READ;
}

/* Reads all of it into the places that `c` has. */
static enum br_checkpoint_verdict
take_all(struct reader r, struct br_checkpoint *c, int64_t from,
    const struct br_checkpoint_now *now)
{
	enum br_checkpoint_verdict v;

	c->runs = c->retries = 0;
	c->end = from;
	if (now->log_end < from)
		return BR_CHECKPOINT_BEYOND;
	v = take_runs(&r, c, now->log_end);
	return v == BR_CHECKPOINT_READ ? take_retries(&r, c, from, now) : v;
}

/* Once to count, once to keep. */
static struct br_checkpoint *
checkpoint_new(struct reader r, int64_t from,
    const struct br_checkpoint_now *now, enum br_checkpoint_verdict *verdict)
{
	struct br_checkpoint count = {0};
	struct br_checkpoint *c;

	*verdict = take_all(r, &count, from, now);
	if (*verdict != BR_CHECKPOINT_READ)
		return NULL;
	c = calloc(1, sizeof(*c) + count.runs * sizeof(*c->run) +
	        count.retries * sizeof(*c->retry));
	if (c == NULL)
		abort();
	c->run = (struct br_checkpoint_run *)(c + 1);
	c->retry = (struct br_checkpoint_retry *)(c->run + count.runs);
	(void)take_all(r, c, from, now);
	return c;
}

/* Cuts off what stands before the base64. */
static enum br_checkpoint_verdict
take_prefix(struct br_slice *text)
{
	size_t i = 2;

	if (text->len == 0 || text->data[0] == '\0')
		return BR_CHECKPOINT_NONE;
	if (text->len < i || memcmp(text->data, "ob", i) != 0)
		return BR_CHECKPOINT_FOREIGN;
	while (i < text->len && text->data[i] >= '0' && text->data[i] <= '9')
		i++;
	if (i == 2 || i == text->len || text->data[i] != '.')
		return BR_CHECKPOINT_FOREIGN;
	if (i + 1 != PREFIX_CHARS || memcmp(text->data, PREFIX, i) != 0)
		return BR_CHECKPOINT_VERSION;
	text->data += PREFIX_CHARS;
	text->len -= PREFIX_CHARS;
	return BR_CHECKPOINT_READ;
}

/* Are these bytes what was written for `id`? Then without the checksum. */
static enum br_checkpoint_verdict
take_crc(struct reader *r, const struct br_checkpoint_id *id)
{
	uint32_t written = 0;

	if (r->len <= CRC_BYTES)
		return BR_CHECKPOINT_DAMAGED;
	r->len -= CRC_BYTES;
	for (size_t i = 0; i < CRC_BYTES; i++)
		written = written << 8 | r->at[r->len + i];
	return br_crc32c(crc_of_id(id), r->at, r->len) == written
	           ? BR_CHECKPOINT_READ
	           : BR_CHECKPOINT_CHECKSUM;
}

struct br_checkpoint *
br_checkpoint_decode(const struct br_checkpoint_id *id,
    struct br_slice metadata, const struct br_checkpoint_now *now,
    enum br_checkpoint_verdict *verdict)
{
	struct br_checkpoint *c = NULL;
	struct reader r;
	uint8_t *bytes;

	*verdict = take_prefix(&metadata);
	if (*verdict == BR_CHECKPOINT_READ && id->offset < 0)
		*verdict = BR_CHECKPOINT_NONE;
	if (*verdict != BR_CHECKPOINT_READ)
		return NULL;
	/* One more than is allowed shows that it is too long. */
	if (metadata.len > BR_CHECKPOINT_MAX)
		metadata.len = BR_CHECKPOINT_MAX;
	metadata.len = br_base64_span(metadata.data, metadata.len);
	bytes = malloc(BR_BASE64_BYTES(metadata.len) + 1);
	if (bytes == NULL)
		abort();
	r = (struct reader){bytes,
	    br_base64_decode(metadata.data, metadata.len, bytes)};
	*verdict = metadata.len + PREFIX_CHARS > BR_CHECKPOINT_MAX ||
	                   r.len == SIZE_MAX
	               ? BR_CHECKPOINT_DAMAGED
	               : take_crc(&r, id);
	if (*verdict == BR_CHECKPOINT_READ)
		c = checkpoint_new(r, id->offset, now, verdict);
	free(bytes);
	return c;
}

void
br_checkpoint_free(struct br_checkpoint *c)
{
	free(c);
}

bool
br_checkpoint_settled(struct br_checkpoint *c, int64_t offset)
{
	if (c == NULL)
		return false;
	if (c->run_at > 0 && offset < c->run[c->run_at - 1].to)
		c->run_at = 0;
	while (c->run_at < c->runs && c->run[c->run_at].to <= offset)
		c->run_at++;
	return c->run_at < c->runs && c->run[c->run_at].from <= offset;
}

const struct br_checkpoint_retry *
br_checkpoint_retry(struct br_checkpoint *c, int64_t offset)
{
	if (c == NULL)
		return NULL;
	if (c->retry_at > 0 && offset <= c->retry[c->retry_at - 1].offset)
		c->retry_at = 0;
	while (
	    c->retry_at < c->retries && c->retry[c->retry_at].offset < offset)
		c->retry_at++;
	return c->retry_at < c->retries &&
	               c->retry[c->retry_at].offset == offset
	           ? &c->retry[c->retry_at]
	           : NULL;
}
