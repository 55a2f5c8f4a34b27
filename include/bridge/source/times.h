/* times: instants as databases and connectors spell them. Pure. */
#ifndef BRIDGE_SOURCE_TIMES_H
#define BRIDGE_SOURCE_TIMES_H

#include "bridge/base/slice.h"

enum br_time_unit {
	BR_TIME_BY_SIZE, /* not told: small numbers are days, large ones ns */
	BR_TIME_DAYS,
	BR_TIME_MILLIS,
	BR_TIME_MICROS,
	BR_TIME_NANOS
};

/* Milliseconds since 1970; rounds towards the past. False on overflow. */
bool br_times_number(int64_t number, enum br_time_unit unit, int64_t *ms);

/*
 * 2026-01-02T03:04:05.678901Z, also with a space for the T, with an offset,
 * or without any (then UTC). False when the text is nothing of the kind.
 */
bool br_times_text(struct br_slice text, int64_t *ms);

#endif
