/* Patterns: by table, against regexec, and against a slow model. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <regex.h>
#include <string.h>

#include "bridge/core/pattern.h"
#include "seed.h"

static bool
match(const char *pattern, const char *text)
{
	struct br_error err;
	struct br_pattern *p = br_pattern_new(pattern, &err);
	bool result;

	assert_non_null(p);
	result = br_pattern_match(p, text);
	br_pattern_free(p);
	return result;
}

static const struct {
	const char *pattern, *text;
	bool want;
} rows[] = {
    {"", "", true},
    {"", "a", false},
    {"a", "a", true},
    {"a", "A", false},
    {"a", "ab", false},
    {"b", "ab", false},
    {"*", "", true},
    {"*", "anything at all\n", true},
    {"**", "", true},
    {"?", "", false},
    {"?", "a", true},
    {"?", "ab", false},
    {"?*", "", false},
    {"*?", "a", true},
    {"outbox.*", "outbox.event", true},
    {"outbox.*", "outbox.", true},
    {"outbox.*", "outbox", false},
    {"outbox.*", "outboxXevent", false},
    {"outbox.*", "my.outbox.event", false},
    {"*.order", "outbox.event.order", true},
    {"*.order", "outbox.event.orders", false},
    {"order.*.v?", "order.placed.v2", true},
    {"order.*.v?", "order.placed.v", false},
    {"order.*.v?", "order.placed.v22", false},
    {"a*b*c", "abc", true},
    {"a*b*c", "aXbYbZc", true},
    {"a*b*c", "acb", false},
    {"*ab", "aab", true},
    {"*aab*", "aaab", true},
    /* Nothing else is special. */
    {"a.b", "axb", false},
    {"[ab]", "a", false},
    {"[ab]", "[ab]", true},
    {"a+", "aa", false},
    {"a|b", "a", false},
    {"\\*", "\\xyz", true},
    {"a$", "a", false},
    {"a^", "a^", true},
    /* A question mark is one character of UTF-8, a star any bytes. */
    {"?", "\xC5\xBE", true},
    {"??", "\xC5\xBE", false},
    {"?a",
        "\xE2\x82\xAC"
        "a",
        true},
    {"*?a",
        "\xE2\x82\xAC"
        "a",
        true},
    {"*??a",
        "\xE2\x82\xAC"
        "a",
        false},
    {"\xC5\xBE*", "\xC5\xBEx", true},
    {"\xC5\xBE", "\xC5\xBD", false},
    /* Regular expressions match as they are written. */
    {"^", "", true},
    {"^", "abc", true},
    {"^a", "abc", true},
    {"^a", "ba", false},
    {"^a$", "ab", false},
    {"^(order|invoice)\\.", "invoice.sent", true},
    {"^(order|invoice)\\.", "invoices", false},
    {"^[a-z]{2,3}$", "abc", true},
    {"^[a-z]{2,3}$", "abcd", false},
};

static void
test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (match(rows[i].pattern, rows[i].text) != rows[i].want)
			fail_msg(
			    "\"%s\" on \"%s\"", rows[i].pattern, rows[i].text);
}

/* "a*a*…b" on many a: exponential for a matcher that tries every star. */
static void
test_many_stars_end(void **state)
{
	char pattern[201], text[5001];

	(void)state;
	for (size_t i = 0; i < 200; i += 2)
		memcpy(pattern + i, "a*", 2);
	pattern[199] = 'b';
	pattern[200] = '\0';
	memset(text, 'a', 5000);
	text[5000] = '\0';
	assert_false(match(pattern, text));
}

static void
test_any_case(void **state)
{
	struct br_error err;
	struct br_pattern *glob =
	    br_pattern_new_any_case("*.Partner.TEST", &err);
	struct br_pattern *regex =
	    br_pattern_new_any_case("^[a-c]+\\.Test$", &err);

	(void)state;
	assert_true(br_pattern_match(glob, "a.partner.test"));
	assert_true(br_pattern_match(glob, "A.PARTNER.tEST"));
	assert_false(br_pattern_match(glob, "a.partner-test"));
	assert_true(br_pattern_match(regex, "ABC.test"));
	assert_false(br_pattern_match(regex, "abd.test"));
	br_pattern_free(glob);
	br_pattern_free(regex);
	/* Only letters are folded: '@' and '`' differ by the same bit. */
	glob = br_pattern_new_any_case("@[", &err);
	assert_false(br_pattern_match(glob, "`{"));
	br_pattern_free(glob);
}

static bool
match_bytes(const char *pattern, const void *bytes, size_t len)
{
	struct br_error err;
	struct br_pattern *p = br_pattern_new(pattern, &err);
	/* A copy of the exact size, so that a sanitizer sees a step too far. */
	uint8_t *exact = malloc(len > 0 ? len : 1);
	bool result;

	assert_non_null(exact);
	memcpy(exact, bytes, len);
	result = br_pattern_match_slice(p, (struct br_slice){exact, len});
	free(exact);
	br_pattern_free(p);
	return result;
}

