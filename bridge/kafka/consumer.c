/* consumer: see the header. */
#include "bridge/kafka/consumer.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bridge/base/clock.h"
#include "bridge/base/log.h"
#include "bridge/core/pattern.h"

#include "ask.h"
#include "assignment.h"
#include "client.h"
#include "joining.h"
#include "memory.h"
#include "outage.h"
#include "positions.h"
#include "reader.h"

/* How long the end of a client may take before it is left to itself. */
#define FREE_WAIT_MS 1000

struct br_consumer {
	rd_kafka_t *rk;
	rd_kafka_queue_t *events;  /* group, commits, errors */
	rd_kafka_queue_t *logs;    /* wakes nobody: read beside the events */
	rd_kafka_queue_t *records; /* of all partitions */
	int fd;
	struct br_assignment *assignment;
	struct br_reader *reader;
	struct br_ask *ask;
	uint64_t last_ticket;
	bool fatal, closing, given_up;
	struct br_outage outage;
	struct br_strings topics; /* of the configuration */
	struct br_joining joining;
};

/* Topics of our own, which a pattern must never match. */
static bool
set_excluded(rd_kafka_conf_t *conf, const char *const *exclude, size_t count,
    struct br_error *err)
{
	struct br_buffer list = {0};
	bool ok = true;

	for (size_t i = 0; i < count; i++) {
		br_buffer_str(&list, i == 0 ? "^" : ",^");
		for (const char *c = exclude[i]; *c != '\0'; c++)
			br_buffer_format(&list, *c == '.' ? "\\%c" : "%c", *c);
		br_buffer_str(&list, "$");
	}
	if (count > 0)
		ok = br_client_set(conf, "topic.blacklist", list.data, err);
	br_buffer_free(&list);
	return ok;
}

static bool
any_pattern(const struct br_strings *topics)
{
	for (size_t i = 0; i < topics->count; i++)
		if (br_pattern_is_wild(topics->item[i]))
			return true;
	return false;
}

/* Everything on two queues, and both on one descriptor. */
static void
join_queues(struct br_consumer *c)
{
	static const uint64_t one = 1;
	rd_kafka_queue_t *group;

	(void)rd_kafka_poll_set_consumer(c->rk);
	c->events = rd_kafka_queue_new(c->rk);
	c->records = rd_kafka_queue_new(c->rk);
	group = rd_kafka_queue_get_consumer(c->rk);
	rd_kafka_queue_forward(group, c->events);
	rd_kafka_queue_destroy(group);
	c->logs = rd_kafka_queue_new(c->rk);
	(void)rd_kafka_set_log_queue(c->rk, c->logs);
	rd_kafka_queue_io_event_enable(c->events, c->fd, &one, sizeof(one));
	rd_kafka_queue_io_event_enable(c->records, c->fd, &one, sizeof(one));
}

struct br_consumer *
br_consumer_new(const struct br_config *config, const char *const *exclude,
    size_t exclude_count, struct br_error *err)
{
	struct br_consumer *c;
	rd_kafka_conf_t *conf = br_client_conf(config, BR_CLIENT_CONSUMER, err);
	rd_kafka_t *rk;

	if (conf == NULL)
		return NULL;
	if (any_pattern(&config->kafka.topics) &&
	    !set_excluded(conf, exclude, exclude_count, err)) {
		rd_kafka_conf_destroy(conf);
		return NULL;
	}
	c = br_kafka_zeroed(1, sizeof(*c));
	if (!br_joining_watch(&c->joining, conf, err)) {
		rd_kafka_conf_destroy(conf);
		free(c);
		return NULL;
	}
	rk = br_client_new(RD_KAFKA_CONSUMER, conf, err);
	if (rk == NULL) {
		free(c);
		return NULL;
	}
	c->rk = rk;
	c->topics = config->kafka.topics;
	c->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (c->fd < 0)
		abort();
	join_queues(c);
	c->assignment = br_assignment_new(rk, c->records);
	c->reader = br_reader_new(c->records, c->assignment);
	c->ask = br_ask_new(rk, config->kafka.group, c->fd, err);
	if (c->ask == NULL) {
		c->given_up = true;
		br_consumer_free(c);
		return NULL;
	}
	return c;
}

