/*
 * samples: the values of one metric by label, in the order of the page (label,
 * then partition). One owner, no lock. Out of memory aborts.
 */
#ifndef BRIDGE_BASE_SAMPLES_H
#define BRIDGE_BASE_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

struct br_sample {
	char *label;
	int32_t partition; /* 0 where there is none */
	double value;
};

/* All zero is an empty one. */
struct br_samples {
	struct br_sample *items;
	size_t count;
	size_t capacity;
};

/* The sample, or NULL. Valid until the next add, drop or clear. */
struct br_sample *br_samples_find(
    const struct br_samples *s, const char *label, int32_t partition);

/* The same; one that is missing is made with value 0 unless `limit` exist. */
struct br_sample *br_samples_add(
    struct br_samples *s, const char *label, int32_t partition, size_t limit);

/* Takes a sample out if it is there. */
void br_samples_drop(
    struct br_samples *s, const char *label, int32_t partition);

/* Frees all; it is empty and usable afterwards. */
void br_samples_clear(struct br_samples *s);

#endif
