/* pool_kafka: what the Kafka thread does with the pool; see pool.h. */
#include "bridge/runtime/pool_internal.h"

#include "bridge/base/clock.h"
#include "bridge/base/metrics.h"

void
br_pool_note_extra(struct br_pool *p, const struct br_sched_stats *stats)
{
	atomic_store_explicit(&p->extra, stats->extra, memory_order_relaxed);
}

void
br_pool_put(struct br_pool *p, struct br_ref **refs, size_t count)
{
	int64_t now_ms, due_ms = INT64_MAX;
	struct br_sched_stats stats;
	size_t ready;

	(void)pthread_mutex_lock(&p->lock);
	/* Under the lock: the scheduler's time does not go back. */
	now_ms = br_clock_mono_ms();
	for (size_t i = 0; i < count; i++) {
		if (refs[i]->due_ms > now_ms && refs[i]->due_ms < due_ms)
			due_ms = refs[i]->due_ms;
		br_sched_put(p->sched, refs[i], now_ms);
	}
	ready = br_sched_ready(p->sched, now_ms, p->idle_count);
	/* Somebody must see what goes on with its wait, too. */
	if (ready == 0 && due_ms < p->watch_ms && p->idle_count > 0)
		ready = 1;
	while (ready-- > 0)
		br_pool_pick_best(p);
	br_sched_stats(p->sched, &stats);
	br_pool_note_extra(p, &stats);
	if (stats.settled_dead)
		br_pool_wake_kafka_thread(p);
	(void)pthread_mutex_unlock(&p->lock);
}

struct br_ref *
br_pool_settled(struct br_pool *p)
{
	struct br_ref *list;

	(void)pthread_mutex_lock(&p->lock);
	list = br_sched_settled(p->sched);
	p->settled = p->settled_bytes = 0;
	(void)pthread_mutex_unlock(&p->lock);
	return list;
}

void
br_pool_buried(struct br_pool *p, struct br_ref *ref)
{
	struct br_sched_stats stats;
	int64_t now_ms;

	(void)pthread_mutex_lock(&p->lock);
	now_ms = br_clock_mono_ms();
	br_sched_buried(p->sched, ref, now_ms);
	if (p->idle_count > 0 && br_sched_ready(p->sched, now_ms, 1) > 0)
		br_pool_pick_best(p);
	br_sched_stats(p->sched, &stats);
	br_pool_note_extra(p, &stats);
	if (stats.settled_dead)
		br_pool_wake_kafka_thread(p);
	(void)pthread_mutex_unlock(&p->lock);
}

void
br_pool_eager(struct br_pool *p, bool eager)
{
	(void)pthread_mutex_lock(&p->lock);
	p->eager = eager;
	(void)pthread_mutex_unlock(&p->lock);
}

struct br_sched_part *
br_pool_part_open(struct br_pool *p, void *opaque)
{
	struct br_sched_part *part;

	(void)pthread_mutex_lock(&p->lock);
	part = br_sched_part_open(p->sched, opaque);
	(void)pthread_mutex_unlock(&p->lock);
	return part;
}

void
br_pool_part_close(struct br_pool *p, struct br_sched_part *part)
{
	struct br_sched_stats stats;

	(void)pthread_mutex_lock(&p->lock);
	br_sched_part_close(p->sched, part, br_clock_mono_ms());
	br_sched_stats(p->sched, &stats);
	br_pool_note_extra(p, &stats);
	(void)pthread_mutex_unlock(&p->lock);
}

void
br_pool_part_free(struct br_pool *p, struct br_sched_part *part)
{
	(void)pthread_mutex_lock(&p->lock);
	br_sched_part_free(part);
	(void)pthread_mutex_unlock(&p->lock);
}

uint64_t
br_pool_part_failures(struct br_pool *p, const struct br_sched_part *part)
{
	uint64_t failures;

	(void)pthread_mutex_lock(&p->lock);
	failures = br_sched_part_failures(part);
	(void)pthread_mutex_unlock(&p->lock);
	return failures;
}

/* When the times of the scheduler were taken, for a due time on the wall. */
struct moment {
	int64_t mono_ms, wall_ms;
};

