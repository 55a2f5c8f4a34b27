/* The scanner against libconfig itself: over random texts, most of them a
 * mistake away from legal, both must agree on what is legal. */
#include "config_support.h"

#include <libconfig.h>

#include "bridge/config/scanner.h"

#define ROUNDS 30000

const char *__lsan_default_suppressions(void);

/* libconfig 1.5 loses the string that it read before a syntax error. */
const char *
__lsan_default_suppressions(void)
{
	return "leak:libconfig";
}

static uint32_t seed = 1;

static uint32_t
roll(uint32_t sides)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % sides;
}

#define PICK(list) list[roll(sizeof(list) / sizeof((list)[0]))]

static const char *const spaces[] = {"", "", " ", " ", "\n", "\t", "\r\n",
    "/* c */", "# c\n", "// \"c\n", "/**/", "\f"};
static const char *const scalars[] = {"5", "-5", "+5", "0", "0x1F", "5L",
    "0x1fLL", "1.5", ".5", "5.", "-1e3", "1.e-3", "true", "FALSE", "\"s\"",
    "\"\"", "\"a\\\"b\"", "\"\\\\\"", "\"\\q\"", "\"x\ny\"", "2147483647",
    "-2147483648", "9223372036854775807L"};
static const char *const noise[] = {"=", ":", ";", ",", "{", "}", "(", ")", "[",
    "]", "a", "5", "\"s\"", "true", "'", "/", "@", "-", "\"", "/*", "1.5",
    "\x80", "$", "5ms", "yes", "*a", "_a", "5a"};

static void value(struct br_buffer *out, int depth, bool scalar);

static void
space(struct br_buffer *out)
{
	br_buffer_str(out, PICK(spaces));
}

static void
settings(struct br_buffer *out, int depth)
{
	static const char *const ends[] = {";", ";", ",", "", "\n"};

	for (uint32_t n = roll(4); n > 0; n--) {
		char letter = (char)('a' + roll(26));

		br_buffer_format(out, "%c%u", letter, roll(100));
		space(out);
		br_buffer_str(out, roll(4) != 0 ? "=" : ":");
		space(out);
		value(out, depth, false);
		space(out);
		br_buffer_str(out, PICK(ends));
		space(out);
	}
}

static void
list(struct br_buffer *out, int depth, bool array)
{
	const char *one = PICK(scalars);

	br_buffer_str(out, array ? "[" : "(");
	for (uint32_t n = roll(4), i = 0; i < n; i++) {
		br_buffer_str(out, i != 0 ? "," : "");
		space(out);
		if (array && roll(8) != 0)
			br_buffer_str(out, one);
		else
			value(out, depth, array);
		space(out);
	}
	br_buffer_str(out, array ? "]" : ")");
}

static void
value(struct br_buffer *out, int depth, bool scalar)
{
	uint32_t kind = depth > 4 || scalar ? 0 : roll(8);

	if (kind < 5) {
		br_buffer_str(out, PICK(scalars));
	} else if (kind == 5) {
		br_buffer_str(out, "{");
		space(out);
		settings(out, depth + 1);
		br_buffer_str(out, "}");
	} else {
		list(out, depth + 1, kind == 6);
	}
}

/* Puts a piece of noise in, or leaves a byte out. */
static void
spoil(struct br_buffer *text)
{
	struct br_buffer copy = {0};
	size_t at = text->len != 0 ? roll((uint32_t)text->len) : 0;
	bool leave_out = text->len != 0 && roll(2) != 0;

	br_buffer_add(&copy, text->data, at);
	if (!leave_out)
		br_buffer_str(&copy, PICK(noise));
	br_buffer_str(&copy, text->data + at + leave_out);
	br_buffer_free(text);
	*text = copy;
}

/* Refusals of ours alone, each of which the header names. */
static bool
is_ours(const char *faults)
{
	return strstr(faults, "joined into one") != NULL ||
	       strstr(faults, "looks octal") != NULL ||
	       strstr(faults, "too large") != NULL ||
	       strstr(faults, "63 bits") != NULL ||
	       strstr(faults, "without a digit") != NULL ||
	       strstr(faults, "not closed") != NULL;
}

static bool
libconfig_reads(const char *text)
{
	config_t tree;
	bool ok;

	config_init(&tree);
	ok = config_read_string(&tree, text) != 0;
	config_destroy(&tree);
	return ok;
}

static void
agrees(void **state)
{
	size_t legal = 0, refused = 0;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct br_buffer text = {0}, faults = {0};
		struct br_scan scan;
		size_t count;
		bool ok;

		br_buffer_str(&text, "");
		settings(&text, 0);
		if (roll(3) != 0)
			spoil(&text);
		/* libconfig knows no comment that ends with the file. */
		br_buffer_str(&text, "\n");
		count = br_scan("f", text.data, text.len, &scan, &faults);
		ok = libconfig_reads(text.data);
		if (ok != (count == 0) && !(ok && is_ours(faults.data)))
			fail_msg("libconfig %s, we say %s\n%s",
			    ok ? "reads" : "refuses",
			    count != 0 ? faults.data : "nothing", text.data);
		if (scan.usable && !libconfig_reads(scan.text))
			fail_msg("not mended: %s\nto %s", text.data, scan.text);
		legal += count == 0;
		refused += count != 0;
		br_scan_free(&scan);
		br_buffer_free(&text);
		br_buffer_free(&faults);
	}
	/* Both sorts were tried. */
	assert_true(legal > ROUNDS / 4 && refused > ROUNDS / 4);
}

/* The path and place of each key, in the order of the text. */
static void
places(void **state)
{
	static const char text[] = "a = 1;\n"
	                           "g = {\n"
	                           "  \u20ac";
	static const char legal[] =
	    "a = 1;\n"
	    "g = { b = [ 1,\n  2 ];\n"
	    "/* \u20ac */ c = ( { d = 1; }, ( 2 ) ); };";
	static const struct {
		const char *path;
		unsigned line, column;
	} want[] = {{"a", 1, 1}, {"g", 2, 1}, {"g.b", 2, 7}, {"g.b[0]", 2, 13},
	    {"g.b[1]", 3, 3}, {"g.c", 4, 9}, {"g.c[0]", 4, 15},
	    {"g.c[0].d", 4, 17}, {"g.c[1]", 4, 27}, {"g.c[1][0]", 4, 29}};
	struct br_buffer faults = {0}, path = {0};
	struct br_scan scan;

	(void)state;
	assert_int_equal(
	    br_scan("f", legal, sizeof(legal) - 1, &scan, &faults), 0);
	assert_true(scan.usable);
	assert_int_equal(scan.count, sizeof(want) / sizeof(*want));
	for (size_t i = 0; i < scan.count; i++) {
		br_buffer_clear(&path);
		br_scan_path(&scan, i, &path);
		assert_string_equal(path.data, want[i].path);
		assert_int_equal(scan.keys[i].line, want[i].line);
		assert_int_equal(scan.keys[i].column, want[i].column);
	}
	br_scan_free(&scan);
	assert_int_equal(
	    br_scan("f", text, sizeof(text) - 1, &scan, &faults), 1);
	assert_false(scan.usable);
	assert_non_null(strstr(faults.data, "f:3:3: g: a key is expected"));
	br_scan_free(&scan);
	br_buffer_free(&path);
	br_buffer_free(&faults);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(agrees), cmocka_unit_test(places)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
