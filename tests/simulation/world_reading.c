/* world_reading: records into the engine, as runtime/reading.c and intake.c
 * take them. */
#include "world_instance.h"

#include <string.h>

/* Records read at once of a partition, … */
#define BATCH 8
/* … and bytes, as a part of the buffer. */
#define BATCH_SHARE 32
#define BATCHES 8

static const char *const targets[WORLD_TARGETS] = {
    "https://a.test:443", "https://b.test:443", "http://c.test:80"};

static struct item *
make_item(const struct record *rec, struct part *p, size_t index)
{
	const struct happening *h = rec->what;
	struct item *item = world_alloc(sizeof(*item));

	if (h->key >= 2) {
		memcpy(item->key, &h->key, sizeof(h->key));
		item->event.order_key = (struct br_slice){
		    (const uint8_t *)item->key, sizeof(item->key)};
	} else if (h->key == 1)
		item->event.order_key = br_slice_str("");
	item->event.record.offset = rec->offset;
	item->event.record.timestamp_ms = (int64_t)h->salt; /* its identity */
	item->event.target = targets[h->target];
	item->event.route = receiver_route(h) == 1 ? "one" : "";
	item->event.event_type = h->salt % 5 == 0 ? "five" : NULL;
	item->event.max_attempts = h->max_attempts;
	if (h->fate == FATE_UNSENDABLE)
		item->event.reason = "missing-id";
	item->part = p;
	item->index = index;
	item->ref.offset = rec->offset;
	item->ref.part = p->sched;
	item->ref.bytes = h->bytes;
	item->ref.event = &item->event;
	return item;
}

static bool
known_settled(struct part *p, int64_t offset)
{
	if (p->checkpoint == NULL)
		return false;
	if (offset >= p->checkpoint->end) {
		br_checkpoint_free(p->checkpoint);
		p->checkpoint = NULL;
		return false;
	}
	return br_checkpoint_settled(p->checkpoint, offset) &&
	       !planted("settled-forgotten");
}

static void
resume(const struct world *w, struct part *p, struct item *item)
{
	const struct br_checkpoint_retry *tried =
	    br_checkpoint_tried(p->checkpoint, item->ref.offset);
	uint32_t most = item->event.max_attempts - 1;
	int64_t wait_ms;

	if (tried == NULL)
		return;
	p->resumed = true;
	if (!planted("attempts-forgotten"))
		item->ref.attempts =
		    tried->attempts < most ? tried->attempts : most;
	wait_ms = tried->due_unix_s * 1000 - w->now_ms;
	if (tried->due_unix_s != 0 && wait_ms > 0 && !planted("due-forgotten"))
		item->ref.due_ms = w->now_ms + wait_ms;
}

/* Its bytes, if it is an event that is open now. */
static size_t
take_record(struct world *w, struct instance *in, struct part *p, size_t index)
{
	const struct record *rec = &w->log[p->number].record[index];
	struct item *item;

	if (known_settled(p, rec->offset) || rec->what->fate == FATE_SKIP) {
		br_ledger_pass(&p->ledger, rec->offset + 1);
		return 0;
	}
	item = make_item(rec, p, index);
	resume(w, p, item);
	br_ledger_open(&p->ledger, &item->ref);
	p->out++;
	br_sched_put(in->sched, &item->ref, w->now_ms);
	return item->ref.bytes;
}

static uint64_t
open_bytes(const struct instance *in)
{
	uint64_t open = 0;

	for (const struct part *p = in->first; p != NULL; p = p->next)
		open += p->ledger.open_bytes;
	for (const struct part *p = in->gone; p != NULL; p = p->next)
		open += p->ledger.open_bytes;
	return open;
}

/* So many bytes may be read now. */
static uint64_t
room(const struct world *w, struct instance *in)
{
	uint64_t open = open_bytes(in);
	uint64_t share = w->rules->buffer_bytes / 4 * 3;
	uint64_t most = w->rules->buffer_bytes / BATCH_SHARE;

	if (open >= share)
		in->full = true;
	else if (open < share / 8 * 7)
		in->full = false;
	if (planted("reads-on"))
		return most;
	if (in->full)
		return 0;
	return share - open < most ? share - open : most;
}

static size_t
first_at_or_above(const struct log *log, int64_t offset)
{
	size_t low = 0, high = log->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (log->record[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* One batch; true: there may be more. */
static bool
read_part(struct world *w, struct instance *in, struct part *p)
{
	const struct log *log = &w->log[p->number];
	size_t at = first_at_or_above(log, p->ledger.next);
	uint64_t limit = w->rules->open_per_partition;
	uint64_t most = room(w, in), taken = 0;

	p->paused = p->paused ? p->ledger.open > limit / 4 * 3
	                      : p->ledger.open >= limit;
	if (most == 0 || (p->paused && !planted("never-pauses")))
		return false;
	for (int n = 0; n < BATCH && taken < most && at < log->count; n++)
		taken += take_record(w, in, p, at++);
	if (at < log->count)
		return true;
	if (!planted("end-not-passed"))
		br_ledger_pass(&p->ledger, log->end);
	return false;
}

void
parts_read(struct world *w, struct instance *in)
{
	bool more = true;

	for (int i = 0; i < BATCHES && more; i++) {
		more = false;
		for (struct part *p = in->first; p != NULL; p = p->next)
			if (p->state == PART_READING)
				more |= read_part(w, in, p);
	}
	if (more)
		instance_wake(w, in);
}
