/* world_cluster: the topic's log, committed offsets, the dead letter topic.
 * See world.h. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "world_checker.h"
#include "world_instance.h"

enum { ABOUT_COMMIT = 100, ABOUT_ASK, ABOUT_DLQ };

const struct phase *
phase_now(const struct world *w, int target)
{
	for (size_t i = w->phases; i > 0; i--) {
		const struct phase *p = &w->phase[i - 1];

		if (p->target == target && w->now_ms >= p->from_ms &&
		    w->now_ms < p->to_ms)
			return p;
	}
	return NULL;
}

void
cluster_append(struct world *w, const struct happening *h)
{
	struct log *log = &w->log[h->part];

	if (h->kind == HAPPEN_GAP)
		log->end += 1 + (int64_t)(h->salt % 5);
	else {
		if (log->count == log->room) {
			log->room = log->room == 0 ? 64 : 2 * log->room;
			log->record = realloc(
			    log->record, log->room * sizeof(*log->record));
			if (log->record == NULL)
				exit(2);
		}
		log->record[log->count++] =
		    (struct record){.offset = log->end++, .what = h};
		w->tally->records++;
		check_appended(w, h->part);
	}
	for (int i = 0; i < w->rules->instances; i++)
		if (w->instance[i] != NULL)
			instance_wake(w, w->instance[i]);
}

/* ---- commits */

static void
commit_free(struct commit *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->entry[i].metadata);
		check_cover_free(c->entry[i].cover);
	}
	free(c);
}

static void
apply(struct world *w, struct commit *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct commit_entry *e = &c->entry[i];
		struct committed *at = &w->committed[e->part];

		if (c->generation != w->group.generation ||
		    c->member != w->group.member[c->task.instance])
			e->error = ERROR_GENERATION;
		else if (c->troubled && c->trouble == TROUBLE_REFUSED)
			e->error = ERROR_REFUSED;
		else if (e->len > w->rules->broker_metadata_bytes)
			e->error = ERROR_METADATA;
		if (e->error != 0) {
			c->error = e->error;
			continue;
		}
		say(w, "committed: partition %d at %lld, %zu bytes beside it",
		    e->part, (long long)e->offset, e->len);
		check_applied(w, e->part, e->offset, e->cover);
		e->cover = NULL;
		free(at->metadata);
		*at = (struct committed){e->offset, e->len, e->metadata};
		e->metadata = NULL;
		w->tally->commits++;
		world_moment(w, c->task.instance, MOMENT_COMMIT);
	}
	w->tally->commit_errors += c->error != 0;
}

static void
run_commit(struct world *w, struct task *t)
{
	struct commit *c = (struct commit *)t;
	struct instance *in = w->instance[t->instance];
	int64_t answer_ms =
	    w->now_ms + roll_ms(w, ABOUT_COMMIT, c->ticket, t->life, 0, 20);

	if (w->over) {
		commit_free(c);
		return;
	}
	t->stage++;
	if (t->stage == 1) {
		bool quiet = c->troubled && (c->trouble == TROUBLE_UNTOLD ||
		                                c->trouble == TROUBLE_VANISHED);

		if (!c->troubled || c->trouble != TROUBLE_VANISHED)
			apply(w, c);
		if (quiet)
			commit_free(c);
		else
			post(w, t,
			    c->troubled && c->trouble == TROUBLE_SLOW
			        ? answer_ms + 2000
			        : answer_ms);
	} else if (in == NULL || in->life != t->life)
		commit_free(c);
	else if (t->stage == 2)
		instance_mail(w, t);
	else {
		check_refused(w, t->instance, c->error == ERROR_METADATA);
		commit_reply(w, in, c);
		commit_free(c);
	}
}

/* Requests of one bridge travel on one connection: in their order. */
void
cluster_commit(struct world *w, struct commit *c)
{
	const struct phase *p = phase_now(w, -2);
	int64_t *free_ms = &w->commit_free_ms[c->task.instance];
	int64_t most_ms = p != NULL && p->trouble == TROUBLE_SLOW ? 8000 : 20;
	int64_t at_ms = w->now_ms + roll_ms(w, ABOUT_COMMIT, c->ticket,
	                                c->task.life + 1000u, 0, most_ms);

	c->task.run = run_commit;
	if (p != NULL) {
		c->troubled = true;
		c->trouble = p->trouble;
	}
	if (at_ms < *free_ms)
		at_ms = *free_ms;
	*free_ms = at_ms;
	post(w, &c->task, at_ms);
}

