/*
 * joining: whether this member is just joining its group again.
 *
 * From the JoinGroup request to the end of SyncGroup the broker leaves what
 * we send to it lying: a commit is looked at when the group is a generation
 * further, and refused; librdkafka then takes all partitions for lost, and
 * what was just delivered is sent again. So nothing is committed meanwhile.
 * librdkafka does not tell when it joins; its requests are watched instead.
 */
#ifndef BRIDGE_KAFKA_JOINING_H
#define BRIDGE_KAFKA_JOINING_H

#include <librdkafka/rdkafka.h>
#include <stdatomic.h>
#include <stdbool.h>

struct br_joining {
	_Atomic int64_t since_ms; /* 0: not joining */
};

/* Watches the client that is made of `conf`; `j` outlives it. */
void br_joining_watch(struct br_joining *j, rd_kafka_conf_t *conf);

/* Any thread. False too when the answer is overdue. */
bool br_joining_is(const struct br_joining *j);

#endif
