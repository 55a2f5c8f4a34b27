/* epitaph: see the header. */
#include "bridge/runtime/epitaph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bridge/base/hash.h"
#include "bridge/base/utf8.h"
#include "bridge/http/request.h"

/* Bytes of a detail (wire formats, section 5). */
#define DETAIL_MAX 512

struct br_epitaph {
	const struct br_config *config;
	struct br_request_rules *rules;
	struct br_request request;
	struct br_header *out;
	size_t count;
	char number[12][32];
	size_t numbers;
	char detail[DETAIL_MAX + 1];
	char body[3 * BR_OUTCOME_BODY + 1];
	char sha256[BR_SHA256_HEX];
};

struct br_epitaph *
br_epitaph_new(const struct br_config *config)
{
	struct br_epitaph *e = calloc(1, sizeof(*e));

	if (e == NULL)
		abort();
	e->config = config;
	e->rules = br_request_rules_new(config);
	return e;
}

void
br_epitaph_free(struct br_epitaph *e)
{
	if (e == NULL)
		return;
	br_request_rules_free(e->rules);
	free(e);
}

const char *
br_epitaph_reason(const struct br_ref *ref)
{
	if (ref->reason != NULL)
		return ref->reason;
	if (ref->event->reason != NULL)
		return ref->event->reason;
	return ref->failure->reason;
}

static void
add(struct br_epitaph *e, const char *name, const char *value)
{
	if (value == NULL || value[0] == '\0')
		return;
	e->out[e->count++] = (struct br_header){name, br_slice_str(value)};
}

static void
add_number(struct br_epitaph *e, const char *name, int64_t value)
{
	char *text = e->number[e->numbers++];

	(void)snprintf(text, sizeof(e->number[0]), "%" PRId64, value);
	add(e, name, text);
}

/* The answer's first bytes as text: what is not UTF-8 becomes U+FFFD. */
static void
add_body(struct br_epitaph *e, const struct br_outcome *o)
{
	char *to = e->body;

	for (size_t i = 0; i < o->body_len;) {
		const uint8_t *s = (const uint8_t *)o->body + i;
		uint32_t code;
		size_t len =
		    s[0] == 0 ? 0 : br_utf8_char(s, o->body_len - i, &code);

		if (len == 0) {
			memcpy(to, "\xef\xbf\xbd", 3);
			to += 3;
			i++;
		} else {
			memcpy(to, s, len);
			to += len;
			i += len;
		}
	}
	*to = '\0';
	add(e, "outbox.dlq.http.body", e->body);
}

static void
add_detail(struct br_epitaph *e, const char *text)
{
	size_t len;

	if (text == NULL)
		return;
	len = strlen(text);
	if (len > DETAIL_MAX) {
		/* Cut at a whole character. */
		len = DETAIL_MAX;
		while (len > 0 && ((uint8_t)text[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(e->detail, text, len);
	e->detail[len] = '\0';
	add(e, "outbox.dlq.detail", e->detail);
}

static const char *
time_kind(enum br_time_kind kind)
{
	switch (kind) {
	case BR_TIME_NONE:
		return NULL;
	case BR_TIME_CREATE:
		return "create";
	case BR_TIME_APPEND:
		return "append";
	}
	return NULL;
}

/* Where it was sent, and what came back. */
static void
add_delivery(struct br_epitaph *e, const struct br_ref *ref, bool minimal)
{
	const struct br_failure *f = ref->failure;

	if (f == NULL)
		return;
	if (f->last.head_complete)
		add_number(e, "outbox.dlq.http.status", f->last.http_status);
	if (!f->last.head_complete || f->last.curl_code != 0)
		add_number(e, "outbox.dlq.curl.code", f->last.curl_code);
	if (minimal)
		return;
	if (f->last.head_complete && f->last.body_len != 0)
		add_body(e, &f->last);
	add_number(e, "outbox.dlq.first.ms", f->first_wall_ms);
	add_number(e, "outbox.dlq.last.ms", f->last.wall_ms);
}

static void
add_origin(struct br_epitaph *e, const struct br_ref *ref,
    const struct br_epitaph_style *style)
{
	const struct br_record *r = &ref->event->record;

	add(e, "outbox.dlq.topic", r->topic);
	add_number(e, "outbox.dlq.partition", r->partition);
	add_number(e, "outbox.dlq.offset", ref->offset);
	if (style->minimal && !style->replace_timestamp)
		return;
	if (r->timestamp_ms >= 0 || style->replace_timestamp) {
		add_number(e, "outbox.dlq.timestamp.ms", r->timestamp_ms);
		add(e, "outbox.dlq.timestamp.type", time_kind(r->time_kind));
	}
	if (style->replace_timestamp)
		add(e, "outbox.dlq.timestamp.replaced", "true");
}

static void
add_event(struct br_epitaph *e, const struct br_event *ev)
{
	add(e, "outbox.dlq.group", e->config->kafka.group);
	add(e, "outbox.dlq.format", ev->format);
	add(e, "outbox.dlq.event.id", ev->event_id);
	if (ev->idempotency_key != NULL) {
		/* The key exactly as it stands on the request. */
		br_request_build(e->rules, ev, &e->request);
		add(e, "outbox.dlq.idempotency.key", e->request.key);
	}
	add(e, "outbox.dlq.event.type", ev->event_type);
	add(e, "outbox.dlq.target", ev->target);
}

size_t
br_epitaph_write(struct br_epitaph *e, const struct br_ref *ref,
    const struct br_epitaph_style *style, struct br_header *out)
{
	const struct br_event *ev = ref->event;
	const char *detail = ev->detail;

	e->out = out;
	e->count = e->numbers = 0;
	add(e, "outbox.dlq.reason", br_epitaph_reason(ref));
	add_number(e, "outbox.dlq.attempts", ref->attempts);
	add_origin(e, ref, style);
	add_delivery(e, ref, style->minimal);
	if (style->truncated) {
		br_sha256_hex(
		    ev->record.value.data, ev->record.value.len, e->sha256);
		add(e, "outbox.dlq.truncated", "true");
		add(e, "outbox.dlq.value.sha256", e->sha256);
	}
	if (style->minimal)
		return e->count;
	if (detail == NULL && ref->failure != NULL)
		detail = ref->failure->last.detail;
	add_detail(e, detail);
	add(e, "outbox.dlq.stage", ev->stage != NULL ? ev->stage : "deliver");
	add_event(e, ev);
	add(e, "outbox.dlq.bridge.version", BRIDGE_VERSION);
	return e->count;
}
