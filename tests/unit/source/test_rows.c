/* Rows of a table: which changes are events, and what the columns say. */
#include "row_support.h"

/* ---- operations and states */

struct op_case {
	const char *op;      /* "" : not told */
	const char *status;  /* JSON; NULL: no such column */
	const char *outcome; /* a reason to skip, or NULL: an event */
};

static const struct op_case op_cases[] = {
    {"c", NULL, NULL},
    {"c", "\"PENDING\"", NULL},
    {"c", "\"PENDING   \"", NULL},
    {"c", "\"FAILED\"", NULL},
    {"c", "null", NULL},
    {"c", "\"SUCCESS\"", "status-not-pending"},
    {"c", "\"pending\"", "status-not-pending"},
    {"r", NULL, NULL},
    {"r", "\"PENDING\"", NULL},
    {"r", "\"FAILED\"", NULL},
    {"r", "\"SUCCESS\"", "status-not-pending"},
    {"r", "\"DLQ\"", "status-not-pending"},
    {"u", NULL, "op-update"},
    {"u", "\"PROCESSING\"", "op-update"},
    {"u", "\"SUCCESS\"", "op-update"},
    {"u", "\"PENDING\"", "requeue-by-update"},
    {"u", "\"FAILED\"", "requeue-by-update"},
    {"d", "\"PENDING\"", "op-delete"},
    {"t", NULL, "op-truncate"},
    {"m", NULL, "op-message"},
    {"", NULL, NULL},
    {"", "\"PENDING\"", NULL},
    {"", "\"FAILED\"", "requeue-by-update"},
    {"", "\"SUCCESS\"", "status-not-pending"},
};

static const char *
row_with(const char *op_member, const struct op_case *c)
{
	return text("{\"id\":\"i\",\"payload\":\"{}\"%s%s%s%s%s}",
	    c->status != NULL ? ",\"status\":" : "",
	    c->status != NULL ? c->status : "",
	    op_member != NULL && *c->op != '\0' ? ",\"__op\":\"" : "",
	    op_member != NULL ? c->op : "",
	    op_member != NULL && *c->op != '\0' ? "\"" : "");
}

static void
check_op(const char *value, const struct op_case *c)
{
	struct expect e = {.reason = c->outcome, .body = "{}", .key = "i"};

	print_message(
	    "  op %s, status %s\n", c->op, c->status != NULL ? c->status : "-");
	if (c->outcome != NULL)
		e = (struct expect){
		    .result = BR_DECODE_SKIP, .reason = c->outcome};
	check_value(value, &e);
}

static void
test_ops(void **state)
{
	static const char *const letters[] = {
	    "c", "I", "u", "U", "d", "D", "t", "T"};

	(void)state;
	for (size_t i = 0; i < COUNT(op_cases); i++) {
		const struct op_case *c = &op_cases[i];

		if (*c->op != '\0')
			check_op(
			    change("postgresql", c->op, row_with(NULL, c)), c);
		check_op(row_with("__op", c), c);
		for (size_t k = 0; k < COUNT(letters); k += 2)
			if (strcmp(letters[k], c->op) == 0)
				check_op(text("{\"table\":\"A.T\",\"op_type\":"
				              "\"%s\",\"op_ts\":\"2026-01-01 "
				              "00:00:00.000000\",\"after\":%s}",
				             letters[k + 1], row_with(NULL, c)),
				    c);
		check_op(
		    text("{\"specversion\":\"1.0\",\"id\":\"name:x;1\","
		         "\"source\":\"/debezium/postgresql/x\",\"type\":"
		         "\"t\"%s%s%s,\"data\":{\"before\":null,\"after\":"
		         "%s}}",
		        *c->op != '\0' ? ",\"iodebeziumop\":\"" : "", c->op,
		        *c->op != '\0' ? "\"" : "", row_with(NULL, c)),
		    c);
	}
}

