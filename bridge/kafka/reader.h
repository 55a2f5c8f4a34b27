/*
 * reader: events of librdkafka as records and faults of partitions.
 *
 * Kafka thread only. A fault after which reading on would pass over records
 * stops the partition, whatever librdkafka itself would do next.
 */
#ifndef BRIDGE_KAFKA_READER_H
#define BRIDGE_KAFKA_READER_H

#include <librdkafka/rdkafka.h>

#include "bridge/kafka/consumer.h"

#include "assignment.h"

struct br_reader;

/* Reads from `records`; both outlive it. */
struct br_reader *br_reader_new(
    rd_kafka_queue_t *records, struct br_assignment *assignment);
void br_reader_free(struct br_reader *r);

/* An event of a partition that came another way; takes it. Read first. */
void br_reader_add(struct br_reader *r, rd_kafka_event_t *ev);

/*
 * Forgets what came another way of a partition that is given up or begins at
 * another offset: such an event says nothing about what is read next.
 */
void br_reader_forget(
    struct br_reader *r, const char *topic, int32_t partition);

/* See br_consumer_read and br_consumer_release. */
size_t br_reader_read(struct br_reader *r, struct br_read *out, size_t max);
void br_reader_release(struct br_reader *r);

#endif
