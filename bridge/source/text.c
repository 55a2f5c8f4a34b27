/* text: see the header. */
#include "bridge/source/text.h"

#include "bridge/base/utf8.h"

#define PLAIN_DIGITS 64

/* Steps over ASCII, eight bytes at a time. */
static const uint8_t *
skip_ascii(const uint8_t *p, const uint8_t *end)
{
	while (end - p >= 8) {
		uint64_t w;

		memcpy(&w, p, sizeof(w));
		if ((w & 0x8080808080808080u) != 0)
			break;
		p += 8;
	}
	while (p < end && *p < 0x80)
		p++;
	return p;
}

bool
br_text_is_utf8(struct br_slice text)
{
	const uint8_t *p = text.data, *end;
	uint32_t code;

	if (text.len == 0)
		return true;
	end = p + text.len;
	while ((p = skip_ascii(p, end)) < end) {
		size_t n = br_utf8_char(p, (size_t)(end - p), &code);

		if (n == 0)
			return false;
		p += n;
	}
	return true;
}

bool
br_text_has_control(struct br_slice text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] < 0x20 || text.data[i] == 0x7f)
			return true;
	return false;
}

bool
br_text_is_printable(struct br_slice text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] < 0x20 || text.data[i] > 0x7e)
			return false;
	return true;
}

bool
br_text_begins(struct br_slice text, const char *prefix)
{
	size_t n = strlen(prefix);

	return text.data != NULL && text.len >= n &&
	       memcmp(text.data, prefix, n) == 0;
}

bool
br_text_is_java(struct br_slice text)
{
	if (text.len == 0)
		return false;
	switch (text.data[0]) {
	case 'S':
		return br_text_begins(text, "Struct{");
	case '[':
		return br_text_begins(text, "[B@");
	case 'j':
		return br_text_begins(text, "java.nio.HeapByteBuffer[");
	default:
		return false;
	}
}

static bool
is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* A decimal in its parts: digits with a point after `point` of them. */
struct number {
	bool negative;
	struct br_slice whole;
	struct br_slice fraction;
	int exponent; /* saturated at ±100000 */
};

static struct br_slice
take_digits(const uint8_t **p, const uint8_t *end)
{
	struct br_slice digits = {*p, 0};

	while (*p < end && is_digit(**p))
		(*p)++;
	digits.len = (size_t)(*p - digits.data);
	return digits;
}

static bool
take_exponent(const uint8_t **p, const uint8_t *end, int *exponent)
{
	bool negative;
	struct br_slice digits;

	*exponent = 0;
	if (*p == end || (**p != 'e' && **p != 'E'))
		return true;
	(*p)++;
	negative = *p < end && **p == '-';
	if (*p < end && (**p == '-' || **p == '+'))
		(*p)++;
	digits = take_digits(p, end);
	for (size_t i = 0; i < digits.len && *exponent < 100000; i++)
		*exponent = *exponent * 10 + (digits.data[i] - '0');
	if (negative)
		*exponent = -*exponent;
	return digits.len > 0;
}

/* [-+]digits[.digits][e[-+]digits]; true when it is all of the text. */
static bool
split_number(struct br_slice text, struct number *n)
{
	const uint8_t *p = text.data, *end;

	if (text.len == 0)
		return false;
	end = p + text.len;
	n->negative = *p == '-';
	if (*p == '-' || *p == '+')
		p++;
	n->whole = take_digits(&p, end);
	n->fraction = (struct br_slice){p, 0};
	if (p < end && *p == '.') {
		p++;
		n->fraction = take_digits(&p, end);
		if (n->fraction.len == 0)
			return false;
	}
	return n->whole.len > 0 && take_exponent(&p, end, &n->exponent) &&
	       p == end;
}

/* The digit at `i` counted over whole and fraction; zeros behind them. */
static int
digit_at(const struct number *n, size_t i)
{
	if (i < n->whole.len)
		return n->whole.data[i] - '0';
	i -= n->whole.len;
	return i < n->fraction.len ? n->fraction.data[i] - '0' : 0;
}

bool
br_text_integer(struct br_slice text, int64_t *number)
{
	struct number n;
	int64_t total, value = 0;
	size_t digits, point;

	if (!split_number(text, &n))
		return false;
	digits = n.whole.len + n.fraction.len;
	total = (int64_t)n.whole.len + n.exponent;
	point = total < 0 ? 0 : (size_t)total;
	for (size_t i = point; i < digits; i++)
		if (digit_at(&n, i) != 0)
			return false;
	for (size_t i = 0; i < point; i++) {
		int digit = digit_at(&n, i);

		/* Zeros without end behind a zero stay a zero. */
		if (value == 0 && i >= digits)
			break;
		if (value > (INT64_MAX - digit) / 10) {
			*number = n.negative ? INT64_MIN : INT64_MAX;
			return true;
		}
		value = value * 10 + digit;
	}
	*number = n.negative ? -value : value;
	return true;
}

struct br_slice
br_text_plain(struct br_arena *arena, struct br_slice text)
{
	const uint8_t *mark = NULL;
	struct number n;
	size_t point, digits;
	uint8_t *out, *to;

	/* Java always writes the sign, which tells it from a hex text. */
	if (text.len >= 4 && text.len <= PLAIN_DIGITS)
		mark = memchr(text.data, 'E', text.len - 2);
	if (mark == NULL || mark[1] != '+' || !split_number(text, &n) ||
	    n.whole.len != 1 || n.exponent >= PLAIN_DIGITS)
		return text;
	digits = n.whole.len + n.fraction.len;
	point = n.whole.len + (size_t)n.exponent;
	if (point < digits)
		return text;
	out = to = br_arena_take(arena, point + 1);
	if (n.negative)
		*to++ = '-';
	for (size_t i = 0; i < point; i++)
		*to++ = (uint8_t)('0' + digit_at(&n, i));
	return (struct br_slice){out, (size_t)(to - out)};
}

struct br_slice
br_text_uuid(struct br_arena *arena, const uint8_t bytes[16])
{
	static const char hex[] = "0123456789abcdef";
	uint8_t *out = br_arena_take(arena, 36), *to = out;

	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*to++ = '-';
		*to++ = (uint8_t)hex[bytes[i] >> 4];
		*to++ = (uint8_t)hex[bytes[i] & 15];
	}
	return (struct br_slice){out, 36};
}
