/* row: see the header. */
#include "bridge/source/row.h"

#include <stdlib.h>
#include <strings.h>

#include "bridge/source/decimal.h"
#include "bridge/source/text.h"

#define DOUBLE_EXACT (INT64_C(1) << 53)

struct entry {
	struct br_slice name; /* absent: free */
	enum br_column column;
	uint8_t rank; /* place in its list, the preferred name first */
};

struct br_columns {
	struct entry *table; /* open addressing, `mask` + 1 places */
	size_t mask;
};

static const struct {
	const char *name;
	enum br_column column;
	uint8_t rank;
} added[] = {
    {"tracingspancontext", BR_COLUMN_TRACING, 0},
    {"__op", BR_COLUMN_OP, 0},
    {"__deleted", BR_COLUMN_DELETED, 0},
    {"__schema", BR_COLUMN_SCHEMA, 0},
    {"__source_schema", BR_COLUMN_SCHEMA, 1},
    {"__db", BR_COLUMN_SCHEMA, 2},
    {"__source_db", BR_COLUMN_SCHEMA, 3},
    {"__table", BR_COLUMN_TABLE, 0},
    {"__source_table", BR_COLUMN_TABLE, 1},
    {"__connector", BR_COLUMN_CONNECTOR, 0},
    {"__source_connector", BR_COLUMN_CONNECTOR, 1},
    {"__source_ts_ms", BR_COLUMN_TIME, 0},
    {"__ts_ms", BR_COLUMN_TIME, 1},
};

#define ADDED (sizeof(added) / sizeof(added[0]))

/* The same for every spelling of the case. */
static size_t
hash(struct br_slice name)
{
	size_t n = name.len;

	if (n == 0)
		return 0;
	return n * 31 + (name.data[0] | 0x20u) * 7 +
	       (name.data[n / 2] | 0x20u) * 131 +
	       (name.data[n - 1] | 0x20u) * 17;
}

/* One name may mean several things: each has an entry of its own. */
static void
add(struct br_columns *c, const char *name, enum br_column column, size_t rank)
{
	struct br_slice slice = br_slice_str(name);
	size_t i = hash(slice) & c->mask;

	while (c->table[i].name.data != NULL)
		i = (i + 1) & c->mask;
	c->table[i].name = slice;
	c->table[i].column = column;
	c->table[i].rank = (uint8_t)(rank < 255 ? rank : 255);
}

struct br_columns *
br_columns_new(const struct br_config_columns *config)
{
	const struct br_strings *lists[] = {
	    [BR_COLUMN_ID] = &config->id,
	    [BR_COLUMN_KEY] = &config->idempotency_key,
	    [BR_COLUMN_AGGREGATE] = &config->aggregate_type,
	    [BR_COLUMN_ORDER] = &config->aggregate_id,
	    [BR_COLUMN_TYPE] = &config->event_type,
	    [BR_COLUMN_PAYLOAD] = &config->payload,
	    [BR_COLUMN_URL] = &config->target_url,
	    [BR_COLUMN_RETRIES] = &config->max_retries,
	    [BR_COLUMN_STATUS] = &config->status,
	    [BR_COLUMN_CREATED] = &config->created_at,
	};
	size_t count = sizeof(lists) / sizeof(lists[0]), names = ADDED;
	struct br_columns *c = calloc(1, sizeof(*c));
	size_t size = 64;

	for (size_t i = 0; i < count; i++)
		names += lists[i]->count;
	while (size < 2 * names)
		size *= 2;
	if (c == NULL || (c->table = calloc(size, sizeof(*c->table))) == NULL)
		abort();
	c->mask = size - 1;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < lists[i]->count; k++)
			add(c, lists[i]->item[k], (enum br_column)i, k);
	for (size_t i = 0; i < ADDED; i++)
		add(c, added[i].name, added[i].column, added[i].rank);
	return c;
}

void
br_columns_free(struct br_columns *c)
{
	if (c == NULL)
		return;
	free(c->table);
	free(c);
}

void
br_row_clear(struct br_row *row)
{
	for (size_t i = 0; i < BR_COLUMN_COUNT; i++)
		row->value[i].kind = BR_JSON_NONE;
	row->twice = 0;
	row->plain = false;
	row->schemas = NULL;
	row->schema = (struct br_slice){NULL, 0};
	row->within = NULL;
}

/* Null and the empty text say nothing. */
static bool
says_nothing(const struct br_row *row, const struct br_json_value *value)
{
	return value->kind == BR_JSON_NONE || value->kind == BR_JSON_NULL ||
	       (value->kind == BR_JSON_STRING &&
	           value->text.len == (row->plain ? 0 : 2));
}

/* Is the new value better than what stands in its place? */
static bool
is_better(struct br_row *row, const struct entry *e, struct br_slice name,
    bool exact, const struct br_json_value *value)
{
	const struct br_json_value *old = &row->value[e->column];
	uint8_t rank = row->rank[e->column];
	uint32_t bit = (uint32_t)1 << e->column;

	if (old->kind == BR_JSON_NONE)
		return true;
	if (rank == e->rank) {
		if (exact)
			row->twice &= ~bit;
		if (exact != row->exact[e->column])
			return exact;
		/* A member that is written twice: the last one counts. */
		if (!exact && !br_slice_eq(name, row->name[e->column]))
			row->twice |= bit;
		return true;
	}
	if (says_nothing(row, old) != says_nothing(row, value))
		return says_nothing(row, old);
	return e->rank < rank;
}

void
br_row_add(struct br_row *row, const struct br_columns *columns,
    struct br_slice name, const struct br_json_value *value)
{
	size_t i = hash(name) & columns->mask;

