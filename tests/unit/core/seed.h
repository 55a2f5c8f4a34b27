/*
 * seed: random numbers for the property tests. The seed is printed;
 * BRIDGE_TEST_SEED=N repeats a run.
 */
#ifndef TESTS_UNIT_CORE_SEED_H
#define TESTS_UNIT_CORE_SEED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

static inline uint64_t
seed_take(void)
{
	const char *given = getenv("BRIDGE_TEST_SEED");
	uint64_t seed = 1;

	if (given != NULL)
		seed = strtoull(given, NULL, 10);
	else if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = 1;
	seed |= 1; /* 0 would stay 0 */
	printf("BRIDGE_TEST_SEED=%llu\n", (unsigned long long)seed);
	(void)fflush(stdout);
	return seed;
}

/* xorshift64*: small, and the same on every machine. */
static inline uint64_t
seed_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

/* 0 … below-1 */
static inline size_t
seed_below(uint64_t *state, size_t below)
{
	return (size_t)(seed_next(state) >> 11) % below;
}

/* [0, 1) */
static inline double
seed_fraction(uint64_t *state)
{
	return (double)(seed_next(state) >> 11) * 0x1p-53;
}

#endif
