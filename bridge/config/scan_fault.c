/* scan_fault: how the scanner says what it found. See scan.h. */
#include "scan.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FAULTS_MAX 100

static void report(struct br_scanner *s, const struct br_token *t,
    const char *format, va_list args) __attribute__((format(printf, 3, 0)));

static void
report(struct br_scanner *s, const struct br_token *t, const char *format,
    va_list args)
{
	char text[600];

	if (++s->fault_count >= FAULTS_MAX)
		s->stop = true;
	vsnprintf(text, sizeof(text), format, args);
	br_buffer_format(s->faults, "%s:%u:%u: ", s->file, t->line, t->column);
	if (s->key != BR_SCAN_ROOT) {
		br_scan_path(s->scan, s->key, s->faults);
		br_buffer_str(s->faults, ": ");
	}
	br_buffer_format(s->faults, "%s\n", text);
}

void
br_scan_fault(
    struct br_scanner *s, const struct br_token *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report(s, t, format, args);
	va_end(args);
}

void
br_scan_fatal(
    struct br_scanner *s, const struct br_token *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report(s, t, format, args);
	va_end(args);
	s->stop = true;
}

bool
br_scan_may_show(struct br_scanner *s, size_t start, size_t end)
{
	static const char *const hidden[] = {
	    "password", "secret", "token", "properties", "url", "user"};
	struct br_buffer path = {0};
	bool shown;

	/* Behind a string whose quotes went astray stands anything. */
	shown = s->quote_line == 0 && end - start <= 40 &&
	        s->before.word != BR_WORD_STRING;
	for (size_t i = start; i < end; i++)
		if (!isprint((unsigned char)s->scan->text[i]))
			shown = false;
	if (shown && s->key != BR_SCAN_ROOT) {
		br_scan_path(s->scan, s->key, &path);
		for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
			if (strcasestr(path.data, hidden[i]) != NULL)
				shown = false;
	}
	br_buffer_free(&path);
	return shown;
}

const char *
br_scan_found(
    struct br_scanner *s, const struct br_token *t, char room[BR_SCAN_ROOM])
{
	switch (t->word) {
	case BR_WORD_END:
		return "the end of the file";
	case BR_WORD_STRING:
	case BR_WORD_OPEN_STRING:
		return "a string";
	case BR_WORD_OPEN_COMMENT:
		return "a comment without end";
	default:
		break;
	}
	if (t->word == BR_WORD_OTHER &&
	    ((unsigned char)s->scan->text[t->start] & 0x80) != 0)
		return "a character that is not ASCII (a typographic quote or "
		       "space?)";
	if (t->word < BR_WORD_EQUALS || t->word == BR_WORD_OTHER ||
	    t->word == BR_WORD_INCLUDE)
		if (!br_scan_may_show(s, t->start, t->end))
			return "a word without quotes";
	snprintf(room, BR_SCAN_ROOM, "'%.*s'", (int)(t->end - t->start),
	    s->scan->text + t->start);
	return room;
}

const char *
br_scan_quote_hint(const struct br_scanner *s, char room[BR_SCAN_ROOM])
{
	if (s->quote_line == 0)
		return "";
	snprintf(room, BR_SCAN_ROOM,
	    "; the string that opens in line %u goes over several lines: is "
	    "its closing quote missing?",
	    s->quote_line);
	return room;
}

void
br_scan_broken(struct br_scanner *s, const char *wanted)
{
	char room[BR_SCAN_ROOM], hint[BR_SCAN_ROOM];

	if (s->tok.word == BR_WORD_OPEN_STRING)
		br_scan_fatal(s, &s->tok,
		    "the string that opens here is not closed: '\"' is "
		    "missing%s",
		    br_scan_quote_hint(s, hint));
	else if (s->tok.word == BR_WORD_OPEN_COMMENT)
		br_scan_fatal(s, &s->tok,
		    "the comment that opens here is not closed: '*/' is "
		    "missing");
	else
		br_scan_fatal(s, &s->tok, "%s; found %s%s", wanted,
		    br_scan_found(s, &s->tok, room),
		    br_scan_quote_hint(s, hint));
}
