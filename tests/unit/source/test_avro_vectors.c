/*
 * Vectors of Avro records, byte by byte as the converters write them. The
 * registry knows the schemas below and nothing else.
 */
#include "source_support.h"

#include "bridge/source/registry.h"

#include <stdio.h>

#define P "{\"orderId\":4711,\"total\":12.50}"
#define P_HEX "7b226f726465724964223a343731312c22746f74616c223a31322e35307d"
#define ID "9f1c2a52-7d3e-4b8a-9c60-1f2e3d4c5b6a"
#define GUID_HEX "dd24e10ecc2b8c3884001e7afaf64d54"
#define GUID "\xdd\x24\xe1\x0e\xcc\x2b\x8c\x38\x84\x00\x1e\x7a\xfa\xf6\x4d\x54"

#define NULLABLE "[\"null\",\"string\"]"
#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type "}"
#define NUMBER                                                                 \
	"{\"type\":\"record\",\"name\":\"VariableScaleDecimal\","              \
	"\"namespace\":\"io.debezium.data\",\"fields\":[" FIELD(               \
	    "scale", "\"int\"") "," FIELD("value", "\"bytes\"") "]}"

/* The value of an event with its type and URL beside the payload. */
#define PLACED                                                                 \
	"{\"type\":\"record\",\"name\":\"Value\",\"namespace\":"               \
	"\"shop.public.Order.outboxevent\",\"fields\":["                       \
	"{\"name\":\"payload\",\"type\":" NULLABLE                             \
	",\"default\":null}," FIELD("eventType",                               \
	    "\"string\"") ",{\"name\":\"target_url\",\"type\":" NULLABLE       \
	                  ",\"default\":null}]}"

/* The key of a row of Oracle, and its change event. The row is defined under
 * `before` and only named under `after`; a default other than null puts null
 * at the end of a union. */
#define ORA_KEY                                                                \
	"{\"type\":\"record\",\"name\":\"Key\",\"namespace\":"                 \
	"\"ora1.APP.WEBHOOK_OUTBOX\",\"fields\":[" FIELD("ID", NUMBER) "]}"
#define ORA_ROW                                                                \
	"{\"type\":\"record\",\"name\":\"Value\",\"namespace\":"               \
	"\"ora1.APP.WEBHOOK_OUTBOX\",\"fields\":[" FIELD(                      \
	    "ID", NUMBER) "," FIELD("EVENT_TYPE",                              \
	    "\"string\"") "," FIELD("IDEMPOTENCY_KEY",                         \
	    "\"string\"") "," FIELD("TARGET_URL",                              \
	    NULLABLE) "," FIELD("PAYLOAD", NULLABLE) "," FIELD("STATUS",       \
	    NULLABLE) ",{\"name\":\"MAX_RETRIES\",\"type\":[{"                 \
	              "\"type\":\"int\",\"connect.default\":5,\"connect."      \
	              "type\":\"int16\"},"                                     \
	              "\"null\"],\"default\":5},{\"name\":\"CREATED_AT\","     \
	              "\"type\":[\"null\","                                    \
	              "{\"type\":\"long\",\"connect.version\":1,\"connect."    \
	              "name\":"                                                \
	              "\"io.debezium.time.MicroTimestamp\"}],\"default\":"     \
	              "null}]}"
#define ORA_SOURCE                                                             \
	"{\"type\":\"record\",\"name\":\"Source\",\"namespace\":"              \
	"\"io.debezium.connector.oracle\",\"fields\":[" FIELD("connector",     \
	    "\"string\"") ",{\"name\":\"snapshot\",\"type\":[{"                \
	                  "\"type\":\"string\",\"connect.default\":\"false\"}" \
	                  ",\"null\"],"                                        \
	                  "\"default\":\"false\"}," FIELD(                     \
	                      "schema", "\"string\"") "," FIELD("table",       \
	                      "\"string\"") "]}"
