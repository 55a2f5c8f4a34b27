/* Intake: what a record becomes, and what is kept of it. */
#include "intake_gate.h"

static void
everything_of_an_event(void **state)
{
	const struct br_header headers[] = {header("id", "42"),
	    header("eventType", "OrderPlaced"),
	    header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-"
	                          "b7ad6b7169203331-01"),
	    header("tracestate", "a=b"), {"null", {NULL, 0}},
	    header("empty", "")};
	struct br_record record = record_of("{\"a\": 1.50}", headers, 6);
	const struct br_event *ev;
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://H.example/hook?a=b\"; };\n"
	              "source = { format = \"json\"; };");
	assert_int_equal(take(&g, &record), BR_INTAKE_EVENT);
	ev = g.ref->event;
	expect_aim(&g, "https://H.example/hook?a=b", "https://h.example:443",
	    "", false);
	expect_slice(ev->body, "{\"a\": 1.50}");
	expect_text(ev->event_id, "42");
	expect_text(ev->idempotency_key, "42");
	expect_text(ev->event_type, "OrderPlaced");
	expect_text(ev->aggregate_type, "order");
	expect_text(ev->traceparent,
	    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
	expect_text(ev->tracestate, "a=b");
	expect_text(ev->content_type, JSON_TYPE);
	expect_text(ev->format, "json");
	expect_text(ev->detail, NULL);
	expect_slice(ev->order_key, "k1");
	assert_int_equal(ev->max_attempts, 5);
	assert_false(ev->literal_host);
	assert_int_equal(g.ref->offset, 77);
	assert_ptr_equal(g.ref->part, part());
	assert_int_equal(g.ref->attempts, 0);
	assert_int_equal(g.ref->due_ms, 0);
	assert_null(g.ref->failure);
	close_gate(&g);
}

/* An event without any id: dead, or a key from where it lies. */
static void
offset_key(void **state)
{
	struct br_record record = record_of("{\"a\":1}", NULL, 0);
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://h/\"; };");
	assert_int_equal(take(&g, &record), BR_INTAKE_EVENT);
	expect_dead(&g, "missing-id", "extract");
	expect_text(g.ref->event->idempotency_key, NULL);
	close_gate(&g);

	open_gate(&g, "delivery = { url = \"https://h/\"; };\n"
	              "source = { allow_offset_key = true; };");
	record.offset = 9007199254740993;
	assert_int_equal(take(&g, &record), BR_INTAKE_EVENT);
	expect_text(g.ref->event->reason, NULL);
	expect_text(g.ref->event->event_id, NULL);
	expect_text(g.ref->event->idempotency_key,
	    "outbox.event.order-2-9007199254740993");
	/* One with an id keeps it. */
	(void)take_with(&g, NULL, NULL, NULL, NULL);
	expect_text(g.ref->event->idempotency_key, "42");
	(void)take_with(&g, "idempotency_key", "own-key", NULL, NULL);
	expect_text(g.ref->event->idempotency_key, "own-key");
	expect_text(g.ref->event->event_id, "42");
	close_gate(&g);
}

static void
expect_type(struct gate *g, struct br_slice value, const char *given,
    const char *expected)
{
	const struct br_header headers[] = {
	    header("id", "42"), header("content-type", given)};
	struct br_record record =
	    record_of(NULL, headers, given != NULL ? 2 : 1);

	record.value = value;
	assert_int_equal(take(g, &record), BR_INTAKE_EVENT);
	expect_text(g->ref->event->reason, NULL);
	expect_text(g->ref->event->content_type, expected);
	assert_true(br_slice_eq(g->ref->event->body, value));
}

static void
content_types(void **state)
{
	static const uint8_t binary[] = {0x80, 0x00, 0x01};
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://h/\"; };\n"
	              "source = { format = \"string\"; };");
	expect_type(&g, br_slice_str("[1]"), NULL, JSON_TYPE);
	expect_type(
	    &g, br_slice_str("za\xc5\xbc"), NULL, "text/plain; charset=UTF-8");
	expect_type(&g, (struct br_slice){binary, sizeof(binary)}, NULL,
	    "application/octet-stream");
	expect_type(
	    &g, br_slice_str("<a/>"), "application/xml", "application/xml");
	expect_type(&g, br_slice_str("[1]"), "application/x; v=\"1\"",
	    "application/x; v=\"1\"");
	close_gate(&g);
}

