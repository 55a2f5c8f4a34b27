/* assignment: see the header. */
#include "assignment.h"

#include <string.h>

#include "memory.h"

enum pending { NO_ANSWER_DUE, ASSIGN_DUE, REVOKE_DUE };

struct br_assignment {
	rd_kafka_t *rk;
	rd_kafka_queue_t *records;
	bool cooperative;
	bool closing;
	enum pending pending;
	struct br_kafka_part *part; /* sorted by topic and partition */
	size_t count, capacity;
};

struct br_assignment *
br_assignment_new(rd_kafka_t *rk, rd_kafka_queue_t *records)
{
	struct br_assignment *a = br_kafka_zeroed(1, sizeof(*a));
	char strategy[256] = "";
	size_t size = sizeof(strategy);

	/* librdkafka takes no mixture, so this is the protocol in use */
	(void)rd_kafka_conf_get(rd_kafka_conf(rk),
	    "partition.assignment.strategy", strategy, &size);
	a->cooperative = strstr(strategy, "cooperative") != NULL;

	a->rk = rk;
	a->records = records;
	return a;
}

void
br_assignment_free(struct br_assignment *a)
{
	if (a == NULL)
		return;
	for (size_t i = 0; i < a->count; i++)
		free(a->part[i].topic);
	free(a->part);
	free(a);
}

/* Index of the first part that is not before this one. */
static size_t
lower_bound(const struct br_assignment *a, const char *topic, int32_t partition)
{
	size_t low = 0, high = a->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct br_kafka_part *p = &a->part[middle];
		int order = strcmp(p->topic, topic);

		if (order < 0 || (order == 0 && p->partition < partition))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct br_kafka_part *
br_assignment_find(
    struct br_assignment *a, const char *topic, int32_t partition)
{
	size_t i = lower_bound(a, topic, partition);

	if (i < a->count && a->part[i].partition == partition &&
	    strcmp(a->part[i].topic, topic) == 0)
		return &a->part[i];
	return NULL;
}

static struct br_kafka_part *
find_or_add(struct br_assignment *a, const char *topic, int32_t partition)
{
	size_t i = lower_bound(a, topic, partition);
	struct br_kafka_part *p = br_assignment_find(a, topic, partition);

	if (p != NULL)
		return p;
	if (a->count == a->capacity) {
		a->capacity = a->capacity * 2 + 16;
		a->part = br_kafka_grow(a->part, a->capacity, sizeof(*a->part));
	}
	p = &a->part[i];
	memmove(p + 1, p, (a->count - i) * sizeof(*p));
	a->count++;
	*p =
	    (struct br_kafka_part){.topic = br_kafka_copy(topic, strlen(topic)),
	        .partition = partition};
	return p;
}

/* Forgets what nobody wants, holds, or has to answer for. */
static void
sweep(struct br_assignment *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->count; i++) {
		struct br_kafka_part *p = &a->part[i];

		if (p->wanted || p->held || p->revoking)
			a->part[kept++] = *p;
		else
			free(p->topic);
	}
	a->count = kept;
}

static bool
should_hold(const struct br_kafka_part *p)
{
	return p->wanted && !p->stopped;
}

/*
 * Has the records of these partitions come to our queue. Done before the
 * partition is started, so that librdkafka never chooses a queue itself, and
 * again afterwards, because the end of an earlier assignment, which comes
 * late, takes the direction away. The question between the two makes sure
 * that it has come: it is answered by the thread that does both.
 */
static void
direct(struct br_assignment *a, const rd_kafka_topic_partition_list_t *list)
{
	for (int i = 0; i < list->cnt; i++) {
		rd_kafka_queue_t *q = rd_kafka_queue_get_partition(
		    a->rk, list->elems[i].topic, list->elems[i].partition);

		if (q == NULL)
			continue;
		rd_kafka_queue_forward(q, a->records);
		rd_kafka_queue_destroy(q);
	}
}

/*
 * Drops what partitions that are about to begin have to say about their past,
 * such as that their topic was missing.
 */
static void
forget_past(
    struct br_assignment *a, const rd_kafka_topic_partition_list_t *list)
{
	for (int i = 0; i < list->cnt; i++) {
		rd_kafka_queue_t *q = rd_kafka_queue_get_partition(
		    a->rk, list->elems[i].topic, list->elems[i].partition);
		rd_kafka_event_t *ev;

		if (q == NULL)
			continue;
		/* or it would be the records of all partitions */
		rd_kafka_queue_forward(q, NULL);
		while ((ev = rd_kafka_queue_poll(q, 0)) != NULL)
			rd_kafka_event_destroy(ev);
		rd_kafka_queue_destroy(q);
	}
}

