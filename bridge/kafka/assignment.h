/*
 * assignment: which partitions are ours, and what librdkafka is told of it.
 *
 * The caller says what it wants (want, drop, restart, stop); what librdkafka
 * holds follows at once, or, while a rebalance waits for its answer, with the
 * answer: a call in between would be taken for the answer. Kafka thread only.
 */
#ifndef BRIDGE_KAFKA_ASSIGNMENT_H
#define BRIDGE_KAFKA_ASSIGNMENT_H

#include <librdkafka/rdkafka.h>

#include "bridge/kafka/consumer.h"

struct br_kafka_part {
	char *topic;
	int32_t partition;
	int64_t next;  /* offset to go on from */
	bool wanted;   /* the caller wants it read */
	bool held;     /* librdkafka reads it */
	bool restart;  /* held, but to be begun again at `next` */
	bool stopped;  /* wanted, but a fault ended the reading */
	bool paused;   /* by the caller */
	bool asleep;   /* librdkafka has paused it */
	bool revoking; /* in the revoke that waits for an answer */
	bool given_up; /* `revoking`, and the caller has let it go */
};

struct br_assignment;

/* Records of wanted partitions go to `records`, which outlives this. */
struct br_assignment *br_assignment_new(
    rd_kafka_t *rk, rd_kafka_queue_t *records);
void br_assignment_free(struct br_assignment *a);

/* A group event came that waits for an answer. */
void br_assignment_assigning(struct br_assignment *a);
void br_assignment_revoking(
    struct br_assignment *a, const rd_kafka_topic_partition_list_t *list);

/* From now on only what is due is answered; nothing new is read. */
void br_assignment_close(struct br_assignment *a);

/* True while a new assignment is unanswered. */
bool br_assignment_is_assigning(const struct br_assignment *a);

/*
 * Reads these from their offsets; answers an assignment, also when empty.
 * False and a reason when librdkafka refuses.
 */
bool br_assignment_want(struct br_assignment *a,
    const struct br_positions *list, struct br_error *err);

/* Lets these go; answers a revoke when none of its partitions is left. */
bool br_assignment_drop(struct br_assignment *a,
    const struct br_positions *list, struct br_error *err);

/* Reads a wanted partition again from `offset`. */
bool br_assignment_restart(struct br_assignment *a, struct br_kafka_part *part,
    int64_t offset, struct br_error *err);

/* Ends the reading of a partition that stays wanted. */
bool br_assignment_stop(
    struct br_assignment *a, struct br_kafka_part *part, struct br_error *err);

/* Stops or goes on reading of a partition without losing its place. */
bool br_assignment_pause(struct br_assignment *a, struct br_kafka_part *part,
    bool pause, struct br_error *err);

/* NULL when it is not ours. Valid until the next want, drop or revoke. */
struct br_kafka_part *br_assignment_find(
    struct br_assignment *a, const char *topic, int32_t partition);

#endif
