/* parts: see the header. Beginning and holding stand in start.c, commits in
 * commit.c. */
#include "bridge/runtime/parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "bridge/base/clock.h"
#include "bridge/base/metrics.h"
#include "bridge/runtime/intake.h"
#include "bridge/runtime/parts_internal.h"

#define MEMBERS_TIMEOUT_MS 3000

struct br_parts *
br_parts_new(const struct br_config *config, struct br_consumer *consumer,
    struct br_pool *pool, struct br_alarms *alarms)
{
	struct br_parts *ps = calloc(1, sizeof(*ps));

	if (ps == NULL)
		abort();
	ps->config = config;
	ps->consumer = consumer;
	ps->pool = pool;
	ps->alarms = alarms;
	ps->checkpoint_limit = (size_t)config->kafka.checkpoint_bytes;
	return ps;
}

/* Frees an assignment whose events are all back. */
static void
part_free(struct br_parts *ps, struct br_part *part)
{
	/* Dropped references stayed in the ledger, so that the watermark could
	 * not pass them; here they end. */
	while (part->ledger.first != NULL) {
		struct br_ref *ref = part->ledger.first;

		br_ledger_settle(&part->ledger, ref);
		br_ref_free(ref);
	}
	br_pool_part_free(ps->pool, part->sched);
	br_checkpoint_free(part->checkpoint);
	free(part->topic);
	free(part);
}

/* Takes an assignment out of the list, and frees it as soon as it can be. */
static void
retire(struct br_parts *ps, struct br_part *part)
{
	struct br_part **at = &ps->first;

	while (*at != part)
		at = &(*at)->next;
	*at = part->next;
	if (ps->last_found == part)
		ps->last_found = NULL;
	br_metric_drop_partition(BR_M_LAG, part->topic, part->partition);
	br_metric_drop_partition(
	    BR_M_WATERMARK_AGE, part->topic, part->partition);
	part->state = BR_PART_GONE;
	if (part->out == 0) {
		part_free(ps, part);
		return;
	}
	part->next = ps->gone;
	ps->gone = part;
}

void
br_parts_free(struct br_parts *ps)
{
	if (ps == NULL)
		return;
	while (ps->first != NULL) {
		br_pool_part_close(ps->pool, ps->first->sched);
		retire(ps, ps->first);
	}
	br_presence_free(ps);
	br_positions_free(ps->revoked);
	br_positions_free(ps->committing);
	free(ps->metadata);
	free(ps);
}

struct br_part *
br_parts_find(struct br_parts *ps, const char *topic, int32_t partition)
{
	struct br_part *part = ps->last_found;

	if (part != NULL && part->partition == partition &&
	    strcmp(part->topic, topic) == 0)
		return part;
	for (part = ps->first; part != NULL; part = part->next)
		if (part->partition == partition &&
		    strcmp(part->topic, topic) == 0) {
			ps->last_found = part;
			return part;
		}
	return NULL;
}

static struct br_part *
add_part(struct br_parts *ps, const char *topic, int32_t partition)
{
	struct br_part *part = calloc(1, sizeof(*part));

	if (part == NULL || (part->topic = strdup(topic)) == NULL)
		abort();
	part->partition = partition;
	part->committed = -1;
	part->sched = br_pool_part_open(ps->pool, part);
	part->next = ps->first;
	ps->first = part;
	return part;
}

void
br_parts_renew(struct br_parts *ps, struct br_part *part, int64_t now_ms)
{
	struct br_part *fresh = add_part(ps, part->topic, part->partition);

	fresh->reading = part->reading;
	fresh->asked_ms = now_ms;
	br_pool_part_close(ps->pool, part->sched);
	retire(ps, part);
}

/* Each member opens its own connections: say so, once in a while. */
static void
members(struct br_parts *ps, const struct br_kafka_event *ev)
{
	char text[100];

	if (ev->members < 0)
		return;
	br_metric_set(BR_M_GROUP_MEMBERS, ev->members);
	if (ev->members < 2)
		return;
	(void)snprintf(text, sizeof(text), "%d members x %lld connections",
	    ev->members, (long long)ps->config->delivery.connections);
	BR_LOG_LIMITED(BR_WARN, "members", "the group has several members",
	    br_kv_str("receivers_may_see", text),
	    br_kv_str("hint", "delivery.connections is the limit of each"));
}

