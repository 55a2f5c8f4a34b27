/* The schemas that are kept: what is asked for, when, and how often. */
#include "source_support.h"

#include "bridge/base/buffer.h"
#include "bridge/source/registry.h"

#include <stdio.h>

#define ASKED_MAX 16384

static struct br_schema_key asked[ASKED_MAX];
static size_t asked_count;
static struct br_registry *registry;

static void
note(void *opaque, const struct br_schema_key *key)
{
	(void)opaque;
	assert_true(asked_count < ASKED_MAX);
	asked[asked_count++] = *key;
}

static int
open_registry(void **state)
{
	(void)state;
	asked_count = 0;
	registry = br_registry_new(note, NULL);
	return 0;
}

static int
close_registry(void **state)
{
	(void)state;
	br_registry_free(registry);
	return 0;
}

static struct br_schema_key
content(uint64_t id)
{
	return (struct br_schema_key){.space = BR_SCHEMA_CONTENT, .id = id};
}

static enum br_schema_state
find_key(struct br_schema_key key)
{
	struct br_avro_schema *schema;
	const char *why;
	enum br_schema_state found =
	    br_registry_find(registry, &key, &schema, &why);

	assert_int_equal(schema != NULL, found == BR_SCHEMA_HERE);
	if (found == BR_SCHEMA_UNKNOWN || found == BR_SCHEMA_UNUSABLE)
		assert_true(why[0] != '\0');
	return found;
}

static enum br_schema_state
find(uint64_t id)
{
	return find_key(content(id));
}

static void
answer_key(struct br_schema_key key, enum br_registry_outcome outcome,
    const char *text, int64_t now_ms)
{
	struct br_registry_reply *reply = calloc(1, sizeof(*reply));

	reply->key = key;
	reply->outcome = outcome;
	if (outcome == BR_REGISTRY_FOUND) {
		reply->text = calloc(1, sizeof(*reply->text));
		reply->text_count = 1;
		br_buffer_str(&reply->text[0], text);
	} else {
		br_fail(&reply->why, "%s", text);
	}
	br_registry_answer(registry, reply, now_ms);
}

static void
answer(uint64_t id, enum br_registry_outcome outcome, const char *text,
    int64_t now_ms)
{
	answer_key(content(id), outcome, text, now_ms);
}

static void
test_found(void **state)
{
	(void)state;
	assert_int_equal(find(7), BR_SCHEMA_WAIT);
	assert_int_equal(find(7), BR_SCHEMA_WAIT);
	assert_int_equal(asked_count, 1);
	assert_int_equal(asked[0].id, 7);
	assert_int_equal(br_registry_step(registry, 1000000), INT64_MAX);
	assert_int_equal(asked_count, 1);
	answer(7, BR_REGISTRY_FOUND, "\"string\"", 1000);
	assert_int_equal(find(7), BR_SCHEMA_HERE);
	assert_null(br_registry_trouble(registry));
	/* For ever, and a second answer changes nothing. */
	assert_int_equal(
	    br_registry_step(registry, INT64_C(1) << 50), INT64_MAX);
	answer(7, BR_REGISTRY_NONE, "late", 2000);
	assert_int_equal(find(7), BR_SCHEMA_HERE);
	assert_int_equal(asked_count, 1);
}

/* The same number in another space is another schema. */
static void
test_spaces(void **state)
{
	struct br_schema_key global = {.space = BR_SCHEMA_GLOBAL, .id = 7};
	struct br_schema_key guid = {.space = BR_SCHEMA_GUID, .guid = {7}};
	struct br_schema_key other = {
	    .space = BR_SCHEMA_GUID, .guid = {7, [15] = 1}};

	(void)state;
	assert_int_equal(find(7), BR_SCHEMA_WAIT);
	answer(7, BR_REGISTRY_FOUND, "\"string\"", 0);
	assert_int_equal(find_key(global), BR_SCHEMA_WAIT);
	assert_int_equal(find_key(guid), BR_SCHEMA_WAIT);
	assert_int_equal(find_key(other), BR_SCHEMA_WAIT);
	assert_int_equal(asked_count, 4);
	answer_key(guid, BR_REGISTRY_FOUND, "\"int\"", 0);
	assert_int_equal(find_key(guid), BR_SCHEMA_HERE);
	assert_int_equal(find_key(other), BR_SCHEMA_WAIT);
}

