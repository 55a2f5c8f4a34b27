/* source_support: a configuration, records by hand, and one decode. */
#ifndef SOURCE_SUPPORT_H
#define SOURCE_SUPPORT_H

#include "bridge/source/decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The defaults of the design; a test changes its copy. */
static inline struct br_config
default_config(void)
{
	static char *skip[] = {"^__debezium-heartbeat"};
	static char *types[] = {"eventType", "type", "event_type"};
	static char *fields[] = {"eventType", "type", "target_url", "targetUrl",
	    "max_retries", "maxRetries", "idempotency_key"};
	static char *pending[] = {"PENDING", "FAILED"};
	static char *id[] = {"id"}, *payload[] = {"payload"};
	static char *key[] = {"idempotency_key", "idempotencykey"};
	static char *aggregate[] = {"aggregatetype", "aggregate_type"};
	static char *order[] = {"aggregateid", "aggregate_id"};
	static char *type[] = {"event_type", "eventtype", "type"};
	static char *url[] = {"target_url", "targeturl"};
	static char *retries[] = {"max_retries", "maxretries"};
	static char *status[] = {"status"}, *created[] = {"created_at"};
	struct br_config c = {.file = NULL};

	c.source.pending_status = (struct br_strings){pending, COUNT(pending)};
	c.source.columns = (struct br_config_columns){
	    .id = {id, 1},
	    .idempotency_key = {key, 2},
	    .aggregate_type = {aggregate, 2},
	    .aggregate_id = {order, 2},
	    .event_type = {type, 3},
	    .payload = {payload, 1},
	    .target_url = {url, 2},
	    .max_retries = {retries, 2},
	    .status = {status, 1},
	    .created_at = {created, 1},
	};
	c.source.format = BR_FORMAT_AUTO;
	c.source.skip_topics = (struct br_strings){skip, COUNT(skip)};
	c.source.type_headers = (struct br_strings){types, COUNT(types)};
	c.source.envelope_fields = (struct br_strings){fields, COUNT(fields)};
	c.source.on_null_payload = BR_ON_NULL_DLQ;
	c.source.unavailable_value = "__debezium_unavailable_value";
	c.limits.body_bytes = 10485760;
	return c;
}

/* A header whose value is a string; NULL is a null header. */
static inline struct br_header
header(const char *name, const char *value)
{
	return (struct br_header){name, br_slice_str(value)};
}

#define HEADERS_MAX 8

/* One record and what must come of it; NULL or 0: not looked at. */
struct expect {
	enum br_decode_result result;
	const char *reason;
	const char *body; /* with body_len 0 its strlen */
	size_t body_len;
	const char *id, *key, *order, *type, *aggregate, *url;
	int64_t attempts;
	const char *format;
	const char *content; /* the content type */
	int64_t time;
};

#define ABSENT "(absent)"

static inline void
assert_text(const char *what, struct br_slice got, const char *expected)
{
	struct br_slice want = br_slice_str(expected);

	if (expected == NULL)
		return;
	if (strcmp(expected, ABSENT) == 0)
		want = (struct br_slice){NULL, 0};
	if (!br_slice_eq(got, want))
		fail_msg("%s is \"%.*s\", not \"%s\"", what, (int)got.len,
		    got.data != NULL ? (const char *)got.data : ABSENT,
		    expected);
}

static inline void
assert_decoded(const struct br_decoded *out, const struct expect *e)
{
	struct br_slice body = br_slice_str(e->body);

	if (out->result != e->result)
		fail_msg("result %d (%s: %s), not %d", (int)out->result,
		    out->reason != NULL ? out->reason : "", out->detail,
		    (int)e->result);
	if (e->reason != NULL) {
		assert_non_null(out->reason);
		assert_string_equal(out->reason, e->reason);
	}
	if (e->body_len > 0)
		body.len = e->body_len;
	if (e->body != NULL && !br_slice_eq(out->body, body))
		fail_msg("body of %zu bytes is \"%.*s\", not \"%s\"",
		    out->body.len, (int)out->body.len,
		    (const char *)out->body.data, e->body);
	assert_text("id", out->event_id, e->id);
	assert_text("idempotency key", out->idempotency_key, e->key);
	assert_text("order key", out->order_key, e->order);
	assert_text("type", out->event_type, e->type);
	assert_text("aggregate type", out->aggregate_type, e->aggregate);
	assert_text("URL", out->target_url, e->url);
	if (e->attempts != 0)
		assert_int_equal(out->max_attempts, e->attempts);
	if (e->format != NULL)
		assert_string_equal(out->format, e->format);
	assert_text("content type", out->content_type, e->content);
	if (e->time != 0)
		assert_int_equal(out->time_ms, e->time);
	if (out->result == BR_DECODE_DELIVER)
		assert_null(out->reason);
	else
		assert_null(out->body.data);
	if (out->result == BR_DECODE_DEAD)
		assert_int_not_equal(out->detail[0], 0);
}

/* Decodes with a decoder of its own and checks. */
static inline void
check_record(const struct br_config *config, const struct br_record *record,
    const struct expect *e)
{
	struct br_decoder *d = br_decoder_new(config);
	struct br_decoded out;

	br_decode(d, record, &out);
	assert_decoded(&out, e);
	br_decoder_free(d);
}

#define UUID "00000000-0000-4000-8000-000000000001"
#define SCHEMA "{\"type\":\"string\",\"optional\":true}"

static struct br_config config; /* the defaults again before each test */

static inline int
setup(void **state)
{
	(void)state;
	config = default_config();
	return 0;
}

/* A record of a topic of the router, with these headers. */
static inline struct br_record
make(const char *value, const struct br_header *headers, size_t count)
{
	return (struct br_record){.topic = "outbox.event.Order",
	    .key = br_slice_str("k"),
	    .value = br_slice_str(value),
	    .headers = headers,
	    .header_count = count};
}

/* One with the header id, and this value. */
static inline void
check(const char *value, const struct expect *e)
{
	const struct br_header id = header("id", UUID);
	struct br_record record = make(value, &id, 1);

	check_record(&config, &record, e);
}

static inline void
check_headers(const char *value, const struct br_header *headers, size_t count,
    const struct expect *e)
{
	struct br_record record = make(value, headers, count);

	check_record(&config, &record, e);
}

#endif
