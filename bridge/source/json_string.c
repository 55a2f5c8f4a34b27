/* json_string: decoded strings and copies of scanned text; see json.h. */
#include "bridge/source/json.h"

#include <strings.h>

static uint32_t
hex4(const uint8_t *p)
{
	uint32_t code = 0;

	for (int i = 0; i < 4; i++) {
		uint32_t c = p[i];

		code = code << 4 | (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return code;
}

static size_t
put_utf8(uint32_t code, uint8_t out[4])
{
	if (code < 0x80) {
		out[0] = (uint8_t)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (uint8_t)(0xc0 | code >> 6);
		out[1] = (uint8_t)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (uint8_t)(0xe0 | code >> 12);
		out[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
		out[2] = (uint8_t)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (uint8_t)(0xf0 | code >> 18);
	out[1] = (uint8_t)(0x80 | (code >> 12 & 0x3f));
	out[2] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
	out[3] = (uint8_t)(0x80 | (code & 0x3f));
	return 4;
}

/* Decodes \uXXXX, or a pair of them; the text was scanned before. */
static size_t
decode_unicode(const uint8_t **p, const uint8_t *end, uint8_t out[4])
{
	uint32_t code = hex4(*p + 2);
	uint32_t low;

	*p += 6;
	if (code < 0xd800 || code > 0xdfff)
		return put_utf8(code, out);
	if (code > 0xdbff || end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u')
		return 0;
	low = hex4(*p + 2);
	if (low < 0xdc00 || low > 0xdfff)
		return 0;
	*p += 6;
	return put_utf8(
	    0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), out);
}

/* What a short escape stands for. */
static uint8_t
unescaped(uint8_t c)
{
	switch (c) {
	case 'b':
		return '\b';
	case 'f':
		return '\f';
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	default: /* the quote, and both slashes */
		return c;
	}
}

/*
 * Decodes the escape at *p and steps over it. The number of bytes in `out`,
 * 0 for a lone surrogate.
 */
static size_t
decode_escape(const uint8_t **p, const uint8_t *end, uint8_t out[4])
{
	if ((*p)[1] == 'u')
		return decode_unicode(p, end, out);
	out[0] = unescaped((*p)[1]);
	*p += 2;
	return 1;
}

struct br_slice
br_json_inner(const struct br_json_value *string)
{
	return (struct br_slice){string->text.data + 1, string->text.len - 2};
}

bool
br_json_unquote(struct br_arena *arena, const struct br_json_value *string,
    struct br_slice *out)
{
	struct br_slice in = br_json_inner(string);
	const uint8_t *p = in.data, *end = in.data + in.len;
	uint8_t *start, *to;

	*out = in;
	if (!string->escaped)
		return true;
	/* An escape is never shorter than what it stands for. */
	start = to = br_arena_take(arena, in.len);
	while (p < end) {
		const uint8_t *slash = memchr(p, '\\', (size_t)(end - p));
		size_t plain = (size_t)((slash != NULL ? slash : end) - p);
		uint8_t code[4];
		size_t n;

		memcpy(to, p, plain);
		to += plain;
		p += plain;
		if (p == end)
			break;
		n = decode_escape(&p, end, code);
		if (n == 0) {
			br_arena_return(arena, in.len);
			return false;
		}
		memcpy(to, code, n);
		to += n;
	}
	out->data = start;
	out->len = (size_t)(to - start);
	br_arena_return(arena, in.len - out->len);
	return true;
}

bool
br_json_is(const struct br_json_value *string, struct br_slice text)
{
	struct br_slice in = br_json_inner(string);
	const uint8_t *p = in.data, *end = in.data + in.len;
	size_t at = 0;

	if (in.len < text.len || (!string->escaped && in.len > text.len))
		return false;
	if (!string->escaped)
		return memcmp(in.data, text.data, text.len) == 0;
	while (p < end) {
		uint8_t code[4] = {*p};
		size_t n = 1;

		if (*p == '\\')
			n = decode_escape(&p, end, code);
		else
			p++;
		if (n == 0 || text.len - at < n ||
		    memcmp(text.data + at, code, n) != 0)
			return false;
		at += n;
	}
	return at == text.len;
}

/* Number of members that are kept. */
static size_t
kept(const struct br_json_object *object)
{
	return object->count < BR_JSON_MEMBERS ? object->count
	                                       : BR_JSON_MEMBERS;
}

const struct br_json_value *
br_json_get(const struct br_json_object *object, const char *name)
{
	struct br_slice text = br_slice_str(name);

	for (size_t i = kept(object); i > 0; i--)
		if (br_json_is(&object->member[i - 1].name, text))
			return &object->member[i - 1].value;
	return NULL;
}

const struct br_json_value *
br_json_get_any_case(const struct br_json_object *object, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = kept(object); i > 0; i--) {
		struct br_slice in = br_json_inner(&object->member[i - 1].name);

		if (in.len == len &&
		    strncasecmp((const char *)in.data, name, len) == 0)
			return &object->member[i - 1].value;
	}
	return NULL;
}

struct br_slice
br_json_compact(struct br_arena *arena, struct br_slice text)
{
	uint8_t *out = br_arena_take(arena, text.len);
	size_t len = 0;
	bool string = false;

	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = text.data[i];

		if (!string && strchr(" \t\r\n", c) != NULL)
			continue;
		out[len++] = c;
		if (c == '"')
			string = !string;
		else if (c == '\\' && i + 1 < text.len)
			out[len++] = text.data[++i];
	}
	br_arena_return(arena, text.len - len);
	return (struct br_slice){out, len};
}
