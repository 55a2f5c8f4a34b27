/*
 * What a row's payload may be, times, Connect schemas, logical messages, and
 * formats that are said rather than found.
 */
#include "bridge/source/schema.h"
#include "bridge/source/times.h"

#include "row_support.h"

#define GONE "__debezium_unavailable_value"
#define GONE64 "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="

static const char *
with_payload(const char *payload)
{
	return text("{\"ID\":\"a\",\"PAYLOAD\":%s}", payload);
}

static const struct {
	const char *payload; /* JSON */
	const char *body;    /* NULL: dead */
	const char *reason;
	bool json;
} payload_cases[] = {
    {QUOTED_P, P, NULL, true},
    {"\"\\u0041\\n\\uD83D\\uDE00\"", "A\n\xf0\x9f\x98\x80", NULL, false},
    {"{ \"a\" : 1.50, \"a\":[ ] }", "{ \"a\" : 1.50, \"a\":[ ] }", NULL, true},
    {"[1, \"\\ud800\"]", "[1, \"\\ud800\"]", NULL, true},
    {"12345678901234567890.10", "12345678901234567890.10", NULL, true},
    {"true", "true", NULL, true},
    {"\"null\"", "null", NULL, true},
    {"\"{}\"", "{}", NULL, true},
    {"\"\"", NULL, "empty-value", false},
    {"null", NULL, "null-payload", false},
    {"\"\\ud800\"", NULL, "json-syntax", false},
    {"\"" GONE "\"", NULL, "payload-unavailable", false},
    {"\"" GONE64 "\"", NULL, "payload-unavailable", false},
    {"{\"a\":[\"" GONE "\"]}", NULL, "payload-unavailable", false},
    {"\"{\\\"a\\\":\\\"" GONE "\\\"}\"", NULL, "payload-unavailable", false},
    {"\"a " GONE "\"", "a " GONE, NULL, false},
    {"{\"" GONE "\":1}", "{\"" GONE "\":1}", NULL, true},
};

static void
test_payloads(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(payload_cases); i++) {
		struct expect e = {.body = payload_cases[i].body,
		    .reason = payload_cases[i].reason,
		    .key = "a"};
		struct br_record record = {.topic = "t"};
		struct br_decoder *d = br_decoder_new(&config);
		struct br_decoded out;

		print_message("  %s\n", payload_cases[i].payload);
		if (e.reason != NULL)
			e.result = BR_DECODE_DEAD;
		check_value(with_payload(payload_cases[i].payload), &e);
		record.value = br_slice_str(change(
		    "postgresql", "c", with_payload(payload_cases[i].payload)));
		br_decode(d, &record, &out);
		assert_decoded(&out, &e);
		assert_int_equal(out.body_is_json, payload_cases[i].json);
		br_decoder_free(d);
	}
	/* A placeholder beside the payload is nobody's business. */
	check_value("{\"id\":\"a\",\"payload\":\"{}\",\"note\":\"" GONE "\"}",
	    &(struct expect){.body = "{}"});
}

/* Oracle leaves CLOBs out; a null from there is never the real one. */
static void
test_oracle(void **state)
{
	const char *snapshot = change("oracle", "r", with_payload("null"));

	(void)state;
	check_dead(
	    change("oracle", "c", with_payload("null")), "payload-unavailable");
	check_dead(
	    change("oracle", "c", "{\"ID\":\"a\"}"), "payload-unavailable");
	check_dead(change("mysql", "c", "{\"ID\":\"a\"}"), "unrecognised");
	check_dead(snapshot, "null-payload");
	check_dead("{\"id\":\"a\",\"payload\":null,\"__connector\":"
	           "\"oracle\",\"__op\":\"c\"}",
	    "payload-unavailable");
	check_dead("{\"specversion\":\"1.0\",\"id\":\"name:x;\",\"source\":"
	           "\"/debezium/oracle/o\",\"type\":\"t\",\"iodebeziumop\":"
	           "\"c\",\"data\":{\"before\":null,\"after\":{\"ID\":\"a\","
	           "\"PAYLOAD\":null}}}",
	    "payload-unavailable");
	config.source.on_null_payload = BR_ON_NULL_SEND_EMPTY;
	check_dead(
	    change("oracle", "c", with_payload("null")), "payload-unavailable");
	check_value(snapshot, &(struct expect){.key = "a", .body = ""});
	config.source.on_null_payload = BR_ON_NULL_SKIP;
	check_skip(snapshot, "null-payload");
	check_skip(with_payload("\"\""), "null-payload");
}

