/*
 * pool: the worker threads and the lock around the scheduler.
 *
 * The Kafka thread puts references in and takes settled ones out; workers
 * take, send, give back. Neither ever waits for the other: putting and
 * giving back cannot fail, and a worker without work sleeps on a condition
 * of its own until it is picked, its time comes, or the pool closes.
 *
 * The lock is a leaf but for the metrics' own: nothing is called with it
 * held but core/.
 */
#ifndef BRIDGE_RUNTIME_POOL_H
#define BRIDGE_RUNTIME_POOL_H

#include "bridge/base/error.h"
#include "bridge/config/config.h"
#include "bridge/core/checkpoint.h"
#include "bridge/core/parked.h"
#include "bridge/core/scheduler.h"

struct br_pool;

/* Makes everything, starts no thread. `wake_fd` (an eventfd) is written when
 * the Kafka thread should call br_pool_settled(). */
struct br_pool *br_pool_new(
    const struct br_config *config, int wake_fd, struct br_error *err);
bool br_pool_start(struct br_pool *p, struct br_error *err);

/* Kafka thread: puts `count` references. */
void br_pool_put(struct br_pool *p, struct br_ref **refs, size_t count);

/* Kafka thread: what settled since the last call, see br_sched_settled(). */
struct br_ref *br_pool_settled(struct br_pool *p);

/* Kafka thread: see br_sched_buried(). */
void br_pool_buried(struct br_pool *p, struct br_ref *ref);

/*
 * Kafka thread: true while no worker lacks work. Then `wake_fd` is written
 * as soon as one does.
 */
bool br_pool_busy(struct br_pool *p);

/* Kafka thread: wake it for every single settled event (while it waits for
 * a revoke or the end), or only for batches and dead ones. */
void br_pool_eager(struct br_pool *p, bool eager);

/* Kafka thread: one assignment of one partition. */
struct br_sched_part *br_pool_part_open(struct br_pool *p, void *opaque);
void br_pool_part_close(struct br_pool *p, struct br_sched_part *part);
void br_pool_part_free(struct br_pool *p, struct br_sched_part *part);

/*
 * Kafka thread: collects what has been tried of the open events of a ledger,
 * see br_checkpoint_collect(). Looks for nothing when no attempt of the
 * partition ever failed, unless `always` (it took over what somebody else had
 * tried). `*failures` is how many did fail.
 */
size_t br_pool_collect(struct br_pool *p, const struct br_sched_part *part,
    const struct br_ledger *ledger, struct br_checkpoint_retry *retry,
    size_t max, bool always, uint64_t *failures);

/* Kafka thread: how many attempts of the partition's events failed, ever. */
uint64_t br_pool_part_failures(
    struct br_pool *p, const struct br_sched_part *part);

/* Any thread: how many targets are closed. */
size_t br_pool_closed_targets(struct br_pool *p);

/* Any thread, without the lock: bytes of lanes and failures, see the
 * scheduler's `extra`. */
size_t br_pool_extra(struct br_pool *p);

/* Any thread: see core/parked.h. */
size_t br_pool_parked(struct br_pool *p);
size_t br_pool_largest(struct br_pool *p, const struct br_sched_part *part,
    struct br_lane_view *list, size_t count, size_t max);
size_t br_pool_closed(
    struct br_pool *p, struct br_target_view *list, size_t max);

/* Kafka thread: the same; has it called back for what is given up. */
size_t br_pool_shed(struct br_pool *p, size_t bytes);

/* Any thread: sets the metric of targets, as they are now. */
void br_pool_show_targets(struct br_pool *p);

/* Any thread: closed targets are probed at once. */
void br_pool_probe_now(struct br_pool *p);

/* Any thread: figures for metrics. */
void br_pool_stats(struct br_pool *p, struct br_sched_stats *out);

/* Kafka thread: what is in flight is cut off, and comes back. */
void br_pool_abort(struct br_pool *p);

/*
 * No worker takes anything any more. With `abort` what is in flight is cut
 * off. Waits up to `timeout_ms` for the workers to end; false when some
 * still run (then nothing may be freed).
 */
bool br_pool_stop(struct br_pool *p, bool abort, int64_t timeout_ms);

/* After a stop that returned true, with everything settled. */
void br_pool_free(struct br_pool *p);

#endif
