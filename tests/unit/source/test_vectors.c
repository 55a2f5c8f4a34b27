/* Vectors of records as the router and Connect's converters write them. */
#include "source_support.h"

#define P "{\"orderId\":4711,\"total\":12.50}"
#define ID "9f1c2a52-7d3e-4b8a-9c60-1f2e3d4c5b6a"
#define QUOTED_P "\"{\\\"orderId\\\":4711,\\\"total\\\":12.50}\""
#define STRING_SCHEMA "{\"type\":\"string\",\"optional\":false}"
#define WRAPPED(text) "{\"schema\":" STRING_SCHEMA ",\"payload\":\"" text "\"}"
#define EXPANDED "{\"orderId\":4711,\"total\":12.5,\"tags\":[\"a\",\"b\"]}"

struct vector {
	const char *name;
	const char *topic;
	const char *key;
	struct br_header headers[6];
	const char *value; /* NULL: a null value */
	char *prefix;      /* of source.message_prefixes */
	size_t value_len;  /* 0: strlen */
	enum br_format format;
	struct expect expect;
};

#define ROUTED                                                                 \
	.id = ID, .key = ID, .order = "cust-77", .type = "OrderPlaced",        \
	.aggregate = "Order"

#define BARE_HEADERS                                                           \
	{                                                                      \
		{"id", {(const uint8_t *)ID, 36}},                             \
		{                                                              \
			"eventType",                                           \
			{                                                      \
				(const uint8_t *)"OrderPlaced", 11             \
			}                                                      \
		}                                                              \
	}

#define JSON_HEADERS                                                           \
	{                                                                      \
		{"id", {(const uint8_t *)"\"" ID "\"", 38}},                   \
		{                                                              \
			"eventType",                                           \
			{                                                      \
				(const uint8_t *)"\"OrderPlaced\"", 13         \
			}                                                      \
		}                                                              \
	}

#define BYTES(text)                                                            \
	{                                                                      \
		(const uint8_t *)(text), sizeof(text) - 1                      \
	}

#define ORA_KEY "{\"ID\":{\"scale\":0,\"value\":\"A+k=\"}}"

#define TIMES                                                                  \
	"\"ts_ms\":1767225600250,\"ts_us\":1767225600250000,"                  \
	"\"ts_ns\":1767225600250000000"

#define PG_SOURCE(schema, table)                                               \
	"{\"version\":\"3.2.0.Final\",\"connector\":\"postgresql\","           \
	"\"name\":\"shop\",\"ts_ms\":1767225600000,\"snapshot\":\"false\","    \
	"\"db\":\"shopdb\",\"sequence\":\"[\\\"101\\\",\\\"102\\\"]\","        \
	"\"ts_us\":1767225600000000,\"ts_ns\":1767225600000000000,\"schema\":" \
	"\"" schema "\",\"table\":\"" table "\",\"txId\":901,\"lsn\":40120,"   \
	"\"xmin\":null}"

#define ORA_ROW(payload, status)                                               \
	"{\"ID\":{\"scale\":0,\"value\":\"A+k=\"},\"EVENT_TYPE\":"             \
	"\"order.placed\",\"IDEMPOTENCY_KEY\":\"ord-4711-placed\","            \
	"\"TARGET_URL\":\"https://hooks.example.test/"                         \
	"orders\",\"PAYLOAD\":" payload ",\"STATUS\":\"" status                \
	"\",\"RETRY_COUNT\":0,\"MAX_RETRIES\":"                                \
	"5,\"NEXT_RETRY_AT\":null,\"LAST_ERROR\":null,\"CREATED_AT\":"         \
	"1767225600123456,\"UPDATED_AT\":null}"

