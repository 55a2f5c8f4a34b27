/*
 * commit: watermarks with their checkpoints, see parts.h.
 *
 * One commit is under way at a time, for all partitions in which something
 * has changed; its reply comes as an event. What the metadata says beside
 * the offset is core/checkpoint's.
 */
#include "bridge/runtime/parts_internal.h"

#include <stdlib.h>

#include "bridge/base/clock.h"
#include "bridge/base/metrics.h"

/* Above so many characters of metadata commits come ten times rarer. */
#define SMALL_METADATA 256
/* Kafka's error for metadata above the broker's offset.metadata.max.bytes. */
#define METADATA_TOO_LARGE 12
/* How long a checkpoint of before is read at most without a commit. */
#define TAKE_OVER_MS 5000
/* A limit below this says nothing worth its bytes: no metadata then. */
#define LEAST_METADATA 64

bool
br_commit_needed(const struct br_parts *ps, const struct br_part *part)
{
	if (part->state == BR_PART_ASKING || !part->committed_known)
		return false;
	/* What the last owner wrote is not all taken over yet: a commit would
	 * forget the rest of it. Not for long. */
	if (part->checkpoint != NULL && part->state == BR_PART_READING &&
	    part->ledger.next < part->checkpoint->end &&
	    br_clock_mono_ms() < part->begun_ms + TAKE_OVER_MS)
		return false;
	if (br_ledger_watermark(&part->ledger) != part->committed)
		return true;
	/* The offset stands, but above it something was settled or tried. */
	return ps->checkpoint_limit != 0 && part->ledger.open != 0 &&
	       (part->settled != part->written[0] ||
	           br_pool_part_failures(ps->pool, part->sched) !=
	               part->written[1]);
}

/* Room for the largest checkpoint, made when the first one is written. */
static void
make_room(struct br_parts *ps)
{
	size_t retries = br_checkpoint_retries_max(ps->checkpoint_limit);

	if (ps->metadata != NULL)
		return;
	ps->metadata = malloc(
	    ps->checkpoint_limit + (retries + 1) * sizeof(*ps->retry) + 16);
	if (ps->metadata == NULL)
		abort();
	/* Behind the text, where it is aligned. */
	ps->retry =
	    (void *)(ps->metadata + (ps->checkpoint_limit + 15) / 16 * 16);
}

/* Adds a partition with its watermark and checkpoint; the length of it. */
static size_t
add(struct br_parts *ps, struct br_part *part, struct br_positions *list)
{
	struct br_checkpoint_id id = {
	    .group = ps->config->kafka.group,
	    .topic = part->topic,
	    .partition = part->partition,
	    .offset = br_ledger_watermark(&part->ledger),
	};
	struct br_position *pos =
	    br_positions_add(list, part->topic, part->partition, id.offset);
	size_t tried, len;

	part->sent[0] = part->settled;
	part->sent[1] = 0;
	if (ps->checkpoint_limit == 0)
		return 0;
	tried = br_pool_collect(ps->pool, part->sched, &part->ledger, ps->retry,
	    br_checkpoint_retries_max(ps->checkpoint_limit), part->resumed,
	    &part->sent[1]);
	len = br_checkpoint_encode(&id, &part->ledger, ps->retry, tried,
	    ps->checkpoint_limit, ps->metadata);
	if (len == 0)
		return 0;
	pos->metadata = malloc(len + 1);
	if (pos->metadata == NULL)
		abort();
	memcpy(pos->metadata, ps->metadata, len);
	pos->metadata[len] = '\0';
	pos->metadata_len = len;
	return len;
}

/* Everything that needs it, or NULL; says when the next commit may come. */
static struct br_positions *
compose(struct br_parts *ps, int64_t now_ms)
{
	int64_t interval_ms = ps->config->kafka.commit_interval_ms;
	struct br_positions *list;
	size_t count = 0, largest = 0;

	for (struct br_part *part = ps->first; part != NULL; part = part->next)
		count += br_commit_needed(ps, part);
	ps->commit_ms = now_ms + interval_ms;
	if (count == 0)
		return NULL;
	make_room(ps);
	list = br_positions_new(count);
	for (struct br_part *part = ps->first; part != NULL;
	     part = part->next) {
		size_t len;

		if (!br_commit_needed(ps, part))
			continue;
		len = add(ps, part, list);
		largest = len > largest ? len : largest;
	}
	if (largest > SMALL_METADATA)
		ps->commit_ms = now_ms + 10 * interval_ms;
	return list;
}

