/*
 * goldengate: operations as GoldenGate's JSON formatter writes them: with the
 * row in `after` (operation format), or its columns beside the metadata (row
 * format). See draft.h.
 */
#include "bridge/source/draft.h"
#include "bridge/source/text.h"
#include "bridge/source/times.h"

static const char missing[] = "_isMissing";

/* What the members beside the row say. */
struct operation {
	struct br_field table, type, time, position;
	struct br_json_value after;
	bool operation_format; /* `after` or `before` is there */
};

static void
read_operation(struct br_draft *d, struct br_slice object, struct operation *op)
{
	struct br_json_iter it;
	struct br_json_member m;

	br_json_begin(&it, object, NULL);
	while (br_json_next(&it, &m)) {
		struct br_slice name = br_json_inner(&m.name);

		if (br_slice_eq(name, br_slice_str("table")))
			op->table = br_field_json(d->arena, &m.value);
		else if (br_slice_eq(name, br_slice_str("op_type")))
			op->type = br_field_json(d->arena, &m.value);
		else if (br_slice_eq(name, br_slice_str("op_ts")))
			op->time = br_field_json(d->arena, &m.value);
		else if (br_slice_eq(name, br_slice_str("pos")))
			op->position = br_field_json(d->arena, &m.value);
		else if (br_slice_eq(name, br_slice_str("after")))
			op->after = m.value;
		else if (!br_slice_eq(name, br_slice_str("before")))
			continue;
		if (name.data[0] == 'a' || name.data[0] == 'b')
			op->operation_format = true;
	}
}

/* CATALOG.SCHEMA.TABLE: the last two count. */
static void
split_table(struct br_change *c, struct br_slice name)
{
	const uint8_t *dot = memrchr(name.data, '.', name.len);
	const uint8_t *before;

	c->table = name;
	if (dot == NULL)
		return;
	c->table.data = dot + 1;
	c->table.len = name.len - (size_t)(dot + 1 - name.data);
	c->schema = (struct br_slice){name.data, (size_t)(dot - name.data)};
	before = memrchr(name.data, '.', c->schema.len);
	if (before != NULL) {
		c->schema.data = before + 1;
		c->schema.len = (size_t)(dot - (before + 1));
	}
}

/* PAYLOAD_isMissing: the column was in the table and not in the trail. */
static bool
payload_is_missing(const struct br_draft *d, struct br_slice row)
{
	struct br_slice column = d->row->name[BR_COLUMN_PAYLOAD];
	struct br_json_iter it;
	struct br_json_member m;

	if (d->row->value[BR_COLUMN_PAYLOAD].kind != BR_JSON_NULL)
		return false;
	br_json_begin(&it, row, NULL);
	while (br_json_next(&it, &m)) {
		struct br_slice name = br_json_inner(&m.name);

		if (m.value.kind == BR_JSON_TRUE &&
		    name.len == column.len + sizeof(missing) - 1 &&
		    memcmp(name.data, column.data, column.len) == 0 &&
		    memcmp(name.data + column.len, missing,
		        sizeof(missing) - 1) == 0)
			return true;
	}
	return false;
}

bool
br_goldengate_payload(
    struct br_draft *d, struct br_slice object, struct br_payload *p)
{
	static const char letters[] = "IUDT", ops[] = "cudt";
	struct operation op = {.after = {.kind = BR_JSON_NONE}};
	struct br_change *c = &d->change;
	const char *letter = NULL;

	d->out->format = "goldengate";
	read_operation(d, object, &op);
	c->time_ms = -1;
	if (op.time.state == BR_FIELD_TEXT)
		br_times_text(op.time.text, &c->time_ms);
	if (op.table.state == BR_FIELD_TEXT)
		split_table(c, op.table.text);
	if (op.type.state == BR_FIELD_TEXT && op.type.text.len == 1)
		letter = strchr(letters, op.type.text.data[0]);
	if (letter == NULL || *letter == '\0')
		return br_draft_dead(d, "extract", "envelope-malformed",
		    "the operation's `op_type` is none of I, U, D, T");
	c->op = ops[letter - letters];
	if (!op.operation_format)
		op.after = (struct br_json_value){
		    .kind = BR_JSON_OBJECT, .text = object};
	if (op.position.state == BR_FIELD_TEXT)
		d->position = op.position.text;
	if (!br_change_payload(d, &op.after, p))
		return false;
	if (payload_is_missing(d, op.after.text))
		return br_draft_dead(d, "extract", "payload-unavailable",
		    "the trail does not hold the payload of this row "
		    "(%.*s%s is true): let Extract fetch it and insert the "
		    "row again",
		    (int)d->row->name[BR_COLUMN_PAYLOAD].len,
		    (const char *)d->row->name[BR_COLUMN_PAYLOAD].data,
		    missing);
	return true;
}
