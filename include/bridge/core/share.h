/*
 * share: how long a target must leave the last free worker to another one.
 *
 * While more than one target was used within the last minute, one that hangs
 * must not hold all workers. Pure; under the scheduler's lock, shared by the
 * files of the scheduler and nobody else.
 */
#ifndef BRIDGE_CORE_SHARE_H
#define BRIDGE_CORE_SHARE_H

#include "bridge/core/target.h"

struct br_share {
	const struct br_target *recent; /* the target used last, … */
	int64_t recent_ms;
	int64_t other_ms; /* … and when another one was */
};

void br_share_init(struct br_share *s);

/* `target` is used now. */
void br_share_note(
    struct br_share *s, const struct br_target *target, int64_t now_ms);

/*
 * The stream that takes the last free worker: of a target that has none, or
 * beside which no other was used; the oldest of them. NULL: none now;
 * `*until_ms` is when it changes if nobody else comes (INT64_MAX: never).
 */
struct br_stream *br_share_last(const struct br_share *s,
    struct br_target_table *t, int64_t now_ms, int64_t *until_ms);

#endif
