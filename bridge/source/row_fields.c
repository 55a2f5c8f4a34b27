/* row_fields: the fields of an event that is a row; see draft.h. */
#include "bridge/source/draft.h"
#include "bridge/source/text.h"

static void
note(struct br_draft *d, const char *field, enum br_column column)
{
	br_draft_from(d, field, "column", d->row->name[column]);
}

/* Texts one behind the other. */
static struct br_slice
join(struct br_arena *arena, const struct br_slice *parts, size_t count)
{
	size_t len = 0;
	uint8_t *start, *to;

	for (size_t i = 0; i < count; i++)
		len += parts[i].len;
	start = to = br_arena_take(arena, len);
	for (size_t i = 0; i < count; i++) {
		if (parts[i].len > 0)
			memcpy(to, parts[i].data, parts[i].len);
		to += parts[i].len;
	}
	return (struct br_slice){start, len};
}

/* SCHEMA.TABLE where the record tells both, else what the topic is for. */
static struct br_slice
place_of(struct br_draft *d, bool *is_table)
{
	const struct br_change *c = &d->change;
	struct br_slice parts[] = {c->schema, br_slice_str("."), c->table};

	*is_table = c->table.len > 0 && c->schema.len > 0;
	if (*is_table)
		return join(d->arena, parts, 3);
	return d->aggregate_topic.data != NULL ? d->aggregate_topic
	                                       : br_slice_str(d->record->topic);
}

/* Numbers are counted in each table from 1: alone they are no key. */
static struct br_slice
numbered_key(struct br_draft *d, struct br_slice id)
{
	bool is_table;
	struct br_slice place = place_of(d, &is_table);
	struct br_slice parts[] = {place, br_slice_str(":"), id};

	return join(d->arena, parts, 3);
}

static void
unusable_key(struct br_draft *d, enum br_row_id state, enum br_column column,
    struct br_field *field)
{
	struct br_slice name = d->row->name[column];
	int n = (int)(name.len < 100 ? name.len : 100);

	if (state == BR_ROW_ID_LOSSY)
		br_draft_dead(d, "validate", "lossy-id",
		    "the column %.*s is no whole number, or a double beyond "
		    "2^53 that has lost digits: set decimal.handling.mode "
		    "to precise or string in the connector",
		    n, (const char *)name.data);
	else if (field->state != BR_FIELD_TEXT)
		br_set_key(d, field, "idempotency key", "column");
	else
		br_draft_dead(d, "validate", "id-invalid",
		    "the column %.*s is neither a text nor a number", n,
		    (const char *)name.data);
}

/* A row without any id: GoldenGate's position in the trail may stand in. */
static void
position_key(struct br_draft *d)
{
	struct br_field field = {.state = BR_FIELD_TEXT};

	if (d->position.data == NULL) {
		br_set_no_key(d,
		    "the row has neither an id nor an idempotency key; if its "
		    "columns have other names, put them into source.columns");
		return;
	}
	field.text = numbered_key(d, d->position);
	br_draft_from(d, "idempotency_key", "member", br_slice_str("pos"));
	br_set_key(d, &field, "idempotency key", "pos");
}

static void
find_key(struct br_draft *d)
{
	struct br_field id, key, redriven = br_header_field(d, BR_SLOT_KEY);
	enum br_row_id has_id = br_row_id(d->arena, d->row, BR_COLUMN_ID, &id);
	enum br_row_id has_key =
	    br_row_id(d->arena, d->row, BR_COLUMN_KEY, &key);

	if (has_id == BR_ROW_ID_TEXT || has_id == BR_ROW_ID_NUMBER) {
		d->out->event_id = id.text;
		note(d, "event_id", BR_COLUMN_ID);
	}
	if (redriven.state != BR_FIELD_ABSENT) {
		br_draft_from(d, "idempotency_key", "header",
		    br_slice_str("outbox.idempotency.key"));
		br_set_key(d, &redriven, "idempotency key", "header");
	} else if (has_key == BR_ROW_ID_TEXT || has_key == BR_ROW_ID_NUMBER) {
		note(d, "idempotency_key", BR_COLUMN_KEY);
		br_set_key(d, &key, "idempotency key", "column");
	} else if (has_key != BR_ROW_ID_ABSENT) {
		unusable_key(d, has_key, BR_COLUMN_KEY, &key);
	} else if (has_id == BR_ROW_ID_TEXT || has_id == BR_ROW_ID_NUMBER) {
		note(d, "idempotency_key", BR_COLUMN_ID);
		if (has_id == BR_ROW_ID_NUMBER)
			id.text = numbered_key(d, id.text);
		br_set_key(d, &id, "row's id", "column");
	} else if (has_id != BR_ROW_ID_ABSENT) {
		unusable_key(d, has_id, BR_COLUMN_ID, &id);
	} else {
		position_key(d);
	}
}

static void
find_aggregate(struct br_draft *d)
{
	struct br_field field =
	    br_row_field(d->arena, d->row, BR_COLUMN_AGGREGATE);
	bool is_table;

	if (field.state != BR_FIELD_ABSENT) {
		note(d, "aggregate_type", BR_COLUMN_AGGREGATE);
		br_set_aggregate(d, &field);
		return;
	}
	d->out->aggregate_type = place_of(d, &is_table);
	br_draft_from(d, "aggregate_type", is_table ? "table" : "topic",
	    d->out->aggregate_type);
}

static void
find_order(struct br_draft *d)
{
	struct br_field field;

	if (br_row_id(d->arena, d->row, BR_COLUMN_ORDER, &field) ==
	    BR_ROW_ID_ABSENT) {
		if (d->out->order_key.data != NULL)
			br_draft_from(d, "order_key", "key of the record",
			    (struct br_slice){NULL, 0});
		return;
	}
	note(d, "order_key", BR_COLUMN_ORDER);
	d->out->order_key = field.text;
}

static void
find_time(struct br_draft *d)
{
	int64_t ms;

	if (br_row_time(d->arena, d->row, BR_COLUMN_CREATED, &ms)) {
		d->out->time_ms = ms;
		note(d, "time_ms", BR_COLUMN_CREATED);
	} else if (d->change.time_ms >= 0) {
		d->out->time_ms = d->change.time_ms;
		br_draft_from(
		    d, "time_ms", "change event", (struct br_slice){NULL, 0});
	}
}

void
br_row_fields(struct br_draft *d)
{
	struct br_field field;

	find_key(d);
	field = br_row_field(d->arena, d->row, BR_COLUMN_TYPE);
	if (field.state != BR_FIELD_ABSENT)
		note(d, "event_type", BR_COLUMN_TYPE);
	br_set_type(d, &field);
	find_aggregate(d);
	find_order(d);
	field = br_row_field(d->arena, d->row, BR_COLUMN_URL);
	if (field.state != BR_FIELD_ABSENT)
		note(d, "target_url", BR_COLUMN_URL);
	br_set_url(d, &field, "column");
	field = br_row_field(d->arena, d->row, BR_COLUMN_RETRIES);
	if (field.state != BR_FIELD_ABSENT)
		note(d, "max_attempts", BR_COLUMN_RETRIES);
	br_set_retries(d, &field, "column");
	field = br_header_field(d, BR_SLOT_CONTENT_TYPE);
	br_set_content_type(d, &field, "header");
	field = br_row_field(d->arena, d->row, BR_COLUMN_TRACING);
	br_set_trace(d, &field);
	find_time(d);
}
