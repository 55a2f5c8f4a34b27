/* The group `registry`, and what of it fits together. */
#include "config_support.h"

#define URL "registry = { url = \"http://r:8081\"; "

static void
defaults(void **state)
{
	struct br_config *c = must_load(HEAD);

	(void)state;
	assert_int_equal(c->registry.url.count, 0);
	assert_string_equal(c->registry.apicurio_url, "");
	assert_string_equal(c->registry.user, "");
	assert_string_equal(c->registry.token, "");
	assert_int_equal(c->registry.id4, BR_ID_CONTENT);
	assert_int_equal(c->registry.id8, BR_ID_GLOBAL);
	assert_int_equal(c->registry.timeout_ms, 5000);
	assert_int_equal(c->registry.connect_timeout_ms, 3000);
	assert_int_equal(c->source.avro_payload, BR_AVRO_PAYLOAD_DLQ);
	br_config_free(c);
}

static void
values(void **state)
{
	struct br_config *c = must_load(
	    HEAD "registry = { url = [ \"http://r:8081\", "
	         "\"https://s/apis/ccompat/v7\" ]; user = \"u\"; password = "
	         "\"p\"; id4 = \"global\"; id8 = \"content\"; timeout_ms = 7; "
	         "};\nsource = { format = \"avro\"; avro_payload = \"json\"; "
	         "};");

	(void)state;
	assert_int_equal(c->registry.url.count, 2);
	assert_string_equal(
	    c->registry.url.item[1], "https://s/apis/ccompat/v7");
	assert_int_equal(c->registry.id4, BR_ID_GLOBAL);
	assert_int_equal(c->registry.id8, BR_ID_CONTENT);
	assert_int_equal(c->registry.timeout_ms, 7);
	assert_int_equal(c->source.format, BR_FORMAT_AVRO);
	assert_int_equal(c->source.avro_payload, BR_AVRO_PAYLOAD_JSON);
	br_config_free(c);
}

/* Wherever they came from. */
static void
secrets(void **state)
{
	struct br_config *c =
	    must_load(HEAD URL "user = \"u\"; password = \"hunter2\"; };");
	char *text = printed(c, true);

	(void)state;
	assert_null(strstr(text, "hunter2"));
	assert_non_null(strstr(text, "  password = \"***\";"));
	assert_non_null(strstr(text, "  token = \"\";"));
	assert_non_null(strstr(text, "  user = \"u\";"));
	free(text);
	br_config_free(c);
	c = must_load(HEAD URL "token = \"hunter2\"; };");
	text = printed(c, false);
	assert_null(strstr(text, "hunter2"));
	free(text);
	br_config_free(c);
}

static void
faults(void **state)
{
	static const struct {
		const char *text, *key, *why;
	} cases[] = {
	    {"source = { format = \"avro\"; };", "registry.url",
	        "schema registry"},
	    {"source = { formats = ( { topic = \"a\"; format = \"avro\"; } ); "
	     "};",
	        "registry.url", "schema registry"},
	    {URL "token = \"t\"; user = \"u\"; };", "registry.token",
	        "registry.user"},
	    {"registry = { url = \"ftp://r\"; };", "registry.url", "http"},
	    {"registry = { url = \"http://u:hunter2@r\"; };", "registry.url",
	        ""},
	    {URL "ca_file = \"/nonexistent/ca.pem\"; };", "registry.ca_file",
	        "/nonexistent/ca.pem"},
	    {URL "id4 = \"guid\"; };", "registry.id4", "content"},
	    {URL "password = 7; };", "registry.password", "a string"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct br_buffer told = {0};
		char text[600];

		snprintf(text, sizeof(text), "%s%s", HEAD, cases[i].text);
		assert_null(load(text, &told));
		if (strstr(told.data, cases[i].key) == NULL ||
		    strstr(told.data, cases[i].why) == NULL)
			fail_msg("%s: %s", cases[i].text, told.data);
		assert_null(strstr(told.data, "hunter2"));
		br_buffer_free(&told);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(defaults),
	    cmocka_unit_test(values),
	    cmocka_unit_test(secrets),
	    cmocka_unit_test(faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
