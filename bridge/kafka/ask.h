/*
 * ask: what librdkafka offers only as blocking calls, on a thread of its own.
 *
 * Questions are answered in their order; an answer waits in a list until it
 * is taken, and writes to the descriptor. All functions: Kafka thread. One
 * lock, a leaf: it is never held over a call of librdkafka.
 */
#ifndef BRIDGE_KAFKA_ASK_H
#define BRIDGE_KAFKA_ASK_H

#include <librdkafka/rdkafka.h>

#include "bridge/kafka/consumer.h"

struct br_ask;

/* Starts the thread; `group` outlives it. NULL and a reason when that fails. */
struct br_ask *br_ask_new(
    rd_kafka_t *rk, const char *group, int wake_fd, struct br_error *err);

/* Asks; copies `list`. */
void br_ask_put(struct br_ask *a, enum br_question question,
    const struct br_positions *list, int timeout_ms, uint64_t ticket);

/* Next answer, or BR_KAFKA_BROKERS_UP; false when there is none now. */
bool br_ask_take(struct br_ask *a, struct br_kafka_event *ev);

/* Looks for a broker again and again until one answers: BROKERS_UP then. */
void br_ask_watch(struct br_ask *a);

/*
 * Ends the thread and frees. False when a call did not come back within
 * `wait_ms`: then everything, the client too, has to stay as it is.
 */
bool br_ask_free(struct br_ask *a, int wait_ms);

#endif
