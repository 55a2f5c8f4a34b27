/* scanner: see the header. */
#include "bridge/config/scanner.h"

#include <stdlib.h>
#include <string.h>

#include "scan.h"

#define DEPTH_MAX 32
#define NAME_SHOWN 64
#define GROUP_KEYS_MAX 1000 /* duplicates are looked for one by one */

/* What a list has shown so far. */
struct list {
	struct br_token open;
	size_t key;
	size_t count;
	struct br_token first; /* its first value */
};

static void value(struct br_scanner *s, size_t key, const struct list *in);

void
br_scan_advance(struct br_scanner *s)
{
	s->before = s->tok;
	if (s->tok.word == BR_WORD_STRING && s->tok.many_lines)
		s->quote_line = s->tok.line;
	s->tok = br_lexer_next(&s->lx);
}

void
br_scan_resume(struct br_scanner *s, struct br_lexer from, size_t pos)
{
	s->lx = from;
	br_lexer_skip(&s->lx, pos);
	br_scan_advance(s);
}

static size_t
add_key(struct br_scanner *s, const struct br_scan_key *key)
{
	if (s->scan->count == s->capacity) {
		s->capacity = s->capacity != 0 ? s->capacity * 2 : 64;
		s->scan->keys = realloc(
		    s->scan->keys, s->capacity * sizeof(*s->scan->keys));
		if (s->scan->keys == NULL)
			abort();
	}
	s->scan->keys[s->scan->count] = *key;
	return s->scan->count++;
}

/* True when the next word is a name with a = behind it. */
static bool
setting_is_next(const struct br_scanner *s)
{
	struct br_lexer ahead = s->lx;

	return s->tok.word == BR_WORD_NAME &&
	       br_lexer_next(&ahead).word == BR_WORD_EQUALS;
}

/* `kafka: brokers: x` as against `brokers: localhost:9092`. */
static bool
is_yaml(const struct br_scanner *s)
{
	struct br_lexer ahead = s->lx;
	struct br_token t = br_lexer_next(&ahead);

	return t.word == BR_WORD_EQUALS &&
	       (s->lx.text[t.start] == '=' ||
	           strchr(" \t\r\n", s->lx.text[t.end]) != NULL);
}

/* Finds an earlier key of that name in the group. */
static void
check_duplicate(struct br_scanner *s, size_t key)
{
	const struct br_scan_key *k = &s->scan->keys[key], *other;

	for (size_t i = k->previous; i != BR_SCAN_ROOT; i = other->previous) {
		other = &s->scan->keys[i];
		if (other->name_len != k->name_len ||
		    memcmp(other->name, k->name, k->name_len) != 0)
			continue;
		br_scan_fault(s, &s->before,
		    "given twice; it stands in line %u already (keep one)",
		    other->line);
		s->spoilt = true;
		return;
	}
}

/* The = behind a key. */
static void
equals(struct br_scanner *s)
{
	size_t gap = s->before.end;

	switch (s->tok.word) {
	case BR_WORD_EQUALS:
		br_scan_advance(s);
		return;
	case BR_WORD_OPEN:
	case BR_WORD_LIST_OPEN:
	case BR_WORD_ARRAY_OPEN:
	case BR_WORD_STRING:
	case BR_WORD_INTEGER:
	case BR_WORD_REAL:
	case BR_WORD_BOOLEAN:
		if (!s->tok.after_space || s->scan->text[gap] != ' ')
			break;
		br_scan_fault(
		    s, &s->tok, "'=' is missing between key and value");
		s->scan->text[gap] = '=';
		return;
	case BR_WORD_OTHER:
		if (s->scan->text[s->tok.start] == '.') {
			br_scan_broken(s,
			    "a key of a group is written GROUP = { KEY = "
			    "value; };");
			return;
		}
		break;
	default:
		break;
	}
	br_scan_broken(s, "'=' is expected behind the key");
}

