/* world_instance: workers, and the Kafka thread's loop. See the header; what
 * is modelled stands in runtime/pool.c and runtime/bridge.c. */
#include "world_instance.h"

#include <stdlib.h>
#include <string.h>

enum { ABOUT_THREAD = 400, ABOUT_JITTER };

static struct br_sched_rules
sched_rules(const struct rules *r)
{
	struct br_sched_rules rules = {
	    .order = r->order,
	    .retry = {.base_ms = (uint64_t)r->base_ms,
	        .max_delay_ms = (uint64_t)r->max_delay_ms,
	        .retry_after_max_ms = 3600000,
	        .jitter = 0.1},
	    .health = {.failures = r->failures,
	        .after = r->after,
	        .probe_ms = r->probe_ms,
	        .probe_max_ms = r->probe_max_ms,
	        .give_up_ms = r->give_up_ms},
	    .workers = r->workers,
	    .seed = r->seed,
	};

	(void)br_status_set_add(&rules.verdict.throttle_on, "429");
	return rules;
}

struct instance *
instance_start(struct world *w, int index)
{
	struct instance *in = world_alloc(sizeof(*in));
	struct br_sched_rules rules = sched_rules(w->rules);

	in->index = index;
	in->life = ++w->life[index];
	in->sched = br_sched_new(&rules);
	in->wake_ms = NEVER_MS;
	in->pass_ms = NEVER_MS;
	in->checkpoint_limit = w->rules->checkpoint_bytes;
	return in;
}

/* ---- workers */

static void give_back(struct world *w, struct instance *in, uint32_t worker);

struct ending {
	struct task task;
	uint32_t worker;
};

static void
run_ending(struct world *w, struct task *t)
{
	struct ending *e = (struct ending *)t;
	struct instance *in = w->instance[t->instance];

	if (w->over || in == NULL || in->life != t->life) {
		free(e);
		return;
	}
	if (w->now_ms < in->frozen_until_ms) {
		post(w, t, in->frozen_until_ms);
		return;
	}
	give_back(w, in, e->worker);
	free(e);
}

static void
send(struct world *w, struct instance *in, uint32_t k, struct br_ref *ref)
{
	struct worker *worker = &in->worker[k];
	struct item *item = (struct item *)ref;
	const struct record *rec =
	    &w->log[item->part->number].record[item->index];
	struct ending *e = world_alloc(sizeof(*e));

	worker->item = item;
	worker->request = (struct check_request){
	    .instance = in->index,
	    .worker = k,
	    .epoch = item->part->epoch,
	    .part = item->part->number,
	    .index = item->index,
	    .attempt = ref->attempts,
	    .body = (uint64_t)item->event.record.timestamp_ms,
	};
	receiver_answer(w, rec->what,
	    check_requests(w, item->part->number, item->index), &worker->reply);
	say(w,
	    "bridge %d worker %u sends partition %d: %lld, key %d, "
	    "attempt %u",
	    in->index, k, item->part->number, (long long)ref->offset,
	    rec->what->key, ref->attempts);
	check_begin(w, &worker->request);
	e->task.run = run_ending;
	e->task.instance = in->index;
	e->task.life = in->life;
	e->worker = k;
	post(w, &e->task, w->now_ms + worker->reply.takes_ms);
}

static void
give_back(struct world *w, struct instance *in, uint32_t k)
{
	struct worker *worker = &in->worker[k];
	struct br_ref *ref = &worker->item->ref;
	uint64_t dice = roll(w, ABOUT_JITTER, (uint64_t)in->index, in->draws++);
	struct br_sched_stats stats;
	struct br_decision d;

	ref->failure = &in->failure;
	worker->item = NULL;
	say(w, "bridge %d worker %u hears %d (%s) of partition %d: %lld",
	    in->index, k, worker->reply.outcome.http_status,
	    br_transport_name(worker->reply.outcome.transport),
	    worker->request.part, (long long)ref->offset);
	check_end(w, &worker->request, &worker->reply);
	d = br_sched_give_back(in->sched, k, ref, &worker->reply.outcome,
	    w->now_ms, (double)(dice >> 11) * 0x1p-53);
	if (d.verdict == BR_NEVER || d.exhausted)
		check_dead(w, &worker->request, &worker->reply);
	if (d.change != BR_TARGET_SAME)
		say(w, "bridge %d: a target is %s", in->index,
		    d.change == BR_TARGET_OPENED ? "open" : "closed");
	if (d.verdict == BR_DELIVERED)
		world_moment(w, in->index, MOMENT_ANSWER);
	in->changed = true;
	br_sched_stats(in->sched, &stats);
	if (stats.settled_dead || (stats.settled_any && in->revoking) ||
	    in->stopping)
		instance_wake(w, in);
	else if (in->pass_ms > in->commit_ms)
		in->pass_ms =
		    in->commit_ms > w->now_ms ? in->commit_ms : w->now_ms;
}

/* Would the pool wake somebody? It must be right about it. */
static void
check_ready(struct world *w, struct instance *in, size_t ready, bool took)
{
	if (w->failure == FINE && (ready != 0) != took)
		broken(w, FAIL_WAKE,
		    "bridge %d: %zu ready, and a worker finds %s", in->index,
		    ready, took ? "something" : "nothing");
}

/* Who sleeps has been told until when: there must be nothing before. Asking
 * moves timers, so it is done in half of the seeds only. */