static void
ask_tried(
    void *opaque, const struct br_ref *ref, struct br_checkpoint_retry *retry)
{
	const struct moment *now = opaque;
	int64_t due_ms;

	if (!br_sched_tried(ref, &retry->attempts, &due_ms) ||
	    due_ms <= now->mono_ms)
		return;
	/* Rounded up: never earlier than it was to be. */
	retry->due_unix_s =
	    (now->wall_ms + (due_ms - now->mono_ms) + 999) / 1000;
}

size_t
br_pool_collect(struct br_pool *p, const struct br_sched_part *part,
    const struct br_ledger *ledger, struct br_checkpoint_retry *retry,
    size_t max, bool always, uint64_t *failures)
{
	struct moment now = {br_clock_mono_ms(), br_clock_wall_ms()};
	size_t count = 0;

	(void)pthread_mutex_lock(&p->lock);
	*failures = br_sched_part_failures(part);
	if (max != 0 && (*failures != 0 || always))
		count =
		    br_checkpoint_collect(ledger, ask_tried, &now, retry, max);
	(void)pthread_mutex_unlock(&p->lock);
	return count;
}

size_t
br_pool_closed_targets(struct br_pool *p)
{
	struct br_sched_stats stats;

	br_pool_stats(p, &stats);
	return stats.closed;
}

size_t
br_pool_extra(struct br_pool *p)
{
	return atomic_load_explicit(&p->extra, memory_order_relaxed);
}

size_t
br_pool_parked(struct br_pool *p)
{
	size_t bytes;

	(void)pthread_mutex_lock(&p->lock);
	bytes = br_sched_parked(p->sched, br_clock_mono_ms());
	(void)pthread_mutex_unlock(&p->lock);
	return bytes;
}

size_t
br_pool_largest(struct br_pool *p, const struct br_sched_part *part,
    struct br_lane_view *list, size_t count, size_t max)
{
	(void)pthread_mutex_lock(&p->lock);
	count = br_sched_largest(part, list, count, max);
	(void)pthread_mutex_unlock(&p->lock);
	return count;
}

size_t
br_pool_closed(struct br_pool *p, struct br_target_view *list, size_t max)
{
	size_t closed;

	(void)pthread_mutex_lock(&p->lock);
	closed = br_sched_closed(p->sched, br_clock_mono_ms(), list, max);
	(void)pthread_mutex_unlock(&p->lock);
	return closed;
}

size_t
br_pool_shed(struct br_pool *p, size_t bytes)
{
	size_t shed;

	(void)pthread_mutex_lock(&p->lock);
	shed = br_sched_shed(p->sched, bytes, br_clock_mono_ms());
	if (shed != 0)
		br_pool_wake_kafka_thread(p);
	(void)pthread_mutex_unlock(&p->lock);
	return shed;
}

static void
show_target(void *opaque, const char *name, bool open)
{
	struct br_sample *s = br_samples_add(opaque, name, 0, BR_METRIC_LABELS);

	if (s != NULL)
		s->value = open;
}

void
br_pool_show_targets(struct br_pool *p)
{
	struct br_samples samples = {0};

	/* Set with the lock held: a worker that closes one sets it after. */
	(void)pthread_mutex_lock(&p->lock);
	br_sched_each_target(p->sched, show_target, &samples);
	br_metric_replace_labels(BR_M_TARGET_OPEN, &samples);
	(void)pthread_mutex_unlock(&p->lock);
}

void
br_pool_probe_now(struct br_pool *p)
{
	int64_t now_ms;

	(void)pthread_mutex_lock(&p->lock);
	now_ms = br_clock_mono_ms();
	br_sched_probe_now(p->sched, now_ms);
	if (p->idle_count > 0 && br_sched_ready(p->sched, now_ms, 1) > 0)
		br_pool_pick_best(p);
	(void)pthread_mutex_unlock(&p->lock);
}

void
br_pool_stats(struct br_pool *p, struct br_sched_stats *out)
{
	(void)pthread_mutex_lock(&p->lock);
	br_sched_stats(p->sched, out);
	(void)pthread_mutex_unlock(&p->lock);
}

bool
br_pool_busy(struct br_pool *p)
{
	bool busy;

	(void)pthread_mutex_lock(&p->lock);
	busy = p->idle_count == 0;
	p->tell_idle = busy;
	(void)pthread_mutex_unlock(&p->lock);
	return busy;
}
