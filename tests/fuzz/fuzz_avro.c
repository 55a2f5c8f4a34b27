/*
 * Avro from the wire: framing, schema and value are all of the input. Two
 * bytes of length and the text of a schema, then a byte that chooses how the
 * record is framed, then the value. A registry answers every id with that
 * schema. What the guard lets pass, avro-c must read; what comes out must be
 * JSON.
 */
#include "bridge/base/buffer.h"
#include "bridge/source/avro_datum.h"
#include "bridge/source/avro_json.h"
#include "bridge/source/decode.h"
#include "bridge/source/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct br_registry *registry;
static struct br_slice schema_text;

static void
require(bool condition)
{
	if (!condition)
		abort();
}

static void
ask(void *opaque, const struct br_schema_key *key)
{
	struct br_registry_reply *reply = calloc(1, sizeof(*reply));

	(void)opaque;
	reply->key = *key;
	reply->text = calloc(1, sizeof(*reply->text));
	reply->text_count = 1;
	br_buffer_add(&reply->text[0], schema_text.data, schema_text.len);
	br_registry_answer(registry, reply, 0);
}

/* Guard and reader by themselves. */
static void
check_value(struct br_slice body)
{
	struct br_error err = {{0}};
	struct br_avro_schema *s = br_avro_schema_new(&schema_text, 1, &err);
	struct br_avro_fault fault;
	struct br_arena arena = {0};
	struct br_avro_json *j;
	struct br_slice text, inner;
	struct br_json_fault json_fault;
	const struct br_avro_node *top;

	require(s != NULL || err.text[0] != '\0');
	if (s == NULL)
		return;
	if (!br_avro_datum_check(s->root, body, &fault)) {
		require(fault.what != NULL && fault.at <= body.len);
		br_avro_schema_free(s);
		return;
	}
	j = br_avro_json_new();
	for (int i = 0; i < 2; i++) {
		require(br_avro_json_render(j, s, body, &arena, &text));
		require(br_json_check(text, NULL, NULL, &json_fault));
	}
	top = br_avro_datum_top(s->root, body, &inner);
	require(top != NULL && inner.len <= body.len);
	br_avro_json_free(j);
	br_arena_free(&arena);
	br_avro_schema_free(s);
}

static struct br_config
make_config(uint8_t options)
{
	static char *types[] = {"eventType"};
	static char *fields[] = {"eventType", "target_url", "max_retries"};
	static char *pending[] = {"PENDING"};
	static char *id[] = {"id"}, *payload[] = {"payload"};
	struct br_config c = {.file = NULL};

	c.source.format = options & 1 ? BR_FORMAT_AVRO : BR_FORMAT_AUTO;
	c.source.avro_payload =
	    options & 2 ? BR_AVRO_PAYLOAD_JSON : BR_AVRO_PAYLOAD_DLQ;
	c.source.allow_offset_key = (options & 4) != 0;
	c.source.type_headers = (struct br_strings){types, 1};
	c.source.envelope_fields = (struct br_strings){fields, 3};
	c.source.pending_status = (struct br_strings){pending, 1};
	c.source.columns.id = (struct br_strings){id, 1};
	c.source.columns.payload = (struct br_strings){payload, 1};
	c.source.unavailable_value = "gone";
	c.registry.id8 = BR_ID_GLOBAL;
	c.limits.body_bytes = 1 << 20;
	return c;
}

/* A body is the decoder's until it decodes again. */
static uint8_t *
copy_of(struct br_slice body)
{
	uint8_t *copy = malloc(body.len + 1);

	require(copy != NULL);
	if (body.len != 0)
		memcpy(copy, body.data, body.len);
	return copy;
}

/* The key has no part in the body: without it, it is the same. */
static void
check_keyless(struct br_decoder *d, struct br_record record, uint8_t *body,
    const struct br_decoded *keyed)
{
	struct br_decoded out;

	record.key = (struct br_slice){NULL, 0};
	br_decode(d, &record, &out);
	if (out.result != BR_DECODE_DELIVER ||
	    keyed->result != BR_DECODE_DELIVER)
		return;
	require(out.body.len == keyed->body.len);
	require(memcmp(out.body.data, body, out.body.len) == 0);
}

/* The whole decoder; the key is the value with another last byte. */
static void
check_record(uint8_t options, struct br_slice value)
{
	static const char *const names[] = {"id", "apicurio.value.globalId",
	    "__value_schema_id", "apicurio.key.contentId"};
	struct br_config config = make_config(options);
	struct br_header header = {
	    names[options >> 4 & 3], {(const uint8_t *)"\0\0\0\0\0\0\0\1", 8}};
	struct br_record record = {
	    .topic = options & 8 ? "outbox.event.x" : "t",
	    .key = value,
	    .value = value,
	    .headers = &header,
	    .header_count = options >> 6 & 1};
	struct br_decoder *d = br_decoder_new(&config);
	struct br_decoded first, second;
	uint8_t *key = copy_of(value), *body;

	if (value.len > 0)
		key[value.len - 1] ^= 1;
	record.key.data = key;
	registry = br_registry_new(ask, NULL);
	br_decoder_use(d, registry);
	br_decode(d, &record, &first);
	body = copy_of(first.body);
	br_decode(d, &record, &second);
	require(first.result != BR_DECODE_WAIT);
	require(first.result == second.result && first.reason == second.reason);
	require(first.body.len == second.body.len);
	require(first.result != BR_DECODE_DELIVER || first.body.data != NULL);
	require(first.body.len == 0 ||
	        memcmp(second.body.data, body, first.body.len) == 0);
	check_keyless(d, record, body, &first);
	br_decoder_free(d);
	br_registry_free(registry);
	free(key);
	free(body);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len;
	uint8_t options;

	if (size < 3)
		return 0;
	len = (size_t)data[0] << 8 | data[1];
	data += 2;
	size -= 2;
	if (len > size - 1)
		len = size - 1;
	schema_text = (struct br_slice){data, len};
	options = data[len];
	data += len + 1;
	size -= len + 1;
	check_value((struct br_slice){data, size});
	check_record(options, (struct br_slice){data, size});
	return 0;
}