static void
direct_again(
    struct br_assignment *a, const rd_kafka_topic_partition_list_t *list)
{
	rd_kafka_topic_partition_list_t *now = NULL;

	if (list->cnt == 0)
		return;
	if (rd_kafka_assignment(a->rk, &now) == RD_KAFKA_RESP_ERR_NO_ERROR)
		rd_kafka_topic_partition_list_destroy(now);
	direct(a, list);
}

static bool
failed(rd_kafka_error_t *e, const char *what, struct br_error *err)
{
	if (e == NULL)
		return false;
	(void)br_fail(err, "%s: %s", what, rd_kafka_error_string(e));
	rd_kafka_error_destroy(e);
	return true;
}

static rd_kafka_topic_partition_list_t *
list_of(
    const struct br_assignment *a, bool (*pick)(const struct br_kafka_part *p))
{
	rd_kafka_topic_partition_list_t *list =
	    rd_kafka_topic_partition_list_new((int)a->count);

	for (size_t i = 0; i < a->count; i++) {
		const struct br_kafka_part *p = &a->part[i];

		if (pick(p))
			rd_kafka_topic_partition_list_add(
			    list, p->topic, p->partition)
			    ->offset = p->next;
	}
	return list;
}

static bool
to_take(const struct br_kafka_part *p)
{
	return p->held && (!should_hold(p) || p->restart);
}

static bool
to_give(const struct br_kafka_part *p)
{
	return should_hold(p) && (!p->held || p->restart);
}

static bool
to_wake(const struct br_kafka_part *p)
{
	return p->asleep && (!should_hold(p) || p->restart);
}

/*
 * A pause outlives the assignment in librdkafka: without this the partition
 * would not be read when it is ours again. Done while it still is paused,
 * since to resume one that is not moves its position.
 */
static void
wake(struct br_assignment *a)
{
	rd_kafka_topic_partition_list_t *list = list_of(a, to_wake);

	if (list->cnt > 0)
		(void)rd_kafka_resume_partitions(a->rk, list);
	for (size_t i = 0; i < a->count; i++)
		if (to_wake(&a->part[i]))
			a->part[i].asleep = false;
	rd_kafka_topic_partition_list_destroy(list);
}

static bool
take(struct br_assignment *a, struct br_error *err)
{
	rd_kafka_topic_partition_list_t *list = list_of(a, to_take);
	bool ok = true;

	if (list->cnt > 0 || a->pending == REVOKE_DUE)
		ok = !failed(rd_kafka_incremental_unassign(a->rk, list),
		    "incremental unassign", err);
	/* refused means: was not in the assignment any more */
	for (size_t i = 0; i < a->count; i++)
		if (to_take(&a->part[i])) {
			a->part[i].held = false;
			a->part[i].restart = false;
		}
	rd_kafka_topic_partition_list_destroy(list);
	return ok;
}

static bool
give(struct br_assignment *a, struct br_error *err)
{
	rd_kafka_topic_partition_list_t *list = list_of(a, to_give);
	bool ok = true;

	if (list->cnt > 0 || a->pending == ASSIGN_DUE) {
		forget_past(a, list);
		direct(a, list);
		ok = !failed(rd_kafka_incremental_assign(a->rk, list),
		    "incremental assign", err);
		direct_again(a, list);
	}
	for (size_t i = 0; ok && i < a->count; i++)
		if (to_give(&a->part[i])) {
			a->part[i].held = true;
			a->part[i].restart = false;
		}
	rd_kafka_topic_partition_list_destroy(list);
	return ok;
}

/* Eager: the whole list each time; the others go on from where they were. */
static bool
replace(struct br_assignment *a, struct br_error *err)
{
	rd_kafka_topic_partition_list_t *list = list_of(a, should_hold);
	bool changed = a->pending != NO_ANSWER_DUE;
	rd_kafka_resp_err_t e = RD_KAFKA_RESP_ERR_NO_ERROR;

	for (size_t i = 0; i < a->count; i++)
		if (a->part[i].held != should_hold(&a->part[i]) ||
		    a->part[i].restart)
			changed = true;
	if (changed && a->pending == REVOKE_DUE) {
		e = rd_kafka_assign(a->rk, NULL);
	} else if (changed) {
		forget_past(a, list);
		direct(a, list);
		e = rd_kafka_assign(a->rk, list);
		direct_again(a, list);
	}
	for (size_t i = 0; i < a->count && e == 0; i++) {
		a->part[i].held = should_hold(&a->part[i]);
		a->part[i].restart = false;
	}
	rd_kafka_topic_partition_list_destroy(list);
	if (e != RD_KAFKA_RESP_ERR_NO_ERROR)
		return br_fail(err, "assign: %s", rd_kafka_err2str(e));
	return true;
}

