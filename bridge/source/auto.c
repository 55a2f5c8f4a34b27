/*
 * auto: finds out what a value is, and the payload in it. The order of the
 * questions decides; see draft.h.
 */
#include "bridge/source/detect.h"
#include "bridge/source/field.h"
#include "bridge/source/text.h"

static void
why(struct br_draft *d, const char *text)
{
	if (d->origins != NULL)
		d->origins->why = text;
}

/* Auto: the value as it is, unless nothing says that it is an event. */
static bool
verbatim(struct br_draft *d, enum br_body_syntax syntax, struct br_payload *p)
{
	why(d, "no other format fits: sent as it is");
	p->null = false;
	p->body = d->record->value;
	p->syntax = syntax;
	if (d->has_key || d->from_router || d->config->source.allow_offset_key)
		return true;
	return br_draft_dead(d, "detect", "unrecognised",
	    "no `id` header, so no event of the outbox event router, and the "
	    "value looks like nothing else that is known: if it is a row of a "
	    "table, tell its columns in source.columns; else set source.formats"
	    " for this topic");
}

/* What stands in a wrapper; `d->schema` is set. */
static bool
wrapped(struct br_draft *d, const struct br_json_value *schema,
    const struct br_json_value *payload, struct br_payload *p)
{
	struct br_json_object inner = {.count = 0};
	struct br_json_fault fault;
	enum br_shape shape;

	d->out->format = "json_schema";
	d->schema = schema->text;
	if (payload->kind == BR_JSON_OBJECT)
		br_json_read(payload->text, NULL, &inner, &fault);
	shape = br_shape_of_object(d, &inner, schema);
	if (!br_shape_control(d, shape))
		return false;
	if (payload->kind == BR_JSON_OBJECT && shape != BR_SHAPE_OTHER)
		return br_payload_shape(d, shape, payload->text, p);
	why(d, "an object of schema and payload, as JsonConverter writes");
	if (payload->kind != BR_JSON_OBJECT)
		return br_payload_value(d, payload, payload->text, p);
	return br_payload_object(d, &inner, payload->text, p);
}

static bool
auto_object(struct br_draft *d, struct br_payload *p)
{
	const struct br_json_value *schema, *payload;
	struct br_json_object object;
	struct br_json_fault fault;
	enum br_shape shape;

	if (!br_json_read(d->record->value, &d->watch, &object, &fault))
		return verbatim(d, BR_BODY_NOT_JSON, p);
	if (br_payload_wrapper(&object, &schema, &payload))
		return wrapped(d, schema, payload, p);
	shape = br_shape_of_object(d, &object, NULL);
	if (!br_shape_control(d, shape))
		return false;
	if (shape != BR_SHAPE_OTHER)
		return br_payload_shape(d, shape, d->record->value, p);
	if (!verbatim(d, BR_BODY_JSON, p) ||
	    !br_payload_object(d, &object, d->record->value, p))
		return false;
	if (d->placed) {
		d->out->format = "json";
		why(d, "an object of payload and fields placed beside it");
	}
	return true;
}

static bool
is_quoted(struct br_slice bytes)
{
	struct br_json_value value;
	struct br_json_fault fault;

	return bytes.len >= 2 && bytes.data[0] == '"' &&
	       br_json_check(bytes, NULL, &value, &fault);
}

/* The key, or a header that means something to us, is a JSON string. */
static bool
any_quoted(const struct br_draft *d)
{
	size_t slots = br_names_slots(d->names);

	if (is_quoted(d->record->key))
		return true;
	for (size_t i = 0; i < slots; i++)
		if (d->header[i] != NULL && is_quoted(*d->header[i]))
			return true;
	return false;
}

static bool
auto_string(struct br_draft *d, struct br_payload *p)
{
	struct br_slice text = d->record->value, decoded;
	struct br_json_value value;
	struct br_json_fault fault;
	enum br_json_kind kind;
	bool document;

	if (!br_json_check(text, &d->watch, &value, &fault))
		return verbatim(d, BR_BODY_NOT_JSON, p);
	if (!verbatim(d, BR_BODY_JSON, p))
		return false;
	if (any_quoted(d)) {
		d->out->format = "json";
		why(d, "a JSON string, and the key or a header is one too");
		return br_payload_value(d, &value, text, p);
	}
	if (br_json_unquote(d->arena, &value, &decoded)) {
		if (decoded.len == 0) {
			p->body = decoded;
			return true;
		}
		kind = br_json_peek(decoded);
		document = kind == BR_JSON_OBJECT || kind == BR_JSON_ARRAY;
		if (document &&
		    br_json_check(decoded, &d->watch, NULL, &fault)) {
			d->out->format = "json";
			why(d, "a JSON string that holds JSON");
			p->body = decoded;
			return true;
		}
	}
	d->out->hint = "values are JSON strings, sent with their quotes; if "
	               "JsonConverter writes them, set source.formats to json "
	               "for this topic";
	return true;
}

bool
br_payload_auto(struct br_draft *d, struct br_payload *p)
{
	struct br_slice text = d->record->value;

	switch (br_shape_of_headers(d)) {
	case BR_SHAPE_AVRO:
		return br_payload_avro(d, false, p);
	case BR_SHAPE_CLOUDEVENT:
		return br_payload_cloud(d, p);
	default:
		break;
	}
	d->out->format = "string";
	if (br_payload_is_avro(d))
		return br_payload_avro(d, false, p);
	if (text.len == 4 && memcmp(text.data, "null", 4) == 0) {
		d->out->format = "json";
		why(d, "the text null");
		p->null = true;
		return true;
	}
	switch (br_json_peek(text)) {
	case BR_JSON_OBJECT:
		return auto_object(d, p);
	case BR_JSON_STRING:
		return auto_string(d, p);
	case BR_JSON_NONE:
		return verbatim(d, BR_BODY_NOT_JSON, p);
	case BR_JSON_NULL:
	case BR_JSON_FALSE:
	case BR_JSON_TRUE:
	case BR_JSON_NUMBER:
	case BR_JSON_ARRAY:
		break;
	}
	return verbatim(d, BR_BODY_UNKNOWN, p);
}