	for (; columns->table[i].name.data != NULL;
	     i = (i + 1) & columns->mask) {
		const struct entry *e = &columns->table[i];
		bool exact;

		if (e->name.len != name.len ||
		    strncasecmp((const char *)e->name.data,
		        (const char *)name.data, name.len) != 0)
			continue;
		exact = memcmp(e->name.data, name.data, name.len) == 0;
		if (!is_better(row, e, name, exact, value))
			continue;
		row->value[e->column] = *value;
		row->name[e->column] = name;
		row->rank[e->column] = e->rank;
		row->exact[e->column] = exact;
	}
}

void
br_row_read(struct br_row *row, const struct br_columns *columns,
    struct br_slice object)
{
	struct br_json_iter it;
	struct br_json_member m;

	br_row_clear(row);
	br_json_begin(&it, object, NULL);
	while (br_json_next(&it, &m))
		br_row_add(row, columns, br_json_inner(&m.name), &m.value);
}

bool
br_row_is_event(const struct br_row *row)
{
	return row->value[BR_COLUMN_PAYLOAD].kind != BR_JSON_NONE &&
	       (row->value[BR_COLUMN_ID].kind != BR_JSON_NONE ||
	           row->value[BR_COLUMN_KEY].kind != BR_JSON_NONE);
}

struct br_field
br_row_field(
    struct br_arena *arena, const struct br_row *row, enum br_column column)
{
	const struct br_json_value *value = &row->value[column];

	if (value->kind == BR_JSON_NONE || value->kind == BR_JSON_NULL)
		return (struct br_field){.state = BR_FIELD_ABSENT};
	if (row->plain)
		return br_field_plain(value->text);
	return br_field_json(arena, value);
}

static bool
is_digits(struct br_slice text)
{
	size_t i = text.len > 1 && text.data[0] == '-' ? 1 : 0;

	for (size_t k = i; k < text.len; k++)
		if (text.data[k] < '0' || text.data[k] > '9')
			return false;
	return text.len > i;
}

/* Takes zeros behind a decimal point away; false for another fraction. */
static bool
whole(struct br_slice *text)
{
	const uint8_t *point = memchr(text->data, '.', text->len);
	const uint8_t *end = text->data + text->len;

	if (point == NULL)
		return is_digits(*text);
	for (const uint8_t *p = point + 1; p < end; p++)
		if (*p != '0')
			return false;
	text->len = (size_t)(point - text->data);
	return is_digits(*text);
}

/* A JSON number: digits are exact, anything else went through a double. */
static enum br_row_id
number_id(struct br_arena *arena, struct br_field *field)
{
	int64_t number, rest;
	uint8_t *to;
	size_t n = 0;

	if (is_digits(field->text))
		return BR_ROW_ID_NUMBER;
	if (!br_text_integer(field->text, &number) || number > DOUBLE_EXACT ||
	    number < -DOUBLE_EXACT)
		return BR_ROW_ID_LOSSY;
	to = br_arena_take(arena, 24) + 24;
	rest = number < 0 ? -number : number;
	do {
		*--to = (uint8_t)('0' + rest % 10);
		rest /= 10;
		n++;
	} while (rest > 0);
	if (number < 0) {
		*--to = '-';
		n++;
	}
	field->text = (struct br_slice){to, n};
	return BR_ROW_ID_NUMBER;
}

/* A string that the schema calls a decimal. */
static bool
schema_decimal(struct br_arena *arena, const struct br_row *row,
    enum br_column column, struct br_slice *text)
{
	struct br_schema_column is;
	struct br_slice bytes;

	return br_schemas_column(row->schemas, row->schema, row->within,
	           row->name[column], &is) &&
	       is.decimal && br_base64_padded(arena, *text, &bytes) &&
	       br_decimal_text(arena, bytes, is.scale, text);
}

enum br_row_id
br_row_id(struct br_arena *arena, const struct br_row *row,
    enum br_column column, struct br_field *field)
{
	const struct br_json_value *value = &row->value[column];

	*field = br_row_field(arena, row, column);
	if (field->state == BR_FIELD_ABSENT)
		return BR_ROW_ID_ABSENT;
	if (field->state != BR_FIELD_TEXT)
		return BR_ROW_ID_INVALID;
	switch (value->kind) {
	case BR_JSON_NUMBER:
		return number_id(arena, field);
	case BR_JSON_STRING:
		if (!is_digits(field->text) &&
		    schema_decimal(arena, row, column, &field->text))
			return whole(&field->text) ? BR_ROW_ID_NUMBER
			                           : BR_ROW_ID_LOSSY;
		field->text = br_text_plain(arena, field->text);
		return is_digits(field->text) ? BR_ROW_ID_NUMBER
		                              : BR_ROW_ID_TEXT;
	case BR_JSON_OBJECT:
		/* One that is no decimal comes back as it is. */
		if (field->text.data == value->text.data)
			return BR_ROW_ID_INVALID;
		return whole(&field->text) ? BR_ROW_ID_NUMBER : BR_ROW_ID_LOSSY;
	case BR_JSON_NONE:
	case BR_JSON_NULL:
	case BR_JSON_FALSE:
	case BR_JSON_TRUE:
	case BR_JSON_ARRAY:
		break;
	}
	return BR_ROW_ID_INVALID;
}

bool
br_row_time(struct br_arena *arena, const struct br_row *row,
    enum br_column column, int64_t *ms)
{
	struct br_field field = br_row_field(arena, row, column);
	struct br_schema_column is = {.unit = BR_TIME_BY_SIZE};
	int64_t number;

	if (field.state != BR_FIELD_TEXT)
		return false;
	if (!br_text_integer(field.text, &number))
		return br_times_text(field.text, ms);
	br_schemas_column(
	    row->schemas, row->schema, row->within, row->name[column], &is);
	return br_times_number(number, is.unit, ms);
}