#define ORA_ENVELOPE                                                           \
	"{\"type\":\"record\",\"name\":\"Envelope\",\"namespace\":"            \
	"\"ora1.APP.WEBHOOK_OUTBOX\",\"fields\":[{\"name\":\"before\","        \
	"\"type\":[\"null\"," ORA_ROW "],\"default\":null},{\"name\":"         \
	"\"after\",\"type\":[\"null\",\"ora1.APP.WEBHOOK_OUTBOX.Value\"],"     \
	"\"default\":null}," FIELD("source", ORA_SOURCE) "," FIELD(            \
	    "op", "\"string\"") "," FIELD("ts_ms", "[\"null\",\"long\"]") "]}"

/* The spaces part: content id 7 is no text, global id 7 is. */
static const struct {
	const char *key, *text;
} schemas[] = {
    {"content id 41", "\"string\""},
    {"content id 42", NULLABLE},
    {"content id 43", "\"bytes\""},
    {"content id 44", "[\"null\",\"bytes\"]"},
    {"content id 45", PLACED},
    {"content id 46", "{\"type\":\"map\",\"values\":\"int\"}"},
    {"content id 50", ORA_KEY},
    {"content id 51", ORA_ENVELOPE},
    {"content id 7", "{\"type\":\"array\",\"items\":\"int\"}"},
    {"global id 7", NULLABLE},
    {"global id 8", "\"string\""},
    {"global id 4294967296", NULLABLE},
    {"guid dd24e10e-cc2b-8c38-8400-1e7afaf64d54", NULLABLE},
};

struct vector {
	const char *name;
	const char *topic; /* NULL: one of the router */
	const char *key;   /* hex */
	const char *value; /* hex */
	struct br_header headers[6];
	enum br_format format;
	enum br_avro_payload payload;
	const char *detail; /* words of it */
	struct expect expect;
};

#define BYTES(text)                                                            \
	{                                                                      \
		(const uint8_t *)(text), sizeof(text) - 1                      \
	}
#define ROUTED                                                                 \
	.id = ID, .key = ID, .order = "cust-77", .type = "OrderPlaced",        \
	.aggregate = "Order"
#define ID_HEADERS                                                             \
	{"id", BYTES(ID)},                                                     \
	{                                                                      \
		"eventType", BYTES("OrderPlaced")                              \
	}
#define PLAIN_KEY "637573742d3737"
#define KEY_41 "00000000290e" PLAIN_KEY
#define GLOBAL(bytes)                                                          \
	{                                                                      \
		"apicurio.value.globalId", BYTES("\0\0\0\0\0\0\0" bytes)       \
	}
#define BINARY                                                                 \
	{                                                                      \
		"apicurio.value.encoding", BYTES("BINARY")                     \
	}
#define DEAD(why) .result = BR_DECODE_DEAD, .reason = (why)

/* Schema 51: no row before, the row after, the source, op, ts_ms. */
#define ORA_VALUE                                                              \
	"00000000330002000403e9"                                               \
	"186f726465722e706c61636564"                                           \
	"1e6f72642d343731312d706c61636564"                                     \
	"024268747470733a2f2f686f6f6b732e6578616d706c652e746573742f6f72"       \
	"64657273"                                                             \
	"023c" P_HEX "020e50454e44494e47"                                      \
	"000a"                                                                 \
	"02808991e288d2a306"                                                   \
	"0c6f7261636c65"                                                       \
	"000a66616c7365"                                                       \
	"06415050"                                                             \
	"1c574542484f4f4b5f4f5554424f58"                                       \
	"0263"                                                                 \
	"02f4a3d5edee66"

