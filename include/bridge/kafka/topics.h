/*
 * topics: questions about topics and groups before and beside the work.
 * Blocking, with a limit: for start-up, before the work begins;
 * never for the Kafka thread once it runs.
 */
#ifndef BRIDGE_KAFKA_TOPICS_H
#define BRIDGE_KAFKA_TOPICS_H

#include "bridge/base/error.h"
#include "bridge/config/config.h"

struct br_topic_facts {
	bool exists;
	int32_t partitions;
	bool configs_known; /* false: DescribeConfigs failed, why in note */
	bool compacted;     /* cleanup.policy holds "compact" */
	bool append_time;   /* message.timestamp.type=LogAppendTime */
	int64_t max_message_bytes;
	int64_t retention_ms; /* -1: for ever */
	char note[256];
};

struct br_topics; /* a client for questions */

struct br_topics *br_topics_new(
    const struct br_config *config, struct br_error *err);
void br_topics_free(struct br_topics *t);

/*
 * Facts of one topic. False and a reason when no broker answered within
 * `timeout_ms` (then nothing is known); true with exists=false when the
 * brokers say that there is no such topic. Never creates it.
 */
bool br_topics_facts(struct br_topics *t, const char *topic, int timeout_ms,
    struct br_topic_facts *out, struct br_error *err);

/* Number of members of a group, or -1 and a reason. */
int br_topics_members(struct br_topics *t, const char *group, int timeout_ms,
    struct br_error *err);

/* "librdkafka 2.0.2", for --version. Main thread. */
const char *br_kafka_version(void);

#endif
