/*
 * varint: unsigned numbers of one to ten bytes, seven bits in each, the
 * lowest first; the high bit says that another byte follows (LEB128). Pure.
 */
#ifndef BRIDGE_CORE_VARINT_H
#define BRIDGE_CORE_VARINT_H

#include <stddef.h>
#include <stdint.h>

#define BR_VARINT_MAX 10

/* How many bytes a number takes. */
size_t br_varint_size(uint64_t value);

/* Writes it and returns how many bytes it took. */
size_t br_varint_put(uint8_t out[BR_VARINT_MAX], uint64_t value);

/*
 * Reads one; returns how many bytes it took, 0 when they end too early, have
 * more than 64 bits, or are not the shortest form.
 */
size_t br_varint_get(const uint8_t *bytes, size_t len, uint64_t *value);

#endif
