/* registry: see the header. */
#include "bridge/source/registry.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/base/buffer.h"

#define BUCKETS 1024
#define SCHEMAS_MAX 4096 /* more are forgotten, the longest unused first */
#define AGAIN_MS 500     /* doubled by each failure */
#define AGAIN_MAX_MS 10000
#define UNKNOWN_TRIES 3
#define UNKNOWN_AGAIN_MS 1000
#define UNKNOWN_KEPT_MS 60000

struct entry {
	struct entry *next; /* of its bucket */
	struct br_schema_key key;
	enum br_schema_state state;
	struct br_avro_schema *schema; /* HERE */
	char why[400];                 /* UNKNOWN, UNUSABLE; WAIT: outage */
	bool asked;                    /* WAIT: an answer is to come */
	bool failed;                   /* WAIT: the last answer was an outage */
	unsigned tries;                /* outages in a row */
	unsigned unknown;              /* answers that there is none */
	int64_t due_ms;                /* WAIT: ask again; UNKNOWN: forget */
	uint64_t used;
	uint64_t asked_used; /* `used` when it was asked */
};

struct br_registry {
	void (*ask)(void *opaque, const struct br_schema_key *key);
	void *opaque;
	struct entry *bucket[BUCKETS];
	size_t count;
	size_t failed;     /* entries that wait for the end of an outage */
	char trouble[400]; /* the last outage */
	int64_t due_ms;    /* nothing is due before */
	uint64_t clock;    /* counts finds */
};

void
br_schema_key_text(
    const struct br_schema_key *key, char text[BR_SCHEMA_KEY_TEXT])
{
	size_t n = 0;

	if (key->space != BR_SCHEMA_GUID) {
		(void)snprintf(text, BR_SCHEMA_KEY_TEXT, "%s id %" PRIu64,
		    key->space == BR_SCHEMA_GLOBAL ? "global" : "content",
		    key->id);
		return;
	}
	n = (size_t)snprintf(text, BR_SCHEMA_KEY_TEXT, "guid ");
	for (size_t i = 0; i < 16; i++)
		n += (size_t)snprintf(text + n, BR_SCHEMA_KEY_TEXT - n,
		    i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
		    key->guid[i]);
}

bool
br_schema_key_eq(const struct br_schema_key *a, const struct br_schema_key *b)
{
	if (a->space != b->space)
		return false;
	return a->space == BR_SCHEMA_GUID
	           ? memcmp(a->guid, b->guid, sizeof(a->guid)) == 0
	           : a->id == b->id;
}

void
br_registry_reply_free(struct br_registry_reply *reply)
{
	if (reply == NULL)
		return;
	for (size_t i = 0; i < reply->text_count; i++)
		br_buffer_free(&reply->text[i]);
	free(reply->text);
	free(reply);
}

struct br_registry *
br_registry_new(
    void (*ask)(void *opaque, const struct br_schema_key *key), void *opaque)
{
	struct br_registry *r = calloc(1, sizeof(*r));

	if (r == NULL)
		abort();
	r->ask = ask;
	r->opaque = opaque;
	r->due_ms = INT64_MAX;
	return r;
}

static void
entry_free(struct entry *e)
{
	br_avro_schema_free(e->schema);
	free(e);
}

void
br_registry_free(struct br_registry *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (r->bucket[i] != NULL) {
			struct entry *e = r->bucket[i];

			r->bucket[i] = e->next;
			entry_free(e);
		}
	free(r);
}

static struct entry **
place_of(struct br_registry *r, const struct br_schema_key *key)
{
	uint64_t hash = key->id;
	struct entry **at;

	if (key->space == BR_SCHEMA_GUID)
		memcpy(&hash, key->guid, sizeof(hash));
	hash = (hash + (uint64_t)key->space) * UINT64_C(0x9E3779B97F4A7C15);
	at = &r->bucket[hash >> 54];
	while (*at != NULL && !br_schema_key_eq(&(*at)->key, key))
		at = &(*at)->next;
	return at;
}

static void
forget(struct br_registry *r, struct entry **at)
{
	struct entry *e = *at;

	*at = e->next;
	r->count--;
	entry_free(e);
}

/* Makes room: what is asked for stays. */
static void
forget_oldest(struct br_registry *r)
{
	struct entry **oldest = NULL;

	for (size_t i = 0; i < BUCKETS; i++)
		for (struct entry **at = &r->bucket[i]; *at != NULL;
		     at = &(*at)->next)
			if ((*at)->state != BR_SCHEMA_WAIT &&
			    (oldest == NULL || (*at)->used < (*oldest)->used))
				oldest = at;
	if (oldest != NULL)
		forget(r, oldest);
}

static struct entry *
entry_new(struct br_registry *r, const struct br_schema_key *key)
{
	struct entry *e = calloc(1, sizeof(*e)), **at;

	if (e == NULL)
		abort();
	if (r->count >= SCHEMAS_MAX)
		forget_oldest(r);
	at = place_of(r, key);
	e->key = *key;
	e->state = BR_SCHEMA_WAIT;
	*at = e;
	r->count++;
	return e;
}