#define ORA(before, after, snapshot, op)                                       \
	"{\"before\":" before ",\"after\":" after ",\"source\":{\"version\":"  \
	"\"3.2.0.Final\",\"connector\":\"oracle\",\"name\":\"ora1\",\"ts_"     \
	"ms\":"                                                                \
	"1767225600000,\"snapshot\":\"" snapshot "\",\"db\":\"ORCLPDB1\","     \
	"\"sequence\":null,\"schema\":\"APP\",\"table\":\"WEBHOOK_OUTBOX\","   \
	"\"txId\":\"0600200003a1b2c3\",\"scn\":\"7654321\",\"ssn\":0,"         \
	"\"user_name\":\"APP\"},\"transaction\":null,\"op\":\"" op "\"," TIMES \
	"}"

#define ORA_EVENT                                                              \
	{                                                                      \
		.body = P, .format = "envelope", .id = "1001",                 \
		.key = "ord-4711-placed", .order = "1001",                     \
		.type = "order.placed", .aggregate = "APP.WEBHOOK_OUTBOX",     \
		.url = "https://hooks.example.test/orders", .attempts = 5,     \
		.time = 1767225600123                                          \
	}

#define GONE "\"__debezium_unavailable_value\""

/* {"id":ID,"aggregatetype":"Order","aggregateid":"cust-77",
 * "type":"OrderPlaced","payload":P} in base64 */
#define MESSAGE                                                                \
	"{\"op\":\"m\",\"ts_ms\":1767225600250,\"source\":" PG_SOURCE(         \
	    "", "") ",\"message\":{\"prefix\":\"outbox\",\"content\":\""       \
	            "eyJpZCI6IjlmMWMyYTUyLTdkM2UtNGI4YS05YzYwLTFmMmUzZDRjNWI2" \
	            "YSIsImFn"                                                 \
	            "Z3JlZ2F0ZXR5cGUiOiJPcmRlciIsImFnZ3JlZ2F0ZWlkIjoiY3VzdC03" \
	            "NyIsInR5"                                                 \
	            "cGUiOiJPcmRlclBsYWNlZCIsInBheWxvYWQiOiJ7XCJvcmRlcklkXCI6" \
	            "NDcxMSxc"                                                 \
	            "InRvdGFsXCI6MTIuNTB9In0=\"}}"