/* ---- where to begin? */

static void
ask_free(struct ask *a)
{
	free(a->metadata);
	free(a);
}

static void
serve_ask(struct world *w, struct ask *a)
{
	const struct committed *at = &w->committed[a->part];

	a->offset = at->offset;
	a->high = w->log[a->part].end;
	a->len = at->len;
	if (at->len != 0) {
		a->metadata = world_alloc(at->len);
		memcpy(a->metadata, at->metadata, at->len);
	}
	a->failed = roll(w, ABOUT_ASK, a->ticket, a->task.life) % 20 == 0;
	if (!a->failed)
		a->epoch = check_epoch_begin(w, a->task.instance, a->part);
}

static void
run_ask(struct world *w, struct task *t)
{
	struct ask *a = (struct ask *)t;
	struct instance *in = w->instance[t->instance];

	if (w->over || in == NULL || in->life != t->life) {
		ask_free(a);
		return;
	}
	t->stage++;
	if (t->stage == 1) {
		serve_ask(w, a);
		post(w, t,
		    w->now_ms +
		        roll_ms(w, ABOUT_ASK, a->ticket, t->life, 1, 50));
	} else if (t->stage == 2)
		instance_mail(w, t);
	else {
		parts_answer(w, in, a);
		ask_free(a);
	}
}

void
cluster_ask(struct world *w, int instance, int part, uint64_t ticket)
{
	struct ask *a = world_alloc(sizeof(*a));

	a->task.run = run_ask;
	a->task.instance = instance;
	a->task.life = w->life[instance];
	a->part = part;
	a->ticket = ticket;
	post(w, &a->task,
	    w->now_ms +
	        roll_ms(w, ABOUT_ASK, ticket, a->task.life + 1000u, 1, 50));
}

/* ---- dead letters */

static void
run_produce(struct world *w, struct task *t)
{
	struct produce *p = (struct produce *)t;
	struct instance *in = w->instance[t->instance];

	t->stage++;
	if (w->over) {
		free(p);
	} else if (t->stage == 1) {
		if (p->store) {
			say(w, "dead letter stored: partition %d at %lld",
			    p->part,
			    (long long)w->log[p->part].record[p->index].offset);
			w->tally->copies++;
			world_moment(w, t->instance, MOMENT_STORED);
		}
		post(w, t,
		    w->now_ms + roll_ms(w, ABOUT_DLQ, w->serial, 1, 0, 30));
	} else if (in == NULL || in->life != t->life)
		free(p);
	else if (t->stage == 2)
		instance_mail(w, t);
	else {
		burial_answer(w, in, p);
		free(p);
	}
}

void
cluster_produce(struct world *w, int instance, int part, size_t index,
    struct letter *letter)
{
	const struct phase *trouble = phase_now(w, -1);
	struct produce *p = world_alloc(sizeof(*p));
	int64_t takes_ms = roll_ms(w, ABOUT_DLQ, w->serial, 0, 0, 30);

	p->task.run = run_produce;
	p->task.instance = instance;
	p->task.life = w->life[instance];
	p->part = part;
	p->index = index;
	p->letter = letter;
	p->store = p->ok = true;
	if (trouble != NULL)
		switch (trouble->trouble) {
		case TROUBLE_UNTOLD:
			p->ok = false;
			takes_ms += 3000;
			break;
		case TROUBLE_SLOW:
			takes_ms +=
			    roll_ms(w, ABOUT_DLQ, w->serial, 2, 0, 10000);
			break;
		case TROUBLE_VANISHED:
			takes_ms += 5000;
			p->store = p->ok = false;
			break;
		case TROUBLE_REFUSED:
		case TROUBLES:
			p->store = p->ok = false;
			break;
		}
	post(w, &p->task, w->now_ms + takes_ms);
}

void
cluster_free(struct world *w)
{
	for (int i = 0; i < WORLD_PARTS; i++) {
		free(w->log[i].record);
		free(w->committed[i].metadata);
	}
}
