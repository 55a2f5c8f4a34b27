/* world_checker: the log, epochs and commits; requests stand in
 * world_requests.c. See the header. */
#include "world_truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world_watch.h"

/* So long an epoch does not forget what the one before had done. */
#define TAKE_OVER_MS 4000

void
check_init(struct world *w)
{
	struct checker *c = world_alloc(sizeof(*c));

	w->checker = c;
	c->watch = watch_new();
	for (size_t i = 0; i < w->plan->count; i++)
		if (w->plan->happening[i].kind == HAPPEN_RECORD)
			c->part[w->plan->happening[i].part].room++;
	for (int p = 0; p < WORLD_PARTS; p++) {
		c->part[p].truth =
		    world_alloc((c->part[p].room + 1) * sizeof(struct truth));
		for (int l = 0; l < LANES; l++)
			c->part[p].lane[l].undone = c->part[p].lane[l].last =
			    SIZE_MAX;
	}
}

void
check_free(struct world *w)
{
	struct checker *c = w->checker;
	struct epoch *e;

	while ((e = c->epochs) != NULL) {
		c->epochs = e->next;
		free(e->known);
		free(e);
	}
	for (int p = 0; p < WORLD_PARTS; p++) {
		free(c->part[p].truth);
		free(c->part[p].base);
	}
	free(c->watch);
	free(c);
}

/* ---- the log */

int
check_lane(const struct world *w, const struct happening *h)
{
	if (h->fate == FATE_SKIP || w->rules->order == BR_ORDER_NONE)
		return -1;
	if (w->rules->order == BR_ORDER_PARTITION)
		return 0;
	return h->key < 2 ? -1 : h->key % LANES;
}

/* The marks move over what is done. */
static void
move_marks(struct part_truth *p, int lane)
{
	while (p->undone < p->count && p->truth[p->undone].done)
		p->undone++;
	if (lane < 0)
		return;
	while (p->lane[lane].undone != SIZE_MAX &&
	       p->truth[p->lane[lane].undone].done)
		p->lane[lane].undone = p->truth[p->lane[lane].undone].lane_next;
}

void
check_appended(struct world *w, int part)
{
	struct part_truth *p = &w->checker->part[part];
	size_t index = p->count++;
	const struct happening *h = record_at(w, part, index)->what;
	int lane = check_lane(w, h);

	p->truth[index].lane_next = SIZE_MAX;
	p->truth[index].done = h->fate == FATE_SKIP;
	move_marks(p, -1);
	if (lane < 0)
		return;
	if (p->lane[lane].last != SIZE_MAX)
		p->truth[p->lane[lane].last].lane_next = index;
	p->lane[lane].last = index;
	if (p->lane[lane].undone == SIZE_MAX)
		p->lane[lane].undone = index;
}

void
check_done(struct world *w, int part, size_t index)
{
	struct part_truth *p = &w->checker->part[part];

	p->truth[index].done = true;
	move_marks(p, check_lane(w, record_at(w, part, index)->what));
}

/* ---- epochs and commits */

enum room
check_room(const struct rules *r)
{
	size_t room = r->checkpoint_bytes < r->broker_metadata_bytes
	                  ? r->checkpoint_bytes
	                  : r->broker_metadata_bytes;

	return room < 64 ? ROOM_NONE : room < 4000 ? ROOM_LITTLE : ROOM_ENOUGH;
}

struct epoch *
check_epoch_begin(struct world *w, int instance, int part)
{
	struct part_truth *p = &w->checker->part[part];
	struct epoch *e = world_alloc(sizeof(*e));

	e->instance = instance;
	e->part = part;
	e->begun_ms = w->now_ms;
	e->room = p->room;
	e->known = world_alloc((p->room + 1) * sizeof(*e->known));
	if (p->base != NULL)
		memcpy(e->known, p->base->known,
		    p->base->count * sizeof(*e->known));
	e->cause = e->after = CAUSE_NONE;
	for (struct epoch *old = w->checker->epochs; old != NULL;
	     old = old->next)
		if (old->part == part) {
			e->after = old->cause;
			break;
		}
	e->next = w->checker->epochs;
	w->checker->epochs = e;
	return e;
}

void
check_epoch_end(struct world *w, struct epoch *e, enum cause cause)
{
	if (e == NULL || e->ended)
		return;
	e->ended = true;
	e->cause = cause;
	w->tally->ended[cause][check_room(w->rules)]++;
}

