/* limit: see the header. */
#include "limit.h"

#include <stdlib.h>
#include <string.h>

void
br_limit_look_for(struct br_limit *l, const char *expression)
{
	struct br_error err;

	l->wanted = expression != NULL && *expression != '\0';
	if (!l->wanted)
		return;
	if (l->text == NULL)
		l->text = malloc(BR_ANSWER_BODY_MAX + 1);
	if (l->phrase == NULL ||
	    strcmp(br_phrase_text(l->phrase), expression) != 0) {
		br_phrase_free(l->phrase);
		l->phrase = br_phrase_new(expression, &err);
	}
	/* The configuration was checked; there is no memory. */
	if (l->text == NULL || l->phrase == NULL)
		abort();
}

void
br_limit_attach(const struct br_limit *l, struct br_answer *a)
{
	if (l->wanted)
		a->text = l->text;
}

bool
br_limit_said(struct br_limit *l, const struct br_answer *a)
{
	return a->text != NULL && a->head_complete &&
	       br_phrase_found(l->phrase, a->text, a->text_len);
}

void
br_limit_free(struct br_limit *l)
{
	br_phrase_free(l->phrase);
	free(l->text);
	*l = (struct br_limit){0};
}
