/* checkpoint_reader: metadata to checkpoint; see checkpoint.h. */
#include "bridge/core/checkpoint.h"

#include <stdlib.h>

#include "bridge/core/base64.h"
#include "bridge/core/crc32c.h"
#include "bridge/core/varint.h"
#include "checkpoint_format.h"

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

	if (step_s > BR_CHECKPOINT_DUE_MAX_S)
		return -1;
	due_s = (zigzag & 1) != 0 ? before_s - step_s - 1 : before_s + step_s;
	return due_s > 0 && due_s <= BR_CHECKPOINT_DUE_MAX_S ? due_s : -1;
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
	struct br_checkpoint_before b = {.next = from};
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
			c->retry[c->retries] =
			    (struct br_checkpoint_retry){.offset = b.next - 1,
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
	if (memcmp(text->data, BR_CHECKPOINT_PREFIX,
	        BR_CHECKPOINT_PREFIX_CHARS) != 0)
		return BR_CHECKPOINT_VERSION;
	text->data += BR_CHECKPOINT_PREFIX_CHARS;
	text->len -= BR_CHECKPOINT_PREFIX_CHARS;
	return BR_CHECKPOINT_READ;
}

/* Are these bytes what was written for `id`? Then without the checksum. */
static enum br_checkpoint_verdict
take_crc(struct reader *r, const struct br_checkpoint_id *id)
{
	uint32_t written = 0;

	if (r->len <= BR_CHECKPOINT_CRC_BYTES)
		return BR_CHECKPOINT_DAMAGED;
	r->len -= BR_CHECKPOINT_CRC_BYTES;
	for (size_t i = 0; i < BR_CHECKPOINT_CRC_BYTES; i++)
		written = written << 8 | r->at[r->len + i];
	return br_crc32c(br_checkpoint_crc(id), r->at, r->len) == written
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
	r = (struct reader){
	    bytes, br_base64_decode(metadata.data, metadata.len, bytes)};
	*verdict =
	    metadata.len + BR_CHECKPOINT_PREFIX_CHARS > BR_CHECKPOINT_MAX ||
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
br_checkpoint_tried(struct br_checkpoint *c, int64_t offset)
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
