/* world_commit: watermarks with their checkpoints, as runtime/commit.c and
 * the Kafka thread's side of runtime/pool send them. */
#include "world_instance.h"

#include <stdlib.h>
#include <string.h>

/* Above so many characters of metadata commits come ten times rarer. */
#define SMALL_METADATA 256
#define LEAST_METADATA 64
#define RETRIES 1200
/* What one more run of a checkpoint could take, in characters. */
#define RUN_CHARS 32
/* So many entries of at most 15 bytes fit into a quarter of `limit`. */
#define FITTING(limit) ((limit) / 4 * 3 / 4 / 15)

bool
commit_needed(
    const struct world *w, const struct instance *in, const struct part *p)
{
	if (p->state == PART_ASKING || !p->committed_known)
		return false;
	if (p->checkpoint != NULL && p->state == PART_READING &&
	    p->ledger.next < p->checkpoint->end &&
	    w->now_ms < p->begun_ms + TAKE_OVER_MS &&
	    !planted("checkpoint-at-once"))
		return false;
	if (br_ledger_watermark(&p->ledger) != p->committed)
		return true;
	return in->checkpoint_limit != 0 && p->ledger.open != 0 &&
	       (p->settled != p->written[0] ||
	           br_sched_part_failures(p->sched) != p->written[1]);
}

static void
ask_tried(
    void *opaque, const struct br_ref *ref, struct br_checkpoint_retry *retry)
{
	const struct world *w = opaque;
	int64_t due_ms;

	if (!br_sched_tried(ref, &retry->attempts, &due_ms) ||
	    due_ms <= w->now_ms)
		return;
	retry->due_unix_s = (due_ms + 999) / 1000;
}

static void
plant_offset(const struct part *p, struct commit_entry *e)
{
	if (planted("commit-next"))
		e->offset = p->ledger.next;
	else if (planted("commit-one-more") && p->ledger.open != 0)
		e->offset++;
}

/* Adds a partition with its watermark and checkpoint; the length of it. */
static size_t
add(struct world *w, struct instance *in, struct part *p,
    struct commit_entry *e)
{
	static char text[BR_CHECKPOINT_MAX];
	static struct br_checkpoint_retry retry[RETRIES];
	size_t limit = in->checkpoint_limit, tried = 0, most;
	struct br_checkpoint_id id = {
	    .group = "g",
	    .topic = "t",
	    .partition = p->number,
	    .offset = br_ledger_watermark(&p->ledger),
	};

	e->part = p->number;
	e->offset = id.offset;
	p->sent[0] = p->settled;
	p->sent[1] = 0;
	if (limit != 0) {
		most = br_checkpoint_retries_max(limit);
		p->sent[1] = br_sched_part_failures(p->sched);
		if (most > RETRIES)
			most = RETRIES;
		if (p->sent[1] != 0 || p->resumed)
			tried = br_checkpoint_collect(
			    &p->ledger, ask_tried, w, retry, most);
		e->len = br_checkpoint_encode(
		    &id, &p->ledger, retry, tried, limit, text);
		e->metadata = world_alloc(e->len + 1);
		memcpy(e->metadata, text, e->len);
	}
	e->cover = check_composed(w, p->epoch, p->ledger.next, id.offset,
	    e->len + RUN_CHARS < limit, limit != 0 && tried <= FITTING(limit));
	plant_offset(p, e);
	return e->len;
}

static struct commit *
compose(struct world *w, struct instance *in)
{
	struct commit *c;
	size_t count = 0, largest = 0;

	for (struct part *p = in->first; p != NULL; p = p->next)
		count += commit_needed(w, in, p);
	in->commit_ms = w->now_ms + w->rules->commit_interval_ms;
	if (count == 0)
		return NULL;
	c = world_alloc(sizeof(*c));
	for (struct part *p = in->first; p != NULL; p = p->next) {
		size_t len;

		if (!commit_needed(w, in, p))
			continue;
		len = add(w, in, p, &c->entry[c->count++]);
		largest = len > largest ? len : largest;
	}
	if (largest > SMALL_METADATA)
		in->commit_ms = w->now_ms + 10 * w->rules->commit_interval_ms;
	return c;
}

static void
shrink_metadata(struct instance *in)
{
	if (planted("never-smaller"))
		return;
	in->checkpoint_limit /= 2;
	if (in->checkpoint_limit < LEAST_METADATA)
		in->checkpoint_limit = 0;
	in->commit_ms = 0;
}

static void
committed_one(struct instance *in, const struct commit_entry *e)
{
	struct part *p = part_find(in, e->part);

	if (p == NULL || e->offset > br_ledger_watermark(&p->ledger))
		return;
	p->committed = e->offset;
	p->written[0] = p->sent[0];
	p->written[1] = p->sent[1];
	if (p->state == PART_STARTING)
		p->state = PART_READING;
}

void
commit_reply(struct world *w, struct instance *in, struct commit *c)
{
	(void)w;
	if (in->committing == 0 || in->committing != c->ticket)
		return;
	in->committing = 0;
	if (c->error == 0)
		for (size_t i = 0; i < c->count; i++)
			committed_one(in, &c->entry[i]);
	else if (c->error == ERROR_METADATA && in->checkpoint_limit != 0)
		shrink_metadata(in);
	else
		in->commit_refused = true;
}

void
commit_step(struct world *w, struct instance *in)
{
	bool hurry = (in->revoking || in->stopping) && !in->commit_refused;
	struct commit *c;

	if (in->committing != 0) {
		if (w->now_ms < in->commit_until_ms ||
		    planted("waits-for-ever"))
			return;
		in->committing = 0;
	}
	if (w->now_ms < in->commit_ms && !hurry)
		return;
	c = compose(w, in);
	if (c == NULL)
		return;
	in->commit_refused = false;
	c->ticket = in->committing = ++in->tickets;
	c->generation = in->generation;
	c->member = in->member;
	c->task.instance = in->index;
	c->task.life = in->life;
	in->commit_until_ms = w->now_ms + COMMIT_REPLY_MS;
	cluster_commit(w, c);
}
