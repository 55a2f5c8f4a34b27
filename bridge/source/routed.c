/* routed: the fields of an event of the router; see draft.h. */
#include "bridge/source/draft.h"

/* Where a field was found: "header" or "member", and its slot. */
struct found {
	struct br_field field;
	const char *where;
	int slot;
};

struct br_field
br_header_field(struct br_draft *d, int slot)
{
	const struct br_slice *bytes = d->header[slot];

	if (bytes == NULL)
		return (struct br_field){.state = BR_FIELD_ABSENT};
	if (slot == BR_SLOT_ID ||
	    (slot >= BR_SLOT_KEY && slot < BR_SLOT_KEY_END))
		return br_field_id(d->arena, *bytes);
	return br_field_header(d->arena, *bytes);
}

static struct br_field
member_field(struct br_draft *d, int slot)
{
	if (!d->placed || d->member[slot].kind == BR_JSON_NONE)
		return (struct br_field){.state = BR_FIELD_ABSENT};
	return br_field_json(d->arena, &d->member[slot]);
}

/* The first of these slots that says something: headers, then members. */
static struct found
find(struct br_draft *d, const int *slots, size_t count)
{
	struct found f = {.where = "header"};

	for (size_t i = 0; i < count; i++) {
		f.slot = slots[i];
		f.field = br_header_field(d, f.slot);
		if (f.field.state != BR_FIELD_ABSENT)
			return f;
	}
	f.where = "member of the value";
	for (size_t i = 0; i < count; i++) {
		f.slot = slots[i];
		f.field = member_field(d, f.slot);
		if (f.field.state != BR_FIELD_ABSENT)
			return f;
	}
	return f;
}

/* The same for the slots from one to before another. */
static struct found
find_range(struct br_draft *d, int from, int end)
{
	int slots[8];
	size_t count = 0;

	for (int i = from; i < end; i++)
		slots[count++] = i;
	return find(d, slots, count);
}

static void
note(struct br_draft *d, const char *field, const struct found *f)
{
	if (d->origins != NULL && f->field.state != BR_FIELD_ABSENT)
		br_draft_from(d, field, f->where,
		    br_slice_str(br_names_name(d->names, f->slot)));
}

static void
find_key(struct br_draft *d)
{
	struct found id = {.field = br_header_field(d, BR_SLOT_ID),
	    .where = "header",
	    .slot = BR_SLOT_ID};
	struct found key = find_range(d, BR_SLOT_KEY, BR_SLOT_KEY_END);
	const char *what = "idempotency key";

	if (id.field.state == BR_FIELD_TEXT)
		d->out->event_id = id.field.text;
	note(d, "event_id", &id);
	if (key.field.state == BR_FIELD_ABSENT) {
		key = id;
		what = "event's id";
	}
	note(d, "idempotency_key", &key);
	if (key.field.state == BR_FIELD_ABSENT)
		br_set_no_key(
		    d, "no `id` header with a value and no idempotency key");
	else
		br_set_key(d, &key.field, what, key.where);
}

static void
find_type(struct br_draft *d)
{
	size_t count;
	const int *slots = br_names_types(d->names, &count);
	struct found f = find(d, slots, count);

	note(d, "event_type", &f);
	br_set_type(d, &f.field);
}

static void
find_aggregate(struct br_draft *d)
{
	struct found f;

	d->out->aggregate_type = d->aggregate_topic;
	if (d->aggregate_topic.data != NULL) {
		br_draft_from(d, "aggregate_type", "topic", d->aggregate_topic);
		return;
	}
	f = find_range(d, BR_SLOT_AGGREGATE, BR_SLOT_AGGREGATE_END);
	note(d, "aggregate_type", &f);
	br_set_aggregate(d, &f.field);
}

void
br_routed_url(struct br_draft *d)
{
	struct found f = find_range(d, BR_SLOT_URL, BR_SLOT_URL_END);

	note(d, "target_url", &f);
	br_set_url(d, &f.field, f.where);
}

void
br_routed_retries(struct br_draft *d)
{
	struct found f = find_range(d, BR_SLOT_RETRIES, BR_SLOT_RETRIES_END);

	note(d, "max_attempts", &f);
	br_set_retries(d, &f.field, f.where);
}

void
br_routed_fields(struct br_draft *d)
{
	struct found f;

	find_key(d);
	find_type(d);
	find_aggregate(d);
	br_routed_url(d);
	br_routed_retries(d);
	f = find_range(d, BR_SLOT_CONTENT_TYPE, BR_SLOT_CONTENT_TYPE + 1);
	if (f.where[0] == 'h') {
		note(d, "content_type", &f);
		br_set_content_type(d, &f.field, f.where);
	}
	f = find_range(d, BR_SLOT_TRACING, BR_SLOT_TRACING + 1);
	br_set_trace(d, &f.field);
	if (d->out->order_key.data != NULL)
		br_draft_from(d, "order_key", "key of the record",
		    (struct br_slice){NULL, 0});
}
