/* Avro on its way through the decoder: waiting, content, rows, reasons. */
#include "avro_support.h"

#include "bridge/source/registry.h"

/* Schemas by content id; NULL: the registry has none. */
#define IDS 12
static const char *schemas[IDS];
static bool silent; /* questions are not answered */
static struct br_registry *registry;
static struct br_decoder *decoder;
static struct br_config own;

static void
ask(void *opaque, const struct br_schema_key *key)
{
	struct br_registry_reply *reply;

	(void)opaque;
	if (silent)
		return;
	reply = calloc(1, sizeof(*reply));
	reply->key = *key;
	if (key->id < IDS && schemas[key->id] != NULL) {
		reply->text = calloc(1, sizeof(*reply->text));
		reply->text_count = 1;
		br_buffer_str(&reply->text[0], schemas[key->id]);
	} else {
		reply->outcome = BR_REGISTRY_NONE;
		br_fail(&reply->why, "answered with 404");
	}
	br_registry_answer(registry, reply, 0);
}

static int
begin(void **state)
{
	static char *urls[] = {"http://registry"};

	(void)state;
	memset(schemas, 0, sizeof(schemas));
	silent = false;
	own = default_config();
	own.registry.url = (struct br_strings){urls, 1};
	own.registry.apicurio_url = "";
	registry = br_registry_new(ask, NULL);
	decoder = br_decoder_new(&own);
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

/* A value of so many bytes of a topic of the router, with the header id. */
static void
decode_bytes(const char *value, size_t len, const char *key, size_t key_len,
    struct br_decoded *out)
{
	static struct br_header id;
	struct br_record record;

	id = header("id", UUID);
	record = make("", &id, 1);
	record.value = (struct br_slice){(const uint8_t *)value, len};
	if (value == NULL)
		record.value.data = NULL;
	record.key = (struct br_slice){(const uint8_t *)key, key_len};
	br_decode(decoder, &record, out);
}

#define DECODE(value, out)                                                     \
	decode_bytes((value), sizeof(value) - 1, "k", 1, (out))
#define DECODE_KEYED(value, key, out)                                          \
	decode_bytes((value), sizeof(value) - 1, (key), sizeof(key) - 1, (out))

static void
expect_body(const struct br_decoded *out, const char *body, size_t len)
{
	if (out->result != BR_DECODE_DELIVER)
		fail_msg("%s: %s", out->reason, out->detail);
	assert_int_equal(out->body.len, len);
	assert_memory_equal(out->body.data, body, len);
}

static void
expect_dead(const struct br_decoded *out, const char *reason, const char *text)
{
	assert_int_equal(out->result, BR_DECODE_DEAD);
	assert_string_equal(out->reason, reason);
	if (strstr(out->detail, text) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", out->detail, text);
}

static void
test_wait(void **state)
{
	struct br_decoded out;

	(void)state;
	silent = true;
	schemas[1] = "\"string\"";
	DECODE("\0\0\0\0\1\4hi", &out);
	assert_int_equal(out.result, BR_DECODE_WAIT);
	assert_int_equal(out.schema.space, BR_SCHEMA_CONTENT);
	assert_int_equal(out.schema.id, 1);
	assert_null(out.body.data);
	assert_null(out.reason);
	silent = false;
	ask(NULL, &out.schema);
	DECODE("\0\0\0\0\1\4hi", &out);
	expect_body(&out, "hi", 2);
	assert_string_equal(out.format, "avro");
	assert_true(out.body_is_utf8);
}

/* Content is a span of the record: nothing is copied. */
static void
test_span(void **state)
{
	static const char value[] = "\0\0\0\0\1\2\4hi";
	struct br_decoded out;

	(void)state;
	schemas[1] = "[\"null\",\"string\"]";
	DECODE("\0\0\0\0\1\2\4hi", &out);
	decode_bytes(value, sizeof(value) - 1, "k", 1, &out);
	assert_ptr_equal(out.body.data, value + 7);
}

/* Just "bytes" has no length behind Confluent's prefix; a union has one. */
static void
test_bytes(void **state)
{
	struct br_decoded out;

	(void)state;
	schemas[1] = "\"bytes\"";
	schemas[2] = "[\"null\",\"bytes\"]";
	own.registry.id8 = BR_ID_CONTENT;
	DECODE("\0\0\0\0\1\0\xff", &out);
	expect_body(&out, "\0\xff", 2);
	DECODE("\0\0\0\0\2\2\4\0\xff", &out);
	expect_body(&out, "\0\xff", 2);
	DECODE("\0\0\0\0\0\0\0\0\1\4\0\xff", &out);
	expect_body(&out, "\0\xff", 2);
	DECODE("\0\0\0\0\1", &out);
	expect_dead(&out, "empty-value", "no payload");
	DECODE("\0\0\0\0\2\0", &out);
	expect_dead(&out, "null-payload", "no payload");
}

/* Values of a schema that is neither text nor a record. */
static void
test_scalars(void **state)
{
	struct br_decoded out;

	(void)state;
	schemas[1] = "\"int\"";
	schemas[2] = "{\"type\":\"array\",\"items\":\"int\"}";
	schemas[3] = "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\"]}";
	DECODE("\0\0\0\0\1\x0a", &out);
	expect_body(&out, "5", 1);
	assert_true(out.body_is_json);
	DECODE("\0\0\0\0\3\0", &out);
	expect_body(&out, "A", 1);
	DECODE("\0\0\0\0\2\2\2\0", &out);
	expect_dead(&out, "avro-record-payload", "source.avro_payload");
	own.source.avro_payload = BR_AVRO_PAYLOAD_JSON;
	DECODE("\0\0\0\0\2\2\2\0", &out);
	expect_body(&out, "[1]", 3);
}

static void
test_reasons(void **state)
{
	static struct br_header headers[2];
	struct br_record record;
	struct br_decoded out;
	int64_t now_ms = 0;

	(void)state;
	schemas[1] = "\"string\"";
	schemas[2] = "{\"type\":\"wool\"}";
	DECODE("\0\0\0\0\1\x0a"
	       "AB",
	    &out);
	expect_dead(&out, "avro-decode", "content id 1");
	expect_dead(&out, "avro-decode", "= bytes");
	assert_string_equal(out.stage, "decode");
	DECODE("\0\0\0\0\1\2ABC", &out);
	expect_dead(&out, "avro-decode", "left behind the value, at byte 2");
	DECODE("\0\0\0\0\2\2A", &out);
	expect_dead(&out, "avro-decode", "unknown type: wool");
	/* Not there, three times. */
	DECODE("\0\0\0\0\3\2A", &out);
	for (; out.result == BR_DECODE_WAIT; now_ms += 1000) {
		assert_true(now_ms < 10000);
		(void)br_registry_step(registry, now_ms);
		DECODE("\0\0\0\0\3\2A", &out);
	}
	expect_dead(&out, "schema-not-found", "content id 3");
	assert_text("id", out.event_id, UUID);
	headers[0] = header("id", UUID);
	headers[1] = header("apicurio.value.globalId", "text");
	record = make("x", headers, 2);
	br_decode(decoder, &record, &out);
	expect_dead(&out, "unsupported-framing", "8 bytes");
	assert_null(strstr(out.detail, "= bytes"));
	own.source.format = BR_FORMAT_AVRO;
	br_decoder_free(decoder);
	decoder = br_decoder_new(&own);
	br_decoder_use(decoder, registry);
	DECODE("{}", &out);
	expect_dead(&out, "unsupported-framing", "= bytes");
}

/* What is no event of the router needs to say that it is one. */
static void
test_no_event(void **state)
{
	struct br_record record = {.topic = "t"};
	static const char value[] = "\0\0\0\0\1\4hi";
	struct br_decoded out;

	(void)state;
	schemas[1] = "\"string\"";
	record.value =
	    (struct br_slice){(const uint8_t *)value, sizeof(value) - 1};
	br_decode(decoder, &record, &out);
	expect_dead(&out, "unrecognised", "id");
}

/* Without a registry opaque bytes of the router stay what they are. */
static void
test_no_registry(void **state)
{
	struct br_decoded out;

	(void)state;
	br_decoder_use(decoder, NULL);
	DECODE("\0\0\0\0\1\4hi", &out);
	expect_body(&out, "\0\0\0\0\1\4hi", 8);
	assert_string_equal(out.format, "string");
}

/* With one, what has no room for an id is no Avro either. */
static void
test_short(void **state)
{
	struct br_decoded out;

	(void)state;
	DECODE("\0\0\0\0", &out);
	expect_body(&out, "\0\0\0\0", 4);
	DECODE("\0\0\0\0\0\0\0\0", &out);
	expect_body(&out, "\0\0\0\0\0\0\0\0", 8);
}

static void
test_keys(void **state)
{
	struct br_decoded out;

	(void)state;
	schemas[1] = "\"string\"";
	schemas[2] = "{\"type\":\"record\",\"name\":\"Key\",\"fields\":[{"
	             "\"name\":\"id\",\"type\":\"long\"}]}";
	schemas[3] = "{\"type\":\"bytes\",\"logicalType\":\"decimal\","
	             "\"scale\":0}";
	schemas[4] = "[\"null\",\"string\"]";
	DECODE_KEYED("\0\0\0\0\1\2A", "\0\0\0\0\1\6o-1", &out);
	assert_text("key", out.order_key, "o-1");
	DECODE_KEYED("\0\0\0\0\1\2A", "\0\0\0\0\2\xd2\x0f", &out);
	assert_text("key", out.order_key, "1001");
	DECODE_KEYED("\0\0\0\0\1\2A", "\0\0\0\0\3\4\3\xe9", &out);
	assert_text("key", out.order_key, "1001");
	DECODE_KEYED("\0\0\0\0\1\2A", "\0\0\0\0\4\0", &out);
	assert_text("key", out.order_key, ABSENT);
	DECODE_KEYED("\0\0\0\0\1\2A", "\0\0\0\0\1\0", &out);
	assert_text("key", out.order_key, ABSENT);
	DECODE_KEYED("\0\0\0\0\1\2A", "plain", &out);
	assert_text("key", out.order_key, "plain");
	/* Bytes that do not fit keep the order as they are. */
	DECODE_KEYED("\0\0\0\0\1\2A", "\0\0\0\0\1\6o", &out);
	assert_int_equal(out.result, BR_DECODE_DELIVER);
	assert_int_equal(out.order_key.len, 7);
	/* Beside a value that is not Avro nothing is asked for. */
	silent = true;
	DECODE_KEYED("{\"a\":1}", "\0\0\0\0\7\6o-1", &out);
	expect_body(&out, "{\"a\":1}", 7);
	/* The key's schema is waited for, too; the value's comes first. */
	DECODE_KEYED("\0\0\0\0\1\2A", "\0\0\0\0\5\6o-1", &out);
	assert_int_equal(out.result, BR_DECODE_WAIT);
	assert_int_equal(out.schema.id, 5);
	DECODE_KEYED("\0\0\0\0\6\2A", "\0\0\0\0\5\6o-1", &out);
	assert_int_equal(out.result, BR_DECODE_WAIT);
	assert_int_equal(out.schema.id, 6);
}

/* Fields beside the payload, whose content is bytes. */
static void
test_placed(void **state)
{
	struct br_decoded out;

	(void)state;
	schemas[1] =
	    "{\"type\":\"record\",\"name\":\"V\",\"fields\":[{\"name\":"
	    "\"payload\",\"type\":[\"null\",\"bytes\"]},{\"name\":"
	    "\"eventType\",\"type\":\"string\"},{\"name\":"
	    "\"max_retries\",\"type\":{\"type\":\"bytes\","
	    "\"logicalType\":\"decimal\",\"scale\":0}}]}";
	DECODE("\0\0\0\0\1\2\6\0\"\xff\4\"T\2\7", &out);
	expect_body(&out, "\0\"\xff", 3);
	assert_text("type", out.event_type, "\"T");
	assert_int_equal(out.max_attempts, 7);
	assert_false(out.body_is_utf8);
	DECODE("\0\0\0\0\1\0\4\"T\2\7", &out);
	expect_dead(&out, "null-payload", "no payload");
	assert_text("type", out.event_type, "\"T");
}

#define ENVELOPE(columns)                                                      \
	"{\"type\":\"record\",\"name\":\"Envelope\",\"namespace\":\"p.s.t\","  \
	"\"fields\":[{\"name\":\"before\",\"type\":[\"null\",{\"type\":"       \
	"\"record\",\"name\":\"Value\",\"fields\":[" columns "]}]},{\"name\":" \
	"\"after\",\"type\":[\"null\",\"Value\"]},{\"name\":\"op\",\"type\":"  \
	"\"string\"},{\"name\":\"source\",\"type\":{\"type\":\"record\","      \
	"\"name\":\"Source\",\"fields\":[{\"name\":\"connector\",\"type\":"    \
	"\"string\"},{\"name\":\"schema\",\"type\":\"string\"},{\"name\":"     \
	"\"table\",\"type\":\"string\"}]}}]}"

/* A row of Oracle: NUMBER in Debezium's struct, the body in a column of
 * bytes, a time with its unit in the schema. */
static void
test_envelope(void **state)
{
	static const char value[] = "\0\0\0\0\1"
	                            "\0"
	                            "\2"
	                            "\0\4\3\xe9"
	                            "\6\0\"\xff"
	                            "\x80\x89\x7a"
	                            "\2c"
	                            "\x0coracle\6"
	                            "APP\2T";
	struct br_record record = {.topic = "p.APP.T"};
	struct br_decoded out;

	(void)state;
	schemas[1] = ENVELOPE(
	    "{\"name\":\"ID\",\"type\":{\"type\":\"record\",\"name\":"
	    "\"VariableScaleDecimal\",\"namespace\":\"io.debezium.data\","
	    "\"fields\":[{\"name\":\"scale\",\"type\":\"int\"},{\"name\":"
	    "\"value\",\"type\":\"bytes\"}]}},"
	    "{\"name\":\"PAYLOAD\",\"type\":\"bytes\"},"
	    "{\"name\":\"CREATED_AT\",\"type\":{\"type\":\"long\","
	    "\"connect.name\":\"io.debezium.time.MicroTimestamp\"}}");
	record.value =
	    (struct br_slice){(const uint8_t *)value, sizeof(value) - 1};
	br_decode(decoder, &record, &out);
	expect_body(&out, "\0\"\xff", 3);
	assert_text("key", out.idempotency_key, "APP.T:1001");
	assert_string_equal(out.format, "envelope");
	/* 1,000,000 of a unit that only the schema tells. */
	assert_int_equal(out.time_ms, 1000);
}

#define STRING(name) "{\"name\":\"" name "\",\"type\":\"string\"}"

/* A payload of several fields beside other fields. */
static void
test_placed_record(void **state)
{
	struct br_decoded out;

	(void)state;
	schemas[1] =
	    "{\"type\":\"record\",\"name\":\"V\",\"fields\":[{\"name\":"
	    "\"payload\",\"type\":{\"type\":\"record\",\"name\":\"P\","
	    "\"fields\":[{\"name\":\"a\",\"type\":\"int\"}," STRING(
	        "b") "]}}," STRING("eventType") "]}";
	DECODE("\0\0\0\0\1\2\4\"x\2T", &out);
	expect_dead(&out, "avro-record-payload", "table.expand.json.payload");
	assert_text("type", out.event_type, "T");
	own.source.avro_payload = BR_AVRO_PAYLOAD_JSON;
	DECODE("\0\0\0\0\1\2\4\"x\2T", &out);
	expect_body(&out, "{\"a\":1,\"b\":\"\\\"x\"}", 17);
	assert_true(out.body_is_json);
}

/* Not of the router: what the fields say. */
static void
decode_plain(const char *value, size_t len, struct br_decoded *out)
{
	struct br_record record = {.topic = "p.s.t"};

	record.value = (struct br_slice){(const uint8_t *)value, len};
	br_decode(decoder, &record, out);
}

#define DECODE_PLAIN(value, out) decode_plain((value), sizeof(value) - 1, (out))

/* A row without its change event. */
static void
test_flattened(void **state)
{
	struct br_decoded out;

	(void)state;
	schemas[1] =
	    "{\"type\":\"record\",\"name\":\"Value\",\"fields\":["
	    "{\"name\":\"id\",\"type\":\"long\"}," STRING("payload") "," STRING(
	        "event_type") "," STRING("idempotency_key") "]}";
	DECODE_PLAIN("\0\0\0\0\1\2\6\"\n\1\2T\6k-1", &out);
	expect_body(&out, "\"\n\1", 3);
	assert_text("key", out.idempotency_key, "k-1");
	assert_text("type", out.event_type, "T");
	assert_string_equal(out.format, "flattened");
}

/* Records of Debezium's own are known by their names. */
static void
test_control(void **state)
{
	struct br_decoded out;

	(void)state;
	schemas[1] =
	    "{\"type\":\"record\",\"name\":\"Heartbeat\",\"namespace\":"
	    "\"io.debezium.connector.common\",\"fields\":[{\"name\":"
	    "\"ts_ms\",\"type\":\"long\"}]}";
	schemas[2] =
	    "{\"type\":\"record\",\"name\":\"X\",\"connect.name\":"
	    "\"io.debezium.connector.common.TransactionMetadataValue\","
	    "\"fields\":[" STRING("status") "]}";
	DECODE_PLAIN("\0\0\0\0\1\2", &out);
	assert_int_equal(out.result, BR_DECODE_SKIP);
	assert_string_equal(out.reason, "heartbeat");
	DECODE_PLAIN("\0\0\0\0\2\6END", &out);
	assert_int_equal(out.result, BR_DECODE_SKIP);
	assert_string_equal(out.reason, "transaction-metadata");
	/* A user's event may have such a name. */
	schemas[3] =
	    "{\"type\":\"record\",\"name\":\"Heartbeat\",\"namespace\":"
	    "\"com.acme\",\"fields\":[" STRING("eventType") "," STRING(
	        "payload") "]}";
	DECODE("\0\0\0\0\3\2T\4hi", &out);
	expect_body(&out, "hi", 2);
	assert_text("type", out.event_type, "T");
}

/* A logical message of PostgreSQL, whose content is bytes. */
static void
test_message(void **state)
{
	static char *prefixes[] = {"outbox"};
	struct br_decoded out;

	(void)state;
	own.source.message_prefixes = (struct br_strings){prefixes, 1};
	schemas[1] =
	    "{\"type\":\"record\",\"name\":\"MessageValue\","
	    "\"namespace\":\"io.debezium.connector.postgresql\","
	    "\"fields\":[" STRING(
	        "op") ",{\"name\":\"source\",\"type\":"
	              "{\"type\":\"record\",\"name\":\"Source\",\"fields\":"
	              "[" STRING(
	                  "connector") "]}},{\"name\":\"message\",\"type\":{"
	                               "\"type\":\"record\",\"name\":"
	                               "\"Message\",\"fields\":[" STRING(
	                                   "prefix") ",{\"name\":\"content\","
	                                             "\"type\":"
	                                             "\"bytes\"}]}}]}";
	DECODE_PLAIN("\0\0\0\0\1\2m\2p\x0coutbox\x30{\"id\":\"a\",\"payload\":"
	             "\"x\"}",
	    &out);
	expect_body(&out, "x", 1);
	assert_text("key", out.idempotency_key, "a");
	DECODE_PLAIN(
	    "\0\0\0\0\1\2m\2p\2q\x30{\"id\":\"a\",\"payload\":\"x\"}", &out);
	assert_int_equal(out.result, BR_DECODE_SKIP);
	assert_string_equal(out.reason, "op-message");
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
	    TEST(test_wait),
	    TEST(test_span),
	    TEST(test_bytes),
	    TEST(test_scalars),
	    TEST(test_reasons),
	    TEST(test_no_event),
	    TEST(test_no_registry),
	    TEST(test_short),
	    TEST(test_keys),
	    TEST(test_placed),
	    TEST(test_envelope),
	    TEST(test_placed_record),
	    TEST(test_flattened),
	    TEST(test_control),
	    TEST(test_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