static void
test_goldengate(void **state)
{
#define HEAD                                                                   \
	"{\"table\":\"A.T\",\"op_type\":\"%s\",\"op_ts\":"                     \
	"\"2026-01-01 00:00:00.500000\","

	(void)state;
	check_value(
	    text(HEAD "\"after\":{\"ID\":\"a\",\"PAYLOAD\":\"x\"}}", "I"),
	    &(struct expect){
	        .body = "x", .format = "goldengate", .time = 1767225600500});
	check_value(text(HEAD "\"ID\":\"a\",\"PAYLOAD\":\"x\"}", "I"),
	    &(struct expect){.body = "x", .key = "a"});
	check_skip(
	    text(HEAD "\"ID\":\"a\",\"PAYLOAD\":\"x\"}", "D"), "op-delete");
	check_skip(text(HEAD "\"before\":{},\"after\":{}}", "U"), "op-update");
	check_skip(text(HEAD "\"pos\":\"1\"}", "T"), "op-truncate");
	check_dead(text(HEAD "\"after\":{}}", "X"), "envelope-malformed");
	check_dead(text(HEAD "\"before\":{}}", "I"), "envelope-malformed");
	check_dead(text(HEAD "\"after\":{\"ID\":\"a\",\"PAYLOAD\":null,"
	                     "\"PAYLOAD_isMissing\":true}}",
	               "I"),
	    "payload-unavailable");
	check_dead(text(HEAD "\"after\":{\"ID\":\"a\",\"PAYLOAD\":null,"
	                     "\"PAYLOAD_isMissing\":false}}",
	               "I"),
	    "null-payload");
#undef HEAD
}

/* ---- times */

static const struct {
	const char *created; /* JSON */
	int64_t ms;
} time_cases[] = {
    {"20454", 1767225600000},
    {"1767225600", 1767225600000},
    {"1767225600123", 1767225600123},
    {"1767225600123456", 1767225600123},
    {"1767225600123456789", 1767225600123},
    {"\"1767225600123\"", 1767225600123},
    {"1767225600123.0", 1767225600123},
    {"\"2026-01-01T00:00:00Z\"", 1767225600000},
    {"\"2026-01-01T00:00:00.123456Z\"", 1767225600123},
    {"\"2026-01-01 00:00:00.123456000\"", 1767225600123},
    {"\"2026-01-01T02:30:00.5+02:30\"", 1767225600500},
    {"\"2025-12-31T22:00:00-0200\"", 1767225600000},
    {"\"2026-01-01\"", 1767225600000},
    {"\"2024-02-29T00:00\"", 1709164800000},
    {"\"1969-12-31T23:59:59.999Z\"", -1},
    {"{\"scale\":0,\"value\":\"AZt22qh7\"}", 1767225600123},
    /* no times: the connector's own */
    {"null", 1767225600000},
    {"\"yesterday\"", 1767225600000},
    {"\"2026-13-01T00:00:00Z\"", 1767225600000},
    {"\"2026-01-01T00:00:00Zx\"", 1767225600000},
    {"1.5", 1767225600000},
    {"{}", 1767225600000},
};

static void
test_times(void **state)
{
	static const char row[] =
	    "{\"id\":\"a\",\"payload\":\"x\",\"__source_ts_ms\":12345678901234,"
	    "\"__ts_ms\":5}";

	(void)state;
	for (size_t i = 0; i < COUNT(time_cases); i++) {
		print_message("  %s\n", time_cases[i].created);
		check_value(
		    change("postgresql", "c",
		        text("{\"id\":\"a\",\"payload\":\"x\",\"CREATED_AT\":"
		             "%s}",
		            time_cases[i].created)),
		    &(struct expect){.time = time_cases[i].ms});
	}
	check_value(row, &(struct expect){.time = 12345678901234});
	check_value("{\"id\":\"a\",\"payload\":\"x\",\"__ts_ms\":5}",
	    &(struct expect){.time = 5});
	check_value(
	    "{\"id\":\"a\",\"payload\":\"x\"}", &(struct expect){.time = 77});
	check_value("{\"source\":{},\"op\":\"c\",\"after\":{\"id\":\"a\","
	            "\"payload\":\"x\"},\"ts_ms\":123}",
	    &(struct expect){.time = 123});
}

