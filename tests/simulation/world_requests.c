/* world_requests: the checker's view of requests and dead letters. See
 * world_checker.h. */
#include "world_truth.h"

#include "world_watch.h"

uint32_t
check_requests(const struct world *w, int part, size_t index)
{
	return w->checker->part[part].truth[index].requests;
}

static void
check_order(struct world *w, const struct check_request *r)
{
	struct part_truth *p = &w->checker->part[r->part];
	const struct record *rec = record_at(w, r->part, r->index);
	int lane = check_lane(w, rec->what);
	size_t i;

	if ((p->truth[r->index].open & 1u << r->instance) != 0)
		broken(w, FAIL_ORDER,
		    "partition %d: %lld is sent beside itself", r->part,
		    (long long)rec->offset);
	if (lane < 0)
		return;
	i = p->lane[lane].undone;
	if (i != SIZE_MAX && i < r->index)
		broken(w, FAIL_ORDER,
		    "partition %d: %lld is sent before %lld is done", r->part,
		    (long long)rec->offset,
		    (long long)record_at(w, r->part, i)->offset);
	/* What is sent again keeps its order too. */
	if (r->index + 1 < r->epoch->begun[lane])
		broken(w, FAIL_ORDER, "partition %d: %lld is sent after %lld",
		    r->part, (long long)rec->offset,
		    (long long)record_at(w, r->part, r->epoch->begun[lane] - 1)
		        ->offset);
	r->epoch->begun[lane] = r->index + 1;
	for (i = 0; i < p->count; i++)
		if (i != r->index &&
		    (p->truth[i].open & 1u << r->instance) != 0 &&
		    check_lane(w, record_at(w, r->part, i)->what) == lane)
			broken(w, FAIL_ORDER,
			    "partition %d: %lld is sent beside %lld", r->part,
			    (long long)rec->offset,
			    (long long)record_at(w, r->part, i)->offset);
}

static void
check_ladder(struct world *w, const struct check_request *r)
{
	const struct record *rec = record_at(w, r->part, r->index);
	const struct known *k = &r->epoch->known[r->index];
	uint32_t most = rec->what->max_attempts;
	uint32_t least = k->counted + 1 < most ? k->counted + 1 : most;

	if (k->settled)
		broken(w, FAIL_TWICE,
		    "partition %d: %lld is sent, and was settled", r->part,
		    (long long)rec->offset);
	else if (r->attempt < least || r->attempt > most ||
	         r->attempt > k->failures + 1)
		broken(w, FAIL_ATTEMPTS,
		    "partition %d: %lld is sent as attempt %u; %u failed, "
		    "%u of them count, %u are allowed",
		    r->part, (long long)rec->offset, r->attempt, k->failures,
		    k->counted, most);
	else if (w->now_ms < k->due_ms)
		broken(w, FAIL_EARLY,
		    "partition %d: %lld is sent %lld ms too early", r->part,
		    (long long)rec->offset, (long long)(k->due_ms - w->now_ms));
}

void
check_begin(struct world *w, const struct check_request *r)
{
	struct checker *c = w->checker;
	const struct record *rec = record_at(w, r->part, r->index);
	struct truth *t = &c->part[r->part].truth[r->index];

	if (r->epoch->ended)
		broken(w, FAIL_EPOCH, "partition %d: bridge %d sends %lld",
		    r->part, r->instance, (long long)rec->offset);
	if (r->body != rec->what->salt)
		broken(w, FAIL_IDENTITY, "partition %d: %lld", r->part,
		    (long long)rec->offset);
	if (rec->what->fate >= FATE_UNSENDABLE)
		broken(w, FAIL_IDENTITY, "partition %d: %lld is no event",
		    r->part, (long long)rec->offset);
	check_order(w, r);
	check_ladder(w, r);
	if (c->busy[r->instance][r->worker] ||
	    ++c->open[r->instance] > (int)w->rules->workers)
		broken(w, FAIL_OPEN, "bridge %d has %d open requests",
		    r->instance, c->open[r->instance]);
	c->busy[r->instance][r->worker] = true;
	watch_begin(w, c->watch, r, c->open[r->instance]);
	if ((uint64_t)c->open[r->instance] > w->tally->most_open)
		w->tally->most_open = (uint64_t)c->open[r->instance];
	r->epoch->known[r->index].late_ms = 0;
	w->tally->requests++;
	w->tally->duplicates += t->delivered;
	if (t->delivered)
		w->tally->repeated[r->epoch->after][check_room(w->rules)]++;
	t->requests++;
	t->open |= 1u << r->instance;
}

