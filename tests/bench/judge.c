/* judge: see the header. */
#include "judge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MAX (1u << 26)
#define KEYS_MAX (1u << 20)
#define HEAD_BYTES 160

struct event {
	uint32_t requests;
	uint32_t successes;
	uint32_t key;
	int64_t latency_us;
};

struct key {
	uint32_t under_way;
	uint32_t next; /* one above the highest sequence that succeeded */
};

struct counts {
	uint64_t requests;
	uint64_t ok;       /* answered 200 */
	uint64_t unique;   /* events with a success */
	uint64_t others;   /* of these, not of the key that fails */
	uint64_t refused;  /* requests of the key that fails */
	uint64_t again;    /* requests for an event that had succeeded */
	uint64_t disorder; /* first success after a later one of its key */
	uint64_t overlap;  /* two requests of one key at once */
	int64_t first_us;
	int64_t last_us;
};

static struct event *events;
static size_t event_capacity, event_count;
static struct key keys[KEYS_MAX];
static struct counts counts;
static struct judge_rules rules = {.fail_key = -1, .fail_status = 500};

struct judge_rules *
judge_rules(void)
{
	return &rules;
}

void
judge_reset(void)
{
	if (event_count != 0)
		memset(events, 0, event_count * sizeof(*events));
	event_count = 0;
	memset(keys, 0, sizeof(keys));
	counts = (struct counts){0};
}

static struct event *
event_at(uint32_t number)
{
	size_t more = event_capacity;

	while (number >= more)
		more = more * 2 + 65536;
	if (more != event_capacity) {
		events = realloc(events, more * sizeof(*events));
		if (events == NULL)
			abort();
		memset(events + event_capacity, 0,
		    (more - event_capacity) * sizeof(*events));
		event_capacity = more;
	}
	if (number >= event_count)
		event_count = (size_t)number + 1;
	return &events[number];
}

/* Reads the number behind `*at` and the word `before`. */
static bool
take_number(const char **at, const char *before, int64_t *out)
{
	size_t len = strlen(before);
	char *end;

	if (strncmp(*at, before, len) != 0)
		return false;
	*out = strtoll(*at + len, &end, 10);
	if (end == *at + len || *out < 0)
		return false;
	*at = end;
	return true;
}

static bool
take_event(struct judge_case *c, const char *body, size_t len, int64_t *made_us)
{
	char head[HEAD_BYTES];
	const char *at = head;
	int64_t number, key, seq;

	len = len < sizeof(head) ? len : sizeof(head) - 1;
	memcpy(head, body, len);
	head[len] = '\0';
	if (!take_number(&at, "{\"id\":\"e-", &number) ||
	    !take_number(&at, "\",\"k\":\"agg-", &key) ||
	    !take_number(&at, "\",\"s\":", &seq) ||
	    !take_number(&at, ",\"t\":", made_us))
		return false;
	if (number >= EVENTS_MAX || key >= KEYS_MAX || seq >= EVENTS_MAX)
		return false;
	c->number = (uint32_t)number;
	c->key = (uint32_t)key;
	c->seq = (uint32_t)seq;
	return true;
}

void
judge_arrived(
    struct judge_case *c, const char *body, size_t len, int64_t now_us)
{
	struct event *ev;
	int64_t made_us;

	*c = (struct judge_case){.status = 200};
	counts.requests++;
	if (counts.first_us == 0)
		counts.first_us = now_us;
	c->event = take_event(c, body, len, &made_us);
	if (!c->event)
		return;
	ev = event_at(c->number);
	ev->key = c->key;
	if (ev->requests++ == 0)
		ev->latency_us = now_us - made_us;
	if (ev->successes != 0)
		counts.again++;
	if (keys[c->key].under_way++ != 0)
		counts.overlap++;
	if (c->key == rules.fail_key) {
		counts.refused++;
		c->status = rules.fail_status;
	}
}

void
judge_answered(const struct judge_case *c, int64_t now_us)
{
	struct key *key = &keys[c->key];

	if (c->status == 200) {
		counts.ok++;
		counts.last_us = now_us;
	}
	if (!c->event)
		return;
	/* 0: a reset came between. */
	if (key->under_way > 0)
		key->under_way--;
	if (c->status != 200 || event_at(c->number)->successes++ != 0)
		return;
	counts.unique++;
	if (c->key != rules.fail_key)
		counts.others++;
	if (c->seq < key->next)
		counts.disorder++;
	else
		key->next = c->seq + 1;
}

void
judge_print(FILE *out)
{
	const struct {
		const char *name;
		uint64_t value;
	} list[] = {
	    {"requests", counts.requests},
	    {"ok", counts.ok},
	    {"unique", counts.unique},
	    {"others", counts.others},
	    {"refused", counts.refused},
	    {"again", counts.again},
	    {"disorder", counts.disorder},
	    {"overlap", counts.overlap},
	    {"first_us", (uint64_t)counts.first_us},
	    {"last_us", (uint64_t)counts.last_us},
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		(void)fprintf(
		    out, "\"%s\": %" PRIu64 ", ", list[i].name, list[i].value);
}

void
judge_print_events(FILE *out)
{
	for (size_t i = 0; i < event_count; i++)
		if (events[i].requests != 0)
			(void)fprintf(out, "%zu %u %u %u %" PRId64 "\n", i,
			    events[i].key, events[i].requests,
			    events[i].successes, events[i].latency_us);
}
