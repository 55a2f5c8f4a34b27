/* world_plan: what is to happen, from a seed. See world.h. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dice {
	uint64_t state;
};

static uint64_t
next(struct dice *d)
{
	d->state ^= d->state >> 12;
	d->state ^= d->state << 25;
	d->state ^= d->state >> 27;
	return d->state * UINT64_C(2685821657736338717);
}

/* least … most */
static int64_t
between(struct dice *d, int64_t least, int64_t most)
{
	return least +
	       (int64_t)((next(d) >> 11) % (uint64_t)(most - least + 1));
}

static bool
chance(struct dice *d, unsigned percent)
{
	return (next(d) >> 11) % 100 < percent;
}

static int64_t
one_of(struct dice *d, const int64_t *values, size_t count)
{
	return values[(next(d) >> 11) % count];
}

#define ONE_OF(d, ...)                                                         \
	one_of(d, (const int64_t[]){__VA_ARGS__},                              \
	    sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void
make_rules(struct rules *r, struct dice *d, uint64_t seed)
{
	*r = (struct rules){
	    .seed = seed,
	    .parts = (int)between(d, 1, WORLD_PARTS),
	    .instances = (int)ONE_OF(d, 1, 1, 2, 2, 3),
	    .targets = (int)between(d, 1, WORLD_TARGETS),
	    .order = chance(d, 80)   ? BR_ORDER_KEY
	             : chance(d, 50) ? BR_ORDER_PARTITION
	                             : BR_ORDER_NONE,
	    .workers = (uint32_t)ONE_OF(d, 1, 2, 4, 4, 4, 4),
	    .failures = (uint32_t)ONE_OF(d, 0, 3, 5, 5, 20),
	    .after = (uint32_t)ONE_OF(d, 0, 3, 10, 100),
	    .give_up_ms = ONE_OF(d, 0, 0, 10000, 60000),
	    .probe_ms = ONE_OF(d, 200, 1000),
	    .probe_max_ms = ONE_OF(d, 2000, 20000),
	    .base_ms = ONE_OF(d, 20, 100, 1000, 1000, 4000),
	    .max_delay_ms = ONE_OF(d, 8000, 60000, 3600000),
	    .commit_interval_ms = ONE_OF(d, 10, 100, 100, 1000),
	    .revoke_wait_ms = ONE_OF(d, 0, 200, 2000, 10000),
	    .buffer_bytes = (uint64_t)ONE_OF(d, 4000, 12000, 60000, 1000000),
	    .open_per_partition = (uint64_t)ONE_OF(d, 8, 20, 1000, 1000),
	    .checkpoint_bytes = (size_t)ONE_OF(d, 4000, 4000, 4000, 300, 0),
	    .broker_metadata_bytes = (size_t)ONE_OF(d, 4096, 4096, 4096, 70, 0),
	    .noise = (unsigned)ONE_OF(d, 0, 10, 50, 200),
	    .eager = chance(d, 30),
	};
}

/* An event that looks like an outage never leaves a target that is closed for
 * ever: that is what give_up_ms is for. */
static enum fate
make_fate(struct dice *d, const struct rules *r, unsigned bad)
{
	static const enum fate fates[] = {FATE_NEVER, FATE_BAD, FATE_BAD,
	    FATE_BAD_503, FATE_UNSENDABLE, FATE_SKIP};
	enum fate fate;

	if (!chance(d, bad))
		return FATE_GOOD;
	fate = fates[(next(d) >> 11) % 6];
	if (fate == FATE_BAD_503 && r->failures != 0 && r->give_up_ms == 0)
		fate = FATE_BAD;
	return fate;
}

static void
make_records(struct plan *plan, struct dice *d, size_t count, int64_t span_ms)
{
	const struct rules *r = &plan->rules;
	unsigned bad = (unsigned)ONE_OF(d, 0, 3, 15, 40);
	unsigned burst = (unsigned)ONE_OF(d, 0, 50, 95);
	int keys = (int)ONE_OF(d, 1, 2, 5, 30);
	int64_t at_ms = 0;

	for (size_t i = 0; i < count; i++) {
		struct happening *h = &plan->happening[plan->count++];

		if (!chance(d, burst))
			at_ms = between(d, 0, span_ms);
		*h = (struct happening){
		    .at_ms = at_ms,
		    .kind = chance(d, 5) ? HAPPEN_GAP : HAPPEN_RECORD,
		    .part = (int)between(d, 0, r->parts - 1),
		    .target = (int)between(d, 0, r->targets - 1),
		    .key = chance(d, 20) ? (int)between(d, 0, 1)
		                         : (int)between(d, 2, 1 + keys),
		    .fate = make_fate(d, r, bad),
		    .max_attempts =
		        (uint32_t)(chance(d, 80) ? 5 : between(d, 1, 4)),
		    .bytes = (size_t)between(d, 50, 1000),
		    .salt = next(d) >> 2,
		};
	}
}

static void
make_faults(struct plan *plan, struct dice *d, size_t count, int64_t span_ms)
{
	const struct rules *r = &plan->rules;

	for (size_t i = 0; i < count; i++)
		plan->happening[plan->count++] = (struct happening){
		    .at_ms = between(d, 0, span_ms),
		    .length_ms = ONE_OF(d, 100, 2000, 12000, 60000),
		    .kind = (enum happening_kind)ONE_OF(d, HAPPEN_CRASH,
		        HAPPEN_CRASH, HAPPEN_CRASH, HAPPEN_STOP, HAPPEN_LOST,
		        HAPPEN_FREEZE, HAPPEN_SHUFFLE, HAPPEN_SHUFFLE,
		        HAPPEN_HUP, HAPPEN_PHASE, HAPPEN_PHASE, HAPPEN_PHASE,
		        HAPPEN_DLQ, HAPPEN_COMMITS),
		    .instance = (int)between(d, 0, r->instances - 1),
		    .target = (int)between(d, 0, r->targets - 1),
		    .mode = (enum mode)between(d, 0, MODES - 1),
		    .trouble = (enum trouble)between(d, 0, TROUBLES - 1),
		    .moment = chance(d, 40)
		                  ? MOMENT_NOW
		                  : (enum moment)between(d, 0, MOMENTS - 1),
		};
}

static int
by_time(const void *left, const void *right)
{
	const struct happening *a = left, *b = right;

	if (a->at_ms != b->at_ms)
		return a->at_ms < b->at_ms ? -1 : 1;
	return (a->salt > b->salt) - (a->salt < b->salt);
}

void
plan_make(struct plan *plan, uint64_t seed)
{
	struct dice d = {seed * 0x9e3779b97f4a7c15ULL | 1};
	size_t records, faults;
	int64_t span_ms;

	for (int i = 0; i < 8; i++)
		(void)next(&d);
	make_rules(&plan->rules, &d, seed);
	records = (size_t)ONE_OF(&d, 10, 40, 40, 100, 100, 200, 600);
	faults = (size_t)ONE_OF(&d, 0, 1, 3, 6, 12);
	span_ms = ONE_OF(&d, 2000, 10000, 60000);
	plan->count = 0;
	plan->happening =
	    world_alloc((records + faults) * sizeof(*plan->happening));
	make_records(plan, &d, records, span_ms);
	make_faults(plan, &d, faults, span_ms);
	qsort(plan->happening, plan->count, sizeof(*plan->happening), by_time);
	plan->rules.faults_end_ms = span_ms + 60000;
}

void
plan_free(struct plan *plan)
{
	free(plan->happening);
	plan->happening = NULL;
	plan->count = 0;
}

const char *
plan_kind_name(enum happening_kind kind)
{
	static const char *const names[] = {"record", "gap", "crash", "stop",
	    "lost", "freeze", "shuffle", "hup", "target", "dlq", "commits"};

	return names[kind];
}

void
plan_print(const struct plan *plan)
{
	const struct rules *r = &plan->rules;

	printf("seed %llu: %d partitions, %d bridges of %u workers, %d targets,"
	       " order %d%s\n",
	    (unsigned long long)r->seed, r->parts, r->instances, r->workers,
	    r->targets, (int)r->order, r->eager ? ", eager rebalances" : "");
	printf("base_ms %lld, failures %u, after %u, give_up_ms %lld, "
	       "commit_interval_ms %lld, revoke_wait_ms %lld\n",
	    (long long)r->base_ms, r->failures, r->after,
	    (long long)r->give_up_ms, (long long)r->commit_interval_ms,
	    (long long)r->revoke_wait_ms);
	printf("buffer_bytes %llu, open_per_partition %llu, checkpoint_bytes "
	       "%zu, broker's limit of it %zu, noise %u of 1000\n",
	    (unsigned long long)r->buffer_bytes,
	    (unsigned long long)r->open_per_partition, r->checkpoint_bytes,
	    r->broker_metadata_bytes, r->noise);
	for (size_t i = 0; i < plan->count; i++) {
		const struct happening *h = &plan->happening[i];

		if (h->kind == HAPPEN_RECORD)
			printf("%9.3f  record: partition %d, key %d, fate %d, "
			       "target %d, %u attempts\n",
			    (double)h->at_ms / 1000, h->part, h->key,
			    (int)h->fate, h->target, h->max_attempts);
		else
			printf("%9.3f  %s: %d, kind %d, %.1f s\n",
			    (double)h->at_ms / 1000, plan_kind_name(h->kind),
			    h->kind == HAPPEN_GAP     ? h->part
			    : h->kind == HAPPEN_PHASE ? h->target
			                              : h->instance,
			    h->kind == HAPPEN_PHASE   ? (int)h->mode
			    : h->kind == HAPPEN_CRASH ? (int)h->moment
			                              : (int)h->trouble,
			    (double)h->length_ms / 1000);
	}
}
