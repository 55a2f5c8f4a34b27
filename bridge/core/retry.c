/* retry: see the header. */
#include "bridge/core/retry.h"

#include <assert.h>

/* base * 2^attempt, at most `cap`. */
static uint64_t
step_ms(uint64_t base, uint32_t attempt, uint64_t cap)
{
	uint64_t step = base;

	/* Doubling stops at the cap, so a huge attempt number cannot wrap. */
	for (uint32_t i = 0; i < attempt && step < cap && step != 0; i++)
		step = step > cap / 2 ? cap : step * 2;
	return step < cap ? step : cap;
}

uint64_t
br_retry_delay_ms(const struct br_retry_rules *rules, uint32_t attempt,
    uint64_t retry_after_ms, double random)
{
	double step, swing, sum;
	uint64_t delay;

	assert(attempt > 0 && random >= 0 && random < 1);

	step = (double)step_ms(rules->base_ms, attempt, rules->max_delay_ms);
	swing = step * rules->jitter * (2 * random - 1);
	sum = step + swing;
	/* 2^64 is the first double that no uint64_t holds. */
	delay = sum < 0x1p64 ? (uint64_t)sum : UINT64_MAX;

	if (retry_after_ms > rules->retry_after_max_ms)
		retry_after_ms = rules->retry_after_max_ms;
	return delay > retry_after_ms ? delay : retry_after_ms;
}
