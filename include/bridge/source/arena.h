/*
 * arena: scratch memory of one decoder. What was taken lives until the next
 * reset; in the steady state neither call allocates. One owner, no lock. Out
 * of memory aborts.
 */
#ifndef BRIDGE_SOURCE_ARENA_H
#define BRIDGE_SOURCE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct br_arena_block;

struct br_arena {                     /* all zero: empty and usable */
	struct br_arena_block *block; /* newest first */
	size_t used;                  /* of the newest */
};

/* `len` bytes (also 0), not aligned, never NULL. */
uint8_t *br_arena_take(struct br_arena *a, size_t len);

/* Gives back the last `len` bytes of what was taken last. */
void br_arena_return(struct br_arena *a, size_t len);

/* Forgets everything and keeps one block, unless that is a huge one. */
void br_arena_reset(struct br_arena *a);

/* Frees the memory; the arena is empty and usable afterwards. */
void br_arena_free(struct br_arena *a);

#endif
