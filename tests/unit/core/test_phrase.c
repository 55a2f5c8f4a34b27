/* The expression that is looked for in what a receiver says. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "bridge/core/phrase.h"

#define BODY (64 * 1024)

/* Is it found in these bytes? They are copied: a phrase writes behind them. */
static bool
found(const char *text, const char *bytes, size_t len)
{
	struct br_error err;
	struct br_phrase *p = br_phrase_new(text, &err);
	char *copy = malloc(len + 1);
	bool yes;

	if (p == NULL)
		fail_msg("%s", err.text);
	assert_string_equal(br_phrase_text(p), text);
	assert_non_null(copy);
	memcpy(copy, bytes, len);
	copy[len] = 'x';
	yes = br_phrase_found(p, copy, len);
	free(copy);
	br_phrase_free(p);
	return yes;
}

static void
test_found(void **state)
{
	static const struct {
		const char *text, *bytes;
		bool found;
	} rows[] = {
	    {"limit exceeded", "limit exceeded", true},
	    {"limit exceeded", "{\"error\":\"limit exceeded\"}", true},
	    {"limit exceeded", "limit  exceeded", false},
	    {"limit exceeded", "limit exceede", false},
	    {"limit exceeded", "imit exceeded", false},
	    {"limit exceeded", "", false},
	    {"Limit EXCEEDED", "lIMIT exceeded", true}, /* any case */
	    {"limit +exceeded", "limit   exceeded", true},
	    {"rate|concurrency", "the concurrency", true},
	    {"rate|concurrency", "the rate", true},
	    {"rate|concurrency", "neither", false},
	    {"^limit", "limit", true},
	    {"^limit", "a limit", false},
	    {"^limit", "a\nlimit", false}, /* not of a line */
	    {"limit$", "a limit", true},
	    {"limit$", "limit\n", false},
	    {"limit exceeded", "limit\nexceeded", true},
	    {"limit[[:space:]]+exceeded", "limit\t\r\nexceeded", true},
	    {"a|(^limit)", "b\nlimit", false},
	    {"^(a|limit)$", "limit", true},
	    {"limit.+exceeded", "limit\r\nwas\nexceeded", true},
	    {"limit.*exceeded", "exceeded limit", false},
	    {"[0-9]{3} requests", "at 100 requests", true},
	    {"[0-9]{3} requests", "at 10 requests", false},
	    {"\\(limit\\)", "a (limit)", true},
	    {"\\\\1", "a \\1", true}, /* no back-reference */
	    {"limit", "caf\xC3\xA9 \xFF\xFE limit", true},
	    {"x(y)z", "xyz", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (found(rows[i].text, rows[i].bytes, strlen(rows[i].bytes)) !=
		    rows[i].found)
			fail_msg(
			    "\"%s\" in \"%s\"", rows[i].text, rows[i].bytes);
	}
}

static void
test_any_bytes(void **state)
{
	static const char bytes[] = "\0\0limit\0exceeded\0 of\0";

	(void)state;
	assert_true(found("exceeded", bytes, sizeof(bytes)));
	assert_true(found("limit.exceeded", bytes, sizeof(bytes)));
	assert_true(found("limit exceeded", bytes, sizeof(bytes)));
	assert_false(found("limitexceeded", bytes, sizeof(bytes)));
	/* What stands behind the end is not looked at. */
	assert_true(found("exceeded", bytes, 16));
	assert_false(found("exceeded", bytes, 15));
	assert_false(found("dx", bytes, 16));
}

static void
test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
	    {"(", "Unmatched ("},
	    {"a)", "has a ')' too many"},
	    {"a)|b", "has a ')' too many"},
	    {"a)(b)", "has a ')' too many"},
	    {"[a", "Unmatched ["},
	    {"a{2,1}", "Invalid content of"},
	    {"a\\", "Trailing backslash"},
	    {"(a)\\1", "refers back to a group"},
	    {"((a)|b)\\2+", "refers back to a group"},
	    {"x*", "would be found in any answer"},
	    {"a|", "would be found in any answer"},
	    {"^", "would be found in any answer"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct br_error err = {""};
		struct br_phrase *p = br_phrase_new(rows[i].text, &err);

		if (p != NULL || strstr(err.text, rows[i].why) == NULL ||
		    strstr(err.text, rows[i].text) == NULL)
			fail_msg("\"%s\": %s", rows[i].text, err.text);
	}
	br_phrase_free(NULL);
}

/*
 * Texts that would cost a search from every byte the square of their length.
 * What one search remembers is thrown away now and then, and does no harm.
 */
static void
test_hostile_bodies(void **state)
{
	static const char *const texts[] = {
	    "limit.*exceeded", "limit.{0,40}exceeded", "(l|i|m)*i(l|m){9}e"};
	static const char *const needles[] = {
	    "limit is exceeded", "limit is exceeded", "mimmmmlllmme"};
	char *bytes = malloc(BODY + 1);
	struct br_error err;
	uint32_t random = 1;

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct br_phrase *p = br_phrase_new(texts[i], &err);

		assert_non_null(p);
		for (int round = 0; round < 40; round++) {
			for (size_t n = 0; n < BODY; n++) {
				random = random * 1103515245 + 12345;
				bytes[n] = "limt\0"[random >> 16 & 3];
			}
			if (br_phrase_found(p, bytes, BODY))
				fail_msg("\"%s\" was found", texts[i]);
			memcpy(
			    bytes + BODY - 40, needles[i], strlen(needles[i]));
			if (!br_phrase_found(p, bytes, BODY))
				fail_msg("\"%s\" was not found", texts[i]);
		}
		br_phrase_free(p);
	}
	free(bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_found),
	    cmocka_unit_test(test_any_bytes),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_hostile_bodies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
