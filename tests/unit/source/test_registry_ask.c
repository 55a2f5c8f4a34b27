/* One question to a registry: addresses, answers, references. */
#include "source_support.h"

#include "bridge/source/registry_ask.h"

#include <stdio.h>

/* What the world answers: by the end of the URL, the first that fits. */
struct page {
	const char *url;
	int status;
	const char *body;
};

static const struct page *pages;
static size_t page_count;
static struct br_buffer log_text; /* paths that were asked, with commas */

static int
get(void *opaque, const char *url, struct br_buffer *body, struct br_error *err)
{
	(void)opaque;
	br_buffer_str(&log_text, url);
	br_buffer_str(&log_text, "\n");
	for (size_t i = 0; i < page_count; i++)
		if (strcmp(pages[i].url, url) == 0) {
			br_buffer_str(body, pages[i].body);
			return pages[i].status;
		}
	br_fail(err, "connection refused");
	return 0;
}

static struct br_registry_reply *
look_up(const char *url, const char *apicurio, struct br_schema_key key,
    const struct page *list, size_t count)
{
	static char one[200], two[200];
	char *urls[] = {one, two};
	struct br_config_registry c = {.apicurio_url = ""};
	struct br_registry_fetch fetch = {get, NULL};
	const char *comma = strchr(url, ',');
	static char own[200];

	snprintf(one, sizeof(one), "%.*s",
	    (int)(comma != NULL ? (size_t)(comma - url) : strlen(url)), url);
	snprintf(two, sizeof(two), "%s", comma != NULL ? comma + 1 : "");
	c.url = (struct br_strings){urls, url[0] == '\0'  ? 0
	                                  : comma != NULL ? 2
	                                                  : 1};
	snprintf(own, sizeof(own), "%s", apicurio);
	c.apicurio_url = own;
	pages = list;
	page_count = count;
	br_buffer_clear(&log_text);
	br_buffer_str(&log_text, "");
	return br_registry_look_up(&c, &fetch, &key);
}

static const struct br_schema_key seven = {.space = BR_SCHEMA_CONTENT, .id = 7};
static const struct br_schema_key global = {
    .space = BR_SCHEMA_GLOBAL, .id = UINT64_C(4294967297)};

