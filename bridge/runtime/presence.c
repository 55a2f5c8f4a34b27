/*
 * presence: which topics this process has read, and which of them are not
 * there now; see parts_internal.h.
 */
#include "bridge/runtime/parts_internal.h"

#include <stdio.h>
#include <stdlib.h>

static struct br_seen *
find(const struct br_parts *ps, const char *topic)
{
	struct br_seen *t = ps->seen;

	while (t != NULL && strcmp(t->topic, topic) != 0)
		t = t->next;
	return t;
}

static struct br_seen *
find_or_add(struct br_parts *ps, const char *topic)
{
	struct br_seen *t = find(ps, topic);
	size_t len = strlen(topic) + 1;

	if (t != NULL)
		return t;
	t = calloc(1, sizeof(*t) + len);
	if (t == NULL)
		abort();
	memcpy(t->topic, topic, len);
	t->next = ps->seen;
	ps->seen = t;
	return t;
}

/* One alarm for all of them; it names the first. */
static void
tell(struct br_parts *ps)
{
	const struct br_seen *t = ps->seen;

	while (t != NULL && !t->missing)
		t = t->next;
	br_alarms_set(
	    ps->alarms, BR_ALARM_TOPIC_MISSING, t != NULL ? t->why : NULL);
}

bool
br_presence_seen(const struct br_parts *ps, const char *topic)
{
	return find(ps, topic) != NULL;
}

void
br_presence_see(struct br_parts *ps, const char *topic)
{
	find_or_add(ps, topic)->missing = false;
	tell(ps);
}

void
br_presence_lost(struct br_parts *ps, const char *topic, const char *text)
{
	struct br_seen *t = find_or_add(ps, topic);

	t->missing = true;
	(void)snprintf(t->why, sizeof(t->why),
	    "topic %s is not there: %s; what waits of it is dropped, and it is "
	    "read again, from its beginning if it was made anew, when it is "
	    "back",
	    topic, text);
	tell(ps);
}

void
br_presence_others(struct br_parts *ps)
{
	for (struct br_seen *t = ps->seen; t != NULL; t = t->next) {
		const struct br_part *part = ps->first;

		while (part != NULL && strcmp(part->topic, t->topic) != 0)
			part = part->next;
		if (part == NULL)
			t->missing = false;
	}
	tell(ps);
}

void
br_presence_free(struct br_parts *ps)
{
	while (ps->seen != NULL) {
		struct br_seen *next = ps->seen->next;

		free(ps->seen);
		ps->seen = next;
	}
}