static const struct vector vectors[] = {
    {.name = "13 a nullable string",
        .key = KEY_41,
        .value = "000000002a023c" P_HEX,
        .headers = {ID_HEADERS},
        .expect = {.body = P, .format = "avro", ROUTED}},
    {.name = "13 its null",
        .key = KEY_41,
        .value = "000000002a00",
        .headers = {ID_HEADERS},
        .expect = {DEAD("null-payload"), ROUTED}},
    {.name = "14 just bytes: no length behind the prefix",
        .key = KEY_41,
        .value = "000000002b0a03616263",
        .headers = {ID_HEADERS},
        .expect = {.body = "\x0a\x03"
                           "abc",
            .body_len = 5,
            .format = "avro",
            ROUTED}},
    {.name = "14 nullable bytes: ordinary Avro",
        .key = KEY_41,
        .value = "000000002c020a0a03616263",
        .headers = {ID_HEADERS},
        .expect = {.body = "\x0a\x03"
                           "abc",
            .body_len = 5,
            ROUTED}},
    {.name = "fields beside the payload",
        .key = KEY_41,
        .value = "000000002d023c" P_HEX "164f72646572506c61636564"
                 "023868747470733a2f2f686f6f6b732e6578616d706c652e74657374"
                 "2f61",
        .headers = {{"id", BYTES(ID)}},
        .expect = {.body = P, .url = "https://hooks.example.test/a", ROUTED}},
    {.name = "17 a global id in a header, no prefix",
        .key = PLAIN_KEY,
        .value = "023c" P_HEX,
        .headers = {ID_HEADERS, GLOBAL("\7"), BINARY},
        .expect = {.body = P, .format = "avro", ROUTED}},
    {.name = "17 without its encoding, and one for the key",
        .key = "0e" PLAIN_KEY,
        .value = "023c" P_HEX,
        .headers = {ID_HEADERS, GLOBAL("\7"),
            {"apicurio.key.globalId", BYTES("\0\0\0\0\0\0\0\x8")}},
        .expect = {.body = P, ROUTED}},
    {.name = "17 a content id in a header",
        .key = PLAIN_KEY,
        .value = "023c" P_HEX,
        .headers = {ID_HEADERS,
            {"apicurio.value.contentId", BYTES("\0\0\0\0\0\0\0\x2a")}, BINARY},
        .expect = {.body = P, ROUTED}},
    {.name = "17 Avro as JSON",
        .key = PLAIN_KEY,
        .value = "7b22737472696e67223a2278227d",
        .headers = {ID_HEADERS, GLOBAL("\7"),
            {"apicurio.value.encoding", BYTES("JSON")}},
        .detail = "avro.encoding to BINARY",
        .expect = {DEAD("unsupported-framing"), ROUTED}},
    {.name = "17 the encoding in small letters",
        .key = PLAIN_KEY,
        .value = "023c" P_HEX,
        .headers = {ID_HEADERS, GLOBAL("\7"),
            {"apicurio.value.encoding", BYTES("binary")}},
        .expect = {.body = P, ROUTED}},
    {.name = "17 an encoding that nobody knows",
        .key = PLAIN_KEY,
        .value = "023c" P_HEX,
        .headers = {ID_HEADERS, GLOBAL("\7"),
            {"apicurio.value.encoding", BYTES("SINGLE")}},
        .expect = {DEAD("unsupported-framing"), ROUTED}},
    {.name = "8 bytes before value and key",
        .key = "0000000000000000080e" PLAIN_KEY,
        .value = "000000000000000007023c" P_HEX,
        .headers = {ID_HEADERS},
        .expect = {.body = P, .format = "avro", ROUTED}},
    {.name = "a global id of 33 bits in a header",
        .key = PLAIN_KEY,
        .value = "023c" P_HEX,
        .headers = {ID_HEADERS,
            {"apicurio.value.globalId", BYTES("\0\0\0\1\0\0\0\0")}, BINARY},
        .expect = {.body = P, ROUTED}},
    {.name = "a GUID in a header",
        .key = PLAIN_KEY,
        .value = "023c" P_HEX,
        .headers = {ID_HEADERS, {"__value_schema_id", BYTES("\1" GUID)}},
        .expect = {.body = P, .format = "avro", ROUTED}},
    {.name = "an id in that header",
        .key = "0e" PLAIN_KEY,
        .value = "0a03616263",
        .headers = {ID_HEADERS, {"__value_schema_id", BYTES("\0\0\0\0\x2b")},
            {"__key_schema_id", BYTES("\0\0\0\0\x29")}},
        .expect = {.body = "\x0a\x03"
                           "abc",
            .body_len = 5,
            ROUTED}},
    {.name = "19 a row of Oracle",
        .topic = "ora1.APP.WEBHOOK_OUTBOX",
        .key = "0000000032000403e9",
        .value = ORA_VALUE,
        .expect = {.body = P,
            .format = "envelope",
            .id = "1001",
            .key = "ord-4711-placed",
            .order = "1001",
            .type = "order.placed",
            .aggregate = "APP.WEBHOOK_OUTBOX",
            .url = "https://hooks.example.test/orders",
            .attempts = 5,
            .time = 1767225600123}},
};

