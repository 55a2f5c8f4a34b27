/*
 * memory: allocation for this room. Out of memory aborts, as in base/buffer:
 * a group member that cannot note an offset has nothing better to do.
 */
#ifndef BRIDGE_KAFKA_MEMORY_H
#define BRIDGE_KAFKA_MEMORY_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Zeroed memory for `count` elements, never NULL. Freed with free(). */
static inline void *
br_kafka_zeroed(size_t count, size_t size)
{
	void *p = calloc(count != 0 ? count : 1, size);

	if (p == NULL)
		abort();
	return p;
}

/* Like reallocarray, never NULL. */
static inline void *
br_kafka_grow(void *old, size_t count, size_t size)
{
	void *p = reallocarray(old, count, size);

	if (p == NULL)
		abort();
	return p;
}

/* A copy of `len` bytes with a NUL behind them, never NULL. */
static inline char *
br_kafka_copy(const char *bytes, size_t len)
{
	char *p = br_kafka_zeroed(len + 1, 1);

	if (len > 0)
		memcpy(p, bytes, len);
	return p;
}

#endif