/* Topics that are subscribed to by name and are not there. */
static void
missing(struct br_parts *ps, const struct br_kafka_event *ev)
{
	for (size_t i = 0; i < ev->positions->count; i++)
		br_presence_lost(ps, ev->positions->item[i].topic, ev->text);
}

static void
ask_members(struct br_parts *ps)
{
	struct br_positions none = {0};

	(void)br_consumer_ask(
	    ps->consumer, BR_ASK_MEMBERS, &none, MEMBERS_TIMEOUT_MS);
}

static void
assigned(struct br_parts *ps, const struct br_kafka_event *ev, int64_t now_ms)
{
	struct br_positions none = {0};
	struct br_error err;

	ps->assigned = true;
	br_metric_add(BR_M_REBALANCES, 1);
	BR_LOG(BR_INFO, "partitions assigned",
	    br_kv_int("partitions", (int64_t)ev->positions->count));
	for (size_t i = 0; i < ev->positions->count; i++)
		if (br_parts_find(ps, ev->positions->item[i].topic,
		        ev->positions->item[i].partition) == NULL)
			(void)add_part(ps, ev->positions->item[i].topic,
			    ev->positions->item[i].partition);
	ask_members(ps);
	if (!ps->shutting_down)
		br_start_ask(ps, now_ms);
	/* The group waits for an answer; starts that are known later follow. */
	if (!ps->shutting_down && ps->gone == NULL && ev->positions->count != 0)
		return;
	if (!br_consumer_assign(ps->consumer, &none, &err))
		BR_LOG(BR_WARN, "assignment not taken",
		    br_kv_str("because", err.text));
}

/* ---- giving up */

/* Nothing of it is sent any more; what waits comes back as dropped. */
static void
close_part(struct br_parts *ps, struct br_part *part)
{
	if (part->state == BR_PART_CLOSING)
		return;
	part->state = BR_PART_CLOSING;
	br_pool_part_close(ps->pool, part->sched);
}

static void
unassign(struct br_parts *ps)
{
	struct br_error err;

	for (size_t i = 0; i < ps->revoked->count; i++) {
		struct br_part *part = br_parts_find(ps,
		    ps->revoked->item[i].topic, ps->revoked->item[i].partition);

		if (part != NULL)
			retire(ps, part);
	}
	if (!br_consumer_unassign(ps->consumer, ps->revoked, &err))
		BR_LOG(
		    BR_WARN, "unassign failed", br_kv_str("because", err.text));
	br_positions_free(ps->revoked);
	ps->revoked = NULL;
	br_pool_eager(ps->pool, ps->shutting_down);
	br_start_alarms(ps);
}

static struct br_positions *
copy_positions(const struct br_positions *from)
{
	struct br_positions *list = br_positions_new(from->count);

	for (size_t i = 0; i < from->count; i++)
		(void)br_positions_add(list, from->item[i].topic,
		    from->item[i].partition, from->item[i].offset);
	return list;
}

static void
revoked(struct br_parts *ps, const struct br_kafka_event *ev, int64_t now_ms)
{
	br_metric_add(BR_M_REBALANCES, 1);
	BR_LOG(ev->lost ? BR_WARN : BR_INFO,
	    ev->lost ? "partitions lost" : "partitions revoked",
	    br_kv_int("partitions", (int64_t)ev->positions->count));
	br_positions_free(ps->revoked);
	ps->revoked = copy_positions(ev->positions);
	ps->revoke_until_ms = now_ms;
	if (!ps->leaving)
		ps->revoke_until_ms += ps->config->kafka.revoke_wait_ms;
	for (size_t i = 0; i < ps->revoked->count; i++) {
		struct br_part *part = br_parts_find(ps,
		    ps->revoked->item[i].topic, ps->revoked->item[i].partition);

		if (part != NULL)
			close_part(ps, part);
	}
	if (ev->lost)
		unassign(ps);
	else
		br_pool_eager(ps->pool, true);
}

