/* detect: see the header. */
#include "bridge/source/detect.h"

#include "bridge/source/field.h"
#include "bridge/source/text.h"

#include <strings.h>

static bool
given(const struct br_draft *d, int slot)
{
	return d->header[slot] != NULL && d->header[slot]->data != NULL;
}

static bool
is_cloudevents_type(struct br_slice type)
{
	static const char prefix[] = "application/cloudevents";
	size_t n = sizeof(prefix) - 1;

	/* A JSON header converter puts quotes around it. */
	if (type.len > 0 && type.data[0] == '"') {
		type.data++;
		type.len--;
	}
	return type.len >= n &&
	       strncasecmp((const char *)type.data, prefix, n) == 0;
}

bool
br_shape_is_cloud_binary(const struct br_draft *d)
{
	for (int i = BR_SLOT_CLOUD; i < BR_SLOT_CLOUD_END; i++)
		if (!given(d, i))
			return false;
	return true;
}

enum br_shape
br_shape_of_headers(const struct br_draft *d)
{
	for (int i = BR_SLOT_REGISTRY; i < BR_SLOT_REGISTRY_END; i++)
		if (given(d, i))
			return BR_SHAPE_AVRO;
	if (br_shape_is_cloud_binary(d) ||
	    (given(d, BR_SLOT_CONTENT_TYPE) &&
	        is_cloudevents_type(*d->header[BR_SLOT_CONTENT_TYPE])))
		return BR_SHAPE_CLOUDEVENT;
	return BR_SHAPE_OTHER;
}

static bool
has(const struct br_json_object *object, const char *name)
{
	return br_json_get(object, name) != NULL;
}

static bool
ends_with(struct br_slice text, const char *suffix)
{
	size_t n = strlen(suffix);

	return text.len >= n &&
	       memcmp(text.data + text.len - n, suffix, n) == 0;
}

/* Told by the name of a Connect schema. */
static enum br_shape
shape_of_schema(const struct br_json_value *schema)
{
	static const struct {
		const char *suffix;
		enum br_shape shape;
	} known[] = {
	    {".Envelope", BR_SHAPE_ENVELOPE},
	    {".Heartbeat", BR_SHAPE_HEARTBEAT},
	    {".TransactionMetadataValue", BR_SHAPE_TRANSACTION},
	    {".SchemaChangeValue", BR_SHAPE_SCHEMA_CHANGE},
	    {".Notification", BR_SHAPE_NOTIFICATION},
	};
	struct br_slice name = br_schema_name(schema->text);

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (name.data != NULL && ends_with(name, known[i].suffix))
			return known[i].shape;
	return BR_SHAPE_OTHER;
}

static bool
is_cloudevent(const struct br_json_object *o)
{
	return has(o, "specversion") && has(o, "id") && has(o, "source") &&
	       has(o, "type");
}

static bool
is_envelope(const struct br_json_object *o)
{
	const struct br_json_value *op = br_json_get(o, "op");
	const struct br_json_value *source = br_json_get(o, "source");

	return op != NULL && op->kind == BR_JSON_STRING && op->text.len == 3 &&
	       strchr("crudtm", op->text.data[1]) != NULL && source != NULL &&
	       source->kind == BR_JSON_OBJECT &&
	       (has(o, "after") || has(o, "before") || has(o, "message"));
}

/* Only times in the value, and the server's name in the key. */
static bool
is_heartbeat(const struct br_json_object *o, struct br_slice key)
{
	static const char server[] = "serverName";

	if (!has(o, "ts_ms") || key.data == NULL ||
	    memmem(key.data, key.len, server, sizeof(server) - 1) == NULL)
		return false;
	return o->count ==
	       1u + (has(o, "ts_us") ? 1u : 0u) + (has(o, "ts_ns") ? 1u : 0u);
}

static bool
is_transaction(const struct br_json_object *o)
{
	const struct br_json_value *status = br_json_get(o, "status");

	return status != NULL && status->kind == BR_JSON_STRING &&
	       (br_json_is(status, br_slice_str("BEGIN")) ||
	           br_json_is(status, br_slice_str("END"))) &&
	       has(o, "id") && has(o, "ts_ms") &&
	       br_json_get_any_case(o, "payload") == NULL;
}

static bool
is_operation(const struct br_json_object *o)
{
	return has(o, "op_type") && has(o, "table") && has(o, "op_ts");
}

static bool
is_row(const struct br_draft *d, const struct br_json_object *o)
{
	br_row_clear(d->row);
	/* A wide row has more columns than an object keeps members. */
	if (o->count > BR_JSON_MEMBERS)
		br_row_read(d->row, d->columns, o->text);
	for (size_t i = 0; i < o->count && o->count <= BR_JSON_MEMBERS; i++)
		br_row_add(d->row, d->columns,
		    br_json_inner(&o->member[i].name), &o->member[i].value);
	return br_row_is_event(d->row);
}

