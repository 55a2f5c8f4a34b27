/*
 * retry: how long an event waits after a failed attempt.
 *
 * Pure: no clock, no state. The caller adds the delay to its own time and
 * brings the random number, so that a test can replay any sequence.
 */
#ifndef BRIDGE_CORE_RETRY_H
#define BRIDGE_CORE_RETRY_H

#include <stdint.h>

struct br_retry_rules {
	uint64_t base_ms;            /* doubled once per failed attempt */
	uint64_t max_delay_ms;       /* cap of one step, before jitter */
	uint64_t retry_after_max_ms; /* cap of what a receiver may ask for */
	double jitter;               /* 0..1: share of the step, both ways */
};

/*
 * Delay in ms after failed attempt number `attempt` (1 is the first).
 * `retry_after_ms` is what the receiver asked for, 0 if nothing.
 * `random` is uniform in [0, 1).
 * Never shorter than the capped Retry-After; saturates, never wraps.
 */
uint64_t br_retry_delay_ms(const struct br_retry_rules *rules, uint32_t attempt,
    uint64_t retry_after_ms, double random);

#endif
