/*
 * change: which changes of a row are events. Only a new row is one; what
 * happens to it afterwards is how the table keeps its books. See draft.h.
 */
#include "bridge/core/pattern.h"
#include "bridge/source/draft.h"
#include "bridge/source/text.h"

#define NAME_MAX_LEN 512

static const char requeue_hint[] =
    "an update has set a row back to a pending status: that is no new event "
    "and is not sent; send it again with `dlq redrive --id` or `replay "
    "--requeue --id`";

char
br_change_op(const struct br_field *field)
{
	if (field->state == BR_FIELD_TEXT && field->text.len == 1 &&
	    strchr("crudtm", field->text.data[0]) != NULL)
		return (char)field->text.data[0];
	return 0;
}

/* False for a row of a table that source.tables does not name. */
static bool
is_listed(const struct br_draft *d)
{
	const struct br_change *c = &d->change;
	char name[NAME_MAX_LEN];
	struct br_slice full = c->table, bare = c->table;
	size_t count = d->config->source.tables.count;

	if (count == 0 || c->table.len == 0)
		return true;
	if (c->schema.len > 0 &&
	    c->schema.len + 1 + c->table.len <= sizeof(name)) {
		memcpy(name, c->schema.data, c->schema.len);
		name[c->schema.len] = '.';
		memcpy(name + c->schema.len + 1, c->table.data, c->table.len);
		full.data = (const uint8_t *)name;
		full.len = c->schema.len + 1 + c->table.len;
	}
	for (size_t i = 0; i < count; i++) {
		/* A pattern without a dot names a table in any schema; one
		 * with a dot says nothing when the schema is not told. */
		bool dotted =
		    strchr(d->config->source.tables.item[i], '.') != NULL;

		if (dotted && c->schema.len == 0)
			return true;
		if (br_pattern_match_slice(d->tables[i], dotted ? full : bare))
			return true;
	}
	return false;
}

enum status {
	STATUS_NONE, /* no such column, or it is null */
	STATUS_NEW,
	STATUS_PENDING,
	STATUS_OTHER
};

static enum status
status_of(const struct br_draft *d)
{
	const struct br_strings *pending = &d->config->source.pending_status;
	struct br_field field =
	    br_row_field(d->arena, d->row, BR_COLUMN_STATUS);
	struct br_slice text = field.text;

	if (field.state == BR_FIELD_ABSENT)
		return STATUS_NONE;
	/* A column of fixed width comes filled up with blanks. */
	while (text.len > 0 && text.data[text.len - 1] == ' ')
		text.len--;
	for (size_t i = 0; i < pending->count; i++)
		if (br_slice_eq(text, br_slice_str(pending->item[i])))
			return i == 0 ? STATUS_NEW : STATUS_PENDING;
	return STATUS_OTHER;
}

static bool
skip_update(struct br_draft *d, enum status status)
{
	if (status != STATUS_NEW && status != STATUS_PENDING)
		return br_draft_skip(d, "op-update");
	d->out->hint = requeue_hint;
	return br_draft_skip(d, "requeue-by-update");
}

/* By the operation alone; true: it may be an event. */
static bool
op_allows(struct br_draft *d, bool has_row)
{
	if (!is_listed(d))
		return br_draft_skip(d, "other-table");
	switch (d->change.op) {
	case 'u':
		return skip_update(d, has_row ? status_of(d) : STATUS_NONE);
	case 'd':
		return br_draft_skip(d, "op-delete");
	case 't':
		return br_draft_skip(d, "op-truncate");
	case 'm':
		return br_draft_skip(d, "op-message");
	default:
		break;
	}
	if (d->change.op != 'r' && d->header[BR_SLOT_OLD_KEY] != NULL)
		return br_draft_skip(d, "pk-update");
	return true;
}