static void
test_no_row(void **state)
{
	(void)state;
	check_skip(change("postgresql", "u", "null"), "op-update");
	check_skip(change("postgresql", "d", "null"), "op-delete");
	check_skip(change("postgresql", "t", "null"), "op-truncate");
	check_dead(change("postgresql", "c", "null"), "envelope-malformed");
	check_dead(change("postgresql", "r", "7"), "envelope-malformed");
	check_dead("{\"source\":{},\"op\":\"c\",\"before\":null}",
	    "envelope-malformed");
	check_dead("{\"source\":{},\"op\":\"c\"}", "unrecognised");
	check_dead("{\"id\":1,\"payload\":\"x\",\"__op\":\"x\"}",
	    "envelope-malformed");
	/* A CloudEvent without an op tells a delete by its missing row. */
	check_skip("{\"specversion\":\"1.0\",\"id\":\"n\",\"source\":"
	           "\"/debezium/mysql/x\",\"type\":\"t\",\"data\":{\"before\":"
	           "{},\"after\":null}}",
	    "op-delete");
}

/* A header tells the operation of a flattened row, whoever wrote it. */
static void
test_op_header(void **state)
{
	static const char row[] = "{\"id\":1,\"payload\":\"x\"}";
	const struct br_header bare[] = {header("__op", "u")};
	const struct br_header quoted[] = {header("__op", "\"d\"")};
	const struct br_header wrapped[] = {
	    header("__op", "{\"schema\":" SCHEMA ",\"payload\":\"c\"}")};
	const struct br_header old[] = {
	    header("__debezium.oldkey", "{\"id\":3}")};

	(void)state;
	check_row_record(row, bare, 1,
	    &(struct expect){.result = BR_DECODE_SKIP, .reason = "op-update"});
	check_row_record(row, quoted, 1,
	    &(struct expect){.result = BR_DECODE_SKIP, .reason = "op-delete"});
	check_row_record(row, wrapped, 1, &(struct expect){.body = "x"});
	check_skip(
	    "{\"id\":1,\"payload\":\"x\",\"__deleted\":\"true\"}", "op-delete");
	check_value("{\"id\":1,\"payload\":\"x\",\"__deleted\":\"false\"}",
	    &(struct expect){.body = "x"});
	check_row_record(row, old, 1,
	    &(struct expect){.result = BR_DECODE_SKIP, .reason = "pk-update"});
	check_row_record(change("mysql", "c", row), old, 1,
	    &(struct expect){.result = BR_DECODE_SKIP, .reason = "pk-update"});
	check_row_record(
	    change("mysql", "r", row), old, 1, &(struct expect){.body = "x"});
	check_row_record(change("mysql", "u", row), old, 1,
	    &(struct expect){.result = BR_DECODE_SKIP, .reason = "op-update"});
}

static void
test_configured_status(void **state)
{
	static char *pending[] = {"NEW", "AGAIN"};
	static const char new_row[] =
	    "{\"id\":1,\"payload\":\"x\",\"status\":\"NEW\"}";
	static const char again[] =
	    "{\"id\":1,\"payload\":\"x\",\"status\":\"AGAIN\"}";
	static const char old[] =
	    "{\"id\":1,\"payload\":\"x\",\"status\":\"PENDING\"}";
	static const char none[] = "{\"id\":1,\"payload\":\"x\"}";

	(void)state;
	config.source.pending_status = (struct br_strings){pending, 2};
	check_value(new_row, &(struct expect){.body = "x"});
	check_skip(again, "requeue-by-update");
	check_value(change("mysql", "c", again), &(struct expect){.body = "x"});
	check_skip(old, "status-not-pending");
	config.source.snapshot_skip = true;
	check_skip(change("mysql", "r", none), "status-not-pending");
	check_value(change("mysql", "c", none), &(struct expect){.body = "x"});
	check_value(
	    change("mysql", "r", new_row), &(struct expect){.body = "x"});
}

/* An update that puts a row back is worth a line in the log. */
static void
test_requeue_hint(void **state)
{
	struct br_record record = {.topic = "t",
	    .value = br_slice_str(change("mysql", "u",
	        "{\"id\":1,\"payload\":\"x\",\"status\":\"FAILED\"}"))};
	struct br_decoder *d = br_decoder_new(&config);
	struct br_decoded out;

	(void)state;
	br_decode(d, &record, &out);
	assert_non_null(out.hint);
	assert_string_equal(out.reason, "requeue-by-update");
	assert_non_null(br_decode_skip_text(out.reason));
	assert_null(br_decode_skip_text("what"));
	br_decoder_free(d);
}

