/* pattern: see the header. */
#include "bridge/core/pattern.h"

#include <regex.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct br_pattern {
	bool any_case;
	bool is_regex;
	regex_t regex; /* only when is_regex */
	char *text;
	size_t len;
};

static unsigned char
fold(unsigned char c, bool any_case)
{
	return any_case && c >= 'A' && c <= 'Z'
	           ? (unsigned char)(c + ('a' - 'A'))
	           : c;
}

/* Length of the character at `at`: `?` stands for one of UTF-8. */
static size_t
char_len(struct br_slice s, size_t at)
{
	size_t len = 1;

	while (at + len < s.len && (s.data[at + len] & 0xC0) == 0x80)
		len++;
	return len;
}

/*
 * Matches from left to right. When it fails, the last `*` takes one byte
 * more; the stars before it need not be tried again, because what they could
 * reach the last one reaches too. So the time is at most length × length.
 */
static bool
match_glob(const struct br_pattern *p, struct br_slice s)
{
	size_t at = 0, glob = 0;
	size_t star = SIZE_MAX, star_end = 0;

	while (at < s.len) {
		if (glob < p->len && p->text[glob] == '*') {
			star = glob++;
			star_end = at;
		} else if (glob < p->len && p->text[glob] == '?') {
			at += char_len(s, at);
			glob++;
		} else if (glob < p->len &&
		           fold((unsigned char)p->text[glob], p->any_case) ==
		               fold(s.data[at], p->any_case)) {
			at++;
			glob++;
		} else if (star != SIZE_MAX) {
			glob = star + 1;
			at = ++star_end;
		} else {
			return false;
		}
	}
	while (glob < p->len && p->text[glob] == '*')
		glob++;
	return glob == p->len;
}

static struct br_pattern *
new_pattern(const char *text, bool any_case, struct br_error *err)
{
	struct br_pattern *p = calloc(1, sizeof(*p));
	int flags = REG_EXTENDED | REG_NOSUB | (any_case ? REG_ICASE : 0);
	char reason[200];
	int code;

	if (p == NULL)
		abort();
	p->any_case = any_case;
	p->is_regex = text[0] == '^';
	if (p->is_regex) {
		code = regcomp(&p->regex, text, flags);
		if (code != 0) {
			(void)regerror(code, &p->regex, reason, sizeof(reason));
			(void)br_fail(err,
			    "\"%.300s\" is not a regular expression: %s", text,
			    reason);
			free(p);
			return NULL;
		}
	}
	p->len = strlen(text);
	p->text = strdup(text);
	if (p->text == NULL)
		abort();
	return p;
}

struct br_pattern *
br_pattern_new(const char *text, struct br_error *err)
{
	return new_pattern(text, false, err);
}

struct br_pattern *
br_pattern_new_any_case(const char *text, struct br_error *err)
{
	return new_pattern(text, true, err);
}

void
br_pattern_free(struct br_pattern *p)
{
	if (p == NULL)
		return;
	if (p->is_regex)
		regfree(&p->regex);
	free(p->text);
	free(p);
}

/* `text` has a NUL behind its `len` bytes, and may have one among them. */
static bool
match_regex(const struct br_pattern *p, const char *text, size_t len)
{
	regmatch_t span = {.rm_so = 0, .rm_eo = (regoff_t)len};

	return regexec(&p->regex, text, 1, &span, REG_STARTEND) == 0;
}

bool
br_pattern_match_slice(const struct br_pattern *p, struct br_slice text)
{
	struct br_buffer copy = {0};
	bool result;

	if (text.data == NULL)
		return false;
	if (!p->is_regex)
		return match_glob(p, text);
	/* REG_STARTEND could do without the NUL, but POSIX has no such flag
	 * and the sanitizers' regexec does not know it. */
	br_buffer_add(&copy, text.data, text.len);
	result = match_regex(p, copy.data, copy.len);
	br_buffer_free(&copy);
	return result;
}

bool
br_pattern_match(const struct br_pattern *p, const char *text)
{
	if (p->is_regex)
		return match_regex(p, text, strlen(text));
	return match_glob(p, br_slice_str(text));
}

bool
br_pattern_is_wild(const char *text)
{
	return text[0] == '^' || strpbrk(text, "*?") != NULL;
}

void
br_pattern_to_regex(const char *text, struct br_buffer *out)
{
	if (text[0] == '^') {
		br_buffer_str(out, text);
		return;
	}
	br_buffer_str(out, "^");
	for (; *text != '\0'; text++) {
		if (*text == '*') {
			br_buffer_str(out, ".*");
		} else if (*text == '?') {
			br_buffer_str(out, ".");
		} else {
			if (strchr(".[](){}+|^$\\", *text) != NULL)
				br_buffer_str(out, "\\");
			br_buffer_add(out, text, 1);
		}
	}
	br_buffer_str(out, "$");
}
