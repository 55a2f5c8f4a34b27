/*
 * known: does a group have an offset for any partition of a topic? A topic
 * that it knows is one whose new partitions begin at their beginning.
 */
#ifndef BRIDGE_KAFKA_KNOWN_H
#define BRIDGE_KAFKA_KNOWN_H

#include <librdkafka/rdkafka.h>

#include "bridge/kafka/consumer.h"

/*
 * Sets `topic_known` of every position that has no committed offset; asks
 * the brokers at most once a topic, until `until_ms` (monotonic). What cannot
 * be found out gets an error, so that the question is asked again.
 */
void br_known_ask(
    rd_kafka_t *rk, struct br_positions *positions, int64_t until_ms);

#endif