static void
test_time_numbers(void **state)
{
	int64_t ms;

	(void)state;
	assert_true(br_times_number(-1, BR_TIME_MICROS, &ms));
	assert_int_equal(ms, -1);
	assert_true(br_times_number(-1000001, BR_TIME_NANOS, &ms));
	assert_int_equal(ms, -2);
	assert_true(br_times_number(999999, BR_TIME_BY_SIZE, &ms));
	assert_int_equal(ms, INT64_C(86399913600000));
	assert_true(br_times_number(1000000, BR_TIME_BY_SIZE, &ms));
	assert_int_equal(ms, 1000000000);
	assert_true(br_times_number(-99999999999, BR_TIME_BY_SIZE, &ms));
	assert_int_equal(ms, INT64_C(-99999999999000));
	assert_true(br_times_number(100000000000, BR_TIME_BY_SIZE, &ms));
	assert_int_equal(ms, 100000000000);
	assert_true(br_times_number(99999999999999, BR_TIME_BY_SIZE, &ms));
	assert_int_equal(ms, INT64_C(99999999999999));
	assert_true(br_times_number(100000000000000, BR_TIME_BY_SIZE, &ms));
	assert_int_equal(ms, 100000000000);
	assert_true(
	    br_times_number(INT64_C(100000000000000000), BR_TIME_BY_SIZE, &ms));
	assert_int_equal(ms, 100000000000);
	assert_true(br_times_number(INT64_MIN, BR_TIME_BY_SIZE, &ms));
	assert_false(br_times_number(INT64_MAX, BR_TIME_DAYS, &ms));
}

/* ---- schemas of Kafka Connect */

#define FIELD(type, name, more)                                                \
	"{\"type\":\"" type "\",\"optional\":true," more "\"field\":\"" name   \
	"\"}"
#define DECIMAL(scale)                                                         \
	"\"name\":\"org.apache.kafka.connect.data.Decimal\",\"version\":1,"    \
	"\"parameters\":{\"scale\":\"" scale "\"},"
#define NAMED(name) "\"name\":\"" name "\","

static const char *
schema_of(const char *fields)
{
	return text(
	    "{\"type\":\"struct\",\"fields\":[{\"type\":\"struct\","
	    "\"fields\":[" FIELD("int32", "CREATED_AT",
	        "") "],"
	            "\"name\":\"p.APP.T.Value\",\"field\":\"before\"},{"
	            "\"type\":"
	            "\"struct\",\"fields\":[%s],\"name\":\"p.APP.T.Value\","
	            "\"field\":\"after\"},{\"type\":\"string\",\"field\":"
	            "\"op\"}],\"name\":\"p.APP.T.Envelope\"}",
	    fields);
}

static void
check_schema(const char *fields, const char *row, const struct expect *e)
{
	const char *flat =
	    text("{\"schema\":{\"type\":\"struct\",\"fields\":[%s],\"name\":"
	         "\"p.APP.T.Value\"},\"payload\":%s}",
	        fields, row);
	const char *raw = text("{\"schema\":%s,\"payload\":%s}",
	    schema_of(fields), change("postgresql", "c", row));

	check_value(raw, e);
	config.source.format = BR_FORMAT_ENVELOPE;
	check_value(raw, e);
	config.source.format = BR_FORMAT_FLATTENED;
	check_value(flat, e);
	config.source.format = BR_FORMAT_AUTO;
	check_value(flat, e);
}

