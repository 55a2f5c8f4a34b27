/* Where a record says which schema its value or key has. */
#include "source_support.h"

#include "bridge/source/avro_frame.h"

#include <stdio.h>

#define BYTES(text)                                                            \
	{                                                                      \
		(const uint8_t *)(text), sizeof(text) - 1                      \
	}
#define GUID "\xdd\x24\xe1\x0e\xcc\x2b\x8c\x38\x84\x00\x1e\x7a\xfa\xf6\x4d\x54"
#define GUID_TEXT "guid dd24e10e-cc2b-8c38-8400-1e7afaf64d54"

static const struct framing {
	const char *name;
	struct br_slice bytes;
	const char *header;
	struct br_slice id;
	const char *encoding; /* of Apicurio; NULL: no such header */
	bool known;
	enum br_frame_kind kind;
	const char *key;
	size_t skipped; /* bytes before the body */
	bool bare;
} framings[] = {
    {"Confluent", BYTES("\0\0\0\0\7x"), NULL, {NULL, 0}, NULL, false,
        BR_FRAME_AVRO, "content id 7", 5, true},
    {"largest id", BYTES("\0\xff\xff\xff\xff"), NULL, {NULL, 0}, NULL, false,
        BR_FRAME_AVRO, "content id 4294967295", 5, true},
    {"Apicurio 2", BYTES("\0\0\0\0\0\0\0\0\x24x"), NULL, {NULL, 0}, NULL, false,
        BR_FRAME_AVRO, "global id 36", 9, false},
    {"id beyond 32 bits is one of 4 bytes", BYTES("\0\0\0\0\1\0\0\0\0x"), NULL,
        {NULL, 0}, NULL, false, BR_FRAME_AVRO, "content id 1", 5, true},
    {"too short", BYTES("\0\0\0\0"), NULL, {NULL, 0}, NULL, false,
        BR_FRAME_NONE, NULL, 0, false},
    {"id 0, too short for 8", BYTES("\0\0\0\0\0\0\0\0"), NULL, {NULL, 0}, NULL,
        false, BR_FRAME_NONE, NULL, 0, false},
    {"the same, said to be Avro", BYTES("\0\0\0\0\0\0\0\0"), NULL, {NULL, 0},
        NULL, true, BR_FRAME_UNSUPPORTED, NULL, 0, false},
    {"text", BYTES("{\"a\":1}"), NULL, {NULL, 0}, NULL, false, BR_FRAME_NONE,
        NULL, 0, false},
    {"text, said to be Avro", BYTES("{\"a\":1}"), NULL, {NULL, 0}, NULL, true,
        BR_FRAME_UNSUPPORTED, NULL, 0, false},
    {"GUID in front", BYTES("\1" GUID "x"), NULL, {NULL, 0}, NULL, true,
        BR_FRAME_AVRO, GUID_TEXT, 17, true},
    {"GUID in front, by chance", BYTES("\1" GUID "x"), NULL, {NULL, 0}, NULL,
        false, BR_FRAME_NONE, NULL, 0, false},
    {"Glue", BYTES("\3\0" GUID "x"), NULL, {NULL, 0}, NULL, true,
        BR_FRAME_UNSUPPORTED, NULL, 0, false},
    {"GUID in a header", BYTES("\0\0\0\0\7x"), "__value_schema_id",
        BYTES("\1" GUID), NULL, false, BR_FRAME_AVRO, GUID_TEXT, 0, true},
    {"id in that header", BYTES("x"), "__value_schema_id", BYTES("\0\0\0\0\7"),
        NULL, false, BR_FRAME_AVRO, "content id 7", 0, true},
    {"something else in that header", BYTES("x"), "__value_schema_id",
        BYTES("\1" GUID "\0"), NULL, false, BR_FRAME_UNSUPPORTED, NULL, 0,
        false},
    {"global id in a header", BYTES("\0\x1cx"), "apicurio.value.globalId",
        BYTES("\0\0\0\0\0\0\0\x15"), "BINARY", false, BR_FRAME_AVRO,
        "global id 21", 0, false},
    {"without its encoding", BYTES("x"), "apicurio.value.globalId",
        BYTES("\0\0\0\1\0\0\0\0"), NULL, false, BR_FRAME_AVRO,
        "global id 4294967296", 0, false},
    {"content id in a header", BYTES(""), "apicurio.value.contentId",
        BYTES("\0\0\0\0\0\0\0\x15"), "BINARY", false, BR_FRAME_AVRO,
        "content id 21", 0, false},
    {"JSON encoding", BYTES("{}"), "apicurio.value.contentId",
        BYTES("\0\0\0\0\0\0\0\x15"), "JSON", false, BR_FRAME_UNSUPPORTED, NULL,
        0, false},
    {"4 bytes in Apicurio's header", BYTES("x"), "apicurio.value.globalId",
        BYTES("\0\0\0\x15"), NULL, false, BR_FRAME_UNSUPPORTED, NULL, 0, false},
    {"a null header says nothing", BYTES("\0\0\0\0\7x"),
        "apicurio.value.globalId", {NULL, 0}, NULL, false, BR_FRAME_AVRO,
        "content id 7", 5, true},
};

