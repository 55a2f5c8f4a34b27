/* key: the order key, decoded from the record's key; see draft.h. */
#include "bridge/source/draft.h"
#include "bridge/source/field.h"
#include "bridge/source/text.h"

/*
 * A byte array that Java printed differs from record to record, so that it
 * says nothing about the key: all of them together keep the partition's
 * order.
 */
static const char byte_array[] = "[B@";

static struct br_slice
none(void)
{
	return (struct br_slice){NULL, 0};
}

static bool
is_scalar(enum br_json_kind kind)
{
	return kind != BR_JSON_OBJECT && kind != BR_JSON_ARRAY;
}

/* Text of a field; an absent one means no order. */
static struct br_slice
field_key(const struct br_field *field)
{
	return field->state == BR_FIELD_ABSENT ? none() : field->text;
}

/* An object of a row's key columns: the only one's text, or all of it. */
static struct br_slice
columns_key(struct br_arena *arena, struct br_slice text,
    const struct br_json_object *object)
{
	if (object->count == 1) {
		const struct br_json_value *only = &object->member[0].value;
		struct br_field field = br_field_json(arena, only);

		/* An inner object that is no decimal comes back as it is. */
		if (field.state == BR_FIELD_TEXT &&
		    (is_scalar(only->kind) ||
		        field.text.data != only->text.data))
			return field.text;
	}
	return br_json_compact(arena, text);
}

static struct br_slice
object_key(struct br_arena *arena, struct br_slice text)
{
	const struct br_json_value *schema, *payload;
	struct br_json_object object;
	struct br_json_fault fault;
	struct br_field field;

	if (!br_json_read(text, NULL, &object, &fault))
		return text;
	if (!br_field_wrapper(&object, &schema, &payload))
		return columns_key(arena, text, &object);
	if (payload->kind != BR_JSON_OBJECT) {
		field = br_field_json(arena, payload);
		return field_key(&field);
	}
	text = payload->text;
	br_json_read(text, NULL, &object, &fault);
	return columns_key(arena, text, &object);
}

struct br_slice
br_order_key(struct br_arena *arena, struct br_slice key)
{
	struct br_json_value value;
	struct br_json_fault fault;
	struct br_field field;

	if (key.data == NULL || key.len == 0)
		return none();
	if (key.data[0] == '{')
		return object_key(arena, key);
	if (key.data[0] == '"' && br_json_check(key, NULL, &value, &fault)) {
		field = br_field_json(arena, &value);
		return field_key(&field);
	}
	if (key.len == 4 && memcmp(key.data, "null", 4) == 0)
		return none();
	if (br_text_begins(key, byte_array))
		return br_slice_str(byte_array);
	return key;
}
