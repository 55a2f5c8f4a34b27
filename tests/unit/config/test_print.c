/* What `check` shows: loads to the same, and no secret stands in it. */
#include "config_support.h"

#include "bridge/config/secrets.h"
#include "bridge/config/table.h"

static void
round_trip(void **state)
{
	static const char *const texts[] = {HEAD,
	    "kafka = { brokers = \"b\"; topics = ( \"a\", \"^b\\\\.c$\", \"*\" "
	    "); start = \"2026-01-31T08:00:00.007Z\"; instance = "
	    "\"a\\\"b\\\\c\\n\\t\\x01 $${x} \u20ac\"; properties = [ \"a=b\" "
	    "]; "
	    "on_gap = \"earliest\"; };\n"
	    "source = { formats = ( { topic = \"a*\"; format = \"json\"; }, { "
	    "topic = \"b\"; format = \"auto\"; } ); skip_topics = [ ]; };\n"
	    "delivery = { url = \"https://h:8443/p\"; event_urls = [ \"x\", "
	    "\"http://y\" ]; order = \"partition\"; };\n"
	    "retry = { jitter = 0.123456789; success_on = [ \"409\", \"5xx\", "
	    "\"410-412\", \"999\", \"100\" ]; throttle_on = [ ]; };\n"
	    "routes = ( { name = \"n\"; match = { topic = \"t\"; header = "
	    "\"a=b\"; }; url = \"http://h/\"; }, { name = \"m\"; } );\n"
	    "limits = { buffer_bytes = 1099511627776L; };\n"
	    "admin = { listen = \"[::1]:1\"; };",
	    HEAD "admin = { listen = \"\"; }; routes = ( );"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct br_config *c = must_load(texts[i]), *again;
		char *first = printed(c, false), *second;

		again = must_load(first);
		second = printed(again, false);
		assert_string_equal(first, second);
		free(first);
		free(second);
		br_config_free(c);
		br_config_free(again);
	}
}

/* The values themselves, since both prints could lose the same. */
static void
kept(void **state)
{
	struct br_config *c = must_load("kafka = { brokers = \"b\"; topics = "
	                                "\"t\"; instance = \"$${x} \\\" \\\\ "
	                                "$$ \\x01\"; start = "
	                                "\"2026-01-31T08:00:00.007Z\"; };"
	                                "delivery = { url = \"http://h/\"; };"
	                                "retry = { success_on = [ \"409\", "
	                                "\"5xx\" ]; jitter = 0.3; };");
	char *text = printed(c, false);

	(void)state;
	br_config_free(c);
	c = must_load(text);
	assert_string_equal(c->kafka.instance, "${x} \" \\ $$ \x01");
	assert_int_equal(c->kafka.start_time_ms, 1769846400007);
	assert_true(br_status_set_has(&c->retry.verdict.success_on, 409));
	assert_true(br_status_set_has(&c->retry.verdict.success_on, 555));
	assert_false(br_status_set_has(&c->retry.verdict.success_on, 410));
	assert_true(c->retry.rules.jitter == 0.3);
	assert_non_null(strstr(text, "success_on = [ \"409\", \"5xx\" ];"));
	free(text);
	br_config_free(c);
}

/* Every key is there, and says whether it was set. */
static void
complete(void **state)
{
	struct br_config *c = must_load(HEAD "dlq = { topic = \"outbox.dlq\"; "
	                                     "};");
	char *text = printed(c, true);
	size_t keys = 0, lines = 0;

	(void)state;
	for (size_t i = 0; i < br_table_count(); i++) {
		const char *path = br_table_at(i)->path;
		const char *dot = strrchr(path, '.');
		char want[80];

		if (strstr(path, "[]") != NULL)
			continue;
		keys++;
		snprintf(want, sizeof(want), "%s%s = ", dot != NULL ? "  " : "",
		    dot != NULL ? dot + 1 : path);
		assert_non_null(strstr(text, want));
	}
	for (const char *p = text; (p = strstr(p, ";  // ")) != NULL; p++)
		lines++;
	assert_int_equal(lines, keys);
	assert_non_null(strstr(text, "  topic = \"outbox.dlq\";  // set\n"));
	assert_non_null(strstr(text, "  brokers = \"b:9092\";  // set\n"));
	assert_non_null(strstr(text, "  connections = 4;  // default\n"));
	free(text);
	br_config_free(c);
}

static void
secrets_masked(void **state)
{
	struct br_config *c;
	char *text;

	(void)state;
	setenv("BR_SECRET", "hunter2", 1);
	c = must_load(
	    "kafka = { brokers = \"b\"; topics = \"t\"; properties = [ "
	    "\"sasl.password=hunter2\", \"producer.ssl.key.password=hunter2\", "
	    "\"sasl.oauthbearer.client.secret=hunter2\", "
	    "\"SSL.Key.Pem=hunter2\""
	    ", \"sasl.username=${env:BR_SECRET}\", \"ssl.keystore.password="
	    "hunter2\", \"security.protocol=SASL_SSL\", \"client.id=bridge\" "
	    "]; };\n"
	    "delivery = { url = \"https://h.test/p?token=hunter2\"; };\n"
	    "routes = ( { name = \"a\"; url = \"https://h.test/x/${env:"
	    "BR_SECRET}/y\"; }, { name = \"b\"; url = \"https://h.test/plain\""
	    "; } );");
	assert_string_equal(
	    c->kafka.properties.item[4], "sasl.username=hunter2");
	assert_string_equal(c->delivery.url, "https://h.test/p?token=hunter2");
	assert_string_equal(c->routes[0].url, "https://h.test/x/hunter2/y");
	text = printed(c, true);
	assert_null(strstr(text, "hunter2"));
	assert_non_null(strstr(text, "\"sasl.password=***\""));
	assert_non_null(strstr(text, "\"sasl.username=***\""));
	assert_non_null(strstr(text, "\"security.protocol=SASL_SSL\""));
	assert_non_null(strstr(text, "\"client.id=bridge\""));
	assert_non_null(strstr(text, "\"https://h.test/p?***\""));
	assert_non_null(strstr(text, "\"https://h.test/***\""));
	assert_non_null(strstr(text, "\"https://h.test/plain\""));
	free(text);
	br_config_free(c);
}