bool
br_consumer_subscribe(struct br_consumer *c, struct br_error *err)
{
	rd_kafka_topic_partition_list_t *list =
	    rd_kafka_topic_partition_list_new((int)c->topics.count);
	rd_kafka_resp_err_t e;

	for (size_t i = 0; i < c->topics.count; i++) {
		const char *text = c->topics.item[i];
		struct br_buffer regex = {0};

		if (br_pattern_is_wild(text))
			br_pattern_to_regex(text, &regex);
		else
			br_buffer_str(&regex, text);
		rd_kafka_topic_partition_list_add(
		    list, regex.data, RD_KAFKA_PARTITION_UA);
		br_buffer_free(&regex);
	}
	e = rd_kafka_subscribe(c->rk, list);
	rd_kafka_topic_partition_list_destroy(list);
	if (e != RD_KAFKA_RESP_ERR_NO_ERROR)
		return br_fail(err, "subscribe: %s", rd_kafka_err2str(e));
	return true;
}

int
br_consumer_fd(const struct br_consumer *c)
{
	return c->fd;
}

void
br_consumer_wake_clear(struct br_consumer *c)
{
	uint64_t count;

	/* nothing to read is fine: somebody cleared it before */
	if (read(c->fd, &count, sizeof(count)) < 0)
		return;
}

void
br_kafka_event_clear(struct br_kafka_event *ev)
{
	br_positions_free(ev->positions);
	*ev = (struct br_kafka_event){0};
}

static void
set_text(struct br_kafka_event *out, const char *text)
{
	(void)snprintf(out->text, sizeof(out->text), "%s", text);
}

/* Answers an assignment or a revoke that is due; logs a refusal. */
static void
answer_with_nothing(struct br_consumer *c, bool assign)
{
	struct br_positions none = {0};
	struct br_error err;
	bool ok = assign ? br_assignment_want(c->assignment, &none, &err)
	                 : br_assignment_drop(c->assignment, &none, &err);

	if (!ok)
		BR_LOG(BR_WARN, "rebalance", br_kv_str("reason", err.text));
}

static bool
take_rebalance(
    struct br_consumer *c, rd_kafka_event_t *ev, struct br_kafka_event *out)
{
	rd_kafka_topic_partition_list_t *list =
	    rd_kafka_event_topic_partition_list(ev);
	bool assign =
	    rd_kafka_event_error(ev) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;

	if (assign) {
		br_assignment_assigning(c->assignment);
	} else {
		out->lost = rd_kafka_assignment_lost(c->rk) != 0;
		br_assignment_revoking(c->assignment, list);
	}
	/* nothing to ask about, or too late to begin anything */
	if (list->cnt == 0 || (assign && c->closing))
		answer_with_nothing(c, assign);
	if (assign && c->closing)
		return false;
	out->what = assign ? BR_KAFKA_ASSIGN : BR_KAFKA_REVOKE;
	out->positions = br_positions_from(list);
	return true;
}

static bool
take_committed(rd_kafka_event_t *ev, struct br_kafka_event *out)
{
	out->what = BR_KAFKA_COMMITTED;
	out->ticket = (uint64_t)(uintptr_t)rd_kafka_event_opaque(ev);
	out->error = rd_kafka_event_error(ev);
	out->positions =
	    br_positions_from(rd_kafka_event_topic_partition_list(ev));
	if (out->error != 0)
		set_text(out, rd_kafka_event_error_string(ev));
	return true;
}

/*
 * librdkafka names the topic of such an error only in its text ("Subscribed
 * topic not available: NAME: reason"). Found by the names we subscribed to.
 */
static void
add_topic(const struct br_consumer *c, struct br_kafka_event *out)
{
	for (size_t i = 0; i < c->topics.count; i++) {
		char part[300];

		(void)snprintf(part, sizeof(part), ": %s: ", c->topics.item[i]);
		if (strstr(out->text, part) == NULL)
			continue;
		out->positions = br_positions_new(1);
		(void)br_positions_add(
		    out->positions, c->topics.item[i], -1, -1);
		return;
	}
}

