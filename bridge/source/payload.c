/*
 * payload: finds an event's payload in the record's value, one function per
 * format. What is a span of the value stays one; only strings are decoded.
 */
#include "bridge/source/detect.h"
#include "bridge/source/field.h"
#include "bridge/source/text.h"

static bool
json_fault(struct br_draft *d, const struct br_json_fault *fault)
{
	return br_draft_dead(d, "decode", "json-syntax",
	    "the value is not JSON: %s at byte %zu", fault->what, fault->at);
}

bool
br_payload_value(struct br_draft *d, const struct br_json_value *value,
    struct br_slice span, struct br_payload *p)
{
	p->null = value->kind == BR_JSON_NULL;
	p->body = span;
	p->syntax = BR_BODY_JSON;
	if (value->kind != BR_JSON_STRING)
		return true;
	p->syntax = BR_BODY_UNKNOWN;
	if (br_json_unquote(d->arena, value, &p->body))
		return true;
	return br_draft_dead(d, "decode", "json-syntax",
	    "the payload is a JSON string with a lone surrogate, which no "
	    "UTF-8 text can hold");
}

/*
 * Envelope placement: a member `payload` and others, every one of them
 * listed in source.envelope_fields. The others are filled in.
 */
static bool
is_placed(struct br_draft *d, const struct br_json_object *object,
    const struct br_json_value **payload)
{
	*payload = NULL;
	if (object->count < 2 || object->count > BR_JSON_MEMBERS)
		return false;
	for (size_t i = 0; i < object->count; i++) {
		const struct br_json_member *m = &object->member[i];
		struct br_slice name = br_json_inner(&m->name);
		bool listed;

		if (*payload == NULL && br_text_begins(name, "payload") &&
		    name.len == strlen("payload")) {
			*payload = &m->value;
			continue;
		}
		br_names_find(d->names, name, &listed);
		if (!listed)
			return false;
	}
	return *payload != NULL;
}

static void
fill_members(struct br_draft *d, const struct br_json_object *object)
{
	size_t slots = br_names_slots(d->names);

	for (size_t i = 0; i < slots; i++)
		d->member[i].kind = BR_JSON_NONE;
	for (size_t i = 0; i < object->count; i++) {
		const struct br_json_member *m = &object->member[i];
		bool listed;
		int slot =
		    br_names_find(d->names, br_json_inner(&m->name), &listed);

		if (slot != BR_SLOT_NONE && listed)
			d->member[slot] = m->value;
	}
	d->placed = true;
}

bool
br_payload_object(struct br_draft *d, const struct br_json_object *object,
    struct br_slice span, struct br_payload *p)
{
	const struct br_json_value *payload;

	if (is_placed(d, object, &payload)) {
		fill_members(d, object);
		return br_payload_value(d, payload, payload->text, p);
	}
	p->null = false;
	p->body = span;
	p->syntax = BR_BODY_JSON;
	return true;
}

/*
 * Shapes that count in an explicit format too: control records and change
 * events, which have no `id` header. Anything else is what the user said.
 */
static bool
decide_explicit(struct br_draft *d, const struct br_json_object *object,
    const struct br_json_value *schema)
{
	enum br_shape shape = br_shape_of_object(d, object, schema);

	if (shape == BR_SHAPE_CLOUDEVENT || shape == BR_SHAPE_FLATTENED ||
	    shape == BR_SHAPE_GOLDENGATE)
		return true;
	return br_shape_decide(d, shape);
}

bool
br_payload_json(struct br_draft *d, struct br_payload *p)
{
	struct br_slice text = d->record->value;
	struct br_json_object object;
	struct br_json_value value;
	struct br_json_fault fault;

	d->out->format = "json";
	if (br_json_peek(text) == BR_JSON_OBJECT) {
		if (!br_json_read(text, &d->watch, &object, &fault))
			return json_fault(d, &fault);
		return decide_explicit(d, &object, NULL) &&
		       br_payload_object(d, &object, text, p);
	}
	if (!br_json_check(text, &d->watch, &value, &fault))
		return json_fault(d, &fault);
	return br_payload_value(d, &value, text, p);
}

