/*
 * What an Avro key and an Avro value share: avro-c has one value per schema,
 * and a key must not be taken for Avro when it is none.
 */
#include "source_support.h"

#include "bridge/base/buffer.h"
#include "bridge/source/registry.h"

#include <avro.h>

#define MANY 200 /* fields of a large record */

static struct br_buffer schema; /* of every id; none: no answer */
static unsigned asked;
static int64_t live; /* bytes that avro-c has */
static struct br_registry *registry;
static struct br_decoder *decoder;

static void *
count_memory(void *opaque, void *block, size_t old, size_t size)
{
	(void)opaque;
	live += (int64_t)size - (int64_t)old;
	if (size != 0)
		return realloc(block, size);
	free(block);
	return NULL;
}

static void
ask(void *opaque, const struct br_schema_key *key)
{
	struct br_registry_reply *reply;

	(void)opaque;
	asked++;
	if (schema.len == 0)
		return;
	reply = calloc(1, sizeof(*reply));
	reply->key = *key;
	reply->text = calloc(1, sizeof(*reply->text));
	reply->text_count = 1;
	br_buffer_add(&reply->text[0], schema.data, schema.len);
	br_registry_answer(registry, reply, 0);
}

static void
set_schema(const char *text)
{
	br_buffer_clear(&schema);
	br_buffer_str(&schema, text);
}

static int
begin(void **state)
{
	static char *urls[] = {"http://registry"};

	(void)setup(state);
	br_buffer_clear(&schema);
	asked = 0;
	config.registry.url = (struct br_strings){urls, 1};
	config.registry.apicurio_url = "";
	config.registry.id8 = BR_ID_GLOBAL;
	registry = br_registry_new(ask, NULL);
	decoder = br_decoder_new(&config);
	br_decoder_use(decoder, registry);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	br_decoder_free(decoder);
	br_registry_free(registry);
	return 0;
}

static void
add_number(struct br_buffer *out, size_t number)
{
	uint8_t byte;

	for (number *= 2; number > 0x7f; number >>= 7) {
		byte = (uint8_t)((number & 0x7f) | 0x80);
		br_buffer_add(out, &byte, 1);
	}
	byte = (uint8_t)number;
	br_buffer_add(out, &byte, 1);
}

static void
add_letters(struct br_buffer *out, char letter, size_t count)
{
	char *text = malloc(count + 1);

	memset(text, letter, count);
	add_number(out, count);
	br_buffer_add(out, text, count);
	free(text);
}

/* A framed record of two strings: one letter, and so many. */
static struct br_buffer
pair(char letter, size_t count)
{
	struct br_buffer out = {0};

	br_buffer_add(&out, "\0\0\0\0\1", 5);
	add_letters(&out, letter, 1);
	add_letters(&out, letter, count);
	return out;
}

static struct br_slice
slice(const struct br_buffer *bytes)
{
	return (struct br_slice){(const uint8_t *)bytes->data, bytes->len};
}

/* The value's letters are the body, whatever the key is. */
static void
check_pair(bool with_id, size_t value_len, size_t key_len)
{
	const struct br_header id = header("id", UUID);
	struct br_buffer value = pair('v', value_len), key = pair('k', key_len);
	struct br_record record = make("", &id, with_id ? 1 : 0);
	struct br_decoded out;

	record.value = slice(&value);
	record.key = slice(&key);
	br_decode(decoder, &record, &out);
	if (out.result != BR_DECODE_DELIVER)
		fail_msg("%s: %s", out.reason, out.detail);
	assert_int_equal(out.body.len, value_len);
	for (size_t i = 0; i < value_len; i++)
		if (out.body.data[i] != 'v')
			fail_msg("%zu and %zu letters: byte %zu is '%c'",
			    value_len, key_len, i, out.body.data[i]);
	br_buffer_free(&value);
	br_buffer_free(&key);
}

static void
check_pairs(bool with_id)
{
	static const size_t large = (1 << 20) + 1;

	check_pair(with_id, 20, 20);
	check_pair(with_id, 20, 3);
	check_pair(with_id, 20, 5000);
	check_pair(with_id, large, 20);
	check_pair(with_id, 20, large);
	check_pair(with_id, large, large);
	assert_int_equal(asked, 1);
}

