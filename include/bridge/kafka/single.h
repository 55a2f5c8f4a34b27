/*
 * single: one record by its place, for a person who asks.
 *
 * A consumer of its own that is in no group: it commits nothing, and no
 * member of the group notices it. Blocking, with a limit: for commands, never
 * for the Kafka thread. Knows nothing about events.
 */
#ifndef BRIDGE_KAFKA_SINGLE_H
#define BRIDGE_KAFKA_SINGLE_H

#include "bridge/base/error.h"
#include "bridge/config/config.h"
#include "bridge/core/record.h"

struct br_single;

/*
 * Reads the record at that offset, as a consumer that sees committed
 * transactions only. NULL and a reason within about `timeout_ms`: no broker
 * answers, there is no such topic or partition, the offset is outside of what
 * the log holds (the reason names the range), or nothing stands there (it
 * names the next record). Never creates a topic.
 */
struct br_single *br_single_read(const struct br_config *config,
    const char *topic, int32_t partition, int64_t offset, int64_t timeout_ms,
    struct br_error *err);

/* The record; it lives as long as `s`. */
const struct br_record *br_single_record(const struct br_single *s);

/* NULL is fine. */
void br_single_free(struct br_single *s);

#endif
