/* heap: see the header. */
#include "bridge/core/heap.h"

#include <stdlib.h>

static void
place(struct br_heap *h, size_t at, struct br_heap_node *n)
{
	h->node[at] = n;
	n->index = at;
}

static void
sift_up(struct br_heap *h, struct br_heap_node *n)
{
	size_t at = n->index;

	while (at > 0 && h->node[(at - 1) / 2]->key > n->key) {
		place(h, at, h->node[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	place(h, at, n);
}

static void
sift_down(struct br_heap *h, struct br_heap_node *n)
{
	size_t at = n->index, child;

	while ((child = 2 * at + 1) < h->count) {
		if (child + 1 < h->count &&
		    h->node[child + 1]->key < h->node[child]->key)
			child++;
		if (h->node[child]->key >= n->key)
			break;
		place(h, at, h->node[child]);
		at = child;
	}
	place(h, at, n);
}

void
br_heap_add(struct br_heap *h, struct br_heap_node *n, int64_t key)
{
	if (h->count == h->capacity) {
		size_t more = h->capacity != 0 ? 2 * h->capacity : 64;
		struct br_heap_node **node =
		    realloc(h->node, more * sizeof(struct br_heap_node *));

		if (node == NULL)
			abort();
		h->node = node;
		h->capacity = more;
	}
	n->key = key;
	place(h, h->count++, n);
	sift_up(h, n);
}

void
br_heap_remove(struct br_heap *h, struct br_heap_node *n)
{
	size_t at = n->index;
	struct br_heap_node *last;

	if (at == BR_HEAP_OUT)
		return;
	last = h->node[--h->count];
	n->index = BR_HEAP_OUT;
	if (last == n)
		return;
	place(h, at, last);
	sift_up(h, last);
	sift_down(h, last);
}

void
br_heap_change(struct br_heap *h, struct br_heap_node *n, int64_t key)
{
	n->key = key;
	sift_up(h, n);
	sift_down(h, n);
}

struct br_heap_node *
br_heap_top(const struct br_heap *h)
{
	return h->count != 0 ? h->node[0] : NULL;
}

void
br_heap_free(struct br_heap *h)
{
	free(h->node);
	*h = (struct br_heap){0};
}