static const struct vector vectors[] = {
    {.name = "01 StringConverter",
        .topic = "outbox.event.Order",
        .key = "cust-77",
        .headers = BARE_HEADERS,
        .value = P,
        .expect = {.body = P, .format = "string", ROUTED}},
    {.name = "02 JsonConverter without schemas",
        .topic = "outbox.event.Order",
        .key = "\"cust-77\"",
        .headers = JSON_HEADERS,
        .value = QUOTED_P,
        .expect = {.body = P, .format = "json", ROUTED}},
    {.name = "03 JsonConverter with schemas",
        .topic = "outbox.event.Order",
        .key = WRAPPED("cust-77"),
        .headers = {{"id", BYTES("{\"schema\":{\"type\":\"string\","
                                 "\"optional\":false,\"name\":"
                                 "\"io.debezium.data.Uuid\",\"version\":1},"
                                 "\"payload\":\"" ID "\"}")},
            {"eventType", BYTES(WRAPPED("OrderPlaced"))}},
        .value =
            "{\"schema\":{\"type\":\"string\",\"optional\":true,\"name\":"
            "\"io.debezium.data.Json\",\"version\":1},\"payload\":" QUOTED_P
            "}",
        .expect = {.body = P, .format = "json_schema", ROUTED}},
    {.name = "04 expanded JSON",
        .topic = "outbox.event.Order",
        .key = "\"cust-77\"",
        .headers = JSON_HEADERS,
        .value = EXPANDED,
        .expect = {.body = EXPANDED, ROUTED}},
    {.name = "06 envelope placement",
        .topic = "outbox.event.Order",
        .key = "\"cust-77\"",
        .headers = {{"id", BYTES("\"" ID "\"")}},
        .value =
            "{\"payload\":\"{\\\"a\\\":1,\\\"big\\\":12345678901234567890.10}"
            "\",\"eventType\":\"OrderPlaced\",\"target_url\":"
            "\"https://hooks.example.test/a\",\"max_retries\":3}",
        .expect = {.body = "{\"a\":1,\"big\":12345678901234567890.10}",
            .url = "https://hooks.example.test/a",
            .attempts = 3,
            ROUTED}},
    {.name = "09 the router's tombstone",
        .topic = "outbox.event.Order",
        .key = "cust-77",
        .headers = BARE_HEADERS,
        .expect = {.result = BR_DECODE_DEAD, .reason = "null-payload", ROUTED}},
    {.name = "10 bare tombstone",
        .topic = "ora1.APP.WEBHOOK_OUTBOX",
        .key = ORA_KEY,
        .expect = {.result = BR_DECODE_SKIP,
            .reason = "tombstone",
            .order = "1001"}},
    {.name = "11 null by JsonConverter",
        .topic = "outbox.event.Order",
        .key = "\"cust-77\"",
        .headers = JSON_HEADERS,
        .value = "null",
        .expect = {.result = BR_DECODE_DEAD, .reason = "null-payload", ROUTED}},
    {.name = "12 opaque bytes",
        .topic = "outbox.event.Order",
        .key = "cust-77",
        .headers = BARE_HEADERS,
        .value = "\x0a\x03\x61\x62\x63\x00\x01\xff",
        .value_len = 8,
        .format = BR_FORMAT_BYTES,
        .expect = {.body = "\x0a\x03\x61\x62\x63\x00\x01\xff",
            .body_len = 8,
            .format = "bytes",
            ROUTED}},
    {.name = "12 opaque bytes in auto",
        .topic = "outbox.event.Order",
        .key = "cust-77",
        .headers = BARE_HEADERS,
        .value = "\x0a\x03\x61\x62\x63\x00\x01\xff",
        .value_len = 8,
        .expect = {.body = "\x0a\x03\x61\x62\x63\x00\x01\xff",
            .body_len = 8,
            .format = "bytes",
            ROUTED}},
    {.name = "33 heartbeat",
        .topic = "__debezium-heartbeat.ora1",
        .key = "{\"serverName\":\"ora1\"}",
        .value = "{\"ts_ms\":1767225600000}",
        .expect = {.result = BR_DECODE_SKIP, .reason = "heartbeat"}},
    {.name = "33 heartbeat on a topic of another name",
        .topic = "beats",
        .key = "{\"serverName\":\"ora1\"}",
        .value = "{\"ts_ms\":1767225600000}",
        .expect = {.result = BR_DECODE_SKIP, .reason = "heartbeat"}},
    {.name = "34 transaction metadata",
        .topic = "ora1.transaction",
        .key = "{\"id\":\"0600200003a1b2c3\"}",
        .value = "{\"status\":\"END\",\"id\":\"0600200003a1b2c3\","
                 "\"event_count\":1,\"data_collections\":[{"
                 "\"data_collection\":\"ORCLPDB1.APP.WEBHOOK_OUTBOX\","
                 "\"event_count\":1}],\"ts_ms\":1767225600000}",
        .expect = {.result = BR_DECODE_SKIP,
            .reason = "transaction-metadata",
            .order = "0600200003a1b2c3"}},
    {.name = "40 truncated",
        .topic = "outbox.event.Order",
        .key = "\"cust-77\"",
        .headers = JSON_HEADERS,
        .value = "\"{\\\"orderId\\\":47",
        .format = BR_FORMAT_JSON,
        .expect = {.result = BR_DECODE_DEAD, .reason = "json-syntax", ROUTED}},
    {.name = "42 no id",
        .topic = "outbox.event.Order",
        .key = "cust-77",
        .headers = {{"eventType", BYTES("OrderPlaced")}},
        .value = P,
        .format = BR_FORMAT_STRING,
        .expect = {.result = BR_DECODE_DEAD,
            .reason = "missing-id",
            .id = ABSENT,
            .key = ABSENT,
            .type = "OrderPlaced"}},
    {.name = "17 Avro with a registry header, without a registry",
        .topic = "outbox.event.Order",
        .key = "cust-77",
        .headers = {{"id", BYTES(ID)},
            {"apicurio.value.globalId", BYTES("\0\0\0\0\0\0\0\7")}},
        .value = "\x02\x3c" P,
        .expect = {.result = BR_DECODE_DEAD, .reason = "unrecognised"}},
    {.name = "20 raw envelope of PostgreSQL",
        .topic = "shop.public.outboxevent",
        .key = "{\"id\":\"" ID "\"}",
        .value = "{\"before\":null,\"after\":{\"id\":\"" ID
                 "\",\"aggregatetype\":\"Order\",\"aggregateid\":"
                 "\"cust-77\",\"type\":\"OrderPlaced\",\"payload\":" QUOTED_P
                 "},\"source\":" PG_SOURCE(
                     "public", "outboxevent") ",\"transaction\":{\"id\":\"901:"
                                              "40120\",\"total_order\":1,"
                                              "\"data_collection_order\":1},"
                                              "\"op\":\"c\"," TIMES "}",
        .expect = {.body = P, .format = "envelope", ROUTED}},
    {.name = "21 raw envelope of Oracle, precise",
        .topic = "ora1.APP.WEBHOOK_OUTBOX",
        .key = ORA_KEY,
        .value = ORA("null", ORA_ROW(QUOTED_P, "PENDING"), "false", "c"),
        .expect = ORA_EVENT},
    {.name = "23 a CLOB that LogMiner left out",
        .topic = "ora1.APP.WEBHOOK_OUTBOX",
        .key = ORA_KEY,
        .value = ORA("null", ORA_ROW("null", "PENDING"), "false", "c"),
        .expect = {.result = BR_DECODE_DEAD,
            .reason = "payload-unavailable",
            .id = "1001",
            .key = "ord-4711-placed",
            .order = "1001"}},
    {.name = "25 status update",
        .topic = "ora1.APP.WEBHOOK_OUTBOX",
        .key = ORA_KEY,
        .value = ORA(ORA_ROW(GONE, "PENDING"), ORA_ROW(GONE, "PROCESSING"),
            "false", "u"),
        .expect = {.result = BR_DECODE_SKIP, .reason = "op-update"}},
    {.name = "26 delete",
        .topic = "ora1.APP.WEBHOOK_OUTBOX",
        .key = ORA_KEY,
        .value = ORA(ORA_ROW(QUOTED_P, "PENDING"), "null", "false", "d"),
        .expect = {.result = BR_DECODE_SKIP, .reason = "op-delete"}},
    {.name = "28 snapshot of a pending row",
        .topic = "ora1.APP.WEBHOOK_OUTBOX",
        .key = ORA_KEY,
        .value = ORA("null", ORA_ROW(QUOTED_P, "PENDING"), "last", "r"),
        .expect = ORA_EVENT},
    {.name = "30 ExtractNewRecordState, double, lower case",
        .topic = "ora1.APP.WEBHOOK_OUTBOX",
        .key = "{\"id\":1001.0}",
        .value =
            "{\"id\":1001.0,\"event_type\":\"order.placed\","
            "\"idempotency_key\":\"ord-4711-placed\",\"target_url\":"
            "\"https://hooks.example.test/orders\",\"payload\":" QUOTED_P
            ",\"status\":\"PENDING\",\"retry_count\":0,\"max_retries\":5.0,"
            "\"next_retry_at\":null,\"last_error\":null,\"created_at\":"
            "1767225600123456,\"updated_at\":null,\"__deleted\":\"false\","
            "\"__op\":\"c\",\"__source_ts_ms\":1767225600000}",
        .expect = {.body = P,
            .format = "flattened",
            .id = "1001",
            .key = "ord-4711-placed",
            .type = "order.placed",
            .url = "https://hooks.example.test/orders",
            .attempts = 5,
            .time = 1767225600123}},
    {.name = "32 logical message with a prefix that is listed",
        .topic = "shop.message",
        .key = "{\"prefix\":\"outbox\"}",
        .value = MESSAGE,
        .prefix = "outbox",
        .expect = {.body = P,
            .id = ID,
            .key = ID,
            .order = "cust-77",
            .type = "OrderPlaced",
            .aggregate = "Order"}},
    {.name = "32 logical message with another prefix",
        .topic = "shop.message",
        .key = "{\"prefix\":\"outbox\"}",
        .value = MESSAGE,
        .expect = {.result = BR_DECODE_SKIP, .reason = "op-message"}},
    {.name = "36 CloudEventsConverter behind the router",
        .topic = "outbox.event.Order",
        .key = "cust-77",
        .headers = {{"id", BYTES("\"" ID "\"")},
            {"type", BYTES("\"OrderPlaced\"")}, {"op", BYTES("\"c\"")}},
        .value = "{\"id\":\"" ID "\",\"source\":\"/debezium/oracle/ora1\","
                 "\"specversion\":\"1.0\",\"type\":\"OrderPlaced\",\"time\":"
                 "\"2026-01-01T00:00:00.000Z\",\"datacontenttype\":"
                 "\"application/json\",\"iodebeziumop\":\"c\","
                 "\"iodebeziumconnector\":\"oracle\",\"data\":"
                 "{\"orderId\":4711,\"total\":12.5}}",
        .expect = {.body = "{\"orderId\":4711,\"total\":12.5}",
            .format = "cloudevents",
            .content = "application/json",
            .time = 1767225600000,
            ROUTED}},
    {.name = "37 CloudEvent in binary mode",
        .topic = "orders",
        .key = "cust-77",
        .headers = {{"ce_specversion", BYTES("1.0")}, {"ce_id", BYTES(ID)},
            {"ce_source", BYTES("/shop")}, {"ce_type", BYTES("OrderPlaced")},
            {"ce_time", BYTES("2026-01-01T00:00:00Z")},
            {"content-type", BYTES("application/json")}},
        .value = P,
        .expect = {.body = P,
            .format = "cloudevents",
            .id = ID,
            .key = ID,
            .order = "cust-77",
            .type = "OrderPlaced",
            .content = "application/json",
            .time = 1767225600000}},
    {.name = "38 GoldenGate, operation format",
        .topic = "APP.WEBHOOK_OUTBOX",
        .key = "1001",
        .value =
            "{\"table\":\"APP.WEBHOOK_OUTBOX\",\"op_type\":\"I\",\"op_ts\":"
            "\"2026-01-01 00:00:00.000000\",\"current_ts\":"
            "\"2026-01-01T00:00:01.250000\",\"pos\":\"00000000010000004338\","
            "\"after\":{\"ID\":1001,\"EVENT_TYPE\":\"order.placed\","
            "\"IDEMPOTENCY_KEY\":\"ord-4711-placed\",\"TARGET_URL\":"
            "\"https://hooks.example.test/orders\",\"PAYLOAD\":" QUOTED_P
            ",\"STATUS\":\"PENDING\",\"MAX_RETRIES\":5,\"CREATED_AT\":"
            "\"2026-01-01 00:00:00.123456000\"}}",
        .expect = {.body = P,
            .format = "goldengate",
            .id = "1001",
            .key = "ord-4711-placed",
            .order = "1001",
            .type = "order.placed",
            .aggregate = "APP.WEBHOOK_OUTBOX",
            .url = "https://hooks.example.test/orders",
            .attempts = 5,
            .time = 1767225600123}},
};

static void
test_vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(vectors); i++) {
		const struct vector *v = &vectors[i];
		struct br_config own = default_config();
		char *prefix[] = {v->prefix};
		struct br_strings prefixes = {prefix, 1};
		struct br_record record = {.topic = v->topic,
		    .key = br_slice_str(v->key),
		    .value = br_slice_str(v->value),
		    .headers = v->headers};

		print_message("  %s\n", v->name);
		while (record.header_count < 6 &&
		       v->headers[record.header_count].name != NULL)
			record.header_count++;
		if (v->value_len > 0)
			record.value.len = v->value_len;
		own.source.format = v->format;
		own.source.pending_status.count = 1;
		if (v->prefix != NULL)
			own.source.message_prefixes = prefixes;
		check_record(&own, &record, &v->expect);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
