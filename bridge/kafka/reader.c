/* reader: see the header. */
#include "reader.h"

#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "message.h"

#define READ_MAX 256

/* What a record or fault points into, until it is released. */
struct kept {
	rd_kafka_event_t *event;
	rd_kafka_topic_partition_t *where; /* of a fault */
	size_t first_header;
};

/* An event that came by the queue of the group. */
struct stray {
	rd_kafka_event_t *event;
	const rd_kafka_message_t *message; /* of it; NULL: a fault */
};

struct br_reader {
	rd_kafka_queue_t *records;
	struct br_assignment *assignment;
	struct stray *stray;
	size_t stray_next, stray_count, stray_capacity;
	struct kept kept[READ_MAX];
	size_t kept_count;
	struct br_header *header; /* of all kept records, one after another */
	size_t header_count, header_capacity;
};

struct br_reader *
br_reader_new(rd_kafka_queue_t *records, struct br_assignment *assignment)
{
	struct br_reader *r = br_kafka_zeroed(1, sizeof(*r));

	r->records = records;
	r->assignment = assignment;
	return r;
}

void
br_reader_free(struct br_reader *r)
{
	if (r == NULL)
		return;
	br_reader_release(r);
	while (r->stray_next < r->stray_count)
		rd_kafka_event_destroy(r->stray[r->stray_next++].event);
	free(r->stray);
	free(r->header);
	free(r);
}

void
br_reader_add(struct br_reader *r, rd_kafka_event_t *ev)
{
	if (r->stray_count == r->stray_capacity) {
		r->stray_capacity = r->stray_capacity * 2 + 16;
		r->stray = br_kafka_grow(
		    r->stray, r->stray_capacity, sizeof(*r->stray));
	}
	r->stray[r->stray_count++] =
	    (struct stray){ev, rd_kafka_event_type(ev) == RD_KAFKA_EVENT_FETCH
	                           ? rd_kafka_event_message_next(ev)
	                           : NULL};
}

static bool
is_of(const struct stray *s, const char *topic, int32_t partition)
{
	rd_kafka_topic_partition_t *where;
	bool same;

	if (s->message != NULL)
		return s->message->partition == partition &&
		       strcmp(rd_kafka_topic_name(s->message->rkt), topic) == 0;
	where = rd_kafka_event_topic_partition(s->event);
	if (where == NULL)
		return false;
	same =
	    where->partition == partition && strcmp(where->topic, topic) == 0;
	rd_kafka_topic_partition_destroy(where);
	return same;
}

void
br_reader_forget(struct br_reader *r, const char *topic, int32_t partition)
{
	size_t kept = r->stray_next;

	for (size_t i = r->stray_next; i < r->stray_count; i++)
		if (is_of(&r->stray[i], topic, partition))
			rd_kafka_event_destroy(r->stray[i].event);
		else
			r->stray[kept++] = r->stray[i];
	r->stray_count = kept;
}

/* The next event, and its record where it is one. */
static struct stray
next_event(struct br_reader *r)
{
	struct stray next = {0};

	if (r->stray_next < r->stray_count)
		return r->stray[r->stray_next++];
	r->stray_next = r->stray_count = 0;
	next.event = rd_kafka_queue_poll(r->records, 0);
	if (next.event != NULL &&
	    rd_kafka_event_type(next.event) == RD_KAFKA_EVENT_FETCH)
		next.message = rd_kafka_event_message_next(next.event);
	return next;
}

static void
add_headers(
    struct br_reader *r, const rd_kafka_message_t *m, struct br_record *out)
{
	struct br_header header;

	while (br_message_header(m, out->header_count, &header)) {
		if (r->header_count == r->header_capacity) {
			r->header_capacity = r->header_capacity * 2 + 64;
			r->header = br_kafka_grow(
			    r->header, r->header_capacity, sizeof(*r->header));
		}
		r->header[r->header_count++] = header;
		out->header_count++;
	}
}

static bool
take_record(
    struct br_reader *r, const rd_kafka_message_t *m, struct br_read *out)
{
	struct br_kafka_part *part;

	if (m == NULL)
		return false;
	br_message_record(m, &out->record);
	part = br_assignment_find(
	    r->assignment, out->record.topic, out->record.partition);
	if (part == NULL || !part->wanted || part->stopped)
		return false;
	part->next = m->offset + 1;
	out->kind = BR_READ_RECORD;
	add_headers(r, m, &out->record);
	return true;
}

