/* decode: the order of the steps; see the header and draft.h. */
#include "bridge/source/decode.h"

#include "bridge/base/jsontext.h"
#include "bridge/core/pattern.h"
#include "bridge/source/detect.h"
#include "bridge/source/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define PLANS 256 /* topics remembered; a power of two */

/* What the configuration says about a topic. */
struct plan {
	char *topic; /* NULL: free */
	enum br_format format;
	bool skip;
};

struct br_decoder {
	const struct br_config *config;
	struct br_names *names;
	struct br_arena arena;
	struct plan plans[PLANS];
	size_t plan_count;
	struct br_pattern **skip;
	struct br_pattern **tables;
	struct br_pattern **formats;
	const struct br_slice **header;
	struct br_json_value *member;
	struct br_columns *columns;
	struct br_schemas *schemas;
	struct br_row row;
	struct br_avro *avro;
	struct br_slice placeholder;
	struct br_slice placeholder64;
	struct br_buffer placeholder64_text; /* quoted */
};

static void *
allocate(size_t count, size_t size)
{
	void *p = calloc(count != 0 ? count : 1, size);

	if (p == NULL)
		abort();
	return p;
}

/* The loader has checked every pattern: one that fails here is our bug. */
static struct br_pattern *
compile(const char *text)
{
	struct br_error err;
	struct br_pattern *p = br_pattern_new(text, &err);

	if (p == NULL)
		abort();
	return p;
}

/* Databases differ in the case in which they tell the same name. */
static struct br_pattern *
compile_any_case(const char *text)
{
	struct br_error err;
	struct br_pattern *p = br_pattern_new_any_case(text, &err);

	if (p == NULL)
		abort();
	return p;
}

struct br_decoder *
br_decoder_new(const struct br_config *config)
{
	const struct br_config_source *source = &config->source;
	struct br_decoder *d = allocate(1, sizeof(*d));
	size_t slots;

	d->config = config;
	d->names = br_names_new(source);
	slots = br_names_slots(d->names);
	d->header = allocate(slots, sizeof(struct br_slice *));
	d->member = allocate(slots, sizeof(*d->member));
	d->skip = allocate(source->skip_topics.count, sizeof(*d->skip));
	for (size_t i = 0; i < source->skip_topics.count; i++)
		d->skip[i] = compile(source->skip_topics.item[i]);
	d->formats = allocate(source->format_count, sizeof(*d->formats));
	for (size_t i = 0; i < source->format_count; i++)
		d->formats[i] = compile(source->formats[i].topic);
	d->columns = br_columns_new(&source->columns);
	d->schemas = br_schemas_new();
	d->avro = br_avro_new(config);
	d->tables = allocate(source->tables.count, sizeof(*d->tables));
	for (size_t i = 0; i < source->tables.count; i++)
		d->tables[i] = compile_any_case(source->tables.item[i]);
	if (source->unavailable_value != NULL &&
	    source->unavailable_value[0] != '\0') {
		d->placeholder = br_slice_str(source->unavailable_value);
		br_jsontext_base64(&d->placeholder64_text, d->placeholder);
		d->placeholder64 = (struct br_slice){
		    (const uint8_t *)d->placeholder64_text.data + 1,
		    d->placeholder64_text.len - 2};
	}
	return d;
}

static void
forget_plans(struct br_decoder *d)
{
	for (size_t i = 0; i < PLANS; i++) {
		free(d->plans[i].topic);
		d->plans[i].topic = NULL;
	}
	d->plan_count = 0;
}

void
br_decoder_free(struct br_decoder *d)
{
	if (d == NULL)
		return;
	forget_plans(d);
	for (size_t i = 0; i < d->config->source.skip_topics.count; i++)
		br_pattern_free(d->skip[i]);
	for (size_t i = 0; i < d->config->source.format_count; i++)
		br_pattern_free(d->formats[i]);
	for (size_t i = 0; i < d->config->source.tables.count; i++)
		br_pattern_free(d->tables[i]);
	br_columns_free(d->columns);
	br_schemas_free(d->schemas);
	br_avro_free(d->avro);
	free(d->tables);
	free(d->skip);
	free(d->formats);
	free(d->header);
	free(d->member);
	br_buffer_free(&d->placeholder64_text);
	br_names_free(d->names);
	br_arena_free(&d->arena);
	free(d);
}

void
br_decoder_use(struct br_decoder *d, struct br_registry *registry)
{
	br_avro_use(d->avro, registry);
}

