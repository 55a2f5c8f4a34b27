/* Epitaph: the headers of a dead letter, one by one and in their order. */
#include "runtime_support.h"

#include "bridge/base/utf8.h"
#include "bridge/runtime/epitaph.h"

#define SECRET "s3cret"
#define TARGET "https://hooks.example.com:8443"
#define P "outbox.dlq."

/* A dead letter as the engine gives it back, and what is written of it. */
struct grave {
	struct br_event event;
	struct br_failure failure;
	struct br_ref ref;
	struct br_epitaph_style style;
	struct br_config *config;
	struct br_epitaph *epitaph;
	struct br_header header[BR_EPITAPH_HEADERS];
	size_t count;
};

static void
dig(struct grave *g, const char *rest)
{
	*g = (struct grave){
	    .event = {.record = {.topic = "outbox.event.order",
	                  .partition = 3,
	                  .offset = 9007199254740993,
	                  .timestamp_ms = 1700000000123,
	                  .time_kind = BR_TIME_CREATE},
	        .event_id = "42",
	        .idempotency_key = "key-42",
	        .event_type = "OrderPlaced",
	        .url =
	            "https://hooks.example.com:8443/" SECRET "?token=" SECRET,
	        .target = TARGET,
	        .content_type = "application/json",
	        .format = "json",
	        .route = "orders",
	        .max_attempts = 5},
	    .failure = {.reason = "http-permanent",
	        .first_wall_ms = 1700000001000,
	        .last = {.http_status = 422,
	            .head_complete = true,
	            .wall_ms = 1700000002000,
	            .detail = "422 Unprocessable",
	            .body = "no such thing",
	            .body_len = 13}},
	};
	g->ref = (struct br_ref){.offset = 9007199254740993,
	    .attempts = 2,
	    .event = &g->event,
	    .failure = &g->failure,
	    .settled = BR_SETTLED_DEAD};
	g->config = config_of(rest);
	g->epitaph = br_epitaph_new(g->config);
}

/* One with a receiver that must not be known from the letter. */
static void
dig_plain(struct grave *g)
{
	dig(g, "delivery = { url = \"https://h/" SECRET "\"; };");
}

static void
fill(struct grave *g)
{
	br_epitaph_free(g->epitaph);
	br_config_free(g->config);
}

/* It never went out: decided when it was read. */
static void
undeliverable(struct grave *g)
{
	g->ref.failure = NULL;
	g->ref.attempts = 0;
	g->event.reason = "json-syntax";
	g->event.detail = "no JSON at byte 7";
	g->event.stage = "decode";
	g->event.idempotency_key = NULL;
	g->event.url = g->event.target = NULL;
}

static bool
is_utf8(struct br_slice text)
{
	size_t at = 0, len = 1;
	uint32_t code;

	for (; at < text.len && len != 0; at += len)
		len = br_utf8_char(text.data + at, text.len - at, &code);
	return len != 0;
}

/* Writes; every name is of ours, stands once and has a text as its value. */
static void
write_it(struct grave *g)
{
	g->count = br_epitaph_write(g->epitaph, &g->ref, &g->style, g->header);
	assert_true(g->count <= BR_EPITAPH_HEADERS);
	for (size_t i = 0; i < g->count; i++) {
		const struct br_header *h = &g->header[i];

		assert_int_equal(strncmp(h->name, P, strlen(P)), 0);
		assert_non_null(h->value.data);
		assert_true(h->value.len > 0);
		if (!is_utf8(h->value))
			fail_msg("%s is not UTF-8", h->name);
		assert_null(memchr(h->value.data, '\0', h->value.len));
		if (memmem(h->value.data, h->value.len, SECRET,
		        strlen(SECRET)) != NULL)
			fail_msg("%s tells a secret", h->name);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(g->header[k].name, h->name);
	}
}

/* The value of outbox.dlq.NAME as a string; NULL: it has none. */
static const char *
value(const struct grave *g, const char *name)
{
	static char text[8][4096];
	static unsigned next;
	char *out = text[next++ % 8];

	for (size_t i = 0; i < g->count; i++) {
		const struct br_header *h = &g->header[i];

		if (strcmp(h->name + strlen(P), name) != 0)
			continue;
		assert_true(h->value.len < sizeof(text[0]));
		memcpy(out, h->value.data, h->value.len);
		out[h->value.len] = '\0';
		return out;
	}
	return NULL;
}

static void
expect(const struct grave *g, const char *name, const char *expected)
{
	const char *got = value(g, name);

	if (expected == NULL && got != NULL)
		fail_msg("%s is there: %s", name, got);
	if (expected != NULL && got == NULL)
		fail_msg("%s is missing", name);
	if (expected != NULL)
		assert_string_equal(got, expected);
}

