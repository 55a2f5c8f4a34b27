/* explain_text: see the header. */
#include "bridge/commands/explain_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define INDENT 2
#define NAMES_SHOWN 12

static struct br_slice
slice_of(const struct br_buffer *b)
{
	return (struct br_slice){(const uint8_t *)b->data, b->len};
}

/* ---- the verdict */

static void
add_place(struct br_buffer *out, const struct br_record *r)
{
	br_paper_clean(out, br_slice_str(r->topic));
	br_buffer_format(out, ":%" PRId32 ":%" PRId64, r->partition, r->offset);
}

static void
add_verdict(const struct br_explained *x, struct br_buffer *out)
{
	const struct br_event *ev = x->event;

	switch (x->outcome) {
	case BR_EXPLAIN_DELIVER:
		br_buffer_format(out, "one POST to %s, at most %" PRIu32 " %s",
		    ev->target, ev->max_attempts,
		    ev->max_attempts == 1 ? "request" : "requests");
		break;
	case BR_EXPLAIN_SKIP:
		br_buffer_format(out, "%s", x->reason);
		break;
	case BR_EXPLAIN_DLQ:
		br_buffer_format(out, "%s (stage: %s)", x->reason, x->stage);
		break;
	case BR_EXPLAIN_HOLD:
		br_buffer_format(out,
		    "%s: the partition would wait at this record", x->reason);
		break;
	}
}

static void
write_verdict(const struct br_explained *x, struct br_paper *p)
{
	static const struct {
		const char *word;
		enum br_ink ink;
	} words[] = {[BR_EXPLAIN_DELIVER] = {"DELIVER", BR_INK_GREEN},
	    [BR_EXPLAIN_SKIP] = {"SKIP", BR_INK_YELLOW},
	    [BR_EXPLAIN_DLQ] = {"DEAD LETTER", BR_INK_RED},
	    [BR_EXPLAIN_HOLD] = {"HOLD", BR_INK_RED}};
	struct br_buffer text = {0};

	add_place(&text, x->record);
	br_paper_ink(p, BR_INK_BOLD, text.data);
	br_buffer_str(p->out, "\n");
	br_paper_ink(p, words[x->outcome].ink, words[x->outcome].word);
	br_buffer_clear(&text);
	add_verdict(x, &text);
	br_buffer_str(p->out, "  ");
	br_paper_clean(p->out, slice_of(&text));
	br_buffer_str(p->out, "\n");
	br_buffer_free(&text);
}

/* Why it is not sent, and what a person does about it. */
static void
write_reason(const struct br_explained *x, struct br_paper *p)
{
	if (x->detail != NULL && x->detail[0] != '\0')
		br_paper_prose(p, INDENT, "why         ", x->detail);
	if (x->advice != NULL)
		br_paper_prose(p, INDENT, "what to do  ", x->advice);
	if (x->outcome == BR_EXPLAIN_DLQ) {
		struct br_buffer text = {0};

		br_buffer_format(&text,
		    "the record as it is, to %s, with outbox.dlq.* headers "
		    "that say why",
		    x->config->dlq.topic);
		br_paper_prose(p, INDENT, "would go    ", text.data);
		br_buffer_free(&text);
	}
	if (x->decoded->hint != NULL)
		br_paper_prose(p, INDENT, "hint        ", x->decoded->hint);
	if (!x->topic_read)
		br_paper_prose(p, INDENT, "but         ",
		    "kafka.topics does not name this topic: run never reads "
		    "it");
}

/* ---- the record */

static void
add_time(struct br_buffer *out, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm t;

	if (ms >= 0 && gmtime_r(&seconds, &t) != NULL)
		br_buffer_format(out, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
		    t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour,
		    t.tm_min, t.tm_sec, (int)(ms % 1000));
	else
		br_buffer_str(out, "none");
}

static void
add_size(struct br_buffer *out, struct br_slice s)
{
	if (s.data == NULL)
		br_buffer_str(out, "null");
	else
		br_buffer_format(
		    out, "%zu %s", s.len, s.len == 1 ? "byte" : "bytes");
}

/* The names; Debezium's own four are always the same. */
static void
write_headers(struct br_paper *p, const struct br_record *r)
{
	static const char context[] = "__debezium.context.";
	struct br_buffer text = {0};
	size_t own = 0, shown = 0;

	br_buffer_format(&text, "%zu", r->header_count);
	for (size_t i = 0; i < r->header_count; i++) {
		const char *name = r->headers[i].name;

		if (strncmp(name, context, sizeof(context) - 1) == 0)
			own++;
		else if (shown++ < NAMES_SHOWN)
			br_buffer_format(
			    &text, "%s%s", shown == 1 ? ": " : ", ", name);
	}
	if (shown > NAMES_SHOWN)
		br_buffer_format(&text, ", and %zu more", shown - NAMES_SHOWN);
	if (own > 0 && shown > 0)
		br_buffer_format(&text, ", and %zu of Debezium's context", own);
	else if (own > 0)
		br_buffer_str(&text, ", of Debezium's context");
	br_paper_prose(p, INDENT, "headers  ", text.data);
	br_buffer_free(&text);
}

