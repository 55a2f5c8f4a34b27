/* lane: see the header. */
#include "bridge/core/lane.h"

#include <assert.h>
#include <stdlib.h>

/* FNV-1a with a seed and a final mix: keys are short and come from the
 * user's own tables; the seed keeps a crafted set from one bucket. */
static uint64_t
hash_of(uint64_t seed, const struct br_sched_part *part, struct br_slice key)
{
	uint64_t h = (seed ^ (uint64_t)(uintptr_t)part) * 0x9e3779b97f4a7c15ULL;

	for (size_t i = 0; i < key.len; i++)
		h = (h ^ key.data[i]) * 0x100000001b3ULL;
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93ULL;
	return h ^ h >> 29;
}

static void
grow(struct br_lane_table *t)
{
	size_t buckets = t->buckets != 0 ? 2 * t->buckets : 256;
	struct br_lane **bucket = calloc(buckets, sizeof(struct br_lane *));

	if (bucket == NULL)
		abort();
	for (size_t i = 0; i < t->buckets; i++) {
		struct br_lane *lane = t->bucket[i], *next;

		for (; lane != NULL; lane = next) {
			size_t at = lane->hash & (buckets - 1);

			next = lane->hash_next;
			lane->hash_next = bucket[at];
			bucket[at] = lane;
		}
	}
	free(t->bucket);
	t->bucket = bucket;
	t->buckets = buckets;
}

static struct br_lane *
lane_new(struct br_sched_part *part, size_t key_len)
{
	struct br_lane *lane = calloc(1, sizeof(*lane) + key_len);

	if (lane == NULL)
		abort();
	lane->part = part;
	lane->bytes = sizeof(*lane) + key_len;
	lane->place.index = BR_HEAP_OUT;
	lane->place.owner = lane;
	return lane;
}

struct br_lane *
br_lane_get(struct br_lane_table *t, struct br_sched_part *part,
    struct br_slice key, bool *made)
{
	uint64_t hash = hash_of(t->seed, part, key);
	struct br_lane *lane;

	if (t->count >= t->buckets)
		grow(t);
	lane = t->bucket[hash & (t->buckets - 1)];
	for (; lane != NULL; lane = lane->hash_next)
		if (lane->hash == hash && lane->part == part &&
		    lane->key_len == key.len &&
		    (key.len == 0 ||
		        memcmp(lane->key, key.data, key.len) == 0)) {
			*made = false;
			return lane;
		}
	lane = lane_new(part, key.len);
	lane->keyed = true;
	lane->hash = hash;
	lane->key_len = key.len;
	if (key.len != 0)
		memcpy(lane->key, key.data, key.len);
	lane->hash_next = t->bucket[hash & (t->buckets - 1)];
	t->bucket[hash & (t->buckets - 1)] = lane;
	t->count++;
	*made = true;
	return lane;
}

struct br_lane *
br_lane_single(struct br_sched_part *part)
{
	return lane_new(part, 0);
}

void
br_lane_free(struct br_lane_table *t, struct br_lane *lane)
{
	assert(lane->first == NULL && lane->place.index == BR_HEAP_OUT);
	if (lane->keyed) {
		struct br_lane **at = &t->bucket[lane->hash & (t->buckets - 1)];

		while (*at != lane)
			at = &(*at)->hash_next;
		*at = lane->hash_next;
		t->count--;
	}
	free(lane);
}

void
br_lane_table_free(struct br_lane_table *t)
{
	assert(t->count == 0);
	free(t->bucket);
	*t = (struct br_lane_table){0};
}

void
br_lane_push(struct br_lane *lane, struct br_ref *ref)
{
	ref->lane = lane;
	ref->next = NULL;
	if (lane->last != NULL)
		lane->last->next = ref;
	else
		lane->first = ref;
	lane->last = ref;
	lane->count++;
	lane->bytes += br_ref_weight(ref);
}

struct br_ref *
br_lane_pop(struct br_lane *lane)
{
	struct br_ref *ref = lane->first;

	lane->first = ref->next;
	if (lane->first == NULL)
		lane->last = NULL;
	ref->next = NULL;
	ref->lane = NULL;
	lane->count--;
	lane->bytes -= br_ref_weight(ref);
	return ref;
}
