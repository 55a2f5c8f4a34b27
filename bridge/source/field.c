/* field: see the header. */
#include "bridge/source/field.h"

#include "bridge/source/decimal.h"
#include "bridge/source/text.h"

bool
br_field_wrapper(const struct br_json_object *object,
    const struct br_json_value **schema, const struct br_json_value **payload)
{
	if (object->count != 2)
		return false;
	*schema = br_json_get(object, "schema");
	*payload = br_json_get(object, "payload");
	return *schema != NULL && *payload != NULL;
}

struct br_field
br_field_plain(struct br_slice text)
{
	struct br_field field = {.state = BR_FIELD_TEXT, .text = text};

	if (text.len == 0)
		field.state = BR_FIELD_ABSENT;
	else if (!br_text_is_utf8(text))
		field.state = BR_FIELD_MALFORMED;
	else if (br_text_is_java(text))
		field.state = BR_FIELD_JAVA;
	return field;
}

static struct br_field
string_field(struct br_arena *arena, const struct br_json_value *value)
{
	struct br_slice text;

	if (!br_json_unquote(arena, value, &text))
		return (struct br_field){
		    .state = BR_FIELD_MALFORMED, .text = value->text};
	return br_field_plain(text);
}

/* {"scale":0,"value":"A+k="}: its number; false when it is something else. */
static bool
decimal_field(struct br_arena *arena, const struct br_json_object *object,
    struct br_field *field)
{
	const struct br_json_value *scale, *value;
	struct br_slice base64, bytes;
	int64_t number;

	if (object->count != 2)
		return false;
	scale = br_json_get(object, "scale");
	value = br_json_get(object, "value");
	if (scale == NULL || value == NULL || value->kind != BR_JSON_STRING ||
	    !br_text_integer(scale->text, &number))
		return false;
	field->state = BR_FIELD_TEXT;
	return br_json_unquote(arena, value, &base64) &&
	       br_base64_padded(arena, base64, &bytes) &&
	       br_decimal_text(arena, bytes, number, &field->text);
}

struct br_field
br_field_json(struct br_arena *arena, const struct br_json_value *value)
{
	struct br_json_object object;
	struct br_json_fault fault;
	struct br_field field;

	if (value->kind == BR_JSON_NULL)
		return (struct br_field){.state = BR_FIELD_ABSENT};
	if (value->kind == BR_JSON_STRING)
		return string_field(arena, value);
	if (value->kind == BR_JSON_OBJECT &&
	    br_json_read(value->text, NULL, &object, &fault) &&
	    decimal_field(arena, &object, &field))
		return field;
	return br_field_plain(value->text);
}

/* Bytes that begin like an object: a wrapper, a decimal, or just text. */
static struct br_field
object_field(struct br_arena *arena, struct br_slice bytes)
{
	const struct br_json_value *schema, *payload;
	struct br_json_object object;
	struct br_json_fault fault;
	struct br_field field;

	if (!br_json_read(bytes, NULL, &object, &fault))
		return br_field_plain(bytes);
	if (br_field_wrapper(&object, &schema, &payload))
		return br_field_json(arena, payload);
	if (decimal_field(arena, &object, &field))
		return field;
	return br_field_plain(bytes);
}

struct br_field
br_field_header(struct br_arena *arena, struct br_slice bytes)
{
	struct br_json_value value;
	struct br_json_fault fault;
	struct br_field field;

	if (bytes.data == NULL || bytes.len == 0)
		return (struct br_field){.state = BR_FIELD_ABSENT};
	if (bytes.data[0] == '{')
		return object_field(arena, bytes);
	if (bytes.data[0] == '"' &&
	    br_json_check(bytes, NULL, &value, &fault)) {
		field = string_field(arena, &value);
		field.quoted = true;
		return field;
	}
	if (bytes.len == 4 && memcmp(bytes.data, "null", 4) == 0)
		return (struct br_field){.state = BR_FIELD_ABSENT};
	return br_field_plain(bytes);
}

struct br_field
br_field_id(struct br_arena *arena, struct br_slice bytes)
{
	struct br_field field;

	/* A raw UUID is no text: it has controls, or bytes above 0x7f that
	 * do not happen to be UTF-8. */
	if (bytes.data != NULL && bytes.len == 16 &&
	    (br_text_has_control(bytes) || !br_text_is_utf8(bytes)))
		return (struct br_field){.state = BR_FIELD_TEXT,
		    .text = br_text_uuid(arena, bytes.data)};
	field = br_field_header(arena, bytes);
	if (field.state == BR_FIELD_TEXT)
		field.text = br_text_plain(arena, field.text);
	return field;
}

bool
br_field_number(
    struct br_arena *arena, const struct br_field *field, int64_t *number)
{
	struct br_slice text = field->text, bytes, digits;

	if (field->state != BR_FIELD_TEXT)
		return false;
	if (br_text_integer(text, number))
		return true;
	/* One or two bytes hold every count that makes sense, and their
	 * padding tells them from a word. */
	return text.len == 4 && text.data[3] == '=' &&
	       br_base64_padded(arena, text, &bytes) &&
	       br_decimal_text(arena, bytes, 0, &digits) &&
	       br_text_integer(digits, number);
}