static void
assert_texts(struct br_registry_reply *r, size_t count, const char *const *text)
{
	if (r->outcome != BR_REGISTRY_FOUND)
		fail_msg("outcome %d: %s", (int)r->outcome, r->why.text);
	assert_int_equal(r->text_count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(r->text[i].data, text[i]);
	br_registry_reply_free(r);
}

static void
assert_asked(const char *expected)
{
	assert_string_equal(log_text.data, expected);
}

static void
test_content(void **state)
{
	static const struct page list[] = {{"http://a/r/schemas/ids/7", 200,
	    "{\"schema\":\"\\\"string\\\"\",\"schemaType\":\"AVRO\"}"}};
	static const char *const want[] = {"\"string\""};

	(void)state;
	/* The path of the address stays, its last slash does not. */
	assert_texts(look_up("http://a/r/", "", seven, list, 1), 1, want);
	assert_asked("http://a/r/schemas/ids/7\n");
}

static void
test_guid(void **state)
{
	static const struct page list[] = {
	    {"http://a/schemas/guids/dd24e10e-cc2b-8c38-8400-1e7afaf64d54", 200,
	        "{\"schema\":\"\\\"int\\\"\",\"references\":[]}"}};
	static const char *const want[] = {"\"int\""};
	struct br_schema_key key = {.space = BR_SCHEMA_GUID,
	    .guid = {0xdd, 0x24, 0xe1, 0x0e, 0xcc, 0x2b, 0x8c, 0x38, 0x84, 0x00,
	        0x1e, 0x7a, 0xfa, 0xf6, 0x4d, 0x54}};

	(void)state;
	assert_texts(look_up("http://a", "", key, list, 1), 1, want);
}

/* Apicurio's own API: beside ccompat, or as configured; with references. */
static void
test_global(void **state)
{
	static const struct page v2[] = {
	    {"http://a/apis/registry/v2/ids/globalIds/4294967297", 200,
	        "\"n.B\""},
	    {"http://a/apis/registry/v2/ids/globalIds/4294967297/references",
	        200,
	        "[{\"groupId\":\"g/1\",\"artifactId\":\"b\",\"version\":"
	        "\"2\",\"name\":\"n.B\"}]"},
	    {"http://a/apis/registry/v2/groups/g%2F1/artifacts/b/versions/2",
	        200,
	        "{\"type\":\"enum\",\"name\":\"n.B\",\"symbols\":[\"A\"]}"},
	    {"http://a/apis/registry/v2/groups/g%2F1/artifacts/b/versions/2/"
	     "references",
	        404, ""}};
	static const struct page v3[] = {
	    {"http://b/apis/registry/v3/ids/globalIds/4294967297", 200,
	        "\"n.B\""},
	    {"http://b/apis/registry/v3/ids/globalIds/4294967297/references",
	        200,
	        "[{\"groupId\":null,\"artifactId\":\"b\",\"version\":"
	        "\"2\"}]"},
	    {"http://b/apis/registry/v3/groups/default/artifacts/b/versions/2/"
	     "content",
	        200, "{}"},
	    {"http://b/apis/registry/v3/groups/default/artifacts/b/versions/2/"
	     "references",
	        200, "[]"}};
	static const char *const want2[] = {
	    "{\"type\":\"enum\",\"name\":\"n.B\",\"symbols\":[\"A\"]}",
	    "\"n.B\""};
	static const char *const want3[] = {"{}", "\"n.B\""};
	struct br_registry_reply *r;

	(void)state;
	assert_texts(
	    look_up("http://a/apis/ccompat/v7", "", global, v2, 4), 2, want2);
	assert_texts(
	    look_up("http://x", "http://b/apis/registry/v3", global, v3, 4), 2,
	    want3);
	/* Nowhere to ask: a line of the configuration is missing. */
	r = look_up("http://x", "", global, v2, 4);
	assert_int_equal(r->outcome, BR_REGISTRY_OUTAGE);
	assert_non_null(strstr(r->why.text, "registry.apicurio_url"));
	assert_asked("");
	br_registry_reply_free(r);
}

/* Each once, those that others need first. */
static void
test_references(void **state)
{
	static const struct page list[] = {
	    {"http://a/schemas/ids/7", 200,
	        "{\"schema\":\"main\",\"references\":[{\"name\":\"n.B\","
	        "\"subject\":\"b c\",\"version\":1},{\"name\":\"n.C\","
	        "\"subject\":\"c\",\"version\":\"3\"}]}"},
	    {"http://a/subjects/b%20c/versions/1", 200,
	        "{\"schema\":\"B\",\"references\":[{\"name\":\"n.C\","
	        "\"subject\":\"c\",\"version\":3}]}"},
	    {"http://a/subjects/c/versions/3", 200, "{\"schema\":\"C\"}"}};
	static const struct page endless[] = {
	    {"http://a/schemas/ids/7", 200,
	        "{\"schema\":\"main\",\"references\":[{\"subject\":\"b\","
	        "\"version\":1}]}"},
	    {"http://a/subjects/b/versions/1", 200,
	        "{\"schema\":\"B\",\"references\":[{\"subject\":\"b\","
	        "\"version\":1}]}"}};
	static const struct page lost[] = {
	    {"http://a/schemas/ids/7", 200,
	        "{\"schema\":\"main\",\"references\":[{\"subject\":\"b\","
	        "\"version\":1}]}"},
	    {"http://a/subjects/b/versions/1", 404, "{\"error_code\":40401}"}};
	static const char *const want[] = {"C", "B", "main"};
	static const char *const round[] = {"B", "main"};
	struct br_registry_reply *r;

	(void)state;
	assert_texts(look_up("http://a", "", seven, list, 3), 3, want);
	assert_texts(look_up("http://a", "", seven, endless, 2), 2, round);
	r = look_up("http://a", "", seven, lost, 2);
	assert_int_equal(r->outcome, BR_REGISTRY_NONE);
	assert_non_null(strstr(r->why.text, "/subjects/b/versions/1"));
	assert_int_equal(r->text_count, 0);
	br_registry_reply_free(r);
}

static void
test_outcomes(void **state)
{
	static const struct {
		int status;
		const char *body;
		enum br_registry_outcome outcome;
		const char *why;
	} cases[] = {
	    {404, "{\"error_code\":40403}", BR_REGISTRY_NONE, "404"},
	    {404, "{\"error_code\":0}", BR_REGISTRY_NONE, "404"},
	    {400, "{}", BR_REGISTRY_NONE, "400"},
	    {422, "{}", BR_REGISTRY_NONE, "422"},
	    {422, "", BR_REGISTRY_OUTAGE, "422"},
	    {400, "<html>", BR_REGISTRY_OUTAGE, "400"},
	    {401, "", BR_REGISTRY_OUTAGE, "registry.password"},
	    {403, "", BR_REGISTRY_OUTAGE, "registry.token"},
	    {301, "", BR_REGISTRY_OUTAGE, "301"},
	    {429, "", BR_REGISTRY_OUTAGE, "429"},
	    {500, "", BR_REGISTRY_OUTAGE, "500"},
	    {503, "", BR_REGISTRY_OUTAGE, "503"},
	    {204, "", BR_REGISTRY_OUTAGE, "204"},
	    {0, "", BR_REGISTRY_OUTAGE, "connection refused"},
	    {200, "<html>log in</html>", BR_REGISTRY_OUTAGE, "not one of"},
	    {200, "{\"schema\":7}", BR_REGISTRY_OUTAGE, "not one of"},
	    {200, "{}", BR_REGISTRY_OUTAGE, "not one of"},
	    {200, "{\"schema\":\"x\",\"schemaType\":\"PROTOBUF\"}",
	        BR_REGISTRY_UNUSABLE, "PROTOBUF"},
	    {200, "{\"schema\":\"x\",\"references\":[7]}", BR_REGISTRY_UNUSABLE,
	        "no place"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct page page = {
		    "http://a/schemas/ids/7", cases[i].status, cases[i].body};
		struct br_registry_reply *r = look_up(
		    "http://a", "", seven, &page, cases[i].status != 0 ? 1 : 0);

		if (r->outcome != cases[i].outcome ||
		    strstr(r->why.text, cases[i].why) == NULL)
			fail_msg("%d %s: outcome %d, %s", cases[i].status,
			    cases[i].body, (int)r->outcome, r->why.text);
		br_registry_reply_free(r);
	}
}

/* A 404 of something that is no registry must not empty a topic. */
static void
test_wrong_path(void **state)
{
	static const struct page wrong[] = {
	    {"http://a/x/schemas/ids/7", 404, "<html>not found</html>"},
	    {"http://a/x/subjects", 404, "<html>not found</html>"}};
	static const struct page right[] = {{"http://a/schemas/ids/7", 404, ""},
	    {"http://a/subjects", 200, "[]"}};
	struct br_registry_reply *r =
	    look_up("http://a/x", "", seven, wrong, 2);

	(void)state;
	assert_int_equal(r->outcome, BR_REGISTRY_OUTAGE);
	assert_non_null(strstr(r->why.text, "registry.url"));
	br_registry_reply_free(r);
	r = look_up("http://a", "", seven, right, 2);
	assert_int_equal(r->outcome, BR_REGISTRY_NONE);
	br_registry_reply_free(r);
}

/* Only a list of subjects says that a registry is behind a page of HTML. */
static void
test_proxy(void **state)
{
	static const int statuses[] = {503, 500, 401, 403, 404, 302, 204, 0};

	(void)state;
	for (size_t i = 0; i < COUNT(statuses); i++) {
		struct page list[] = {
		    {"http://a/schemas/ids/7", 404, "<html>not found</html>"},
		    {"http://a/subjects", statuses[i], "<html></html>"}};
		struct br_registry_reply *r = look_up(
		    "http://a", "", seven, list, statuses[i] != 0 ? 2 : 1);

		if (r->outcome != BR_REGISTRY_OUTAGE)
			fail_msg(
			    "%d: outcome %d", statuses[i], (int)r->outcome);
		assert_non_null(strstr(r->why.text, "registry.url"));
		assert_asked("http://a/schemas/ids/7\nhttp://a/subjects\n");
		br_registry_reply_free(r);
	}
}

/* On Apicurio's own API a 404 counts in Apicurio's words only. */
static void
test_apicurio_none(void **state)
{
#define V2 "http://b/apis/registry/v2"
#define V3 "http://b/apis/registry/v3"
#define NUMBER "/ids/globalIds/4294967297"
	static const struct {
		const char *base;
		struct page page;
		enum br_registry_outcome outcome;
	} cases[] = {
	    {V2, {V2 NUMBER, 404, "<html>"}, BR_REGISTRY_OUTAGE},
	    {V2, {V2 NUMBER, 404, ""}, BR_REGISTRY_OUTAGE},
	    {V2, {V2 NUMBER, 404, "{\"message\":\"x\",\"error_code\":404}"},
	        BR_REGISTRY_NONE},
	    {V3, {V3 NUMBER, 404, "<html>"}, BR_REGISTRY_OUTAGE},
	    {V3, {V3 NUMBER, 404, "{\"status\":404}"}, BR_REGISTRY_OUTAGE},
	    {V3,
	        {V3 NUMBER, 404,
	            "{\"title\":\"x\",\"status\":404,\"name\":"
	            "\"ArtifactNotFoundException\"}"},
	        BR_REGISTRY_NONE},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct br_registry_reply *r = look_up(
		    "http://x", cases[i].base, global, &cases[i].page, 1);

		if (r->outcome != cases[i].outcome)
			fail_msg("%s %s: outcome %d", cases[i].base,
			    cases[i].page.body, (int)r->outcome);
		if (r->outcome == BR_REGISTRY_OUTAGE)
			assert_non_null(
			    strstr(r->why.text, "registry.apicurio_url"));
		br_registry_reply_free(r);
	}
#undef V2
#undef V3
#undef NUMBER
}

/* The next address is asked when one cannot tell, and only then. */
static void
test_several(void **state)
{
	static const struct page list[] = {
	    {"http://b/schemas/ids/7", 200, "{\"schema\":\"\\\"int\\\"\"}"},
	    {"http://c/schemas/ids/7", 503, "{\"schema\":\"x\"}"},
	    {"http://d/schemas/ids/7", 404, "{\"error_code\":40403}"}};
	static const char *const want[] = {"\"int\""};
	struct br_registry_reply *r;

	(void)state;
	assert_texts(look_up("http://a,http://b", "", seven, list, 3), 1, want);
	assert_asked("http://a/schemas/ids/7\nhttp://b/schemas/ids/7\n");
	assert_texts(look_up("http://c,http://b", "", seven, list, 3), 1, want);
	r = look_up("http://d,http://b", "", seven, list, 3);
	assert_int_equal(r->outcome, BR_REGISTRY_NONE);
	assert_asked("http://d/schemas/ids/7\n");
	br_registry_reply_free(r);
	r = look_up("http://c,http://a", "", seven, list, 3);
	assert_int_equal(r->outcome, BR_REGISTRY_OUTAGE);
	assert_non_null(strstr(r->why.text, "http://a/"));
	br_registry_reply_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_content),
	    cmocka_unit_test(test_guid),
	    cmocka_unit_test(test_global),
	    cmocka_unit_test(test_references),
	    cmocka_unit_test(test_outcomes),
	    cmocka_unit_test(test_wrong_path),
	    cmocka_unit_test(test_proxy),
	    cmocka_unit_test(test_apicurio_none),
	    cmocka_unit_test(test_several),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	br_buffer_free(&log_text);
	return failed;
}
