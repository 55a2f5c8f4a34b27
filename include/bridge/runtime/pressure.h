/*
 * pressure: what waits, and fills the buffer: the alarms about it, and what
 * is given up when it is full.
 *
 * Kafka thread only; never blocks. The alarms are `buffer_filling`,
 * `buffer_parked` and `target_closed`; their texts name the lanes and targets.
 */
#ifndef BRIDGE_RUNTIME_PRESSURE_H
#define BRIDGE_RUNTIME_PRESSURE_H

#include "bridge/config/config.h"
#include "bridge/runtime/alarms.h"
#include "bridge/runtime/parts.h"
#include "bridge/runtime/pool.h"

struct br_pressure {
	const struct br_config *config;
	struct br_parts *parts;
	struct br_pool *pool;
	struct br_alarms *alarms;
	uint64_t open;     /* bytes, as of the last look */
	int64_t looked_ms; /* 0: never */
	double growth;     /* bytes a second, smoothed */
	int64_t text_ms;   /* when the lanes were gone through last */
	int64_t shed_ms;   /* not again before */
};

/* Bytes of open events that stop the reading: three quarters of the buffer. */
uint64_t br_pressure_share(const struct br_config *config);

/* Raises and clears the alarms; once a second. `full`: nothing is read. */
void br_pressure_look(struct br_pressure *p, bool full, int64_t now_ms);

/*
 * The share is full, of `open` bytes. With breaker.on_full = "dlq" events of
 * closed targets go to the DLQ, as many as it takes to read on, if it is
 * parked events that fill it.
 */
void br_pressure_relieve(struct br_pressure *p, uint64_t open, int64_t now_ms);

#endif