/* A schema is null, or an object with a type. */
static bool
is_schema(const struct br_json_value *schema)
{
	struct br_json_object object;
	struct br_json_fault fault;

	if (schema->kind != BR_JSON_OBJECT)
		return schema->kind == BR_JSON_NULL;
	return br_json_read(schema->text, NULL, &object, &fault) &&
	       br_json_get(&object, "type") != NULL;
}

static bool
is_wrapper(const struct br_json_object *object,
    const struct br_json_value **schema, const struct br_json_value **payload)
{
	return br_field_wrapper(object, schema, payload) && is_schema(*schema);
}

/* The payload inside a wrapper, in the given way of deciding on shapes. */
static bool
unwrap(struct br_draft *d, const struct br_json_value *schema,
    const struct br_json_value *payload,
    bool (*decide)(struct br_draft *, const struct br_json_object *,
        const struct br_json_value *),
    struct br_payload *p)
{
	struct br_json_object inner = {.count = 0};
	struct br_json_fault fault;

	d->out->format = "json_schema";
	if (payload->kind == BR_JSON_OBJECT)
		br_json_read(payload->text, NULL, &inner, &fault);
	if (!decide(d, &inner, schema))
		return false;
	if (payload->kind == BR_JSON_OBJECT)
		return br_payload_object(d, &inner, payload->text, p);
	return br_payload_value(d, payload, payload->text, p);
}

bool
br_payload_json_schema(struct br_draft *d, struct br_payload *p)
{
	struct br_slice text = d->record->value;
	const struct br_json_value *schema, *payload;
	struct br_json_object object;
	struct br_json_value value;
	struct br_json_fault fault;

	d->out->format = "json_schema";
	if (br_json_peek(text) == BR_JSON_OBJECT) {
		if (!br_json_read(text, &d->watch, &object, &fault))
			return json_fault(d, &fault);
		if (is_wrapper(&object, &schema, &payload))
			return unwrap(d, schema, payload, decide_explicit, p);
	} else {
		if (!br_json_check(text, NULL, &value, &fault))
			return json_fault(d, &fault);
		if (value.kind == BR_JSON_NULL)
			return br_payload_value(d, &value, text, p);
	}
	return br_draft_dead(d, "detect", "format-mismatch",
	    "source.format is json_schema, but the value is not an object of "
	    "schema and payload: JsonConverter writes one only with "
	    "value.converter.schemas.enable=true");
}

/* Auto: the value as it is, unless nothing says that it is an event. */
static bool
verbatim(struct br_draft *d, enum br_body_syntax syntax, struct br_payload *p)
{
	p->null = false;
	p->body = d->record->value;
	p->syntax = syntax;
	if (d->has_key || d->from_router || d->config->source.allow_offset_key)
		return true;
	return br_draft_dead(d, "detect", "unrecognised",
	    "no `id` header, so no event of the outbox event router, and the "
	    "value looks like nothing else that is known");
}

static bool
decide_any(struct br_draft *d, const struct br_json_object *object,
    const struct br_json_value *schema)
{
	return br_shape_decide(d, br_shape_of_object(d, object, schema));
}

static bool
auto_object(struct br_draft *d, struct br_payload *p)
{
	const struct br_json_value *schema, *payload;
	struct br_json_object object;
	struct br_json_fault fault;

	if (!br_json_read(d->record->value, &d->watch, &object, &fault))
		return verbatim(d, BR_BODY_NOT_JSON, p);
	if (is_wrapper(&object, &schema, &payload))
		return unwrap(d, schema, payload, decide_any, p);
	if (!decide_any(d, &object, NULL) || !verbatim(d, BR_BODY_JSON, p))
		return false;
	if (!br_payload_object(d, &object, d->record->value, p))
		return false;
	if (d->placed)
		d->out->format = "json";
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

	if (!br_shape_decide(d, br_shape_of_headers(d)))
		return false;
	d->out->format = "string";
	if (text.data[0] == 0x00 && !d->has_id)
		return br_shape_decide(d, BR_SHAPE_AVRO);
	if (text.len == 4 && memcmp(text.data, "null", 4) == 0) {
		d->out->format = "json";
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