/* How long the ladder waits after so many failures, without jitter. */
static int64_t
ladder_ms(const struct world *w, uint32_t failures)
{
	int64_t step_ms = w->rules->base_ms;

	for (uint32_t i = 0; i < failures && step_ms < w->rules->max_delay_ms;
	     i++)
		step_ms *= 2;
	return step_ms < w->rules->max_delay_ms ? step_ms
	                                        : w->rules->max_delay_ms;
}

static int64_t
at_least_ms(const struct reply *reply, int64_t wait_ms)
{
	int64_t asked_ms = reply->outcome.retry_after_given
	                       ? reply->outcome.retry_after_ms
	                       : 0;

	return asked_ms > wait_ms ? asked_ms : wait_ms;
}

/* Answers about the event itself: they count, whatever the target is like. */
static bool
surely_counts(const struct reply *reply)
{
	int code = reply->outcome.http_status;

	return code == 400 || code == 404 || code == 500 ||
	       reply->outcome.transport == BR_TRANSPORT_BAD_RESPONSE;
}

void
check_end(
    struct world *w, const struct check_request *r, const struct reply *reply)
{
	struct checker *c = w->checker;
	struct truth *t = &c->part[r->part].truth[r->index];
	struct known *k = &r->epoch->known[r->index];

	c->open[r->instance]--;
	c->busy[r->instance][r->worker] = false;
	t->open &= ~(1u << r->instance);
	watch_end(w, c->watch, r, reply);
	if (reply->outcome.http_status / 100 == 2) {
		t->delivered = true;
		k->settled = true;
		check_done(w, r->part, r->index);
		return;
	}
	k->failures++;
	k->counted += surely_counts(reply);
	k->due_ms = 0;
	/* Who is to be a dead letter waits for nothing: after a takeover it is
	 * asked once more. */
	if (reply->outcome.http_status == 400 ||
	    r->attempt >= record_at(w, r->part, r->index)->what->max_attempts)
		return;
	if (surely_counts(reply))
		k->due_ms =
		    w->now_ms +
		    at_least_ms(reply, ladder_ms(w, k->counted) * 9 / 10 - 1);
	k->late_ms = w->now_ms +
	             at_least_ms(reply, ladder_ms(w, r->attempt) * 11 / 10 + 1);
}

/* Only where no target ever closes: there nothing but a hold, and who is
 * asked already, may keep an event that is due from being sent. */
void
check_idle(struct world *w, int instance)
{
	struct checker *c = w->checker;

	if (w->rules->failures != 0 || w->rules->after != 0 ||
	    (c->open[instance] != 0 &&
	        c->open[instance] + 2 > (int)w->rules->workers))
		return;
	for (struct epoch *e = c->epochs; e != NULL; e = e->next) {
		const struct log *log = &w->log[e->part];

		if (e->ended || e->instance != instance)
			continue;
		for (size_t i = 0; i < log->count; i++)
			if (e->known[i].late_ms != 0 &&
			    w->now_ms > e->known[i].late_ms &&
			    watch_allows(
			        w, c->watch, instance, log->record[i].what))
				broken(w, FAIL_WAKE,
				    "bridge %d, partition %d: %lld is due, and "
				    "nobody sends it",
				    instance, e->part,
				    (long long)log->record[i].offset);
	}
}

void
check_dead(
    struct world *w, const struct check_request *r, const struct reply *reply)
{
	w->tally->dead_letters++;
	watch_dead(w, w->checker->watch, r, reply);
}

void
check_buried(struct world *w, struct epoch *e, int part, size_t index)
{
	e->known[index].settled = true;
	check_done(w, part, index);
}