static void
test_tables(void **state)
{
	static const char row[] = "{\"id\":1,\"payload\":\"x\"}";
	static char *lists[][2] = {{"app.T", NULL}, {"APP.*", NULL},
	    {"other.t", "t"}, {"^APP[.]T$", NULL}, {"app.t2", "*.u"}};
	struct expect yes = {.body = "x"};
	const char *value = change("oracle", "c", row);

	(void)state;
	for (size_t i = 0; i < COUNT(lists); i++) {
		config.source.tables =
		    (struct br_strings){lists[i], lists[i][1] != NULL ? 2 : 1};
		if (i < 4)
			check_value(value, &yes);
		else
			check_skip(value, "other-table");
	}
	/* It comes first: nothing else matters about such a row. */
	check_skip(change("oracle", "u",
	               "{\"id\":1,\"payload\":\"x\",\"status\":\"FAILED\"}"),
	    "other-table");
	/* What does not tell its table is not held against it. */
	check_value(row, &yes);
	check_value("{\"id\":1,\"payload\":\"x\",\"__table\":\"T\"}", &yes);
	check_skip("{\"id\":1,\"payload\":\"x\",\"__table\":\"T\","
	           "\"__schema\":\"APP\"}",
	    "other-table");
}

/* ---- columns */

struct id_case {
	const char *id;     /* JSON */
	const char *event;  /* the event's id, or ABSENT */
	const char *key;    /* or ABSENT */
	const char *reason; /* NULL: delivered */
};

#define KEY(id) "public.t:" id

static const struct id_case id_cases[] = {
    {"1001", "1001", KEY("1001"), NULL},
    {"1001.0", "1001", KEY("1001"), NULL},
    {"1.001E3", "1001", KEY("1001"), NULL},
    {"-7.0", "-7", KEY("-7"), NULL},
    {"0.0", "0", KEY("0"), NULL},
    {"9007199254740992.0", "9007199254740992", KEY("9007199254740992"), NULL},
    {"9.007199254740993E15", ABSENT, ABSENT, "lossy-id"},
    {"1.5", ABSENT, ABSENT, "lossy-id"},
    {"1e400", ABSENT, ABSENT, "lossy-id"},
    {"99999999999999999999999999999999999999",
        "99999999999999999999999999999999999999",
        KEY("99999999999999999999999999999999999999"), NULL},
    {"\"1001\"", "1001", KEY("1001"), NULL},
    {"\"-1\"", "-1", KEY("-1"), NULL},
    {"\"1E+3\"", "1000", KEY("1000"), NULL},
    {"\"abc\"", "abc", "abc", NULL},
    {"\"A+k=\"", "A+k=", "A+k=", NULL},
    {"\"-\"", "-", "-", NULL},
    {"\"" UUID "\"", UUID, UUID, NULL},
    {"\"\\u0041\"", "A", "A", NULL},
    {"{\"scale\":0,\"value\":\"A+k=\"}", "1001", KEY("1001"), NULL},
    {"{\"scale\":2,\"value\":\"AYag\"}", "1000", KEY("1000"), NULL},
    {"{\"scale\":2,\"value\":\"MDk=\"}", ABSENT, ABSENT, "lossy-id"},
    {"{\"scale\":-3,\"value\":\"AQ==\"}", "1000", KEY("1000"), NULL},
    {"{\"scale\":0,\"value\":\"/w==\"}", "-1", KEY("-1"), NULL},
    {"{\"scale\":0,\"value\":\"SztMqFqGxHoJiiI//////w==\"}",
        "99999999999999999999999999999999999999",
        KEY("99999999999999999999999999999999999999"), NULL},
    {"{\"scale\":0,\"value\":\"AIAAAAAAAAAA\"}", "9223372036854775808",
        KEY("9223372036854775808"), NULL},
    {"{\"scale\":0}", ABSENT, ABSENT, "id-invalid"},
    {"[1]", ABSENT, ABSENT, "id-invalid"},
    {"true", ABSENT, ABSENT, "id-invalid"},
    {"\"a\\u0000b\"", "a\0", ABSENT, "id-invalid"},
    {"\"Struct{id=1}\"", ABSENT, ABSENT, "id-invalid"},
    {"\"\\ud800\"", ABSENT, ABSENT, "id-invalid"},
    {"null", ABSENT, ABSENT, "missing-id"},
    {"\"\"", ABSENT, ABSENT, "missing-id"},
};

