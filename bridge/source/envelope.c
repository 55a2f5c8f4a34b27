/* envelope: change events as Debezium writes them; see draft.h. */
#include "bridge/source/draft.h"
#include "bridge/source/text.h"

static bool
is(const struct br_json_member *m, const char *name)
{
	return br_json_is(&m->name, br_slice_str(name));
}

/* A text that means something; absent otherwise. */
static struct br_slice
text_of(struct br_draft *d, const struct br_json_value *value)
{
	struct br_field field = br_field_json(d->arena, value);

	if (value->kind != BR_JSON_STRING || field.state != BR_FIELD_TEXT)
		return (struct br_slice){NULL, 0};
	return field.text;
}

/* The member `source`: which table, when, of which database. */
static void
read_source(struct br_draft *d, struct br_slice source)
{
	struct br_change *c = &d->change;
	struct br_slice database = {NULL, 0};
	struct br_json_iter it;
	struct br_json_member m;

	br_json_begin(&it, source, NULL);
	while (br_json_next(&it, &m)) {
		if (is(&m, "schema"))
			c->schema = text_of(d, &m.value);
		else if (is(&m, "db"))
			database = text_of(d, &m.value);
		else if (is(&m, "table"))
			c->table = text_of(d, &m.value);
		else if (is(&m, "connector"))
			c->oracle = br_slice_eq(
			    text_of(d, &m.value), br_slice_str("oracle"));
		else if (is(&m, "ts_ms") &&
		         !br_text_integer(m.value.text, &c->time_ms))
			c->time_ms = -1;
	}
	/* MySQL has databases and no schemas. */
	if (c->schema.data == NULL)
		c->schema = database;
}

bool
br_envelope_payload(
    struct br_draft *d, struct br_slice object, struct br_payload *p)
{
	struct br_json_value after = {.kind = BR_JSON_NONE}, message = after;
	struct br_field op = {.state = BR_FIELD_ABSENT};
	int64_t time_ms = -1;
	struct br_json_iter it;
	struct br_json_member m;

	d->out->format = "envelope";
	d->within = "after";
	d->change.time_ms = -1;
	br_json_begin(&it, object, NULL);
	while (br_json_next(&it, &m)) {
		if (is(&m, "after"))
			after = m.value;
		else if (is(&m, "message"))
			message = m.value;
		else if (is(&m, "source") && m.value.kind == BR_JSON_OBJECT)
			read_source(d, m.value.text);
		else if (is(&m, "op"))
			op = br_field_json(d->arena, &m.value);
		else if (is(&m, "ts_ms") &&
		         !br_text_integer(m.value.text, &time_ms))
			time_ms = -1;
	}
	if (d->change.time_ms < 0)
		d->change.time_ms = time_ms;
	d->change.op = br_change_op(&op);
	if (d->change.op == 0)
		return br_draft_dead(d, "extract", "envelope-malformed",
		    "the change event has no `op` that is known");
	if (d->change.op == 'm' && message.kind == BR_JSON_OBJECT)
		return br_message_payload(d, &message, p);
	return br_change_payload(
	    d, after.kind != BR_JSON_NONE ? &after : NULL, p);
}
