/*
 * payload: finds an event's payload in the record's value, one function per
 * format. What is a span of the value stays one; only strings are decoded.
 */
#include "bridge/source/detect.h"
#include "bridge/source/field.h"
#include "bridge/source/text.h"

bool
br_payload_fault(struct br_draft *d, const struct br_json_fault *fault)
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
	if (d->rendered && br_avro_raw(d->avro, value->text, &p->body)) {
		/* avro-c uses that memory again for a key of this schema. */
		uint8_t *own = br_arena_take(d->arena, p->body.len + 1);

		if (p->body.len != 0)
			memcpy(own, p->body.data, p->body.len);
		p->body.data = own;
		return true;
	}
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

	if (shape == BR_SHAPE_ENVELOPE)
		return br_draft_dead(d, "detect", "format-mismatch",
		    "source.format is %s, but the value is %s: set envelope, "
		    "or auto, for this topic",
		    d->out->format, br_shape_text(shape));
	return br_shape_control(d, shape);
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
			return br_payload_fault(d, &fault);
		return decide_explicit(d, &object, NULL) &&
		       br_payload_object(d, &object, text, p);
	}
	if (!br_json_check(text, &d->watch, &value, &fault))
		return br_payload_fault(d, &fault);
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

bool
br_payload_wrapper(const struct br_json_object *object,
    const struct br_json_value **schema, const struct br_json_value **payload)
{
	return br_field_wrapper(object, schema, payload) && is_schema(*schema);
}

/* The payload inside a wrapper, of an event of the router. */
static bool
unwrap(struct br_draft *d, const struct br_json_value *schema,
    const struct br_json_value *payload, struct br_payload *p)
{
	struct br_json_object inner = {.count = 0};
	struct br_json_fault fault;

	if (payload->kind == BR_JSON_OBJECT)
		br_json_read(payload->text, NULL, &inner, &fault);
	if (!decide_explicit(d, &inner, schema))
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
			return br_payload_fault(d, &fault);
		if (br_payload_wrapper(&object, &schema, &payload))
			return unwrap(d, schema, payload, p);
	} else {
		if (!br_json_check(text, NULL, &value, &fault))
			return br_payload_fault(d, &fault);
		if (value.kind == BR_JSON_NULL)
			return br_payload_value(d, &value, text, p);
	}
	return br_draft_dead(d, "detect", "format-mismatch",
	    "source.format is json_schema, but the value is not an object of "
	    "schema and payload: JsonConverter writes one only with "
	    "value.converter.schemas.enable=true");
}
