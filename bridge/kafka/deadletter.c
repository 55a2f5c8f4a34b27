/* deadletter: see the header. */
#include "bridge/kafka/deadletter.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bridge/base/clock.h"
#include "bridge/base/log.h"

#include "client.h"
#include "memory.h"
#include "message.h"

/* How long a broken producer may take to answer for what it was given. */
#define PURGE_MS 2000
/* Between two tries to make a producer. */
#define REMAKE_MS 1000

/* A sent record; lives until its result is taken. */
struct letter {
	struct letter *next, *previous; /* among the unanswered */
	void *opaque;
};

struct answer {
	struct answer *next;
	struct br_dead_result result;
};

struct br_deadletter {
	const struct br_config *config;
	rd_kafka_t *rk; /* NULL: could not be made anew yet */
	rd_kafka_queue_t *events;
	int fd;
	bool broken;         /* it takes nothing any more */
	int64_t broken_ms;   /* since when */
	int64_t remake_ms;   /* when to try to make it anew */
	struct letter *sent; /* unanswered by the producer */
	size_t sent_count;
	struct answer *answered, **answered_end; /* not taken yet */
	size_t answered_count;
};

/*
 * One record a batch: a broker refuses batches as a whole. With several in
 * one, many small records would be too large together, and for ever; and one
 * with a bad timestamp would have those of all the others replaced.
 */
static bool
set_batches(rd_kafka_conf_t *conf, struct br_error *err)
{
	if (br_client_set(conf, "batch.num.messages", "1", err))
		return true;
	rd_kafka_conf_destroy(conf);
	return false;
}

static bool
producer_start(struct br_deadletter *d, struct br_error *err)
{
	static const uint64_t one = 1;
	rd_kafka_conf_t *conf =
	    br_client_conf(d->config, BR_CLIENT_PRODUCER, err);
	rd_kafka_queue_t *main_queue;

	if (conf == NULL || !set_batches(conf, err))
		return false;
	d->rk = br_client_new(RD_KAFKA_PRODUCER, conf, err);
	if (d->rk == NULL)
		return false;
	d->events = rd_kafka_queue_new(d->rk);
	main_queue = rd_kafka_queue_get_main(d->rk);
	rd_kafka_queue_forward(main_queue, d->events);
	rd_kafka_queue_destroy(main_queue);
	(void)rd_kafka_set_log_queue(d->rk, d->events);
	rd_kafka_queue_io_event_enable(d->events, d->fd, &one, sizeof(one));
	return true;
}

struct br_deadletter *
br_deadletter_new(const struct br_config *config, struct br_error *err)
{
	struct br_deadletter *d = br_kafka_zeroed(1, sizeof(*d));

	d->config = config;
	d->answered_end = &d->answered;
	d->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (d->fd < 0)
		abort();
	if (producer_start(d, err))
		return d;
	br_deadletter_free(d, 0);
	return NULL;
}

int
br_deadletter_fd(const struct br_deadletter *d)
{
	return d->fd;
}

void
br_deadletter_wake_clear(struct br_deadletter *d)
{
	uint64_t count;

	/* nothing to read is fine: somebody cleared it before */
	if (read(d->fd, &count, sizeof(count)) < 0)
		return;
}

static void
wake(struct br_deadletter *d)
{
	uint64_t one = 1;

	/* fails only when the counter is full, and then it is readable */
	if (write(d->fd, &one, sizeof(one)) < 0)
		return;
}

static void
unlink_letter(struct br_deadletter *d, struct letter *l)
{
	if (l->previous != NULL)
		l->previous->next = l->next;
	else
		d->sent = l->next;
	if (l->next != NULL)
		l->next->previous = l->previous;
	d->sent_count--;
}

static enum br_dead_class
class_of(rd_kafka_resp_err_t e)
{
	switch ((int)e) {
	case RD_KAFKA_RESP_ERR_NO_ERROR:
		return BR_DEAD_STORED;
	case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
		return BR_DEAD_TIMESTAMP;
	case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
	case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
		return BR_DEAD_TOO_LARGE;
	default:
		return BR_DEAD_WAIT;
	}
}

/*
 * Moves a letter to the answers. The text is librdkafka's for the code: its
 * rd_kafka_message_errstr() takes the payload of what we sent for the text.
 */
static void
answer(struct br_deadletter *d, struct letter *l, rd_kafka_resp_err_t e)
{
	struct answer *a = br_kafka_zeroed(1, sizeof(*a));

	a->result.opaque = l->opaque;
	a->result.class = class_of(e);
	a->result.error = e;
	if (e != RD_KAFKA_RESP_ERR_NO_ERROR)
		(void)snprintf(a->result.text, sizeof(a->result.text), "%s",
		    rd_kafka_err2str(e));
	*d->answered_end = a;
	d->answered_end = &a->next;
	d->answered_count++;
	unlink_letter(d, l);
	free(l);
}

/*
 * What a broker stored has an offset. Without one librdkafka 2.0 calls records
 * persisted that it never sent, after the topic had been away for a moment
 * (deleted, or refused in the metadata): those are to be sent again.
 */
static rd_kafka_resp_err_t
verdict(const rd_kafka_message_t *m)
{
	if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR && m->offset < 0)
		return RD_KAFKA_RESP_ERR__NO_OFFSET;
	return m->err;
}

