/* Which schemas are taken, and which would be a danger. */
#include "source_support.h"

#include "bridge/base/buffer.h"
#include "bridge/source/avro_schema.h"

#include <stdio.h>

#define REC(fields)                                                            \
	"{\"type\":\"record\",\"name\":\"R\",\"fields\":[" fields "]}"
#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type "}"

static struct br_avro_schema *
read_one(const char *text, struct br_error *err)
{
	struct br_slice slice = br_slice_str(text);

	return br_avro_schema_new(&slice, 1, err);
}

static void
test_taken(void **state)
{
	static const char *const texts[] = {
	    "\"string\"",
	    "[\"null\",\"bytes\"]",
	    "[\"int\",\"null\"]",
	    "{\"type\":{\"type\":\"string\"}}",
	    "{\"type\":\"string\",\"connect.name\":\"x\",\"logicalType\":"
	    "\"y\"}",
	    /* what Debezium writes, and avro-c refuses: NUL in a default */
	    REC("{\"name\":\"a\",\"type\":\"bytes\",\"default\":\"\\u0000\"}"),
	    /* no valid names, but what a topic prefix with a hyphen gives */
	    "{\"type\":\"record\",\"name\":\"R\",\"namespace\":\"a-b.c\","
	    "\"fields\":[" FIELD("1x", "\"int\"") "," FIELD(
	        "x-y", "[\"null\",\"R\"]") "]}",
	    REC(FIELD("r", "[\"null\",\"R\"]")),
	    REC(FIELD("r", "{\"type\":\"array\",\"items\":\"R\"}")),
	    REC(FIELD("r", "{\"type\":\"map\",\"values\":\"R\"}")),
	    REC(""),
	    "{\"type\":\"fixed\",\"name\":\"F\",\"size\":1048576}",
	    "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\"]}",
	    "{\"type\":\"error\",\"name\":\"R\",\"fields\":[]}",
	    "{\"fields\":[],\"name\":\"R\",\"type\":\"record\"}",
	    " [ \"null\" , \"string\" ] ",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct br_error err = {{0}};
		struct br_avro_schema *s;

		s = read_one(texts[i], &err);
		if (s == NULL)
			fail_msg("%s: %s", texts[i], err.text);
		br_avro_schema_free(s);
	}
}

static void
test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
	    {"", "JSON"},
	    {"\"string\" x", "JSON"},
	    {"7", "not a type"},
	    {"{}", "missing"},
	    {"[]", "empty union"},
	    {"\"wool\"", "unknown type: wool"},
	    {"[\"null\",[\"int\",\"null\"]]", "union in a union"},
	    {REC(FIELD("r", "\"R\"")), "holds itself"},
	    {REC(FIELD(
	         "a", "{\"type\":\"record\",\"name\":\"B\",\"fields\":[" FIELD(
	                  "b", "\"R\"") "]}")),
	        "holds itself"},
	    {"[\"null\"," REC(
	         FIELD("u", "[\"null\",\"R\"]") "," FIELD("r", "\"R\"")) "]",
	        "holds itself"},
	    {REC(FIELD("r", "\"S\"")), "unknown type: S"},
	    {REC("{\"name\":\"a\"}"), "missing"},
	    {REC("{\"type\":\"int\"}"), "no name"},
	    {REC("7"), "no name"},
	    {REC("[1]"), "no name"},
	    {REC("[\"name\"]"), "no name"},
	    {"{\"type\":\"record\",\"name\":\"R\"}", "no fields"},
	    {"{\"type\":\"record\",\"fields\":[]}", "without a name"},
	    {"[" REC("") "," REC("") "]", "defined twice"},
	    {"{\"type\":\"array\",\"items\":\"null\"}", "without bytes"},
	    {"{\"type\":\"array\",\"items\":" REC("") "}", "without bytes"},
	    {"{\"type\":\"fixed\",\"name\":\"F\",\"size\":0}", "size"},
	    {"{\"type\":\"array\"}", "missing"},
	    {"{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[]}", "no symbols"},
	    {"{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[7]}", "no text"},
	    {"{\"type\":\"fixed\",\"name\":\"F\",\"size\":-2}", "size"},
	    {"{\"type\":\"fixed\",\"name\":\"F\",\"size\":1048577}", "size"},
	    {"{\"type\":\"fixed\",\"name\":\"F\",\"size\":1e3}", "size"},
	    {"{\"type\":\"fixed\",\"name\":\"F\",\"size\":\"4\"}", "size"},
	    {"{\"type\":\"fixed\",\"name\":\"F\"}", "size"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct br_error err = {{0}};
		struct br_avro_schema *s = read_one(cases[i].text, &err);

		if (s != NULL)
			fail_msg("%s is taken", cases[i].text);
		if (strstr(err.text, cases[i].why) == NULL)
			fail_msg("%s: \"%s\" does not say \"%s\"",
			    cases[i].text, err.text, cases[i].why);
	}
}