static bool
to_pause(const struct br_kafka_part *p)
{
	return p->held && p->paused;
}

/* A partition that begins again begins unpaused, so say it once more. */
static bool
pause_again(struct br_assignment *a, struct br_error *err)
{
	rd_kafka_topic_partition_list_t *list = list_of(a, to_pause);
	rd_kafka_resp_err_t e = RD_KAFKA_RESP_ERR_NO_ERROR;

	if (list->cnt > 0)
		e = rd_kafka_pause_partitions(a->rk, list);
	for (size_t i = 0; i < a->count; i++)
		a->part[i].asleep = to_pause(&a->part[i]);
	rd_kafka_topic_partition_list_destroy(list);
	if (e != RD_KAFKA_RESP_ERR_NO_ERROR)
		return br_fail(err, "pause: %s", rd_kafka_err2str(e));
	return true;
}

/* Tells librdkafka what has changed, unless an answer is due first. */
static bool
apply(struct br_assignment *a, bool answers, struct br_error *err)
{
	bool ok;

	if (a->pending == ASSIGN_DUE && !answers)
		return true;
	for (size_t i = 0; a->pending == REVOKE_DUE && i < a->count; i++)
		if (a->part[i].revoking && !a->part[i].given_up)
			return true;
	/*
	 * A group that has ended answers nothing any more, and librdkafka waits
	 * for its answer without a limit. It does not end while ours is due.
	 */
	if (a->closing && a->pending == NO_ANSWER_DUE)
		return true;
	wake(a);
	ok = a->cooperative ? take(a, err) && give(a, err) : replace(a, err);
	ok = ok && pause_again(a, err);
	a->pending = NO_ANSWER_DUE;
	for (size_t i = 0; i < a->count; i++)
		a->part[i].revoking = a->part[i].given_up = false;
	sweep(a);
	return ok;
}

void
br_assignment_assigning(struct br_assignment *a)
{
	a->pending = ASSIGN_DUE;
}

bool
br_assignment_is_assigning(const struct br_assignment *a)
{
	return a->pending == ASSIGN_DUE;
}

void
br_assignment_revoking(
    struct br_assignment *a, const rd_kafka_topic_partition_list_t *list)
{
	a->pending = REVOKE_DUE;
	for (int i = 0; i < list->cnt; i++)
		find_or_add(a, list->elems[i].topic, list->elems[i].partition)
		    ->revoking = true;
}

void
br_assignment_close(struct br_assignment *a)
{
	a->closing = true;
}

bool
br_assignment_want(struct br_assignment *a, const struct br_positions *list,
    struct br_error *err)
{
	if (a->closing && list->count > 0)
		return br_fail(err, "the consumer is closing");
	for (size_t i = 0; i < list->count; i++) {
		struct br_kafka_part *p = find_or_add(
		    a, list->item[i].topic, list->item[i].partition);

		p->restart = p->held;
		p->wanted = true;
		p->stopped = p->paused = false;
		p->next = list->item[i].offset;
	}
	return apply(a, true, err);
}

bool
br_assignment_drop(struct br_assignment *a, const struct br_positions *list,
    struct br_error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		struct br_kafka_part *p = br_assignment_find(
		    a, list->item[i].topic, list->item[i].partition);

		if (p == NULL)
			continue;
		p->wanted = p->stopped = p->restart = false;
		p->given_up = p->revoking;
	}
	return apply(a, false, err);
}

bool
br_assignment_restart(struct br_assignment *a, struct br_kafka_part *part,
    int64_t offset, struct br_error *err)
{
	if (a->closing)
		return br_fail(err, "the consumer is closing");
	part->next = offset;
	part->restart = part->held;
	part->stopped = false;
	return apply(a, false, err);
}

bool
br_assignment_stop(
    struct br_assignment *a, struct br_kafka_part *part, struct br_error *err)
{
	part->stopped = true;
	return apply(a, false, err);
}

bool
br_assignment_pause(struct br_assignment *a, struct br_kafka_part *part,
    bool pause, struct br_error *err)
{
	rd_kafka_topic_partition_list_t *list;
	rd_kafka_resp_err_t e;

	part->paused = pause;
	/* To resume one that is not paused would move its position. */
	if (!part->held || (!pause && !part->asleep))
		return true;
	list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_list_add(list, part->topic, part->partition);
	e = pause ? rd_kafka_pause_partitions(a->rk, list)
	          : rd_kafka_resume_partitions(a->rk, list);
	part->asleep = pause;
	rd_kafka_topic_partition_list_destroy(list);
	if (e != RD_KAFKA_RESP_ERR_NO_ERROR)
		return br_fail(err, "pause: %s", rd_kafka_err2str(e));
	return true;
}
