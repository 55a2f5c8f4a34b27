/*
 * A whole br_decode over a record built from the input. The first byte gives
 * format and options; then parts, each with two bytes of length: topic, key,
 * value, and headers whose names come from a table or from the input.
 */
#include "bridge/source/decode.h"

#include "bridge/source/text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEADERS 12

static const char *const names[] = {"id", "idempotency_key", "eventType",
    "type", "targetUrl", "max_retries", "traceparent", "tracestate",
    "tracingspancontext", "content-type", "outbox.idempotency.key",
    "aggregatetype", "ce_id", "ce_type", "ce_source", "ce_specversion",
    "__value_schema_id", "__op", "other", "__debezium.oldkey", "ce_subject",
    "ce_partitionkey", "ce_time", "ce_traceparent", "ce_tracestate"};

struct input {
	const uint8_t *at, *end;
};

static void
require(bool condition)
{
	if (!condition)
		abort();
}

static uint8_t
byte(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

/* A part with its length before it; the length 0xffff is a null. */
static struct br_slice
part(struct input *in)
{
	size_t len = byte(in);
	struct br_slice out;

	len = len << 8 | byte(in);
	if (len == 0xffff)
		return (struct br_slice){NULL, 0};
	if (len > (size_t)(in->end - in->at))
		len = (size_t)(in->end - in->at);
	out = (struct br_slice){in->at, len};
	in->at += len;
	return out;
}

static void
check_text(struct br_slice text)
{
	if (text.data != NULL)
		require(text.len > 0 && br_text_is_utf8(text));
}

static void
check_result(const struct br_decoded *out)
{
	check_text(out->event_id);
	check_text(out->idempotency_key);
	check_text(out->event_type);
	check_text(out->aggregate_type);
	check_text(out->target_url);
	check_text(out->content_type);
	check_text(out->traceparent);
	check_text(out->tracestate);
	require(out->tracestate.data == NULL || out->traceparent.data != NULL);
	require(out->max_attempts >= 0 && out->max_attempts <= 999);
	require(memchr(out->detail, 0, sizeof(out->detail)) != NULL);
	require(out->idempotency_key.len <= 255);
	require(out->body.len <= (1 << 20));
	if (out->result == BR_DECODE_DELIVER) {
		require(out->reason == NULL && out->body.data != NULL);
		require((out->idempotency_key.data != NULL) != out->offset_key);
		require(!out->body_is_json || out->body_is_utf8);
		require(out->body_is_utf8 == br_text_is_utf8(out->body));
	} else {
		require(out->reason != NULL && out->body.data == NULL);
		require(out->result == BR_DECODE_SKIP || out->detail[0] != 0);
	}
}

static void
check_origins(const struct br_origins *o)
{
	require(o->count <= BR_ORIGINS);
	for (size_t i = 0; i < o->count; i++)
		require(o->item[i].field != NULL && o->item[i].kind != NULL);
}

static void
add_columns(struct br_config_columns *c)
{
	static char *id[] = {"id"}, *key[] = {"idempotency_key", "id"};
	static char *payload[] = {"payload", "body"};
	static char *type[] = {"event_type", "type"}, *status[] = {"status"};
	static char *aggregate[] = {"aggregatetype"},
	            *order[] = {"aggregateid"};
	static char *url[] = {"target_url"}, *retries[] = {"max_retries"};
	static char *created[] = {"created_at"};

	c->id = (struct br_strings){id, 1};
	c->idempotency_key = (struct br_strings){key, 2};
	c->payload = (struct br_strings){payload, 2};
	c->event_type = (struct br_strings){type, 2};
	c->status = (struct br_strings){status, 1};
	c->aggregate_type = (struct br_strings){aggregate, 1};
	c->aggregate_id = (struct br_strings){order, 1};
	c->target_url = (struct br_strings){url, 1};
	c->max_retries = (struct br_strings){retries, 1};
	c->created_at = (struct br_strings){created, 1};
}

/* `options`: the low half is the format, the rest are switches. */
static struct br_config
make_config(uint8_t options)
{
	static const enum br_format formats[16] = {BR_FORMAT_AUTO,
	    BR_FORMAT_STRING, BR_FORMAT_JSON, BR_FORMAT_JSON_SCHEMA,
	    BR_FORMAT_BYTES, BR_FORMAT_ENVELOPE, BR_FORMAT_FLATTENED,
	    BR_FORMAT_CLOUDEVENTS, BR_FORMAT_GOLDENGATE};
	static char *skip[] = {"skipped*"};
	static char *types[] = {"eventType", "type"};
	static char *fields[] = {"eventType", "targetUrl", "max_retries",
	    "idempotency_key", "tracingspancontext"};
	static char *pending[] = {"PENDING", "FAILED"}, *prefix[] = {"outbox"};
	static char *tables[] = {"APP.*", "public.t*", "outbox"};
	struct br_config c = {.file = NULL};

	c.source.format = formats[options & 15];
	c.source.on_null_payload = (enum br_on_null)((options >> 4 & 3) % 3);
	c.source.allow_offset_key = (options & 0x40) != 0;
	c.source.strict_fields = (options & 0x80) != 0;
	c.source.snapshot_skip = (options & 0x80) != 0;
	c.source.skip_topics = (struct br_strings){skip, 1};
	c.source.type_headers = (struct br_strings){types, 2};
	c.source.envelope_fields = (struct br_strings){fields, 5};
	c.source.pending_status = (struct br_strings){pending, 2};
	c.source.message_prefixes = (struct br_strings){prefix, 1};
	if ((options & 0x40) != 0)
		c.source.tables = (struct br_strings){tables, 3};
	add_columns(&c.source.columns);
	c.source.unavailable_value = "gone";
	c.limits.body_bytes = (options & 0x30) == 0x30 ? 64 : 1 << 20;
	return c;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	struct br_config config = make_config(byte(&in));
	struct br_header headers[HEADERS];
	struct br_record record = {.headers = headers};
	struct br_decoder *d = br_decoder_new(&config);
	struct br_decoded first, second;
	struct br_origins origins;
	char topic[64] = "outbox.event.x", name[16] = "";
	struct br_slice text = part(&in);

	if (text.len > 0) {
		size_t n = text.len < 63 ? text.len : 63;

		/* A topic's name is ASCII, and never empty. */
		for (size_t i = 0; i < n; i++)
			topic[i] = (char)((text.data[i] & 0x7f) | (i == 0));
		topic[n] = '\0';
	}
	record.topic = topic;
	record.key = part(&in);
	record.value = part(&in);
	while (in.at < in.end && record.header_count < HEADERS) {
		struct br_header *h = &headers[record.header_count++];

		h->name = names[byte(&in) % (sizeof(names) / sizeof(*names))];
		if (strcmp(h->name, "other") == 0) {
			text = part(&in);
			memcpy(name, text.data != NULL ? text.data : data,
			    text.len < 15 ? text.len : 15);
			h->name = name;
		}
		h->value = part(&in);
	}
	br_decode(d, &record, &first);
	check_result(&first);
	br_decode_explained(d, &record, &second, &origins);
	check_result(&second);
	check_origins(&origins);
	require(first.result == second.result && first.reason == second.reason);
	require(first.body.len == second.body.len);
	br_decoder_free(d);
	return 0;
}
