/*
 * flattened: rows without their change event, as ExtractNewRecordState
 * leaves them. What kind of change it was is told by `__op`, if the connector
 * adds it, in the row or in a header. See draft.h.
 */
#include "bridge/source/draft.h"
#include "bridge/source/text.h"

static struct br_slice
text_of(struct br_draft *d, enum br_column column)
{
	struct br_field field = br_row_field(d->arena, d->row, column);

	if (field.state != BR_FIELD_TEXT)
		return (struct br_slice){NULL, 0};
	return field.text;
}

bool
br_flattened_payload(
    struct br_draft *d, struct br_slice object, struct br_payload *p)
{
	struct br_change *c = &d->change;
	struct br_field op;

	d->out->format = "flattened";
	br_row_read(d->row, d->columns, object);
	c->schema = text_of(d, BR_COLUMN_SCHEMA);
	c->table = text_of(d, BR_COLUMN_TABLE);
	c->oracle = br_slice_eq(
	    text_of(d, BR_COLUMN_CONNECTOR), br_slice_str("oracle"));
	/* The connector's own times are milliseconds, however small. */
	if (!br_text_integer(text_of(d, BR_COLUMN_TIME), &c->time_ms))
		c->time_ms = -1;
	op = br_row_field(d->arena, d->row, BR_COLUMN_OP);
	if (op.state == BR_FIELD_ABSENT)
		op = br_header_field(d, BR_SLOT_OP);
	c->op = br_change_op(&op);
	if (c->op == 0 && op.state != BR_FIELD_ABSENT) {
		d->kind = BR_DRAFT_ROW;
		return br_draft_dead(d, "extract", "envelope-malformed",
		    "the row's `__op` is none that is known");
	}
	return br_change_row(d, p);
}
