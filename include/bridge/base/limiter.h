/*
 * limiter: which lines of a flood are written.
 *
 * Of one group at most BR_LIMITER_LINES lines pass in any span of
 * BR_LIMITER_WINDOW_MS. Pure: the caller brings the time (monotonic) and the
 * lock.
 */
#ifndef BRIDGE_BASE_LIMITER_H
#define BRIDGE_BASE_LIMITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BR_LIMITER_LINES 10
#define BR_LIMITER_WINDOW_MS 10000

struct br_limiter;

/*
 * Remembers at most `groups` (at least 1) groups; a further one takes the
 * place of the one that was asked for longest ago, whose count is lost.
 * Aborts when out of memory. Free with br_limiter_free.
 */
struct br_limiter *br_limiter_new(size_t groups);
void br_limiter_free(struct br_limiter *l);

/*
 * True when a line of `group` may be written now; `*suppressed` is then how
 * many of the group were left out since its last one. False: it is one of
 * those left out.
 */
bool br_limiter_allow(struct br_limiter *l, const char *group, int64_t now_ms,
    uint64_t *suppressed);

#endif
