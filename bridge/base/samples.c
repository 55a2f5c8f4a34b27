/* samples: see the header. */
#include "bridge/base/samples.h"

#include <stdlib.h>
#include <string.h>

/* First place whose sample is not before the wanted one; `*order` is 0 if it
 * is the wanted one. */
static size_t
place(const struct br_samples *s, const char *label, int32_t partition,
    int *order)
{
	size_t low = 0, high = s->count;

	*order = 1;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct br_sample *item = &s->items[middle];
		int c = strcmp(item->label, label);

		if (c == 0)
			c = (item->partition > partition) -
			    (item->partition < partition);
		if (c == 0)
			*order = 0;
		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct br_sample *
br_samples_find(
    const struct br_samples *s, const char *label, int32_t partition)
{
	int order;
	size_t i = place(s, label, partition, &order);

	return order == 0 ? &s->items[i] : NULL;
}

static void
reserve(struct br_samples *s)
{
	size_t capacity = s->capacity != 0 ? s->capacity * 2 : 8;
	struct br_sample *items;

	if (s->count < s->capacity)
		return;
	items = realloc(s->items, capacity * sizeof(*items));
	if (items == NULL)
		abort();
	s->items = items;
	s->capacity = capacity;
}

struct br_sample *
br_samples_add(
    struct br_samples *s, const char *label, int32_t partition, size_t limit)
{
	int order;
	size_t i = place(s, label, partition, &order);
	char *copy;

	if (order == 0)
		return &s->items[i];
	if (s->count >= limit)
		return NULL;
	copy = strdup(label);
	if (copy == NULL)
		abort();
	reserve(s);
	memmove(&s->items[i + 1], &s->items[i],
	    (s->count - i) * sizeof(s->items[0]));
	s->items[i] = (struct br_sample){copy, partition, 0};
	s->count++;
	return &s->items[i];
}

void
br_samples_drop(struct br_samples *s, const char *label, int32_t partition)
{
	int order;
	size_t i = place(s, label, partition, &order);

	if (order != 0)
		return;
	free(s->items[i].label);
	s->count--;
	memmove(&s->items[i], &s->items[i + 1],
	    (s->count - i) * sizeof(s->items[0]));
}

void
br_samples_clear(struct br_samples *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->items[i].label);
	free(s->items);
	*s = (struct br_samples){0};
}