static void
test_slices(void **state)
{
	struct br_error err;
	struct br_pattern *all = br_pattern_new("*", &err);
	struct br_pattern *any = br_pattern_new("^", &err);

	(void)state;
	assert_true(match_bytes("ab", "abc", 2));
	assert_true(match_bytes("^ab$", "abc", 2));
	assert_true(match_bytes("", "abc", 0));
	assert_true(match_bytes("^$", "abc", 0));
	assert_true(match_bytes("a?b", "a\0b", 3));
	assert_false(match_bytes("a", "a\0b", 3));
	assert_false(match_bytes("^a$", "a\0b", 3));
	assert_true(match_bytes("^a[^x]b$", "a\0b", 3));
	assert_true(match_bytes("?", "\xC5\xBE", 1));
	/* Absent is not empty. */
	assert_false(br_pattern_match_slice(all, (struct br_slice){NULL, 0}));
	assert_false(br_pattern_match_slice(any, (struct br_slice){NULL, 0}));
	br_pattern_free(all);
	br_pattern_free(any);
}

static void
test_broken_regex(void **state)
{
	static const char *const texts[] = {
	    "^(", "^[a", "^a{2,1}", "^\\", "^*", "^[[:nonsense:]]"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct br_error err = {""};

		assert_null(br_pattern_new(texts[i], &err));
		assert_non_null(strstr(err.text, texts[i]));
		assert_non_null(strstr(err.text, "regular expression"));
	}
	br_pattern_free(NULL);
}

static void
test_is_wild(void **state)
{
	(void)state;
	assert_false(br_pattern_is_wild(""));
	assert_false(br_pattern_is_wild("outbox.event.order"));
	assert_false(br_pattern_is_wild("a^b"));
	assert_false(br_pattern_is_wild("[a]+$"));
	assert_true(br_pattern_is_wild("outbox.*"));
	assert_true(br_pattern_is_wild("a?c"));
	assert_true(br_pattern_is_wild("^outbox"));
	assert_true(br_pattern_is_wild("^"));
}

static void
assert_regex(const char *pattern, const char *want)
{
	struct br_buffer out = {0};

	br_pattern_to_regex(pattern, &out);
	assert_string_equal(out.data, want);
	br_buffer_free(&out);
}

static void
test_to_regex(void **state)
{
	struct br_buffer out = {0};

	(void)state;
	assert_regex("outbox.*", "^outbox\\..*$");
	assert_regex("a?c", "^a.c$");
	assert_regex("", "^$");
	assert_regex("plain-name_1", "^plain-name_1$");
	assert_regex("^already.*", "^already.*");
	assert_regex("a+(b)[c]{d}|e$f\\g^",
	    "^a\\+\\(b\\)\\[c\\]\\{d\\}\\|e\\$f\\\\g\\^$");
	/* It appends. */
	br_buffer_str(&out, "x,");
	br_pattern_to_regex("y", &out);
	assert_string_equal(out.data, "x,^y$");
	br_buffer_free(&out);
}

static void
random_text(uint64_t *rng, const char *letters, char *out, size_t max)
{
	size_t len = seed_below(rng, max);

	for (size_t i = 0; i < len; i++)
		out[i] = letters[seed_below(rng, strlen(letters))];
	out[len] = '\0';
}

/* The definition, without any cleverness. */
static bool
model(const char *pattern, const char *text)
{
	if (*pattern == '\0')
		return *text == '\0';
	if (*pattern == '*')
		return model(pattern + 1, text) ||
		       (*text != '\0' && model(pattern, text + 1));
	return *text != '\0' && (*pattern == '?' || *pattern == *text) &&
	       model(pattern + 1, text + 1);
}

static void
test_against_model_and_regexec(void **state)
{
	uint64_t rng = seed_take();
	int hits = 0;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char pattern[12], text[12];
		struct br_buffer regex = {0};
		regex_t compiled;
		bool want;

		random_text(&rng, "ab.*?*?+()[]{}|$\\", pattern, 8);
		random_text(&rng, "ab.+()[]{}|$\\", text, 8);
		if (i % 2 == 0) { /* few letters: more of them match */
			random_text(&rng, "ab*?", pattern, 8);
			random_text(&rng, "ab", text, 8);
		}
		want = model(pattern, text);
		hits += want;
		if (match(pattern, text) != want)
			fail_msg("\"%s\" on \"%s\"", pattern, text);
		br_pattern_to_regex(pattern, &regex);
		assert_int_equal(
		    regcomp(&compiled, regex.data, REG_EXTENDED | REG_NOSUB),
		    0);
		if ((regexec(&compiled, text, 0, NULL, 0) == 0) != want)
			fail_msg("\"%s\" on \"%s\"", regex.data, text);
		regfree(&compiled);
		br_buffer_free(&regex);
	}
	assert_in_range(hits, 1000, 19000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_many_stars_end),
	    cmocka_unit_test(test_any_case),
	    cmocka_unit_test(test_slices),
	    cmocka_unit_test(test_broken_regex),
	    cmocka_unit_test(test_is_wild),
	    cmocka_unit_test(test_to_regex),
	    cmocka_unit_test(test_against_model_and_regexec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
