/* target: see the header. */
#include "bridge/core/target.h"

#include <assert.h>
#include <stdlib.h>

#define BUCKETS (sizeof(((struct br_target_table *)0)->bucket) / sizeof(void *))

/* Above so many, one that nobody uses makes place for a new one: wildcards
 * in event_urls allow any number of hosts over the life of the process. */
#define KEEP 1024

static uint64_t
hash_of(const char *name)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (; *name != '\0'; name++)
		h = (h ^ (uint8_t)*name) * 0x100000001b3ULL;
	return h ^ h >> 32;
}

/* Drops the targets of one chain that hold nothing. */
static void
evict(struct br_target_table *t, struct br_target **at)
{
	while (*at != NULL) {
		struct br_target *target = *at;

		if (target->lanes == 0 && target->workers == 0) {
			*at = target->next;
			t->count--;
			free(target);
		} else
			at = &target->next;
	}
}

struct br_target *
br_target_get(struct br_target_table *t, const char *name)
{
	uint64_t hash = hash_of(name);
	struct br_target **chain = &t->bucket[hash % BUCKETS], *target;
	size_t len = strlen(name);

	for (target = *chain; target != NULL; target = target->next)
		if (target->hash == hash && strcmp(target->name, name) == 0)
			return target;
	if (t->count >= KEEP)
		evict(t, chain);
	target = calloc(1, sizeof(*target) + len + 1);
	if (target == NULL)
		abort();
	memcpy(target->name, name, len);
	target->hash = hash;
	target->turn.index = BR_HEAP_OUT;
	target->turn.owner = target;
	target->next = *chain;
	*chain = target;
	t->count++;
	return target;
}

/* Puts the target where its oldest ready lane belongs. */
static void
take_turn(struct br_target_table *t, struct br_target *target)
{
	if (target->first == NULL)
		br_heap_remove(&t->turns, &target->turn);
	else if (target->turn.index == BR_HEAP_OUT)
		br_heap_add(&t->turns, &target->turn, target->first->ready_ms);
	else if (target->turn.key != target->first->ready_ms)
		br_heap_change(
		    &t->turns, &target->turn, target->first->ready_ms);
}

void
br_target_ready(struct br_target_table *t, struct br_target *target,
    struct br_lane *lane, int64_t now_ms)
{
	lane->ready_ms = now_ms;
	lane->ready_next = NULL;
	lane->ready_prev = target->last;
	if (target->last != NULL)
		target->last->ready_next = lane;
	else
		target->first = lane;
	target->last = lane;
	take_turn(t, target);
}

void
br_target_unready(
    struct br_target_table *t, struct br_target *target, struct br_lane *lane)
{
	if (lane->ready_prev != NULL)
		lane->ready_prev->ready_next = lane->ready_next;
	else
		target->first = lane->ready_next;
	if (lane->ready_next != NULL)
		lane->ready_next->ready_prev = lane->ready_prev;
	else
		target->last = lane->ready_prev;
	lane->ready_prev = lane->ready_next = NULL;
	take_turn(t, target);
}

struct br_target *
br_target_next(
    const struct br_target_table *t, struct br_target *prefer, int64_t slack_ms)
{
	const struct br_heap_node *oldest = br_heap_top(&t->turns);

	if (oldest == NULL)
		return NULL;
	if (prefer != NULL && prefer->first != NULL &&
	    prefer->first->ready_ms - oldest->key <= slack_ms)
		return prefer;
	return oldest->owner;
}

void
br_target_table_free(struct br_target_table *t)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct br_target *target = t->bucket[i], *next;
		     target != NULL; target = next) {
			next = target->next;
			assert(target->first == NULL);
			free(target);
		}
	br_heap_free(&t->turns);
	*t = (struct br_target_table){0};
}
