/*
 * The scheduler and the ledger against a naive model, in random runs. A run
 * that fails prints the seed that repeats it as the first one.
 * BRIDGE_TEST_RUNS=N for more of them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "naive.h"
#include "naive_parked.h"

#define RUNS 150
#define STEPS 1500

static const char *const target_names[TARGETS] = {
    "https://a.test:443", "https://b.test:443", "http://c.test:80"};
static const char *const route_names[ROUTES] = {"", "r"};
static const char *const type_names[TYPES] = {NULL, "a", "b"};
static const char *const key_names[KEYS] = {"k0", "k1", "k2", "k3", "k4"};

/* ---- what is compared at every step */

static void
check_epoch(struct model *m, struct epoch *e)
{
	int64_t lowest = earlier(e->next, e->dropped), watermark;
	size_t count = 0;

	for (size_t n = 0; n < m->items; n++)
		if (m->item[n].epoch == e) {
			lowest = earlier(lowest, m->item[n].offset);
			count += holds(&m->item[n]);
		}
	EXPECT(m, br_sched_part_count(e->part) == count);
	watermark = br_ledger_watermark(&e->ledger);
	EXPECT(m, watermark == lowest);
	EXPECT(m, watermark >= e->watermark);
	e->watermark = watermark;
}

static void
check(struct model *m)
{
	struct br_sched_stats want = {0}, stats;

	for (size_t n = 0; n < m->items; n++) {
		const struct item *i = &m->item[n];
		bool dead = i->at == BURYING ||
		            (i->at == SETTLED && i->how == BR_SETTLED_DEAD);

		want.in_flight += i->at == FLIES;
		want.waiting += i->at == WAITS || i->at == DELAYED;
		want.dead += dead;
		want.lanes += is_first(m, i);
		want.settled_any |= i->at == SETTLED;
		want.settled_dead |= i->at == SETTLED && dead;
		/* P4 */
		if (i->at == FLIES || i->at == DELAYED || dead)
			EXPECT(m, is_first(m, i));
	}
	for (size_t n = 0; n < TARGETS; n++)
		want.closed += m->to[n].health.state != BR_HEALTH_OPEN;
	br_sched_stats(m->s, &stats);
	EXPECT(m, stats.closed == want.closed);
	EXPECT(m, stats.in_flight == want.in_flight);
	EXPECT(m, stats.waiting == want.waiting);
	EXPECT(m, stats.dead == want.dead);
	EXPECT(m, stats.lanes == want.lanes);
	EXPECT(m, stats.settled_any == want.settled_any);
	EXPECT(m, stats.settled_dead == want.settled_dead);
	for (size_t e = 0; e < EPOCHS; e++)
		if (m->epoch[e].part != NULL)
			check_epoch(m, &m->epoch[e]);
}

/* ---- what happens */

static void
open_epoch(struct model *m)
{
	for (size_t n = 0; n < EPOCHS; n++) {
		struct epoch *e = &m->epoch[n];

		if (e->part != NULL)
			continue;
		*e = (struct epoch){
		    .part = br_sched_part_open(m->s, e),
		    .next = (int64_t)below(m, 1000),
		    .dropped = INT64_MAX,
		};
		e->watermark = e->next;
		br_ledger_init(&e->ledger, e->next);
		EXPECT(m, br_sched_part_opaque(e->part) == e);
		return;
	}
}

static void
close_epoch(struct model *m)
{
	struct epoch *e = &m->epoch[below(m, EPOCHS)];

	if (e->part == NULL || e->closed)
		return;
	e->closed = true;
	m->turn++;
	for (size_t n = 0; n < m->items; n++)
		if (m->item[n].epoch == e &&
		    (m->item[n].at == WAITS || m->item[n].at == DELAYED))
			settle(m, &m->item[n], BR_SETTLED_DROPPED);
	br_sched_part_close(m->s, e->part, m->now_ms);
}

/* Frees the assignments of which nothing is out any more. */
static void
end_epochs(struct model *m)
{
	bool used[EPOCHS] = {false};

	for (size_t n = 0; n < m->items; n++)
		used[m->item[n].epoch - m->epoch] = true;
	for (size_t n = 0; n < EPOCHS; n++) {
		struct epoch *e = &m->epoch[n];
		struct br_ref *ref;

		if (!e->closed || used[n])
			continue;
		/* Who was dropped holds the watermark to the end. */
		while ((ref = e->ledger.first) != NULL) {
			br_ledger_settle(&e->ledger, ref);
			ref_free(ref);
		}
		br_sched_part_free(e->part);
		*e = (struct epoch){0};
	}
}

