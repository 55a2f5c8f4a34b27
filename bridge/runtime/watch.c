/* watch: see the header. */
#include "bridge/runtime/watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/runtime/parts_internal.h"

#define LOOK_MS 500
/* Standing still for so long is worth a question … */
#define STILL_MS 20000
/* … and another one, sooner where the last answer said that there is more. */
#define ASK_AGAIN_MS 30000
#define ASK_BEHIND_MS 10000
#define ASK_TIMEOUT_MS 1000

/* What is known of one partition. */
struct watched {
	char *topic;
	int32_t partition;
	bool seen;      /* in this step */
	bool asked;     /* in the question that is out */
	bool behind;    /* the last answer said that there is more … */
	bool stuck;     /* … and the one before it too */
	int64_t next;   /* where it stands … */
	int64_t still;  /* … since so many drained milliseconds */
	int64_t ask_at; /* of `still`: when to ask */
	int64_t end;    /* of its log; behind */
};

struct br_watch {
	struct watched *item;
	size_t count, capacity;
	size_t cursor;      /* partitions come in the same order every time */
	bool drained;       /* at the last turn … */
	int64_t now_ms;     /* … which was then */
	int64_t look_ms;    /* when to look at the partitions */
	int64_t counted_ms; /* drained, since the last look */
	int64_t passed_ms;  /* drained, between the last two looks */
	uint64_t ticket;    /* of the question that is out */
	bool out;
	char why[600];
};

struct br_watch *
br_watch_new(void)
{
	struct br_watch *w = calloc(1, sizeof(*w));

	if (w == NULL)
		abort();
	return w;
}

void
br_watch_free(struct br_watch *w)
{
	if (w == NULL)
		return;
	for (size_t i = 0; i < w->count; i++)
		free(w->item[i].topic);
	free(w->item);
	free(w);
}

static bool
is(const struct watched *p, const char *topic, int32_t partition)
{
	return p->partition == partition && strcmp(p->topic, topic) == 0;
}

/* The one of that name, or NULL. Looks first where it should be. */
static struct watched *
find(struct br_watch *w, const char *topic, int32_t partition)
{
	for (size_t i = 0; i < w->count; i++) {
		size_t at = (w->cursor + i) % w->count;

		if (!is(&w->item[at], topic, partition))
			continue;
		w->cursor = at + 1;
		return &w->item[at];
	}
	return NULL;
}

static struct watched *
add(struct br_watch *w, const char *topic, int32_t partition)
{
	struct watched *p;

	if (w->count == w->capacity) {
		w->capacity = w->capacity * 2 + 16;
		w->item = reallocarray(w->item, w->capacity, sizeof(*w->item));
		if (w->item == NULL)
			abort();
	}
	p = &w->item[w->count++];
	*p = (struct watched){
	    .topic = strdup(topic), .partition = partition, .next = -1};
	if (p->topic == NULL)
		abort();
	return p;
}

bool
br_watch_begin(struct br_watch *w, bool drained, int64_t now_ms)
{
	if (drained && w->drained)
		w->counted_ms += now_ms - w->now_ms;
	w->drained = drained;
	w->now_ms = now_ms;
	if (now_ms < w->look_ms)
		return false;
	w->look_ms = now_ms + LOOK_MS;
	w->passed_ms = w->counted_ms;
	w->counted_ms = 0;
	w->cursor = 0;
	for (size_t i = 0; i < w->count; i++)
		w->item[i].seen = false;
	return true;
}

void
br_watch_see(
    struct br_watch *w, const char *topic, int32_t partition, int64_t next)
{
	struct watched *p = find(w, topic, partition);

	if (p == NULL)
		p = add(w, topic, partition);
	p->seen = true;
	if (p->next == next) {
		p->still += w->passed_ms;
		return;
	}
	p->next = next;
	p->still = 0;
	p->ask_at = STILL_MS;
	/* An answer that is under way says nothing about the new place. */
	p->asked = p->behind = p->stuck = false;
}