/* Is an assignment among those that are being revoked? */
static bool
is_revoked(const struct br_parts *ps, const struct br_part *part)
{
	for (size_t i = 0; ps->revoked != NULL && i < ps->revoked->count; i++)
		if (ps->revoked->item[i].partition == part->partition &&
		    strcmp(ps->revoked->item[i].topic, part->topic) == 0)
			return true;
	return false;
}

/*
 * A revoke is a state, not a wait: done when what was in flight is back and
 * the last watermark is committed, or when its time is over.
 */
static void
step_revoke(struct br_parts *ps, int64_t now_ms)
{
	bool out = false, open = ps->committing != NULL;

	for (struct br_part *part = ps->first; part != NULL; part = part->next)
		if (is_revoked(ps, part)) {
			out = out || part->out != 0;
			open = open || br_commit_needed(ps, part);
		}
	if (out && now_ms < ps->revoke_until_ms)
		return;
	/* Only the last commit is left, and it has a limit of its own. */
	if (now_ms < ps->revoke_until_ms)
		ps->revoke_until_ms = now_ms;
	if (open && now_ms < ps->revoke_until_ms + BR_LAST_COMMIT_MS)
		return;
	unassign(ps);
}

/* ---- the engine's side */

void
br_parts_opened(struct br_part *part, struct br_ref *ref)
{
	br_ledger_open(&part->ledger, ref);
	part->out++;
}

/* One came back; the last one of a partition that is gone frees it. */
static void
came_back(struct br_parts *ps, struct br_part *part)
{
	struct br_part **at = &ps->gone;

	part->out--;
	if (part->state != BR_PART_GONE || part->out != 0)
		return;
	while (*at != part)
		at = &(*at)->next;
	*at = part->next;
	part_free(ps, part);
}

void
br_parts_settled(struct br_parts *ps, struct br_ref *ref)
{
	struct br_part *part = br_sched_part_opaque(ref->part);

	br_ledger_settle(&part->ledger, ref);
	br_ref_free(ref);
	part->settled++;
	if (part->state == BR_PART_GONE)
		br_metric_add(BR_M_LATE_RESULTS, 1);
	came_back(ps, part);
}

void
br_parts_dropped(struct br_parts *ps, struct br_ref *ref)
{
	struct br_part *part = br_sched_part_opaque(ref->part);

	/* It stays in the ledger, for the watermark; its memory goes. */
	free(ref->event);
	ref->event = NULL;
	free(ref->failure);
	ref->failure = NULL;
	part->ledger.open_bytes -= ref->bytes - sizeof(*ref);
	ref->bytes = sizeof(*ref);
	came_back(ps, part);
}

/* ---- the rest */

void
br_parts_event(
    struct br_parts *ps, const struct br_kafka_event *ev, int64_t now_ms)
{
	if (ev->what == BR_KAFKA_ASSIGN)
		assigned(ps, ev, now_ms);
	else if (ev->what == BR_KAFKA_REVOKE)
		revoked(ps, ev, now_ms);
	else if (ev->what == BR_KAFKA_COMMITTED)
		br_commit_reply(ps, ev);
	else if (ev->what == BR_KAFKA_ANSWER && ev->question == BR_ASK_MEMBERS)
		members(ps, ev);
	else if (ev->what == BR_KAFKA_ANSWER && !br_presence_answer(ps, ev))
		br_start_answer(ps, ev, now_ms);
	else if (ev->what == BR_KAFKA_ERROR && ev->positions != NULL)
		missing(ps, ev);
}

int64_t
br_parts_step(struct br_parts *ps, int64_t now_ms)
{
	int64_t next_ms;

	br_start_step(ps, now_ms);
	br_presence_step(ps, now_ms);
	br_commit_step(ps, now_ms);
	if (ps->revoked != NULL)
		step_revoke(ps, now_ms);
	next_ms = ps->commit_ms;
	if (ps->committing != NULL)
		next_ms = ps->commit_until_ms;
	if (ps->revoked != NULL && ps->revoke_until_ms < next_ms)
		next_ms = ps->revoke_until_ms;
	return next_ms > now_ms ? next_ms : now_ms + 10;
}

void
br_parts_shutdown(struct br_parts *ps, int64_t now_ms)
{
	ps->shutting_down = true;
	ps->commit_ms = now_ms;
	br_pool_eager(ps->pool, true);
	for (struct br_part *part = ps->first; part != NULL; part = part->next)
		close_part(ps, part);
}