static void
masks(void **state)
{
	static const struct {
		const char *url;
		bool referenced;
		const char *want;
	} rows[] = {{"http://u:p@h/x", false, "http://***@h/x"},
	    {"http://u:p@q@h:1?x", false, "http://***@h:1?***"},
	    {"http://h/a?b=c#d", false, "http://h/a?***"},
	    {"http://h/a#d", false, "http://h/a#***"},
	    {"http://h/a@b", false, "http://h/a@b"},
	    {"http://h", true, "http://h"},
	    {"http://h/a?b", true, "http://h/***"}, {"h/a?b", false, "***"},
	    {"", false, ""}};
	struct br_buffer out = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		br_buffer_clear(&out);
		br_secrets_mask_url(rows[i].url, rows[i].referenced, &out);
		assert_string_equal(
		    out.data != NULL ? out.data : "", rows[i].want);
	}
	br_buffer_free(&out);
}

/* Whatever is wrong, what is secret does not get into the message. */
static void
secrets_never_in_faults(void **state)
{
	static const char *const texts[] = {
	    /* as a value that does not fit where it went by mistake */
	    HEAD "log = { level = \"${env:BR_SECRET}\"; };",
	    HEAD "retry = { base_ms = \"${env:BR_SECRET}\"; };",
	    HEAD "retry = { base_ms = \"x${env:BR_SECRET}\"; };",
	    HEAD "dlq = { topic = \"${env:BR_SECRET} x\"; };",
	    HEAD "admin = { listen = \"${env:BR_SECRET}\"; };",
	    HEAD "retry = { retry_on = [ \"${env:BR_SECRET}\" ]; };",
	    HEAD "source = { skip_topics = [ \"^${env:BR_SECRET}(\" ]; };",
	    HEAD "routes = ( { name = \"a\"; url = \"x://${env:BR_SECRET}\"; "
	         "} );",
	    HEAD "routes = ( { name = \"a\"; url = \"http://hunter2@h/\"; } );",
	    HEAD "routes = ( { name = \"a\"; url = \"http://h h/?hunter2\"; } "
	         ");",
	    /* in a property that is malformed */
	    "kafka = { properties = [ \"sasl.password:hunter2\" ]; };",
	    "kafka = { properties = [ \"hunter2\" ]; };",
	    "kafka = { properties = [ \"group.id=hunter2\" ]; };",
	    ("kafka = { properties = [ \"sasl.password=hunter2\", "
	     "\"sasl.password=hunter2\" ]; };"),
	    "kafka = { properties = hunter2; };",
	    "kafka = { properties = [ sasl.password=hunter2 ]; };",
	    "kafka = { properties = { a = hunter2; }; };",
	    "kafka = { properties = ( { a = \"hunter2\"; } ); };",
	    "kafka = { sasl_password = hunter2; };",
	    "kafka = { sasl_password = \"hunter2\"; };",
	    "kafka = { sasl_password \"hunter2\"; };",
	    /* behind quotes that went astray */
	    "kafka = { properties = [ \"a=b, \"sasl.password=hunter2\" ]; };",
	    "kafka = { properties = [ \"sasl.password=\"hunter2\" ]; };",
	    "kafka = { properties = [ \"sasl.password=hunter2 ]; };",
	    "a = \"b;\nc = \"hunter2\";\n",
	    "a = \"b;\nc = \"hunter2 x\";\nd = 1;\n", "a = \"b\"hunter2\";\n",
	    "a = \"b;\nc = \"; d = hunter2;\n",
	    /* where a number or a default could be one */
	    HEAD "retry = { base_ms = \"x${env:BR_NO:-hunter2}\"; };",
	    "kafka = { properties = [ 471100 ]; };",
	    "delivery = { url = https://hunter2@h/; };",
	    "delivery = { url = \"https://hunter2@h/\"; };",
	    "delivery = { url = [ \"https://hunter2@h/\" ]; };",
	    "delivery = { event_urls = [ \"https://hunter2@h/\" ]; };"};

	(void)state;
	setenv("BR_SECRET", "hunter2", 1);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct br_buffer faults = {0};

		assert_null(load(texts[i], &faults));
		assert_non_null(faults.data);
		if (strstr(faults.data, "hunter2") != NULL ||
		    strstr(faults.data, "471100") != NULL)
			fail_msg("%s\nshows %s", texts[i], faults.data);
		br_buffer_free(&faults);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip),
	    cmocka_unit_test(kept), cmocka_unit_test(complete),
	    cmocka_unit_test(secrets_masked), cmocka_unit_test(masks),
	    cmocka_unit_test(secrets_never_in_faults)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
