/* ask: see the header. */
#include "ask.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "bridge/base/clock.h"

#include "client.h"
#include "known.h"
#include "memory.h"
#include "positions.h"

#define RETRY_MS 100
#define WATCH_MS 500

struct question {
	struct question *next;
	int timeout_ms;
	int64_t until_ms;
	struct br_kafka_event ev; /* becomes the answer */
};

struct br_ask {
	rd_kafka_t *rk;
	const char *group;
	int wake_fd;
	pthread_t thread;
	pthread_mutex_t lock; /* for all below */
	pthread_cond_t changed;
	struct question *asked, **asked_end;
	struct question *answered, **answered_end;
	bool watching, stop;
};

static int
left_ms(const struct question *q)
{
	int64_t left = q->until_ms - br_clock_mono_ms();

	return left > 1 ? (int)left : 1;
}

static bool
time_is_up(const struct question *q)
{
	return br_clock_mono_ms() >= q->until_ms;
}

/* Waits a moment; false when the thread is to end. */
static bool
pause_ms(struct br_ask *a, int ms)
{
	struct timespec until;
	bool stop;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&a->lock);
	while (!a->stop && pthread_cond_clockwait(&a->changed, &a->lock,
	                       CLOCK_MONOTONIC, &until) == 0)
		;
	stop = a->stop;
	pthread_mutex_unlock(&a->lock);
	return !stop;
}

/* What became of one partition of a call that ended with `e`. */
static int
error_of(rd_kafka_resp_err_t e, const rd_kafka_topic_partition_t *got)
{
	if (got == NULL)
		return e != 0 ? e : RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION;
	/* the call gave up on it while it was still asking */
	if (got->err == RD_KAFKA_RESP_ERR__IN_PROGRESS)
		return e != 0 ? e : RD_KAFKA_RESP_ERR__TIMED_OUT;
	return got->err != 0 ? got->err : e;
}

/*
 * One ListOffsets for all partitions: `at` is a time or -2 (beginning) or -1
 * (end), which the protocol takes in the same field. What `keep` gets is the
 * offset, or -1. Partitions that fail keep their error.
 */
static rd_kafka_resp_err_t
list_offsets(struct br_ask *a, struct question *q, bool use_offset, int64_t at,
    void (*keep)(struct br_position *p, int64_t offset))
{
	struct br_positions *positions = q->ev.positions;
	rd_kafka_topic_partition_list_t *list =
	    rd_kafka_topic_partition_list_new((int)positions->count);
	rd_kafka_resp_err_t e;

	for (size_t i = 0; i < positions->count; i++)
		rd_kafka_topic_partition_list_add(list,
		    positions->item[i].topic, positions->item[i].partition)
		    ->offset = use_offset ? positions->item[i].offset : at;
	e = rd_kafka_offsets_for_times(a->rk, list, left_ms(q));
	for (size_t i = 0; i < positions->count; i++) {
		struct br_position *p = &positions->item[i];
		const rd_kafka_topic_partition_t *got =
		    rd_kafka_topic_partition_list_find(
		        list, p->topic, p->partition);

		if (error_of(e, got) != 0)
			p->error = error_of(e, got);
		else if (p->error == 0)
			keep(p, got->offset);
	}
	rd_kafka_topic_partition_list_destroy(list);
	return e;
}

static void
keep_low(struct br_position *p, int64_t offset)
{
	p->low = offset;
}

static void
keep_high(struct br_position *p, int64_t offset)
{
	p->high = offset;
}

/* No record at or after that time: the end. */
static void
keep_offset(struct br_position *p, int64_t offset)
{
	p->offset = offset >= 0 ? offset : p->high;
}

static void
clear_errors(struct br_positions *list)
{
	for (size_t i = 0; i < list->count; i++)
		list->item[i].error = 0;
}

static void
ask_range(struct br_ask *a, struct question *q)
{
	clear_errors(q->ev.positions);
	(void)list_offsets(a, q, false, RD_KAFKA_OFFSET_BEGINNING, keep_low);
	(void)list_offsets(a, q, false, RD_KAFKA_OFFSET_END, keep_high);
}

