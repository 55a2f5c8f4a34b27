/* trace: see the header. */
#include "bridge/source/trace.h"

#include "bridge/source/field.h"
#include "bridge/source/text.h"

#define PARENT_LEN 55
#define STATE_MEMBERS 32

static bool
is_hex(struct br_slice text, size_t at, size_t len)
{
	for (size_t i = at; i < at + len; i++) {
		uint8_t c = text.data[i];

		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
			return false;
	}
	return true;
}

static bool
all_zero(struct br_slice text, size_t at, size_t len)
{
	for (size_t i = at; i < at + len; i++)
		if (text.data[i] != '0')
			return false;
	return true;
}

struct br_slice
br_trace_parent(struct br_slice text)
{
	const struct br_slice none = {NULL, 0};
	bool first_version;

	if (text.data == NULL || text.len < PARENT_LEN)
		return none;
	if (!is_hex(text, 0, 2) || text.data[2] != '-' ||
	    !is_hex(text, 3, 32) || text.data[35] != '-' ||
	    !is_hex(text, 36, 16) || text.data[52] != '-' ||
	    !is_hex(text, 53, 2))
		return none;
	if (all_zero(text, 3, 32) || all_zero(text, 36, 16) ||
	    br_text_begins(text, "ff"))
		return none;
	first_version = br_text_begins(text, "00");
	if (text.len > PARENT_LEN &&
	    (first_version || text.data[PARENT_LEN] != '-'))
		return none;
	text.len = PARENT_LEN;
	return text;
}

static bool
key_char(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("_-*/@", c) != NULL);
}

/* One member of the list without its commas; white space alone is fine. */
static bool
state_member(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *key;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	if (p == end)
		return true;
	key = p;
	while (p < end && key_char(*p))
		p++;
	if (p == key || p == end || *p != '=')
		return false;
	for (p++; p < end; p++)
		if (*p < 0x20 || *p > 0x7e || *p == '=')
			return false;
	return true;
}

bool
br_trace_state_valid(struct br_slice text)
{
	const uint8_t *p = text.data, *end;
	size_t members = 0;

	if (text.len == 0)
		return false;
	end = p + text.len;
	while (p <= end) {
		size_t rest = (size_t)(end - p);
		const uint8_t *comma = rest > 0 ? memchr(p, ',', rest) : NULL;
		const uint8_t *stop = comma != NULL ? comma : end;

		if (++members > STATE_MEMBERS || !state_member(p, stop))
			return false;
		p = stop + 1;
	}
	return true;
}

/* Text of the i-th header when that is its name; absent otherwise. */
static struct br_slice
header_text(
    struct br_arena *arena, const struct br_header *header, const char *name)
{
	struct br_field field;

	if (strcmp(header->name, name) != 0)
		return (struct br_slice){NULL, 0};
	field = br_field_header(arena, header->value);
	if (field.state != BR_FIELD_TEXT)
		return (struct br_slice){NULL, 0};
	return field.text;
}

struct br_slice
br_trace_header_parent(struct br_arena *arena, const struct br_record *r)
{
	struct br_slice parent = {NULL, 0};

	for (size_t i = r->header_count; i > 0 && parent.data == NULL; i--)
		parent = br_trace_parent(
		    header_text(arena, &r->headers[i - 1], "traceparent"));
	return parent;
}

struct br_slice
br_trace_header_state(struct br_arena *arena, const struct br_record *r)
{
	for (size_t i = r->header_count; i > 0; i--) {
		struct br_slice state =
		    header_text(arena, &r->headers[i - 1], "tracestate");

		if (br_trace_state_valid(state))
			return state;
	}
	return (struct br_slice){NULL, 0};
}

/* A line of a properties file without the escapes. */
struct line {
	struct br_slice key;
	struct br_slice value;
};

static int
hex_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * The character behind a backslash at *p; trace headers are ASCII, so that
 * anything else may become a '?', which no valid one holds.
 */
static uint8_t
unescape(const uint8_t **p, const uint8_t *end)
{
	uint8_t c = *(*p)++;
	int code = 0;

	if (c == 'n' || c == 'r' || c == 't' || c == 'f')
		return c == 'n'   ? '\n'
		       : c == 'r' ? '\r'
		       : c == 't' ? '\t'
		                  : '\f';
	if (c != 'u')
		return c;
	for (int i = 0; i < 4; i++, (*p)++) {
		int digit = *p < end ? hex_value(**p) : -1;

		if (digit < 0)
			return '?';
		code = code << 4 | digit;
	}
	return code < 0x80 ? (uint8_t)code : '?';
}

static bool
is_end(uint8_t c)
{
	return c == '\n' || c == '\r';
}

static void
skip_blank(const uint8_t **p, const uint8_t *end)
{
	while (*p < end && (**p == ' ' || **p == '\t' || **p == '\f'))
		(*p)++;
}

/*
 * Copies up to the end of the line, or, of a key, up to its separator; a
 * backslash at the end of a line continues it on the next.
 */
static struct br_slice
copy_part(const uint8_t **p, const uint8_t *end, bool key, uint8_t *to)
{
	struct br_slice part = {to, 0};

	while (*p < end && !is_end(**p)) {
		uint8_t c = **p;

		if (key && (c == '=' || c == ':' || c == ' ' || c == '\t'))
			break;
		(*p)++;
		if (c != '\\') {
			to[part.len++] = c;
		} else if (*p < end && is_end(**p)) {
			if (end - *p > 1 && (*p)[0] == '\r' && (*p)[1] == '\n')
				(*p)++;
			(*p)++;
			skip_blank(p, end);
		} else if (*p < end) {
			to[part.len++] = unescape(p, end);
		}
	}
	return part;
}

static struct line
read_line(const uint8_t **p, const uint8_t *end, uint8_t *to)
{
	struct line line;

	line.key = copy_part(p, end, true, to);
	skip_blank(p, end);
	if (*p < end && (**p == '=' || **p == ':'))
		(*p)++;
	skip_blank(p, end);
	line.value = copy_part(p, end, false, to + line.key.len);
	return line;
}

struct br_slice
br_trace_property(struct br_arena *arena, struct br_slice text, const char *key)
{
	const uint8_t *p = text.data, *end = text.data + text.len;
	struct br_slice wanted = br_slice_str(key);
	struct br_slice found = {NULL, 0};
	uint8_t *to = br_arena_take(arena, text.len);

	while (p < end) {
		struct line line;

		skip_blank(&p, end);
		if (p < end && (*p == '#' || *p == '!')) {
			while (p < end && !is_end(*p))
				p++;
		} else if (p < end && !is_end(*p)) {
			line = read_line(&p, end, to);
			to += line.key.len + line.value.len;
			if (br_slice_eq(line.key, wanted))
				found = line.value;
		}
		if (p < end)
			p++;
	}
	return found;
}
