/* reading: see the header. */
#include "bridge/runtime/reading.h"

#include <stdlib.h>

#include "bridge/base/clock.h"
#include "bridge/base/metrics.h"
#include "bridge/runtime/intake.h"
#include "bridge/runtime/refill.h"
#include "bridge/runtime/watch.h"

#define BATCH 256
/* … of so many bytes, as a part of the buffer. */
#define BATCH_SHARE 32
/* Reading goes on for so many batches before the loop looks around. */
#define BATCHES 8

struct br_reading {
	const struct br_config *config;
	struct br_consumer *consumer;
	struct br_parts *parts;
	struct br_pool *pool;
	struct br_intake *intake;
	struct br_registry *registry; /* NULL: none */
	struct br_refill refill;
	struct br_pressure *pressure;
	uint64_t open; /* bytes of open events */
	struct br_watch *watch;
	bool more;  /* the record queue may hold something */
	bool full;  /* back-pressure: nothing is read */
	bool sated; /* every worker has enough to do */
};

struct br_reading *
br_reading_new(const struct br_config *config, struct br_consumer *consumer,
    struct br_parts *parts, struct br_pool *pool, struct br_pressure *pressure,
    struct br_error *err)
{
	struct br_reading *r = calloc(1, sizeof(*r));

	if (r == NULL)
		abort();
	r->config = config;
	r->consumer = consumer;
	r->parts = parts;
	r->pool = pool;
	r->pressure = pressure;
	r->more = true;
	r->intake = br_intake_new(config, err);
	if (r->intake == NULL) {
		free(r);
		return NULL;
	}
	r->watch = br_watch_new();
	return r;
}

void
br_reading_free(struct br_reading *r)
{
	if (r == NULL)
		return;
	br_intake_free(r->intake);
	br_watch_free(r->watch);
	free(r);
}

void
br_reading_use(struct br_reading *r, struct br_registry *registry)
{
	r->registry = registry;
	br_intake_use(r->intake, registry);
}

void
br_reading_wake(struct br_reading *r)
{
	r->more = true;
}

bool
br_reading_full(const struct br_reading *r)
{
	return r->full;
}

/* An event whose URL may not be used until a line of configuration says so:
 * its partition waits; a DLQ full of good events would be worse. */
static void
hold_for_url(struct br_reading *r, struct br_part *part,
    const struct br_record *record, const char *host)
{
	struct br_error why;

	(void)br_fail(&why,
	    "topic %s partition %d waits at offset %lld: the event names %s "
	    "and delivery.event_urls is empty; add delivery.event_urls = "
	    "[ \"%s\" ], or delivery.event_url = \"ignore\", and restart",
	    record->topic, (int)record->partition, (long long)record->offset,
	    host, host);
	br_parts_hold(r->parts, part, why.text);
}

/* Was it settled before a restart? */
static bool
known_settled(struct br_part *part, int64_t offset)
{
	if (part->checkpoint == NULL)
		return false;
	if (offset >= part->checkpoint->end) {
		br_checkpoint_free(part->checkpoint);
		part->checkpoint = NULL;
		return false;
	}
	return br_checkpoint_settled(part->checkpoint, offset);
}

/* Goes on where the last owner stood: its attempts, and its wait. The last
 * attempt is left for us, since its outcome is not known. */
static void
resume(struct br_part *part, struct br_ref *ref)
{
	const struct br_checkpoint_retry *tried =
	    br_checkpoint_tried(part->checkpoint, ref->offset);
	uint32_t most = ref->event->max_attempts - 1;
	int64_t wait_ms;

	if (tried == NULL)
		return;
	part->resumed = true;
	ref->attempts = tried->attempts < most ? tried->attempts : most;
	wait_ms = tried->due_unix_s * 1000 - br_clock_wall_ms();
	if (tried->due_unix_s != 0 && wait_ms > 0)
		ref->due_ms = br_clock_mono_ms() + wait_ms;
}

/* One record; true when `*ref` is to be put. */
static bool
take_record(
    struct br_reading *r, const struct br_record *record, struct br_ref **ref)
{
	struct br_part *part =
	    br_parts_find(r->parts, record->topic, record->partition);
	char host[300];