static void
commit(struct br_parts *ps, int64_t now_ms)
{
	struct br_positions *list = compose(ps, now_ms);
	struct br_error err;

	if (list == NULL)
		return;
	ps->commit_refused = false;
	if (!br_consumer_commit(ps->consumer, list, &ps->commit_ticket, &err)) {
		ps->commit_refused = true;
		br_metric_add(BR_M_COMMIT_ERRORS, 1);
		BR_LOG_LIMITED(BR_WARN, "commit", "commit failed",
		    br_kv_str("because", err.text));
		br_positions_free(list);
		return;
	}
	ps->committing = list;
	ps->commit_until_ms = now_ms + BR_COMMIT_REPLY_MS;
}

static void
committed_one(struct br_parts *ps, const struct br_position *pos)
{
	struct br_part *part = br_parts_find(ps, pos->topic, pos->partition);

	/* Of an older epoch when its watermark does not reach there. */
	if (part == NULL || pos->offset > br_ledger_watermark(&part->ledger))
		return;
	part->committed = pos->offset;
	part->written[0] = part->sent[0];
	part->written[1] = part->sent[1];
	if (part->state == BR_PART_STARTING)
		br_start_read(ps, part);
}

/* The broker takes less metadata: half of it from now on, at once. */
static void
shrink(struct br_parts *ps)
{
	ps->checkpoint_limit /= 2;
	if (ps->checkpoint_limit < LEAST_METADATA)
		ps->checkpoint_limit = 0;
	ps->commit_ms = 0;
	BR_LOG(BR_WARN, "commit metadata refused as too large",
	    br_kv_int("next_limit", (int64_t)ps->checkpoint_limit),
	    br_kv_str("hint", "the broker's offset.metadata.max.bytes is below "
	                      "kafka.checkpoint_bytes"));
}

void
br_commit_reply(struct br_parts *ps, const struct br_kafka_event *ev)
{
	int error = ev->error;

	if (ps->committing == NULL || ev->ticket != ps->commit_ticket)
		return;
	for (size_t i = 0; ev->positions != NULL && i < ev->positions->count;
	     i++) {
		const struct br_position *pos = &ev->positions->item[i];

		if (ev->error == 0 && pos->error == 0)
			committed_one(ps, pos);
		else if (error == 0)
			error = pos->error;
	}
	if (error == 0)
		br_metric_add(BR_M_COMMITS, 1);
	else if (error == METADATA_TOO_LARGE && ps->checkpoint_limit != 0)
		shrink(ps);
	else {
		ps->commit_refused = true;
		br_metric_add(BR_M_COMMIT_ERRORS, 1);
		BR_LOG_LIMITED(BR_WARN, "commit", "commit failed",
		    br_kv_str("because", ev->text),
		    br_kv_str("next", "again with the newest offsets"));
	}
	br_positions_free(ps->committing);
	ps->committing = NULL;
}

void
br_commit_step(struct br_parts *ps, int64_t now_ms)
{
	/* Not after a refusal: that would be a loop at the network's speed. */
	bool hurry =
	    (ps->revoked != NULL || ps->shutting_down) && !ps->commit_refused;

	if (ps->committing != NULL) {
		if (now_ms < ps->commit_until_ms)
			return;
		/* No answer: give it up and send the newest offsets. */
		br_metric_add(BR_M_COMMIT_ERRORS, 1);
		BR_LOG_LIMITED(BR_WARN, "commit", "commit not answered",
		    br_kv_int("waited_ms", BR_COMMIT_REPLY_MS));
		br_positions_free(ps->committing);
		ps->committing = NULL;
	}
	if ((now_ms >= ps->commit_ms || hurry) &&
	    !br_consumer_joining(ps->consumer, ps->revoked != NULL))
		commit(ps, now_ms);
}
