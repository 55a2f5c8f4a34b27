/* world_watch: see the header. */
#include "world_watch.h"

#include <string.h>

/* Targets that were used within so long share the workers. */
#define SHARE_MS 60000
#define ROW 20

/* One target, as one bridge sees it. */
struct seen {
	uint32_t dead;            /* good events that an outage has cost */
	int64_t held_until_ms[2]; /* by route: certainly, … */
	int64_t longest_ms[2];    /* … and perhaps */
	bool asking[2];           /* one finds out whether a hold is over */
	int64_t used_ms;
	bool used;
	int open;
	/* Different events that failed in a row. One that was read again is
	 * another one. */
	struct {
		const struct epoch *epoch;
		size_t index;
	} row[ROW];
	uint32_t failed;
	bool closed;
	int64_t closed_ms;
	int probes; /* open ones, begun while closed */
};

struct watch {
	struct seen seen[WORLD_INSTANCES][WORLD_TARGETS];
	bool probe[WORLD_INSTANCES][WORLD_WORKERS];
};

struct watch *
watch_new(void)
{
	return world_alloc(sizeof(struct watch));
}

void
watch_life(struct watch *v, int instance)
{
	memset(v->seen[instance], 0, sizeof(v->seen[instance]));
	memset(v->probe[instance], 0, sizeof(v->probe[instance]));
}

void
watch_hup(struct watch *v, int instance)
{
	for (int t = 0; t < WORLD_TARGETS; t++)
		v->seen[instance][t].closed_ms = INT64_MIN / 2;
}

static const struct happening *
what_of(const struct world *w, const struct check_request *r)
{
	return w->log[r->part].record[r->index].what;
}

/* The last free worker is left to other targets, while there are some. */
static void
check_share(
    struct world *w, struct watch *v, const struct check_request *r, int open)
{
	int target = what_of(w, r)->target;
	const struct seen *seen = v->seen[r->instance];

	if (w->rules->workers == 1 || open < (int)w->rules->workers ||
	    seen[target].open == 0)
		return;
	for (int t = 0; t < WORLD_TARGETS; t++)
		if (t != target && seen[t].used &&
		    w->now_ms < seen[t].used_ms + SHARE_MS)
			broken(w, FAIL_SHARE,
			    "bridge %d: target %d has %d of %d, and target %d "
			    "was used",
			    r->instance, target, seen[target].open + 1, open,
			    t);
}

static void
check_closed(struct world *w, struct watch *v, const struct check_request *r,
    struct seen *s)
{
	if (!s->closed)
		return;
	if (s->probes != 0)
		broken(
		    w, FAIL_HELD, "bridge %d: two probes at once", r->instance);
	if (w->now_ms < s->closed_ms + w->rules->probe_ms)
		broken(w, FAIL_HELD, "bridge %d: sent to a closed target",
		    r->instance);
	s->probes++;
	v->probe[r->instance][r->worker] = true;
}

/* Not before the hold is over, and then one alone. */
static void
check_hold(
    struct world *w, const struct check_request *r, struct seen *s, int route)
{
	if (s->held_until_ms[route] == 0)
		return;
	if (w->now_ms < s->held_until_ms[route])
		broken(
		    w, FAIL_HELD, "bridge %d: sent into a hold", r->instance);
	if (s->asking[route])
		broken(w, FAIL_HELD, "bridge %d: two probes into a hold",
		    r->instance);
	s->asking[route] = true;
}

void
watch_begin(
    struct world *w, struct watch *v, const struct check_request *r, int open)
{
	const struct happening *h = what_of(w, r);
	struct seen *s = &v->seen[r->instance][h->target];

	check_hold(w, r, s, receiver_route(h));
	check_share(w, v, r, open);
	check_closed(w, v, r, s);
	s->open++;
	s->used = true;
	s->used_ms = w->now_ms;
}

static bool
is_target_failure(const struct br_outcome *o)
{
	switch (o->http_status) {
	case 0:
		return o->transport != BR_TRANSPORT_BAD_RESPONSE;
	case 429:
	case 502:
	case 503:
		return true;
	default:
		return false;
	}
}

static void
count_failure(struct world *w, struct seen *s, const struct check_request *r)
{
	for (uint32_t i = 0; i < s->failed; i++)
		if (s->row[i].epoch == r->epoch && s->row[i].index == r->index)
			return;
	if (s->failed == ROW)
		return;
	s->row[s->failed].epoch = r->epoch;
	s->row[s->failed].index = r->index;
	if (++s->failed != w->rules->failures)
		return;
	s->closed = true;
	s->closed_ms = w->now_ms;
	s->probes = 0;
}

void
watch_end(struct world *w, struct watch *v, const struct check_request *r,
    const struct reply *reply)
{
	const struct happening *h = what_of(w, r);
	const struct br_outcome *o = &reply->outcome;
	struct seen *s = &v->seen[r->instance][h->target];
	int64_t *held_ms = &s->held_until_ms[receiver_route(h)];
	int64_t *longest_ms = &s->longest_ms[receiver_route(h)];
	int64_t wait_ms = o->retry_after_ms;

	s->open--;
	if (v->probe[r->instance][r->worker])
		s->probes -= s->probes > 0;
	v->probe[r->instance][r->worker] = false;
	if (reply->phase < 0)
		s->dead = 0;
	if (is_target_failure(o))
		count_failure(w, s, r);
	else {
		s->failed = 0;
		s->closed = false;
	}
	if (wait_ms > w->rules->probe_max_ms)
		wait_ms = w->rules->probe_max_ms;
	if (w->now_ms + wait_ms > *longest_ms)
		*longest_ms = w->now_ms + wait_ms;
	/* Not known is whose answer it is; it may end the hold. */
	s->asking[receiver_route(h)] = false;
	if (!o->retry_after_given || wait_ms == 0)
		*held_ms = 0;
	else if (w->now_ms + wait_ms > *held_ms)
		*held_ms = w->now_ms + wait_ms;
}

bool
watch_allows(const struct world *w, const struct watch *v, int instance,
    const struct happening *what)
{
	const struct seen *s = &v->seen[instance][what->target];

	return s->open == 0 && w->now_ms > s->longest_ms[receiver_route(what)];
}

void
watch_dead(struct world *w, struct watch *v, const struct check_request *r,
    const struct reply *reply)
{
	const struct happening *h = what_of(w, r);
	struct seen *s = &v->seen[r->instance][h->target];
	const struct phase *p;

	if (h->fate != FATE_GOOD || reply->phase < 0 || w->rules->failures == 0)
		return;
	p = &w->phase[reply->phase];
	if (w->rules->give_up_ms != 0 &&
	    p->to_ms - p->from_ms >= w->rules->give_up_ms / 2)
		return;
	if (++s->dead >= w->rules->failures + w->rules->workers)
		broken(w, FAIL_OUTAGE,
		    "bridge %d, target %d: %u good events are dead",
		    r->instance, h->target, s->dead);
}
