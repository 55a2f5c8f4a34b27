/* arena: see the header. */
#include "bridge/source/arena.h"

#include <stdlib.h>

#define BLOCK_MIN 16384
#define BLOCK_KEPT (1024 * 1024) /* a larger one is for one record only */

struct br_arena_block {
	struct br_arena_block *next;
	size_t size;
	uint8_t bytes[];
};

uint8_t *
br_arena_take(struct br_arena *a, size_t len)
{
	struct br_arena_block *block = a->block;

	if (block == NULL || block->size - a->used < len) {
		size_t size = block != NULL ? block->size * 2 : BLOCK_MIN;

		/* Doubling stops being wise where a block is not kept. */
		if (size > BLOCK_KEPT)
			size = BLOCK_KEPT;
		if (size < len)
			size = len;
		block = malloc(sizeof(*block) + size);
		if (block == NULL)
			abort();
		block->next = a->block;
		block->size = size;
		a->block = block;
		a->used = 0;
	}
	a->used += len;
	return block->bytes + a->used - len;
}

void
br_arena_return(struct br_arena *a, size_t len)
{
	a->used -= len;
}

/* Frees `block` and the older ones. */
static void
free_blocks(struct br_arena_block *block)
{
	while (block != NULL) {
		struct br_arena_block *next = block->next;

		free(block);
		block = next;
	}
}

void
br_arena_reset(struct br_arena *a)
{
	a->used = 0;
	if (a->block == NULL)
		return;
	if (a->block->size > BLOCK_KEPT) {
		br_arena_free(a);
		return;
	}
	free_blocks(a->block->next);
	a->block->next = NULL;
}

void
br_arena_free(struct br_arena *a)
{
	free_blocks(a->block);
	a->block = NULL;
	a->used = 0;
}
