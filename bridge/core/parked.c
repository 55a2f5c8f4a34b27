/* parked: see the header. */
#include "bridge/core/parked.h"

#include <stdlib.h>

#include "bridge/core/scheduler_private.h"

size_t
br_sched_parked(const struct br_sched *s, int64_t now_ms)
{
	size_t bytes = s->targets.parked;

	for (size_t i = 0; i < s->running.count; i++) {
		const struct br_heap_node *n = s->running.node[i];
		const struct br_lane *lane = n->owner;

		if (now_ms - n->key >= BR_PARKED_RUNNING_MS)
			bytes += lane->bytes;
	}
	return bytes;
}

/* ---- giving up */

/* Lanes whose first event may be given up. */
struct choice {
	struct br_lane **lane;
	size_t count, room;
};

static void
add(struct choice *c, struct br_lane *lane)
{
	if (c->count == c->room) {
		c->room = c->room != 0 ? 2 * c->room : 64;
		c->lane = realloc(c->lane, c->room * sizeof(struct br_lane *));
		if (c->lane == NULL)
			abort();
	}
	c->lane[c->count++] = lane;
}

static int
by_serial(const void *a, const void *b)
{
	const struct br_lane *const *left = a, *const *right = b;
	uint64_t l = (*left)->first->serial, r = (*right)->first->serial;

	return (l > r) - (l < r);
}

static bool
is_closed(const struct br_target *target)
{
	return target->health.state != BR_HEALTH_OPEN;
}

/* Those that wait for a closed target, or for a time and then for it. */
static void
find(const struct br_target_table *t, struct choice *c)
{
	for (size_t i = 0; i < BR_TARGET_BUCKETS; i++)
		for (const struct br_target *target = t->bucket[i];
		     target != NULL; target = target->next)
			for (const struct br_stream *s = target->streams;
			     s != NULL && is_closed(target); s = s->next)
				for (size_t k = 0; k < s->ready.count; k++)
					add(c, s->ready.node[k]->owner);
	for (size_t i = 0; i < t->timers.count; i++) {
		const struct br_heap_node *n = t->timers.node[i];
		struct br_lane *lane = n->owner;

		if (n->kind == BR_WAKE_LANE && is_closed(lane->stream->target))
			add(c, lane);
	}
}

size_t
br_sched_shed(struct br_sched *s, size_t bytes, int64_t now_ms)
{
	struct choice c = {0};
	size_t shed = 0;

	if (s->dying >= bytes || s->targets.closed == 0)
		return 0;
	find(&s->targets, &c);
	if (c.count != 0)
		qsort(c.lane, c.count, sizeof(struct br_lane *), by_serial);
	for (; shed < c.count && s->dying < bytes; shed++)
		br_sched_kill(s, c.lane[shed], BR_PARKED_REASON, now_ms);
	free(c.lane);
	return shed;
}

/* ---- what a person should know */

size_t
br_sched_largest(const struct br_sched_part *p, struct br_lane_view *list,
    size_t count, size_t max)
{
	for (const struct br_lane *lane = p->lanes; lane != NULL;
	     lane = lane->part_next) {
		struct br_slice key = lane->first->event->order_key;
		struct br_lane_view *view;
		size_t at = count;

		while (at > 0 && lane->bytes > list[at - 1].bytes)
			at--;
		if (at == max)
			continue;
		count += count < max;
		memmove(
		    &list[at + 1], &list[at], (count - 1 - at) * sizeof(*list));
		view = &list[at];
		*view = (struct br_lane_view){
		    .part = p,
		    .key_len = key.len,
		    .count = lane->count,
		    .bytes = lane->bytes,
		};
		if (key.len != 0)
			memcpy(view->key, key.data,
			    key.len < sizeof(view->key) ? key.len
			                                : sizeof(view->key));
	}
	return count;
}

static void
show_target(
    struct br_target_view *view, const struct br_target *target, size_t waiting)
{
	size_t len = strlen(target->name);

	if (len >= sizeof(view->name))
		len = sizeof(view->name) - 1;
	memcpy(view->name, target->name, len);
	view->name[len] = '\0';
	view->state = target->health.state;
	view->status = target->why_status;
	view->transport = target->why_transport;
	view->closed_ms = target->health.closed_ms;
	view->waiting = waiting;
}

size_t
br_sched_closed(
    struct br_sched *s, int64_t now_ms, struct br_target_view *list, size_t max)
{
	const struct br_target_table *t = &s->targets;
	size_t count = 0;

	br_target_forget_idle(&s->targets, now_ms);
	for (size_t i = 0; i < BR_TARGET_BUCKETS && t->closed != 0; i++)
		for (const struct br_target *target = t->bucket[i];
		     target != NULL; target = target->next) {
			size_t waiting = br_target_waiting(target), at = count;

			if (!is_closed(target))
				continue;
			while (at > 0 && waiting > list[at - 1].waiting)
				at--;
			if (at == max)
				continue;
			count += count < max;
			memmove(&list[at + 1], &list[at],
			    (count - 1 - at) * sizeof(*list));
			show_target(&list[at], target, waiting);
		}
	return t->closed;
}

void
br_sched_each_target(const struct br_sched *s, br_target_fn *show, void *opaque)
{
	for (int open = 0; open < 2; open++)
		for (size_t i = 0; i < BR_TARGET_BUCKETS; i++)
			for (const struct br_target *target =
			         s->targets.bucket[i];
			     target != NULL; target = target->next)
				if (is_closed(target) == !open)
					show(opaque, target->name, open);
}
