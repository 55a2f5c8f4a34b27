/*
 * Every reason of this room, to skip and to dead-letter, with one record that
 * earns it; and where the fields came from, for `explain`.
 */
#include "row_support.h"

#define ROW "{\"id\":\"a\",\"payload\":\"x\"}"
#define GONE "__debezium_unavailable_value"

struct reason_case {
	const char *reason, *stage;
	enum br_format format;
	const char *value; /* NULL: a null value */
	struct br_header header[2];
};

#define TEXT(s)                                                                \
	{                                                                      \
		(const uint8_t *)(s), sizeof(s) - 1                            \
	}
#define ID                                                                     \
	{                                                                      \
		"id", TEXT("i")                                                \
	}

static const struct reason_case dead_cases[] = {
    {"missing-id", "extract", BR_FORMAT_STRING, "x", {{NULL, {NULL, 0}}}},
    {"id-invalid", "validate", BR_FORMAT_AUTO, "x", {{"id", TEXT("a\nb")}}},
    {"lossy-id", "validate", BR_FORMAT_AUTO, "{\"id\":1.5,\"payload\":\"x\"}",
        {{NULL, {NULL, 0}}}},
    {"null-payload", "validate", BR_FORMAT_AUTO, NULL, {ID}},
    {"empty-value", "validate", BR_FORMAT_AUTO, "", {ID}},
    {"empty-value", "detect", BR_FORMAT_AUTO, "", {{NULL, {NULL, 0}}}},
    {"payload-unavailable", "validate", BR_FORMAT_AUTO, GONE, {ID}},
    {"payload-too-large", "validate", BR_FORMAT_AUTO, "0123456789a", {ID}},
    {"json-syntax", "decode", BR_FORMAT_JSON, "{", {ID}},
    {"json-syntax", "decode", BR_FORMAT_ENVELOPE, "{", {{NULL, {NULL, 0}}}},
    {"java-text", "detect", BR_FORMAT_AUTO, "Struct{a=b}", {ID}},
    {"java-text", "extract", BR_FORMAT_AUTO, "x",
        {ID, {"eventType", TEXT("[B@1f3a")}}},
    {"format-mismatch", "detect", BR_FORMAT_JSON_SCHEMA, "{}", {ID}},
    {"format-mismatch", "detect", BR_FORMAT_GOLDENGATE, ROW,
        {{NULL, {NULL, 0}}}},
    {"envelope-malformed", "extract", BR_FORMAT_ENVELOPE,
        "{\"op\":\"c\",\"source\":{},\"after\":null}", {{NULL, {NULL, 0}}}},
    {"unrecognised", "detect", BR_FORMAT_AUTO, "{}", {{NULL, {NULL, 0}}}},
    {"unsupported-framing", "detect", BR_FORMAT_AUTO, "[]",
        {{"content-type", TEXT("application/cloudevents-batch+json")}}},
    {"url-invalid", "validate", BR_FORMAT_AUTO, "x",
        {ID, {"targetUrl", TEXT("\xff")}}},
    {"field-invalid", "validate", BR_FORMAT_AUTO, "x",
        {ID, {"maxRetries", TEXT("many")}}},
    {"field-invalid", "validate", BR_FORMAT_AUTO, "x",
        {ID, {"eventType", TEXT("\xff")}}},
    {"header-invalid", "validate", BR_FORMAT_AUTO, "x",
        {ID, {"content-type", TEXT("a\x01")}}},
};

#define ENVELOPE(op, after)                                                    \
	"{\"op\":\"" op "\",\"source\":{\"schema\":\"s\",\"table\":\"t\"},"    \
	"\"after\":" after "}"

