/* routed: the fields and the body of an event of the router; see draft.h. */
#include "bridge/source/draft.h"
#include "bridge/source/field.h"
#include "bridge/source/text.h"
#include "bridge/source/trace.h"

#define KEY_BYTES 255
#define RETRIES_MAX 999

/* Where a field was found: "header" or "member", and its first name. */
struct found {
	struct br_field field;
	const char *where;
};

static struct br_field
header_field(struct br_draft *d, int slot, bool id)
{
	const struct br_slice *bytes = d->header[slot];

	if (bytes == NULL)
		return (struct br_field){.state = BR_FIELD_ABSENT};
	return id ? br_field_id(d->arena, *bytes)
	          : br_field_header(d->arena, *bytes);
}

static struct br_field
member_field(struct br_draft *d, int slot)
{
	if (!d->placed || d->member[slot].kind == BR_JSON_NONE)
		return (struct br_field){.state = BR_FIELD_ABSENT};
	return br_field_json(d->arena, &d->member[slot]);
}

/* The first of these slots that says something: headers, then members. */
static struct found
find(struct br_draft *d, int from, int end)
{
	struct found f = {.where = "header"};

	for (int i = from; i < end; i++) {
		f.field = header_field(d, i, from == BR_SLOT_KEY);
		if (f.field.state != BR_FIELD_ABSENT)
			return f;
	}
	f.where = "member of the value";
	for (int i = from; i < end; i++) {
		f.field = member_field(d, i);
		if (f.field.state != BR_FIELD_ABSENT)
			return f;
	}
	return f;
}

static void
java_text(struct br_draft *d, const char *name)
{
	br_draft_dead(d, "extract", "java-text",
	    "the header %s is the text of a Java object: set header.converter "
	    "to org.apache.kafka.connect.storage.SimpleHeaderConverter in the "
	    "connector",
	    name);
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

static void
find_key(struct br_draft *d)
{
	struct br_field id = header_field(d, BR_SLOT_ID, true);
	struct found key = find(d, BR_SLOT_KEY, BR_SLOT_KEY_END);
	const char *what = "idempotency key", *fault;

	if (id.state == BR_FIELD_TEXT)
		d->out->event_id = id.text;
	if (key.field.state == BR_FIELD_ABSENT) {
		key.field = id;
		key.where = "header";
		what = "event's id";
	}
	if (key.field.state == BR_FIELD_ABSENT) {
		d->out->offset_key = d->config->source.allow_offset_key;
		if (!d->out->offset_key)
			br_draft_dead(d, "extract", "missing-id",
			    "no `id` header with a value and no idempotency "
			    "key (source.allow_offset_key = true takes topic, "
			    "partition and offset instead)");
		return;
	}
	fault = key_fault(&key.field);
	if (fault != NULL)
		br_draft_dead(d, "validate", "id-invalid", "the %s (%s) %s",
		    what, key.where, fault);
	else
		d->out->idempotency_key = key.field.text;
}

static void
find_type(struct br_draft *d)
{
	size_t count;
	const int *slots = br_names_types(d->names, &count);
	struct br_field field = {.state = BR_FIELD_ABSENT};

	for (size_t i = 0; i < count && field.state == BR_FIELD_ABSENT; i++)
		field = header_field(d, slots[i], false);
	for (size_t i = 0; i < count && field.state == BR_FIELD_ABSENT; i++)
		field = member_field(d, slots[i]);
	if (field.state == BR_FIELD_JAVA)
		java_text(d, "of the event's type");
	/* Routes choose by it: none would be a guess. */
	if (field.state == BR_FIELD_MALFORMED)
		br_draft_dead(d, "validate", "field-invalid",
		    "the event's type is not UTF-8");
	if (field.state == BR_FIELD_TEXT)
		d->out->event_type = field.text;
}

static void
find_aggregate(struct br_draft *d)
{
	struct found f;

	d->out->aggregate_type = d->aggregate_topic;
	if (d->aggregate_topic.data != NULL)
		return;
	f = find(d, BR_SLOT_AGGREGATE, BR_SLOT_AGGREGATE_END);
	if (f.field.state == BR_FIELD_JAVA)
		java_text(d, "aggregatetype");
	if (f.field.state == BR_FIELD_MALFORMED)
		br_draft_dead(d, "validate", "field-invalid",
		    "the aggregate type is not UTF-8");
	if (f.field.state == BR_FIELD_TEXT)
		d->out->aggregate_type = f.field.text;
}

static void
find_url(struct br_draft *d)
{
	struct found f = find(d, BR_SLOT_URL, BR_SLOT_URL_END);

	if (f.field.state == BR_FIELD_JAVA)
		java_text(d, "of the target URL");
	if (f.field.state == BR_FIELD_MALFORMED)
		br_draft_dead(d, "validate", "url-invalid",
		    "the target URL (%s) is not UTF-8", f.where);
	if (f.field.state == BR_FIELD_TEXT)
		d->out->target_url = f.field.text;
}

static void
find_retries(struct br_draft *d)
{
	struct found f = find(d, BR_SLOT_RETRIES, BR_SLOT_RETRIES_END);
	bool strict = d->config->source.strict_fields;
	int64_t number;

	if (f.field.state == BR_FIELD_ABSENT)
		return;
	if (!br_field_number(d->arena, &f.field, &number) ||
	    number > RETRIES_MAX || (strict && number < 0)) {
		if (strict)
			br_draft_dead(d, "validate", "field-invalid",
			    "max_retries (%s) is no whole number from 0 to "
			    "999, and source.strict_fields is set",
			    f.where);
		return;
	}
	d->out->max_attempts = number < 1 ? 1 : number;
}

static void
find_content_type(struct br_draft *d)
{
	struct br_field field = header_field(d, BR_SLOT_CONTENT_TYPE, false);

	if (field.state == BR_FIELD_ABSENT)
		return;
	if (field.state == BR_FIELD_JAVA) {
		java_text(d, "content-type");
		return;
	}
	if (field.state == BR_FIELD_TEXT && br_text_is_printable(field.text))
		d->out->content_type = field.text;
	else
		br_draft_dead(d, "validate", "header-invalid",
		    "the header content-type holds what HTTP cannot carry");
}

static void
find_trace(struct br_draft *d)
{
	struct br_field column;

	if (d->header[BR_SLOT_TRACEPARENT] != NULL)
		d->out->traceparent =
		    br_trace_header_parent(d->arena, d->record);
	if (d->out->traceparent.data != NULL) {
		if (d->header[BR_SLOT_TRACESTATE] != NULL)
			d->out->tracestate =
			    br_trace_header_state(d->arena, d->record);
		return;
	}
	column = header_field(d, BR_SLOT_TRACING, false);
	if (column.state == BR_FIELD_ABSENT)
		column = member_field(d, BR_SLOT_TRACING);
	if (column.state != BR_FIELD_TEXT)
		return;
	d->out->traceparent = br_trace_parent(
	    br_trace_property(d->arena, column.text, "traceparent"));
	if (d->out->traceparent.data != NULL) {
		struct br_slice state =
		    br_trace_property(d->arena, column.text, "tracestate");

		if (br_trace_state_valid(state))
			d->out->tracestate = state;
	}
}

void
br_routed_fields(struct br_draft *d)
{
	find_key(d);
	find_type(d);
	find_aggregate(d);
	find_url(d);
	find_retries(d);
	find_content_type(d);
	find_trace(d);
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
br_routed_body(struct br_draft *d, const struct br_payload *p)
{
	int64_t limit = d->config->limits.body_bytes;
	enum br_body_syntax syntax = p->syntax;
	struct br_decoded *out = d->out;

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