/* Exactly these, in this order: "name=value" each. */
static void
expect_all(const struct grave *g, const char *const *expected, size_t count)
{
	for (size_t i = 0; i < count && i < g->count; i++) {
		const struct br_header *h = &g->header[i];
		char line[700];

		(void)snprintf(line, sizeof(line), "%s=%.*s",
		    h->name + strlen(P), (int)h->value.len,
		    (const char *)h->value.data);
		assert_string_equal(line, expected[i]);
	}
	assert_int_equal(g->count, count);
}

#define EXPECT_ALL(g, ...)                                                     \
	expect_all((g), (const char *const[]){__VA_ARGS__},                    \
	    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void
refused_by_the_receiver(void **state)
{
	struct grave g;

	(void)state;
	dig_plain(&g);
	write_it(&g);
	EXPECT_ALL(&g, "reason=http-permanent", "attempts=2",
	    "topic=outbox.event.order", "partition=3",
	    "offset=9007199254740993", "timestamp.ms=1700000000123",
	    "timestamp.type=create", "http.status=422",
	    "http.body=no such thing", "first.ms=1700000001000",
	    "last.ms=1700000002000", "detail=422 Unprocessable",
	    "stage=deliver", "group=the-group", "format=json", "event.id=42",
	    "idempotency.key=key-42", "event.type=OrderPlaced",
	    "target=" TARGET, "bridge.version=" BRIDGE_VERSION);
	assert_string_equal(br_epitaph_reason(&g.ref), "http-permanent");
	fill(&g);
}

static void
never_sent(void **state)
{
	struct grave g;

	(void)state;
	dig_plain(&g);
	undeliverable(&g);
	write_it(&g);
	EXPECT_ALL(&g, "reason=json-syntax", "attempts=0",
	    "topic=outbox.event.order", "partition=3",
	    "offset=9007199254740993", "timestamp.ms=1700000000123",
	    "timestamp.type=create", "detail=no JSON at byte 7", "stage=decode",
	    "group=the-group", "format=json", "event.id=42",
	    "event.type=OrderPlaced", "bridge.version=" BRIDGE_VERSION);
	assert_string_equal(br_epitaph_reason(&g.ref), "json-syntax");
	fill(&g);
}

/* What a record without anything says of itself is left out, not "". */
static void
nothing_known(void **state)
{
	struct grave g;

	(void)state;
	dig_plain(&g);
	undeliverable(&g);
	g.event.record.timestamp_ms = -1;
	g.event.record.time_kind = BR_TIME_NONE;
	g.event.event_id = g.event.event_type = NULL;
	g.event.format = "";
	g.event.detail = NULL;
	write_it(&g);
	EXPECT_ALL(&g, "reason=json-syntax", "attempts=0",
	    "topic=outbox.event.order", "partition=3",
	    "offset=9007199254740993", "stage=decode", "group=the-group",
	    "bridge.version=" BRIDGE_VERSION);
	fill(&g);
}

static void
minimal(void **state)
{
	struct grave g;

	(void)state;
	dig_plain(&g);
	g.style.minimal = true;
	write_it(&g);
	EXPECT_ALL(&g, "reason=http-permanent", "attempts=2",
	    "topic=outbox.event.order", "partition=3",
	    "offset=9007199254740993", "http.status=422");

	g.failure.last = (struct br_outcome){.curl_code = 7};
	write_it(&g);
	EXPECT_ALL(&g, "reason=http-permanent", "attempts=2",
	    "topic=outbox.event.order", "partition=3",
	    "offset=9007199254740993", "curl.code=7");

	undeliverable(&g);
	write_it(&g);
	EXPECT_ALL(&g, "reason=json-syntax", "attempts=0",
	    "topic=outbox.event.order", "partition=3",
	    "offset=9007199254740993");
	fill(&g);
}

/* Of a value that was cut its digest tells what it was. */
static void
truncated(void **state)
{
	struct grave g;

	(void)state;
	dig_plain(&g);
	g.event.record.value = br_slice_str("abc");
	g.style.minimal = g.style.truncated = true;
	write_it(&g);
	/* FIPS 180-4's own example */
	EXPECT_ALL(&g, "reason=http-permanent", "attempts=2",
	    "topic=outbox.event.order", "partition=3",
	    "offset=9007199254740993", "http.status=422", "truncated=true",
	    "value.sha256="
	    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff"
	    "61f20015ad");
	fill(&g);
}

/* The broker refuses the time: then it must stand here, however large. */
static void
replaced_timestamp(void **state)
{
	struct grave g;

	(void)state;
	dig_plain(&g);
	write_it(&g);
	expect(&g, "timestamp.replaced", NULL);
	g.style.replace_timestamp = true;
	g.event.record.time_kind = BR_TIME_APPEND;
	write_it(&g);
	expect(&g, "timestamp.ms", "1700000000123");
	expect(&g, "timestamp.type", "append");
	expect(&g, "timestamp.replaced", "true");
	expect(&g, "target", TARGET);

	g.event.record.timestamp_ms = -1;
	g.event.record.time_kind = BR_TIME_NONE;
	g.style.minimal = true;
	write_it(&g);
	EXPECT_ALL(&g, "reason=http-permanent", "attempts=2",
	    "topic=outbox.event.order", "partition=3",
	    "offset=9007199254740993", "timestamp.ms=-1",
	    "timestamp.replaced=true", "http.status=422");
	fill(&g);
}

/* An answer has a status, a failed transport a code, a cut answer both. */
static void
status_or_code(void **state)
{
	struct grave g;

	(void)state;
	dig_plain(&g);
	write_it(&g);
	expect(&g, "http.status", "422");
	expect(&g, "curl.code", NULL);

	g.failure.last = (struct br_outcome){.transport = BR_TRANSPORT_REFUSED,
	    .curl_code = 7,
	    .detail = "connection refused"};
	write_it(&g);
	expect(&g, "http.status", NULL);
	expect(&g, "http.body", NULL);
	expect(&g, "curl.code", "7");
	expect(&g, "detail", "connection refused");

	/* No answer, and no code of libcurl's either. */
	g.failure.last = (struct br_outcome){
	    .transport = BR_TRANSPORT_FORBIDDEN, .http_status = 500};
	write_it(&g);
	expect(&g, "http.status", NULL);
	expect(&g, "curl.code", "0");
	expect(&g, "detail", NULL);

	g.failure.last = (struct br_outcome){.transport = BR_TRANSPORT_TIMEOUT,
	    .http_status = 503,
	    .head_complete = true,
	    .curl_code = 28};
	write_it(&g);
	expect(&g, "http.status", "503");
	expect(&g, "curl.code", "28");
	expect(&g, "http.body", NULL);
	fill(&g);
}

static void
body_of(struct grave *g, const char *bytes, size_t len, const char *expected)
{
	assert_true(len <= BR_OUTCOME_BODY);
	memset(g->failure.last.body, 'X', BR_OUTCOME_BODY);
	memcpy(g->failure.last.body, bytes, len);
	g->failure.last.body_len = len;
	write_it(g);
	expect(g, "http.body", expected);
}

#define BODY_OF(g, bytes, expected)                                            \
	body_of((g), (bytes), sizeof(bytes) - 1, (expected))
#define BAD "\xef\xbf\xbd"

static void
body_excerpt(void **state)
{
	struct grave g;

	(void)state;
	dig_plain(&g);
	BODY_OF(&g, "", NULL);
	BODY_OF(&g, "plain \t\r\n text", "plain \t\r\n text");
	BODY_OF(&g,
	    "zi\xc4\x99"
	    "ba \xe2\x82\xac \xf0\x9f\x90\xa6",
	    "zi\xc4\x99"
	    "ba \xe2\x82\xac \xf0\x9f\x90\xa6");
	BODY_OF(&g, "a\0b", "a" BAD "b");
	BODY_OF(&g, "\0", BAD);
	BODY_OF(&g,
	    "a\xff"
	    "b\xc5",
	    "a" BAD "b" BAD);
	/* Overlong, a surrogate, beyond the last one, and the last one. */
	BODY_OF(&g, "\xc0\x80|", BAD BAD "|");
	BODY_OF(&g, "\xe0\x9f\xbf|", BAD BAD BAD "|");
	BODY_OF(&g, "\xed\xa0\x80|", BAD BAD BAD "|");
	BODY_OF(&g, "\xf4\x90\x80\x80|", BAD BAD BAD BAD "|");
	BODY_OF(&g, "\xf4\x8f\xbf\xbf|", "\xf4\x8f\xbf\xbf|");
	/* A character that the next one interrupts. */
	BODY_OF(&g,
	    "\xe2\x82"
	    "a",
	    BAD BAD "a");
	fill(&g);
}

/* 512 bytes of the worst, and a character that the end cuts. */
static void
full_body_excerpt(void **state)
{
	char bytes[BR_OUTCOME_BODY], expected[3 * BR_OUTCOME_BODY + 1];
	struct grave g;

	(void)state;
	dig_plain(&g);
	memset(bytes, 0xff, sizeof(bytes));
	for (size_t i = 0; i < BR_OUTCOME_BODY; i++)
		memcpy(expected + 3 * i, BAD, 4);
	body_of(&g, bytes, sizeof(bytes), expected);
	memset(bytes, 'a', sizeof(bytes));
	memcpy(bytes + BR_OUTCOME_BODY - 2, "\xe2\x82", 2);
	memset(expected, 'a', BR_OUTCOME_BODY - 2);
	(void)strcpy(expected + BR_OUTCOME_BODY - 2, BAD BAD);
	body_of(&g, bytes, sizeof(bytes), expected);
	fill(&g);
}

/* `lead` letters, then characters of this text until it is long. */
static void
detail_of(struct grave *g, size_t lead, const char *character, size_t kept)
{
	char text[1000] = "";
	const char *got;

	memset(text, 'a', lead);
	text[lead] = '\0';
	while (strlen(text) < 900)
		(void)strcat(text, character);
	g->event.detail = text;
	write_it(g);
	got = value(g, "detail");
	assert_non_null(got);
	assert_int_equal(strlen(got), kept);
	assert_int_equal(strncmp(got, text, kept), 0);
}

static void
long_detail(void **state)
{
	struct grave g;

	(void)state;
	dig_plain(&g);
	undeliverable(&g);
	detail_of(&g, 0, "b", 512);
	detail_of(&g, 0, "\xc3\xa9", 512);
	detail_of(&g, 1, "\xc3\xa9", 511);
	detail_of(&g, 2, "\xe2\x82\xac", 512);
	detail_of(&g, 0, "\xe2\x82\xac", 510);
	detail_of(&g, 1, "\xe2\x82\xac", 511);
	detail_of(&g, 0, "\xf0\x9f\x90\xa6", 512);
	detail_of(&g, 1, "\xf0\x9f\x90\xa6", 509);
	detail_of(&g, 2, "\xf0\x9f\x90\xa6", 510);
	detail_of(&g, 3, "\xf0\x9f\x90\xa6", 511);
	fill(&g);
}

/* What fits is not cut, also when it ends where the room ends. */
static void
detail_that_just_fits(void **state)
{
	struct grave g;
	char text[513];

	(void)state;
	dig_plain(&g);
	undeliverable(&g);
	memset(text, 'a', sizeof(text));
	memcpy(text + 510, "\xc3\xa9", 3);
	g.event.detail = text;
	write_it(&g);
	expect(&g, "detail", text);
	fill(&g);
}

/* The key exactly as the receiver saw it. */
static void
key_as_sent(void **state)
{
	static const char quoted[] = "delivery = { url = \"https://h/\"; "
	                             "idempotency_style = \"sf\"; };";
	struct grave g;

	(void)state;
	dig_plain(&g);
	g.event.idempotency_key = "a\"b";
	write_it(&g);
	expect(&g, "idempotency.key", "a\"b");
	/* sha256 of "zażółć", which no header carries. */
	g.event.idempotency_key = "za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87";
	write_it(&g);
	expect(&g, "idempotency.key",
	    "sha256-7eefe5e3046c86cec19ce1215e0a0472"
	    "4124d948468005a1ebc4adf2643bea13");
	fill(&g);

	dig(&g, quoted);
	write_it(&g);
	expect(&g, "idempotency.key", "\"key-42\"");
	g.event.idempotency_key = "a\"b";
	write_it(&g);
	expect(&g, "idempotency.key", "\"a\\\"b\"");
	fill(&g);
}

/* It ran out of attempts, was dead at once, and nothing of one letter is
 * left in the next one. */
static void
one_after_the_other(void **state)
{
	struct grave g, h;

	(void)state;
	dig_plain(&g);
	write_it(&g);
	dig_plain(&h);
	undeliverable(&h);
	h.event.detail = NULL;
	g.count = br_epitaph_write(g.epitaph, &h.ref, &g.style, g.header);
	expect(&g, "detail", NULL);
	expect(&g, "http.body", NULL);
	expect(&g, "idempotency.key", NULL);
	for (int i = 0; i < 100; i++)
		g.count =
		    br_epitaph_write(g.epitaph, &g.ref, &g.style, g.header);
	expect(&g, "attempts", "2");
	expect(&g, "last.ms", "1700000002000");
	fill(&h);
	fill(&g);
	br_epitaph_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(refused_by_the_receiver),
	    cmocka_unit_test(never_sent),
	    cmocka_unit_test(nothing_known),
	    cmocka_unit_test(minimal),
	    cmocka_unit_test(truncated),
	    cmocka_unit_test(replaced_timestamp),
	    cmocka_unit_test(status_or_code),
	    cmocka_unit_test(body_excerpt),
	    cmocka_unit_test(full_body_excerpt),
	    cmocka_unit_test(long_detail),
	    cmocka_unit_test(detail_that_just_fits),
	    cmocka_unit_test(key_as_sent),
	    cmocka_unit_test(one_after_the_other),
	};

	return cmocka_run_group_tests_name("epitaph", tests, NULL, NULL);
}