/* 24 records, each with the one before it twice: 8 GB in avro-c. */
static void
test_doubling(void **state)
{
	struct br_buffer text = {0};
	struct br_error err = {{0}};

	(void)state;
	br_buffer_str(&text, "[");
	for (int i = 0; i < 24; i++) {
		br_buffer_format(&text,
		    "%s{\"type\":\"record\",\"name\":\"R%d\",\"fields\":[",
		    i > 0 ? "," : "", i);
		if (i > 0)
			br_buffer_format(&text,
			    FIELD("a", "\"R%d\"") "," FIELD("b", "\"R%d\""),
			    i - 1, i - 1);
		else
			br_buffer_str(&text, FIELD("a", "\"int\""));
		br_buffer_str(&text, "]}");
	}
	br_buffer_str(&text, "]");
	assert_null(read_one(text.data, &err));
	assert_non_null(strstr(err.text, "10000"));
	br_buffer_free(&text);
}

/* Nested arrays, and a chain of records, as deep as asked. */
static void
test_depth(void **state)
{
	struct br_error err = {{0}};
	struct br_avro_schema *s;

	(void)state;
	for (int depth = 60; depth <= 100; depth += 40) {
		struct br_buffer text = {0};

		for (int i = 0; i < depth; i++)
			br_buffer_str(&text, "{\"type\":\"array\",\"items\":");
		br_buffer_str(&text, "\"int\"");
		for (int i = 0; i < depth; i++)
			br_buffer_str(&text, "}");
		s = read_one(text.data, &err);
		assert_int_equal(s != NULL, depth == 60);
		br_avro_schema_free(s);
		br_buffer_free(&text);
	}
	for (int depth = 100; depth <= 1000; depth += 900) {
		struct br_buffer text = {0};

		br_buffer_str(&text, "[" REC(FIELD("a", "\"int\"")));
		for (int i = 0; i < depth; i++)
			br_buffer_format(&text,
			    ",{\"type\":\"record\",\"name\":\"R%d\",\"fields\":"
			    "[" FIELD("a", "[\"null\",\"R%d\"]") "]}",
			    i, i > 0 ? i - 1 : 0);
		br_buffer_str(&text, "]");
		s = read_one(text.data, &err);
		assert_int_equal(s != NULL, depth == 100);
		br_avro_schema_free(s);
		br_buffer_free(&text);
	}
}

static void
test_size(void **state)
{
	struct br_buffer text = {0};
	struct br_error err = {{0}};
	struct br_avro_schema *s;

	(void)state;
	br_buffer_str(&text, "{\"type\":\"int\",\"doc\":\"");
	while (text.len < 1000000)
		br_buffer_str(&text, "0123456789");
	br_buffer_str(&text, "\"}");
	s = read_one(text.data, &err);
	assert_non_null(s);
	br_avro_schema_free(s);
	text.len -= 2;
	while (text.len < 1048577)
		br_buffer_str(&text, "0123456789");
	br_buffer_str(&text, "\"}");
	assert_null(read_one(text.data, &err));
	assert_non_null(strstr(err.text, "1048576 bytes"));
	br_buffer_free(&text);
}

static void
test_names(void **state)
{
	/* The second use is by the short name, in the first one's space. */
	static const char text[] =
	    "{\"type\":\"record\",\"name\":\"Envelope\",\"namespace\":\"p.s."
	    "t\","
	    "\"fields\":[" FIELD("before",
	        "[\"null\",{\"type\":\"record\",\"name\":\"Value\","
	        "\"fields\":[" FIELD(
	            "id", "\"long\"") "],\"connect.name\":\"c."
	                              "Value\"}]") "," FIELD("after",
	        "[\"null\",\"Value\"]") "," FIELD("again",
	        "\"p.s.t.Value\"") "]}";
	struct br_error err = {{0}};
	struct br_avro_schema *s = read_one(text, &err);
	const struct br_avro_node *value;

	(void)state;
	if (s == NULL)
		fail_msg("%s", err.text);
	assert_string_equal(br_avro_schema_name(s->root), "p.s.t.Envelope");
	value = s->root->child[0]->child[1];
	assert_string_equal(value->name, "p.s.t.Value");
	assert_string_equal(br_avro_schema_name(value), "c.Value");
	assert_ptr_equal(s->root->child[1]->child[1], value);
	assert_ptr_equal(s->root->child[2], value);
	assert_string_equal(s->root->label[2], "\"again\"");
	assert_null(br_avro_schema_name(s->root->child[0]));
	br_avro_schema_free(s);
}