/* What to say where a key is expected and something else stands. */
static const char *
no_key(const struct br_scanner *s)
{
	switch (s->tok.word) {
	case BR_WORD_STRING:
		return "a key is expected here, and keys have no quotes";
	case BR_WORD_ARRAY_OPEN:
		return "a key is expected here; a group is written NAME = { "
		       "... };";
	case BR_WORD_CLOSE:
		return "this '}' closes nothing";
	case BR_WORD_BOOLEAN:
		return "true and false cannot be keys";
	default:
		return "a key is expected here, as in KEY = value;";
	}
}

/* Skips what may stand between settings but should not; true if it did. */
static bool
litter(struct br_scanner *s)
{
	struct br_token t = s->tok;

	if (t.word == BR_WORD_SEMICOLON) {
		br_scan_fault(s, &t, "a ';' too many");
		br_scan_blank(s, t.start, t.end);
		br_scan_advance(s);
		return true;
	}
	if (t.word == BR_WORD_INCLUDE) {
		size_t end = t.end;

		while (end < s->lx.len && s->scan->text[end] != '\n')
			end++;
		br_scan_fault(s, &t,
		    "@include is not supported: a fault could not be shown "
		    "with its file and line; write everything into one file "
		    "(secrets: \"${file:PATH}\")");
		br_scan_blank(s, t.start, end);
		br_scan_resume(s, s->lx, end);
		return true;
	}
	return false;
}

/* True when the next word is the rest of a string whose quotes went astray:
 * it must not be taken for a key, and not be shown. */
static bool
is_stray(const struct br_scanner *s)
{
	return s->before.word == BR_WORD_STRING &&
	       (s->quote_line != 0 || !s->tok.after_space) &&
	       !setting_is_next(s);
}

/* The settings of a group up to its end, which is left to the caller. */
static void
settings(struct br_scanner *s, size_t parent, const struct br_token *open)
{
	size_t previous = BR_SCAN_ROOT, count = 0;

	while (!s->stop) {
		struct br_token name = s->tok;
		size_t key;

		s->key = parent;
		if (name.word == (open != NULL ? BR_WORD_CLOSE : BR_WORD_END))
			return;
		if (litter(s))
			continue;
		if (name.word == BR_WORD_END) {
			char hint[BR_SCAN_ROOM];

			br_scan_fatal(s, open,
			    "the group that opens here is not closed: '}' is "
			    "missing%s",
			    br_scan_quote_hint(s, hint));
			return;
		}
		if (name.word != BR_WORD_NAME) {
			br_scan_broken(s, no_key(s));
			return;
		}
		if (is_stray(s)) {
			br_scan_broken(s,
			    "a string ends before this; a quote inside a "
			    "string is written \\\"");
			return;
		}
		key = add_key(s, &(struct br_scan_key){.parent = parent,
		                     .previous = previous,
		                     .name = s->scan->text + name.start,
		                     .name_len = name.end - name.start,
		                     .line = name.line,
		                     .column = name.column});
		s->key = key;
		previous = key;
		br_scan_advance(s);
		check_duplicate(s, key);
		if (++count > GROUP_KEYS_MAX)
			br_scan_fatal(s, &name,
			    "more than %d keys in one group", GROUP_KEYS_MAX);
		if (!s->stop)
			equals(s);
		if (!s->stop)
			value(s, key, NULL);
		if (!s->stop && (s->tok.word == BR_WORD_SEMICOLON ||
		                    s->tok.word == BR_WORD_COMMA))
			br_scan_advance(s);
	}
}

static void
group(struct br_scanner *s, size_t key, const struct list *in)
{
	struct br_token open = s->tok;

	if (in != NULL && in->open.word == BR_WORD_ARRAY_OPEN)
		br_scan_fault(s, &open,
		    "groups stand in ( ), not in [ ]: ( { ... }, { ... } )");
	br_scan_advance(s);
	settings(s, key, &open);
	if (!s->stop)
		br_scan_advance(s);
}

