/*
 * deadletter: the producer of the dead letter topic.
 *
 * Kafka thread only; nothing blocks. acks=all, idempotent, linger 0. Every
 * br_deadletter_send() that returns true is answered by exactly one result,
 * also when the producer turns out to be broken and is made anew inside.
 */
#ifndef BRIDGE_KAFKA_DEADLETTER_H
#define BRIDGE_KAFKA_DEADLETTER_H

#include "bridge/base/error.h"
#include "bridge/config/config.h"
#include "bridge/core/record.h"

struct br_deadletter;

enum br_dead_class {
	BR_DEAD_STORED,    /* acknowledged */
	BR_DEAD_WAIT,      /* cured by waiting: send again later */
	BR_DEAD_TIMESTAMP, /* the broker refuses the timestamp: change it */
	BR_DEAD_TOO_LARGE  /* above a limit of topic or broker */
};

struct br_dead_result {
	void *opaque;
	enum br_dead_class class;
	int error;      /* rd_kafka_resp_err_t */
	char text[256]; /* librdkafka's words for the error; "" when stored */
};

/* NULL and a reason for a property that librdkafka refuses. */
struct br_deadletter *br_deadletter_new(
    const struct br_config *config, struct br_error *err);

/* Readable when there may be results. */
int br_deadletter_fd(const struct br_deadletter *d);
void br_deadletter_wake_clear(struct br_deadletter *d);

/*
 * Produces a copy of `record` to `config->dlq.topic`: key, value and headers
 * as they are, then `added`; partition by key; timestamp as the record's
 * (0 or below: now). False when it could not even be queued (local queue
 * full, producer being remade): `*retry` is then true, try after results.
 * Every other refusal, a local limit too, comes as a result.
 */
bool br_deadletter_send(struct br_deadletter *d, const struct br_record *record,
    const struct br_header *added, size_t added_count, void *opaque,
    bool *retry, struct br_error *err);

/* Next result; false when there is none now. */
bool br_deadletter_next(struct br_deadletter *d, struct br_dead_result *out);

/* Sent and not answered. */
size_t br_deadletter_pending(const struct br_deadletter *d);

/* Frees; what is unanswered is given up, waiting at most `timeout_ms`. */
void br_deadletter_free(struct br_deadletter *d, int timeout_ms);

#endif