static void
test_unusable(void **state)
{
	(void)state;
	assert_int_equal(find(7), BR_SCHEMA_WAIT);
	answer(7, BR_REGISTRY_FOUND, "{\"type\":\"wool\"}", 0);
	assert_int_equal(find(7), BR_SCHEMA_UNUSABLE);
	assert_int_equal(find(8), BR_SCHEMA_WAIT);
	answer(8, BR_REGISTRY_UNUSABLE, "it is PROTOBUF", 0);
	assert_int_equal(find(8), BR_SCHEMA_UNUSABLE);
	assert_int_equal(asked_count, 2);
}

/* An outage is asked about again, ever rarer, and at least each 10 s. */
static void
test_outage(void **state)
{
	static const int64_t waits[] = {
	    500, 1000, 2000, 4000, 8000, 10000, 10000, 10000};
	int64_t now_ms = 1000;

	(void)state;
	assert_int_equal(find(7), BR_SCHEMA_WAIT);
	for (size_t i = 0; i < COUNT(waits); i++) {
		answer(7, BR_REGISTRY_OUTAGE, "refused", now_ms);
		assert_string_equal(br_registry_trouble(registry), "refused");
		assert_int_equal(
		    br_registry_step(registry, now_ms), now_ms + waits[i]);
		assert_int_equal(
		    br_registry_step(registry, now_ms + waits[i] - 1),
		    now_ms + waits[i]);
		assert_int_equal(asked_count, i + 1);
		now_ms += waits[i];
		assert_int_equal(br_registry_step(registry, now_ms), INT64_MAX);
		assert_int_equal(asked_count, i + 2);
		assert_int_equal(find(7), BR_SCHEMA_WAIT);
	}
	answer(7, BR_REGISTRY_FOUND, "\"int\"", now_ms);
	assert_null(br_registry_trouble(registry));
	assert_int_equal(find(7), BR_SCHEMA_HERE);
}

/* What is here serves on; each id that is down waits for itself. */
static void
test_outage_of_some(void **state)
{
	(void)state;
	(void)find(7);
	answer(7, BR_REGISTRY_FOUND, "\"int\"", 0);
	(void)find(8);
	(void)find(9);
	answer(8, BR_REGISTRY_OUTAGE, "503", 0);
	answer(9, BR_REGISTRY_OUTAGE, "504", 100);
	assert_int_equal(find(7), BR_SCHEMA_HERE);
	assert_string_equal(br_registry_trouble(registry), "504");
	assert_int_equal(br_registry_step(registry, 550), 600);
	assert_int_equal(asked_count, 4);
	answer(8, BR_REGISTRY_FOUND, "\"int\"", 560);
	assert_non_null(br_registry_trouble(registry));
	assert_int_equal(br_registry_step(registry, 600), INT64_MAX);
	answer(9, BR_REGISTRY_NONE, "404", 610);
	assert_null(br_registry_trouble(registry));
}