static void
test_schemas(void **state)
{
	static const char id[] = "{\"ID\":\"A+k=\",\"PAYLOAD\":\"x\"}";
	static const char time[] =
	    "{\"ID\":\"a\",\"PAYLOAD\":\"x\",\"CREATED_AT\":86400000}";
	static const char days[] =
	    "{\"ID\":\"a\",\"PAYLOAD\":\"x\",\"CREATED_AT\":2000000}";

	(void)state;
	check_schema(FIELD("bytes", "ID", DECIMAL("0")) "," FIELD(
	                 "string", "PAYLOAD", ""),
	    id, &(struct expect){.id = "1001", .body = "x"});
	check_schema(FIELD("bytes", "ID", DECIMAL("3")), id,
	    &(struct expect){.result = BR_DECODE_DEAD, .reason = "lossy-id"});
	check_schema(FIELD("string", "ID", ""), id,
	    &(struct expect){.id = "A+k=", .key = "A+k="});
	check_schema(
	    FIELD("int64", "CREATED_AT", NAMED("io.debezium.time.Timestamp")),
	    time, &(struct expect){.time = 86400000});
	check_schema(FIELD("int64", "CREATED_AT",
	                 NAMED("io.debezium.time.MicroTimestamp")),
	    time, &(struct expect){.time = 86400});
	check_schema(FIELD("int64", "CREATED_AT",
	                 NAMED("io.debezium.time.NanoTimestamp")),
	    time, &(struct expect){.time = 86});
	check_schema(FIELD("int64", "CREATED_AT",
	                 NAMED("org.apache.kafka.connect.data.Timestamp")),
	    time, &(struct expect){.time = 86400000});
	check_schema(FIELD("int32", "CREATED_AT",
	                 NAMED("org.apache.kafka.connect.data.Date")),
	    days, &(struct expect){.time = INT64_C(172800000000000)});
	check_schema(FIELD("int64", "CREATED_AT", ""), time,
	    &(struct expect){.time = 86400000000});
}

/* Schemas are remembered; ten of one length must not be mixed up. */
static void
test_many_schemas(void **state)
{
	struct br_decoder *d = br_decoder_new(&config);

	(void)state;
	for (int i = 0; i < 60; i++) {
		const char *scale = i % 2 == 0 ? DECIMAL("0") : DECIMAL("1");
		const char *field =
		    text("{\"type\":\"bytes\",%s\"doc\":\"%d\",\"field\":"
		         "\"ID\"}",
		        scale, i % 10);
		struct br_record record = {.topic = "t"};
		struct br_decoded out;

		record.value = br_slice_str(
		    text("{\"schema\":%s,\"payload\":%s}", schema_of(field),
		        change("mysql", "c",
		            "{\"ID\":\"A+g=\",\"PAYLOAD\":\"x\"}")));
		br_decode(d, &record, &out);
		assert_decoded(
		    &out, &(struct expect){.id = i % 2 == 0 ? "1000" : "100"});
	}
	br_decoder_free(d);
}

static void
test_schema_columns(void **state)
{
	struct br_schemas *s = br_schemas_new();
	const char *field = FIELD("bytes", "ID", DECIMAL("3"));
	struct br_slice schema = br_slice_str(schema_of(field));
	struct br_slice id = br_slice_str("ID");
	struct br_schema_column column;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_false(br_schemas_column(s, schema, NULL, id, &column));
		assert_false(
		    br_schemas_column(s, schema, "before", id, &column));
		assert_true(br_schemas_column(s, schema, "after", id, &column));
		assert_true(column.decimal && column.scale == 3);
		assert_false(br_schemas_column(
		    s, schema, "after", br_slice_str("id"), &column));
	}
	assert_false(
	    br_schemas_column(s, br_slice_str("null"), "after", id, &column));
	assert_false(br_schemas_column(
	    s, br_slice_str("{\"fields\":{}}"), NULL, id, &column));
	assert_false(br_schemas_column(
	    s, (struct br_slice){NULL, 0}, NULL, id, &column));
	assert_false(br_schemas_column(NULL, schema, "after", id, &column));
	assert_text("name", br_schema_name(schema), "p.APP.T.Envelope");
	br_schemas_free(s);
}

/* ---- logical messages */

static void
check_message(const char *content, const struct expect *e)
{
	check_value(text("{\"op\":\"m\",\"ts_ms\":9,\"source\":{\"schema\":"
	                 "\"\",\"table\":\"\"},\"message\":{\"prefix\":\"o\","
	                 "\"content\":%s}}",
	                content),
	    e);
}

