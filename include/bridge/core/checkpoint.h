/*
 * checkpoint: what the commit metadata of a partition says beyond the offset
 * that is committed: which events above it are settled, and how often and
 * until when unfinished ones have been tried. Pure; a checkpoint belongs to
 * the thread that reads it (the Kafka thread).
 *
 * Keeps true: it never says settled of an event that was open when it was
 * written. What does not fit is open again, which costs duplicates and no
 * event. What is not exactly what this module wrote for this group, topic,
 * partition and offset is ignored as a whole.
 *
 *     "ob1." + base64 without padding of
 *         (open, settled)*   lengths of the runs from the committed offset,
 *                            which is open, in turn; each at least 1
 *         0                  only when something follows
 *         (gap, attempts, due)*
 *                            by offset; gap is its offset less the lowest
 *                            that it can have (at first the committed one,
 *                            then the one after the entry before); due 0 is
 *                            none, else 1 + zigzag of the Unix seconds less
 *                            those of the last one that had some (at first
 *                            0)
 *         CRC-32C            four bytes, the highest first, over group, NUL,
 *                            topic, NUL, partition (four bytes), offset
 *                            (eight), and the bytes above
 *
 * All numbers but the CRC and what goes into it are varints.
 */
#ifndef BRIDGE_CORE_CHECKPOINT_H
#define BRIDGE_CORE_CHECKPOINT_H

#include "bridge/base/slice.h"
#include "bridge/core/ledger.h"

/* No metadata is written, or looked at, that has more characters. */
#define BR_CHECKPOINT_MAX 65536

/* What the metadata belongs to. */
struct br_checkpoint_id {
	const char *group, *topic;
	int32_t partition;
	int64_t offset; /* committed with it */
};

/* What has been tried of one unfinished event. */
struct br_checkpoint_retry {
	int64_t offset;
	uint32_t attempts;  /* that count; 0: it only waits */
	int64_t due_unix_s; /* next attempt; 0: as soon as possible */
};

/* Settled: from <= offset < to. */
struct br_checkpoint_run {
	int64_t from, to;
};

/* ---- writing */

/*
 * How many entries of struct br_checkpoint_retry can fit at most into
 * metadata of `limit` characters: more need not be collected.
 */
size_t br_checkpoint_retries_max(size_t limit);

/*
 * Says what has been tried of an open event: fills attempts and due time.
 * An attempt that is under way is better left out: a crash would count it.
 */
typedef void (*br_checkpoint_ask)(
    void *opaque, const struct br_ref *ref, struct br_checkpoint_retry *retry);

/*
 * Collects, by offset, up to `max` open events that have been tried and
 * returns how many. Calls `ask` for those with attempts of either kind only;
 * one that it leaves at 0 is left out. To be called under the lock that
 * guards br_ref.attempts; walks all open references in the worst case.
 */
size_t br_checkpoint_collect(const struct br_ledger *l, br_checkpoint_ask ask,
    void *opaque, struct br_checkpoint_retry *retry, size_t max);

/*
 * Writes the metadata to commit with id->offset, which must be the ledger's
 * watermark (aborts otherwise), and returns its length, at most `limit`;
 * 0 when there is nothing to say or no room to say it: commit none.
 *
 * `retry` is in the order of offsets; what is not, lies outside of the ledger,
 * or has neither attempts nor due time is left out. The retries take up to a
 * quarter of the room, from the lowest offset; the runs take the rest, from
 * the lowest offset. Reads nothing of a reference but its offset and its place
 * in the ledger, and stops at the first run that does not fit. `out` has room
 * for `limit` characters; no NUL is added.
 */
size_t br_checkpoint_encode(const struct br_checkpoint_id *id,
    const struct br_ledger *l, const struct br_checkpoint_retry *retry,
    size_t retries, size_t limit, char *out);

/* ---- reading */

enum br_checkpoint_verdict {
	BR_CHECKPOINT_READ,
	/* ignored, because */
	BR_CHECKPOINT_NONE,     /* there is none */
	BR_CHECKPOINT_FOREIGN,  /* not ours at all */
	BR_CHECKPOINT_VERSION,  /* of another version of this program */
	BR_CHECKPOINT_CHECKSUM, /* damaged, or of another group, topic,
	                         * partition or offset */
	BR_CHECKPOINT_DAMAGED,  /* not well-formed */
	BR_CHECKPOINT_BEYOND    /* the log ends before it: it was cut */
};

/* For a person: static. */
const char *br_checkpoint_verdict_text(enum br_checkpoint_verdict v);

/* What is known when it is read. */
struct br_checkpoint_now {
	int64_t log_end; /* first offset that the log does not have yet; -1 is
	                  * unknown: nothing is believed then */
	int64_t unix_s;
	int64_t wait_max_s; /* a due time is at most so far away */
};

/* Both arrays are in the order of offsets, and all of it is at or above the
 * committed offset. A settled event may have a retry; it means nothing. */
struct br_checkpoint {
	size_t runs, retries;
	struct br_checkpoint_run *run;
	struct br_checkpoint_retry *retry;
	int64_t end;             /* nothing is known of this and above */
	size_t run_at, retry_at; /* where the look-ups are */
};

/*
 * Reads metadata that was found beside id->offset. It need not end with a
 * NUL, and whatever stands after the first byte that cannot be of it means
 * nothing. Returns NULL and why it is ignored in `*verdict`. Takes at most
 * seven times the metadata's length in memory, and none for more than
 * BR_CHECKPOINT_MAX characters. Free it with br_checkpoint_free.
 */
struct br_checkpoint *br_checkpoint_decode(const struct br_checkpoint_id *id,
    struct br_slice metadata, const struct br_checkpoint_now *now,
    enum br_checkpoint_verdict *verdict);

/* NULL is fine. */
void br_checkpoint_free(struct br_checkpoint *c);

/*
 * Is this offset settled? What has been tried of it (NULL: nothing known;
 * valid until the checkpoint is freed)? With `c` NULL nothing is known. Each
 * takes constant time on average while offsets rise; a lower one than the
 * last makes it look from the beginning again.
 */
bool br_checkpoint_settled(struct br_checkpoint *c, int64_t offset);
const struct br_checkpoint_retry *br_checkpoint_tried(
    struct br_checkpoint *c, int64_t offset);

#endif