/* By the row's status and, in a snapshot, by what is configured. */
static bool
status_allows(struct br_draft *d)
{
	enum status status = status_of(d);

	if (status == STATUS_OTHER)
		return br_draft_skip(d, "status-not-pending");
	/* Without an op, an update cannot be told from an insert. */
	if (status == STATUS_PENDING && d->change.op == 0)
		return skip_update(d, status);
	if (status == STATUS_NONE && d->change.op == 'r' &&
	    d->config->source.snapshot_skip)
		return br_draft_skip(d, "status-not-pending");
	return true;
}

static bool
no_column(struct br_draft *d)
{
	const struct br_change *c = &d->change;

	if (c->oracle)
		return br_draft_dead(d, "extract", "payload-unavailable",
		    "the row has no payload column, as Oracle leaves out a "
		    "CLOB: set lob.enabled=true in the connector and insert "
		    "the row again (a redrive cannot cure it), or name the "
		    "column in source.columns.payload");
	return br_draft_dead(d, "extract", "unrecognised",
	    "a row of table %.*s%s%.*s without a payload column: if it holds "
	    "events, name the column in source.columns.payload; if not, list "
	    "the tables that do in source.tables",
	    (int)(c->schema.len < 100 ? c->schema.len : 100),
	    c->schema.data != NULL ? (const char *)c->schema.data : "",
	    c->schema.len > 0 ? "." : "",
	    (int)(c->table.len < 100 ? c->table.len : 100),
	    c->table.data != NULL ? (const char *)c->table.data : "");
}

/* The payload column: its text, or the span of a native JSON value. */
static bool
row_payload(struct br_draft *d, struct br_payload *p)
{
	const struct br_json_value *value = &d->row->value[BR_COLUMN_PAYLOAD];

	if (value->kind == BR_JSON_NONE)
		return no_column(d);
	if (value->kind == BR_JSON_NULL && d->change.oracle &&
	    d->change.op != 'r')
		return br_draft_dead(d, "extract", "payload-unavailable",
		    "the payload is null, as LogMiner writes a CLOB without "
		    "lob.enabled=true: set it in the connector and insert the "
		    "row again; this record cannot be redriven");
	br_draft_from(d, "body", "column", d->row->name[BR_COLUMN_PAYLOAD]);
	if (!d->row->plain || value->kind != BR_JSON_STRING)
		return br_payload_value(d, value, value->text, p);
	p->null = false;
	p->syntax = BR_BODY_UNKNOWN;
	p->body = value->text;
	return true;
}

bool
br_change_row(struct br_draft *d, struct br_payload *p)
{
	struct br_field deleted =
	    br_row_field(d->arena, d->row, BR_COLUMN_DELETED);

	d->kind = BR_DRAFT_ROW;
	d->row->schemas = d->schemas;
	d->row->schema = d->schema;
	d->row->within = d->within;
	if (deleted.state == BR_FIELD_TEXT &&
	    br_slice_eq(deleted.text, br_slice_str("true")))
		d->change.op = 'd';
	if (!op_allows(d, true) || !status_allows(d))
		return false;
	if (d->row->twice != 0)
		return br_draft_dead(d, "extract", "envelope-malformed",
		    "two columns of the row have names that differ only by "
		    "case: write the right one into source.columns exactly");
	d->named = true;
	return row_payload(d, p);
}

bool
br_change_payload(
    struct br_draft *d, const struct br_json_value *after, struct br_payload *p)
{
	if (after != NULL && after->kind == BR_JSON_OBJECT) {
		br_row_read(d->row, d->columns, after->text);
		return br_change_row(d, p);
	}
	if (!op_allows(d, false))
		return false;
	if (d->change.op == 0)
		return br_draft_skip(d, "op-delete");
	return br_draft_dead(d, "extract", "envelope-malformed",
	    "the change event of a new row has no row: its member `after` is "
	    "%s",
	    after == NULL                 ? "missing"
	    : after->kind == BR_JSON_NULL ? "null"
	                                  : "no object");
}
