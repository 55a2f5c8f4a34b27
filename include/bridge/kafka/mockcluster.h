/*
 * mockcluster: librdkafka's Kafka brokers inside this process, for the demo
 * and for tests. Nothing survives it. Listens on loopback ports of its own.
 *
 * One thread at a time; calls block, at most for the time they are given.
 * It knows no topic settings and no limits of a real broker, and it makes a
 * topic with four partitions of whatever name it is asked for.
 */
#ifndef BRIDGE_KAFKA_MOCKCLUSTER_H
#define BRIDGE_KAFKA_MOCKCLUSTER_H

#include "bridge/base/error.h"
#include "bridge/core/record.h"

struct br_mock_cluster;

/* Starts `brokers` brokers with the ids 1 … n. NULL and a reason. */
struct br_mock_cluster *br_mock_new(int brokers, struct br_error *err);
void br_mock_free(struct br_mock_cluster *m); /* NULL is fine */

/* "host:port,…" for kafka.brokers; lives as long as the cluster. */
const char *br_mock_bootstrap(const struct br_mock_cluster *m);

bool br_mock_topic(struct br_mock_cluster *m, const char *topic, int partitions,
    struct br_error *err);

/*
 * Writes a copy of the record: key, value, headers, timestamp (below 0: now);
 * a negative partition means by key. Waits while the local queue is full.
 * Failures of the delivery itself are told by the next br_mock_flush().
 */
bool br_mock_produce(struct br_mock_cluster *m, const struct br_record *record,
    struct br_error *err);

/* Waits until all is stored; false and a reason when something is not. */
bool br_mock_flush(
    struct br_mock_cluster *m, int timeout_ms, struct br_error *err);

/*
 * Shows every record of a topic, partition by partition in offset order, to
 * `see`. False and a reason when the end was not reached in time.
 */
bool br_mock_read(struct br_mock_cluster *m, const char *topic, int timeout_ms,
    void (*see)(void *arg, const struct br_record *record), void *arg,
    struct br_error *err);

/* Offset of the next record to come, or -1. */
int64_t br_mock_end(struct br_mock_cluster *m, const char *topic,
    int32_t partition, int timeout_ms);

/* Committed offset of a group, or -1 when there is none. */
int64_t br_mock_committed(struct br_mock_cluster *m, const char *group,
    const char *topic, int32_t partition, int timeout_ms);

/* Requests of the Kafka protocol, by their numbers there. */
enum br_mock_api {
	BR_MOCK_PRODUCE = 0,
	BR_MOCK_FETCH = 1,
	BR_MOCK_LIST_OFFSETS = 2,
	BR_MOCK_METADATA = 3,
	BR_MOCK_OFFSET_COMMIT = 8,
	BR_MOCK_OFFSET_FETCH = 9,
	BR_MOCK_JOIN_GROUP = 11,
	BR_MOCK_HEARTBEAT = 12
};

/*
 * The next `count` such requests are answered with this Kafka error; with a
 * count of 0, what is left of earlier calls is taken back.
 */
void br_mock_fail(
    struct br_mock_cluster *m, enum br_mock_api api, int error, size_t count);

/* Metadata answers give this error for the topic until it is set to 0. */
void br_mock_topic_error(
    struct br_mock_cluster *m, const char *topic, int error);

/* Cuts or restores every broker; sets their answers' delay. */
void br_mock_down(struct br_mock_cluster *m, bool down);
void br_mock_delay(struct br_mock_cluster *m, int delay_ms);

#endif
