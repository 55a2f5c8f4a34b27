/* scan_value: single values, and what is no value. See scan.h. */
#include "scan.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void
br_scan_blank(struct br_scanner *s, size_t start, size_t end)
{
	for (size_t i = start; i < end; i++)
		if (s->scan->text[i] != '\n')
			s->scan->text[i] = ' ';
}

void
br_scan_mark_bad(struct br_scanner *s, size_t key)
{
	if (key != BR_SCAN_ROOT)
		s->scan->keys[key].bad = true;
}

/* Puts a 0 in the place of a value that no parser could read. */
static void
mend(struct br_scanner *s, size_t key, size_t start, size_t end)
{
	br_scan_blank(s, start, end);
	s->scan->text[start] = '0';
	br_scan_mark_bad(s, key);
}

bool
br_scan_setting_follows(struct br_lexer lx)
{
	return br_lexer_next(&lx).word == BR_WORD_NAME &&
	       br_lexer_next(&lx).word == BR_WORD_EQUALS;
}

/* End of a text without quotes: up to a space or what ends a value. */
static size_t
bare_end(const struct br_scanner *s, size_t start)
{
	const char *text = s->scan->text;
	bool reference = false;
	size_t pos = start;

	for (; pos < s->lx.len && text[pos] != '\n'; pos++) {
		if (text[pos] == '{' && pos > start && text[pos - 1] == '$')
			reference = true;
		else if (text[pos] == '}' && reference)
			reference = false;
		else if (strchr(" \t\r\f;,{}()[]\"", text[pos]) != NULL)
			break;
	}
	return pos > start ? pos : start + 1;
}

/* A number with something stuck to it, which ends at `end`. */
static void
bad_number(
    struct br_scanner *s, size_t key, const struct br_token *t, size_t end)
{
	if (br_scan_may_show(s, t->start, end))
		br_scan_fault(s, t,
		    "'%.*s' is neither a number nor a string; write the "
		    "number alone (the unit is in the key's name), or quotes "
		    "around it",
		    (int)(end - t->start), s->scan->text + t->start);
	else
		br_scan_fault(s, t,
		    "a number with other characters behind it; write the "
		    "number alone, or quotes around it");
	mend(s, key, t->start, end);
}

/* Refuses integers that libconfig would cut, or that look octal. */
static void
check_integer(struct br_scanner *s, size_t key, const struct br_token *t)
{
	size_t len = t->end - t->start;
	const char *text = s->scan->text + t->start;
	char digits[32];
	const char *p = digits;
	long long n;

	while (t->wide && text[len - 1] == 'L')
		len--;
	snprintf(digits, sizeof(digits), "%.*s", (int)len, text);
	p += *p == '+' || *p == '-';
	errno = 0;
	n = strtoll(digits, NULL, t->hex ? 16 : 10);
	if (!t->hex && p[0] == '0' && p[1] != '\0')
		br_scan_fault(s, t,
		    "a number with a 0 in front looks octal, but would be "
		    "read as decimal; leave the 0 out");
	else if (len >= sizeof(digits) || errno == ERANGE)
		br_scan_fault(s, t, "the number does not fit into 63 bits");
	else if (!t->wide && (n > INT32_MAX || n < INT32_MIN))
		br_scan_fault(s, t,
		    "'%s' is too large to be read without the letter L behind "
		    "it; write %sL",
		    digits, digits);
	else
		return;
	br_scan_mark_bad(s, key);
}