/* What follows a value of a list: a comma or its end. */
static void
separator(struct br_scanner *s, enum br_word close)
{
	struct br_token t = s->tok;

	if (t.word == close)
		return;
	if (t.word == BR_WORD_SEMICOLON) {
		br_scan_fault(
		    s, &t, "a list has ',' between its values, not ';'");
		s->scan->text[t.start] = ',';
	} else if (t.word != BR_WORD_COMMA) {
		br_scan_broken(s, close == BR_WORD_LIST_CLOSE
		                      ? "',' or ')' is expected here"
		                      : "',' or ']' is expected here");
		return;
	}
	br_scan_advance(s);
	if (s->tok.word == close) {
		br_scan_fault(
		    s, &t, "a comma behind the last value; leave it out");
		br_scan_blank(s, t.start, t.end);
	}
}

static void
element(struct br_scanner *s, struct list *l)
{
	struct br_token t = s->tok;
	size_t key = add_key(s, &(struct br_scan_key){.parent = l->key,
	                            .index = l->count,
	                            .line = t.line,
	                            .column = t.column});

	if (t.word == BR_WORD_NAME && setting_is_next(s)) {
		br_scan_broken(
		    s, "a group in a list stands in braces: ( { ... } )");
		return;
	}
	if (l->count == 0)
		l->first = t;
	else if (l->open.word == BR_WORD_ARRAY_OPEN &&
	         (t.word != l->first.word || t.wide != l->first.wide) &&
	         t.word >= BR_WORD_BOOLEAN && t.word <= BR_WORD_STRING)
		br_scan_fault(s, &t,
		    "the values in [ ] must be of one kind; write ( ) around "
		    "them, or the same kind");
	l->count++;
	s->key = key;
	value(s, key, l);
	s->key = l->key;
	if (s->scan->keys[key].bad) /* what is left would mislead */
		br_scan_mark_bad(s, l->key);
}

/* A list ( ) or an array [ ], which becomes a list in the mended text. */
static void
list(struct br_scanner *s, size_t key, const struct list *in)
{
	struct list l = {.open = s->tok, .key = key};
	enum br_word close = l.open.word == BR_WORD_LIST_OPEN
	                         ? BR_WORD_LIST_CLOSE
	                         : BR_WORD_ARRAY_CLOSE;

	if (in != NULL && in->open.word == BR_WORD_ARRAY_OPEN)
		br_scan_fault(s, &l.open, "a list stands in ( ), not in [ ]");
	s->scan->text[l.open.start] = '(';
	br_scan_advance(s);
	while (!s->stop && s->tok.word != close) {
		if (s->tok.word == BR_WORD_END) {
			br_scan_fatal(s, &l.open,
			    "the list that opens here is not closed: '%c' is "
			    "missing",
			    close == BR_WORD_LIST_CLOSE ? ')' : ']');
		} else if (s->tok.word == BR_WORD_COMMA) {
			br_scan_fault(
			    s, &s->tok, "a ',' without a value before it");
			br_scan_blank(s, s->tok.start, s->tok.end);
			br_scan_advance(s);
		} else {
			element(s, &l);
			if (!s->stop)
				separator(s, close);
		}
	}
	if (!s->stop) {
		s->scan->text[s->tok.start] = ')';
		br_scan_advance(s);
	}
}