static void
test_ids(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(id_cases); i++) {
		const struct id_case *c = &id_cases[i];
		struct expect e = {.key = c->key, .reason = c->reason};

		print_message("  %s\n", c->id);
		if (strcmp(c->event, "a") != 0)
			e.id = c->event;
		if (c->reason != NULL)
			e.result = BR_DECODE_DEAD;
		check_value(change("postgresql", "c",
		                text("{\"ID\":%s,\"payload\":\"x\"}", c->id)),
		    &e);
		/* A key of its own makes the id a matter of taste. */
		e = (struct expect){.key = "own", .id = e.id};
		check_value(change("postgresql", "c",
		                text("{\"id\":%s,\"payload\":\"x\","
		                     "\"idempotency_key\":\"own\"}",
		                    c->id)),
		    &e);
	}
}

/* Where the numbers are counted: the table, or what stands for it. */
static void
test_key_place(void **state)
{
	static const char row[] = "{\"id\":5,\"payload\":\"x\"}";
	const struct br_header redriven[] = {
	    header("outbox.idempotency.key", "first")};

	(void)state;
	check_value(change("oracle", "c", row),
	    &(struct expect){.key = "APP.T:5", .aggregate = "APP.T"});
	check_value(row, &(struct expect){.key = "db.public.t:5",
	                     .aggregate = "db.public.t"});
	check_value("{\"id\":5,\"payload\":\"x\",\"__db\":\"d\",\"__table\":"
	            "\"t\"}",
	    &(struct expect){.key = "d.t:5", .aggregate = "d.t"});
	check_value("{\"source\":{\"db\":\"d\",\"table\":\"t\"},\"op\":\"c\","
	            "\"after\":{\"id\":5,\"payload\":\"x\"}}",
	    &(struct expect){.key = "d.t:5"});
	check_value("{\"table\":\"PDB.A.T\",\"op_type\":\"I\",\"op_ts\":\"\","
	            "\"after\":{\"ID\":5,\"PAYLOAD\":\"x\"}}",
	    &(struct expect){.key = "A.T:5", .aggregate = "A.T"});
	check_value("{\"table\":\"A.T\",\"op_type\":\"I\",\"op_ts\":\"\","
	            "\"pos\":\"00012\",\"ID\":5,\"PAYLOAD\":\"x\"}",
	    &(struct expect){.key = "A.T:5", .id = "5"});
	check_value("{\"table\":\"A.T\",\"op_type\":\"I\",\"op_ts\":\"\","
	            "\"pos\":\"00012\",\"after\":{\"PAYLOAD\":\"x\"}}",
	    &(struct expect){.key = "A.T:00012", .id = ABSENT});
	/* What was sent under a key is sent again under the same. */
	check_row_record(change("oracle", "c", row), redriven, 1,
	    &(struct expect){.key = "first", .id = "5"});
	check_row_record(
	    change("oracle", "c", "{\"id\":1.5,\"payload\":\"x\"}"), redriven,
	    1, &(struct expect){.key = "first", .id = ABSENT});
}

