/* world_parts: partitions of a bridge, as runtime/parts.c and start.c see to
 * them. Commits stand in world_commit.c, records in world_reading.c. */
#include "world_instance.h"

#include <stdlib.h>
#include <string.h>

#define ASK_AGAIN_MS 1000

struct part *
part_find(struct instance *in, int number)
{
	for (struct part *p = in->first; p != NULL; p = p->next)
		if (p->number == number)
			return p;
	return NULL;
}

static void
add_part(struct instance *in, int number)
{
	struct part *p = world_alloc(sizeof(*p));

	p->number = number;
	p->committed = -1;
	p->sched = br_sched_part_open(in->sched, p);
	p->next = in->first;
	in->first = p;
}

static void
part_free(struct part *p)
{
	struct br_ref *ref;

	while ((ref = p->ledger.first) != NULL) {
		br_ledger_settle(&p->ledger, ref);
		free(ref);
	}
	br_sched_part_free(p->sched);
	br_checkpoint_free(p->checkpoint);
	free(p);
}

static void
retire(struct instance *in, struct part *p)
{
	struct part **at = &in->first;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	p->state = PART_GONE;
	if (p->out == 0) {
		part_free(p);
		return;
	}
	p->next = in->gone;
	in->gone = p;
}

void
parts_free(struct instance *in)
{
	while (in->first != NULL)
		retire(in, in->first);
	/* What is gone went with its last event. */
	if (in->gone != NULL)
		abort();
}

/* ---- beginning */

static bool
still_out(const struct instance *in, const struct part *p)
{
	if (planted("epochs-beside") || planted("late-settles-new"))
		return false;
	for (const struct part *old = in->gone; old != NULL; old = old->next)
		if (old->number == p->number)
			return true;
	return false;
}

static void
ask_starts(struct world *w, struct instance *in)
{
	for (struct part *p = in->first; p != NULL; p = p->next) {
		if (p->state != PART_ASKING || p->ticket != 0 ||
		    w->now_ms < p->asked_ms || still_out(in, p))
			continue;
		p->ticket = ++in->tickets;
		cluster_ask(w, in->index, p->number, p->ticket);
	}
}

static void
read_checkpoint(const struct world *w, struct part *p, const struct ask *a)
{
	struct br_checkpoint_id id = {
	    .group = "g",
	    .topic = "t",
	    .partition = p->number,
	    .offset = a->offset,
	};
	struct br_checkpoint_now now = {
	    .log_end = a->high,
	    .unix_s = w->now_ms / 1000,
	    .wait_max_s = 3600 * 2,
	};
	enum br_checkpoint_verdict verdict;

	p->checkpoint = br_checkpoint_decode(&id,
	    (struct br_slice){(const uint8_t *)a->metadata, a->len}, &now,
	    &verdict);
	say(w, "… and the checkpoint: %s", br_checkpoint_verdict_text(verdict));
}

void
parts_answer(struct world *w, struct instance *in, struct ask *a)
{
	struct part *p = in->first;

	while (p != NULL && p->ticket != a->ticket)
		p = p->next;
	if (p == NULL || p->state != PART_ASKING) {
		check_epoch_end(w, a->epoch, CAUSE_NONE);
		return;
	}
	p->ticket = 0;
	if (a->failed) {
		p->asked_ms = w->now_ms + ASK_AGAIN_MS;
		return;
	}
	say(w, "bridge %d begins partition %d at %lld", in->index, p->number,
	    (long long)a->offset);
	p->epoch = a->epoch;
	p->committed_known = true;
	p->committed = a->offset;
	p->state = PART_READING;
	p->begun_ms = w->now_ms;
	if (a->offset >= 0) {
		br_ledger_init(&p->ledger, a->offset);
		read_checkpoint(w, p, a);
		return;
	}
	br_ledger_init(&p->ledger, 0);
	p->state = PART_STARTING;
	in->commit_ms = 0;
}

/* ---- giving up */

static void
close_part(const struct world *w, struct instance *in, struct part *p)
{
	if (p->state == PART_CLOSING)
		return;
	p->state = PART_CLOSING;
	br_sched_part_close(in->sched, p->sched, w->now_ms);
	in->changed = true;
}

static void
unassign(struct world *w, struct instance *in)
{
	unsigned parts = in->revoked;

	in->revoking = false;
	in->revoked = 0;
	for (int i = 0; i < w->rules->parts; i++) {
		struct part *p = part_find(in, i);

		if ((parts & 1u << i) == 0 || p == NULL)
			continue;
		/* Planted: it goes on until here, and is cut. */
		if (p->state != PART_CLOSING)
			close_part(w, in, p);
		retire(in, p);
	}
	group_given_up(w, in->index, in->question);
}

