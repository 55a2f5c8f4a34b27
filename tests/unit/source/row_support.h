/* row_support: records without an `id` header, put together from pieces. */
#ifndef ROW_SUPPORT_H
#define ROW_SUPPORT_H

#include <stdio.h>

#include "source_support.h"

#define P "{\"orderId\":4711,\"total\":12.50}"
#define QUOTED_P "\"{\\\"orderId\\\":4711,\\\"total\\\":12.50}\""

/* Text out of a format, in one of a few buffers that take turns. */
static inline const char *text(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static inline const char *
text(const char *format, ...)
{
	static char buffers[8][16384];
	static size_t turn;
	char *buffer = buffers[turn++ % COUNT(buffers)];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(buffer, sizeof(buffers[0]), format, args);
	va_end(args);
	assert_true(n >= 0 && (size_t)n < sizeof(buffers[0]));
	return buffer;
}

/* A change event of APP.T in Oracle, or of public.t in PostgreSQL. */
static inline const char *
change(const char *connector, const char *op, const char *after)
{
	bool oracle = strcmp(connector, "oracle") == 0;

	return text("{\"before\":null,\"after\":%s,\"source\":{\"connector\":"
	            "\"%s\",\"ts_ms\":1767225600000,\"db\":\"d\",\"schema\":"
	            "\"%s\",\"table\":\"%s\"},\"op\":\"%s\",\"ts_ms\":"
	            "1767225600250}",
	    after, connector, oracle ? "APP" : "public", oracle ? "T" : "t",
	    op);
}

static inline void
check_row_record(const char *value, const struct br_header *headers,
    size_t count, const struct expect *e)
{
	struct br_record record = {.topic = "db.public.t",
	    .timestamp_ms = 77,
	    .key = br_slice_str("{\"id\":\"k\"}"),
	    .value = br_slice_str(value),
	    .headers = headers,
	    .header_count = count};

	check_record(&config, &record, e);
}

static inline void
check_value(const char *value, const struct expect *e)
{
	check_row_record(value, NULL, 0, e);
}

static inline void
check_dead(const char *value, const char *reason)
{
	check_value(value,
	    &(struct expect){.result = BR_DECODE_DEAD, .reason = reason});
}

static inline void
check_skip(const char *value, const char *reason)
{
	check_value(value,
	    &(struct expect){.result = BR_DECODE_SKIP, .reason = reason});
}

#endif