static void
test_messages(void **state)
{
	static char *prefixes[] = {"a", "o"};
	struct expect e = {.body = "?>", .key = "a", .format = "envelope"};
	struct expect dead = {
	    .result = BR_DECODE_DEAD, .reason = "envelope-malformed"};

	(void)state;
	check_message("\"e30=\"",
	    &(struct expect){.result = BR_DECODE_SKIP, .reason = "op-message"});
	config.source.message_prefixes = (struct br_strings){prefixes, 2};
	/* {"id":"a","payload":"?>"} in each binary.handling.mode */
	check_message("\"eyJpZCI6ImEiLCJwYXlsb2FkIjoiPz4ifQ==\"", &e);
	check_message("\"eyJpZCI6ImEiLCJwYXlsb2FkIjoiPz4ifQ\"", &e);
	check_message(
	    "\"7b226964223a2261222c227061796c6f6164223a223f3e227D\"", &e);
	check_message(
	    "\"{\\\"id\\\":\\\"a\\\",\\\"payload\\\":\\\"?>\\\"}\"", &e);
	check_message("{\"id\":\"a\",\"payload\":\"?>\"}", &e);
	/* {"id":"a","payload":"~~~?"} needs the letters that differ */
	e.body = "~~~?";
	check_message("\"eyJpZCI6ImEiLCJwYXlsb2FkIjoifn5-PyJ9\"", &e);
	check_message("\"eyJpZCI6ImEiLCJwYXlsb2FkIjoifn5+PyJ9\"", &e);
	e.body = "???";
	check_message("\"eyJpZCI6ImEiLCJwYXlsb2FkIjoiPz8_In0=\"", &e);
	check_message("\"eA==\"", &dead);
	check_message("\"WzFd\"", &dead);
	check_message("\"!\"", &dead);
	check_message("null", &dead);
	check_message("7", &dead);
	check_message("{\"payload\":\"x\"}",
	    &(struct expect){.result = BR_DECODE_DEAD, .reason = "missing-id"});
	check_message("{\"id\":7,\"payload\":\"x\"}",
	    &(struct expect){.key = "db.public.t:7"});
	check_message("{\"id\":\"a\",\"payload\":\"x\",\"status\":\"DONE\"}",
	    &(struct expect){
	        .result = BR_DECODE_SKIP, .reason = "status-not-pending"});
}

/* ---- formats that are said */

static void
test_explicit(void **state)
{
	static const enum br_format formats[] = {BR_FORMAT_ENVELOPE,
	    BR_FORMAT_FLATTENED, BR_FORMAT_CLOUDEVENTS, BR_FORMAT_GOLDENGATE};
	static const char *const names[] = {
	    "envelope", "flattened", "cloudevents", "goldengate"};
	const struct br_header id[] = {header("id", UUID)};
	const char *values[4];

	(void)state;
	values[0] = "{\"source\":{},\"op\":\"c\",\"after\":{\"id\":\"a\","
	            "\"payload\":\"x\"}}";
	values[1] = "{\"id\":\"a\",\"payload\":\"x\"}";
	values[2] = "{\"specversion\":\"1.0\",\"id\":\"a\",\"source\":\"/s\","
	            "\"type\":\"t\",\"datacontenttype\":\"text/plain\","
	            "\"data\":\"x\"}";
	values[3] = "{\"table\":\"A.T\",\"op_type\":\"I\",\"op_ts\":\"\","
	            "\"after\":{\"id\":\"a\",\"payload\":\"x\"}}";
	for (size_t i = 0; i < 4; i++) {
		config.source.format = formats[i];
		for (size_t k = 0; k < 4; k++) {
			struct expect e = {
			    .body = "x", .key = "a", .format = names[i]};

			if (i != k)
				e = (struct expect){.result = BR_DECODE_DEAD,
				    .reason = "format-mismatch"};
			check_value(values[k], &e);
			if (i == k) /* the header does not count here */
				check_row_record(values[k], id, 1,
				    &(struct expect){
				        .body = "x", .format = names[i]});
			check_value(
			    text("{\"schema\":null,\"payload\":%s}", values[k]),
			    &e);
		}
		check_dead("{\"id\":", "json-syntax");
		check_dead(
		    "{\"id\":\"a\",\"payload\":\"\xff\"}", "json-syntax");
		check_dead("{} x", "json-syntax");
		check_dead("[]", "format-mismatch");
		check_dead("\"{}\"", "format-mismatch");
		check_dead("Struct{id=1}", "java-text");
		check_skip("null", "tombstone");
		check_skip(
		    "{\"schema\":" SCHEMA ",\"payload\":null}", "tombstone");
		check_skip("{\"status\":\"END\",\"id\":\"1\",\"ts_ms\":1,"
		           "\"event_count\":1}",
		    "transaction-metadata");
		check_skip(
		    "{\"databaseName\":\"d\",\"ddl\":\"x\"}", "schema-change");
		check_skip("{\"aggregate_type\":\"x\",\"additional_data\":{},"
		           "\"id\":\"1\",\"type\":\"t\",\"timestamp\":1}",
		    "notification");
	}
	config.source.format = BR_FORMAT_JSON;
	check_dead(values[0], "format-mismatch");
	config.source.format = BR_FORMAT_JSON_SCHEMA;
	check_dead(text("{\"schema\":" SCHEMA ",\"payload\":%s}", values[0]),
	    "format-mismatch");
}

