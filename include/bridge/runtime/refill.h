/*
 * refill: makes librdkafka fetch again as soon as its queue is empty.
 *
 * When the queue has held its limit, librdkafka 2.0 and 2.1 look at it again
 * only when a broker's thread wakes, up to a second later: with 8 MiB and a
 * fast receiver half of the time passes with nothing to send (measured).
 * Any request to the leaders wakes these threads; a question for the ends of
 * the partitions is the cheapest. (From 2.2 on there is a property for it,
 * fetch.queue.backoff.ms; see kafka/client.c.)
 *
 * Kafka thread only; nothing blocks.
 */
#ifndef BRIDGE_RUNTIME_REFILL_H
#define BRIDGE_RUNTIME_REFILL_H

#include "bridge/runtime/parts.h"

struct br_refill {
	uint64_t ticket; /* of the question under way; 0: none */
	int64_t next_ms; /* not before */
};

/* The record queue is empty: asks, if the logs go on beyond what was read.
 * One question at a time, ten a second at most. */
void br_refill_empty(struct br_refill *r, struct br_parts *ps,
    struct br_consumer *consumer, int64_t now_ms);

/* True when the answer was for us: nobody else need look at it. */
bool br_refill_answer(
    struct br_refill *r, const struct br_kafka_event *ev, int64_t now_ms);

#endif
