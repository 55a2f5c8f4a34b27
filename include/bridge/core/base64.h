/*
 * base64: the alphabet of RFC 4648 section 4, without padding. Pure.
 *
 * Written byte by byte, so that what is written needs no second place.
 */
#ifndef BRIDGE_CORE_BASE64_H
#define BRIDGE_CORE_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* All zero but `out` is the beginning. */
struct br_base64 {
	char *out;     /* the next character goes here */
	uint32_t bits; /* not written yet: the lowest `held` ones */
	unsigned held;
};

/* Characters for so many bytes, and bytes that fit into so many characters. */
#define BR_BASE64_CHARS(bytes) (((bytes)*4 + 2) / 3)
#define BR_BASE64_BYTES(chars) ((chars)*3 / 4)

void br_base64_put(struct br_base64 *b, uint8_t byte);

/* Writes the bits that are left. No NUL is added. */
void br_base64_end(struct br_base64 *b);

/* How many of these bytes are of the alphabet, up to the first that is not. */
size_t br_base64_span(const uint8_t *text, size_t len);

/*
 * Reads `len` bytes of the alphabet; `out` has room for BR_BASE64_BYTES(len).
 * Returns how many bytes it wrote. SIZE_MAX when a byte is not of the
 * alphabet, a lone character is left over, or bits without a meaning are set:
 * there is one text for each sequence of bytes.
 */
size_t br_base64_decode(const uint8_t *text, size_t len, uint8_t *out);

#endif