static void
forget_unseen(struct br_watch *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->count; i++)
		if (w->item[i].seen)
			w->item[kept++] = w->item[i];
		else
			free(w->item[i].topic);
	w->count = kept;
}

struct br_positions *
br_watch_end(struct br_watch *w)
{
	struct br_positions *list = NULL;

	forget_unseen(w);
	for (size_t i = 0; i < w->count && !w->out; i++) {
		struct watched *p = &w->item[i];

		if (p->still < p->ask_at)
			continue;
		if (list == NULL)
			list = br_positions_new(8);
		(void)br_positions_add(list, p->topic, p->partition, -1);
		p->asked = true;
	}
	if (list != NULL)
		w->out = true;
	return list;
}

/* One partition: is its end behind where we stand, again? */
static void
judge(struct watched *p, const struct br_position *range)
{
	bool more =
	    range->error == 0 && range->low <= p->next && range->high > p->next;

	p->asked = false;
	/* No answer proves nothing, but takes nothing back either. */
	if (range->error == 0) {
		p->stuck = more && (p->stuck || p->behind);
		p->behind = more;
		p->end = range->high;
	}
	p->ask_at = p->still + (p->behind ? ASK_BEHIND_MS : ASK_AGAIN_MS);
}

void
br_watch_told(struct br_watch *w, const struct br_positions *range)
{
	w->out = false;
	for (size_t i = 0; range != NULL && i < range->count; i++) {
		struct watched *p =
		    find(w, range->item[i].topic, range->item[i].partition);

		if (p != NULL && p->asked)
			judge(p, &range->item[i]);
	}
	/* Whatever was left out is asked about again. */
	for (size_t i = 0; i < w->count; i++)
		if (w->item[i].asked) {
			w->item[i].asked = false;
			w->item[i].ask_at = w->item[i].still + ASK_BEHIND_MS;
		}
}

const char *
br_watch_why(struct br_watch *w)
{
	const struct watched *first = NULL;
	size_t stuck = 0;

	for (size_t i = 0; i < w->count; i++) {
		if (!w->item[i].stuck)
			continue;
		if (stuck++ == 0)
			first = &w->item[i];
	}
	if (first == NULL)
		return NULL;
	(void)snprintf(w->why, sizeof(w->why),
	    "topic %.249s partition %" PRId32 ": nothing has come from offset "
	    "%" PRId64 " for %" PRId64 " s although the log ends at %" PRId64
	    " and the brokers answer (%zu such partitions): most likely the "
	    "batch there is damaged, look at it with kafka-dump-log.sh; mend "
	    "the log, or set the group's offset behind the batch while the "
	    "bridge is stopped; a restart helps if only the client hangs",
	    first->topic, first->partition, first->next, first->still / 1000,
	    first->end, stuck);
	return w->why;
}

void
br_watch_step(
    struct br_watch *w, struct br_parts *ps, bool drained, int64_t now_ms)
{
	struct br_positions *list;

	if (!br_watch_begin(w, drained, now_ms) || ps->shutting_down)
		return;
	for (const struct br_part *part = ps->first; part != NULL;
	     part = part->next)
		if (part->state == BR_PART_READING && part->reading &&
		    !part->paused)
			br_watch_see(
			    w, part->topic, part->partition, part->ledger.next);
	list = br_watch_end(w);
	if (list == NULL)
		return;
	w->ticket =
	    br_consumer_ask(ps->consumer, BR_ASK_RANGE, list, ASK_TIMEOUT_MS);
	br_positions_free(list);
}

bool
br_watch_answer(struct br_watch *w, const struct br_kafka_event *ev)
{
	if (!w->out || ev->what != BR_KAFKA_ANSWER || ev->ticket != w->ticket)
		return false;
	br_watch_told(w, ev->positions);
	return true;
}