static void
take_reports(struct br_deadletter *d, rd_kafka_event_t *ev)
{
	const rd_kafka_message_t *m;

	while ((m = rd_kafka_event_message_next(ev)) != NULL)
		answer(d, m->_private, verdict(m));
}

/* Has everything that is still outstanding come back as a failure. */
static void
give_up(struct br_deadletter *d)
{
	if (d->broken)
		return;
	d->broken = true;
	d->broken_ms = br_clock_mono_ms();
	(void)rd_kafka_purge(d->rk, RD_KAFKA_PURGE_F_QUEUE |
	                                RD_KAFKA_PURGE_F_INFLIGHT |
	                                RD_KAFKA_PURGE_F_NON_BLOCKING);
}

/* Reads what the producer has to tell. */
static void
serve(struct br_deadletter *d)
{
	rd_kafka_event_t *ev;

	while ((ev = rd_kafka_queue_poll(d->events, 0)) != NULL) {
		switch (rd_kafka_event_type(ev)) {
		case RD_KAFKA_EVENT_DR:
			take_reports(d, ev);
			break;
		case RD_KAFKA_EVENT_LOG:
			br_client_log(d->rk, ev);
			break;
		case RD_KAFKA_EVENT_ERROR:
			br_client_log_error(d->rk, ev);
			if (rd_kafka_event_error_is_fatal(ev) ||
			    rd_kafka_event_error(ev) ==
			        RD_KAFKA_RESP_ERR__FATAL)
				give_up(d);
			break;
		default:
			break;
		}
		rd_kafka_event_destroy(ev);
	}
}

/* Lets the producer go, waiting at most `wait_ms` for its end. */
static void
producer_stop(struct br_deadletter *d, int wait_ms)
{
	rd_kafka_queue_io_event_enable(d->events, -1, NULL, 0);
	rd_kafka_queue_destroy(d->events);
	(void)br_client_destroy(d->rk, 0, wait_ms);
	d->rk = NULL;
	d->events = NULL;
	d->broken = false;
	while (d->sent != NULL)
		answer(d, d->sent, RD_KAFKA_RESP_ERR__PURGE_INFLIGHT);
}

/* Replaces a broken producer as soon as it has answered for everything. */
static void
mend(struct br_deadletter *d)
{
	int64_t now_ms = br_clock_mono_ms();
	struct br_error err;

	if (d->rk != NULL && d->broken &&
	    (d->sent_count == 0 || now_ms >= d->broken_ms + PURGE_MS))
		producer_stop(d, 0);
	if (d->rk != NULL || now_ms < d->remake_ms)
		return;
	if (producer_start(d, &err)) {
		BR_LOG(BR_WARN, "dead letter producer made anew",
		    br_kv_str("topic", d->config->dlq.topic));
		return;
	}
	d->remake_ms = now_ms + REMAKE_MS;
	BR_LOG_LIMITED(BR_ERROR, "dead letter producer",
	    "dead letter producer cannot be made",
	    br_kv_str("reason", err.text));
}

bool
br_deadletter_send(struct br_deadletter *d, const struct br_record *record,
    const struct br_header *added, size_t added_count, void *opaque,
    bool *retry, struct br_error *err)
{
	struct letter *l;
	rd_kafka_resp_err_t e;

	*retry = true;
	mend(d);
	if (d->rk == NULL || d->broken)
		return br_fail(err, "the producer is being made anew");
	l = br_kafka_zeroed(1, sizeof(*l));
	l->opaque = opaque;
	e = br_message_produce(
	    d->rk, d->config->dlq.topic, -1, record, added, added_count, l);
	if (e == RD_KAFKA_RESP_ERR__QUEUE_FULL ||
	    e == RD_KAFKA_RESP_ERR__FATAL) {
		free(l);
		if (e == RD_KAFKA_RESP_ERR__FATAL)
			give_up(d);
		return br_fail(err, "%s", rd_kafka_err2str(e));
	}
	*retry = false;
	l->next = d->sent;
	if (d->sent != NULL)
		d->sent->previous = l;
	d->sent = l;
	d->sent_count++;
	/* refused here and now: told like a refusal by the broker */
	if (e != RD_KAFKA_RESP_ERR_NO_ERROR) {
		answer(d, l, e);
		wake(d);
	}
	return true;
}

bool
br_deadletter_next(struct br_deadletter *d, struct br_dead_result *out)
{
	struct answer *a;

	if (d->answered == NULL && d->rk != NULL)
		serve(d);
	mend(d);
	a = d->answered;
	if (a == NULL)
		return false;
	*out = a->result;
	d->answered = a->next;
	if (d->answered == NULL)
		d->answered_end = &d->answered;
	d->answered_count--;
	free(a);
	return true;
}

size_t
br_deadletter_pending(const struct br_deadletter *d)
{
	return d->sent_count + d->answered_count;
}

void
br_deadletter_free(struct br_deadletter *d, int timeout_ms)
{
	struct br_dead_result given_up;

	if (d == NULL)
		return;
	if (d->rk != NULL) {
		give_up(d);
		producer_stop(d, timeout_ms);
	}
	/* no next producer */
	d->remake_ms = INT64_MAX;
	while (br_deadletter_next(d, &given_up))
		;
	(void)close(d->fd);
	free(d);
}
