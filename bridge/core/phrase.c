/* phrase: see the header. */
#include "bridge/core/phrase.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS (REG_EXTENDED | REG_ICASE | REG_NOSUB)

/* Tried at the first byte only, where it eats what comes before: a search
 * from each byte anew would take a time of length × length. */
#define HEAD "^.*("
#define TAIL ")"

/* libc keeps what it learns about an expression. After so much text it
 * begins anew, or hostile answers would make that grow without end. */
#define RENEW_BYTES ((size_t)1024 * 1024)

struct br_phrase {
	regex_t regex;
	char *whole;     /* HEAD text TAIL */
	char *text;      /* as given */
	size_t searched; /* bytes, since it was compiled */
};

static bool
has_back_reference(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text != '\\')
			continue;
		text++;
		if (*text >= '1' && *text <= '9')
			return true;
		if (*text == '\0')
			break;
	}
	return false;
}

/* libc takes a `)` that closes nothing for itself; in a group it would close
 * that. */
static bool
closes_too_much(const char *text)
{
	size_t len = strlen(text);
	char *opened = malloc(len + 2);
	regex_t regex;
	bool closed;

	if (opened == NULL)
		abort();
	opened[0] = '(';
	memcpy(opened + 1, text, len + 1);
	closed = regcomp(&regex, opened, FLAGS) == 0;
	if (closed)
		regfree(&regex);
	free(opened);
	return closed;
}

/* What is wrong with it as it was written, alone. */
static bool
check(const char *text, struct br_error *err)
{
	regex_t regex;
	char reason[200];
	int code = regcomp(&regex, text, FLAGS);
	bool empty;

	if (code != 0) {
		(void)regerror(code, &regex, reason, sizeof(reason));
		return br_fail(err,
		    "\"%.300s\" is not a regular expression: %s", text, reason);
	}
	empty = regexec(&regex, "", 0, NULL, 0) == 0;
	regfree(&regex);
	if (closes_too_much(text))
		return br_fail(err,
		    "\"%.300s\" has a ')' too many; for the character "
		    "itself write \\)",
		    text);
	if (has_back_reference(text))
		return br_fail(err,
		    "\"%.300s\" refers back to a group, which can take for "
		    "ever",
		    text);
	if (empty)
		return br_fail(
		    err, "\"%.300s\" would be found in any answer", text);
	return true;
}

struct br_phrase *
br_phrase_new(const char *text, struct br_error *err)
{
	struct br_phrase *p;
	size_t len = strlen(text);

	if (!check(text, err))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		abort();
	p->text = strdup(text);
	p->whole = malloc(sizeof(HEAD) + len + sizeof(TAIL));
	if (p->text == NULL || p->whole == NULL)
		abort();
	memcpy(p->whole, HEAD, strlen(HEAD));
	memcpy(p->whole + strlen(HEAD), text, len);
	memcpy(p->whole + strlen(HEAD) + len, TAIL, sizeof(TAIL));
	/* What compiles alone does so in a group. */
	if (regcomp(&p->regex, p->whole, FLAGS) != 0)
		abort();
	return p;
}

void
br_phrase_free(struct br_phrase *p)
{
	if (p == NULL)
		return;
	regfree(&p->regex);
	free(p->whole);
	free(p->text);
	free(p);
}

const char *
br_phrase_text(const struct br_phrase *p)
{
	return p->text;
}

bool
br_phrase_found(struct br_phrase *p, char *bytes, size_t len)
{
	/* NULs would end the text, and line ends confuse libc's `^`. */
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)bytes[i] < ' ')
			bytes[i] = ' ';
	bytes[len] = '\0';
	if (p->searched > RENEW_BYTES) {
		regfree(&p->regex);
		if (regcomp(&p->regex, p->whole, FLAGS) != 0)
			abort();
		p->searched = 0;
	}
	p->searched += len;
	return regexec(&p->regex, bytes, 0, NULL, 0) == 0;
}
