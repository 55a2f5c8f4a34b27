/* json: the scanner; see the header. Strings are decoded in json_string.c. */
#include "bridge/source/json.h"

#include "bridge/base/utf8.h"

#define REPEAT(byte) (0x0101010101010101u * (byte))

static bool
fail(struct br_json_iter *it, const char *what)
{
	it->fault.what = what;
	it->fault.at = (size_t)(it->at - it->begin);
	return false;
}

static void
skip_space(struct br_json_iter *it)
{
	while (it->at < it->end && (*it->at == ' ' || *it->at == '\n' ||
	                               *it->at == '\r' || *it->at == '\t'))
		it->at++;
}

/* The next token's first character, -1 at the end of the text. */
static int
peek_token(struct br_json_iter *it)
{
	skip_space(it);
	return it->at < it->end ? *it->at : -1;
}

static bool
is_plain(uint8_t c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/*
 * Steps over characters of a string that need no look: ASCII but for quotes,
 * backslashes and controls; eight at a time. A borrow between the bytes can
 * only send us to the slow loop too early.
 */
static const uint8_t *
skip_plain(const uint8_t *p, const uint8_t *end)
{
	while (end - p >= 8) {
		uint64_t w, control, quote, slash;

		memcpy(&w, p, sizeof(w));
		control = (w - REPEAT(0x20u)) & ~w;
		quote = w ^ REPEAT((uint64_t)'"');
		quote = (quote - REPEAT(1u)) & ~quote;
		slash = w ^ REPEAT((uint64_t)'\\');
		slash = (slash - REPEAT(1u)) & ~slash;
		if (((w | control | quote | slash) & REPEAT(0x80u)) != 0)
			break;
		p += 8;
	}
	while (p < end && is_plain(*p))
		p++;
	return p;
}

static bool
is_hex(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
	       (c >= 'A' && c <= 'F');
}

static bool
is_short_escape(uint8_t c)
{
	switch (c) {
	case '"':
	case '\\':
	case '/':
	case 'b':
	case 'f':
	case 'n':
	case 'r':
	case 't':
		return true;
	default:
		return false;
	}
}

/* Length of the escape that `p` begins with; 0: none that JSON knows. */
static size_t
escape_len(const uint8_t *p, const uint8_t *end)
{
	if (end - p < 2)
		return 0;
	if (p[1] != 'u')
		return is_short_escape(p[1]) ? 2 : 0;
	if (end - p < 6)
		return 0;
	for (int i = 2; i < 6; i++)
		if (!is_hex(p[i]))
			return 0;
	return 6;
}

/* Length of the character at it->at that is not plain; 0 and a fault. */
static size_t
special_len(struct br_json_iter *it, bool *escaped)
{
	uint32_t code;
	size_t n;

	if (*it->at == '\\') {
		n = escape_len(it->at, it->end);
		*escaped = true;
		if (n == 0)
			fail(it, "an escape that JSON does not know");
		return n;
	}
	if (*it->at < 0x20) {
		fail(it, "a control character in a string");
		return 0;
	}
	n = br_utf8_char(it->at, (size_t)(it->end - it->at), &code);
	if (n == 0)
		fail(it, "invalid UTF-8");
	return n;
}

static void
look_out(struct br_json_watch *watch, const struct br_json_value *value)
{
	for (size_t i = 0; i < 2 && !watch->hit; i++)
		if (watch->text[i].data != NULL &&
		    br_json_is(value, watch->text[i]))
			watch->hit = true;
}

/* At the opening quote. */
static bool
scan_string(struct br_json_iter *it, struct br_json_value *value)
{
	const uint8_t *start = it->at;
	bool escaped = false;

	it->at++;
	for (;;) {
		size_t n;

		it->at = skip_plain(it->at, it->end);
		if (it->at == it->end)
			return fail(it, "a string without its end");
		if (*it->at == '"')
			break;
		n = special_len(it, &escaped);
		if (n == 0)
			return false;
		it->at += n;
	}
	it->at++;
	value->kind = BR_JSON_STRING;
	value->escaped = escaped;
	value->text.data = start;
	value->text.len = (size_t)(it->at - start);
	return true;
}

static bool
scan_digits(struct br_json_iter *it)
{
	const uint8_t *start = it->at;

	while (it->at < it->end && *it->at >= '0' && *it->at <= '9')
		it->at++;
	return it->at > start || fail(it, "a digit is missing in a number");
}

static bool
scan_number(struct br_json_iter *it)
{
	if (*it->at == '-')
		it->at++;
	if (it->at < it->end && *it->at == '0')
		it->at++;
	else if (!scan_digits(it))
		return false;
	if (it->at < it->end && *it->at == '.') {
		it->at++;
		if (!scan_digits(it))
			return false;
	}
	if (it->at < it->end && (*it->at == 'e' || *it->at == 'E')) {
		it->at++;
		if (it->at < it->end && (*it->at == '+' || *it->at == '-'))
			it->at++;
		if (!scan_digits(it))
			return false;
	}
	return true;
}

static bool
scan_literal(struct br_json_iter *it, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(it->end - it->at) < n || memcmp(it->at, word, n) != 0)
		return fail(it, "a value is missing");
	it->at += n;
	return true;
}

