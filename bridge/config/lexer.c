/* lexer: see the header. */
#include "bridge/config/lexer.h"

#include <string.h>
#include <strings.h>

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool
is_name_start(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '*';
}

static bool
is_name(char c)
{
	return is_name_start(c) || is_digit(c) || c == '-' || c == '_';
}

/* The byte at a position; NUL behind the end (there is none in the text). */
static char
at(const struct br_lexer *lx, size_t pos)
{
	return pos < lx->len ? lx->text[pos] : '\0';
}

void
br_lexer_skip(struct br_lexer *lx, size_t pos)
{
	for (; lx->pos < pos && lx->pos < lx->len; lx->pos++) {
		unsigned char c = (unsigned char)lx->text[lx->pos];

		if (c == '\n') {
			lx->line++;
			lx->column = 1;
		} else if ((c & 0xC0) != 0x80) {
			/* A UTF-8 character counts with its first byte. */
			lx->column++;
		}
	}
}

/* End of the comment that begins at pos; 0 when it has none. */
static size_t
comment_end(const struct br_lexer *lx, size_t pos)
{
	for (pos += 2; pos + 1 < lx->len; pos++)
		if (lx->text[pos] == '*' && lx->text[pos + 1] == '/')
			return pos + 2;
	return 0;
}

/* Steps over spaces and comments; false at a comment without end. */
static bool
skip_space(struct br_lexer *lx)
{
	for (;;) {
		char c = at(lx, lx->pos);
		char next = at(lx, lx->pos + 1);
		size_t end = lx->pos;

		if (c != '\0' && strchr(" \t\n\r\f", c) != NULL) {
			end++;
		} else if (c == '#' || (c == '/' && next == '/')) {
			while (end < lx->len && lx->text[end] != '\n')
				end++;
		} else if (c == '/' && next == '*') {
			end = comment_end(lx, lx->pos);
			if (end == 0)
				return false;
		} else {
			return true;
		}
		br_lexer_skip(lx, end);
	}
}

/* Length of an exponent at pos, 0 when there is none. */
static size_t
exponent(const struct br_lexer *lx, size_t pos)
{
	size_t p = pos;

	if (at(lx, p) != 'e' && at(lx, p) != 'E')
		return 0;
	p++;
	if (at(lx, p) == '+' || at(lx, p) == '-')
		p++;
	if (!is_digit(at(lx, p)))
		return 0;
	while (is_digit(at(lx, p)))
		p++;
	return p - pos;
}

/* End of the letters L or LL at pos. */
static size_t
wide_end(const struct br_lexer *lx, size_t pos, struct br_token *t)
{
	for (int i = 0; i < 2 && at(lx, pos) == 'L'; i++) {
		t->wide = true;
		pos++;
	}
	return pos;
}

/* A number at t->start; false when there is none. */
static bool
number(const struct br_lexer *lx, struct br_token *t)
{
	size_t p = t->start, digits, more = 0;

	if (at(lx, p) == '0' && (at(lx, p + 1) | 0x20) == 'x' &&
	    is_hex(at(lx, p + 2))) {
		for (p += 2; is_hex(at(lx, p)); p++)
			;
		t->word = BR_WORD_INTEGER;
		t->hex = true;
		t->end = wide_end(lx, p, t);
		return true;
	}
	if (at(lx, p) == '+' || at(lx, p) == '-')
		p++;
	for (digits = p; is_digit(at(lx, p)); p++)
		;
	digits = p - digits;
	t->word = BR_WORD_REAL;
	if (at(lx, p) == '.') {
		for (p++; is_digit(at(lx, p)); p++)
			more++;
		/* libconfig takes a lone dot for 0.0; nobody means that. */
		if (digits + more == 0)
			return false;
		t->end = p + exponent(lx, p);
		return true;
	}
	if (digits == 0)
		return false;
	t->end = p + exponent(lx, p);
	if (t->end == p) {
		t->word = BR_WORD_INTEGER;
		t->end = wide_end(lx, p, t);
	}
	return true;
}

/* A string at t->start; its end is behind the closing quote. */
static void
string(const struct br_lexer *lx, struct br_token *t)
{
	size_t p = t->start + 1;

	t->word = BR_WORD_OPEN_STRING;
	t->end = lx->len;
	for (; p < lx->len; p++) {
		char c = lx->text[p];

		if (c == '"') {
			t->word = BR_WORD_STRING;
			t->end = p + 1;
			return;
		}
		if (c == '\n')
			t->many_lines = true;
		if (c != '\\')
			continue;
		if ((at(lx, p + 1) | 0x20) == 'x' && at(lx, p + 2) == '0' &&
		    at(lx, p + 3) == '0')
			t->nul = true;
		/* Only these two hide the byte behind the backslash. */
		if (at(lx, p + 1) == '"' || at(lx, p + 1) == '\\')
			p++;
	}
}

static enum br_word
mark(char c)
{
	switch (c) {
	case '=':
	case ':':
		return BR_WORD_EQUALS;
	case ',':
		return BR_WORD_COMMA;
	case ';':
		return BR_WORD_SEMICOLON;
	case '{':
		return BR_WORD_OPEN;
	case '}':
		return BR_WORD_CLOSE;
	case '(':
		return BR_WORD_LIST_OPEN;
	case ')':
		return BR_WORD_LIST_CLOSE;
	case '[':
		return BR_WORD_ARRAY_OPEN;
	case ']':
		return BR_WORD_ARRAY_CLOSE;
	default:
		return BR_WORD_OTHER;
	}
}

/* The word at t->start, which is not a space. */
static void
classify(const struct br_lexer *lx, struct br_token *t)
{
	const char *p = lx->text + t->start;
	size_t left = lx->len - t->start, len = 0;

	if (*p == '"') {
		string(lx, t);
		return;
	}
	if (is_name_start(*p)) {
		while (len < left && is_name(p[len]))
			len++;
		t->end = t->start + len;
		t->word = BR_WORD_NAME;
		if ((len == 4 && strncasecmp(p, "true", 4) == 0) ||
		    (len == 5 && strncasecmp(p, "false", 5) == 0))
			t->word = BR_WORD_BOOLEAN;
		return;
	}
	if (number(lx, t))
		return;
	t->word = mark(*p);
	t->end = t->start + 1;
	if (left >= 8 && memcmp(p, "@include", 8) == 0) {
		t->word = BR_WORD_INCLUDE;
		t->end = t->start + 8;
	}
}

struct br_token
br_lexer_next(struct br_lexer *lx)
{
	size_t before = lx->pos;
	bool closed = skip_space(lx);
	struct br_token t = {.word = BR_WORD_END,
	    .start = lx->pos,
	    .end = lx->pos,
	    .line = lx->line,
	    .column = lx->column,
	    .after_space = lx->pos != before};

	if (!closed) {
		t.word = BR_WORD_OPEN_COMMENT;
		t.end = lx->len;
	} else if (lx->pos < lx->len) {
		classify(lx, &t);
	}
	br_lexer_skip(lx, t.end);
	return t;
}
