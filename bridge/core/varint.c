/* varint: see the header. */
#include "bridge/core/varint.h"

size_t
br_varint_size(uint64_t value)
{
	size_t size = 1;

	for (; value > 0x7f; value >>= 7)
		size++;
	return size;
}

size_t
br_varint_put(uint8_t out[BR_VARINT_MAX], uint64_t value)
{
	size_t size = 0;

	for (; value > 0x7f; value >>= 7)
		out[size++] = (uint8_t)(value | 0x80);
	out[size++] = (uint8_t)value;
	return size;
}

size_t
br_varint_get(const uint8_t *bytes, size_t len, uint64_t *value)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < len && i < BR_VARINT_MAX; i++) {
		uint64_t bits = bytes[i] & 0x7f;

		/* The tenth byte has room for one bit. */
		if (i == BR_VARINT_MAX - 1 && bytes[i] > 1)
			return 0;
		sum |= bits << 7 * i;
		if (bytes[i] < 0x80) {
			*value = sum;
			return bits == 0 && i > 0 ? 0 : i + 1;
		}
	}
	return 0;
}