static void
put(struct model *m)
{
	struct epoch *e = &m->epoch[below(m, EPOCHS)];
	struct item *i = &m->item[m->items];
	const char *key;

	if (e->part == NULL || e->closed || m->items == EVENTS)
		return;
	if (below(m, 5) == 0) {
		e->next += (int64_t)below(m, 4); /* a gap, known of or not */
		if (below(m, 2) == 0)
			br_ledger_pass(&e->ledger, e->next);
	}
	*i = (struct item){
	    .epoch = e,
	    .offset = e->next++,
	    .key = (int)below(m, KEYS + 1) - 1,
	    .target = (int)below(m, TARGETS),
	    .route = (int)below(m, ROUTES),
	    .type = (int)below(m, TYPES),
	    .max_attempts = 1 + (uint32_t)below(m, 4),
	    .undecodable = below(m, 16) == 0,
	    .since_ms = m->now_ms,
	};
	if (i->key >= 0)
		key = key_names[i->key];
	else
		key = below(m, 2) != 0 ? "" : NULL; /* no order either */
	i->ref = ref_new(e->part, i->offset, key,
	    i->undecodable ? NULL : target_names[i->target]);
	i->ref->event->route = route_names[i->route];
	i->ref->event->event_type = type_names[i->type];
	i->ref->event->max_attempts = i->max_attempts;
	if (i->undecodable)
		i->ref->event->reason = "json-syntax";
	m->items++;
	if (is_first(m, i))
		serve(m, i);
	br_ledger_open(&e->ledger, i->ref);
	br_sched_put(m->s, i->ref, m->now_ms);
}

/* Whether the counts and the hint that follow a take are right. */
static void
check_rest(struct model *m, uint32_t w)
{
	int64_t first = oldest(m, may_go, -1);
	size_t free_workers = m->rules.workers - flying(m, -1), targets = 0;
	bool possible = oldest(m, may_take, -1) != INT64_MAX, own = false;
	size_t ready = br_sched_ready(m->s, m->now_ms, EVENTS);

	EXPECT(m, br_sched_ready(m->s, m->now_ms, 1) == possible);
	EXPECT(m, (ready > 0) == possible && ready <= free_workers);
	for (int t = 0; t < TARGETS && first != INT64_MAX; t++)
		if (oldest(m, may_go, t) == first) {
			targets++;
			own |= t == m->last_target[w];
		}
	if (targets < 2) /* of two equally old ones it may mean either */
		EXPECT(m, br_sched_suits(m->s, w) == own);
}

/* Was it right to send `i`, of all that may go? */
static void
check_choice(struct model *m, uint32_t w, const struct item *i)
{
	const struct place_to_go *to = &m->to[i->target];
	int64_t first = oldest(m, may_take, -1), own = INT64_MAX;
	int64_t its = oldest(m, may_take, i->target);

	EXPECT(m, may_take(m, i));
	if (m->rules.workers - flying(m, -1) > 1 && m->last_target[w] >= 0)
		own = oldest(m, may_take, m->last_target[w]);
	if (m->rules.workers == 1) {
		for (int t = 0; t < TARGETS; t++)
			if (oldest(m, may_take, t) != INT64_MAX)
				EXPECT(m, to->used <= m->to[t].used);
	} else if (own != INT64_MAX && own - first <= PREFER_MS)
		EXPECT(m, i->target == m->last_target[w]);
	else
		EXPECT(m, its == first);
	if (to->health.state == BR_HEALTH_OPEN) {
		EXPECT(m, i->since_ms == its);
		return;
	}
	for (size_t n = 0; n < m->items; n++)
		if (m->item[n].target == i->target && may_go(m, &m->item[n]))
			EXPECT(m, !better_probe(m, &m->item[n], i));
}

static void
take(struct model *m, uint32_t w)
{
	bool possible = oldest(m, may_take, -1) != INT64_MAX;
	struct place_to_go *to;
	int64_t wake_ms = -1;
	struct br_ref *ref;
	struct item *i;

	if (m->busy[w] != NULL)
		return;
	ref = br_sched_take(m->s, w, m->now_ms, &wake_ms);
	EXPECT(m, (ref == NULL) == !possible);
	if (ref == NULL) {
		EXPECT(m, wake_ms == next_time(m, false));
		return;
	}
	i = find(m, ref);
	to = &m->to[i->target];
	EXPECT(m, ref->attempts == i->attempts + 1);
	to->picked += to->health.state != BR_HEALTH_OPEN;
	check_choice(m, w, i);
	i->probe = br_health_begin(&to->health);
	i->hold_probe = to->hold[i->route].until_ms != 0;
	to->hold[i->route].probing = i->hold_probe;
	to->used = ++m->takes;
	to->used_ms = m->now_ms;
	i->taken_ms = m->now_ms;
	i->attempts++;
	i->at = FLIES;
	m->busy[w] = i;
	m->last_target[w] = i->target;
	EXPECT(m, wake_ms == next_time(m, true));
	check_rest(m, w);
}

