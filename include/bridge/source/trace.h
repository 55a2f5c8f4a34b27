/* trace: W3C trace context, read from headers or Java properties. Pure. */
#ifndef BRIDGE_SOURCE_TRACE_H
#define BRIDGE_SOURCE_TRACE_H

#include "bridge/core/record.h"
#include "bridge/source/arena.h"

/*
 * The trace parent that a text spells: 55 characters; of a version above 00
 * the first 55, when a '-' follows. Absent when it is invalid.
 */
struct br_slice br_trace_parent(struct br_slice text);

/* A list of key=value that can be passed on as it is. */
bool br_trace_state_valid(struct br_slice text);

/* The last valid one of the record's headers, absent without one. */
struct br_slice br_trace_header_parent(
    struct br_arena *arena, const struct br_record *r);
struct br_slice br_trace_header_state(
    struct br_arena *arena, const struct br_record *r);

/*
 * The value of `key` in the text of a java.util.Properties file (the column
 * tracingspancontext), absent when there is none.
 */
struct br_slice br_trace_property(
    struct br_arena *arena, struct br_slice text, const char *key);

#endif