static void
row_buffer(struct br_paper *p, const char *name, struct br_buffer *value,
    const char *note)
{
	br_paper_row(p, name, slice_of(value), note);
	br_buffer_clear(value);
}

static void
write_record(const struct br_explained *x, struct br_paper *p)
{
	const struct br_record *r = x->record;
	struct br_buffer text = {0};

	br_paper_section(p, "Record");
	add_time(&text, r->timestamp_ms);
	row_buffer(p, "time   ", &text,
	    r->time_kind == BR_TIME_APPEND ? "when the broker got it" : "");
	add_size(&text, r->key);
	row_buffer(p, "key", &text, "");
	add_size(&text, r->value);
	row_buffer(p, "value", &text, "");
	br_paper_rows(p);
	write_headers(p, r);
	br_buffer_free(&text);
}

static void
write_detected(const struct br_explained *x, struct br_paper *p)
{
	const char *format = x->decoded->format;

	br_paper_section(p, "Detected");
	if (format[0] == '\0')
		format = "nothing that is sent";
	br_paper_row(p, "format ", br_slice_str(format), "");
	br_paper_rows(p);
	if (x->format_why != NULL)
		br_paper_prose(p, INDENT, "because  ", x->format_why);
}

/* ---- the event */

/* "header eventType", or what holds when nothing was noted. */
static void
add_origin(struct br_buffer *out, const struct br_explained *x,
    const char *field, struct br_slice value, const char *otherwise)
{
	const struct br_origin *o = br_explained_origin(x, field);

	br_buffer_clear(out);
	br_buffer_str(out, o != NULL ? o->kind : otherwise);
	/* Part of the topic's name, for one, is the value itself. */
	if (o != NULL && o->name.data != NULL && !br_slice_eq(o->name, value)) {
		br_buffer_str(out, " ");
		br_buffer_add(out, o->name.data, o->name.len);
	}
}

static void
field(struct br_paper *p, const struct br_explained *x, const char *name,
    const char *key, struct br_slice value)
{
	struct br_buffer note = {0};

	add_origin(&note, x, key, value, "");
	br_paper_row(p, name, value, note.data);
	br_buffer_free(&note);
}

static const char *
key_note(const struct br_explained *x)
{
	const struct br_decoded *d = x->decoded;

	if (d->offset_key)
		return "its position (source.allow_offset_key)";
	if (br_slice_eq(d->idempotency_key, d->event_id) &&
	    d->event_id.data != NULL)
		return "the event id";
	return "";
}

/* Where the body stands, or else how it came out of the value. */
static void
add_body_note(struct br_buffer *out, const struct br_explained *x)
{
	struct br_slice body = x->event->body;
	const struct br_slice value = x->event->record.value;

	add_origin(out, x, "body", body, "value");
	if (strcmp(out->data, "value") != 0)
		return;
	br_buffer_clear(out);
	if (br_slice_eq(value, body))
		br_buffer_str(out, "the value as it is");
	else if (value.data != NULL && body.data >= value.data &&
	         body.data + body.len <= value.data + value.len)
		br_buffer_str(out, "a part of the value, byte for byte");
	else
		br_buffer_str(out, "decoded from the value");
}

static void
write_attempts(const struct br_explained *x, struct br_paper *p)
{
	struct br_buffer text = {0}, note = {0};

	br_buffer_format(&text, "%" PRIu32, x->event->max_attempts);
	add_origin(&note, x, "max_attempts", slice_of(&text), "");
	if (x->decoded->max_attempts <= 0) {
		/* Not given, or not usable. */
		br_buffer_clear(&note);
		br_buffer_str(&note, "retry.max_attempts");
	}
	row_buffer(p, "max attempts", &text, note.data);
	br_buffer_free(&note);
	br_buffer_free(&text);
}