static void
check_wait(struct model *m, const struct item *i, const struct answer *a,
    int64_t wait_ms)
{
	const struct br_retry_rules *r = &m->rules.retry;
	double step = (double)r->base_ms;
	int64_t asked =
	    earlier(a->retry_after_ms, (int64_t)r->retry_after_max_ms);
	int64_t least, most;

	for (uint32_t n = 0; n < i->attempts || n < 1; n++)
		step *= 2;
	if (step > (double)r->max_delay_ms)
		step = (double)r->max_delay_ms;
	least = (int64_t)(step * (1 - r->jitter)) - 1;
	most = (int64_t)(step * (1 + r->jitter)) + 1;
	EXPECT(m, wait_ms >= least && wait_ms >= asked);
	EXPECT(m, wait_ms <= most || wait_ms == asked);
}

/* The model's opinion of an answer that is not a delivery. */
static void
failed(struct model *m, struct item *i, const struct answer *a, bool dead,
    const struct br_decision *d)
{
	bool down = m->to[i->target].health.state == BR_HEALTH_DOWN;

	m->turn++;
	i->failed = true;
	if (dead) {
		EXPECT(m, i->ref->failure->reason != NULL);
		settle(m, i, BR_SETTLED_DEAD);
	} else if (i->epoch->closed) {
		EXPECT(m, d->dropped);
		settle(m, i, BR_SETTLED_DROPPED);
	} else if (i->probe && down && !d->counted) {
		EXPECT(m, d->wait_ms == -1);
		i->at = WAITS;
		i->since_ms = m->now_ms;
		i->probes++;
	} else {
		check_wait(m, i, a, d->wait_ms);
		i->at = DELAYED;
		i->since_ms = m->now_ms + d->wait_ms;
	}
}

static void
give(struct model *m, uint32_t w, const struct answer *a)
{
	struct item *i = m->busy[w];
	struct br_outcome o = outcome_of(a->status);
	struct br_decision d;
	bool counted, exhausted;

	if (i == NULL)
		return;
	o.transport = a->transport;
	o.retry_after_given = a->retry_after_ms >= 0;
	o.retry_after_ms = a->retry_after_ms;
	if (a->verdict != BR_DELIVERED)
		ref_failed(i->ref);
	d = br_sched_give_back(m->s, w, i->ref, &o, m->now_ms,
	    below(m, 8) == 0 ? 0 : seed_fraction(&m->random));
	EXPECT(m, d.verdict == a->verdict);
	counted = counts(m, i, &o, br_sign_of(&m->rules.verdict, &o));
	i->attempts -= !counted;
	exhausted =
	    a->verdict == BR_AGAIN && counted && i->attempts >= i->max_attempts;
	EXPECT(m, d.counted == counted && d.exhausted == exhausted);
	EXPECT(m, i->ref->attempts == i->attempts);
	teach(m, i, a, &o, a->verdict == BR_NEVER || exhausted, &d);
	m->busy[w] = NULL;
	if (a->verdict != BR_DELIVERED) {
		failed(m, i, a, a->verdict == BR_NEVER || exhausted, &d);
		return;
	}
	m->turn++;
	settle(m, i, BR_SETTLED_DELIVERED);
	serve(m, i);
}

static void
collect(struct model *m)
{
	struct br_ref *ref = br_sched_settled(m->s), *next;
	uint64_t turn = 0;

	for (; ref != NULL; ref = next) {
		struct item *i = find(m, ref);

		next = ref->settled_next;
		EXPECT(m, i->at == SETTLED && i->how == ref->settled);
		EXPECT(m, (ref->reason != NULL) == i->shed);
		EXPECT(m, i->turn >= turn);
		turn = i->turn;
		if (i->how == BR_SETTLED_DEAD) {
			i->at = BURYING;
			i->bury_ms = m->now_ms + (int64_t)below(m, 300);
			continue;
		}
		if (i->how == BR_SETTLED_DROPPED)
			i->epoch->dropped =
			    earlier(i->epoch->dropped, i->offset);
		else {
			br_ledger_settle(&i->epoch->ledger, ref);
			ref_free(ref);
		}
		forget(m, i);
	}
	EXPECT(m, any(m, SETTLED) == NULL);
	EXPECT(m, br_sched_settled(m->s) == NULL);
}

static void
bury(struct model *m)
{
	struct item *i = any(m, BURYING), was;

	if (i == NULL || i->bury_ms > m->now_ms)
		return;
	was = *i;
	br_sched_buried(m->s, was.ref, m->now_ms);
	br_ledger_settle(&was.epoch->ledger, was.ref);
	ref_free(was.ref);
	forget(m, i);
	serve(m, &was);
}