static void
attempts_and_order(void **state)
{
	static const struct {
		const char *given;
		uint32_t expected;
	} cases[] = {
	    {"3", 3}, {"1", 1}, {"0", 1}, {"999", 999}, {"x", 7}, {"1000", 7}};
	const struct br_header id = header("id", "42");
	struct br_record record = record_of("{\"a\":1}", &id, 1);
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://h/\"; };\n"
	              "retry = { max_attempts = 7; };");
	for (size_t i = 0; i < COUNT(cases); i++) {
		(void)take_with(&g, "max_retries", cases[i].given, NULL, NULL);
		assert_int_equal(g.ref->event->max_attempts, cases[i].expected);
	}
	(void)take(&g, &record);
	assert_int_equal(g.ref->event->max_attempts, 7);
	/* A converter's quotes do not make another key; none is none. */
	record.key = br_slice_str("\"k1\"");
	(void)take(&g, &record);
	expect_slice(g.ref->event->order_key, "k1");
	expect_slice(g.ref->event->record.key, "\"k1\"");
	record.key = br_slice_str(NULL);
	(void)take(&g, &record);
	assert_int_equal(g.ref->event->order_key.len, 0);
	assert_null(g.ref->event->record.key.data);
	record.key = br_slice_str("");
	(void)take(&g, &record);
	assert_int_equal(g.ref->event->order_key.len, 0);
	assert_non_null(g.ref->event->record.key.data);
	close_gate(&g);
}

static void
skipped_is_counted(void **state)
{
	struct br_record record = record_of(NULL, NULL, 0);
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://h/\"; };");
	assert_int_equal(take(&g, &record), BR_INTAKE_SKIP);
	assert_null(g.ref);
	assert_int_equal(br_metric_get_label(BR_M_SKIPPED, "tombstone"), 1);
	assert_int_equal(take(&g, &record), BR_INTAKE_SKIP);
	assert_int_equal(br_metric_get_label(BR_M_SKIPPED, "tombstone"), 2);
	close_gate(&g);
}

/* Its own memory for every text, exactly as long: a sanitizer sees a step
 * beyond it, and a use after it was freed. */