static enum br_read_kind
kind_of(rd_kafka_resp_err_t e)
{
	switch ((int)e) {
	case RD_KAFKA_RESP_ERR__PARTITION_EOF:
		return BR_READ_END;
	case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
	case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
		return BR_READ_OUT_OF_RANGE;
	case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
	case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
	case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
		return BR_READ_TOPIC_GONE;
	case RD_KAFKA_RESP_ERR__BAD_MSG:
	case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
	case RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED:
	case RD_KAFKA_RESP_ERR_INVALID_MSG:
	case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
		return BR_READ_CORRUPT;
	default:
		return BR_READ_ERROR;
	}
}

/* Whether reading on after it could pass over records. */
static bool
must_stop(enum br_read_kind kind)
{
	return kind == BR_READ_OUT_OF_RANGE || kind == BR_READ_TOPIC_GONE ||
	       kind == BR_READ_CORRUPT;
}

/* Not every fault carries an offset; some carry a 0 that means nothing. */
static int64_t
offset_of(enum br_read_kind kind, const rd_kafka_topic_partition_t *where,
    const struct br_kafka_part *part)
{
	bool told = kind == BR_READ_END || kind == BR_READ_OUT_OF_RANGE ||
	            kind == BR_READ_CORRUPT;

	return told && where->offset >= 0 ? where->offset : part->next;
}

/* On success `kept` holds what `out` points to. */
static bool
take_fault(struct br_reader *r, rd_kafka_event_t *ev, struct kept *kept,
    struct br_read *out)
{
	rd_kafka_topic_partition_t *where = rd_kafka_event_topic_partition(ev);
	struct br_kafka_part *part;
	struct br_error err;

	if (where == NULL)
		return false;
	part =
	    br_assignment_find(r->assignment, where->topic, where->partition);
	if (part == NULL || !part->wanted || part->stopped) {
		rd_kafka_topic_partition_destroy(where);
		return false;
	}
	out->error = rd_kafka_event_error(ev);
	out->kind = kind_of(rd_kafka_event_error(ev));
	out->record = (struct br_record){.topic = where->topic,
	    .partition = where->partition,
	    .offset = offset_of(out->kind, where, part),
	    .timestamp_ms = -1};
	(void)snprintf(out->text, sizeof(out->text), "%s",
	    rd_kafka_event_error_string(ev));
	if (out->kind == BR_READ_END)
		part->next = out->record.offset;
	/* a refusal leaves it flagged, and its records are dropped here */
	if (must_stop(out->kind))
		(void)br_assignment_stop(r->assignment, part, &err);
	kept->where = where;
	return true;
}

size_t
br_reader_read(struct br_reader *r, struct br_read *out, size_t max)
{
	size_t n = 0;

	br_reader_release(r);
	if (max > READ_MAX)
		max = READ_MAX;
	while (n < max) {
		struct kept *kept = &r->kept[n];
		struct stray next = next_event(r);
		rd_kafka_event_t *ev = next.event;
		bool found = false;

		if (ev == NULL)
			break;
		*kept = (struct kept){ev, NULL, r->header_count};
		out[n] = (struct br_read){0};
		if (rd_kafka_event_type(ev) == RD_KAFKA_EVENT_FETCH)
			found = take_record(r, next.message, &out[n]);
		else if (rd_kafka_event_type(ev) == RD_KAFKA_EVENT_ERROR)
			found = take_fault(r, ev, kept, &out[n]);
		if (found)
			n++;
		else
			rd_kafka_event_destroy(ev);
	}
	r->kept_count = n;
	/* only now does the array stay where it is */
	for (size_t i = 0; i < n; i++)
		if (out[i].record.header_count > 0)
			out[i].record.headers =
			    &r->header[r->kept[i].first_header];
	return n;
}

void
br_reader_release(struct br_reader *r)
{
	for (size_t i = 0; i < r->kept_count; i++) {
		rd_kafka_event_destroy(r->kept[i].event);
		if (r->kept[i].where != NULL)
			rd_kafka_topic_partition_destroy(r->kept[i].where);
	}
	r->kept_count = 0;
	r->header_count = 0;
}
