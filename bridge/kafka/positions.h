/*
 * positions: lists of partitions, ours and librdkafka's.
 *
 * Any thread; a list has one owner.
 */
#ifndef BRIDGE_KAFKA_POSITIONS_H
#define BRIDGE_KAFKA_POSITIONS_H

#include <librdkafka/rdkafka.h>

#include "bridge/kafka/consumer.h"

/* A copy of librdkafka's list: offset, metadata, error. NULL for NULL. */
struct br_positions *br_positions_from(
    const rd_kafka_topic_partition_list_t *list);

/* librdkafka's form of ours, with offsets and metadata. The caller frees. */
rd_kafka_topic_partition_list_t *br_positions_to(
    const struct br_positions *list);

struct br_positions *br_positions_copy(const struct br_positions *list);

/*
 * Copies librdkafka's metadata, which may end early: it is made with strndup
 * but keeps the size that the broker sent, so bytes behind a NUL are not ours
 * to read; it may also lack a NUL. Replaces what `item` held.
 */
void br_position_metadata(
    struct br_position *item, const void *metadata, size_t size);

#endif