static void
pass_time(struct model *m)
{
	static const size_t most_ms[] = {2, 10, 60, 400, 5000};
	int64_t next = next_time(m, false);

	if (next != INT64_MAX && below(m, 3) == 0)
		m->now_ms = next - (int64_t)(next > m->now_ms && below(m, 2));
	else
		m->now_ms += (int64_t)below(m, most_ms[below(m, 5)]);
}

static void
act(struct model *m)
{
	uint32_t w = (uint32_t)below(m, m->rules.workers);
	size_t dice = below(m, 100);

	if (dice < 30)
		take(m, w);
	else if (dice < 50)
		give(m, w,
		    &answers[below(m, sizeof(answers) / sizeof(answers[0]))]);
	else if (dice < 72)
		put(m);
	else if (dice < 80)
		collect(m);
	else if (dice < 86)
		bury(m);
	else if (dice < 94)
		pass_time(m);
	else if (dice < 95)
		shed(m);
	else if (dice < 97)
		look(m);
	else if (dice < 98)
		close_epoch(m);
	else
		open_epoch(m);
	end_epochs(m);
}

/* ---- runs */

static struct br_health_rules
random_health(struct model *m)
{
	static const uint32_t failures[] = {0, 1, 2, 3, 5};
	static const uint32_t after[] = {0, 1, 2, 4};
	int64_t probe_ms = 1 + (int64_t)below(m, 200);

	return (struct br_health_rules){
	    .failures = failures[below(m, 5)],
	    .after = after[below(m, 4)],
	    .probe_ms = probe_ms,
	    .probe_max_ms = probe_ms * (int64_t)(1 + below(m, 10)),
	    .give_up_ms = below(m, 2) == 0 ? 0 : (int64_t)below(m, 5000),
	};
}

static struct br_sched_rules
random_rules(struct model *m)
{
	static const uint64_t base_ms[] = {1, 10, 70, 1000};
	static const double jitter[] = {0, 0.1, 0.5, 1};
	static const enum br_order order[] = {
	    BR_ORDER_KEY, BR_ORDER_KEY, BR_ORDER_PARTITION, BR_ORDER_NONE};
	uint64_t base = base_ms[below(m, 4)];
	struct br_sched_rules rules = {
	    .order = order[below(m, 4)],
	    .retry =
	        {
	            .base_ms = base,
	            .max_delay_ms = base * (1 + below(m, 10)),
	            .retry_after_max_ms = below(m, 2000),
	            .jitter = jitter[below(m, 4)],
	        },
	    .health = random_health(m),
	    .workers = 1 + (uint32_t)below(m, WORKERS),
	    .seed = m->seed,
	};

	if (below(m, 3) != 0)
		(void)br_status_set_add(&rules.verdict.throttle_on, "429");
	rules.health.connections = rules.workers;
	return rules;
}

/* All receivers are well again: everything must end. */
static void
drain(struct model *m)
{
	for (size_t rounds = 0; m->items > 0; rounds++) {
		EXPECT(m, rounds < 100 * EVENTS);
		for (uint32_t w = 0; w < m->rules.workers; w++) {
			give(m, w, &answers[0]);
			take(m, w);
		}
		collect(m);
		bury(m);
		check(m);
		m->now_ms += 50;
	}
	for (size_t n = 0; n < EPOCHS; n++) {
		struct epoch *e = &m->epoch[n];

		if (e->part == NULL)
			continue;
		if (!e->closed)
			EXPECT(m, br_ledger_watermark(&e->ledger) == e->next);
		e->closed = true;
		br_sched_part_close(m->s, e->part, m->now_ms);
	}
	end_epochs(m);
}

static void
run(uint64_t seed)
{
	struct model *m = must_calloc(sizeof(*m));

	m->seed = m->random = seed;
	m->now_ms = (int64_t)below(m, 1000000);
	m->rules = random_rules(m);
	m->s = br_sched_new(&m->rules);
	for (size_t w = 0; w < WORKERS; w++)
		m->last_target[w] = -1;
	for (size_t n = 0; n < TARGETS; n++) {
		br_health_init(&m->to[n].health, &m->rules.health);
		m->to[n].used_ms = LONG_AGO;
	}
	open_epoch(m);
	open_epoch(m);
	for (; m->step < STEPS; m->step++) {
		act(m);
		note_wanted(m);
		check(m);
		if (below(m, 4) == 0)
			check_bytes(m);
	}
	drain(m);
	for (size_t n = 0; n < TARGETS; n++)
		br_health_free(&m->to[n].health);
	br_sched_free(m->s);
	free(m);
}

static void
test_random_runs(void **state)
{
	const char *wanted = getenv("BRIDGE_TEST_RUNS");
	size_t runs = wanted != NULL ? strtoul(wanted, NULL, 10) : RUNS;
	uint64_t seed = seed_take();

	(void)state;
	for (size_t n = 0; n < runs; n++) {
		run(seed);
		seed = seed_next(&seed) | 1;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_random_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