void
br_scan_number(struct br_scanner *s, size_t key)
{
	struct br_token t = s->tok;
	struct br_lexer behind = s->lx;
	size_t end = bare_end(s, t.start);
	char next = t.end < s->lx.len ? s->scan->text[t.end] : ' ';

	/* `x = 5y = 6` is legal, if not pretty: no unit, but the next key. */
	if (end > t.end && next != '#' && next != '/' &&
	    !br_scan_setting_follows(behind)) {
		bad_number(s, key, &t, end);
		br_scan_resume(s, behind, end);
		return;
	}
	if (t.word == BR_WORD_INTEGER)
		check_integer(s, key, &t);
	br_scan_advance(s);
	/* `5 ms` on one line: libconfig takes ms for the next key. */
	if (s->tok.word == BR_WORD_NAME && s->tok.line == t.line &&
	    !br_scan_setting_follows(behind)) {
		br_scan_fault(s, &s->tok,
		    "a word behind the number; write the number alone (the "
		    "unit is in the key's name)");
		br_scan_mark_bad(s, key);
		br_scan_blank(s, s->tok.start, s->tok.end);
		br_scan_advance(s);
	}
}

void
br_scan_string(struct br_scanner *s, size_t key, bool in_list)
{
	char hint[BR_SCAN_ROOM];

	if (s->tok.nul) {
		br_scan_fault(
		    s, &s->tok, "\\x00 in a string: a NUL byte cannot be kept");
		br_scan_mark_bad(s, key);
	}
	br_scan_advance(s);
	while (s->tok.word == BR_WORD_STRING && !s->stop) {
		br_scan_fault(s, &s->tok,
		    "two strings side by side would be joined into one; %s%s",
		    in_list ? "a comma is missing between them"
		            : "write one string",
		    br_scan_quote_hint(s, hint));
		br_scan_mark_bad(s, key);
		br_scan_blank(s, s->tok.start, s->tok.end);
		br_scan_advance(s);
	}
}

/* true, false, or NULL for a word that only other languages know. */
static const char *
boolean_for(const char *text, size_t len)
{
	if ((len == 3 && strncasecmp(text, "yes", 3) == 0) ||
	    (len == 2 && strncasecmp(text, "on", 2) == 0))
		return "true";
	if ((len == 2 && strncasecmp(text, "no", 2) == 0) ||
	    (len == 3 && strncasecmp(text, "off", 3) == 0))
		return "false";
	return NULL;
}

void
br_scan_bare(struct br_scanner *s, size_t key)
{
	struct br_token t = s->tok;
	struct br_lexer behind = s->lx;
	const char *text = s->scan->text + t.start, *instead;
	size_t end = bare_end(s, t.start);
	char room[BR_SCAN_ROOM];

	if (*text == '\'') {
		size_t line = strcspn(text + 1, "\n");
		const char *close = memchr(text + 1, '\'', line);

		if (close != NULL)
			end = t.start + (size_t)(close - text) + 1;
		br_scan_fault(s, &t,
		    "single quotes do not make a string; write double "
		    "quotes: \"...\"");
	} else if (*text == '.' || ((*text == '-' || *text == '+') &&
	                               end > t.start + 1 && text[1] == '.')) {
		/* libconfig would take it for 0.0. */
		br_scan_fault(s, &t,
		    "a '.' without a digit is no number; a string stands in "
		    "double quotes: \"...\"");
	} else {
		instead = boolean_for(text, end - t.start);
		if (((unsigned char)*text & 0x80) == 0)
			t.end = end;
		br_scan_fault(s, &t, "found %s; %s%s",
		    br_scan_found(s, &t, room),
		    instead != NULL ? "write "
		                    : "a string stands in double quotes",
		    instead != NULL ? instead : ": \"...\"");
	}
	mend(s, key, t.start, end);
	br_scan_resume(s, behind, end);
}

void
br_scan_missing(struct br_scanner *s, size_t key)
{
	br_scan_fault(s, &s->tok, "a value is missing behind the '='");
	br_scan_mark_bad(s, key);
	if (s->tok.word == BR_WORD_SEMICOLON || s->tok.word == BR_WORD_COMMA) {
		/* A 0 that would grow together with the next word is none. */
		if (strchr(" \t\r\n}", s->scan->text[s->tok.end]) != NULL)
			s->scan->text[s->tok.start] = '0';
		else
			s->spoilt = true;
		br_scan_advance(s);
	} else {
		s->stop = true;
	}
}
