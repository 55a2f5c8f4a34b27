/* base64: see the header. */
#include "bridge/core/base64.h"

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
br_base64_put(struct br_base64 *b, uint8_t byte)
{
	b->bits = b->bits << 8 | byte;
	b->held += 8;
	while (b->held >= 6) {
		b->held -= 6;
		*b->out++ = alphabet[b->bits >> b->held & 63];
	}
}

void
br_base64_end(struct br_base64 *b)
{
	if (b->held > 0)
		*b->out++ = alphabet[b->bits << (6 - b->held) & 63];
	b->held = 0;
}

/* 0 … 63, or -1. */
static int
value_of(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	return c == '/' ? 63 : -1;
}

size_t
br_base64_span(const uint8_t *text, size_t len)
{
	size_t span = 0;

	while (span < len && value_of(text[span]) >= 0)
		span++;
	return span;
}

size_t
br_base64_decode(const uint8_t *text, size_t len, uint8_t *out)
{
	uint32_t bits = 0;
	unsigned held = 0;
	size_t bytes = 0;

	if (len % 4 == 1)
		return SIZE_MAX;
	for (size_t i = 0; i < len; i++) {
		int value = value_of(text[i]);

		if (value < 0)
			return SIZE_MAX;
		bits = bits << 6 | (uint32_t)value;
		held += 6;
		if (held >= 8) {
			held -= 8;
			out[bytes++] = (uint8_t)(bits >> held);
		}
	}
	return (bits & ((1U << held) - 1)) != 0 ? SIZE_MAX : bytes;
}