/* Each reason that Avro has, and what is left to the bytes themselves. */
static const struct vector reasons[] = {
    {.name = "one byte short",
        .key = KEY_41,
        .value = "000000002a020a01020304",
        .headers = {ID_HEADERS},
        .detail = "content id 42",
        .expect = {DEAD("avro-decode"), ROUTED}},
    {.name = "one byte behind",
        .key = KEY_41,
        .value = "000000002a023c" P_HEX "00",
        .headers = {ID_HEADERS},
        .detail = "left behind the value",
        .expect = {DEAD("avro-decode"), ROUTED}},
    {.name = "no such branch",
        .key = KEY_41,
        .value = "000000002a043c" P_HEX,
        .headers = {ID_HEADERS},
        .detail = "out of range",
        .expect = {DEAD("avro-decode"), ROUTED}},
    {.name = "an id that the registry has not",
        .key = KEY_41,
        .value = "0000000063023c" P_HEX,
        .headers = {ID_HEADERS},
        .detail = "content id 99",
        .expect = {DEAD("schema-not-found"), ROUTED}},
    {.name = "8 bytes are no content id",
        .key = PLAIN_KEY,
        .value = "00000000000000002a023c" P_HEX,
        .headers = {ID_HEADERS},
        .detail = "global id 42",
        .expect = {DEAD("schema-not-found"), ROUTED}},
    {.name = "a map",
        .key = KEY_41,
        .value = "000000002e0202610a00",
        .headers = {ID_HEADERS},
        .expect = {DEAD("avro-record-payload"), ROUTED}},
    {.name = "a map as JSON",
        .key = KEY_41,
        .value = "000000002e0202610a00",
        .headers = {ID_HEADERS},
        .payload = BR_AVRO_PAYLOAD_JSON,
        .expect = {.body = "{\"a\":5}", .format = "avro", ROUTED}},
    {.name = "4 bytes in Apicurio's header",
        .key = PLAIN_KEY,
        .value = "023c" P_HEX,
        .headers = {ID_HEADERS, {"apicurio.value.globalId", BYTES("\0\0\0\7")}},
        .detail = "no 8 bytes",
        .expect = {DEAD("unsupported-framing"), ROUTED}},
    {.name = "half a GUID in a header",
        .key = PLAIN_KEY,
        .value = "023c" P_HEX,
        .headers = {ID_HEADERS,
            {"__value_schema_id", BYTES("\1\xdd\x24\xe1\x0e\xcc\x2b\x8c\x38")}},
        .detail = "neither a GUID nor",
        .expect = {DEAD("unsupported-framing"), ROUTED}},
    {.name = "AWS Glue where Avro is set",
        .key = PLAIN_KEY,
        .value = "0300" GUID_HEX "023c" P_HEX,
        .headers = {ID_HEADERS},
        .format = BR_FORMAT_AVRO,
        .detail = "AWS Glue",
        .expect = {DEAD("unsupported-framing"), ROUTED}},
    {.name = "AWS Glue, compressed, where Avro is set",
        .key = PLAIN_KEY,
        .value = "0305" GUID_HEX "789c",
        .headers = {ID_HEADERS},
        .format = BR_FORMAT_AVRO,
        .detail = "AWS Glue",
        .expect = {DEAD("unsupported-framing"), ROUTED}},
    {.name = "a GUID in front where Avro is set",
        .key = PLAIN_KEY,
        .value = "01" GUID_HEX "023c" P_HEX,
        .headers = {ID_HEADERS},
        .format = BR_FORMAT_AVRO,
        .expect = {.body = P, .format = "avro", ROUTED}},
    {.name = "a GUID in front in auto: opaque bytes of the router",
        .key = PLAIN_KEY,
        .value = "01" GUID_HEX "0241",
        .headers = {ID_HEADERS},
        .expect = {.body = "\1" GUID "\2A", .body_len = 19, ROUTED}},
    {.name = "text where Avro is set",
        .key = PLAIN_KEY,
        .value = P_HEX,
        .headers = {ID_HEADERS},
        .format = BR_FORMAT_AVRO,
        .detail = "no id of a schema",
        .expect = {DEAD("unsupported-framing"), ROUTED}},
    {.name = "AWS Glue that nothing calls an event",
        .topic = "orders",
        .value = "0300" GUID_HEX "023c" P_HEX,
        .expect = {DEAD("unrecognised"), .id = ABSENT}},
    {.name = "Avro that nothing calls an event",
        .topic = "orders",
        .value = "000000002a023c" P_HEX,
        .expect = {DEAD("unrecognised"), .id = ABSENT}},
};

