/*
 * clock: the only place where time is read. core/ gets times as arguments.
 */
#ifndef BRIDGE_BASE_CLOCK_H
#define BRIDGE_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds of CLOCK_MONOTONIC. Any thread. */
int64_t br_clock_mono_ms(void);

/* Nanoseconds of CLOCK_MONOTONIC, for measuring. Any thread. */
int64_t br_clock_mono_ns(void);

/* Milliseconds since 1970-01-01 UTC. Any thread. */
int64_t br_clock_wall_ms(void);

#endif
