/*
 * The JSON scanner over any bytes: its ways of reading agree with each
 * other, and it accepts what jansson accepts, but for the known differences.
 */
#include "bridge/source/json.h"

#include <jansson.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool condition)
{
	if (!condition)
		abort();
}

/* Every string inside decodes to itself, or not at all. */
static void
walk(struct br_arena *arena, struct br_slice text, int depth)
{
	struct br_json_iter it;
	struct br_json_member m;
	struct br_slice decoded;

	br_json_begin(&it, text, NULL);
	while (br_json_next(&it, &m)) {
		if (m.name.kind == BR_JSON_STRING &&
		    br_json_unquote(arena, &m.name, &decoded))
			require(br_json_is(&m.name, decoded));
		if (m.value.kind == BR_JSON_STRING &&
		    br_json_unquote(arena, &m.value, &decoded))
			require(br_json_is(&m.value, decoded));
		if (m.value.kind >= BR_JSON_ARRAY && depth < 20)
			walk(arena, m.value.text, depth + 1);
	}
}

/* The one-pass readers accept the same texts as the check. */
static void
same_answers(struct br_arena *arena, struct br_slice text, bool accepted,
    enum br_json_kind kind)
{
	struct br_json_object object;
	struct br_json_fault fault;
	struct br_json_iter it;
	struct br_json_member m;

	require(br_json_read(text, NULL, &object, &fault) ==
	        (accepted && kind == BR_JSON_OBJECT));
	br_json_begin(&it, text, NULL);
	while (br_json_next(&it, &m))
		;
	require((it.fault.what == NULL) == (accepted && kind >= BR_JSON_ARRAY));
	if (accepted) {
		struct br_slice compact = br_json_compact(arena, text);

		require(compact.len <= text.len);
		require(br_json_check(compact, NULL, NULL, &fault));
		walk(arena, text, 0);
	}
}

static bool
too_deep(const struct br_json_fault *fault)
{
	return fault->what != NULL &&
	       strcmp(fault->what, "nested too deeply") == 0;
}

/* What jansson may refuse: numbers and surrogates it cannot hold. */
static bool
known_difference(const json_error_t *error)
{
	enum json_error_code code = json_error_code(error);

	return code == json_error_numeric_overflow ||
	       code == json_error_null_byte_in_key ||
	       code == json_error_stack_overflow ||
	       (code == json_error_invalid_syntax &&
	           strstr(error->text, "Unicode '\\u") != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct br_slice text = {data, size};
	struct br_arena arena = {NULL, 0};
	struct br_json_value value = {.kind = BR_JSON_NONE};
	struct br_json_fault fault;
	json_error_t error;
	json_t *json;
	bool accepted = br_json_check(text, NULL, &value, &fault);

	same_answers(&arena, text, accepted, value.kind);
	json = json_loadb(
	    (const char *)data, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	/* jansson takes a NUL behind the value for the end of the text. */
	if (json != NULL)
		require(accepted || too_deep(&fault) ||
		        memchr(data, 0, size) != NULL);
	else
		require(!accepted || known_difference(&error));
	json_decref(json);
	br_arena_free(&arena);
	return 0;
}
