/*
 * limit: whether an answer says in words that there is a limit. One of these
 * for each client, with an expression of its own: libc locks a shared one at
 * each use. Private to this room.
 */
#ifndef BRIDGE_HTTP_LIMIT_H
#define BRIDGE_HTTP_LIMIT_H

#include <stdbool.h>

#include "bridge/core/phrase.h"
#include "bridge/http/answer.h"

/* All zero: nothing is looked for. */
struct br_limit {
	struct br_phrase *phrase; /* looked for last, or NULL */
	char *text;               /* room for a body; NULL: never needed */
	bool wanted;
};

/* For the next attempt: the expression, which must compile, or NULL or "". */
void br_limit_look_for(struct br_limit *l, const char *expression);

/* Has the answer, which is new, keep its body where it is needed. */
void br_limit_attach(const struct br_limit *l, struct br_answer *a);

/* Is it found in what came of the answer's body? Ask once for each answer. */
bool br_limit_said(struct br_limit *l, const struct br_answer *a);

void br_limit_free(struct br_limit *l);

#endif