/* Names of schemas are the users', too, when the record is an event. */
static void
test_schema_names(void **state)
{
	static const struct {
		const char *users, *own, *reason;
	} names[] = {
	    {"com.acme.Notification",
	        "io.debezium.connector.common.Notification", "notification"},
	    {"com.acme.Heartbeat", "io.debezium.connector.common.Heartbeat",
	        "heartbeat"},
	    {"com.acme.TransactionMetadataValue",
	        "io.debezium.connector.common.TransactionMetadataValue",
	        "transaction-metadata"},
	    {"com.acme.SchemaChangeValue",
	        "io.debezium.connector.mysql.SchemaChangeValue",
	        "schema-change"},
	    {"com.acme.Envelope", NULL, NULL},
	};
	static const enum br_format formats[] = {
	    BR_FORMAT_AUTO, BR_FORMAT_JSON_SCHEMA};
	static const char body[] = "{\"orderId\":4711,\"op\":\"x\"}";
#define WRAPPED                                                                \
	"{\"schema\":{\"type\":\"struct\",\"fields\":[],\"name\":\"%s\"},"     \
	"\"payload\":%s}"

	(void)state;
	for (size_t i = 0; i < COUNT(names) * COUNT(formats); i++) {
		size_t n = i / COUNT(formats);

		config.source.format = formats[i % COUNT(formats)];
		print_message("  %s\n", names[n].users);
		check(text(WRAPPED, names[n].users, body),
		    &(struct expect){
		        .body = body, .id = UUID, .format = "json_schema"});
		if (names[n].own != NULL)
			check_skip(
			    text(WRAPPED, names[n].own, body), names[n].reason);
	}
#undef WRAPPED
}

/* More columns than an object keeps members. */
static void
test_wide_row(void **state)
{
	static char row[8192];
	size_t n = (size_t)snprintf(row, sizeof(row), "{");

	(void)state;
	for (int i = 0; i < 200; i++)
		n += (size_t)snprintf(
		    row + n, sizeof(row) - n, "\"c%d\":%d,", i, i);
	snprintf(row + n, sizeof(row) - n, "\"ID\":\"a\",\"PAYLOAD\":\"x\"}");
	check_value(change("mysql", "c", row), &(struct expect){.body = "x"});
	check_value(row, &(struct expect){.body = "x", .format = "flattened"});
	config.source.format = BR_FORMAT_FLATTENED;
	check_value(row, &(struct expect){.body = "x"});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_payloads, setup),
	    cmocka_unit_test_setup(test_oracle, setup),
	    cmocka_unit_test_setup(test_goldengate, setup),
	    cmocka_unit_test_setup(test_times, setup),
	    cmocka_unit_test_setup(test_time_numbers, setup),
	    cmocka_unit_test_setup(test_schemas, setup),
	    cmocka_unit_test_setup(test_many_schemas, setup),
	    cmocka_unit_test_setup(test_schema_columns, setup),
	    cmocka_unit_test_setup(test_messages, setup),
	    cmocka_unit_test_setup(test_explicit, setup),
	    cmocka_unit_test_setup(test_schema_names, setup),
	    cmocka_unit_test_setup(test_wide_row, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