static struct plan
make_plan(const struct br_decoder *d, const char *topic)
{
	const struct br_config_source *source = &d->config->source;
	struct plan plan = {.format = source->format};
	size_t i = 0;

	for (size_t s = 0; s < source->skip_topics.count; s++)
		plan.skip = plan.skip || br_pattern_match(d->skip[s], topic);
	while (
	    i < source->format_count && !br_pattern_match(d->formats[i], topic))
		i++;
	if (i < source->format_count)
		plan.format = source->formats[i].format;
	return plan;
}

/* The plan of a topic, made once; a full table is emptied and filled anew. */
static const struct plan *
plan_of(struct br_decoder *d, const char *topic)
{
	uint32_t hash = 2166136261u;
	size_t i;

	for (const char *c = topic; *c != '\0'; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	if (d->plan_count > PLANS / 4 * 3)
		forget_plans(d);
	for (i = hash % PLANS; d->plans[i].topic != NULL; i = (i + 1) % PLANS)
		if (strcmp(d->plans[i].topic, topic) == 0)
			return &d->plans[i];
	d->plans[i] = make_plan(d, topic);
	d->plans[i].topic = strdup(topic);
	if (d->plans[i].topic == NULL)
		abort();
	d->plan_count++;
	return &d->plans[i];
}

bool
br_draft_skip(struct br_draft *d, const char *reason)
{
	if (d->out->result == BR_DECODE_DELIVER) {
		d->out->result = BR_DECODE_SKIP;
		d->out->reason = reason;
		d->out->stage = "detect";
	}
	return false;
}

bool
br_draft_dead(struct br_draft *d, const char *stage, const char *reason,
    const char *format, ...)
{
	va_list args;

	if (d->out->result != BR_DECODE_DELIVER)
		return false;
	d->out->result = BR_DECODE_DEAD;
	d->out->reason = reason;
	d->out->stage = stage;
	va_start(args, format);
	vsnprintf(d->out->detail, sizeof(d->out->detail), format, args);
	va_end(args);
	return false;
}

/* An event without a payload: what the configuration wants to happen. */
static bool
no_payload(struct br_draft *d, const char *reason, struct br_payload *p)
{
	switch (d->config->source.on_null_payload) {
	case BR_ON_NULL_DLQ:
		return br_draft_dead(d, "validate", reason,
		    "the event has no payload (source.on_null_payload = "
		    "\"skip\" or \"send_empty\" does not dead-letter it)");
	case BR_ON_NULL_SKIP:
		return br_draft_skip(d, "null-payload");
	case BR_ON_NULL_SEND_EMPTY:
		break;
	}
	p->null = false;
	p->body = br_slice_str("");
	p->syntax = BR_BODY_NOT_JSON;
	return true;
}

/* A null: an event only where something names it. */
static bool
null_payload(struct br_draft *d, struct br_payload *p)
{
	struct br_field op = br_header_field(d, BR_SLOT_OP);

	if (!(d->has_key || d->named) || br_change_op(&op) == 'd')
		return br_draft_skip(d, "tombstone");
	return no_payload(d, "null-payload", p);
}

static bool
empty_payload(struct br_draft *d, struct br_payload *p)
{
	if (d->has_key || d->named)
		return no_payload(d, "empty-value", p);
	return br_draft_dead(d, "detect", "empty-value",
	    "the value is empty and no `id` header says that it is an event");
}

static bool
java_value(struct br_draft *d)
{
	const char *converter = "JsonConverter";

	if (!d->has_id && !br_shape_control(d, br_shape_of_java(d->record)))
		return false;
	if (!br_text_begins(d->record->value, "Struct{"))
		converter = "ByteArrayConverter";
	return br_draft_dead(d, "detect", "java-text",
	    "the value is the text of a Java object, the data is lost: set "
	    "value.converter to org.apache.kafka.connect.%s.%s in the "
	    "connector and insert the event again",
	    converter[0] == 'J' ? "json" : "converters", converter);
}

static bool
find_payload(struct br_draft *d, enum br_format format, struct br_payload *p)
{
	struct br_slice value = d->record->value;

	/* A CloudEvent may be without data; its headers name it. */
	if (value.len == 0 && br_shape_is_cloud_binary(d) &&
	    (format == BR_FORMAT_AUTO || format == BR_FORMAT_CLOUDEVENTS))
		br_cloud_binary(d, p);
	if (value.data == NULL)
		return null_payload(d, p);
	if (value.len == 0)
		return empty_payload(d, p);
	if (br_text_is_java(value))
		return java_value(d);
	p->body = value;
	switch (format) {
	case BR_FORMAT_STRING:
		d->out->format = "string";
		break;
	case BR_FORMAT_BYTES:
		d->out->format = "bytes";
		break;
	case BR_FORMAT_JSON:
		if (!br_payload_json(d, p))
			return false;
		break;
	case BR_FORMAT_JSON_SCHEMA:
		if (!br_payload_json_schema(d, p))
			return false;
		break;
	case BR_FORMAT_AUTO:
		if (!br_payload_auto(d, p))
			return false;
		break;
	case BR_FORMAT_AVRO:
		if (!br_payload_avro(d, true, p))
			return false;
		break;
	case BR_FORMAT_ENVELOPE:
	case BR_FORMAT_FLATTENED:
	case BR_FORMAT_CLOUDEVENTS:
	case BR_FORMAT_GOLDENGATE:
		if (!br_payload_shaped(d, format, p))
			return false;
		break;
	}
	if (p->null)
		return null_payload(d, p);
	return p->body.len > 0 || empty_payload(d, p);
}

static void
look_at_headers(struct br_draft *d)
{
	static const char prefix[] = "outbox.event.";
	struct br_slice topic = br_slice_str(d->record->topic);
	size_t n = sizeof(prefix) - 1, type_count;
	const int *types = br_names_types(d->names, &type_count);

	br_names_collect(d->names, d->record, d->header);
	if (topic.len > n && memcmp(topic.data, prefix, n) == 0)
		d->aggregate_topic =
		    (struct br_slice){topic.data + n, topic.len - n};
	d->has_id = d->header[BR_SLOT_ID] != NULL;
	d->has_key = d->has_id;
	for (int i = BR_SLOT_KEY; i < BR_SLOT_KEY_END; i++)
		d->has_key = d->has_key || d->header[i] != NULL;
	d->from_router = d->aggregate_topic.data != NULL;
	for (int i = BR_SLOT_AGGREGATE; i < BR_SLOT_RETRIES_END; i++)
		d->from_router = d->from_router || d->header[i] != NULL;
	for (size_t i = 0; i < type_count; i++)
		d->from_router = d->from_router || d->header[types[i]] != NULL;
}

static void
skip_topic(struct br_draft *d)
{
	bool heartbeat = strncmp(d->record->topic, "__debezium-heartbeat",
	                     strlen("__debezium-heartbeat")) == 0;

	br_draft_skip(d, heartbeat ? "heartbeat" : "topic-skipped");
}

/* What was found out about the record's event, sent or not. */
static void
fill_fields(struct br_draft *d)
{
	switch (d->kind) {
	case BR_DRAFT_ROUTED:
		br_routed_fields(d);
		break;
	case BR_DRAFT_ROW:
		br_row_fields(d);
		break;
	case BR_DRAFT_CLOUD:
		br_cloud_fields(d);
		break;
	}
}

void
br_decode_explained(struct br_decoder *d, const struct br_record *record,
    struct br_decoded *out, struct br_origins *origins)
{
	const struct plan *plan = plan_of(d, record->topic);
	struct br_payload payload = {.syntax = BR_BODY_UNKNOWN};
	struct br_draft draft = {
	    .config = d->config,
	    .names = d->names,
	    .arena = &d->arena,
	    .record = record,
	    .header = d->header,
	    .member = d->member,
	    .watch = {{d->placeholder, d->placeholder64}, false},
	    .columns = d->columns,
	    .row = &d->row,
	    .schemas = d->schemas,
	    .tables = d->tables,
	    .origins = origins,
	    .avro = d->avro,
	    .out = out,
	};

	br_arena_reset(&d->arena);
	memset(out, 0, sizeof(*out));
	if (origins != NULL)
		memset(origins, 0, sizeof(*origins));
	out->format = "";
	out->stage = "";
	out->time_ms = record->timestamp_ms;
	out->order_key = br_order_key(&d->arena, record->key);
	if (plan->skip) {
		skip_topic(&draft);
		return;
	}
	look_at_headers(&draft);
	if (find_payload(&draft, plan->format, &payload))
		br_set_body(&draft, &payload);
	br_avro_order_key(&draft);
	if (out->result != BR_DECODE_SKIP)
		fill_fields(&draft);
	/* What is not delivered has no body or key of its own. */
	if (out->result == BR_DECODE_DELIVER)
		return;
	out->body = (struct br_slice){NULL, 0};
	out->offset_key = false;
}

void
br_decode(struct br_decoder *d, const struct br_record *record,
    struct br_decoded *out)
{
	br_decode_explained(d, record, out, NULL);
}

void
br_draft_from(struct br_draft *d, const char *field, const char *kind,
    struct br_slice name)
{
	struct br_origins *o = d->origins;

	if (o != NULL && o->count < BR_ORIGINS)
		o->item[o->count++] = (struct br_origin){field, kind, name};
}