static const struct reason_case skip_cases[] = {
    {"op-update", "", BR_FORMAT_AUTO, ENVELOPE("u", ROW), {{NULL, {NULL, 0}}}},
    {"requeue-by-update", "", BR_FORMAT_AUTO,
        ENVELOPE("u", "{\"id\":1,\"status\":\"FAILED\"}"), {{NULL, {NULL, 0}}}},
    {"op-delete", "", BR_FORMAT_AUTO, ENVELOPE("d", "null"),
        {{NULL, {NULL, 0}}}},
    {"op-truncate", "", BR_FORMAT_AUTO, ENVELOPE("t", "null"),
        {{NULL, {NULL, 0}}}},
    {"op-message", "", BR_FORMAT_AUTO,
        "{\"op\":\"m\",\"source\":{},\"message\":{\"prefix\":\"p\"}}",
        {{NULL, {NULL, 0}}}},
    {"pk-update", "", BR_FORMAT_AUTO, ENVELOPE("c", ROW),
        {{"__debezium.oldkey", TEXT("{}")}}},
    {"status-not-pending", "", BR_FORMAT_AUTO,
        "{\"id\":1,\"payload\":\"x\",\"status\":\"DONE\"}",
        {{NULL, {NULL, 0}}}},
    {"tombstone", "", BR_FORMAT_AUTO, NULL, {{NULL, {NULL, 0}}}},
    {"heartbeat", "", BR_FORMAT_AUTO, "{\"ts_ms\":1}", {{NULL, {NULL, 0}}}},
    {"transaction-metadata", "", BR_FORMAT_AUTO,
        "{\"status\":\"BEGIN\",\"id\":\"1\",\"ts_ms\":1}", {{NULL, {NULL, 0}}}},
    {"transaction-metadata", "", BR_FORMAT_AUTO, "Struct{status=BEGIN,id=1}",
        {{NULL, {NULL, 0}}}},
    {"schema-change", "", BR_FORMAT_AUTO,
        "{\"databaseName\":\"d\",\"tableChanges\":[]}", {{NULL, {NULL, 0}}}},
    {"notification", "", BR_FORMAT_AUTO,
        "{\"aggregate_type\":\"x\",\"additional_data\":null}",
        {{NULL, {NULL, 0}}}},
    {"notification", "", BR_FORMAT_AUTO,
        "{\"schema\":{\"type\":\"struct\",\"name\":\"io.debezium.connector."
        "common.Notification\"},\"payload\":{\"id\":\"1\"}}",
        {{NULL, {NULL, 0}}}},
    {"other-table", "", BR_FORMAT_AUTO, ENVELOPE("c", ROW),
        {{NULL, {NULL, 0}}}},
};

static void
run(const struct reason_case *c, enum br_decode_result result)
{
	struct br_record record = {.topic = "db.s.t",
	    .key = br_slice_str("{\"serverName\":\"s\"}"),
	    .value = br_slice_str(c->value),
	    .headers = c->header};
	struct br_decoder *d;
	struct br_decoded out;

	print_message("  %s (%s)\n", c->reason, c->stage);
	while (record.header_count < 2 &&
	       c->header[record.header_count].name != NULL)
		record.header_count++;
	config.source.format = c->format;
	d = br_decoder_new(&config);
	br_decode(d, &record, &out);
	assert_decoded(
	    &out, &(struct expect){.result = result, .reason = c->reason});
	if (result == BR_DECODE_DEAD)
		assert_string_equal(out.stage, c->stage);
	else
		assert_non_null(br_decode_skip_text(out.reason));
	br_decoder_free(d);
}

static void
test_dead(void **state)
{
	(void)state;
	config.limits.body_bytes = 10;
	config.source.strict_fields = true;
	for (size_t i = 0; i < COUNT(dead_cases); i++) {
		/* The placeholder is longer than the limit. */
		config.limits.body_bytes =
		    strcmp(dead_cases[i].reason, "payload-too-large") == 0
		        ? 10
		        : 100;
		run(&dead_cases[i], BR_DECODE_DEAD);
	}
}

static void
test_skip(void **state)
{
	static char *tables[] = {"x.y"};
	const struct br_header id = header("id", "i");

	(void)state;
	for (size_t i = 0; i < COUNT(skip_cases); i++) {
		if (strcmp(skip_cases[i].reason, "other-table") == 0)
			config.source.tables = (struct br_strings){tables, 1};
		run(&skip_cases[i], BR_DECODE_SKIP);
	}
	config.source.on_null_payload = BR_ON_NULL_SKIP;
	check_row_record("null", &id, 1,
	    &(struct expect){
	        .result = BR_DECODE_SKIP, .reason = "null-payload"});
	assert_non_null(br_decode_skip_text("topic-skipped"));
	assert_non_null(br_decode_skip_text("duplicate"));
}