static void
check_asleep(struct world *w, struct instance *in)
{
	if (w->rules->seed % 2 == 0 &&
	    br_sched_ready(in->sched, w->now_ms, 1) != 0)
		broken(w, FAIL_WAKE, "bridge %d: all sleep, and one is ready",
		    in->index);
}

void
instance_work(struct world *w, struct instance *in)
{
	bool took = true;

	if (!in->changed && w->now_ms < in->wake_ms) {
		check_asleep(w, in);
		return;
	}
	in->changed = false;
	in->wake_ms = NEVER_MS;
	while (took && w->failure == FINE) {
		size_t ready = br_sched_ready(in->sched, w->now_ms, 1);
		bool idle = false;

		took = false;
		for (uint32_t k = 0; k < w->rules->workers && !took; k++) {
			struct br_ref *ref;

			if (in->worker[k].item != NULL)
				continue;
			idle = true;
			ref = br_sched_take(
			    in->sched, k, w->now_ms, &in->wake_ms);
			took = ref != NULL;
			if (took)
				send(w, in, k, ref);
		}
		if (idle)
			check_ready(w, in, ready, took);
	}
	if (in->wake_ms <= w->now_ms)
		broken(w, FAIL_WAKE, "bridge %d: a worker does not sleep",
		    in->index);
}

/* ---- the Kafka thread */

void
instance_wake(struct world *w, struct instance *in)
{
	uint64_t draw = in->draws++;
	int64_t most_ms =
	    roll(w, ABOUT_THREAD, (uint64_t)in->index, draw) % 32 == 0 ? 150
	                                                               : 3;
	int64_t at_ms =
	    w->now_ms + roll_ms(w, ABOUT_THREAD, (uint64_t)in->index + 10, draw,
	                    0, most_ms);

	if (at_ms < in->pass_ms)
		in->pass_ms = at_ms;
}

void
instance_mail(struct world *w, struct task *t)
{
	struct instance *in = w->instance[t->instance];

	t->next = NULL;
	if (in->inbox_last != NULL)
		in->inbox_last->next = t;
	else
		in->inbox_first = t;
	in->inbox_last = t;
	instance_wake(w, in);
}

static void
drain_settled(struct world *w, struct instance *in)
{
	struct br_ref *ref = br_sched_settled(in->sched), *next;

	for (; ref != NULL; ref = next) {
		struct item *item = (struct item *)ref;

		next = ref->settled_next;
		switch (ref->settled) {
		case BR_SETTLED_NOT:
			abort();
		case BR_SETTLED_DELIVERED:
			parts_settled(w, in, item);
			break;
		case BR_SETTLED_DEAD:
			burial_add(in, item);
			break;
		case BR_SETTLED_DROPPED:
			parts_dropped(in, item);
			break;
		}
	}
}

static void
drain_inbox(struct world *w, struct instance *in)
{
	struct task *t;

	while ((t = in->inbox_first) != NULL) {
		in->inbox_first = t->next;
		if (in->inbox_first == NULL)
			in->inbox_last = NULL;
		t->run(w, t);
		burial_forget_gone(w, in);
	}
}

static void
check_bounds(struct world *w, struct instance *in)
{
	uint64_t bytes = 0, most = 0;

	for (struct part *p = in->gone; p != NULL; p = p->next)
		bytes += p->ledger.open_bytes;
	for (struct part *p = in->first; p != NULL; p = p->next) {
		bytes += p->ledger.open_bytes;
		if (p->ledger.open > most)
			most = p->ledger.open;
	}
	check_memory(w, in->index, bytes, most);
}

void
instance_pass(struct world *w, struct instance *in)
{
	struct br_sched_stats stats;
	int64_t burial_ms, parts_ms;

	in->pass_ms = NEVER_MS;
	drain_settled(w, in);
	drain_inbox(w, in);
	burial_ms = burial_step(w, in);
	drain_settled(w, in);
	parts_step(w, in);
	burial_forget_gone(w, in);
	if (!in->stopping)
		parts_read(w, in);
	check_bounds(w, in);
	parts_ms = parts_next_ms(w, in);
	if (burial_ms < parts_ms)
		parts_ms = burial_ms;
	if (parts_ms <= w->now_ms)
		parts_ms = w->now_ms + 1;
	if (parts_ms < in->pass_ms)
		in->pass_ms = parts_ms;
	/* What cannot be decoded is dead by now. */
	br_sched_stats(in->sched, &stats);
	if (stats.settled_dead)
		instance_wake(w, in);
	in->changed = true;
}

void
instance_end(struct world *w, struct instance *in)
{
	struct task *t;
	bool was_over = w->over;

	while ((t = in->inbox_first) != NULL) {
		in->inbox_first = t->next;
		w->over = true;
		t->run(w, t);
		w->over = was_over;
	}
	for (struct part *p = in->first; p != NULL; p = p->next)
		if (p->state != PART_CLOSING)
			br_sched_part_close(in->sched, p->sched, w->now_ms);
	for (uint32_t k = 0; k < w->rules->workers; k++)
		if (in->worker[k].item != NULL) {
			struct br_ref *ref = &in->worker[k].item->ref;
			struct br_outcome cut = {
			    .transport = BR_TRANSPORT_RESET};

			ref->failure = &in->failure;
			(void)br_sched_give_back(
			    in->sched, k, ref, &cut, w->now_ms, 0);
		}
	drain_settled(w, in);
	burial_free(w, in);
	parts_free(in);
	br_sched_free(in->sched);
	free(in);
}