static struct br_slice
own(const char *bytes, size_t len)
{
	uint8_t *copy = malloc(len != 0 ? len : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	return (struct br_slice){copy, len};
}

#define OWN(text) own((text), sizeof(text) - 1)

static void
disown(struct br_slice s)
{
	union {
		const uint8_t *data;
		void *memory;
	} u = {.data = s.data};

	if (s.data == NULL)
		return;
	memset(u.memory, 'Z', s.len);
	free(u.memory);
}

static char *
own_text(const char *text)
{
	char *copy = strdup(text);

	assert_non_null(copy);
	return copy;
}

static void
original_stays(const struct br_event *ev)
{
	const struct br_record *r = &ev->record;
	static const char *const names[] = {"id", "a", "a", "null", "empty"};

	expect_text(r->topic, "outbox.event.order");
	assert_int_equal(r->partition, 2);
	assert_int_equal(r->offset, 77);
	assert_int_equal(r->timestamp_ms, 1700000000123);
	assert_int_equal(r->time_kind, BR_TIME_APPEND);
	assert_int_equal(r->key.len, 4);
	assert_memory_equal(r->key.data,
	    "k\0\xff"
	    "1",
	    4);
	expect_slice(r->value, "\"z\\u0142\\n\"");
	assert_int_equal(r->header_count, 5);
	for (size_t i = 0; i < 5; i++)
		expect_text(r->headers[i].name, names[i]);
	expect_slice(r->headers[0].value, "42");
	assert_int_equal(r->headers[1].value.len, 3);
	assert_memory_equal(r->headers[1].value.data, "\0\xfe\xff", 3);
	expect_slice(r->headers[2].value, "again");
	assert_null(r->headers[3].value.data);
	assert_non_null(r->headers[4].value.data);
	assert_int_equal(r->headers[4].value.len, 0);
}

/* The record's memory is gone, and so is the decoder's. */
static void
copies_are_its_own(void **state)
{
	struct br_header headers[5] = {{own_text("id"), OWN("42")},
	    {own_text("a"), OWN("\0\xfe\xff")}, {own_text("a"), OWN("again")},
	    {own_text("null"), {NULL, 0}}, {own_text("empty"), OWN("")}};
	struct br_record record = record_of(NULL, headers, 5);
	char *topic = own_text("outbox.event.order");
	struct br_ref *ref;
	struct gate g;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://h/x\"; };\n"
	              "source = { format = \"json\"; };");
	record.topic = topic;
	record.key = OWN("k\0\xff"
	                 "1");
	record.value = OWN("\"z\\u0142\\n\"");
	assert_int_equal(take(&g, &record), BR_INTAKE_EVENT);
	ref = g.ref;
	g.ref = NULL;
	for (size_t i = 0; i < 5; i++) {
		union {
			const char *name;
			void *memory;
		} u = {.name = headers[i].name};

		disown(headers[i].value);
		memset(u.memory, 'Z', strlen(headers[i].name));
		free(u.memory);
	}
	memset(headers, 0, sizeof(headers));
	disown(record.key);
	disown(record.value);
	free(topic);
	(void)take_with(&g, "eventType", "another", NULL, NULL);
	close_gate(&g);

	original_stays(ref->event);
	expect_slice(ref->event->body, "z\xc5\x82\n");
	expect_text(ref->event->event_id, "42");
	expect_text(ref->event->idempotency_key, "42");
	expect_text(ref->event->url, "https://h/x");
	expect_text(ref->event->target, "https://h:443");
	expect_text(ref->event->route, "");
	expect_text(ref->event->aggregate_type, "order");
	assert_int_equal(ref->event->order_key.len, 4);
	br_ref_free(ref);
	br_ref_free(NULL);
}

static size_t
bytes_of(struct gate *g, size_t key, size_t value, size_t header_value)
{
	static char text[5000];
	struct br_header headers[2] = {header("id", "42"), {"h", {NULL, 0}}};
	struct br_record record;

	memset(text, '7', sizeof(text));
	record = record_of(NULL, headers, 2);
	headers[1].value = (struct br_slice){(uint8_t *)text, header_value};
	record.key = (struct br_slice){(uint8_t *)text, key};
	record.value = (struct br_slice){(uint8_t *)text, value};
	assert_int_equal(take(g, &record), BR_INTAKE_EVENT);
	expect_text(g->ref->event->reason, NULL);
	return g->ref->bytes;
}

/* Every byte that is kept is counted, and a body inside the value once. */
static void
bytes_are_counted(void **state)
{
	struct gate g;
	size_t base;

	(void)state;
	open_gate(&g, "delivery = { url = \"https://h/x\"; };");
	base = bytes_of(&g, 10, 10, 10);
	assert_true(base > sizeof(struct br_ref) + sizeof(struct br_event) +
	                       2 * sizeof(struct br_header) + 30);
	assert_true(base < sizeof(struct br_ref) + sizeof(struct br_event) +
	                       2 * sizeof(struct br_header) + 300);
	assert_int_equal(bytes_of(&g, 10, 4010, 10), base + 4000);
	assert_int_equal(bytes_of(&g, 10, 10, 4010), base + 4000);
	/* Once as it came and once as the order key. */
	assert_int_equal(bytes_of(&g, 4010, 10, 10), base + 8000);
	close_gate(&g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(everything_of_an_event),
	    cmocka_unit_test(offset_key),
	    cmocka_unit_test(content_types),
	    cmocka_unit_test(attempts_and_order),
	    cmocka_unit_test(skipped_is_counted),
	    cmocka_unit_test(copies_are_its_own),
	    cmocka_unit_test(bytes_are_counted),
	};

	return cmocka_run_group_tests_name("intake", tests, NULL, NULL);
}
