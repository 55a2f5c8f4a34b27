/*
 * client: what all clients of librdkafka have in common: configuration,
 * log lines, and an end that cannot hang.
 */
#ifndef BRIDGE_KAFKA_CLIENT_H
#define BRIDGE_KAFKA_CLIENT_H

#include <librdkafka/rdkafka.h>
#include <pthread.h>

#include "bridge/base/error.h"
#include "bridge/config/config.h"

enum br_client_kind {
	BR_CLIENT_CONSUMER, /* the group member */
	BR_CLIENT_PRODUCER, /* of dead letters */
	BR_CLIENT_ASKER     /* questions only: a consumer without a group */
};

/*
 * The configuration of a client: our defaults, then kafka.properties, then
 * what nobody may change. Log lines and errors are events. NULL and a reason
 * that names the property; the value of a secret never stands in it.
 */
rd_kafka_conf_t *br_client_conf(const struct br_config *config,
    enum br_client_kind kind, struct br_error *err);

/* Sets one property of our own making. False and a reason. */
bool br_client_set(rd_kafka_conf_t *conf, const char *name, const char *value,
    struct br_error *err);

/* False and a reason for a property that is ours. */
bool br_client_may_set(const char *name, struct br_error *err);

/* Makes the client; takes `conf` in any case. NULL and a reason. */
rd_kafka_t *br_client_new(
    rd_kafka_type_t type, rd_kafka_conf_t *conf, struct br_error *err);

/* Writes a RD_KAFKA_EVENT_LOG to our log. */
void br_client_log(const rd_kafka_t *rk, rd_kafka_event_t *ev);

/* The same for a RD_KAFKA_EVENT_ERROR that nobody else tells about. */
void br_client_log_error(const rd_kafka_t *rk, rd_kafka_event_t *ev);

/* Starts a thread with all signals blocked; false when that fails. */
bool br_kafka_thread(pthread_t *thread, void *(*run)(void *), void *opaque);

/*
 * Destroys the client, waiting at most `timeout_ms`; after that librdkafka
 * goes on in the background (a resolver that hangs holds its threads), and it
 * returns false.
 */
bool br_client_destroy(rd_kafka_t *rk, int flags, int timeout_ms);

#endif