static void
test_names(void **state)
{
	static char *id[] = {"nr"}, *payload[] = {"Body", "text"};
	static char *type[] = {"Kind"};

	(void)state;
	check_value("{\"Id\":\"a\",\"PayLoad\":\"x\",\"TYPE\":\"t\"}",
	    &(struct expect){.key = "a", .body = "x", .type = "t"});
	/* The spelling of the configuration comes first. */
	check_value("{\"ID\":\"a\",\"PAYLOAD\":\"x\",\"payload\":\"y\"}",
	    &(struct expect){.body = "y"});
	check_value("{\"ID\":\"a\",\"payload\":\"y\",\"PAYLOAD\":\"x\"}",
	    &(struct expect){.body = "y"});
	check_value("{\"ID\":\"a\",\"PAYLOAD\":\"x\",\"Payload\":\"z\","
	            "\"payload\":\"y\"}",
	    &(struct expect){.body = "y"});
	check_dead("{\"ID\":\"a\",\"PAYLOAD\":\"x\",\"Payload\":\"y\"}",
	    "envelope-malformed");
	/* Twice the same name: the last one counts. */
	check_value("{\"ID\":\"a\",\"PAYLOAD\":\"x\",\"PAYLOAD\":\"y\"}",
	    &(struct expect){.body = "y"});
	/* Of several names the first that says something. */
	check_value("{\"id\":\"a\",\"payload\":\"x\",\"type\":\"t\","
	            "\"event_type\":null}",
	    &(struct expect){.type = "t"});
	check_value("{\"id\":\"a\",\"payload\":\"x\",\"type\":\"t\","
	            "\"event_type\":\"e\"}",
	    &(struct expect){.type = "e"});
	check_value("{\"id\":\"a\",\"payload\":\"x\",\"event_type\":\"e\","
	            "\"type\":\"\"}",
	    &(struct expect){.type = "e"});
	config.source.columns.id = (struct br_strings){id, 1};
	config.source.columns.idempotency_key = (struct br_strings){id, 1};
	config.source.columns.payload = (struct br_strings){payload, 2};
	config.source.columns.event_type = (struct br_strings){type, 1};
	check_value("{\"id\":\"b\",\"NR\":\"a\",\"BODY\":\"x\",\"kind\":\"t\","
	            "\"payload\":\"y\"}",
	    &(struct expect){.id = "a", .key = "a", .body = "x", .type = "t"});
	check_value("{\"NR\":\"a\",\"TEXT\":\"x\"}",
	    &(struct expect){.key = "a", .body = "x"});
	check_dead("{\"id\":\"b\",\"payload\":\"y\"}", "unrecognised");
}

static void
test_columns(void **state)
{
	struct expect e = {.id = "a",
	    .order = "cust",
	    .aggregate = "Order",
	    .type = "t",
	    .url = "https://h.test/",
	    .attempts = 7};
	const struct br_header type[] = {
	    header("content-type", "application/xml"),
	    header("traceparent",
	        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")};

	(void)state;
	check_value("{\"id\":\"a\",\"payload\":\"x\",\"aggregatetype\":"
	            "\"Order\",\"aggregateid\":\"cust\",\"type\":\"t\","
	            "\"target_url\":\"https://h.test/\",\"max_retries\":7}",
	    &e);
	e.attempts = 5;
	e.order = "12";
	check_value("{\"id\":\"a\",\"payload\":\"x\",\"AGGREGATE_TYPE\":"
	            "\"Order\",\"AGGREGATE_ID\":{\"scale\":0,\"value\":"
	            "\"DA==\"},\"EVENT_TYPE\":\"t\",\"TARGET_URL\":"
	            "\"https://h.test/\",\"MAX_RETRIES\":\"BQ==\"}",
	    &e);
	check_row_record("{\"id\":\"a\",\"payload\":\"x\",\"aggregateid\":"
	                 "null}",
	    type, 2,
	    &(struct expect){.order = "k", .content = "application/xml"});
	check_value("{\"id\":\"a\",\"payload\":\"x\",\"max_retries\":\"many\"}",
	    &(struct expect){.body = "x"});
	config.source.strict_fields = true;
	check_dead("{\"id\":\"a\",\"payload\":\"x\",\"max_retries\":\"many\"}",
	    "field-invalid");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_ops, setup),
	    cmocka_unit_test_setup(test_no_row, setup),
	    cmocka_unit_test_setup(test_op_header, setup),
	    cmocka_unit_test_setup(test_configured_status, setup),
	    cmocka_unit_test_setup(test_requeue_hint, setup),
	    cmocka_unit_test_setup(test_tables, setup),
	    cmocka_unit_test_setup(test_ids, setup),
	    cmocka_unit_test_setup(test_key_place, setup),
	    cmocka_unit_test_setup(test_names, setup),
	    cmocka_unit_test_setup(test_columns, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
