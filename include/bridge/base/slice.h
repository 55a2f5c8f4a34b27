/*
 * slice: bytes that somebody else owns. `data == NULL` means absent (a Kafka
 * null), which is not the same as a length of 0.
 */
#ifndef BRIDGE_BASE_SLICE_H
#define BRIDGE_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct br_slice {
	const uint8_t *data;
	size_t len;
};

/* The bytes of a string without its NUL; NULL gives an absent slice. */
static inline struct br_slice
br_slice_str(const char *text)
{
	return (struct br_slice){
	    (const uint8_t *)text, text != NULL ? strlen(text) : 0};
}

/* Same bytes (absent equals only absent). */
static inline bool
br_slice_eq(struct br_slice a, struct br_slice b)
{
	if (a.data == NULL || b.data == NULL)
		return a.data == b.data;
	return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

#endif
