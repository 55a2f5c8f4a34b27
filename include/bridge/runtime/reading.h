/*
 * reading: records from the consumer to the engine, as far as there is room.
 *
 * Kafka thread only; never blocks. Back-pressure is not reading: what waits
 * then stays in librdkafka's queue, which has a limit of its own.
 */
#ifndef BRIDGE_RUNTIME_READING_H
#define BRIDGE_RUNTIME_READING_H

#include "bridge/config/config.h"
#include "bridge/kafka/consumer.h"
#include "bridge/runtime/parts.h"
#include "bridge/runtime/pressure.h"
#include "bridge/runtime/pool.h"
#include "bridge/source/registry.h"

struct br_reading;

/* NULL and a reason for rules of the configuration that do not compile. */
struct br_reading *br_reading_new(const struct br_config *config,
    struct br_consumer *consumer, struct br_parts *parts, struct br_pool *pool,
    struct br_pressure *pressure, struct br_error *err);
void br_reading_free(struct br_reading *r);

/* From now on Avro is read: a record whose schema is not here holds its
 * partition until it is. `registry` must outlive it. */
void br_reading_use(struct br_reading *r, struct br_registry *registry);

/* There may be records again. */
void br_reading_wake(struct br_reading *r);

/* Reads what is there and has room, a bounded number of batches at a time. */
void br_reading_pass(struct br_reading *r, int64_t now_ms);

/* True when this answered a question of the reading's own (refill.h). */
bool br_reading_answer(
    struct br_reading *r, const struct br_kafka_event *ev, int64_t now_ms);

/* True when another pass would find something to do. */
bool br_reading_wants(struct br_reading *r);

/* True while the open events fill their share of limits.buffer_bytes. */
bool br_reading_full(const struct br_reading *r);

/* Why a partition stands still although its log goes on, or NULL: none does.
 * Valid until the next call. */
const char *br_reading_stuck(struct br_reading *r);

#endif
