/*
 * presence: which topics this process has read, and which of them are not
 * there now; see parts_internal.h.
 */
#include "bridge/runtime/parts_internal.h"

#include <stdio.h>
#include <stdlib.h>

#define LOOK_AGAIN_MS 10000
#define ASK_TIMEOUT_MS 5000

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

/* Missing, and nothing else of ours would find out that it is back: another
 * member may have it then. */
static bool
is_looked_for(const struct br_parts *ps, const struct br_seen *t)
{
	const struct br_part *part = ps->first;

	while (part != NULL && strcmp(part->topic, t->topic) != 0)
		part = part->next;
	return t->missing && part == NULL;
}

void
br_presence_step(struct br_parts *ps, int64_t now_ms)
{
	struct br_positions *list;
	size_t count = 0;

	if (ps->look_ticket != 0 || now_ms < ps->look_ms)
		return;
	for (const struct br_seen *t = ps->seen; t != NULL; t = t->next)
		count += is_looked_for(ps, t);
	if (count == 0)
		return;
	ps->look_ms = now_ms + LOOK_AGAIN_MS;
	list = br_positions_new(count);
	for (const struct br_seen *t = ps->seen; t != NULL; t = t->next)
		if (is_looked_for(ps, t))
			(void)br_positions_add(list, t->topic, 0, -1);
	ps->look_ticket =
	    br_consumer_ask(ps->consumer, BR_ASK_RANGE, list, ASK_TIMEOUT_MS);
	br_positions_free(list);
}

bool
br_presence_answer(struct br_parts *ps, const struct br_kafka_event *ev)
{
	if (ps->look_ticket == 0 || ev->ticket != ps->look_ticket)
		return false;
	ps->look_ticket = 0;
	for (size_t i = 0; ev->positions != NULL && i < ev->positions->count;
	     i++) {
		const struct br_position *pos = &ev->positions->item[i];
		struct br_seen *t = find(ps, pos->topic);

		if (t != NULL && pos->error == 0 && pos->low >= 0)
			t->missing = false;
	}
	tell(ps);
	return true;
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
