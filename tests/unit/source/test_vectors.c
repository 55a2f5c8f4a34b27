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
	struct br_header headers[3];
	const char *value; /* NULL: a null value */
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
    {.name = "20 raw envelope: a later version reads it",
        .topic = "shop.public.outboxevent",
        .key = "{\"id\":\"" ID "\"}",
        .value =
            "{\"before\":null,\"after\":{\"id\":\"" ID "\",\"payload\":\"{}\"},"
            "\"source\":{\"connector\":\"postgresql\"},\"op\":\"c\",\"ts_ms\":"
            "1767225600250}",
        .expect = {.result = BR_DECODE_DEAD,
            .reason = "unrecognised",
            .order = ID}},
    {.name = "36 CloudEvent behind the router: likewise",
        .topic = "outbox.event.Order",
        .key = "cust-77",
        .headers = JSON_HEADERS,
        .value = "{\"id\":\"" ID "\",\"source\":\"/debezium/oracle/ora1\","
                 "\"specversion\":\"1.0\",\"type\":\"OrderPlaced\",\"data\":"
                 "{\"orderId\":4711}}",
        .expect = {.result = BR_DECODE_DEAD, .reason = "unrecognised"}},
    {.name = "37 CloudEvent in binary mode: likewise",
        .topic = "orders",
        .key = "cust-77",
        .headers = {{"ce_specversion", BYTES("1.0")}, {"ce_id", BYTES(ID)},
            {"content-type", BYTES("Application/CloudEvents+json")}},
        .value = P,
        .expect = {.result = BR_DECODE_DEAD, .reason = "unrecognised"}},
    {.name = "17 Avro with a registry header: likewise",
        .topic = "outbox.event.Order",
        .key = "cust-77",
        .headers = {{"id", BYTES(ID)},
            {"apicurio.value.globalId", BYTES("\0\0\0\0\0\0\0\7")}},
        .value = "\x02\x3c" P,
        .expect = {.result = BR_DECODE_DEAD, .reason = "unrecognised"}},
    {.name = "30 flattened row: likewise",
        .topic = "ora1.APP.WEBHOOK_OUTBOX",
        .key = "{\"id\":1001.0}",
        .value = "{\"ID\":1001.0,\"PAYLOAD\":\"{}\",\"STATUS\":\"PENDING\"}",
        .expect = {.result = BR_DECODE_DEAD,
            .reason = "unrecognised",
            .order = "1001.0"}},
    {.name = "38 GoldenGate: likewise",
        .topic = "APP.WEBHOOK_OUTBOX",
        .key = "1001",
        .value = "{\"table\":\"APP.WEBHOOK_OUTBOX\",\"op_type\":\"I\","
                 "\"op_ts\":\"2026-01-01 00:00:00\",\"after\":{\"ID\":1001}}",
        .expect = {.result = BR_DECODE_DEAD,
            .reason = "unrecognised",
            .order = "1001"}},
};

static void
test_vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(vectors); i++) {
		const struct vector *v = &vectors[i];
		struct br_config own = default_config();
		struct br_record record = {.topic = v->topic,
		    .key = br_slice_str(v->key),
		    .value = br_slice_str(v->value),
		    .headers = v->headers};

		print_message("  %s\n", v->name);
		while (record.header_count < 3 &&
		       v->headers[record.header_count].name != NULL)
			record.header_count++;
		if (v->value_len > 0)
			record.value.len = v->value_len;
		own.source.format = v->format;
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
