/*
 * joining: whether a commit could meet the joining of the group.
 *
 * From the JoinGroup request to the end of SyncGroup the broker leaves what
 * we send to it lying: a commit is looked at when the group is a generation
 * further, and refused; librdkafka then takes all partitions for lost, and
 * what was just delivered is sent again. So nothing is committed meanwhile.
 * librdkafka does not tell when it joins; its requests are watched instead.
 *
 * The JoinGroup itself comes up to a second after the heartbeat whose answer
 * asks for it, and a commit that librdkafka is given in that second may be
 * sent behind it. The answer cannot be seen, only the line that librdkafka
 * writes about it under debug=cgrp. So that is switched on, and read.
 * What is left is the time from the answer to this line; therefore nothing
 * is committed either while a heartbeat is out, and shortly after its answer.
 */
#ifndef BRIDGE_KAFKA_JOINING_H
#define BRIDGE_KAFKA_JOINING_H

#include <librdkafka/rdkafka.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "bridge/base/error.h"

struct br_joining {
	bool debug;               /* people want librdkafka's debug lines */
	int64_t grace_ms;         /* after a heartbeat's answer */
	int64_t beat_most_ms;     /* one is waited for so long */
	_Atomic int64_t asked_ms; /* when we were asked to join; 0: not */
	_Atomic int64_t since_ms; /* when we did; 0: not joining */
	_Atomic int64_t beat_ms;  /* when a heartbeat went out; 0: none is */
	_Atomic int64_t back_ms;  /* when the last one was answered */
};

/* Watches the client that is made of `conf`; `j` outlives it. Its log lines
 * have to be shown to br_joining_log(). False and a reason. */
bool br_joining_watch(
    struct br_joining *j, rd_kafka_conf_t *conf, struct br_error *err);

/* Reads a RD_KAFKA_EVENT_LOG; true when it is for nobody else. */
bool br_joining_log(struct br_joining *j, rd_kafka_event_t *ev);

/* Any thread. Must nothing be committed now? False too when an answer is
 * overdue. `revoking`: a revoke is not answered yet, so that no JoinGroup can
 * be on its way but one of before. */
bool br_joining_is(const struct br_joining *j, bool revoking);

#endif
