/* clock: see the header. */
#include "bridge/base/clock.h"

#include <time.h>

int64_t
br_clock_mono_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t
br_clock_mono_ms(void)
{
	return br_clock_mono_ns() / 1000000;
}

int64_t
br_clock_wall_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
