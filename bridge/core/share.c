/* share: see the header. */
#include "bridge/core/share.h"

/* Targets used within so long share the workers. */
#define SHARE_MS 60000

void
br_share_init(struct br_share *s)
{
	*s = (struct br_share){
	    .recent_ms = INT64_MIN / 2, .other_ms = INT64_MIN / 2};
}

void
br_share_note(
    struct br_share *s, const struct br_target *target, int64_t now_ms)
{
	if (s->recent != target) {
		s->other_ms = s->recent_ms;
		s->recent = target;
	}
	s->recent_ms = now_ms;
}

/* Until when `target` leaves the last free worker to others. */
static int64_t
leaves_until(const struct br_share *s, const struct br_target *target)
{
	return (target == s->recent ? s->other_ms : s->recent_ms) + SHARE_MS;
}

struct br_stream *
br_share_last(const struct br_share *s, struct br_target_table *t,
    int64_t now_ms, int64_t *until_ms)
{
	struct br_stream *best = NULL;

	*until_ms = INT64_MAX;
	for (size_t i = 0; i < t->turns.count; i++) {
		struct br_stream *stream = t->turns.node[i]->owner;
		int64_t leaves_ms = leaves_until(s, stream->target);

		if (stream->target->in_flight != 0 && now_ms < leaves_ms) {
			if (leaves_ms < *until_ms)
				*until_ms = leaves_ms;
		} else if (best == NULL || stream->turn.key < best->turn.key)
			best = stream;
	}
	return best;
}