static void
write_content(const struct br_explained *x, struct br_paper *p)
{
	struct br_buffer note = {0}, text = {0};
	const struct br_decoded *d = x->decoded;

	add_origin(&note, x, "content_type", d->content_type,
	    d->body_is_json   ? "the body is JSON"
	    : d->body_is_utf8 ? "the body is text, and not JSON"
	                      : "the body is neither JSON nor text");
	if (d->content_type.data == NULL && d->body_is_json) {
		br_buffer_clear(&note);
		br_buffer_str(&note, "the body is JSON");
	}
	br_paper_row(
	    p, "content type", br_slice_str(x->event->content_type), note.data);
	add_size(&text, x->event->body);
	add_body_note(&note, x);
	row_buffer(p, "body", &text, note.data);
	br_buffer_free(&note);
	br_buffer_free(&text);
}

/* When it happened, where something else than the record says so. */
static void
write_time(const struct br_explained *x, struct br_paper *p)
{
	struct br_buffer text = {0}, note = {0};
	int64_t time_ms = x->decoded->time_ms;

	if (time_ms >= 0 && time_ms != x->record->timestamp_ms) {
		add_time(&text, time_ms);
		add_origin(&note, x, "time_ms", slice_of(&text), "");
		br_paper_row(p, "time", slice_of(&text), note.data);
	}
	br_buffer_free(&note);
	br_buffer_free(&text);
}

static void
write_event(const struct br_explained *x, struct br_paper *p)
{
	const struct br_decoded *d = x->decoded;
	struct br_buffer note = {0};

	br_paper_section(p, "Event");
	field(p, x, "event id", "event_id", d->event_id);
	add_origin(
	    &note, x, "idempotency_key", d->idempotency_key, key_note(x));
	br_paper_row(p, "idempotency key", d->idempotency_key, note.data);
	add_origin(&note, x, "order_key", d->order_key,
	    d->order_key.data != NULL ? "key of the record"
	                              : "no key: no order");
	br_paper_row(p, "order key", d->order_key, note.data);
	field(p, x, "event type", "event_type", d->event_type);
	field(p, x, "aggregate type", "aggregate_type", d->aggregate_type);
	field(p, x, "target URL", "target_url", d->target_url);
	write_time(x, p);
	if (d->traceparent.data != NULL)
		field(p, x, "trace parent", "traceparent", d->traceparent);
	if (x->outcome == BR_EXPLAIN_DELIVER) {
		write_attempts(x, p);
		write_content(x, p);
	}
	br_paper_rows(p);
	br_buffer_free(&note);
}

/* ---- the request */

static void
write_route(const struct br_explained *x, struct br_paper *p)
{
	br_paper_section(p, "Route");
	br_paper_row(p, "route", br_slice_str(x->route),
	    x->route != NULL              ? "the first that matches"
	    : x->config->route_count == 0 ? "none is configured"
	                                  : "none matches");
	if (x->outcome == BR_EXPLAIN_DELIVER)
		br_paper_row(
		    p, "target", br_slice_str(x->event->target), x->url_from);
	br_paper_rows(p);
}

static void
write_body(const struct br_explained *x, struct br_paper *p)
{
	struct br_slice body = x->event->body;

	br_buffer_str(p->out, "\n");
	if (body.len == 0)
		br_paper_prose(p, INDENT, "", "(no body)");
	else
		br_paper_bytes(p, INDENT, body);
}

static void
write_request(const struct br_explained *x, struct br_paper *p)
{
	struct br_buffer line = {0};

	br_paper_section(p, "Request");
	br_buffer_format(&line, "  %s ", x->method);
	br_paper_ink(p, BR_INK_BOLD, line.data);
	br_buffer_clear(&line);
	br_paper_clean(&line, br_slice_str(x->url));
	br_buffer_str(&line, "\n");
	br_paper_ink(p, BR_INK_PLAIN, line.data);
	for (size_t i = 0; i < x->header_count; i++) {
		br_buffer_clear(&line);
		br_buffer_format(&line, "  %s:", x->header[i].name);
		br_paper_ink(p, BR_INK_CYAN, line.data);
		br_buffer_clear(&line);
		br_buffer_str(&line, " ");
		br_paper_clean(&line, br_slice_str(x->header[i].value));
		br_buffer_str(&line, "\n");
		br_buffer_str(p->out, line.data);
	}
	br_buffer_free(&line);
	write_body(x, p);
}

void
br_explain_text(const struct br_explained *x, struct br_paper *p)
{
	write_verdict(x, p);
	write_reason(x, p);
	write_record(x, p);
	write_detected(x, p);
	if (x->outcome != BR_EXPLAIN_SKIP)
		write_event(x, p);
	if (x->outcome == BR_EXPLAIN_DELIVER) {
		write_route(x, p);
		write_request(x, p);
	} else if (x->record->value.len > 0) {
		br_paper_section(p, "Value");
		br_paper_bytes(p, INDENT, x->record->value);
	}
}