struct cover *
check_composed(struct world *w, const struct epoch *e, int64_t read_to,
    int64_t offset, bool whole, bool tried)
{
	const struct log *log = &w->log[e->part];
	size_t count = 0;
	struct cover *cover;

	while (count < log->count && log->record[count].offset < read_to)
		count++;
	/* What was taken over is passed on, read again or not, for a while. */
	if (!e->ended && w->now_ms < e->begun_ms + TAKE_OVER_MS)
		count = log->count;
	cover = world_alloc(sizeof(*cover) + count * sizeof(struct known));
	cover->count = count;
	for (size_t i = 0; i < count; i++) {
		struct known *k = &cover->known[i];

		*k = e->known[i];
		k->late_ms = 0;
		if (!whole)
			k->settled = false;
		if (log->record[i].offset < offset)
			k->settled = true;
		if (!tried)
			*k = (struct known){.settled = k->settled,
			    .failures = k->failures != 0 ? UNKNOWN : 0};
	}
	return cover;
}

void
check_cover_free(struct cover *cover)
{
	free(cover);
}

void
check_applied(struct world *w, int part, int64_t offset, struct cover *cover)
{
	struct part_truth *p = &w->checker->part[part];

	if (p->undone < p->count &&
	    offset > record_at(w, part, p->undone)->offset)
		broken(w, FAIL_LOST,
		    "partition %d: %lld is committed, and %lld is not done",
		    part, (long long)offset,
		    (long long)record_at(w, part, p->undone)->offset);
	if (offset > w->log[part].end)
		broken(w, FAIL_LOST, "partition %d: %lld is beyond the end",
		    part, (long long)offset);
	if (offset < w->committed[part].offset)
		broken(w, FAIL_BACKWARDS,
		    "partition %d: %lld is committed after %lld", part,
		    (long long)offset, (long long)w->committed[part].offset);
	free(p->base);
	p->base = cover;
}

/* ---- instances */

void
check_life(struct world *w, int instance, bool crashed)
{
	struct checker *c = w->checker;

	watch_life(c->watch, instance);
	memset(c->busy[instance], 0, sizeof(c->busy[instance]));
	c->open[instance] = 0;
	c->refused[instance] = 0;
	for (int p = 0; p < WORLD_PARTS; p++)
		for (size_t i = 0; i < c->part[p].count; i++)
			c->part[p].truth[i].open &= ~(1u << instance);
	for (struct epoch *e = c->epochs; e != NULL; e = e->next)
		if (e->instance == instance)
			check_epoch_end(
			    w, e, crashed ? CAUSE_CRASH : CAUSE_STOP);
}

void
check_hup(struct world *w, int instance)
{
	watch_hup(w->checker->watch, instance);
}

void
check_memory(
    struct world *w, int instance, uint64_t bytes, uint64_t most_open_of_a_part)
{
	/* One record, of at most 1,000 bytes, more than there was room for. */
	if (bytes > w->rules->buffer_bytes / 4 * 3 + 1000)
		broken(w, FAIL_BOUND, "bridge %d holds %llu bytes", instance,
		    (unsigned long long)bytes);
	if (most_open_of_a_part > w->rules->open_per_partition + 8)
		broken(w, FAIL_BOUND, "bridge %d: %llu open in a partition",
		    instance, (unsigned long long)most_open_of_a_part);
}

void
check_refused(struct world *w, int instance, bool too_large)
{
	uint32_t *refused = &w->checker->refused[instance];

	*refused = too_large ? *refused + 1 : 0;
	/* Seven halvings of 4,000 leave no metadata at all. */
	if (*refused > 10)
		broken(w, FAIL_STALL,
		    "bridge %d: metadata is refused %u times in a row",
		    instance, *refused);
}

/* ---- the end */

bool
check_all_done(const struct world *w)
{
	for (int p = 0; p < w->rules->parts; p++)
		if (w->checker->part[p].undone < w->checker->part[p].count ||
		    w->committed[p].offset != w->log[p].end)
			return false;
	return true;
}

void
check_tell_stall(struct world *w)
{
	for (int p = 0; p < w->rules->parts; p++) {
		const struct part_truth *t = &w->checker->part[p];

		if (t->undone < t->count)
			broken(w, FAIL_STALL, "partition %d: %lld is not done",
			    p, (long long)record_at(w, p, t->undone)->offset);
		else if (w->committed[p].offset != w->log[p].end)
			broken(w, FAIL_STALL,
			    "partition %d: all is done up to %lld, and %lld is "
			    "committed",
			    p, (long long)w->log[p].end,
			    (long long)w->committed[p].offset);
	}
	broken(w, FAIL_STALL, "too many steps");
}
