/*
 * record: one Kafka record as it came, seen through pointers that somebody
 * else owns (librdkafka's message, an event's copy, a test). Nothing is
 * NUL-terminated but `topic` and header names.
 */
#ifndef BRIDGE_CORE_RECORD_H
#define BRIDGE_CORE_RECORD_H

#include "bridge/base/slice.h"

enum br_time_kind { BR_TIME_NONE, BR_TIME_CREATE, BR_TIME_APPEND };

struct br_header {
	const char *name;
	struct br_slice value; /* absent: a null header */
};

struct br_record {
	const char *topic;
	int32_t partition;
	int64_t offset;
	int64_t timestamp_ms; /* -1: none */
	enum br_time_kind time_kind;
	struct br_slice key;             /* absent: a null key */
	struct br_slice value;           /* absent: a null value */
	const struct br_header *headers; /* in their order, duplicates kept */
	size_t header_count;
};

/* Value of the last header of this name, or NULL when there is none. */
const struct br_slice *br_record_header(
    const struct br_record *r, const char *name);

#endif
