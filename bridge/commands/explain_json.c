/* explain_json: see the header. */
#include "bridge/commands/explain_json.h"

#include <inttypes.h>

#include "bridge/base/jsontext.h"
#include "bridge/base/utf8.h"

static void
add_name(struct br_buffer *out, const char *name)
{
	if (out->len > 0 && out->data[out->len - 1] != '{')
		br_buffer_str(out, ", ");
	br_jsontext_string(out, br_slice_str(name));
	br_buffer_str(out, ": ");
}

static void
add_slice(struct br_buffer *out, const char *name, struct br_slice value)
{
	add_name(out, name);
	br_jsontext_string(out, value);
}

static void
add_text(struct br_buffer *out, const char *name, const char *value)
{
	add_slice(out, name, br_slice_str(value));
}

static void
add_number(struct br_buffer *out, const char *name, int64_t value, bool known)
{
	add_name(out, name);
	if (known)
		br_buffer_format(out, "%" PRId64, value);
	else
		br_buffer_str(out, "null");
}

static bool
is_utf8(struct br_slice s)
{
	uint32_t code;

	for (size_t i = 0, n; i < s.len; i += n) {
		n = br_utf8_char(s.data + i, s.len - i, &code);
		if (n == 0)
			return false;
	}
	return true;
}

static void
add_order_key(struct br_buffer *out, struct br_slice key)
{
	const struct br_slice none = {NULL, 0};

	add_slice(out, "order_key", key);
	add_name(out, "order_key_base64");
	br_jsontext_base64(out, is_utf8(key) ? none : key);
}

static const char *
empty_as_null(const char *text)
{
	return text != NULL && text[0] != '\0' ? text : NULL;
}

static void
add_event(struct br_buffer *out, const struct br_explained *x)
{
	const struct br_decoded *d = x->decoded;
	const struct br_event *ev = x->event;
	bool sent = x->outcome == BR_EXPLAIN_DELIVER;

	add_text(out, "format", empty_as_null(d->format));
	add_text(out, "format_why", x->format_why);
	add_slice(out, "event_id", d->event_id);
	add_slice(out, "idempotency_key", d->idempotency_key);
	add_order_key(out, d->order_key);
	add_slice(out, "aggregate_type", d->aggregate_type);
	add_slice(out, "event_type", d->event_type);
	add_slice(out, "target_url", d->target_url);
	add_number(out, "max_attempts",
	    ev != NULL ? (int64_t)ev->max_attempts : 0, ev != NULL);
	if (sent)
		add_text(out, "content_type", ev->content_type);
	else
		add_slice(out, "content_type", d->content_type);
	add_slice(out, "traceparent", d->traceparent);
	add_slice(out, "tracestate", d->tracestate);
	add_number(out, "time_ms", d->time_ms, d->time_ms >= 0);
	add_name(out, "body");
	br_jsontext_base64(out, sent ? ev->body : (struct br_slice){NULL, 0});
	add_number(out, "body_bytes", sent ? (int64_t)ev->body.len : 0, sent);
}

static void
add_origins(struct br_buffer *out, const struct br_explained *x)
{
	const struct br_origins *o = x->origins;
	bool first = true;

	add_name(out, "origins");
	br_buffer_str(out, "{");
	for (size_t i = 0; i < o->count; i++) {
		/* Once each: the last note of a field holds. */
		if (br_explained_origin(x, o->item[i].field) != &o->item[i])
			continue;
		if (!first)
			br_buffer_str(out, ", ");
		first = false;
		br_jsontext_string(out, br_slice_str(o->item[i].field));
		br_buffer_str(out, ": [");
		br_jsontext_string(out, br_slice_str(o->item[i].kind));
		br_buffer_str(out, ", ");
		br_jsontext_string(out, o->item[i].name);
		br_buffer_str(out, "]");
	}
	br_buffer_str(out, "}");
}

static void
add_request(struct br_buffer *out, const struct br_explained *x)
{
	add_name(out, "request");
	if (x->outcome != BR_EXPLAIN_DELIVER) {
		br_buffer_str(out, "null");
		return;
	}
	br_buffer_str(out, "{");
	add_text(out, "method", x->method);
	add_text(out, "url", x->url);
	add_name(out, "headers");
	br_buffer_str(out, "[");
	for (size_t i = 0; i < x->header_count; i++) {
		br_buffer_str(out, i > 0 ? ", [" : "[");
		br_jsontext_string(out, br_slice_str(x->header[i].name));
		br_buffer_str(out, ", ");
		br_jsontext_string(out, br_slice_str(x->header[i].value));
		br_buffer_str(out, "]");
	}
	br_buffer_str(out, "]}");
}

void
br_explain_json(const struct br_explained *x, struct br_buffer *out)
{
	const struct br_record *r = x->record;
	struct br_buffer line = {0};

	br_buffer_str(&line, "{");
	add_text(&line, "topic", r->topic);
	add_number(&line, "partition", r->partition, true);
	add_number(&line, "offset", r->offset, true);
	add_number(&line, "timestamp", r->timestamp_ms, r->timestamp_ms >= 0);
	add_name(&line, "topic_read");
	br_buffer_str(&line, x->topic_read ? "true" : "false");
	add_text(&line, "outcome", br_explain_outcome_name(x->outcome));
	add_text(&line, "reason", x->reason);
	add_text(&line, "stage", empty_as_null(x->stage));
	add_text(&line, "detail", empty_as_null(x->detail));
	add_text(&line, "advice", x->advice);
	add_text(&line, "hint", x->decoded->hint);
	add_event(&line, x);
	add_origins(&line, x);
	add_text(&line, "route", x->route);
	add_text(&line, "target", x->event != NULL ? x->event->target : NULL);
	add_request(&line, x);
	br_buffer_str(&line, "}\n");
	br_buffer_add(out, line.data, line.len);
	br_buffer_free(&line);
}
