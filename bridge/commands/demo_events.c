/* demo_events: see the header. */
#include "demo_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *
demo_kind_name(enum demo_kind kind)
{
	switch (kind) {
	case DEMO_ORDINARY:
		return "ordinary keys";
	case DEMO_SLOW:
		return "a slow key";
	case DEMO_FLAKY:
		return "fails twice";
	case DEMO_BAD:
		return "always fails";
	case DEMO_NOT_EVENT:
		return "not an event";
	case DEMO_KINDS:
		break;
	}
	return "";
}

/* A few of each special sort; of those that always fail the fewest, because
 * each holds its key for a whole ladder. */
static enum demo_kind
kind_of(unsigned n)
{
	if (n % 100 == 11)
		return DEMO_BAD;
	if (n % 50 == 7)
		return DEMO_FLAKY;
	if (n % 50 == 13)
		return DEMO_NOT_EVENT;
	if (n % 20 == 5)
		return DEMO_SLOW;
	return DEMO_ORDINARY;
}

void
demo_events_init(struct demo_events *es, unsigned count)
{
	*es = (struct demo_events){.count = count};
	(void)pthread_mutex_init(&es->lock, NULL);
	es->event = calloc(count, sizeof(*es->event));
	if (es->event == NULL)
		abort();
	for (unsigned n = 0; n < count; n++)
		es->event[n].kind = kind_of(n);
}

void
demo_events_free(struct demo_events *es)
{
	free(es->event);
	(void)pthread_mutex_destroy(&es->lock);
}

size_t
demo_body(unsigned n, char *out, size_t size)
{
	return (size_t)snprintf(out, size,
	    "{\"order\":%u,\"total\":%u.50,\"note\":\"\xc5\x81"
	    "ódź\"}",
	    n, 10 + n % 90);
}

void
demo_id(unsigned n, char out[37])
{
	(void)snprintf(out, 37, "0b9d6c1e-5f3a-4c77-8a21-%012u", n);
}

long
demo_number(const char *id, size_t len)
{
	char text[13];

	if (len != 36)
		return -1;
	memcpy(text, id + 24, 12);
	text[12] = '\0';
	return strtol(text, NULL, 10);
}

static const char *
key_of(enum demo_kind kind, unsigned n, char *out, size_t size)
{
	switch (kind) {
	case DEMO_SLOW:
		return "customer-slow";
	case DEMO_FLAKY:
		return "customer-flaky";
	case DEMO_BAD:
		return "customer-bad";
	case DEMO_ORDINARY:
	case DEMO_NOT_EVENT:
	case DEMO_KINDS:
		break;
	}
	(void)snprintf(out, size, "customer-%u", n % 20);
	return out;
}

/* How Kafka Connect's converters may write the same row. */
enum spelling { STRING, JSON, JSON_SCHEMA, ENVELOPE, EXPANDED, SPELLINGS };

#define SCHEMA                                                                 \
	"{\"schema\":{\"type\":\"string\",\"optional\":false},\"payload\":"

/* A text as a JSON string: quotes and backslashes escaped. */
static void
quote(const char *text, char *out, size_t size)
{
	size_t at = 0;

	out[at++] = '"';
	for (; *text != '\0' && at + 3 < size; text++) {
		if (*text == '"' || *text == '\\')
			out[at++] = '\\';
		out[at++] = *text;
	}
	out[at++] = '"';
	out[at] = '\0';
}

/* The text as the converter of this spelling writes it. */
static void
spell(enum spelling how, const char *text, char *out, size_t size)
{
	char quoted[700];

	quote(text, quoted, sizeof(quoted));
	switch (how) {
	case STRING:
		(void)snprintf(out, size, "%s", text);
		break;
	case JSON:
	case ENVELOPE:
	case EXPANDED:
		(void)snprintf(out, size, "%s", quoted);
		break;
	case JSON_SCHEMA:
		(void)snprintf(out, size, SCHEMA "%s}", quoted);
		break;
	case SPELLINGS:
		break;
	}
}

static void
spell_value(enum spelling how, const char *body, char *out, size_t size)
{
	char quoted[700];

	if (how == ENVELOPE) {
		quote(body, quoted, sizeof(quoted));
		(void)snprintf(out, size,
		    "{\"payload\":%s,\"eventType\":\"OrderPlaced\"}", quoted);
	} else if (how == EXPANDED)
		(void)snprintf(out, size, "%s", body);
	else
		spell(how, body, out, size);
}

bool
demo_produce(struct demo_events *es, struct br_mock_cluster *m, unsigned n,
    struct br_error *err)
{
	enum demo_kind kind = es->event[n].kind;
	enum spelling how = n % SPELLINGS;
	char id[37], body[200], name[40], key[200], value[900], head[2][200];
	struct br_header headers[2] = {{"id", {0}}, {"eventType", {0}}};
	struct br_record record = {
	    .topic = DEMO_TOPIC,
	    .partition = -1,
	    .timestamp_ms = -1,
	    .headers = headers,
	    .header_count = how == ENVELOPE ? 1 : 2,
	};
	bool ok;

	demo_id(n, id);
	(void)demo_body(n, body, sizeof(body));
	spell(how, key_of(kind, n, name, sizeof(name)), key, sizeof(key));
	spell(how, id, head[0], sizeof(head[0]));
	spell(how, "OrderPlaced", head[1], sizeof(head[1]));
	spell_value(how, body, value, sizeof(value));
	headers[0].value = br_slice_str(head[0]);
	headers[1].value = br_slice_str(head[1]);
	record.key = br_slice_str(key);
	record.value = br_slice_str(value);
	if (kind == DEMO_NOT_EVENT) {
		record.value = br_slice_str("{\"hello\":\"world\"}");
		record.header_count = 0;
	}
	ok = br_mock_produce(m, &record, err);
	(void)pthread_mutex_lock(&es->lock);
	es->event[n].produced = ok;
	(void)pthread_mutex_unlock(&es->lock);
	return ok;
}

void
demo_tally(struct demo_events *es, unsigned tally[DEMO_KINDS][DEMO_STATES])
{
	memset(tally, 0, DEMO_KINDS * sizeof(*tally));
	(void)pthread_mutex_lock(&es->lock);
	for (unsigned n = 0; n < es->count; n++)
		if (es->event[n].produced)
			tally[es->event[n].kind][es->event[n].state]++;
	(void)pthread_mutex_unlock(&es->lock);
}
