/*
 * message: logical messages of PostgreSQL (pg_logical_emit_message), whose
 * content is an object with the members of a row; see draft.h.
 */
#include "bridge/source/draft.h"

#include "bridge/source/decimal.h"
#include "bridge/source/text.h"

static bool
is_wanted(const struct br_draft *d, struct br_slice prefix)
{
	const struct br_strings *list = &d->config->source.message_prefixes;

	for (size_t i = 0; i < list->count; i++)
		if (br_slice_eq(prefix, br_slice_str(list->item[i])))
			return true;
	return false;
}

static int
hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool
from_hex(struct br_arena *arena, struct br_slice text, struct br_slice *out)
{
	uint8_t *to = br_arena_take(arena, text.len / 2 + 1);

	if (text.len % 2 != 0)
		return false;
	for (size_t i = 0; i < text.len; i += 2) {
		int high = hex_digit(text.data[i]);
		int low = hex_digit(text.data[i + 1]);

		if (high < 0 || low < 0)
			return false;
		to[i / 2] = (uint8_t)(high << 4 | low);
	}
	*out = (struct br_slice){to, text.len / 2};
	return true;
}

/* base64 in either alphabet, with its padding or without. */
static bool
from_base64(struct br_arena *arena, struct br_slice text, struct br_slice *out)
{
	uint8_t *copy = br_arena_take(arena, text.len + 3);
	size_t n = text.len;

	for (size_t i = 0; i < n; i++) {
		copy[i] = text.data[i];
		if (copy[i] == '-')
			copy[i] = '+';
		else if (copy[i] == '_')
			copy[i] = '/';
	}
	while (n % 4 != 0 && n < text.len + 3)
		copy[n++] = '=';
	return br_base64_padded(arena, (struct br_slice){copy, n}, out);
}

static bool
is_object(struct br_slice text)
{
	struct br_json_fault fault;

	return br_json_peek(text) == BR_JSON_OBJECT &&
	       br_json_check(text, NULL, NULL, &fault);
}

/* The object inside the content, in any of binary.handling.mode. */
static bool
content_object(struct br_draft *d, const struct br_json_value *content,
    struct br_slice *out)
{
	struct br_slice text;

	if (content->kind == BR_JSON_OBJECT) {
		*out = content->text;
		return true;
	}
	if (content->kind != BR_JSON_STRING ||
	    !br_json_unquote(d->arena, content, &text))
		return false;
	*out = text;
	return is_object(text) ||
	       (from_hex(d->arena, text, out) && is_object(*out)) ||
	       (from_base64(d->arena, text, out) && is_object(*out));
}

bool
br_message_payload(struct br_draft *d, const struct br_json_value *message,
    struct br_payload *p)
{
	struct br_json_value content = {.kind = BR_JSON_NONE};
	struct br_field prefix = {.state = BR_FIELD_ABSENT};
	struct br_json_iter it;
	struct br_json_member m;
	struct br_slice object;

	br_json_begin(&it, message->text, NULL);
	while (br_json_next(&it, &m)) {
		if (br_json_is(&m.name, br_slice_str("prefix")))
			prefix = br_field_json(d->arena, &m.value);
		else if (br_json_is(&m.name, br_slice_str("content")))
			content = m.value;
	}
	if (prefix.state != BR_FIELD_TEXT || !is_wanted(d, prefix.text))
		return br_draft_skip(d, "op-message");
	if (!content_object(d, &content, &object))
		return br_draft_dead(d, "decode", "envelope-malformed",
		    "the content of the logical message is not a JSON object "
		    "with the members of a row (id, payload ...)");
	/* It is written once and never changed: a new row. */
	d->change.op = 'c';
	d->schema =
	    (struct br_slice){NULL, 0}; /* says nothing of the content */
	br_row_read(d->row, d->columns, object);
	return br_change_row(d, p);
}