/* ---- where the fields came from */

static const struct br_origin *
origin_of(const struct br_origins *o, const char *field)
{
	for (size_t i = 0; i < o->count; i++)
		if (strcmp(o->item[i].field, field) == 0)
			return &o->item[i];
	fail_msg("nothing says where %s came from", field);
	return NULL;
}

static void
assert_origin(const struct br_origins *o, const char *field, const char *kind,
    const char *name)
{
	const struct br_origin *origin = origin_of(o, field);

	assert_string_equal(origin->kind, kind);
	assert_text(field, origin->name, name);
}

static void
explain(const char *value, const struct br_header *headers, size_t count,
    struct br_origins *origins)
{
	struct br_record record = {.topic = "db.s.t",
	    .key = br_slice_str("k"),
	    .value = br_slice_str(value),
	    .headers = headers,
	    .header_count = count};
	/* Slices live as long as the decoder and the record. */
	static struct br_decoder *d;
	struct br_decoded out;

	br_decoder_free(d);
	d = value != NULL ? br_decoder_new(&config) : NULL;
	if (d == NULL)
		return;
	br_decode_explained(d, &record, &out, origins);
	assert_int_equal(out.result, BR_DECODE_DELIVER);
	assert_true(origins->count <= BR_ORIGINS);
	assert_non_null(origins->why);
}

static void
test_origins(void **state)
{
	const struct br_header routed[] = {header("id", "i"),
	    header("idempotency_key", "own"), header("type", "t"),
	    header("aggregatetype", "A")};
	const struct br_header binary[] = {header("ce_specversion", "1.0"),
	    header("ce_id", "i"), header("ce_source", "/s"),
	    header("ce_type", "t")};
	struct br_origins o;

	(void)state;
	explain("x", routed, 4, &o);
	assert_origin(&o, "event_id", "header", "id");
	assert_origin(&o, "idempotency_key", "header", "idempotency_key");
	assert_origin(&o, "event_type", "header", "type");
	assert_origin(&o, "aggregate_type", "header", "aggregatetype");
	assert_origin(&o, "order_key", "key of the record", ABSENT);
	assert_origin(&o, "body", "value", ABSENT);
	explain("{\"payload\":\"x\",\"max_retries\":3}", routed, 1, &o);
	assert_origin(&o, "max_attempts", "member of the value", "max_retries");
	assert_origin(&o, "body", "member of the value", "payload");
	explain("{\"ID\":1,\"PAYLOAD\":\"x\",\"Type\":\"t\",\"AGGREGATEID\":"
	        "\"o\",\"created_at\":5,\"target_url\":\"u\"}",
	    NULL, 0, &o);
	assert_origin(&o, "event_id", "column", "ID");
	assert_origin(&o, "idempotency_key", "column", "ID");
	assert_origin(&o, "event_type", "column", "Type");
	assert_origin(&o, "order_key", "column", "AGGREGATEID");
	assert_origin(&o, "target_url", "column", "target_url");
	assert_origin(&o, "time_ms", "column", "created_at");
	assert_origin(&o, "aggregate_type", "topic", "db.s.t");
	assert_origin(&o, "body", "column", "PAYLOAD");
	explain(ENVELOPE("c", ROW), NULL, 0, &o);
	assert_origin(&o, "aggregate_type", "table", "s.t");
	explain("{}", binary, 4, &o);
	assert_origin(&o, "event_id", "attribute", "id");
	assert_origin(&o, "event_type", "attribute", "type");
	assert_origin(&o, "body", "value", ABSENT);
	explain("{\"specversion\":\"1.0\",\"id\":\"i\",\"source\":\"/s\","
	        "\"type\":\"t\",\"subject\":\"s\",\"data\":1}",
	    NULL, 0, &o);
	assert_origin(&o, "aggregate_type", "attribute", "subject");
	assert_origin(&o, "body", "member", "data");
	explain(NULL, NULL, 0, &o);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_dead, setup),
	    cmocka_unit_test_setup(test_skip, setup),
	    cmocka_unit_test_setup(test_origins, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