static enum br_json_kind
kind_of(int c)
{
	switch (c) {
	case '{':
		return BR_JSON_OBJECT;
	case '[':
		return BR_JSON_ARRAY;
	case '"':
		return BR_JSON_STRING;
	case 't':
		return BR_JSON_TRUE;
	case 'f':
		return BR_JSON_FALSE;
	case 'n':
		return BR_JSON_NULL;
	default:
		return c == '-' || (c >= '0' && c <= '9') ? BR_JSON_NUMBER
		                                          : BR_JSON_NONE;
	}
}

/* Any value but an array or object; at its first character. */
static bool
scan_scalar(
    struct br_json_iter *it, enum br_json_kind kind, struct br_json_value *v)
{
	const uint8_t *start = it->at;
	bool good = false;

	switch (kind) {
	case BR_JSON_STRING:
		if (!scan_string(it, v))
			return false;
		if (it->watch != NULL)
			look_out(it->watch, v);
		return true;
	case BR_JSON_NUMBER:
		good = scan_number(it);
		break;
	case BR_JSON_TRUE:
		good = scan_literal(it, "true");
		break;
	case BR_JSON_FALSE:
		good = scan_literal(it, "false");
		break;
	case BR_JSON_NULL:
		good = scan_literal(it, "null");
		break;
	case BR_JSON_NONE:
	case BR_JSON_ARRAY:
	case BR_JSON_OBJECT:
		return fail(it, "a value is missing");
	}
	v->kind = kind;
	v->escaped = false;
	v->text.data = start;
	v->text.len = (size_t)(it->at - start);
	return good;
}

/* A name and its colon. */
static bool
scan_name(struct br_json_iter *it, struct br_json_value *name)
{
	if (peek_token(it) != '"')
		return fail(it, "a name is missing");
	if (!scan_string(it, name))
		return false;
	if (peek_token(it) != ':')
		return fail(it, "a colon is missing");
	it->at++;
	return true;
}

/* The arrays and objects that are open inside one value: a bit for each. */
struct nest {
	uint64_t object[BR_JSON_DEPTH / 64];
	size_t level;
};

static bool
in_object(const struct nest *nest)
{
	size_t i = nest->level - 1;

	return (nest->object[i / 64] >> (i % 64) & 1) != 0;
}

/*
 * Opens an array or object at it->at. `*empty`: it was closed at once;
 * otherwise its first value comes next.
 */
static bool
open_nest(struct br_json_iter *it, struct nest *nest, size_t limit, bool *empty)
{
	bool object = *it->at == '{';
	size_t i = nest->level;
	struct br_json_value name;

	if (i == limit)
		return fail(it, "nested too deeply");
	if (object)
		nest->object[i / 64] |= (uint64_t)1 << (i % 64);
	else
		nest->object[i / 64] &= ~((uint64_t)1 << (i % 64));
	nest->level++;
	it->at++;
	*empty = peek_token(it) == (object ? '}' : ']');
	if (*empty) {
		it->at++;
		nest->level--;
		return true;
	}
	return !object || scan_name(it, &name);
}

/* After a value: closes what ends here; `*more`: another value comes next. */
static bool
close_nest(struct br_json_iter *it, struct nest *nest, bool *more)
{
	while (nest->level > 0) {
		bool object = in_object(nest);
		int c = peek_token(it);
		struct br_json_value name;

		if (c == ',') {
			it->at++;
			*more = true;
			return !object || scan_name(it, &name);
		}
		if (c != (object ? '}' : ']'))
			return fail(it, "a comma or the end is missing");
		it->at++;
		nest->level--;
	}
	*more = false;
	return true;
}