/* What other schemas define: dependencies first, the one asked for last. */
static void
test_references(void **state)
{
	struct br_slice texts[] = {
	    br_slice_str("{\"type\":\"enum\",\"name\":\"n.Kind\",\"symbols\":["
	                 "\"A\"]}"),
	    br_slice_str("{\"type\":\"record\",\"name\":\"Base\",\"namespace\":"
	                 "\"n\",\"fields\":[" FIELD("k", "\"Kind\"") "]}"),
	    br_slice_str(REC(FIELD("b", "\"n.Base\"")))};
	struct br_error err = {{0}};
	struct br_avro_schema *s = br_avro_schema_new(texts, 3, &err);

	(void)state;
	if (s == NULL)
		fail_msg("%s", err.text);
	assert_string_equal(s->root->name, "R");
	assert_string_equal(s->root->child[0]->name, "n.Base");
	assert_int_equal(s->root->child[0]->child[0]->type, BR_AVRO_ENUM);
	br_avro_schema_free(s);
	assert_null(br_avro_schema_new(texts + 1, 2, &err));
	assert_non_null(strstr(err.text, "unknown type: Kind"));
	assert_null(br_avro_schema_new(texts, 0, &err));
}

static void
test_logical(void **state)
{
	static const char text[] =
	    REC(FIELD("a", "{\"type\":\"bytes\",\"logicalType\":\"decimal\","
	                   "\"precision\":9,\"scale\":2}") "," FIELD("b",
	        "{\"type\":\"bytes\",\"connect.name\":"
	        "\"org.apache.kafka.connect.data.Decimal\","
	        "\"connect.parameters\":{\"scale\":\"3\"}}") "," FIELD("c",
	        "{\"type\":\"record\",\"name\":"
	        "\"io.debezium.data.VariableScaleDecimal\",\"fields\":[" FIELD(
	            "scale", "\"int\"") "," FIELD("value",
	            "\"bytes\"") "]}") "," FIELD("d",
	        "{\"type\":\"long\",\"connect.name\":"
	        "\"io.debezium.time.MicroTimestamp\"}") "," FIELD("e",
	        "{\"type\":\"string\",\"logicalType\":\"decimal\"}"));
	struct br_error err = {{0}};
	struct br_avro_schema *s = read_one(text, &err);
	struct br_avro_node **c;

	(void)state;
	if (s == NULL)
		fail_msg("%s", err.text);
	c = s->root->child;
	assert_int_equal(c[0]->logical, BR_AVRO_DECIMAL);
	assert_int_equal(c[0]->scale, 2);
	assert_int_equal(c[1]->logical, BR_AVRO_DECIMAL);
	assert_int_equal(c[1]->scale, 3);
	assert_int_equal(c[2]->logical, BR_AVRO_VARIABLE);
	assert_int_equal(c[3]->logical, BR_AVRO_PLAIN);
	assert_int_equal(c[4]->logical, BR_AVRO_PLAIN);
	assert_string_equal(s->root->connect_schema,
	    "{\"type\":\"struct\",\"name\":\"R\",\"fields\":["
	    "{\"type\":\"double\",\"field\":\"a\"},"
	    "{\"type\":\"double\",\"field\":\"b\"},"
	    "{\"type\":\"double\",\"field\":\"c\"},"
	    "{\"type\":\"int64\",\"name\":\"io.debezium.time.MicroTimestamp\","
	    "\"field\":\"d\"},"
	    "{\"type\":\"string\",\"field\":\"e\"}]}");
	br_avro_schema_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_taken),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_doubling),
	    cmocka_unit_test(test_depth),
	    cmocka_unit_test(test_size),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_references),
	    cmocka_unit_test(test_logical),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
