/*
 * heap: a binary min-heap of pointers by a 64-bit key. Each element keeps its
 * own index, so that it can leave from the middle. No lock; one owner.
 */
#ifndef BRIDGE_CORE_HEAP_H
#define BRIDGE_CORE_HEAP_H

#include <stddef.h>
#include <stdint.h>

#define BR_HEAP_OUT SIZE_MAX /* index of an element that is in no heap */

struct br_heap_node {
	int64_t key;
	size_t index; /* BR_HEAP_OUT when in no heap */
	int kind;     /* the owner's, to tell what `owner` is */
	void *owner;
};

struct br_heap {
	struct br_heap_node **node;
	size_t count;
	size_t capacity;
};

/* Adds a node that is in no heap. */
void br_heap_add(struct br_heap *h, struct br_heap_node *n, int64_t key);

/* Removes a node; does nothing when it is in no heap. */
void br_heap_remove(struct br_heap *h, struct br_heap_node *n);

/* Gives a node that is in the heap another key. */
void br_heap_change(struct br_heap *h, struct br_heap_node *n, int64_t key);

/* The node with the smallest key, or NULL. */
struct br_heap_node *br_heap_top(const struct br_heap *h);

/* Frees the array; the nodes are the caller's. */
void br_heap_free(struct br_heap *h);

#endif