static void
revoke(struct world *w, struct instance *in, const struct notice *n)
{
	bool lost = n->kind == NOTICE_LOST;

	say(w, "bridge %d: partitions %x %s", in->index, n->parts,
	    lost ? "lost" : "revoked");
	in->revoking = true;
	in->revoked = n->parts;
	in->question = n->question;
	in->revoke_until_ms = w->now_ms + w->rules->revoke_wait_ms;
	for (int i = 0; i < w->rules->parts; i++) {
		struct part *p = part_find(in, i);

		if ((n->parts & 1u << i) == 0 || p == NULL)
			continue;
		check_epoch_end(w, p->epoch, lost ? CAUSE_LOST : CAUSE_REVOKE);
		if (!planted("revoke-goes-on"))
			close_part(w, in, p);
	}
	if (lost && !planted("lost-commits"))
		unassign(w, in);
}

void
parts_notice(struct world *w, struct instance *in, struct notice *n)
{
	if (n->kind != NOTICE_ASSIGN) {
		revoke(w, in, n);
		return;
	}
	say(w, "bridge %d: partitions %x assigned", in->index, n->parts);
	in->generation = n->generation;
	in->member = n->member;
	for (int i = 0; i < w->rules->parts; i++)
		if ((n->parts & 1u << i) != 0 && part_find(in, i) == NULL)
			add_part(in, i);
	if (!in->stopping)
		ask_starts(w, in);
}

static void
step_revoke(struct world *w, struct instance *in)
{
	bool out = false, open = in->committing != 0;

	for (struct part *p = in->first; p != NULL; p = p->next)
		if ((in->revoked & 1u << p->number) != 0) {
			out = out || p->out != 0;
			open = open || commit_needed(w, in, p);
		}
	if (out && w->now_ms < in->revoke_until_ms)
		return;
	if (w->now_ms < in->revoke_until_ms)
		in->revoke_until_ms = w->now_ms;
	if (open && w->now_ms < in->revoke_until_ms + LAST_COMMIT_MS)
		return;
	unassign(w, in);
}

void
parts_shutdown(struct world *w, struct instance *in)
{
	in->stopping = true;
	in->commit_ms = w->now_ms;
	for (struct part *p = in->first; p != NULL; p = p->next) {
		check_epoch_end(w, p->epoch, CAUSE_STOP);
		close_part(w, in, p);
	}
}

bool
parts_quiet(const struct world *w, const struct instance *in)
{
	if (in->committing != 0)
		return false;
	for (struct part *p = in->first; p != NULL; p = p->next)
		if (p->out != 0 || commit_needed(w, in, p))
			return false;
	return true;
}

/* ---- events that come back */

static void
came_back(struct instance *in, struct part *p)
{
	struct part **at = &in->gone;

	p->out--;
	if (p->state != PART_GONE || p->out != 0)
		return;
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	part_free(p);
}

/* Planted: the event of the new epoch that has its offset is settled. */
static void
settle_new(struct instance *in, const struct item *item)
{
	struct part *p = part_find(in, item->part->number);
	struct br_ref *ref = p != NULL ? p->ledger.first : NULL;

	while (ref != NULL && ref->offset != item->ref.offset)
		ref = ref->ledger_next;
	if (ref != NULL)
		br_ledger_settle(&p->ledger, ref);
}

void
parts_settled(struct world *w, struct instance *in, struct item *item)
{
	struct part *p = item->part;

	if (p->state == PART_GONE) {
		w->tally->late_results++;
		if (planted("late-settles-new"))
			settle_new(in, item);
	}
	br_ledger_settle(&p->ledger, &item->ref);
	free(item);
	p->settled++;
	came_back(in, p);
}

void
parts_dropped(struct instance *in, struct item *item)
{
	struct part *p = item->part;

	/* It stays in the ledger, for the watermark; its memory goes. */
	item->ref.event = NULL;
	p->ledger.open_bytes -= item->ref.bytes;
	item->ref.bytes = 0;
	if (planted("dropped-settles")) {
		br_ledger_settle(&p->ledger, &item->ref);
		free(item);
	}
	came_back(in, p);
}

/* ---- time */

void
parts_step(struct world *w, struct instance *in)
{
	if (!in->stopping)
		ask_starts(w, in);
	commit_step(w, in);
	if (in->revoking)
		step_revoke(w, in);
}

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t
parts_next_ms(const struct world *w, const struct instance *in)
{
	int64_t next_ms = NEVER_MS;

	if (in->committing != 0)
		next_ms = in->commit_until_ms;
	if (in->revoking)
		next_ms =
		    least(next_ms, w->now_ms < in->revoke_until_ms
		                       ? in->revoke_until_ms
		                       : in->revoke_until_ms + LAST_COMMIT_MS);
	if (in->stopping)
		next_ms = least(next_ms, in->stop_until_ms);
	for (struct part *p = in->first; p != NULL; p = p->next) {
		if (in->committing == 0 && commit_needed(w, in, p))
			next_ms = least(next_ms, in->commit_ms);
		if (p->checkpoint != NULL &&
		    w->now_ms < p->begun_ms + TAKE_OVER_MS)
			next_ms = least(next_ms, p->begun_ms + TAKE_OVER_MS);
		if (p->state == PART_ASKING && p->ticket == 0 &&
		    !still_out(in, p))
			next_ms = least(next_ms, p->asked_ms);
	}
	return next_ms;
}
