/*
 * The JSON scanner and jansson over random and mutated texts: both accept or
 * both refuse, and what they find is the same. Known differences: jansson
 * refuses integers beyond 64 bits, reals beyond a double, lone surrogates.
 */
#include "bridge/source/json.h"

#include "bridge/base/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <jansson.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool
accepts(struct br_slice text)
{
	struct br_json_fault fault;
	/* A copy without a byte to spare, for the address sanitizer. */
	uint8_t *copy = malloc(text.len != 0 ? text.len : 1);
	bool accepted;

	memcpy(copy, text.data, text.len);
	accepted = br_json_check(
	    (struct br_slice){copy, text.len}, NULL, NULL, &fault);
	assert_true(accepted == (fault.what == NULL));
	assert_true(accepted || fault.at <= text.len);
	free(copy);
	return accepted;
}

static uint32_t seed = 20260101;

static uint32_t
pick(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)seed * below) >> 32);
}

static void
add_string(struct br_buffer *b)
{
	static const char *const parts[] = {"a", "payload", " ", "\\n", "\\\"",
	    "\\u0041", "\\u20ac", "\\uD83D\\uDE00", "\xc5\x82",
	    "\xf0\x9f\x98\x80", "\\/", "12345678", "\\\\", "\x7f"};

	br_buffer_str(b, "\"");
	for (uint32_t n = pick(4); n > 0; n--)
		br_buffer_str(b, parts[pick(COUNT(parts))]);
	br_buffer_str(b, "\"");
}

static void
add_space(struct br_buffer *b)
{
	static const char *const spaces[] = {"", "", "", " ", "\n", "\t\r "};

	br_buffer_str(b, spaces[pick(COUNT(spaces))]);
}

static void
add_value(struct br_buffer *b, int depth)
{
	static const char *const scalars[] = {"null", "true", "false", "0",
	    "-1", "12.50", "1e3", "-0.1E-2", "9007199254740993"};
	uint32_t kind = pick(depth > 0 ? 4 : 2);

	add_space(b);
	if (kind == 0) {
		br_buffer_str(b, scalars[pick(COUNT(scalars))]);
	} else if (kind == 1) {
		add_string(b);
	} else {
		br_buffer_str(b, kind == 2 ? "[" : "{");
		for (uint32_t i = 0, n = pick(4); i < n; i++) {
			if (i > 0)
				br_buffer_str(b, ",");
			if (kind == 3) {
				add_string(b);
				br_buffer_str(b, ":");
			}
			add_value(b, depth - 1);
		}
		br_buffer_str(b, kind == 2 ? "]" : "}");
	}
	add_space(b);
}

/* Breaks a byte, takes one out, puts one in, or cuts the text. */
static void
mutate(struct br_buffer *b)
{
	static const char alphabet[] = "{}[]\",:\\ue0123456789.-+ntf \n\x80";
	char c = alphabet[pick(sizeof(alphabet) - 1)];
	size_t at = pick((uint32_t)b->len + 1);

	switch (pick(4)) {
	case 0:
		if (at < b->len)
			b->data[at] = c;
		break;
	case 1:
		if (at < b->len) {
			memmove(b->data + at, b->data + at + 1, b->len - at);
			b->len--;
		}
		break;
	case 2:
		br_buffer_add(b, " ", 1);
		memmove(b->data + at + 1, b->data + at, b->len - at - 1);
		b->data[at] = c;
		break;
	default:
		b->len = at;
		break;
	}
}

static void compare(struct br_slice text, json_t *json);

static void
compare_elements(struct br_slice text, const json_t *json)
{
	struct br_json_member m;
	struct br_json_iter it;
	size_t index = 0;

	br_json_begin(&it, text, NULL);
	while (br_json_next(&it, &m))
		compare(m.value.text, json_array_get(json, index++));
	assert_null(it.fault.what);
	assert_int_equal(index, json_array_size(json));
}

/* Each member that jansson has, found by our get, has the same value. */
static void
compare_object(struct br_slice text, json_t *json)
{
	struct br_json_object object;
	struct br_json_fault fault;
	const char *name;
	json_t *value;

	assert_true(br_json_read(text, NULL, &object, &fault));
	assert_true(object.count >= json_object_size(json));
	json_object_foreach(json, name, value)
	{
		const struct br_json_value *ours = br_json_get(&object, name);

		assert_non_null(ours);
		compare(ours->text, value);
	}
}

static void
compare(struct br_slice text, json_t *json)
{
	struct br_arena arena = {NULL, 0};
	struct br_json_value v;
	struct br_json_fault fault;
	struct br_slice decoded;
	char number[64] = "";

	assert_true(br_json_check(text, NULL, &v, &fault));
	switch (v.kind) {
	case BR_JSON_NULL:
		assert_true(json_is_null(json));
		break;
	case BR_JSON_TRUE:
		assert_true(json_is_true(json));
		break;
	case BR_JSON_FALSE:
		assert_true(json_is_false(json));
		break;
	case BR_JSON_NUMBER:
		assert_true(json_is_number(json));
		memcpy(number, v.text.data, v.text.len < 63 ? v.text.len : 63);
		assert_true(json_number_value(json) == strtod(number, NULL));
		break;
	case BR_JSON_STRING:
		assert_true(br_json_unquote(&arena, &v, &decoded));
		assert_int_equal(decoded.len, json_string_length(json));
		assert_memory_equal(
		    decoded.data, json_string_value(json), decoded.len);
		break;
	case BR_JSON_ARRAY:
		assert_true(json_is_array(json));
		compare_elements(text, json);
		break;
	case BR_JSON_OBJECT:
		assert_true(json_is_object(json));
		compare_object(text, json);
		break;
	case BR_JSON_NONE:
		fail();
	}
	br_arena_free(&arena);
}

/*
 * Where jansson may refuse what we accept: integers beyond 64 bits, reals
 * beyond a double, lone surrogates, NUL in a name. Told by its error code.
 */
static bool
known_difference(const json_error_t *error)
{
	enum json_error_code code = json_error_code(error);

	return code == json_error_numeric_overflow ||
	       code == json_error_null_byte_in_key ||
	       code == json_error_null_character ||
	       (code == json_error_invalid_syntax &&
	           strstr(error->text, "Unicode '\\u") != NULL);
}

static void
test_differential(void **state)
{
	struct br_buffer b = {NULL, 0, 0};
	size_t agreed_good = 0, agreed_bad = 0;

	(void)state;
	for (int round = 0; round < 60000; round++) {
		struct br_slice text;
		json_error_t error;
		json_t *json;

		br_buffer_clear(&b);
		add_value(&b, 4);
		for (uint32_t n = pick(3); n > 0; n--)
			mutate(&b);
		text = (struct br_slice){(uint8_t *)b.data, b.len};
		json = json_loadb(
		    b.data, b.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
		if (accepts(text) != (json != NULL) &&
		    (json != NULL || !known_difference(&error)))
			fail_msg("we %s, jansson %s (%s): %.*s",
			    json == NULL ? "accept" : "refuse",
			    json != NULL ? "accepts" : "refuses", error.text,
			    (int)b.len, b.data);
		if (json != NULL) {
			compare(text, json);
			agreed_good++;
		} else {
			agreed_bad++;
		}
		json_decref(json);
	}
	/* Both kinds came up, or nothing was compared. */
	assert_true(agreed_good > 15000);
	assert_true(agreed_bad > 10000);
	br_buffer_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_differential),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
