/* mockcluster: see the header. */
#include "bridge/kafka/mockcluster.h"

#include <librdkafka/rdkafka.h>

#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <string.h>

#include "bridge/base/clock.h"

#include "memory.h"
#include "message.h"

struct br_mock_cluster {
	rd_kafka_t *host; /* whose threads are the brokers */
	rd_kafka_mock_cluster_t *cluster;
	int brokers;
	rd_kafka_t *producer;
	size_t failed;
	char first_failure[200];
};

/* Counts what was not stored; called by br_mock_flush. */
static void
delivered(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
	struct br_mock_cluster *c = opaque;

	(void)rk;
	if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR)
		return;
	if (c->failed++ == 0)
		(void)snprintf(c->first_failure, sizeof(c->first_failure), "%s",
		    rd_kafka_err2str(m->err));
}

/* A client that keeps its log to itself. `group` may be NULL. */
static rd_kafka_t *
quiet_client(const struct br_mock_cluster *m, rd_kafka_type_t type,
    const char *group, struct br_error *err)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char reason[256];
	rd_kafka_t *rk;

	rd_kafka_conf_set_log_cb(conf, NULL);
	if (m->cluster != NULL)
		(void)rd_kafka_conf_set(conf, "bootstrap.servers",
		    br_mock_bootstrap(m), reason, sizeof(reason));
	if (group != NULL)
		(void)rd_kafka_conf_set(
		    conf, "group.id", group, reason, sizeof(reason));
	if (type == RD_KAFKA_CONSUMER)
		(void)rd_kafka_conf_set(conf, "enable.partition.eof", "true",
		    reason, sizeof(reason));
	else
		(void)rd_kafka_conf_set(
		    conf, "linger.ms", "0", reason, sizeof(reason));
	if (type == RD_KAFKA_PRODUCER && m->cluster != NULL) {
		rd_kafka_conf_set_dr_msg_cb(conf, delivered);
		rd_kafka_conf_set_opaque(conf, (void *)(uintptr_t)m);
	}
	rk = rd_kafka_new(type, conf, reason, sizeof(reason));
	if (rk == NULL) {
		rd_kafka_conf_destroy(conf);
		(void)br_fail(err, "mock cluster: %s", reason);
	}
	return rk;
}

struct br_mock_cluster *
br_mock_new(int brokers, struct br_error *err)
{
	struct br_mock_cluster *m = br_kafka_zeroed(1, sizeof(*m));

	m->brokers = brokers;
	m->host = quiet_client(m, RD_KAFKA_PRODUCER, NULL, err);
	if (m->host != NULL)
		m->cluster = rd_kafka_mock_cluster_new(m->host, brokers);
	if (m->cluster != NULL)
		m->producer = quiet_client(m, RD_KAFKA_PRODUCER, NULL, err);
	else if (m->host != NULL)
		(void)br_fail(err, "mock cluster: cannot listen");
	if (m->producer == NULL) {
		br_mock_free(m);
		return NULL;
	}
	return m;
}

