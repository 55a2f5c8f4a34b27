/* schema: see the header. */
#include "bridge/source/schema.h"

#include <stdlib.h>

#include "bridge/source/text.h"

#define SEEN 8
#define COLUMNS 32            /* of use, in one schema; more are not kept */
#define TEXT_KEPT (64 * 1024) /* a longer schema is read every time */

struct column {
	struct br_slice name;
	struct br_schema_column is;
};

struct seen {
	uint8_t *text;
	size_t len;
	const char *within; /* static */
	size_t count;
	struct column column[COLUMNS];
};

struct br_schemas {
	struct seen seen[SEEN];
	size_t next; /* to be replaced */
	struct seen large;
};

static const struct {
	const char *name;
	struct br_schema_column is;
} types[] = {
    {"io.debezium.time.Timestamp", {.unit = BR_TIME_MILLIS}},
    {"io.debezium.time.MicroTimestamp", {.unit = BR_TIME_MICROS}},
    {"io.debezium.time.NanoTimestamp", {.unit = BR_TIME_NANOS}},
    {"io.debezium.time.Date", {.unit = BR_TIME_DAYS}},
    {"org.apache.kafka.connect.data.Timestamp", {.unit = BR_TIME_MILLIS}},
    {"org.apache.kafka.connect.data.Date", {.unit = BR_TIME_DAYS}},
    {"org.apache.kafka.connect.data.Decimal", {.decimal = true}},
};

struct br_schemas *
br_schemas_new(void)
{
	struct br_schemas *s = calloc(1, sizeof(*s));

	if (s == NULL)
		abort();
	return s;
}

void
br_schemas_free(struct br_schemas *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < SEEN; i++)
		free(s->seen[i].text);
	free(s);
}

/* The last member of that name, kind NONE without one. */
static struct br_json_value
member(struct br_slice object, const char *name)
{
	struct br_json_value found = {.kind = BR_JSON_NONE};
	struct br_json_iter it;
	struct br_json_member m;

	if (br_json_peek(object) != BR_JSON_OBJECT)
		return found;
	br_json_begin(&it, object, NULL);
	while (br_json_next(&it, &m))
		if (br_json_is(&m.name, br_slice_str(name)))
			found = m.value;
	return found;
}

struct br_slice
br_schema_name(struct br_slice schema)
{
	struct br_json_value name = member(schema, "name");

	if (name.kind != BR_JSON_STRING)
		return (struct br_slice){NULL, 0};
	return br_json_inner(&name);
}

/* One element of `fields`: kept when its type is one that we know. */
static void
keep(struct seen *seen, struct br_slice field)
{
	struct br_slice type = br_schema_name(field);
	struct br_json_value name = member(field, "field"), scale;
	struct column *column = &seen->column[seen->count];
	size_t i = 0, n = sizeof(types) / sizeof(types[0]);

	while (i < n && (type.data == NULL ||
	                    !br_slice_eq(type, br_slice_str(types[i].name))))
		i++;
	if (i == n || name.kind != BR_JSON_STRING || seen->count == COLUMNS)
		return;
	column->name = br_json_inner(&name);
	column->is = types[i].is;
	if (column->is.decimal) {
		scale = member(member(field, "parameters").text, "scale");
		/* Connect writes the number as a string. */
		if (scale.kind == BR_JSON_STRING)
			scale.text = br_json_inner(&scale);
		if (!br_text_integer(scale.text, &column->is.scale))
			return;
	}
	seen->count++;
}

/* The field `within` of a struct. */
static struct br_slice
inner_schema(struct br_slice schema, const char *within)
{
	struct br_json_value fields = member(schema, "fields");
	struct br_json_iter it;
	struct br_json_member m;

	if (fields.kind != BR_JSON_ARRAY)
		return (struct br_slice){NULL, 0};
	br_json_begin(&it, fields.text, NULL);
	while (br_json_next(&it, &m)) {
		struct br_json_value name = member(m.value.text, "field");

		if (name.kind == BR_JSON_STRING &&
		    br_json_is(&name, br_slice_str(within)))
			return m.value.text;
	}
	return (struct br_slice){NULL, 0};
}

static void
read_schema(struct seen *seen, struct br_slice schema, const char *within)
{
	struct br_json_iter it;
	struct br_json_member m;
	struct br_json_value fields;

	seen->count = 0;
	if (within != NULL)
		schema = inner_schema(schema, within);
	fields = member(schema, "fields");
	if (fields.kind != BR_JSON_ARRAY)
		return;
	br_json_begin(&it, fields.text, NULL);
	while (br_json_next(&it, &m))
		keep(seen, m.value.text);
}

static const struct seen *
seen_of(struct br_schemas *s, struct br_slice schema, const char *within)
{
	struct seen *seen;

	for (size_t i = 0; i < SEEN; i++) {
		seen = &s->seen[i];
		if (seen->text != NULL && seen->len == schema.len &&
		    seen->within == within &&
		    memcmp(seen->text, schema.data, schema.len) == 0)
			return seen;
	}
	if (schema.len > TEXT_KEPT) {
		read_schema(&s->large, schema, within);
		return &s->large;
	}
	seen = &s->seen[s->next++ % SEEN];
	free(seen->text);
	seen->text = malloc(schema.len + 1);
	if (seen->text == NULL)
		abort();
	memcpy(seen->text, schema.data, schema.len);
	seen->len = schema.len;
	seen->within = within;
	/* The columns' names are spans of our own copy. */
	read_schema(seen, (struct br_slice){seen->text, seen->len}, within);
	return seen;
}

bool
br_schemas_column(struct br_schemas *s, struct br_slice schema,
    const char *within, struct br_slice name, struct br_schema_column *column)
{
	const struct seen *seen;

	if (s == NULL || schema.data == NULL)
		return false;
	seen = seen_of(s, schema, within);
	for (size_t i = 0; i < seen->count; i++) {
		if (br_slice_eq(seen->column[i].name, name)) {
			*column = seen->column[i].is;
			return true;
		}
	}
	return false;
}