static struct br_registry *registry;

static void
ask(void *opaque, const struct br_schema_key *key)
{
	struct br_registry_reply *reply = calloc(1, sizeof(*reply));
	char text[BR_SCHEMA_KEY_TEXT];

	(void)opaque;
	br_schema_key_text(key, text);
	reply->key = *key;
	reply->outcome = BR_REGISTRY_NONE;
	for (size_t i = 0; i < COUNT(schemas); i++) {
		if (strcmp(schemas[i].key, text) != 0)
			continue;
		reply->outcome = BR_REGISTRY_FOUND;
		reply->text = calloc(1, sizeof(*reply->text));
		reply->text_count = 1;
		br_buffer_str(&reply->text[0], schemas[i].text);
	}
	if (reply->outcome == BR_REGISTRY_NONE)
		br_fail(&reply->why, "answered with 404");
	br_registry_answer(registry, reply, 0);
}

static struct br_slice
from_hex(const char *hex, uint8_t *bytes, size_t size)
{
	size_t len = hex != NULL ? strlen(hex) / 2 : 0;
	unsigned byte;

	assert_true(len <= size);
	for (size_t i = 0; i < len; i++) {
		assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
	return (struct br_slice){hex != NULL ? bytes : NULL, len};
}

/* Decodes; what the registry has not it says three times. */
static void
decode(struct br_decoder *decoder, const struct br_record *record,
    struct br_decoded *out)
{
	int64_t now_ms = 0;

	br_decode(decoder, record, out);
	for (; out->result == BR_DECODE_WAIT; now_ms += 1000) {
		assert_true(now_ms < 10000);
		(void)br_registry_step(registry, now_ms);
		br_decode(decoder, record, out);
	}
}

static void
check_vector(const struct vector *v)
{
	static char *urls[] = {"http://registry/apis/ccompat/v7"};
	struct br_config own = default_config();
	struct br_record record = {.headers = v->headers};
	struct br_decoder *decoder;
	struct br_decoded out;
	uint8_t key[64], value[512];

	print_message("  %s\n", v->name);
	own.registry.url = (struct br_strings){urls, 1};
	own.registry.apicurio_url = "";
	own.registry.id8 = BR_ID_GLOBAL;
	own.source.format = v->format;
	own.source.avro_payload = v->payload;
	own.source.pending_status.count = 1;
	record.topic = v->topic != NULL ? v->topic : "outbox.event.Order";
	record.key = from_hex(v->key, key, sizeof(key));
	record.value = from_hex(v->value, value, sizeof(value));
	while (record.header_count < COUNT(v->headers) &&
	       v->headers[record.header_count].name != NULL)
		record.header_count++;
	registry = br_registry_new(ask, NULL);
	decoder = br_decoder_new(&own);
	br_decoder_use(decoder, registry);
	decode(decoder, &record, &out);
	assert_decoded(&out, &v->expect);
	if (v->detail != NULL && strstr(out.detail, v->detail) == NULL)
		fail_msg("\"%s\" says no \"%s\"", out.detail, v->detail);
	br_decoder_free(decoder);
	br_registry_free(registry);
}

static void
test_vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(vectors); i++)
		check_vector(&vectors[i]);
}

static void
test_reasons(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(reasons); i++)
		check_vector(&reasons[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_vectors),
	    cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
