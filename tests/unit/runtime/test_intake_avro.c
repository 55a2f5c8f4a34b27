/* Intake of Avro: a record whose schema is not here waits, and nothing of it
 * is kept; then it is an event like any other. */
#include "intake_gate.h"

#include "bridge/source/registry.h"

static struct br_registry *registry;

/* Nobody answers by himself. */
static void
ask(void *opaque, const struct br_schema_key *key)
{
	(void)key;
	++*(unsigned *)opaque;
}

static void
answer(const struct br_schema_key *key, const char *schema)
{
	struct br_registry_reply *reply = calloc(1, sizeof(*reply));

	assert_non_null(reply);
	reply->key = *key;
	reply->text = calloc(1, sizeof(*reply->text));
	assert_non_null(reply->text);
	reply->text_count = 1;
	br_buffer_str(&reply->text[0], schema);
	br_registry_answer(registry, reply, 0);
}

static void
waits_then_goes_on(void **state)
{
	static const char value[] = "\0\0\0\0\7\2\4hi";
	const struct br_header headers[] = {header("id", "42")};
	struct br_record record = record_of("", headers, 1);
	const struct br_schema_key *key;
	const struct br_event *ev;
	unsigned asked = 0;
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://h/\"; };\n"
	              "registry = { url = \"http://r\"; };");
	registry = br_registry_new(ask, &asked);
	br_intake_use(g.intake, registry);
	record.value =
	    (struct br_slice){(const uint8_t *)value, sizeof(value) - 1};
	for (int i = 0; i < 2; i++) {
		assert_int_equal(take(&g, &record), BR_INTAKE_WAIT);
		assert_null(g.ref);
		key = br_intake_schema(g.intake);
		assert_int_equal(key->space, BR_SCHEMA_CONTENT);
		assert_int_equal(key->id, 7);
		assert_int_equal(asked, 1);
	}
	answer(key, "[\"null\",\"string\"]");
	assert_int_equal(take(&g, &record), BR_INTAKE_EVENT);
	ev = g.ref->event;
	assert_null(ev->reason);
	assert_int_equal(ev->body.len, 2);
	assert_memory_equal(ev->body.data, "hi", 2);
	/* A span of the copy of the value: it is there once. */
	assert_ptr_equal(ev->body.data, ev->record.value.data + 7);
	assert_string_equal(ev->format, "avro");
	close_gate(&g);
	br_registry_free(registry);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(waits_then_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
