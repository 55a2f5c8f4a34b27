/* topics: see the header. */
#include "bridge/kafka/topics.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/base/clock.h"

#include "client.h"
#include "memory.h"

struct br_topics {
	rd_kafka_t *rk;
	char last_error[256]; /* why brokers were out of reach; or "" */
};

struct br_topics *
br_topics_new(const struct br_config *config, struct br_error *err)
{
	rd_kafka_conf_t *conf = br_client_conf(config, BR_CLIENT_ASKER, err);
	struct br_topics *t;
	rd_kafka_t *rk;

	if (conf == NULL)
		return NULL;
	rk = br_client_new(RD_KAFKA_CONSUMER, conf, err);
	if (rk == NULL)
		return NULL;
	t = br_kafka_zeroed(1, sizeof(*t));
	t->rk = rk;
	(void)rd_kafka_set_log_queue(rk, NULL);
	return t;
}

void
br_topics_free(struct br_topics *t)
{
	if (t == NULL)
		return;
	(void)br_client_destroy(t->rk, 0, 1000);
	free(t);
}

/* A refused login is told at once: it seldom ends by waiting, and whoever
 * waits for brokers waits long. */
static void
take_error(struct br_topics *t, rd_kafka_event_t *ev)
{
	if (rd_kafka_event_error(ev) == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
		return;
	(void)snprintf(t->last_error, sizeof(t->last_error), "%s",
	    rd_kafka_event_error_string(ev));
	if (rd_kafka_event_error(ev) == RD_KAFKA_RESP_ERR__AUTHENTICATION)
		br_client_log_error(t->rk, ev);
}

/* Writes what the client had to say, and notes its last error. */
static void
serve(struct br_topics *t)
{
	rd_kafka_queue_t *q = rd_kafka_queue_get_main(t->rk);
	rd_kafka_event_t *ev;

	while ((ev = rd_kafka_queue_poll(q, 0)) != NULL) {
		if (rd_kafka_event_type(ev) == RD_KAFKA_EVENT_LOG)
			br_client_log(t->rk, ev);
		else if (rd_kafka_event_type(ev) == RD_KAFKA_EVENT_ERROR)
			take_error(t, ev);
		rd_kafka_event_destroy(ev);
	}
	rd_kafka_queue_destroy(q);
}

static bool
no_answer(struct br_topics *t, rd_kafka_resp_err_t e, struct br_error *err)
{
	serve(t);
	if (t->last_error[0] != '\0')
		return br_fail(
		    err, "%s (%s)", rd_kafka_err2str(e), t->last_error);
	return br_fail(err, "%s", rd_kafka_err2str(e));
}

static int
left_ms(int64_t until_ms)
{
	int64_t left = until_ms - br_clock_mono_ms();

	return left > 1 ? (int)left : 1;
}

/* Existence and partitions, and a broker that can be asked for more. */
static bool
ask_metadata(struct br_topics *t, const char *topic, int64_t until_ms,
    struct br_topic_facts *out, int32_t *broker, struct br_error *err)
{
	rd_kafka_topic_t *handle = rd_kafka_topic_new(t->rk, topic, NULL);
	const struct rd_kafka_metadata *md;
	rd_kafka_resp_err_t e;

	if (handle == NULL)
		return br_fail(err, "topic %s: %s", topic,
		    rd_kafka_err2str(rd_kafka_last_error()));
	e = rd_kafka_metadata(t->rk, 0, handle, &md, left_ms(until_ms));
	rd_kafka_topic_destroy(handle);
	if (e != RD_KAFKA_RESP_ERR_NO_ERROR)
		return no_answer(t, e, err);
	e = md->topic_cnt == 1 ? md->topics[0].err
	                       : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
	if (e == RD_KAFKA_RESP_ERR_NO_ERROR) {
		out->partitions = md->topics[0].partition_cnt;
		out->exists = out->partitions > 0;
		*broker = md->orig_broker_id;
	}
	rd_kafka_metadata_destroy(md);
	if (e == RD_KAFKA_RESP_ERR_NO_ERROR ||
	    e == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
		return true;
	return br_fail(err, "topic %s: %s", topic, rd_kafka_err2str(e));
}

static void
take_config(const rd_kafka_ConfigEntry_t *entry, struct br_topic_facts *out)
{
	const char *name = rd_kafka_ConfigEntry_name(entry);
	const char *value = rd_kafka_ConfigEntry_value(entry);

	if (value == NULL)
		return;
	if (strcmp(name, "cleanup.policy") == 0)
		out->compacted = strstr(value, "compact") != NULL;
	else if (strcmp(name, "message.timestamp.type") == 0)
		out->append_time = strcmp(value, "LogAppendTime") == 0;
	else if (strcmp(name, "max.message.bytes") == 0)
		out->max_message_bytes = strtoll(value, NULL, 10);
	else if (strcmp(name, "retention.ms") == 0)
		out->retention_ms = strtoll(value, NULL, 10);
}

static void
take_configs(rd_kafka_event_t *ev, struct br_topic_facts *out)
{
	size_t count = 0, entries = 0;
	const rd_kafka_ConfigResource_t **resource =
	    rd_kafka_DescribeConfigs_result_resources(
	        rd_kafka_event_DescribeConfigs_result(ev), &count);
	const rd_kafka_ConfigEntry_t **entry;

	if (count != 1) {
		(void)snprintf(out->note, sizeof(out->note), "no answer");
		return;
	}
	if (rd_kafka_ConfigResource_error(resource[0]) != 0) {
		(void)snprintf(out->note, sizeof(out->note), "%s",
		    rd_kafka_ConfigResource_error_string(resource[0]));
		return;
	}
	entry = rd_kafka_ConfigResource_configs(resource[0], &entries);
	for (size_t i = 0; i < entries; i++)
		take_config(entry[i], out);
	out->configs_known = true;
}

static void
ask_configs(struct br_topics *t, const char *topic, int32_t broker,
    int64_t until_ms, struct br_topic_facts *out)
{
	rd_kafka_ConfigResource_t *resource =
	    rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
	rd_kafka_AdminOptions_t *options =
	    rd_kafka_AdminOptions_new(t->rk, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
	/* of its own, so that a late answer cannot be taken for another */
	rd_kafka_queue_t *answers = rd_kafka_queue_new(t->rk);
	char ignored[64];
	rd_kafka_event_t *ev;

	(void)rd_kafka_AdminOptions_set_request_timeout(
	    options, left_ms(until_ms), ignored, sizeof(ignored));
	/* any broker knows; to wait for the controller could take for ever */
	if (broker >= 0)
		(void)rd_kafka_AdminOptions_set_broker(
		    options, broker, ignored, sizeof(ignored));
	rd_kafka_DescribeConfigs(t->rk, &resource, 1, options, answers);
	/* librdkafka answers by itself when the time is up */
	ev = rd_kafka_queue_poll(answers, left_ms(until_ms) + 500);
	if (ev == NULL)
		(void)snprintf(out->note, sizeof(out->note), "no answer");
	else if (rd_kafka_event_error(ev) != 0)
		(void)snprintf(out->note, sizeof(out->note), "%s",
		    rd_kafka_event_error_string(ev));
	else
		take_configs(ev, out);
	if (ev != NULL)
		rd_kafka_event_destroy(ev);
	rd_kafka_queue_destroy(answers);
	rd_kafka_AdminOptions_destroy(options);
	rd_kafka_ConfigResource_destroy(resource);
}

bool
br_topics_facts(struct br_topics *t, const char *topic, int timeout_ms,
    struct br_topic_facts *out, struct br_error *err)
{
	int64_t until_ms = br_clock_mono_ms() + timeout_ms;
	int32_t broker = -1;

	*out = (struct br_topic_facts){
	    .max_message_bytes = -1, .retention_ms = -1};
	if (!ask_metadata(t, topic, until_ms, out, &broker, err))
		return false;
	if (out->exists)
		ask_configs(t, topic, broker, until_ms, out);
	serve(t);
	t->last_error[0] = '\0';
	return true;
}

int
br_topics_members(struct br_topics *t, const char *group, int timeout_ms,
    struct br_error *err)
{
	const struct rd_kafka_group_list *list;
	rd_kafka_resp_err_t e =
	    rd_kafka_list_groups(t->rk, group, &list, timeout_ms);
	int members = 0;

	if (e != RD_KAFKA_RESP_ERR_NO_ERROR) {
		(void)no_answer(t, e, err);
		return -1;
	}
	for (int i = 0; i < list->group_cnt && e == 0; i++) {
		e = list->groups[i].err;
		members += list->groups[i].member_cnt;
	}
	rd_kafka_group_list_destroy(list);
	if (e != RD_KAFKA_RESP_ERR_NO_ERROR) {
		(void)br_fail(err, "group %s: %s", group, rd_kafka_err2str(e));
		return -1;
	}
	return members;
}

const char *
br_kafka_version(void)
{
	static char text[64];

	if (text[0] == '\0')
		(void)snprintf(text, sizeof(text), "librdkafka %s",
		    rd_kafka_version_str());
	return text;
}
