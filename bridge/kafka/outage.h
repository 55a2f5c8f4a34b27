/*
 * outage: whether all brokers are out of reach, and why. Kafka thread only.
 *
 * librdkafka says that all brokers are down whenever the last connection
 * ends, also when the next one is open a moment later: where logins last for
 * a time only (connections.max.reauth.ms), that is what every login ends
 * with. So an outage is told when it has lasted a second, with what the
 * client complained of last, and told again when that becomes something else.
 */
#ifndef BRIDGE_KAFKA_OUTAGE_H
#define BRIDGE_KAFKA_OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

struct br_outage {
	bool down;
	bool told;
	int64_t since_ms; /* down */
	int error;        /* of the last complaint, 0: none yet */
	int told_error;   /* told */
	char why[300];    /* the last complaint; "" for none */
};

/* A client complained; whether it is about brokers is found out here. */
void br_outage_complaint(struct br_outage *o, int error, const char *text);

/* All brokers are down. Returns false when that was known. */
bool br_outage_begin(struct br_outage *o, int64_t now_ms);

/* One of them answers. Returns true when the outage had been told. */
bool br_outage_end(struct br_outage *o);

/* Is it time to tell it (again)? Then it is told, `why` says the reason. */
bool br_outage_due(struct br_outage *o, int64_t now_ms);

#endif
