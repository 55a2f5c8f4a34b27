/* decimal: see the header. */
#include "bridge/source/decimal.h"

#include "bridge/core/base64.h"

#define BYTES_MAX 64
#define DIGITS_MAX 160 /* of 512 bits: 155 */
#define SCALE_MAX 128

bool
br_base64_padded(
    struct br_arena *arena, struct br_slice text, struct br_slice *out)
{
	size_t pad = 0, n;
	uint8_t *to;

	if (text.len % 4 != 0)
		return false;
	while (
	    pad < 2 && pad < text.len && text.data[text.len - 1 - pad] == '=')
		pad++;
	to = br_arena_take(arena, BR_BASE64_BYTES(text.len));
	n = br_base64_decode(text.data, text.len - pad, to);
	*out = (struct br_slice){to, n};
	return n != SIZE_MAX;
}

/* Digits of a non-negative big-endian integer, least first; their number. */
static size_t
to_digits(uint8_t *bytes, size_t len, char digits[DIGITS_MAX])
{
	size_t n = 0, first = 0;

	while (first < len && bytes[first] == 0)
		first++;
	while (first < len) {
		unsigned rest = 0;

		for (size_t i = first; i < len; i++) {
			rest = rest << 8 | bytes[i];
			bytes[i] = (uint8_t)(rest / 10);
			rest %= 10;
		}
		digits[n++] = (char)('0' + rest);
		while (first < len && bytes[first] == 0)
			first++;
	}
	return n;
}

/* Two's complement: the bytes become their absolute value. */
static bool
absolute(uint8_t *bytes, size_t len)
{
	unsigned carry = 1;

	if ((bytes[0] & 0x80) == 0)
		return false;
	for (size_t i = len; i > 0; i--) {
		carry += (uint8_t)~bytes[i - 1];
		bytes[i - 1] = (uint8_t)carry;
		carry >>= 8;
	}
	return true;
}

bool
br_decimal_text(struct br_arena *arena, struct br_slice bytes, int64_t scale,
    struct br_slice *out)
{
	uint8_t work[BYTES_MAX];
	char digits[DIGITS_MAX];
	size_t n, zeros, point;
	uint8_t *start, *to;
	bool negative;

	if (bytes.len == 0 || bytes.len > BYTES_MAX || scale > SCALE_MAX ||
	    scale < -SCALE_MAX)
		return false;
	memcpy(work, bytes.data, bytes.len);
	negative = absolute(work, bytes.len);
	n = to_digits(work, bytes.len, digits);
	zeros = n > 0 && scale < 0 ? (size_t)-scale : 0;
	point = scale > 0 ? (size_t)scale : 0;
	start = to = br_arena_take(arena, DIGITS_MAX + 2 * SCALE_MAX);
	if (negative)
		*to++ = '-';
	/* At least one digit stands before the point. */
	for (size_t i = n > point ? n : point + 1; i > 0; i--) {
		if (i == point)
			*to++ = '.';
		*to++ = i <= n ? (uint8_t)digits[i - 1] : (uint8_t)'0';
	}
	for (size_t i = 0; i < zeros; i++)
		*to++ = '0';
	*out = (struct br_slice){start, (size_t)(to - start)};
	return true;
}
