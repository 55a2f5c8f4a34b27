/* fields: checks of one field each, and of the body; see draft.h. */
#include "bridge/source/draft.h"
#include "bridge/source/text.h"
#include "bridge/source/trace.h"

#define KEY_BYTES 255
#define RETRIES_MAX 999

static void
java_text(struct br_draft *d, const char *what, const char *where)
{
	br_draft_dead(d, "extract", "java-text",
	    "%s (%s) is the text of a Java object: set header.converter to "
	    "org.apache.kafka.connect.storage.SimpleHeaderConverter in the "
	    "connector",
	    what, where);
}

/* What is wrong with a text as an idempotency key, or NULL. */
static const char *
key_fault(const struct br_field *field)
{
	if (field->state == BR_FIELD_MALFORMED)
		return "is not UTF-8";
	if (field->state == BR_FIELD_JAVA)
		return "is the text of a Java object (set header.converter to "
		       "org.apache.kafka.connect.storage."
		       "SimpleHeaderConverter in the connector)";
	if (field->text.len > KEY_BYTES)
		return "is longer than 255 bytes";
	return br_text_has_control(field->text) ? "holds control characters"
	                                        : NULL;
}

void
br_set_no_key(struct br_draft *d, const char *what)
{
	d->out->offset_key = d->config->source.allow_offset_key;
	if (!d->out->offset_key)
		br_draft_dead(d, "extract", "missing-id",
		    "%s (source.allow_offset_key = true takes topic, partition "
		    "and offset instead)",
		    what);
}

void
br_set_key(struct br_draft *d, const struct br_field *field, const char *what,
    const char *where)
{
	const char *fault = key_fault(field);

	if (fault != NULL)
		br_draft_dead(d, "validate", "id-invalid", "the %s (%s) %s",
		    what, where, fault);
	else
		d->out->idempotency_key = field->text;
}

void
br_set_type(struct br_draft *d, const struct br_field *field)
{
	if (field->state == BR_FIELD_JAVA)
		java_text(d, "the event's type", "header");
	/* Routes choose by it: none would be a guess. */
	if (field->state == BR_FIELD_MALFORMED)
		br_draft_dead(d, "validate", "field-invalid",
		    "the event's type is not UTF-8");
	if (field->state == BR_FIELD_TEXT)
		d->out->event_type = field->text;
}

void
br_set_aggregate(struct br_draft *d, const struct br_field *field)
{
	if (field->state == BR_FIELD_JAVA)
		java_text(d, "the aggregate type", "header");
	if (field->state == BR_FIELD_MALFORMED)
		br_draft_dead(d, "validate", "field-invalid",
		    "the aggregate type is not UTF-8");
	if (field->state == BR_FIELD_TEXT)
		d->out->aggregate_type = field->text;
}

void
br_set_url(struct br_draft *d, const struct br_field *field, const char *where)
{
	if (field->state == BR_FIELD_JAVA)
		java_text(d, "the target URL", where);
	if (field->state == BR_FIELD_MALFORMED)
		br_draft_dead(d, "validate", "url-invalid",
		    "the target URL (%s) is not UTF-8", where);
	if (field->state == BR_FIELD_TEXT)
		d->out->target_url = field->text;
}

void
br_set_retries(
    struct br_draft *d, const struct br_field *field, const char *where)
{
	bool strict = d->config->source.strict_fields;
	int64_t number;

	if (field->state == BR_FIELD_ABSENT)
		return;
	if (!br_field_number(d->arena, field, &number) ||
	    number > RETRIES_MAX || (strict && number < 0)) {
		if (strict)
			br_draft_dead(d, "validate", "field-invalid",
			    "max_retries (%s) is no whole number from 0 to "
			    "999, and source.strict_fields is set",
			    where);
		return;
	}
	d->out->max_attempts = number < 1 ? 1 : number;
}

void
br_set_content_type(
    struct br_draft *d, const struct br_field *field, const char *where)
{
	if (field->state == BR_FIELD_ABSENT)
		return;
	if (field->state == BR_FIELD_JAVA)
		java_text(d, "the content type", where);
	else if (field->state == BR_FIELD_TEXT &&
	         br_text_is_printable(field->text))
		d->out->content_type = field->text;
	else
		br_draft_dead(d, "validate", "header-invalid",
		    "the content type (%s) holds what HTTP cannot carry",
		    where);
}

void
br_set_trace(struct br_draft *d, const struct br_field *tracing)
{
	if (d->header[BR_SLOT_TRACEPARENT] != NULL)
		d->out->traceparent =
		    br_trace_header_parent(d->arena, d->record);
	if (d->out->traceparent.data != NULL) {
		br_draft_from(
		    d, "traceparent", "header", br_slice_str("traceparent"));
		if (d->header[BR_SLOT_TRACESTATE] != NULL)
			d->out->tracestate =
			    br_trace_header_state(d->arena, d->record);
		return;
	}
	if (tracing->state != BR_FIELD_TEXT)
		return;
	d->out->traceparent = br_trace_parent(
	    br_trace_property(d->arena, tracing->text, "traceparent"));
	if (d->out->traceparent.data != NULL) {
		struct br_slice state =
		    br_trace_property(d->arena, tracing->text, "tracestate");

		br_draft_from(d, "traceparent", "text of",
		    br_slice_str("tracingspancontext"));
		if (br_trace_state_valid(state))
			d->out->tracestate = state;
	}
}

/* Is it, or does it hold as a JSON string, the placeholder? */
static bool
is_unavailable(
    struct br_draft *d, struct br_slice body, enum br_body_syntax *syntax)
{
	struct br_json_fault fault;
	bool hit = d->watch.hit;

	for (size_t i = 0; i < 2; i++)
		if (d->watch.text[i].data != NULL &&
		    br_slice_eq(body, d->watch.text[i]))
			return true;
	if (*syntax == BR_BODY_NOT_JSON || (*syntax == BR_BODY_JSON && !hit))
		return false;
	/* What was hit before may stand outside the body. */
	d->watch.hit = false;
	*syntax = br_json_check(body, &d->watch, NULL, &fault)
	              ? BR_BODY_JSON
	              : BR_BODY_NOT_JSON;
	return *syntax == BR_BODY_JSON && d->watch.hit;
}

void
br_set_body(struct br_draft *d, const struct br_payload *p)
{
	int64_t limit = d->config->limits.body_bytes;
	enum br_body_syntax syntax = p->syntax;
	struct br_decoded *out = d->out;

	if (d->kind == BR_DRAFT_ROUTED && d->placed)
		br_draft_from(
		    d, "body", "member of the value", br_slice_str("payload"));
	else if (d->kind == BR_DRAFT_ROUTED)
		br_draft_from(d, "body", "value", (struct br_slice){NULL, 0});

	if (limit > 0 && p->body.len > (uint64_t)limit) {
		br_draft_dead(d, "validate", "payload-too-large",
		    "the body has %zu bytes, limits.body_bytes is %lld",
		    p->body.len, (long long)limit);
		return;
	}
	if (is_unavailable(d, p->body, &syntax)) {
		br_draft_dead(d, "validate", "payload-unavailable",
		    "the payload is, or holds, the placeholder of the "
		    "connector for a value that it did not read "
		    "(source.unavailable_value); a redrive cannot cure it, "
		    "insert the event again");
		return;
	}
	out->body = p->body;
	out->body_is_json = syntax == BR_BODY_JSON;
	out->body_is_utf8 = out->body_is_json || br_text_is_utf8(p->body);
	if (!out->body_is_utf8 && strcmp(out->format, "string") == 0)
		out->format = "bytes";
}
