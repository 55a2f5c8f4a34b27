/* cloud_fields: the fields of a CloudEvent; see draft.h. */
#include "bridge/source/draft.h"
#include "bridge/source/text.h"
#include "bridge/source/times.h"
#include "bridge/source/trace.h"

static void
note(struct br_draft *d, const char *field, const struct br_field *from,
    const char *name)
{
	if (from->state != BR_FIELD_ABSENT)
		br_draft_from(d, field, "attribute", br_slice_str(name));
}

/*
 * An id that Debezium made of positions in the log: several rows of one
 * transaction may share it.
 */
static bool
is_generated(const struct br_field *id)
{
	return id->state == BR_FIELD_TEXT &&
	       br_text_begins(id->text, "name:") &&
	       memchr(id->text.data, ';', id->text.len) != NULL;
}

static void
find_key(struct br_draft *d)
{
	struct br_field id = d->cloud.id;
	struct br_field key = {.state = BR_FIELD_ABSENT};
	int end = d->has_id ? BR_SLOT_KEY_END : BR_SLOT_KEY_ALIAS;
	int slot = BR_SLOT_KEY;

	if (is_generated(&id))
		id.state = BR_FIELD_ABSENT;
	note(d, "event_id", &id, "id");
	if (id.state == BR_FIELD_ABSENT) {
		id = br_header_field(d, BR_SLOT_ID);
		if (id.state != BR_FIELD_ABSENT)
			br_draft_from(
			    d, "event_id", "header", br_slice_str("id"));
	}
	if (id.state == BR_FIELD_TEXT)
		d->out->event_id = id.text;
	for (; slot < end && key.state == BR_FIELD_ABSENT; slot++)
		key = br_header_field(d, slot);
	if (key.state != BR_FIELD_ABSENT) {
		br_draft_from(d, "idempotency_key", "header",
		    br_slice_str(br_names_name(d->names, slot - 1)));
		br_set_key(d, &key, "idempotency key", "header");
	} else if (id.state != BR_FIELD_ABSENT) {
		note(d, "idempotency_key", &id, "id");
		br_set_key(d, &id, "event's id", "attribute");
	} else {
		br_set_no_key(d,
		    "the CloudEvent has no id of its own (one that Debezium "
		    "makes up is not unique)");
	}
}

static void
find_aggregate(struct br_draft *d)
{
	if (d->cloud.subject.state != BR_FIELD_ABSENT) {
		note(d, "aggregate_type", &d->cloud.subject, "subject");
		br_set_aggregate(d, &d->cloud.subject);
		return;
	}
	d->out->aggregate_type = d->aggregate_topic.data != NULL
	                             ? d->aggregate_topic
	                             : br_slice_str(d->record->topic);
	br_draft_from(d, "aggregate_type", "topic", d->out->aggregate_type);
}

static void
find_order(struct br_draft *d)
{
	const struct br_field *key = &d->cloud.partition_key;

	if (d->out->order_key.data != NULL) {
		br_draft_from(d, "order_key", "key of the record",
		    (struct br_slice){NULL, 0});
		return;
	}
	if (key->state == BR_FIELD_ABSENT)
		return;
	note(d, "order_key", key, "partitionkey");
	d->out->order_key = key->text;
}

static void
find_trace(struct br_draft *d)
{
	static const struct br_field none = {.state = BR_FIELD_ABSENT};

	br_set_trace(d, &none);
	if (d->out->traceparent.data != NULL ||
	    d->cloud.traceparent.state != BR_FIELD_TEXT)
		return;
	d->out->traceparent = br_trace_parent(d->cloud.traceparent.text);
	if (d->out->traceparent.data == NULL)
		return;
	note(d, "traceparent", &d->cloud.traceparent, "traceparent");
	if (d->cloud.tracestate.state == BR_FIELD_TEXT &&
	    br_trace_state_valid(d->cloud.tracestate.text))
		d->out->tracestate = d->cloud.tracestate.text;
}

void
br_cloud_fields(struct br_draft *d)
{
	int64_t ms;

	find_key(d);
	note(d, "event_type", &d->cloud.type, "type");
	br_set_type(d, &d->cloud.type);
	find_aggregate(d);
	find_order(d);
	if (d->has_id) {
		/* The router places them as in any event of its own. */
		br_routed_url(d);
		br_routed_retries(d);
	}
	note(d, "content_type", &d->cloud.content_type, "datacontenttype");
	br_set_content_type(d, &d->cloud.content_type, "attribute");
	find_trace(d);
	if (d->cloud.time.state == BR_FIELD_TEXT &&
	    br_times_text(d->cloud.time.text, &ms)) {
		d->out->time_ms = ms;
		note(d, "time_ms", &d->cloud.time, "time");
	}
}
