/* explain_text, explain_paper: what a person sees. */
#include "explain_support.h"

#define OPEN "delivery = { url = \"https://own.test/in\"; "

static void
whole_page(void **state)
{
	const struct br_header headers[] = {
	    header("__debezium.context.taskId", "0"), header("id", "42"),
	    header("eventType", "Placed"), header("max_retries", "1")};
	struct br_record r = record_of("{\"a\":1}", headers, 4);
	struct desk d = open_desk(OPEN "};");
	struct br_buffer text = text_of(&d, &r, 80, false);

	(void)state;
	assert_string_equal(text.data,
	    "outbox.event.Order:2:77\n"
	    "DELIVER  one POST to https://own.test:443, at most 1 request\n"
	    "\n"
	    "Record\n"
	    "  time     2026-01-01T00:00:00.123Z\n"
	    "  key      2 bytes\n"
	    "  value    7 bytes\n"
	    "  headers  4: id, eventType, max_retries, and 1 of Debezium's "
	    "context\n"
	    "\n"
	    "Detected\n"
	    "  format   string\n"
	    "  because  no other format fits: sent as it is\n"
	    "\n"
	    "Event\n"
	    "  event id         42                               header id\n"
	    "  idempotency key  42                               header id\n"
	    "  order key        k1                               key of the "
	    "record\n"
	    "  event type       Placed                           header "
	    "eventType\n"
	    "  aggregate type   Order                            topic\n"
	    "  target URL       -\n"
	    "  max attempts     1                                header "
	    "max_retries\n"
	    "  content type     application/json; charset=UTF-8  the body is "
	    "JSON\n"
	    "  body             7 bytes                          the value as "
	    "it is\n"
	    "\n"
	    "Route\n"
	    "  route   -                     none is configured\n"
	    "  target  https://own.test:443  delivery.url\n"
	    "\n"
	    "Request\n"
	    "  POST https://own.test/in\n"
	    "  Host: own.test\n"
	    "  User-Agent: outbox-bridge/" BRIDGE_VERSION "\n"
	    "  Idempotency-Key: 42\n"
	    "  X-Idempotency-Key: 42\n"
	    "  Content-Type: application/json; charset=UTF-8\n"
	    "  Content-Length: 7\n"
	    "\n"
	    "  {\"a\":1}\n");
	br_buffer_free(&text);
	close_desk(&d);
}

static void
expect_parts(const struct br_record *r, const char *const *part, size_t count)
{
	struct desk d = open_desk(OPEN "};");
	struct br_buffer text = text_of(&d, r, 80, false);

	for (size_t i = 0; i < count; i++)
		if (strstr(text.data, part[i]) == NULL)
			fail_msg("no \"%s\" in:\n%s", part[i], text.data);
	br_buffer_free(&text);
	close_desk(&d);
}

static void
dead_letter(void **state)
{
	static const char *const part[] = {
	    "\nDEAD LETTER  java-text (stage: detect)\n", "\n  why         ",
	    "\n  what to do  Correct value.converter",
	    "\n  would go    the record as it is, to the.dlq,",
	    "\nValue\n  Struct{a=1}\n"};
	const struct br_header id = header("id", "42");
	struct br_record r = record_of("Struct{a=1}", &id, 1);

	(void)state;
	expect_parts(&r, part, COUNT(part));
}

static void
skipped(void **state)
{
	static const char *const part[] = {"\nSKIP  tombstone\n",
	    "\n  why         a null value that no header calls an event\n"};
	struct br_record r = record_of(NULL, NULL, 0);

	(void)state;
	expect_parts(&r, part, COUNT(part));
}

/* Bytes that are no text, with their exact length. */
static void
binary(void **state)
{
	static const char *const part[] = {"  body             5 bytes",
	    "\n  00000000  80 41 00 ff fe                                   "
	    ".A...\n"};
	const struct br_header id = header("id", "42");
	struct br_record r = record_of(NULL, &id, 1);

	(void)state;
	r.value = (struct br_slice){(const uint8_t *)"\x80"
	                                             "A\0\xff\xfe",
	    5};
	expect_parts(&r, part, COUNT(part));
}

static size_t
count_of(const char *text, char c)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += *text == c;
	return n;
}

/* A long body is cut, and says by how much. */
static void
shortened(void **state)
{
	const struct br_header id = header("id", "42");
	char body[100001];
	struct br_record r = record_of("", &id, 1);
	struct desk d = open_desk(OPEN "};");
	struct br_buffer text;

	(void)state;
	memset(body, 'x', sizeof(body) - 1);
	body[sizeof(body) - 1] = '\0';
	r.value = br_slice_str(body);
	text = text_of(&d, &r, 80, false);
	assert_true(text.len < 5000);
	/* 24 lines of 78 */
	assert_non_null(strstr(text.data, "\n  ... and 98,128 more bytes\n"));
	assert_non_null(strstr(text.data, "100000 bytes"));
	br_buffer_free(&text);
	close_desk(&d);
}

