/*
 * shaped: values in which a row, or a CloudEvent, is the event: found by
 * their shape, or said to be so by source.format. See draft.h.
 */
#include "bridge/source/detect.h"

#include <strings.h>

#include "bridge/source/text.h"

static void
why(struct br_draft *d, const char *text)
{
	if (d->origins != NULL && d->origins->why == NULL)
		d->origins->why = text;
}

bool
br_payload_shape(struct br_draft *d, enum br_shape shape,
    struct br_slice object, struct br_payload *p)
{
	switch (shape) {
	case BR_SHAPE_ENVELOPE:
		why(d, "the members op, source and after of a change event");
		return br_envelope_payload(d, object, p);
	case BR_SHAPE_FLATTENED:
		why(d, "columns of an outbox table: an id and a payload");
		return br_flattened_payload(d, object, p);
	case BR_SHAPE_GOLDENGATE:
		why(d, "the members op_type, op_ts and table of GoldenGate");
		return br_goldengate_payload(d, object, p);
	case BR_SHAPE_CLOUDEVENT:
		why(d, "the members specversion, id, source and type");
		return br_cloud_structured(d, object, p);
	case BR_SHAPE_OTHER:
	case BR_SHAPE_HEARTBEAT:
	case BR_SHAPE_TRANSACTION:
	case BR_SHAPE_SCHEMA_CHANGE:
	case BR_SHAPE_NOTIFICATION:
	case BR_SHAPE_AVRO:
		break;
	}
	return br_shape_control(d, shape);
}

static bool
mismatch(struct br_draft *d, const char *format, const char *expected)
{
	return br_draft_dead(d, "detect", "format-mismatch",
	    "source.format is %s, but the value is not %s", format, expected);
}

/*
 * The value as an object of this shape, out of a wrapper if there is one.
 * Control records are skipped; a JSON null is a null payload.
 */
static bool
explicit_object(struct br_draft *d, const char *format, enum br_shape shape,
    struct br_payload *p)
{
	const struct br_json_value *schema = NULL, *payload;
	struct br_json_value value = {.text = d->record->value};
	struct br_json_object object;
	struct br_json_fault fault;
	enum br_shape found;

	d->out->format = format;
	if (!br_json_check(d->record->value, &d->watch, &value, &fault))
		return br_payload_fault(d, &fault);
	if (value.kind == BR_JSON_OBJECT)
		br_json_read(value.text, NULL, &object, &fault);
	if (value.kind == BR_JSON_OBJECT &&
	    br_payload_wrapper(&object, &schema, &payload)) {
		d->schema = schema->text;
		value = *payload;
		if (value.kind == BR_JSON_OBJECT)
			br_json_read(value.text, NULL, &object, &fault);
	}
	if (value.kind == BR_JSON_NULL) {
		p->null = true;
		return true;
	}
	if (value.kind != BR_JSON_OBJECT)
		return mismatch(d, format, "an object");
	found = br_shape_of_object(d, &object, schema);
	if (found != shape && !br_shape_control(d, found))
		return false;
	if (!br_shape_fits(d, shape, &object, value.text))
		return mismatch(d, format, br_shape_text(shape));
	return br_payload_shape(d, shape, value.text, p);
}

/* The part of a content type behind application/cloudevents. */
static bool
is_json_event(struct br_draft *d)
{
	static const char prefix[] = "application/cloudevents";
	struct br_field type = br_header_field(d, BR_SLOT_CONTENT_TYPE);
	struct br_slice rest = type.text;
	size_t n = sizeof(prefix) - 1;

	if (type.state != BR_FIELD_TEXT || rest.len < n)
		return false;
	rest.data += n;
	rest.len -= n;
	if (rest.len >= 5 &&
	    strncasecmp((const char *)rest.data, "+json", 5) == 0) {
		rest.data += 5;
		rest.len -= 5;
	}
	return rest.len == 0 || rest.data[0] == ';' || rest.data[0] == ' ';
}

bool
br_payload_cloud(struct br_draft *d, struct br_payload *p)
{
	struct br_field type = br_header_field(d, BR_SLOT_CONTENT_TYPE);
	static const char prefix[] = "application/cloudevents";
	size_t n = sizeof(prefix) - 1;

	if (type.state == BR_FIELD_TEXT && type.text.len >= n &&
	    strncasecmp((const char *)type.text.data, prefix, n) == 0) {
		why(d, "the header content-type is application/cloudevents");
		d->out->format = "cloudevents";
		if (!is_json_event(d))
			return br_draft_dead(d, "detect", "unsupported-framing",
			    "of CloudEvents in one value only "
			    "application/cloudevents+json is read, not %.*s",
			    (int)(type.text.len < 100 ? type.text.len : 100),
			    (const char *)type.text.data);
		return explicit_object(
		    d, "cloudevents", BR_SHAPE_CLOUDEVENT, p);
	}
	if (br_shape_is_cloud_binary(d)) {
		why(d, "the headers ce_specversion, ce_id, ce_source, ce_type");
		return br_cloud_binary(d, p);
	}
	return explicit_object(d, "cloudevents", BR_SHAPE_CLOUDEVENT, p);
}

bool
br_payload_shaped(
    struct br_draft *d, enum br_format format, struct br_payload *p)
{
	why(d, "source.format says so");
	if (format == BR_FORMAT_ENVELOPE)
		return explicit_object(d, "envelope", BR_SHAPE_ENVELOPE, p);
	if (format == BR_FORMAT_FLATTENED)
		return explicit_object(d, "flattened", BR_SHAPE_FLATTENED, p);
	if (format == BR_FORMAT_GOLDENGATE)
		return explicit_object(d, "goldengate", BR_SHAPE_GOLDENGATE, p);
	return br_payload_cloud(d, p);
}