/* The value of a key, or of an element of the list `in`. */
static void
value(struct br_scanner *s, size_t key, const struct list *in)
{
	if (s->depth == DEPTH_MAX) {
		br_scan_fatal(
		    s, &s->tok, "nested more than %d deep", DEPTH_MAX);
		return;
	}
	s->depth++;
	switch (s->tok.word) {
	case BR_WORD_STRING:
		br_scan_string(s, key, in != NULL);
		break;
	case BR_WORD_BOOLEAN:
		br_scan_advance(s);
		break;
	case BR_WORD_INTEGER:
	case BR_WORD_REAL:
		br_scan_number(s, key);
		break;
	case BR_WORD_OPEN:
		group(s, key, in);
		break;
	case BR_WORD_LIST_OPEN:
	case BR_WORD_ARRAY_OPEN:
		list(s, key, in);
		break;
	case BR_WORD_NAME:
		if (in == NULL && is_yaml(s))
			br_scan_broken(s, "a group is written NAME = { ... };");
		else
			br_scan_bare(s, key);
		break;
	case BR_WORD_OTHER:
	case BR_WORD_INCLUDE:
		br_scan_bare(s, key);
		break;
	case BR_WORD_SEMICOLON:
	case BR_WORD_COMMA:
	case BR_WORD_CLOSE:
	case BR_WORD_END:
		if (in != NULL)
			br_scan_broken(s,
			    "a value is expected here, or the end of the list");
		else
			br_scan_missing(s, key);
		break;
	default:
		br_scan_broken(s, "a value is expected here");
		break;
	}
	s->depth--;
}

/* ---- the whole */

/* What cannot be a text at all; 0 when it can. */
static const char *
not_text(const char *text, size_t len)
{
	if (len >= 2 && (memcmp(text, "\xFF\xFE", 2) == 0 ||
	                    memcmp(text, "\xFE\xFF", 2) == 0))
		return "the file is UTF-16; save it as UTF-8";
	return NULL;
}

static void
check_bytes(struct br_scanner *s)
{
	char *text = s->scan->text;
	const char *nul = memchr(text, '\0', s->lx.len);
	const char *reason = not_text(text, s->lx.len);
	struct br_token at = {.line = 1, .column = 1};
	struct br_lexer lx = s->lx;

	if (reason != NULL) {
		br_scan_fatal(s, &at, "%s", reason);
	} else if (nul != NULL) {
		br_lexer_skip(&lx, (size_t)(nul - text));
		at.line = lx.line;
		at.column = lx.column;
		br_scan_fatal(
		    s, &at, "a NUL byte; the file must be plain text (UTF-8)");
	} else if (s->lx.len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
		br_scan_fault(s, &at,
		    "the file begins with a byte order mark; save it as UTF-8 "
		    "without one");
		br_scan_blank(s, 0, 3);
	}
}

size_t
br_scan(const char *file, const char *text, size_t len, struct br_scan *scan,
    struct br_buffer *faults)
{
	struct br_scanner s = {
	    .file = file, .scan = scan, .faults = faults, .key = BR_SCAN_ROOT};

	*scan = (struct br_scan){.text = malloc(len + 2)};
	if (scan->text == NULL)
		abort();
	if (len != 0)
		memcpy(scan->text, text, len);
	/* libconfig knows no comment that ends with the file. */
	memcpy(scan->text + len, "\n", 2);
	s.lx = (struct br_lexer){
	    .text = scan->text, .len = len, .line = 1, .column = 1};
	check_bytes(&s);
	if (!s.stop) {
		s.tok = br_lexer_next(&s.lx);
		settings(&s, BR_SCAN_ROOT, NULL);
	}
	scan->usable = !s.stop && !s.spoilt;
	return s.fault_count;
}

void
br_scan_free(struct br_scan *scan)
{
	free(scan->keys);
	free(scan->text);
	*scan = (struct br_scan){0};
}

void
br_scan_path(const struct br_scan *scan, size_t key, struct br_buffer *out)
{
	const struct br_scan_key *k = &scan->keys[key];
	int shown = k->name_len < NAME_SHOWN ? (int)k->name_len : NAME_SHOWN;

	if (k->parent != BR_SCAN_ROOT)
		br_scan_path(scan, k->parent, out);
	if (k->name == NULL)
		br_buffer_format(out, "[%zu]", k->index);
	else
		br_buffer_format(out, "%s%.*s",
		    k->parent != BR_SCAN_ROOT ? "." : "", shown, k->name);
}
