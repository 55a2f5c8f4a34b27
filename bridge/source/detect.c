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

enum br_shape
br_shape_of_headers(const struct br_draft *d)
{
	bool cloud = true;

	for (int i = BR_SLOT_REGISTRY; i < BR_SLOT_REGISTRY_END; i++)
		if (given(d, i))
			return BR_SHAPE_AVRO;
	for (int i = BR_SLOT_CLOUD; i < BR_SLOT_CLOUD_END; i++)
		cloud = cloud && given(d, i);
	if (cloud || (given(d, BR_SLOT_CONTENT_TYPE) &&
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
	struct br_json_iter it;
	struct br_json_member member;
	struct br_slice name = {NULL, 0};

	br_json_begin(&it, schema->text, NULL);
	while (br_json_next(&it, &member))
		if (member.value.kind == BR_JSON_STRING &&
		    br_json_is(&member.name, br_slice_str("name")))
			name = br_json_inner(&member.value);
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
is_row(const struct br_json_object *o)
{
	return br_json_get_any_case(o, "payload") != NULL &&
	       (br_json_get_any_case(o, "id") != NULL ||
	           br_json_get_any_case(o, "idempotency_key") != NULL);
}

enum br_shape
br_shape_of_object(const struct br_draft *d,
    const struct br_json_object *object, const struct br_json_value *schema)
{
	enum br_shape shape = BR_SHAPE_OTHER;

	if (schema != NULL && schema->kind == BR_JSON_OBJECT)
		shape = shape_of_schema(schema);
	if (shape != BR_SHAPE_OTHER)
		return shape;
	if (is_cloudevent(object))
		return BR_SHAPE_CLOUDEVENT;
	if (d->has_id)
		return BR_SHAPE_OTHER;
	if (is_envelope(object))
		return BR_SHAPE_ENVELOPE;
	if (has(object, "op_type") && has(object, "table") &&
	    has(object, "op_ts"))
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
	return is_row(object) ? BR_SHAPE_FLATTENED : BR_SHAPE_OTHER;
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

/* Dead-letters an event whose format this version cannot read. */
static bool
cannot_read(struct br_draft *d, const char *what, const char *instead)
{
	return br_draft_dead(d, "detect", "unrecognised",
	    "the record looks like %s, and this version reads events of the "
	    "outbox event router only: %s",
	    what, instead);
}

bool
br_shape_decide(struct br_draft *d, enum br_shape shape)
{
	switch (shape) {
	case BR_SHAPE_OTHER:
		return true;
	case BR_SHAPE_HEARTBEAT:
		return br_draft_skip(d, "heartbeat");
	case BR_SHAPE_TRANSACTION:
		return br_draft_skip(d, "transaction-metadata");
	case BR_SHAPE_SCHEMA_CHANGE:
		return br_draft_skip(d, "schema-change");
	case BR_SHAPE_NOTIFICATION:
		return br_draft_skip(d, "notification");
	case BR_SHAPE_CLOUDEVENT:
		return cannot_read(d, "a CloudEvent",
		    "set source.formats to string for this topic to send such "
		    "values as they are");
	case BR_SHAPE_ENVELOPE:
		return cannot_read(d, "a change event of Debezium",
		    "put the transform io.debezium.transforms.outbox."
		    "EventRouter into the connector");
	case BR_SHAPE_FLATTENED:
		return cannot_read(d, "a row without its change event",
		    "use the transform EventRouter in place of "
		    "ExtractNewRecordState");
	case BR_SHAPE_GOLDENGATE:
		return cannot_read(d, "a GoldenGate operation",
		    "this topic cannot be delivered");
	case BR_SHAPE_AVRO:
		return cannot_read(d, "Avro with a schema registry",
		    "use StringConverter or JsonConverter in the connector, "
		    "or set source.formats to bytes to send such values as "
		    "they are");
	}
	return true;
}
