/* single: see the header. */
#include "bridge/kafka/single.h"

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>

#include "bridge/base/clock.h"

#include "client.h"
#include "memory.h"
#include "message.h"

/* Answers come within milliseconds; a stop of librdkafka may take longer. */
#define SLICE_MS 200
#define END_MS 2000

struct br_single {
	rd_kafka_t *rk;
	rd_kafka_topic_t *topic;
	rd_kafka_queue_t *queue; /* of the partition; NULL: not started */
	int32_t partition;
	int64_t until_ms;
	char last_error[256]; /* why brokers were out of reach; or "" */
	rd_kafka_message_t *message;
	struct br_header *headers;
	struct br_record record;
};

/* The part of the log that exists, up to the first open transaction. */
struct range {
	int64_t low, high; /* the first offset; one behind the last */
};

static int
left_ms(const struct br_single *s)
{
	int64_t left = s->until_ms - br_clock_mono_ms();

	return left > 1 ? (int)left : 1;
}

/* Drops what the client has to say, but for its last error. */
static void
serve(struct br_single *s)
{
	rd_kafka_queue_t *q = rd_kafka_queue_get_main(s->rk);
	rd_kafka_event_t *ev;

	while ((ev = rd_kafka_queue_poll(q, 0)) != NULL) {
		if (rd_kafka_event_type(ev) == RD_KAFKA_EVENT_ERROR &&
		    rd_kafka_event_error(ev) !=
		        RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
			(void)snprintf(s->last_error, sizeof(s->last_error),
			    "%s", rd_kafka_event_error_string(ev));
		rd_kafka_event_destroy(ev);
	}
	rd_kafka_queue_destroy(q);
}

static bool
no_answer(struct br_single *s, const struct br_config *config,
    rd_kafka_resp_err_t e, struct br_error *err)
{
	serve(s);
	return br_fail(err,
	    "no Kafka broker answers at kafka.brokers = \"%s\": %s%s%s%s",
	    config->kafka.brokers, rd_kafka_err2str(e),
	    s->last_error[0] != '\0' ? " (" : "", s->last_error,
	    s->last_error[0] != '\0' ? ")" : "");
}

/* Is there such a topic, and such a partition in it? */
static bool
find_partition(
    struct br_single *s, const struct br_config *config, struct br_error *err)
{
	const char *name = rd_kafka_topic_name(s->topic);
	const struct rd_kafka_metadata *md;
	rd_kafka_resp_err_t e =
	    rd_kafka_metadata(s->rk, 0, s->topic, &md, left_ms(s));
	int count = 0;

	if (e != RD_KAFKA_RESP_ERR_NO_ERROR)
		return no_answer(s, config, e, err);
	e = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
	if (md->topic_cnt == 1) {
		e = md->topics[0].err;
		count = md->topics[0].partition_cnt;
	}
	rd_kafka_metadata_destroy(md);
	if (e == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
	    (e == RD_KAFKA_RESP_ERR_NO_ERROR && count == 0))
		return br_fail(err, "topic %s does not exist on %s", name,
		    config->kafka.brokers);
	if (e != RD_KAFKA_RESP_ERR_NO_ERROR)
		return br_fail(err, "topic %s: %s", name, rd_kafka_err2str(e));
	if (s->partition >= count)
		return br_fail(err,
		    "topic %s has no partition %" PRId32 ": %s %d", name,
		    s->partition, count == 1 ? "only" : "they are 0 to",
		    count - 1);
	return true;
}

static bool
find_range(struct br_single *s, int64_t offset, struct range *range,
    struct br_error *err)
{
	const char *name = rd_kafka_topic_name(s->topic);
	rd_kafka_resp_err_t e = rd_kafka_query_watermark_offsets(
	    s->rk, name, s->partition, &range->low, &range->high, left_ms(s));

	if (e != RD_KAFKA_RESP_ERR_NO_ERROR)
		return br_fail(err,
		    "%s:%" PRId32 ": its offsets cannot be asked for: %s", name,
		    s->partition, rd_kafka_err2str(e));
	if (range->low == range->high)
		return br_fail(err,
		    "%s:%" PRId32 " holds no record; the next one will get "
		    "offset %" PRId64,
		    name, s->partition, range->high);
	if (offset < range->low || offset >= range->high)
		return br_fail(err,
		    "%s:%" PRId32 " has no offset %" PRId64
		    ": it holds %" PRId64 " to %" PRId64 "%s",
		    name, s->partition, offset, range->low, range->high - 1,
		    offset < range->low
		        ? " (older records were deleted: retention)"
		        : " (a later one is not written yet, or a transaction "
		          "is still open)");
	return true;
}

/* The end came, and no record before it. */
static bool
ended(const struct br_single *s, int64_t offset, const struct range *range,
    struct br_error *err)
{
	return br_fail(err,
	    "%s:%" PRId32 " has no record at offset %" PRId64
	    ", nor behind it: compacted away, or a transaction's marker or "
	    "aborted record; the log holds %" PRId64 " to %" PRId64,
	    rd_kafka_topic_name(s->topic), s->partition, offset, range->low,
	    range->high - 1);
}

static bool
take(struct br_single *s, int64_t offset, struct br_error *err)
{
	const rd_kafka_message_t *m = s->message;

	if (m->offset == offset)
		return true;
	return br_fail(err,
	    "%s:%" PRId32 " has no record at offset %" PRId64
	    ": compacted away, or a transaction's marker or aborted record; "
	    "the next one is %" PRId64,
	    rd_kafka_topic_name(s->topic), s->partition, offset, m->offset);
}

/* Waits for the first record that is there, or for the end. */
static bool
fetch(struct br_single *s, int64_t offset, const struct range *range,
    struct br_error *err)
{
	rd_kafka_resp_err_t last = RD_KAFKA_RESP_ERR__TIMED_OUT;
	rd_kafka_message_t *m;

	while (br_clock_mono_ms() < s->until_ms) {
		m = rd_kafka_consume_queue(s->queue, SLICE_MS);
		serve(s);
		if (m == NULL)
			continue;
		if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
			s->message = m;
			return take(s, offset, err);
		}
		last = m->err;
		rd_kafka_message_destroy(m);
		if (last == RD_KAFKA_RESP_ERR__PARTITION_EOF)
			return ended(s, offset, range, err);
		if (last == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
			break;
	}
	return br_fail(err,
	    "%s:%" PRId32 ":%" PRId64 " cannot be read: %s%s%s%s",
	    rd_kafka_topic_name(s->topic), s->partition, offset,
	    rd_kafka_err2str(last), s->last_error[0] != '\0' ? " (" : "",
	    s->last_error, s->last_error[0] != '\0' ? ")" : "");
}

static void
fill_record(struct br_single *s)
{
	rd_kafka_headers_t *list;
	size_t count = 0;

	br_message_record(s->message, &s->record);
	if (rd_kafka_message_headers(s->message, &list) == 0)
		count = rd_kafka_header_cnt(list);
	s->headers = br_kafka_zeroed(count + 1, sizeof(*s->headers));
	for (size_t i = 0; i < count; i++)
		(void)br_message_header(s->message, i, &s->headers[i]);
	s->record.headers = s->headers;
	s->record.header_count = count;
}

static bool
read_record(struct br_single *s, const struct br_config *config, int64_t offset,
    struct br_error *err)
{
	struct range range;

	if (!find_partition(s, config, err) ||
	    !find_range(s, offset, &range, err))
		return false;
	s->queue = rd_kafka_queue_new(s->rk);
	if (rd_kafka_consume_start_queue(
	        s->topic, s->partition, offset, s->queue) != 0) {
		rd_kafka_queue_destroy(s->queue);
		s->queue = NULL;
		return br_fail(err, "cannot read: %s",
		    rd_kafka_err2str(rd_kafka_last_error()));
	}
	if (!fetch(s, offset, &range, err))
		return false;
	fill_record(s);
	return true;
}

struct br_single *
br_single_read(const struct br_config *config, const char *topic,
    int32_t partition, int64_t offset, int64_t timeout_ms, struct br_error *err)
{
	rd_kafka_conf_t *conf = br_client_conf(config, BR_CLIENT_ASKER, err);
	struct br_single *s;
	rd_kafka_t *rk;

	if (conf == NULL)
		return NULL;
	/* One record is wanted, not what lies behind it. */
	if (!br_client_set(conf, "queued.min.messages", "1", err)) {
		rd_kafka_conf_destroy(conf);
		return NULL;
	}
	rk = br_client_new(RD_KAFKA_CONSUMER, conf, err);
	if (rk == NULL)
		return NULL;
	s = br_kafka_zeroed(1, sizeof(*s));
	s->rk = rk;
	s->partition = partition;
	s->until_ms = br_clock_mono_ms() + timeout_ms;
	(void)rd_kafka_set_log_queue(rk, NULL);
	s->topic = rd_kafka_topic_new(rk, topic, NULL);
	if (s->topic == NULL)
		(void)br_fail(err, "topic %s: %s", topic,
		    rd_kafka_err2str(rd_kafka_last_error()));
	if (s->topic != NULL && read_record(s, config, offset, err))
		return s;
	br_single_free(s);
	return NULL;
}

const struct br_record *
br_single_record(const struct br_single *s)
{
	return &s->record;
}

void
br_single_free(struct br_single *s)
{
	if (s == NULL)
		return;
	free(s->headers);
	if (s->message != NULL)
		rd_kafka_message_destroy(s->message);
	if (s->queue != NULL) {
		(void)rd_kafka_consume_stop(s->topic, s->partition);
		rd_kafka_queue_destroy(s->queue);
	}
	if (s->topic != NULL)
		rd_kafka_topic_destroy(s->topic);
	(void)br_client_destroy(s->rk, 0, END_MS);
	free(s);
}