/* What nobody needs any more is no trouble; the first find counts once. */
static void
test_outage_unneeded(void **state)
{
	(void)state;
	(void)find(7);
	(void)find(8);
	answer(7, BR_REGISTRY_OUTAGE, "refused", 0);
	answer(8, BR_REGISTRY_OUTAGE, "refused", 0);
	assert_int_equal(br_registry_step(registry, 500), INT64_MAX);
	assert_int_equal(asked_count, 4);
	answer(7, BR_REGISTRY_OUTAGE, "refused", 500);
	answer(8, BR_REGISTRY_OUTAGE, "refused", 500);
	/* Found between: asked again. The other one is forgotten. */
	assert_int_equal(find(8), BR_SCHEMA_WAIT);
	assert_int_equal(br_registry_step(registry, 1499), 1500);
	assert_non_null(br_registry_trouble(registry));
	assert_int_equal(br_registry_step(registry, 1500), INT64_MAX);
	assert_int_equal(asked_count, 5);
	assert_int_equal(asked[4].id, 8);
	assert_non_null(br_registry_trouble(registry));
	answer(8, BR_REGISTRY_OUTAGE, "refused", 1500);
	assert_int_equal(br_registry_step(registry, 3499), 3500);
	assert_non_null(br_registry_trouble(registry));
	assert_int_equal(br_registry_step(registry, 3500), INT64_MAX);
	assert_null(br_registry_trouble(registry));
	assert_int_equal(asked_count, 5);
	/* Both are asked for anew by whoever needs them. */
	assert_int_equal(find(7), BR_SCHEMA_WAIT);
	assert_int_equal(find(8), BR_SCHEMA_WAIT);
	assert_int_equal(asked_count, 7);
	answer(7, BR_REGISTRY_FOUND, "\"int\"", 4000);
	assert_int_equal(find(7), BR_SCHEMA_HERE);
	assert_null(br_registry_trouble(registry));
}

/* An id that is not known may be new: three times, then a minute. */
static void
test_unknown(void **state)
{
	(void)state;
	for (int round = 0; round < 2; round++) {
		int64_t at = round * 100000;

		asked_count = 0;
		assert_int_equal(find(9), BR_SCHEMA_WAIT);
		answer(9, BR_REGISTRY_NONE, "404", at);
		assert_int_equal(find(9), BR_SCHEMA_WAIT);
		assert_int_equal(br_registry_step(registry, at), at + 1000);
		(void)br_registry_step(registry, at + 1000);
		answer(9, BR_REGISTRY_NONE, "404", at + 1000);
		assert_int_equal(find(9), BR_SCHEMA_WAIT);
		(void)br_registry_step(registry, at + 2000);
		assert_int_equal(asked_count, 3);
		answer(9, BR_REGISTRY_NONE, "404", at + 2000);
		assert_int_equal(find(9), BR_SCHEMA_UNKNOWN);
		assert_null(br_registry_trouble(registry));
		assert_int_equal(
		    br_registry_step(registry, at + 61999), at + 62000);
		assert_int_equal(find(9), BR_SCHEMA_UNKNOWN);
		assert_int_equal(asked_count, 3);
		/* Forgotten: the next one asks anew. */
		assert_int_equal(
		    br_registry_step(registry, at + 62000), INT64_MAX);
	}
}

/* Found by the third question. */
static void
test_new(void **state)
{
	(void)state;
	(void)find(9);
	answer(9, BR_REGISTRY_NONE, "404", 0);
	(void)br_registry_step(registry, 1000);
	answer(9, BR_REGISTRY_FOUND, "\"int\"", 1000);
	assert_int_equal(find(9), BR_SCHEMA_HERE);
	assert_int_equal(br_registry_step(registry, 2000), INT64_MAX);
}

/* Ids without end take no memory without end; what is in use stays. */
static void
test_bounded(void **state)
{
	(void)state;
	for (uint64_t id = 1; id <= 6000; id++) {
		assert_int_equal(find(id), BR_SCHEMA_WAIT);
		answer(id, BR_REGISTRY_FOUND, "\"int\"", 0);
		assert_int_equal(find(id), BR_SCHEMA_HERE);
		assert_int_equal(find(1), BR_SCHEMA_HERE);
	}
	assert_int_equal(asked_count, 6000);
	assert_int_equal(find(6000), BR_SCHEMA_HERE);
	assert_int_equal(find(2), BR_SCHEMA_WAIT);
	assert_int_equal(asked_count, 6001);
}

int
main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, open_registry, close_registry)
	const struct CMUnitTest tests[] = {
	    TEST(test_found),
	    TEST(test_spaces),
	    TEST(test_unusable),
	    TEST(test_outage),
	    TEST(test_outage_of_some),
	    TEST(test_outage_unneeded),
	    TEST(test_unknown),
	    TEST(test_new),
	    TEST(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