static bool
take_error(
    struct br_consumer *c, rd_kafka_event_t *ev, struct br_kafka_event *out)
{
	rd_kafka_resp_err_t e = rd_kafka_event_error(ev);

	out->error = e;
	set_text(out, rd_kafka_event_error_string(ev));
	br_outage_complaint(&c->outage, e, out->text);
	if (e == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
		if (br_outage_begin(&c->outage, br_clock_mono_ms()))
			br_ask_watch(c->ask);
		return false;
	}
	if (e == RD_KAFKA_RESP_ERR__FATAL ||
	    rd_kafka_event_error_is_fatal(ev)) {
		if (c->fatal)
			return false;
		c->fatal = true;
		out->what = BR_KAFKA_FATAL;
		out->error =
		    rd_kafka_fatal_error(c->rk, out->text, sizeof(out->text));
		return true;
	}
	out->what = BR_KAFKA_ERROR;
	add_topic(c, out);
	return true;
}

/* True when it is a fault of one partition, or a record. */
static bool
belongs_to_partition(rd_kafka_event_t *ev)
{
	rd_kafka_topic_partition_t *where;

	if (rd_kafka_event_type(ev) == RD_KAFKA_EVENT_FETCH)
		return true;
	if (rd_kafka_event_type(ev) != RD_KAFKA_EVENT_ERROR)
		return false;
	where = rd_kafka_event_topic_partition(ev);
	if (where == NULL)
		return false;
	rd_kafka_topic_partition_destroy(where);
	return true;
}

static bool
take(struct br_consumer *c, rd_kafka_event_t *ev, struct br_kafka_event *out)
{
	switch (rd_kafka_event_type(ev)) {
	case RD_KAFKA_EVENT_REBALANCE:
		return take_rebalance(c, ev, out);
	case RD_KAFKA_EVENT_OFFSET_COMMIT:
		return take_committed(ev, out);
	case RD_KAFKA_EVENT_ERROR:
		return take_error(c, ev, out);
	default:
		return false;
	}
}

/* Before anything else: they may say that the group is joined again. */
static void
serve_logs(struct br_consumer *c)
{
	rd_kafka_event_t *ev;

	while ((ev = rd_kafka_queue_poll(c->logs, 0)) != NULL) {
		if (rd_kafka_event_type(ev) == RD_KAFKA_EVENT_LOG &&
		    !br_joining_log(&c->joining, ev))
			br_client_log(c->rk, ev);
		rd_kafka_event_destroy(ev);
	}
}

bool
br_consumer_next(struct br_consumer *c, struct br_kafka_event *out)
{
	rd_kafka_event_t *ev;

	serve_logs(c);
	*out = (struct br_kafka_event){0};
	while (br_ask_take(c->ask, out)) {
		if (out->what != BR_KAFKA_BROKERS_UP ||
		    br_outage_end(&c->outage))
			return true;
		*out = (struct br_kafka_event){0};
	}
	while ((ev = rd_kafka_queue_poll(c->events, 0)) != NULL) {
		bool found;

		if (belongs_to_partition(ev)) {
			br_reader_add(c->reader, ev);
			continue;
		}
		found = take(c, ev, out);
		rd_kafka_event_destroy(ev);
		if (found)
			return true;
		*out = (struct br_kafka_event){0};
	}
	if (!br_outage_due(&c->outage, br_clock_mono_ms()))
		return false;
	out->what = BR_KAFKA_BROKERS_DOWN;
	set_text(out, c->outage.why);
	return true;
}

size_t
br_consumer_read(struct br_consumer *c, struct br_read *out, size_t max)
{
	return br_reader_read(c->reader, out, max);
}

void
br_consumer_release(struct br_consumer *c)
{
	br_reader_release(c->reader);
}

/* What came of these partitions before says nothing about what is next. */
static void
forget(struct br_consumer *c, const struct br_positions *positions)
{
	for (size_t i = 0; i < positions->count; i++)
		br_reader_forget(c->reader, positions->item[i].topic,
		    positions->item[i].partition);
}

bool
br_consumer_assign(struct br_consumer *c, const struct br_positions *positions,
    struct br_error *err)
{
	forget(c, positions);
	return br_assignment_want(c->assignment, positions, err);
}