/* Nothing in a record reaches the terminal as a command. */
static void
hostile(void **state)
{
	const struct br_header headers[] = {header("id", "4\033[2J2"),
	    header("eventType", "a\xe2\x80\xae"
	                        "b"),
	    header("na\033me", "x")};
	struct br_record r =
	    record_of("\033]0;owned\007 \xc2\x9b\x7f\r\n", headers, 3);
	struct desk d = open_desk(OPEN "}; source = { format = \"string\"; };");
	struct br_buffer text;

	(void)state;
	r.topic = "to\033pic";
	text = text_of(&d, &r, 80, false);
	assert_int_equal(count_of(text.data, '\033'), 0);
	assert_int_equal(count_of(text.data, '\007'), 0);
	assert_int_equal(count_of(text.data, '\r'), 0);
	assert_null(strstr(text.data, "\xc2\x9b"));
	assert_null(strstr(text.data, "\xe2\x80\xae"));
	assert_non_null(strstr(text.data, "to\\x1bpic:2:77"));
	br_buffer_free(&text);
	close_desk(&d);
}

/* The same text, with colours and without. */
static void
colours(void **state)
{
	const struct br_header id = header("id", "42");
	struct br_record r = record_of("{}", &id, 1);
	struct desk d = open_desk(OPEN "};");
	struct br_buffer plain = text_of(&d, &r, 80, false);
	struct br_buffer text = text_of(&d, &r, 80, true);
	struct br_buffer bare = {0};

	(void)state;
	assert_non_null(strstr(text.data, "\033[1;32mDELIVER\033[0m"));
	for (const char *p = text.data; *p != '\0'; p++)
		if (*p == '\033')
			p += strcspn(p, "m");
		else
			br_buffer_add(&bare, p, 1);
	assert_string_equal(bare.data, plain.data);
	br_buffer_free(&plain);
	br_buffer_free(&text);
	br_buffer_free(&bare);
	close_desk(&d);
}

/* Prose and bodies stay within the width; a word or URL is never broken. */
static void
widths(void **state)
{
	const struct br_header headers[] = {header("id", "42")};
	struct br_record r = record_of("Struct{a=1}", headers, 1);
	struct desk d = open_desk(OPEN "};");

	(void)state;
	for (size_t width = 60; width <= 120; width += 15) {
		struct br_buffer text = text_of(&d, &r, width, false);

		for (char *line = strtok(text.data, "\n"); line != NULL;
		     line = strtok(NULL, "\n"))
			if (strlen(line) > width)
				fail_msg("%zu: %s", width, line);
		br_buffer_free(&text);
	}
	close_desk(&d);
}

static void
prose(void **state)
{
	struct br_buffer out = {0};
	struct br_paper p = {.out = &out, .width = 40};

	(void)state;
	br_paper_prose(&p, 2, "why  ",
	    "one two three four five six seven eight nine\tten");
	assert_string_equal(out.data,
	    "  why  one two three four five six seven\n"
	    "       eight nine\\tten\n");
	br_buffer_clear(&out);
	br_paper_prose(&p, 0, "",
	    "a https://h.example/a/very/long/address/that/is/not/broken z");
	assert_string_equal(out.data,
	    "a\nhttps://h.example/a/very/long/address/that/is/not/broken\nz\n");
	br_buffer_free(&out);
}

/* A NUL makes bytes of a text; a long dump says what it leaves out. */
static void
dumps(void **state)
{
	struct br_buffer out = {0};
	struct br_paper p = {.out = &out, .width = 80};
	uint8_t zero[300] = {0};

	(void)state;
	br_paper_bytes(&p, 2, (struct br_slice){(const uint8_t *)"a\0b", 3});
	assert_string_equal(out.data,
	    "  00000000  61 00 62"
	    "                                       " /* 13 bytes' room */
	    "  a.b\n");
	br_buffer_clear(&out);
	br_paper_bytes(&p, 2, (struct br_slice){zero, sizeof(zero)});
	assert_non_null(strstr(out.data, "\n  000000f0  00 "));
	assert_null(strstr(out.data, "00000100"));
	assert_non_null(strstr(out.data, "\n  ... and 44 more bytes\n"));
	br_buffer_clear(&out);
	/* Where sixteen do not fit, eight do. */
	p.width = 60;
	br_paper_bytes(&p, 2, (struct br_slice){zero, 9});
	assert_non_null(strstr(out.data, "\n  00000008  00 "));
	br_buffer_free(&out);
}

static void
lines_of_text(void **state)
{
	struct br_buffer out = {0};
	struct br_paper p = {.out = &out, .width = 40};

	(void)state;
	/* A line that just fits does not leave an empty one behind it. */
	br_paper_text(&p, 30, br_slice_str("0123456789\nabc\n\nd\te"));
	assert_string_equal(out.data,
	    "                              0123456789\n"
	    "                              abc\n"
	    "                              \n"
	    "                              d\\te\n");
	br_buffer_free(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(whole_page),
	    cmocka_unit_test(dead_letter),
	    cmocka_unit_test(skipped),
	    cmocka_unit_test(binary),
	    cmocka_unit_test(shortened),
	    cmocka_unit_test(hostile),
	    cmocka_unit_test(colours),
	    cmocka_unit_test(widths),
	    cmocka_unit_test(prose),
	    cmocka_unit_test(dumps),
	    cmocka_unit_test(lines_of_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
