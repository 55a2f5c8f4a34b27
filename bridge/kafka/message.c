/* message: see the header. */
#include "message.h"

static struct br_slice
slice_of(const void *data, size_t len)
{
	return (struct br_slice){data, data != NULL ? len : 0};
}

void
br_message_record(const rd_kafka_message_t *m, struct br_record *out)
{
	rd_kafka_timestamp_type_t kind;

	*out = (struct br_record){.topic = rd_kafka_topic_name(m->rkt),
	    .partition = m->partition,
	    .offset = m->offset,
	    .timestamp_ms = rd_kafka_message_timestamp(m, &kind),
	    .key = slice_of(m->key, m->key_len),
	    .value = slice_of(m->payload, m->len)};
	if (kind == RD_KAFKA_TIMESTAMP_CREATE_TIME)
		out->time_kind = BR_TIME_CREATE;
	else if (kind == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME)
		out->time_kind = BR_TIME_APPEND;
}

bool
br_message_header(const rd_kafka_message_t *m, size_t i, struct br_header *out)
{
	rd_kafka_headers_t *list;
	const void *value;
	size_t len;

	if (rd_kafka_message_headers(m, &list) != 0 ||
	    rd_kafka_header_get_all(list, i, &out->name, &value, &len) != 0)
		return false;
	out->value = slice_of(value, len);
	return true;
}

static rd_kafka_resp_err_t
add_headers(
    rd_kafka_headers_t *list, const struct br_header *from, size_t count)
{
	rd_kafka_resp_err_t e = RD_KAFKA_RESP_ERR_NO_ERROR;

	for (size_t i = 0; i < count && e == 0; i++)
		e = rd_kafka_header_add(list, from[i].name, -1,
		    from[i].value.data, (ssize_t)from[i].value.len);
	return e;
}

rd_kafka_resp_err_t
br_message_produce(rd_kafka_t *rk, const char *topic, int32_t partition,
    const struct br_record *r, const struct br_header *added,
    size_t added_count, void *opaque)
{
	rd_kafka_headers_t *headers =
	    rd_kafka_headers_new(r->header_count + added_count);
	rd_kafka_resp_err_t e =
	    add_headers(headers, r->headers, r->header_count);
	rd_kafka_vu_t arg[] = {{.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = topic},
	    {.vtype = RD_KAFKA_VTYPE_PARTITION,
	        .u.i32 = partition < 0 ? RD_KAFKA_PARTITION_UA : partition},
	    {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
	    {.vtype = RD_KAFKA_VTYPE_TIMESTAMP,
	        .u.i64 = r->timestamp_ms > 0 ? r->timestamp_ms : 0},
	    {.vtype = RD_KAFKA_VTYPE_KEY,
	        .u.mem = {(void *)(uintptr_t)r->key.data, r->key.len}},
	    {.vtype = RD_KAFKA_VTYPE_VALUE,
	        .u.mem = {(void *)(uintptr_t)r->value.data, r->value.len}},
	    {.vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = opaque},
	    {.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers}};
	rd_kafka_error_t *failure;

	if (e == 0)
		e = add_headers(headers, added, added_count);
	if (e != 0) {
		rd_kafka_headers_destroy(headers);
		return e;
	}
	failure = rd_kafka_produceva(rk, arg, sizeof(arg) / sizeof(arg[0]));
	if (failure == NULL)
		return RD_KAFKA_RESP_ERR_NO_ERROR;
	e = rd_kafka_error_code(failure);
	rd_kafka_error_destroy(failure);
	/* the headers are taken only when the record is */
	rd_kafka_headers_destroy(headers);
	return e;
}