bool
br_consumer_unassign(struct br_consumer *c,
    const struct br_positions *positions, struct br_error *err)
{
	forget(c, positions);
	return br_assignment_drop(c->assignment, positions, err);
}

static bool
not_ours(const char *topic, int32_t partition, struct br_error *err)
{
	return br_fail(err, "%s [%d] is not assigned", topic, (int)partition);
}

bool
br_consumer_seek(struct br_consumer *c, const char *topic, int32_t partition,
    int64_t offset, struct br_error *err)
{
	struct br_kafka_part *part =
	    br_assignment_find(c->assignment, topic, partition);

	if (part == NULL || !part->wanted)
		return not_ours(topic, partition, err);
	br_reader_forget(c->reader, topic, partition);
	return br_assignment_restart(c->assignment, part, offset, err);
}

bool
br_consumer_pause(struct br_consumer *c, const char *topic, int32_t partition,
    bool pause, struct br_error *err)
{
	struct br_kafka_part *part =
	    br_assignment_find(c->assignment, topic, partition);

	if (part == NULL || !part->wanted)
		return not_ours(topic, partition, err);
	return br_assignment_pause(c->assignment, part, pause, err);
}

bool
br_consumer_commit(struct br_consumer *c, const struct br_positions *positions,
    uint64_t *ticket, struct br_error *err)
{
	rd_kafka_topic_partition_list_t *list = br_positions_to(positions);
	rd_kafka_resp_err_t e;

	*ticket = ++c->last_ticket;
	e = rd_kafka_commit_queue(
	    c->rk, list, c->events, NULL, (void *)(uintptr_t)*ticket);
	rd_kafka_topic_partition_list_destroy(list);
	if (e != RD_KAFKA_RESP_ERR_NO_ERROR)
		return br_fail(err, "commit: %s", rd_kafka_err2str(e));
	return true;
}

bool
br_consumer_joining(const struct br_consumer *c, bool revoking)
{
	return br_joining_is(&c->joining, revoking);
}

uint64_t
br_consumer_ask(struct br_consumer *c, enum br_question question,
    const struct br_positions *positions, int timeout_ms)
{
	uint64_t ticket = ++c->last_ticket;

	br_ask_put(c->ask, question, positions, timeout_ms, ticket);
	return ticket;
}

int64_t
br_consumer_high(struct br_consumer *c, const char *topic, int32_t partition)
{
	int64_t low, high;

	if (rd_kafka_get_watermark_offsets(
	        c->rk, topic, partition, &low, &high) != 0)
		return -1;
	return high >= 0 ? high : -1;
}

void
br_consumer_close(struct br_consumer *c)
{
	rd_kafka_error_t *e;

	if (c->closing)
		return;
	c->closing = true;
	br_assignment_close(c->assignment);
	/* before the group can end, see assignment.c */
	if (br_assignment_is_assigning(c->assignment))
		answer_with_nothing(c, true);
	e = rd_kafka_consumer_close_queue(c->rk, c->events);
	if (e != NULL) {
		/* after a fatal error there is no group to leave */
		c->given_up = true;
		rd_kafka_error_destroy(e);
	}
}

bool
br_consumer_closed(const struct br_consumer *c)
{
	return c->given_up || rd_kafka_consumer_closed(c->rk) != 0;
}

bool
br_consumer_free(struct br_consumer *c)
{
	bool gone;

	if (c == NULL)
		return true;
	br_reader_release(c->reader);
	/* what still runs inside must find its queues and its descriptor */
	if (!br_consumer_closed(c) || !br_ask_free(c->ask, FREE_WAIT_MS))
		return false;
	br_reader_free(c->reader);
	br_assignment_free(c->assignment);
	rd_kafka_queue_io_event_enable(c->events, -1, NULL, 0);
	rd_kafka_queue_io_event_enable(c->records, -1, NULL, 0);
	rd_kafka_queue_destroy(c->records);
	rd_kafka_queue_destroy(c->events);
	rd_kafka_queue_destroy(c->logs);
	gone = br_client_destroy(
	    c->rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE, FREE_WAIT_MS);
	(void)close(c->fd);
	/* What goes on inside still watches whether the member joins. */
	if (gone)
		free(c);
	return gone;
}