/* A row without its change event, and the key in the same schema. */
static void
test_row(void **state)
{
	(void)state;
	set_schema("{\"type\":\"record\",\"name\":\"E\",\"fields\":[{\"name\":"
	           "\"id\",\"type\":\"string\"},{\"name\":\"payload\","
	           "\"type\":\"string\"}]}");
	check_pairs(false);
}

/* An event of the router, whose content is bytes. */
static void
test_placed(void **state)
{
	(void)state;
	set_schema("{\"type\":\"record\",\"name\":\"E\",\"fields\":[{\"name\":"
	           "\"eventType\",\"type\":\"string\"},{\"name\":\"payload\","
	           "\"type\":\"bytes\"}]}");
	check_pairs(true);
}

static const uint8_t binary_key[16] = {0, 0, 0, 0, 0, 1, 2, 3, 4, 5};

static void
decode_binary_key(const char *value, size_t len, struct br_decoded *out)
{
	const struct br_header id = header("id", UUID);
	static struct br_record record;

	record = make("", &id, 1);
	record.value = (struct br_slice){(const uint8_t *)value, len};
	record.key = (struct br_slice){binary_key, sizeof(binary_key)};
	br_decode(decoder, &record, out);
}

/* Bytes that look like an 8-byte id, which only Apicurio would know. */
static void
test_binary_key(void **state)
{
	static char *apicurio[] = {"http://a/apis/ccompat/v7"};
	static const char value[] = "\0\0\0\0\1\4hi";
	struct br_decoded out;

	(void)state;
	set_schema("\"string\"");
	decode_binary_key(value, sizeof(value) - 1, &out);
	assert_int_equal(out.result, BR_DECODE_DELIVER);
	assert_int_equal(out.order_key.len, sizeof(binary_key));
	assert_memory_equal(out.order_key.data, binary_key, sizeof(binary_key));
	assert_int_equal(asked, 1);
	/* Beside nothing at all, with a registry that is silent. */
	br_buffer_clear(&schema);
	decode_binary_key(NULL, 0, &out);
	assert_int_equal(out.result, BR_DECODE_DEAD);
	assert_string_equal(out.reason, "null-payload");
	assert_int_equal(out.order_key.len, sizeof(binary_key));
	assert_memory_equal(out.order_key.data, binary_key, sizeof(binary_key));
	assert_int_equal(asked, 1);
	/* Where global ids have an address, it is asked. */
	config.registry.url.item = apicurio;
	decode_binary_key(value, sizeof(value) - 1, &out);
	assert_int_equal(out.result, BR_DECODE_WAIT);
	assert_int_equal(out.schema.space, BR_SCHEMA_GLOBAL);
	assert_int_equal(asked, 2);
}

/* So many nulls, each of which avro-c gives the room of a record. */
static void
decode_nulls(size_t count)
{
	const struct br_header id = header("id", UUID);
	struct br_record record = make("", &id, 1);
	struct br_buffer value = {0};
	struct br_decoded out;

	br_buffer_add(&value, "\0\0\0\0\1", 5);
	add_number(&value, count);
	for (size_t i = 0; i < count; i++)
		br_buffer_add(&value, "\0", 1);
	br_buffer_add(&value, "\0", 1);
	record.value = slice(&value);
	br_decode(decoder, &record, &out);
	if (out.result != BR_DECODE_DELIVER)
		fail_msg("%s: %s", out.reason, out.detail);
	assert_int_equal(out.body.len, 5 * count + 1);
	br_buffer_free(&value);
}

/* The room of one body that unfolded does not stay for ever. */
static void
test_memory(void **state)
{
	int64_t small;

	(void)state;
	config.source.avro_payload = BR_AVRO_PAYLOAD_JSON;
	set_schema("{\"type\":\"array\",\"items\":[\"null\",{\"type\":"
	           "\"record\",\"name\":\"R\",\"fields\":[");
	for (int i = 0; i < MANY; i++)
		br_buffer_format(&schema,
		    "%s{\"name\":\"f%d\",\"type\":\"int\"}", i > 0 ? "," : "",
		    i);
	br_buffer_str(&schema, "]}]}");
	decode_nulls(2);
	small = live;
	decode_nulls(4000);
	assert_true(live > small + 1000000);
	decode_nulls(2);
	assert_int_equal(live, small);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
	    TEST(test_row),
	    TEST(test_placed),
	    TEST(test_binary_key),
	    TEST(test_memory),
	};
	int failed;

	avro_set_allocator(count_memory, NULL);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	br_buffer_free(&schema);
	return failed;
}
