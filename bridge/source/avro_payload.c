/*
 * avro_payload: Avro in the decoder. Content of a string or bytes is the
 * payload; a record becomes JSON text with a schema and goes the way of any
 * JSON from there on; see draft.h.
 */
#include "bridge/source/avro.h"
#include "bridge/source/detect.h"
#include "bridge/source/registry_ask.h"

static void
why(struct br_draft *d, const char *text)
{
	if (d->origins != NULL)
		d->origins->why = text;
}

bool
br_payload_is_avro(const struct br_draft *d)
{
	struct br_frame frame;

	if (d->record->value.data[0] != 0x00)
		return false;
	if (!br_avro_on(d->avro))
		return !d->has_id;
	frame = br_avro_frame(
	    d->record, BR_FRAME_VALUE, &d->config->registry, false);
	return frame.kind != BR_FRAME_NONE;
}

/* Without a registry nothing can be read. */
static bool
no_registry(struct br_draft *d)
{
	return br_draft_dead(d, "detect", "unrecognised",
	    "the record looks like %s, and no registry is configured: set "
	    "registry.url, or set source.formats to bytes for this topic to "
	    "send such values as they are",
	    br_shape_text(BR_SHAPE_AVRO));
}

/* Content alone does not say that it is an event. */
static bool
is_event(struct br_draft *d)
{
	if (d->has_key || d->from_router || d->config->source.allow_offset_key)
		return true;
	return br_draft_dead(d, "detect", "unrecognised",
	    "no `id` header, so no event of the outbox event router, and the "
	    "Avro value is no change event and no row with an id and a "
	    "payload: tell the columns in source.columns");
}

/* A payload of several fields has no bytes of its own. */
static bool
structure(struct br_draft *d, const struct br_payload *p)
{
	enum br_json_kind kind = br_json_peek(p->body);

	if (p->null || p->syntax != BR_BODY_JSON ||
	    (kind != BR_JSON_OBJECT && kind != BR_JSON_ARRAY) ||
	    d->config->source.avro_payload == BR_AVRO_PAYLOAD_JSON)
		return true;
	return br_draft_dead(d, "decode", "avro-record-payload",
	    "the payload is an Avro record, map or array, which has no text of "
	    "its own: set source.avro_payload = \"json\" to send it as JSON, "
	    "or table.expand.json.payload=false in the connector to get the "
	    "text that was inserted");
}

static bool
record_payload(struct br_draft *d, const struct br_avro_value_read *v,
    struct br_payload *p)
{
	struct br_json_value schema = {
	    .kind = v->schema.data != NULL ? BR_JSON_OBJECT : BR_JSON_NONE,
	    .text = v->schema};
	struct br_json_object object;
	struct br_json_fault fault;
	enum br_shape shape;

	if (!br_json_read(v->text, &d->watch, &object, &fault))
		return br_draft_dead(d, "decode", "avro-decode",
		    "the record is no JSON: %s", fault.what);
	d->schema = v->schema;
	shape = br_shape_of_object(
	    d, &object, schema.kind != BR_JSON_NONE ? &schema : NULL);
	if (!br_shape_control(d, shape))
		return false;
	if (shape != BR_SHAPE_OTHER) {
		why(d, "an Avro record with the members of a change or a row");
		return br_payload_shape(d, shape, v->text, p) &&
		       structure(d, p);
	}
	return is_event(d) && br_payload_object(d, &object, v->text, p) &&
	       structure(d, p);
}

static bool
json_payload(struct br_draft *d, const struct br_avro_value_read *v,
    struct br_payload *p)
{
	struct br_json_value value;
	struct br_json_fault fault;

	d->rendered = true;
	if (v->record)
		return record_payload(d, v, p);
	if (!br_json_check(v->text, &d->watch, &value, &fault))
		return br_draft_dead(d, "decode", "avro-decode",
		    "the value is no JSON: %s", fault.what);
	return is_event(d) && br_payload_value(d, &value, v->text, p) &&
	       structure(d, p);
}

bool
br_payload_avro(struct br_draft *d, bool known, struct br_payload *p)
{
	struct br_avro_value_read v;

	if (!br_avro_on(d->avro))
		return no_registry(d);
	br_avro_read(d->avro, d->record, BR_FRAME_VALUE, known, d->arena, &v);
	d->framed = v.kind != BR_AVRO_NOT_FRAMED;
	d->out->format = "avro";
	why(d, "the id of a schema in a registry");
	p->syntax = BR_BODY_UNKNOWN;
	switch (v.kind) {
	case BR_AVRO_WAIT:
		d->out->result = BR_DECODE_WAIT;
		d->out->schema = v.key;
		return false;
	case BR_AVRO_DEAD:
		return br_draft_dead(d, "decode", v.reason, "%s", v.detail);
	case BR_AVRO_EMPTY:
		p->null = true;
		return true;
	case BR_AVRO_CONTENT:
		p->body = v.text;
		return is_event(d);
	case BR_AVRO_JSON:
		return json_payload(d, &v, p);
	case BR_AVRO_NOT_FRAMED:
		break;
	}
	return is_event(d);
}

void
br_avro_order_key(struct br_draft *d)
{
	struct br_avro_value_read v;
	struct br_frame frame;

	if (!br_avro_on(d->avro) || d->record->key.data == NULL ||
	    d->out->result == BR_DECODE_SKIP)
		return;
	frame =
	    br_avro_frame(d->record, BR_FRAME_KEY, &d->config->registry, false);
	/* Bytes that begin with 00 say nothing beside a value that is not
	 * Avro. */
	if (!frame.from_header && !d->framed && d->record->value.data != NULL)
		return;
	/* No address for such an id: these bytes are no Avro. */
	if (!frame.from_header && frame.key.space == BR_SCHEMA_GLOBAL &&
	    !br_registry_has_global(&d->config->registry))
		return;
	br_avro_read(d->avro, d->record, BR_FRAME_KEY, false, d->arena, &v);
	switch (v.kind) {
	case BR_AVRO_WAIT:
		if (d->out->result != BR_DECODE_WAIT)
			d->out->schema = v.key;
		d->out->result = BR_DECODE_WAIT;
		break;
	case BR_AVRO_EMPTY:
		d->out->order_key = (struct br_slice){NULL, 0};
		break;
	case BR_AVRO_CONTENT:
		d->out->order_key = v.text;
		if (v.text.len == 0)
			d->out->order_key.data = NULL;
		break;
	case BR_AVRO_JSON:
		d->out->order_key = br_order_key(d->arena, v.text);
		break;
	/* The bytes as they are keep the order, too. */
	case BR_AVRO_DEAD:
	case BR_AVRO_NOT_FRAMED:
		break;
	}
}
