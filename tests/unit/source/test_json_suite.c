/*
 * The JSON scanner and a public suite for parsers (tests/fixtures/
 * json_suite.tsv says whose): what must be accepted is, what must be refused
 * is, and a value's span is the text without the white space around it.
 */
#include "bridge/source/json.h"

#include "bridge/source/decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static struct br_arena arena;

/* A copy with no byte to spare, for the address sanitizer. */
static uint8_t *
tight_copy(struct br_slice text)
{
	uint8_t *copy = malloc(text.len != 0 ? text.len : 1);

	assert_non_null(copy);
	memcpy(copy, text.data, text.len);
	return copy;
}

static bool
is_space(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct br_slice
trimmed(struct br_slice text)
{
	while (text.len > 0 && is_space(text.data[0])) {
		text.data++;
		text.len--;
	}
	while (text.len > 0 && is_space(text.data[text.len - 1]))
		text.len--;
	return text;
}

/* By walking: an object or array is JSON when its walk ends well. */
static bool
walks(struct br_slice text)
{
	struct br_json_iter it;
	struct br_json_member m;

	br_json_begin(&it, text, NULL);
	while (br_json_next(&it, &m))
		assert_int_not_equal(m.value.kind, BR_JSON_NONE);
	return it.fault.what == NULL;
}

static void
check(const char *name, struct br_slice bytes, bool accept)
{
	uint8_t *copy = tight_copy(bytes);
	struct br_slice text = {copy, bytes.len};
	struct br_json_value value;
	struct br_json_fault fault;
	enum br_json_kind kind = br_json_peek(text);
	bool accepted = br_json_check(text, NULL, &value, &fault);

	if (accepted != accept)
		fail_msg("%s: %s at %zu", name,
		    accepted ? "accepted" : fault.what, fault.at);
	if (accepted && !br_slice_eq(value.text, trimmed(text)))
		fail_msg("%s: another span", name);
	if ((kind == BR_JSON_OBJECT || kind == BR_JSON_ARRAY) &&
	    walks(text) != accept)
		fail_msg("%s: the walk ends otherwise", name);
	free(copy);
}

static void
test_suite(void **state)
{
	static char line[16384];
	FILE *f = fopen(FIXTURES "/json_suite.tsv", "r");
	size_t count = 0;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		struct br_slice bytes = {(const uint8_t *)"", 0};
		char *at = line, *name, *what, *base64;

		if (line[0] == '#')
			continue;
		name = strsep(&at, "\t");
		what = strsep(&at, "\t");
		base64 = strsep(&at, "\n");
		assert_non_null(base64);
		if (strcmp(base64, "-") != 0)
			assert_true(br_base64_padded(
			    &arena, br_slice_str(base64), &bytes));
		check(name, bytes, strcmp(what, "accept") == 0);
		br_arena_reset(&arena);
		count++;
	}
	fclose(f);
	assert_int_equal(count, 291);
}

/* 100,000 levels: refused, without a stack to match. */
static void
test_deep(void **state)
{
	static const char open[] = "[{\"\":";
	size_t count = 50000, each = sizeof(open) - 1;
	uint8_t *text = malloc(count * each + 1);

	(void)state;
	assert_non_null(text);
	memset(text, '[', 100000);
	check("100000 arrays", (struct br_slice){text, 100000}, false);
	for (size_t i = 0; i < count; i++)
		memcpy(text + i * each, open, each);
	text[count * each] = '\n';
	check("arrays and objects", (struct br_slice){text, count * each + 1},
	    false);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_suite),
	    cmocka_unit_test(test_deep),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	br_arena_free(&arena);
	return failed;
}
