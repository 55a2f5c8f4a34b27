/* message: records to librdkafka and back. Any thread. */
#ifndef BRIDGE_KAFKA_MESSAGE_H
#define BRIDGE_KAFKA_MESSAGE_H

#include <librdkafka/rdkafka.h>

#include "bridge/core/record.h"

/*
 * Fills `out` but for the headers; it points into `m`. An absent key or value
 * stays absent, an empty one empty.
 */
void br_message_record(const rd_kafka_message_t *m, struct br_record *out);

/* The `i`-th header of the message; false when there is none. */
bool br_message_header(
    const rd_kafka_message_t *m, size_t i, struct br_header *out);

/*
 * Produces a copy of `r` and of `added` behind its headers to `topic`; a
 * negative partition means by key, a timestamp of 0 or below means now.
 * RD_KAFKA_RESP_ERR_NO_ERROR, or why it could not be queued.
 */
rd_kafka_resp_err_t br_message_produce(rd_kafka_t *rk, const char *topic,
    int32_t partition, const struct br_record *r, const struct br_header *added,
    size_t added_count, void *opaque);

#endif