/* The time to look for stays in `at`, since `offset` becomes the answer. */
static void
ask_time(struct br_ask *a, struct question *q, const struct br_positions *at)
{
	ask_range(a, q);
	for (size_t i = 0; i < at->count; i++)
		q->ev.positions->item[i].offset = at->item[i].offset;
	(void)list_offsets(a, q, true, 0, keep_offset);
	for (size_t i = 0; i < at->count; i++)
		if (q->ev.positions->item[i].error != 0)
			q->ev.positions->item[i].offset = -1;
}

static void
ask_committed(struct br_ask *a, struct question *q)
{
	struct br_positions *positions = q->ev.positions;
	rd_kafka_topic_partition_list_t *list = br_positions_to(positions);
	rd_kafka_resp_err_t e = rd_kafka_committed(a->rk, list, left_ms(q));

	for (size_t i = 0; i < positions->count; i++) {
		struct br_position *p = &positions->item[i];
		const rd_kafka_topic_partition_t *got =
		    rd_kafka_topic_partition_list_find(
		        list, p->topic, p->partition);

		p->offset = -1;
		if (error_of(e, got) != 0) {
			p->error = error_of(e, got);
			continue;
		}
		p->offset = got->offset >= 0 ? got->offset : -1;
		br_position_metadata(p, got->metadata, got->metadata_size);
	}
	rd_kafka_topic_partition_list_destroy(list);
}

/* A missing topic is an answer; everything else may pass. */
static bool
is_final(int error)
{
	return error == 0 || error == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
	       error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
	       error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
	       error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
	       error == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED;
}

static bool
all_final(const struct br_positions *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (!is_final(list->item[i].error))
			return false;
	return true;
}

/* How many members the group has, as its coordinator says. */
static void
ask_members(struct br_ask *a, struct question *q)
{
	const struct rd_kafka_group_list *list = NULL;

	q->ev.members = -1;
	q->ev.error = rd_kafka_list_groups(a->rk, a->group, &list, left_ms(q));
	if (list != NULL && list->group_cnt == 1)
		q->ev.members = list->groups[0].member_cnt;
	if (list != NULL)
		rd_kafka_group_list_destroy(list);
}

static void
answer(struct br_ask *a, struct question *q)
{
	struct br_positions *asked = br_positions_copy(q->ev.positions);
	struct br_positions *list = q->ev.positions;

	if (q->ev.question == BR_ASK_MEMBERS)
		ask_members(a, q);
	while (list->count > 0) {
		switch (q->ev.question) {
		case BR_ASK_POSITIONS:
			ask_range(a, q);
			ask_committed(a, q);
			br_known_ask(a->rk, list, q->until_ms);
			break;
		case BR_ASK_RANGE:
			ask_range(a, q);
			break;
		case BR_ASK_TIME:
			ask_time(a, q, asked);
			break;
		case BR_ASK_MEMBERS:
			break;
		}
		if (all_final(list) || time_is_up(q) || !pause_ms(a, RETRY_MS))
			break;
	}
	br_positions_free(asked);
	for (size_t i = 0; i < list->count && q->ev.error == 0; i++)
		q->ev.error = list->item[i].error;
	if (q->ev.error != 0)
		(void)snprintf(q->ev.text, sizeof(q->ev.text), "%s",
		    rd_kafka_err2str((rd_kafka_resp_err_t)q->ev.error));
}

static void
deliver(struct br_ask *a, struct question *q)
{
	uint64_t one = 1;

	q->next = NULL;
	pthread_mutex_lock(&a->lock);
	*a->answered_end = q;
	a->answered_end = &q->next;
	pthread_mutex_unlock(&a->lock);
	/* fails only when the counter is full, and then it is readable */
	if (write(a->wake_fd, &one, sizeof(one)) < 0)
		return;
}