/* Any value, with at most `limit` levels of its own. */
static bool
scan_value(struct br_json_iter *it, size_t limit, struct br_json_value *value)
{
	struct nest nest = {.level = 0};
	enum br_json_kind kind = kind_of(peek_token(it));
	const uint8_t *start = it->at;
	bool more = true;

	if (kind != BR_JSON_OBJECT && kind != BR_JSON_ARRAY)
		return scan_scalar(it, kind, value);
	while (more) {
		enum br_json_kind inner = kind_of(peek_token(it));
		struct br_json_value scalar;
		bool empty = true;

		if (inner == BR_JSON_OBJECT || inner == BR_JSON_ARRAY) {
			if (!open_nest(it, &nest, limit, &empty))
				return false;
		} else if (!scan_scalar(it, inner, &scalar)) {
			return false;
		}
		if (empty && !close_nest(it, &nest, &more))
			return false;
	}
	value->kind = kind;
	value->escaped = false;
	value->text.data = start;
	value->text.len = (size_t)(it->at - start);
	return true;
}

static void
start(
    struct br_json_iter *it, struct br_slice text, struct br_json_watch *watch)
{
	static const uint8_t nothing[1];

	it->fault.what = NULL;
	it->fault.at = 0;
	it->watch = watch;
	it->begin = text.data != NULL ? text.data : nothing;
	it->at = it->begin;
	it->end = it->begin + text.len;
	it->first = true;
}

static bool
scan_end(struct br_json_iter *it)
{
	return peek_token(it) == -1 || fail(it, "more text after the value");
}

enum br_json_kind
br_json_peek(struct br_slice text)
{
	struct br_json_iter it;

	start(&it, text, NULL);
	return kind_of(peek_token(&it));
}

bool
br_json_check(struct br_slice text, struct br_json_watch *watch,
    struct br_json_value *value, struct br_json_fault *fault)
{
	struct br_json_iter it;
	struct br_json_value own;
	bool good;

	start(&it, text, watch);
	good = scan_value(&it, BR_JSON_DEPTH, value != NULL ? value : &own) &&
	       scan_end(&it);
	*fault = it.fault;
	return good;
}

void
br_json_begin(
    struct br_json_iter *it, struct br_slice text, struct br_json_watch *watch)
{
	start(it, text, watch);
	it->kind = kind_of(peek_token(it));
	if (it->kind == BR_JSON_OBJECT || it->kind == BR_JSON_ARRAY) {
		it->at++;
		return;
	}
	it->kind = BR_JSON_NONE;
	fail(it, "neither an object nor an array");
}

bool
br_json_next(struct br_json_iter *it, struct br_json_member *member)
{
	int close = it->kind == BR_JSON_OBJECT ? '}' : ']';
	int c;

	if (it->fault.what != NULL || it->kind == BR_JSON_NONE)
		return false;
	c = peek_token(it);
	if (c == close) {
		it->at++;
		it->kind = BR_JSON_NONE; /* further calls return false */
		scan_end(it);
		return false;
	}
	if (!it->first) {
		if (c != ',')
			return fail(it, "a comma or the end is missing");
		it->at++;
	}
	it->first = false;
	if (it->kind == BR_JSON_ARRAY)
		member->name = (struct br_json_value){.kind = BR_JSON_NONE};
	else if (!scan_name(it, &member->name))
		return false;
	return scan_value(it, BR_JSON_DEPTH - 1, &member->value);
}

bool
br_json_read(struct br_slice text, struct br_json_watch *watch,
    struct br_json_object *object, struct br_json_fault *fault)
{
	struct br_json_iter it;
	struct br_json_member beyond;
	size_t n = 0;

	br_json_begin(&it, text, watch);
	if (it.kind == BR_JSON_ARRAY) {
		it.kind = BR_JSON_NONE;
		fail(&it, "not an object");
	}
	while (br_json_next(
	    &it, n < BR_JSON_MEMBERS ? &object->member[n] : &beyond))
		n++;
	object->text = text;
	object->count = n;
	*fault = it.fault;
	return it.fault.what == NULL;
}
