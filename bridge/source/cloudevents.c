/*
 * cloudevents: CloudEvents in both modes of the Kafka binding, and as
 * Debezium's CloudEventsConverter writes them: around a change event, or
 * around an event of the router. See draft.h.
 */
#include "bridge/source/draft.h"

#include <strings.h>

#include "bridge/source/decimal.h"
#include "bridge/source/text.h"

/* Members of a structured event that are no attributes of ours. */
struct content {
	struct br_json_value data, base64;
	bool debezium; /* an attribute says that its converter wrote it */
	struct br_field op, connector, schema, database, table, time;
};

/* A media type that is JSON; none at all means JSON too. */
static bool
is_json_type(const struct br_field *type)
{
	struct br_slice t = type->text;
	const uint8_t *end;

	if (type->state != BR_FIELD_TEXT)
		return true;
	end = memchr(t.data, ';', t.len);
	if (end != NULL)
		t.len = (size_t)(end - t.data);
	while (t.len > 0 && t.data[t.len - 1] == ' ')
		t.len--;
	return (t.len >= 5 && strncasecmp((const char *)t.data + t.len - 5,
	                          "/json", 5) == 0) ||
	       (t.len >= 5 && strncasecmp((const char *)t.data + t.len - 5,
	                          "+json", 5) == 0);
}