void
br_mock_free(struct br_mock_cluster *m)
{
	if (m == NULL)
		return;
	if (m->producer != NULL) {
		(void)rd_kafka_purge(m->producer,
		    RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
		rd_kafka_destroy(m->producer);
	}
	if (m->cluster != NULL)
		rd_kafka_mock_cluster_destroy(m->cluster);
	if (m->host != NULL)
		rd_kafka_destroy(m->host);
	free(m);
}

const char *
br_mock_bootstrap(const struct br_mock_cluster *m)
{
	return rd_kafka_mock_cluster_bootstraps(m->cluster);
}

bool
br_mock_topic(struct br_mock_cluster *m, const char *topic, int partitions,
    struct br_error *err)
{
	rd_kafka_resp_err_t e =
	    rd_kafka_mock_topic_create(m->cluster, topic, partitions, 1);

	if (e != RD_KAFKA_RESP_ERR_NO_ERROR)
		return br_fail(err, "topic %s: %s", topic, rd_kafka_err2str(e));
	return true;
}

bool
br_mock_produce(struct br_mock_cluster *m, const struct br_record *record,
    struct br_error *err)
{
	rd_kafka_resp_err_t e;

	while ((e = br_message_produce(m->producer, record->topic,
	            record->partition, record, NULL, 0, NULL)) ==
	       RD_KAFKA_RESP_ERR__QUEUE_FULL)
		(void)rd_kafka_poll(m->producer, 10);
	if (e != RD_KAFKA_RESP_ERR_NO_ERROR)
		return br_fail(err, "produce: %s", rd_kafka_err2str(e));
	(void)rd_kafka_poll(m->producer, 0);
	return true;
}

bool
br_mock_flush(struct br_mock_cluster *m, int timeout_ms, struct br_error *err)
{
	rd_kafka_resp_err_t e = rd_kafka_flush(m->producer, timeout_ms);
	size_t failed = m->failed;

	m->failed = 0;
	if (e != RD_KAFKA_RESP_ERR_NO_ERROR)
		return br_fail(err, "flush: %s", rd_kafka_err2str(e));
	if (failed > 0)
		return br_fail(err, "%zu records not stored: %s", failed,
		    m->first_failure);
	return true;
}

static int
partitions_of(struct br_mock_cluster *m, const char *topic, int timeout_ms)
{
	rd_kafka_topic_t *t = rd_kafka_topic_new(m->producer, topic, NULL);
	const struct rd_kafka_metadata *md;
	int count = -1;

	if (t == NULL)
		return -1;
	if (rd_kafka_metadata(m->producer, 0, t, &md, timeout_ms) == 0) {
		if (md->topic_cnt == 1)
			count = md->topics[0].partition_cnt;
		rd_kafka_metadata_destroy(md);
	}
	rd_kafka_topic_destroy(t);
	return count;
}

static void
show(const rd_kafka_message_t *msg,
    void (*see)(void *arg, const struct br_record *record), void *arg)
{
	struct br_record record;
	struct br_header *headers;
	struct br_header one;
	size_t count = 0;

	br_message_record(msg, &record);
	while (br_message_header(msg, count, &one))
		count++;
	headers = br_kafka_zeroed(count, sizeof(*headers));
	for (size_t i = 0; i < count; i++)
		(void)br_message_header(msg, i, &headers[i]);
	record.headers = headers;
	record.header_count = count;
	see(arg, &record);
	free(headers);
}

static bool
read_partition(rd_kafka_t *rk, const char *topic, int32_t partition,
    int64_t until_ms, void (*see)(void *arg, const struct br_record *record),
    void *arg)
{
	rd_kafka_topic_partition_list_t *list =
	    rd_kafka_topic_partition_list_new(1);
	bool end = false;

	rd_kafka_topic_partition_list_add(list, topic, partition)->offset =
	    RD_KAFKA_OFFSET_BEGINNING;
	(void)rd_kafka_assign(rk, list);
	while (!end && br_clock_mono_ms() < until_ms) {
		rd_kafka_message_t *msg = rd_kafka_consumer_poll(rk, 100);

		if (msg == NULL)
			continue;
		if (msg->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
			end = true;
		else if (msg->err == RD_KAFKA_RESP_ERR_NO_ERROR)
			show(msg, see, arg);
		rd_kafka_message_destroy(msg);
	}
	rd_kafka_topic_partition_list_destroy(list);
	return end;
}

bool
br_mock_read(struct br_mock_cluster *m, const char *topic, int timeout_ms,
    void (*see)(void *arg, const struct br_record *record), void *arg,
    struct br_error *err)
{
	int64_t until_ms = br_clock_mono_ms() + timeout_ms;
	int count = partitions_of(m, topic, timeout_ms);
	rd_kafka_t *rk;
	bool ok = count >= 0;

	if (!ok)
		return br_fail(err, "topic %s: no answer", topic);
	rk = quiet_client(m, RD_KAFKA_CONSUMER, "outbox-bridge.reader", err);
	if (rk == NULL)
		return false;
	(void)rd_kafka_poll_set_consumer(rk);
	for (int32_t p = 0; p < count && ok; p++)
		ok = read_partition(rk, topic, p, until_ms, see, arg);
	(void)rd_kafka_consumer_close(rk);
	rd_kafka_destroy(rk);
	return ok || br_fail(err, "topic %s: not read to its end", topic);
}

int64_t
br_mock_end(struct br_mock_cluster *m, const char *topic, int32_t partition,
    int timeout_ms)
{
	int64_t low, high;

	if (rd_kafka_query_watermark_offsets(
	        m->producer, topic, partition, &low, &high, timeout_ms) != 0)
		return -1;
	return high;
}

int64_t
br_mock_committed(struct br_mock_cluster *m, const char *group,
    const char *topic, int32_t partition, int timeout_ms)
{
	rd_kafka_topic_partition_list_t *list;
	struct br_error ignored;
	int64_t offset = -1;
	rd_kafka_t *rk = quiet_client(m, RD_KAFKA_CONSUMER, group, &ignored);

	if (rk == NULL)
		return -1;
	list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_list_add(list, topic, partition);
	if (rd_kafka_committed(rk, list, timeout_ms) == 0 &&
	    list->elems[0].err == 0 && list->elems[0].offset >= 0)
		offset = list->elems[0].offset;
	rd_kafka_topic_partition_list_destroy(list);
	rd_kafka_destroy(rk);
	return offset;
}

void
br_mock_fail(
    struct br_mock_cluster *m, enum br_mock_api api, int error, size_t count)
{
	if (count == 0)
		rd_kafka_mock_clear_request_errors(m->cluster, (int16_t)api);
	for (size_t i = 0; i < count; i++)
		rd_kafka_mock_push_request_errors(
		    m->cluster, (int16_t)api, 1, (rd_kafka_resp_err_t)error);
}

void
br_mock_topic_error(struct br_mock_cluster *m, const char *topic, int error)
{
	rd_kafka_mock_topic_set_error(
	    m->cluster, topic, (rd_kafka_resp_err_t)error);
}

void
br_mock_down(struct br_mock_cluster *m, bool down)
{
	for (int id = 1; id <= m->brokers; id++)
		(void)(down ? rd_kafka_mock_broker_set_down(m->cluster, id)
		            : rd_kafka_mock_broker_set_up(m->cluster, id));
}

void
br_mock_delay(struct br_mock_cluster *m, int delay_ms)
{
	for (int id = 1; id <= m->brokers; id++)
		(void)rd_kafka_mock_broker_set_rtt(m->cluster, id, delay_ms);
}