static struct question *
event_new(enum br_kafka_what what)
{
	struct question *q = br_kafka_zeroed(1, sizeof(*q));

	q->ev.what = what;
	return q;
}

/* One look for a broker: asks one for its own name, which costs it little. */
static void
watch(struct br_ask *a)
{
	const struct rd_kafka_metadata *md;

	if (rd_kafka_metadata(a->rk, 0, NULL, &md, WATCH_MS) != 0) {
		(void)pause_ms(a, RETRY_MS);
		return;
	}
	rd_kafka_metadata_destroy(md);
	pthread_mutex_lock(&a->lock);
	a->watching = false;
	pthread_mutex_unlock(&a->lock);
	deliver(a, event_new(BR_KAFKA_BROKERS_UP));
}

static void *
ask_thread(void *arg)
{
	struct br_ask *a = arg;

	(void)pthread_setname_np(pthread_self(), "kafka-ask");
	for (;;) {
		struct question *q;

		pthread_mutex_lock(&a->lock);
		while (!a->stop && a->asked == NULL && !a->watching)
			pthread_cond_wait(&a->changed, &a->lock);
		q = a->asked;
		if (a->stop) {
			pthread_mutex_unlock(&a->lock);
			return NULL;
		}
		if (q != NULL && (a->asked = q->next) == NULL)
			a->asked_end = &a->asked;
		pthread_mutex_unlock(&a->lock);
		if (q == NULL) {
			watch(a);
			continue;
		}
		answer(a, q);
		deliver(a, q);
	}
}

struct br_ask *
br_ask_new(rd_kafka_t *rk, const char *group, int wake_fd, struct br_error *err)
{
	struct br_ask *a = br_kafka_zeroed(1, sizeof(*a));

	a->rk = rk;
	a->group = group;
	a->wake_fd = wake_fd;
	a->asked_end = &a->asked;
	a->answered_end = &a->answered;
	(void)pthread_mutex_init(&a->lock, NULL);
	(void)pthread_cond_init(&a->changed, NULL);
	if (!br_kafka_thread(&a->thread, ask_thread, a)) {
		(void)br_fail(err, "cannot start a thread");
		free(a);
		return NULL;
	}
	return a;
}

void
br_ask_put(struct br_ask *a, enum br_question question,
    const struct br_positions *list, int timeout_ms, uint64_t ticket)
{
	struct question *q = event_new(BR_KAFKA_ANSWER);

	q->until_ms = br_clock_mono_ms() + timeout_ms;
	q->ev.positions = br_positions_copy(list);
	q->ev.question = question;
	q->ev.ticket = ticket;
	pthread_mutex_lock(&a->lock);
	*a->asked_end = q;
	a->asked_end = &q->next;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
}

bool
br_ask_take(struct br_ask *a, struct br_kafka_event *ev)
{
	struct question *q;

	pthread_mutex_lock(&a->lock);
	q = a->answered;
	if (q != NULL && (a->answered = q->next) == NULL)
		a->answered_end = &a->answered;
	pthread_mutex_unlock(&a->lock);
	if (q == NULL)
		return false;
	*ev = q->ev;
	free(q);
	return true;
}

void
br_ask_watch(struct br_ask *a)
{
	pthread_mutex_lock(&a->lock);
	a->watching = true;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
}

static void
free_list(struct question *q)
{
	while (q != NULL) {
		struct question *next = q->next;

		br_positions_free(q->ev.positions);
		free(q);
		q = next;
	}
}

bool
br_ask_free(struct br_ask *a, int wait_ms)
{
	struct timespec until;

	if (a == NULL)
		return true;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)wait_ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	if (pthread_timedjoin_np(a->thread, NULL, &until) != 0) {
		(void)pthread_detach(a->thread);
		return false;
	}
	free_list(a->asked);
	free_list(a->answered);
	(void)pthread_cond_destroy(&a->changed);
	(void)pthread_mutex_destroy(&a->lock);
	free(a);
	return true;
}
