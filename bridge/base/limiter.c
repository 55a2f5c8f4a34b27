/* limiter: see the header. */
#include "bridge/base/limiter.h"

#include <stdlib.h>

struct group {
	uint64_t hash;     /* of its text */
	uint64_t asked;    /* tick of the last question; 0: free */
	uint64_t left_out; /* lines since the last one that passed */
	int64_t passed_ms[BR_LIMITER_LINES]; /* ring of the last lines */
	unsigned int count;                  /* used places of the ring */
	unsigned int next;                   /* the oldest once it is full */
};

struct br_limiter {
	uint64_t tick;
	size_t count;
	struct group groups[];
};

struct br_limiter *
br_limiter_new(size_t groups)
{
	struct br_limiter *l;

	l = calloc(1, sizeof(*l) + groups * sizeof(l->groups[0]));
	if (l == NULL)
		abort();
	l->count = groups;
	return l;
}

void
br_limiter_free(struct br_limiter *l)
{
	free(l);
}

/*
 * FNV-1a. Groups are told apart by it alone: two that collide share their ten
 * lines, which costs less than keeping the texts.
 */
static uint64_t
hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash;
}

static struct group *
find_group(struct br_limiter *l, uint64_t hash)
{
	struct group *oldest = &l->groups[0];

	for (size_t i = 0; i < l->count; i++) {
		struct group *g = &l->groups[i];

		if (g->asked != 0 && g->hash == hash)
			return g;
		if (g->asked < oldest->asked)
			oldest = g;
	}
	*oldest = (struct group){.hash = hash};
	return oldest;
}

bool
br_limiter_allow(struct br_limiter *l, const char *group, int64_t now_ms,
    uint64_t *suppressed)
{
	struct group *g = find_group(l, hash_text(group));

	g->asked = ++l->tick;
	if (g->count == BR_LIMITER_LINES &&
	    now_ms - g->passed_ms[g->next] < BR_LIMITER_WINDOW_MS) {
		g->left_out++;
		return false;
	}
	g->passed_ms[g->next] = now_ms;
	g->next = (g->next + 1) % BR_LIMITER_LINES;
	if (g->count < BR_LIMITER_LINES)
		g->count++;
	*suppressed = g->left_out;
	g->left_out = 0;
	return true;
}