static void
ask(struct br_registry *r, struct entry *e)
{
	e->asked = true;
	e->asked_used = e->used;
	r->ask(r->opaque, &e->key);
}

enum br_schema_state
br_registry_find(struct br_registry *r, const struct br_schema_key *key,
    struct br_avro_schema **schema, const char **why)
{
	struct entry *e = *place_of(r, key);

	if (e == NULL) {
		e = entry_new(r, key);
		ask(r, e);
	}
	e->used = ++r->clock;
	*schema = e->schema;
	*why = e->why;
	return e->state;
}

static void
set_failed(struct br_registry *r, struct entry *e, bool failed)
{
	if (e->failed != failed)
		r->failed = failed ? r->failed + 1 : r->failed - 1;
	e->failed = failed;
}

static void
set_due(struct br_registry *r, struct entry *e, int64_t due_ms)
{
	e->due_ms = due_ms;
	if (due_ms < r->due_ms)
		r->due_ms = due_ms;
}

static void
take_found(struct entry *e, struct br_registry_reply *reply)
{
	struct br_slice *texts = calloc(reply->text_count, sizeof(*texts));
	struct br_error err;

	if (texts == NULL)
		abort();
	for (size_t i = 0; i < reply->text_count; i++)
		texts[i] = (struct br_slice){
		    (const uint8_t *)reply->text[i].data, reply->text[i].len};
	e->schema = br_avro_schema_new(texts, reply->text_count, &err);
	free(texts);
	e->state = e->schema != NULL ? BR_SCHEMA_HERE : BR_SCHEMA_UNUSABLE;
	if (e->schema == NULL)
		(void)snprintf(e->why, sizeof(e->why), "%.380s", err.text);
}

static void
take_none(struct br_registry *r, struct entry *e,
    const struct br_registry_reply *reply, int64_t now_ms)
{
	(void)snprintf(e->why, sizeof(e->why), "%.380s", reply->why.text);
	if (++e->unknown < UNKNOWN_TRIES) {
		set_due(r, e, now_ms + UNKNOWN_AGAIN_MS);
		return;
	}
	e->state = BR_SCHEMA_UNKNOWN;
	set_due(r, e, now_ms + UNKNOWN_KEPT_MS);
}

static void
take_outage(struct br_registry *r, struct entry *e,
    const struct br_registry_reply *reply, int64_t now_ms)
{
	int64_t wait_ms = AGAIN_MAX_MS;

	if (e->tries < 5 && (AGAIN_MS << e->tries) < AGAIN_MAX_MS)
		wait_ms = AGAIN_MS << e->tries;
	e->tries++;
	set_failed(r, e, true);
	(void)snprintf(
	    r->trouble, sizeof(r->trouble), "%.380s", reply->why.text);
	set_due(r, e, now_ms + wait_ms);
}

void
br_registry_answer(
    struct br_registry *r, struct br_registry_reply *reply, int64_t now_ms)
{
	struct entry *e = *place_of(r, &reply->key);

	if (e != NULL && e->state == BR_SCHEMA_WAIT && e->asked) {
		e->asked = false;
		if (reply->outcome != BR_REGISTRY_OUTAGE) {
			set_failed(r, e, false);
			e->tries = 0;
		}
		switch (reply->outcome) {
		case BR_REGISTRY_FOUND:
			take_found(e, reply);
			break;
		case BR_REGISTRY_NONE:
			take_none(r, e, reply, now_ms);
			break;
		case BR_REGISTRY_UNUSABLE:
			e->state = BR_SCHEMA_UNUSABLE;
			(void)snprintf(
			    e->why, sizeof(e->why), "%.380s", reply->why.text);
			break;
		case BR_REGISTRY_OUTAGE:
			take_outage(r, e, reply, now_ms);
			break;
		}
	}
	br_registry_reply_free(reply);
}

int64_t
br_registry_step(struct br_registry *r, int64_t now_ms)
{
	int64_t next_ms = INT64_MAX;

	if (now_ms < r->due_ms)
		return r->due_ms;
	/* What an answer from within `ask` adds is found by the next call. */
	r->due_ms = INT64_MAX;
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct entry **at = &r->bucket[i]; *at != NULL;) {
			struct entry *e = *at;
			bool waits = e->state == BR_SCHEMA_WAIT && !e->asked;
			bool due = e->due_ms != 0 && now_ms >= e->due_ms;

			/* Partitions that wait find it at every pass. */
			bool wanted = !e->failed || e->used != e->asked_used;

			if (due && (e->state == BR_SCHEMA_UNKNOWN ||
			               (waits && !wanted))) {
				set_failed(r, e, false);
				forget(r, at);
				continue;
			}
			if (waits && due)
				ask(r, e);
			else if ((waits || e->state == BR_SCHEMA_UNKNOWN) &&
			         e->due_ms < next_ms)
				next_ms = e->due_ms;
			at = &e->next;
		}
	if (next_ms < r->due_ms)
		r->due_ms = next_ms;
	return r->due_ms;
}

const char *
br_registry_trouble(const struct br_registry *r)
{
	return r->failed > 0 ? r->trouble : NULL;
}
