/* The group `source`: rows of a table, their columns and formats. */
#include "config_support.h"

static void
assert_list(const struct br_strings *list, const char *expected)
{
	struct br_buffer text = {0};

	for (size_t i = 0; i < list->count; i++)
		br_buffer_format(
		    &text, "%s%s", i != 0 ? "," : "", list->item[i]);
	assert_string_equal(list->count != 0 ? text.data : "", expected);
	br_buffer_free(&text);
}

/* Both Debezium's outbox table and `webhook_outbox` are read without a key. */
static void
defaults(void **state)
{
	struct br_config *c = must_load(HEAD);
	const struct br_config_source *s = &c->source;

	(void)state;
	assert_list(&s->tables, "");
	assert_list(&s->pending_status, "PENDING,FAILED");
	assert_false(s->snapshot_skip);
	assert_list(&s->message_prefixes, "");
	assert_list(&s->columns.id, "id");
	assert_list(
	    &s->columns.idempotency_key, "idempotency_key,idempotencykey");
	assert_list(&s->columns.aggregate_type, "aggregatetype,aggregate_type");
	assert_list(&s->columns.aggregate_id, "aggregateid,aggregate_id");
	assert_list(&s->columns.event_type, "event_type,eventtype,type");
	assert_list(&s->columns.payload, "payload");
	assert_list(&s->columns.target_url, "target_url,targeturl");
	assert_list(&s->columns.max_retries, "max_retries,maxretries");
	assert_list(&s->columns.status, "status");
	assert_list(&s->columns.created_at, "created_at");
	br_config_free(c);
}

static void
set(void **state)
{
	struct br_config *c = must_load(HEAD
	    "source = { tables = \"app.outbox\"; pending_status = [ \"NEW\" "
	    "];\n"
	    "  on_snapshot = \"skip\"; message_prefixes = [ \"o\", \"p\" ];\n"
	    "  columns = { id = \"nr\"; payload = [ \"body\", \"text\" ];\n"
	    "    status = [ ]; event_type = [ ]; };\n"
	    "  formats = ( { topic = \"e\"; format = \"envelope\"; },\n"
	    "    { topic = \"f\"; format = \"flattened\"; },\n"
	    "    { topic = \"c\"; format = \"cloudevents\"; },\n"
	    "    { topic = \"g\"; format = \"goldengate\"; } ); };\n");
	const struct br_config_source *s = &c->source;
	struct br_config *again;
	char *print;

	(void)state;
	assert_list(&s->tables, "app.outbox");
	assert_list(&s->pending_status, "NEW");
	assert_true(s->snapshot_skip);
	assert_list(&s->message_prefixes, "o,p");
	assert_list(&s->columns.id, "nr");
	assert_list(&s->columns.payload, "body,text");
	assert_list(&s->columns.status, "");
	assert_list(&s->columns.event_type, "");
	assert_list(&s->columns.created_at, "created_at");
	assert_int_equal(s->formats[0].format, BR_FORMAT_ENVELOPE);
	assert_int_equal(s->formats[1].format, BR_FORMAT_FLATTENED);
	assert_int_equal(s->formats[2].format, BR_FORMAT_CLOUDEVENTS);
	assert_int_equal(s->formats[3].format, BR_FORMAT_GOLDENGATE);
	/* A group in a group is printed as one, and reads back. */
	print = printed(c, true);
	assert_non_null(strstr(print, "  columns = {\n    id = [ \"nr\" ];"));
	assert_non_null(strstr(print, "\n  };\n"));
	again = must_load(print);
	assert_list(&again->source.columns.payload, "body,text");
	assert_list(&again->source.message_prefixes, "o,p");
	free(print);
	br_config_free(again);
	br_config_free(c);
}

static void
faults(void **state)
{
	static const char *const cases[][2] = {
	    {"source = { columns = \"id\"; };", "expected a group"},
	    {"source = { columns = { key = \"id\"; }; };",
	        "source.columns.key: unknown key"},
	    {"source = { columns = { id = [ ]; }; };",
	        "source.columns.id: must not be empty"},
	    {"source = { columns = { payload = \"\"; }; };",
	        "source.columns.payload"},
	    {"source = { columns = { payload = 7; }; };", "found the number 7"},
	    {"source = { on_snapshot = \"maybe\"; };", "is not known"},
	    {"source = { tables = [ \"^a(\" ]; };", "source.tables[0]: "},
	    {"source = { pending_status = true; };", "found true"},
	    {"source = { pending_status = [ ]; };",
	        "source.pending_status: must not be empty"},
	    {"source = { format = \"debezium\"; };", "is not known"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct br_buffer text = {0}, found = {0};
		struct br_config *c;

		br_buffer_format(&text, HEAD "%s\n", cases[i][0]);
		c = load(text.data, &found);
		if (c != NULL || strstr(found.data, cases[i][1]) == NULL)
			fail_msg("%s gives %s", cases[i][0],
			    c != NULL ? "no fault" : found.data);
		br_buffer_free(&text);
		br_buffer_free(&found);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(defaults),
	    cmocka_unit_test(set),
	    cmocka_unit_test(faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