void
br_parts_leave(struct br_parts *ps, int64_t now_ms)
{
	ps->leaving = true;
	if (ps->revoked != NULL && ps->revoke_until_ms > now_ms)
		ps->revoke_until_ms = now_ms;
}

bool
br_parts_quiet(const struct br_parts *ps)
{
	if (ps->committing != NULL)
		return false;
	for (struct br_part *part = ps->first; part != NULL; part = part->next)
		if (part->out != 0 || br_commit_needed(ps, part))
			return false;
	return true;
}

bool
br_parts_ready(const struct br_parts *ps)
{
	if (!ps->assigned)
		return false;
	for (struct br_part *part = ps->first; part != NULL; part = part->next)
		if (part->state == BR_PART_ASKING ||
		    part->state == BR_PART_STARTING)
			return false;
	return true;
}

bool
br_parts_assigned(const struct br_parts *ps)
{
	return ps->assigned;
}

bool
br_parts_any_gone(const struct br_parts *ps)
{
	return ps->gone != NULL;
}

static bool
is_behind(const struct br_parts *ps, const struct br_part *part)
{
	return part->state == BR_PART_READING && !part->paused &&
	       br_consumer_high(ps->consumer, part->topic, part->partition) >
	           part->ledger.next;
}

struct br_positions *
br_parts_behind(const struct br_parts *ps)
{
	struct br_positions *list;
	size_t count = 0;

	for (struct br_part *part = ps->first; part != NULL; part = part->next)
		count += is_behind(ps, part);
	if (count == 0)
		return NULL;
	list = br_positions_new(count);
	/* The ends may move meanwhile, and make it more. */
	for (struct br_part *part = ps->first;
	     part != NULL && list->count < count; part = part->next)
		if (is_behind(ps, part))
			(void)br_positions_add(
			    list, part->topic, part->partition, -1);
	return list;
}

uint64_t
br_parts_open_bytes(const struct br_parts *ps)
{
	uint64_t bytes = br_pool_extra(ps->pool);

	for (struct br_part *part = ps->first; part != NULL; part = part->next)
		bytes += part->ledger.open_bytes;
	for (struct br_part *part = ps->gone; part != NULL; part = part->next)
		bytes += part->ledger.open_bytes;
	return bytes;
}

size_t
br_parts_largest(
    const struct br_parts *ps, struct br_lane_view *list, size_t max)
{
	size_t count = 0;

	for (struct br_part *part = ps->first; part != NULL; part = part->next)
		count =
		    br_pool_largest(ps->pool, part->sched, list, count, max);
	return count;
}

void
br_parts_throttle(struct br_parts *ps)
{
	uint64_t most = (uint64_t)ps->config->limits.open_per_partition;
	struct br_error err;

	for (struct br_part *part = ps->first; part != NULL;
	     part = part->next) {
		bool pause = part->paused ? part->ledger.open > most / 4 * 3
		                          : part->ledger.open >= most;

		if (pause == part->paused || part->state != BR_PART_READING)
			continue;
		if (br_consumer_pause(ps->consumer, part->topic,
		        part->partition, pause, &err))
			part->paused = pause;
	}
}

void
br_parts_gauges(struct br_parts *ps, int64_t wall_ms)
{
	for (struct br_part *part = ps->first; part != NULL;
	     part = part->next) {
		int64_t mark = br_ledger_watermark(&part->ledger), age_ms = 0;
		int64_t high = br_consumer_high(
		    ps->consumer, part->topic, part->partition);
		const struct br_ref *oldest = part->ledger.first;

		if (part->state == BR_PART_ASKING)
			continue;
		if (oldest != NULL && oldest->event != NULL &&
		    oldest->event->record.timestamp_ms > 0)
			age_ms = wall_ms - oldest->event->record.timestamp_ms;
		br_metric_set_partition(BR_M_LAG, part->topic, part->partition,
		    high > mark ? (double)(high - mark) : 0);
		br_metric_set_partition(BR_M_WATERMARK_AGE, part->topic,
		    part->partition, age_ms > 0 ? (double)age_ms / 1000 : 0);
	}
}