static void
check_framing(const struct framing *f, enum br_frame_part part)
{
	struct br_config_registry rules = {.id8 = BR_ID_GLOBAL};
	struct br_header headers[3];
	struct br_record r = {.topic = "t", .headers = headers};
	struct br_frame frame;
	char key[BR_SCHEMA_KEY_TEXT], name[64], encoding[64];
	const char *word = part == BR_FRAME_KEY ? "key" : "value";
	const char *dot = f->header != NULL ? strrchr(f->header, '.') : NULL;

	if (dot != NULL)
		snprintf(name, sizeof(name), "apicurio.%s%s", word, dot);
	else
		snprintf(name, sizeof(name), "__%s_schema_id", word);
	snprintf(encoding, sizeof(encoding), "apicurio.%s.encoding", word);
	if (part == BR_FRAME_KEY)
		r.key = f->bytes;
	else
		r.value = f->bytes;
	if (f->header != NULL)
		headers[r.header_count++] = (struct br_header){name, f->id};
	if (f->encoding != NULL)
		headers[r.header_count++] = header(encoding, f->encoding);
	frame = br_avro_frame(&r, part, &rules, f->known);
	if (frame.kind != f->kind)
		fail_msg("%s: kind %d, not %d", f->name, (int)frame.kind,
		    (int)f->kind);
	if (frame.kind == BR_FRAME_UNSUPPORTED)
		assert_non_null(frame.what);
	if (frame.kind != BR_FRAME_AVRO)
		return;
	br_schema_key_text(&frame.key, key);
	assert_string_equal(key, f->key);
	assert_ptr_equal(frame.body.data, f->bytes.data + f->skipped);
	assert_int_equal(frame.body.len, f->bytes.len - f->skipped);
	assert_int_equal(frame.bare_bytes, f->bare);
	assert_int_equal(frame.from_header, f->skipped == 0);
}

static void
test_framings(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(framings); i++) {
		check_framing(&framings[i], BR_FRAME_VALUE);
		check_framing(&framings[i], BR_FRAME_KEY);
	}
}

static void
test_spaces(void **state)
{
	struct br_config_registry rules = {
	    .id4 = BR_ID_GLOBAL, .id8 = BR_ID_CONTENT};
	struct br_record r = {.topic = "t"};
	struct br_slice four = BYTES("\0\0\0\0\7x");
	struct br_slice eight = BYTES("\0\0\0\0\0\0\0\0\7x");

	(void)state;
	r.value = four;
	assert_int_equal(
	    br_avro_frame(&r, BR_FRAME_VALUE, &rules, false).key.space,
	    BR_SCHEMA_GLOBAL);
	r.value = eight;
	assert_int_equal(
	    br_avro_frame(&r, BR_FRAME_VALUE, &rules, false).key.space,
	    BR_SCHEMA_CONTENT);
}

/* The last header of a name counts; a null value has no frame. */
static void
test_order(void **state)
{
	struct br_config_registry rules = {.id8 = BR_ID_GLOBAL};
	struct br_slice first = BYTES("\0\0\0\0\0\0\0\1");
	struct br_slice last = BYTES("\0\0\0\0\0\0\0\2");
	struct br_header headers[] = {{"apicurio.value.globalId", first},
	    {"apicurio.value.globalId", last},
	    {"apicurio.value.globalId", {NULL, 0}}};
	struct br_record r = {
	    .topic = "t", .headers = headers, .header_count = 3};

	(void)state;
	assert_int_equal(br_avro_frame(&r, BR_FRAME_VALUE, &rules, true).kind,
	    BR_FRAME_NONE);
	r.value = br_slice_str("x");
	assert_int_equal(
	    br_avro_frame(&r, BR_FRAME_VALUE, &rules, false).key.id, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_framings),
	    cmocka_unit_test(test_spaces),
	    cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