/* Puts an attribute into its place; its name is long known to be ASCII. */
static void
take_attribute(struct br_draft *d, struct content *c, struct br_slice name,
    const struct br_json_value *value)
{
	const struct {
		const char *name;
		struct br_field *to;
	} known[] = {
	    {"id", &d->cloud.id},
	    {"source", &d->cloud.source},
	    {"type", &d->cloud.type},
	    {"subject", &d->cloud.subject},
	    {"partitionkey", &d->cloud.partition_key},
	    {"time", &d->cloud.time},
	    {"datacontenttype", &d->cloud.content_type},
	    {"traceparent", &d->cloud.traceparent},
	    {"tracestate", &d->cloud.tracestate},
	    {"iodebeziumop", &c->op},
	    {"iodebeziumconnector", &c->connector},
	    {"iodebeziumschema", &c->schema},
	    {"iodebeziumdb", &c->database},
	    {"iodebeziumtable", &c->table},
	    {"iodebeziumtsms", &c->time},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (br_slice_eq(name, br_slice_str(known[i].name)))
			*known[i].to = br_field_json(d->arena, value);
}

static void
read_members(struct br_draft *d, struct br_slice object, struct content *c)
{
	struct br_json_iter it;
	struct br_json_member m;

	br_json_begin(&it, object, NULL);
	while (br_json_next(&it, &m)) {
		struct br_slice name = br_json_inner(&m.name);

		if (br_slice_eq(name, br_slice_str("data")))
			c->data = m.value;
		else if (br_slice_eq(name, br_slice_str("data_base64")))
			c->base64 = m.value;
		else
			take_attribute(d, c, name, &m.value);
	}
	c->debezium = c->op.state == BR_FIELD_TEXT ||
	              c->connector.state == BR_FIELD_TEXT ||
	              (d->cloud.source.state == BR_FIELD_TEXT &&
	                  br_text_begins(d->cloud.source.text, "/debezium/"));
}

static struct br_slice
text_of(const struct br_field *field)
{
	if (field->state != BR_FIELD_TEXT)
		return (struct br_slice){NULL, 0};
	return field->text;
}

/* What the attributes say about the change behind the event. */
static void
read_change(struct br_draft *d, const struct content *c)
{
	d->change.op = br_change_op(&c->op);
	d->change.oracle =
	    br_slice_eq(text_of(&c->connector), br_slice_str("oracle")) ||
	    br_text_begins(text_of(&d->cloud.source), "/debezium/oracle/");
	d->change.schema = text_of(&c->schema);
	if (d->change.schema.data == NULL)
		d->change.schema = text_of(&c->database);
	d->change.table = text_of(&c->table);
	if (c->time.state != BR_FIELD_TEXT ||
	    !br_text_integer(c->time.text, &d->change.time_ms))
		d->change.time_ms = -1;
}

/* Is it a row of the user's table, with what an event needs? */
static bool
is_row(struct br_draft *d, const struct br_json_value *value)
{
	if (value == NULL || value->kind != BR_JSON_OBJECT)
		return false;
	br_row_read(d->row, d->columns, value->text);
	return br_row_is_event(d->row);
}

/*
 * {before, after} of a change event. A business document may have members of
 * these names too: without Debezium's signs one of them has to be a row.
 */
static bool
is_change(struct br_draft *d, const struct content *c,
    const struct br_json_object *data, const struct br_json_value **after)
{
	const struct br_json_value *before = br_json_get(data, "before");

	*after = br_json_get(data, "after");
	if (before == NULL || *after == NULL)
		return false;
	return c->debezium || is_row(d, *after) || is_row(d, before);
}

static bool
object_data(struct br_draft *d, const struct content *c,
    const struct br_json_value *data, struct br_payload *p)
{
	const struct br_json_value *schema, *payload, *after;
	struct br_json_value inner = *data;
	struct br_json_object object;
	struct br_json_fault fault;

	br_json_read(inner.text, NULL, &object, &fault);
	if (br_payload_wrapper(&object, &schema, &payload)) {
		d->schema = schema->text;
		inner = *payload;
		if (inner.kind != BR_JSON_OBJECT)
			return br_payload_value(d, &inner, inner.text, p);
		br_json_read(inner.text, NULL, &object, &fault);
	}
	if (is_change(d, c, &object, &after)) {
		d->within = "after";
		read_change(d, c);
		return br_change_payload(d, after, p);
	}
	if (c->debezium && !d->has_id && is_row(d, &inner)) {
		read_change(d, c);
		return br_change_row(d, p);
	}
	if (d->has_id)
		return br_payload_object(d, &object, inner.text, p);
	return br_payload_value(d, &inner, inner.text, p);
}

static bool
base64_data(struct br_draft *d, const struct br_json_value *base64,
    struct br_payload *p)
{
	struct br_slice text;

	p->syntax = BR_BODY_UNKNOWN;
	if (base64->kind == BR_JSON_STRING &&
	    br_json_unquote(d->arena, base64, &text) &&
	    br_base64_padded(d->arena, text, &p->body))
		return true;
	return br_draft_dead(d, "decode", "envelope-malformed",
	    "the CloudEvent's data_base64 is not base64");
}

/* The body: a copy of `data`, or what is encoded in it. */
static bool
read_data(struct br_draft *d, const struct content *c, struct br_payload *p)
{
	const struct br_json_value *data = &c->data;
	bool json = is_json_type(&d->cloud.content_type);

	d->named = true;
	if (c->base64.kind != BR_JSON_NONE && c->base64.kind != BR_JSON_NULL)
		return base64_data(d, &c->base64, p);
	if (br_slice_eq(text_of(&d->cloud.content_type),
	        br_slice_str("application/avro")))
		return br_draft_dead(d, "decode", "unsupported-framing",
		    "the CloudEvent holds Avro in JSON: set "
		    "value.converter.data.serializer.type to json in the "
		    "connector");
	if (data->kind == BR_JSON_NONE || data->kind == BR_JSON_NULL) {
		p->null = true;
		return true;
	}
	if (data->kind == BR_JSON_OBJECT)
		return object_data(d, c, data, p);
	if (data->kind == BR_JSON_STRING && !json)
		return br_payload_value(d, data, data->text, p);
	/* A string of a JSON document keeps its quotes. */
	p->null = false;
	p->body = data->text;
	p->syntax = BR_BODY_JSON;
	return true;
}

bool
br_cloud_structured(
    struct br_draft *d, struct br_slice object, struct br_payload *p)
{
	struct content c = {
	    .data = {.kind = BR_JSON_NONE}, .base64 = {.kind = BR_JSON_NONE}};

	d->out->format = "cloudevents";
	d->change.time_ms = -1;
	read_members(d, object, &c);
	/* A row brings fields of its own and changes this. */
	d->kind = BR_DRAFT_CLOUD;
	if (!read_data(d, &c, p))
		return false;
	if (d->kind == BR_DRAFT_CLOUD)
		br_draft_from(d, "body", "member", br_slice_str("data"));
	return true;
}

bool
br_cloud_binary(struct br_draft *d, struct br_payload *p)
{
	d->out->format = "cloudevents";
	d->kind = BR_DRAFT_CLOUD;
	d->named = true;
	br_draft_from(d, "body", "value", (struct br_slice){NULL, 0});
	d->cloud.id = br_header_field(d, BR_SLOT_CLOUD + 1);
	d->cloud.source = br_header_field(d, BR_SLOT_CLOUD + 2);
	d->cloud.type = br_header_field(d, BR_SLOT_CLOUD + 3);
	d->cloud.subject = br_header_field(d, BR_SLOT_CLOUD_SUBJECT);
	d->cloud.partition_key = br_header_field(d, BR_SLOT_CLOUD_PARTITION);
	d->cloud.time = br_header_field(d, BR_SLOT_CLOUD_TIME);
	d->cloud.content_type = br_header_field(d, BR_SLOT_CONTENT_TYPE);
	d->cloud.traceparent = br_header_field(d, BR_SLOT_CLOUD_TRACEPARENT);
	d->cloud.tracestate = br_header_field(d, BR_SLOT_CLOUD_TRACESTATE);
	p->null = d->record->value.data == NULL;
	p->body = d->record->value;
	p->syntax = BR_BODY_UNKNOWN;
	return true;
}