	if (part == NULL || part->state != BR_PART_READING)
		return false;
	br_metric_add(BR_M_RECORDS, 1);
	/* Already seen: a resumed or moved position may repeat. */
	if (record->offset < part->ledger.next)
		return false;
	if (part->first_start)
		br_parts_first(part, record);
	if (known_settled(part, record->offset)) {
		br_ledger_pass(&part->ledger, record->offset + 1);
		return false;
	}
	switch (br_intake_take(
	    r->intake, record, part->sched, ref, host, sizeof(host))) {
	case BR_INTAKE_EVENT:
		resume(part, *ref);
		br_parts_opened(part, *ref);
		return true;
	case BR_INTAKE_SKIP:
		br_ledger_pass(&part->ledger, record->offset + 1);
		break;
	case BR_INTAKE_HOLD:
		hold_for_url(r, part, record, host);
		break;
	case BR_INTAKE_WAIT:
		br_parts_hold_schema(r->parts, part, record->offset,
		    br_intake_schema(r->intake));
		break;
	}
	return false;
}

/*
 * Nothing is read while the open events fill their share of the buffer, nor
 * while 1/32 of it is enough to keep every worker busy: what waits in
 * librdkafka's queue instead is not held in memory twice, and the queue is
 * emptied as evenly as it is filled.
 */
static bool
has_room(struct br_reading *r)
{
	uint64_t open = br_parts_open_bytes(r->parts);
	uint64_t buffer = (uint64_t)r->config->limits.buffer_bytes;
	uint64_t share = br_pressure_share(r->config);

	r->open = open;
	if (open >= share)
		r->full = true;
	else if (open < share / 8 * 7)
		r->full = false;
	br_metric_set(BR_M_BUFFER_BYTES, (int64_t)open);
	if (r->full)
		return false;
	r->sated =
	    open >= buffer / (r->sated ? 128 : 32) && br_pool_busy(r->pool);
	return !r->sated;
}

/*
 * Reads until the batch is full. One record at a time, since nobody knows how
 * large the next one is: what is read is at most one record more than there
 * is room for, and one that is larger than the buffer passes alone.
 */
static void
read_batch(struct br_reading *r, int64_t now_ms)
{
	uint64_t room = br_pressure_share(r->config) - r->open, taken = 0;
	uint64_t most = (uint64_t)r->config->limits.buffer_bytes / BATCH_SHARE;
	struct br_ref *refs[BATCH];
	struct br_read read;
	size_t made = 0;

	most = room < most ? room : most;
	for (int i = 0; i < BATCH && taken < most; i++) {
		if (br_consumer_read(r->consumer, &read, 1) == 0) {
			r->more = i != 0;
			break;
		}
		if (read.kind == BR_READ_RECORD) {
			if (take_record(r, &read.record, &refs[made]))
				taken += refs[made++]->bytes;
			continue;
		}
		/* A fault may end the epoch that they belong to. */
		if (made != 0)
			br_pool_put(r->pool, refs, made);
		made = 0;
		br_parts_read(r->parts, &read, now_ms);
	}
	br_consumer_release(r->consumer);
	if (made != 0)
		br_pool_put(r->pool, refs, made);
	if (!r->more)
		br_refill_empty(&r->refill, r->parts, r->consumer, now_ms);
}

void
br_reading_pass(struct br_reading *r, int64_t now_ms)
{
	if (r->registry != NULL)
		br_parts_release_schemas(r->parts, r->registry);
	for (int i = 0; i < BATCHES && has_room(r) && r->more; i++) {
		read_batch(r, now_ms);
		br_parts_throttle(r->parts);
	}
	if (r->full)
		br_pressure_relieve(r->pressure, r->open, now_ms);
	/* Where events have become fewer, also when nothing was read. */
	br_parts_throttle(r->parts);
	br_watch_step(
	    r->watch, r->parts, !r->more && !r->full && !r->sated, now_ms);
}

bool
br_reading_answer(
    struct br_reading *r, const struct br_kafka_event *ev, int64_t now_ms)
{
	return br_refill_answer(&r->refill, ev, now_ms) ||
	       br_watch_answer(r->watch, ev);
}

bool
br_reading_wants(struct br_reading *r)
{
	return r->more && has_room(r);
}

const char *
br_reading_stuck(struct br_reading *r)
{
	return br_watch_why(r->watch);
}