enum br_shape
br_shape_of_object(const struct br_draft *d,
    const struct br_json_object *object, const struct br_json_value *schema)
{
	enum br_shape shape = BR_SHAPE_OTHER;

	if (schema != NULL && schema->kind == BR_JSON_OBJECT)
		shape = shape_of_schema(schema);
	/* An event of the router may have a schema of any name. */
	if (d->has_id && (shape != BR_SHAPE_ENVELOPE || !is_envelope(object)))
		shape = BR_SHAPE_OTHER;
	if (shape != BR_SHAPE_OTHER)
		return shape;
	if (is_cloudevent(object))
		return BR_SHAPE_CLOUDEVENT;
	if (d->has_id)
		return BR_SHAPE_OTHER;
	if (is_envelope(object))
		return BR_SHAPE_ENVELOPE;
	if (is_operation(object))
		return BR_SHAPE_GOLDENGATE;
	if (is_heartbeat(object, d->record->key))
		return BR_SHAPE_HEARTBEAT;
	if (is_transaction(object))
		return BR_SHAPE_TRANSACTION;
	if (has(object, "databaseName") &&
	    (has(object, "ddl") || has(object, "tableChanges")))
		return BR_SHAPE_SCHEMA_CHANGE;
	if (has(object, "aggregate_type") && has(object, "additional_data"))
		return BR_SHAPE_NOTIFICATION;
	return is_row(d, object) ? BR_SHAPE_FLATTENED : BR_SHAPE_OTHER;
}

bool
br_shape_fits(struct br_draft *d, enum br_shape shape,
    const struct br_json_object *object, struct br_slice text)
{
	switch (shape) {
	case BR_SHAPE_ENVELOPE:
		return is_envelope(object);
	case BR_SHAPE_CLOUDEVENT:
		return is_cloudevent(object);
	case BR_SHAPE_GOLDENGATE:
		return is_operation(object);
	case BR_SHAPE_FLATTENED:
		br_row_read(d->row, d->columns, text);
		return br_row_is_event(d->row);
	case BR_SHAPE_OTHER:
	case BR_SHAPE_HEARTBEAT:
	case BR_SHAPE_TRANSACTION:
	case BR_SHAPE_SCHEMA_CHANGE:
	case BR_SHAPE_NOTIFICATION:
	case BR_SHAPE_AVRO:
		break;
	}
	return false;
}

enum br_shape
br_shape_of_java(const struct br_record *record)
{
	if (br_text_begins(record->value, "Struct{status=BEGIN") ||
	    br_text_begins(record->value, "Struct{status=END"))
		return BR_SHAPE_TRANSACTION;
	if (br_text_begins(record->value, "Struct{ts_ms=") &&
	    br_text_begins(record->key, "Struct{serverName="))
		return BR_SHAPE_HEARTBEAT;
	return BR_SHAPE_OTHER;
}

bool
br_shape_control(struct br_draft *d, enum br_shape shape)
{
	switch (shape) {
	case BR_SHAPE_HEARTBEAT:
		return br_draft_skip(d, "heartbeat");
	case BR_SHAPE_TRANSACTION:
		return br_draft_skip(d, "transaction-metadata");
	case BR_SHAPE_SCHEMA_CHANGE:
		return br_draft_skip(d, "schema-change");
	case BR_SHAPE_NOTIFICATION:
		return br_draft_skip(d, "notification");
	case BR_SHAPE_OTHER:
	case BR_SHAPE_CLOUDEVENT:
	case BR_SHAPE_ENVELOPE:
	case BR_SHAPE_FLATTENED:
	case BR_SHAPE_GOLDENGATE:
	case BR_SHAPE_AVRO:
		break;
	}
	return true;
}

const char *
br_shape_text(enum br_shape shape)
{
	switch (shape) {
	case BR_SHAPE_CLOUDEVENT:
		return "a CloudEvent";
	case BR_SHAPE_ENVELOPE:
		return "a change event of Debezium";
	case BR_SHAPE_FLATTENED:
		return "a row without its change event";
	case BR_SHAPE_GOLDENGATE:
		return "an operation of GoldenGate";
	case BR_SHAPE_AVRO:
		return "Avro with a schema registry";
	case BR_SHAPE_OTHER:
	case BR_SHAPE_HEARTBEAT:
	case BR_SHAPE_TRANSACTION:
	case BR_SHAPE_SCHEMA_CHANGE:
	case BR_SHAPE_NOTIFICATION:
		break;
	}
	return "something else";
}
