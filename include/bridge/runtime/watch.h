/*
 * watch: partitions whose log goes on while nothing of it arrives.
 *
 * librdkafka fetches a batch that it cannot take apart (a right checksum
 * around damaged records) again and again, and tells nobody; nor would it
 * tell of a fetch that it forgot. So every partition that stands still is
 * looked at: the brokers are asked where its log ends. What they name is the
 * end for us, behind the last decided transaction, so an open one is no
 * reason; nor is a record that came just now, which is why it takes two
 * answers. Whatever moves the partition ends it.
 *
 * Kafka thread only; nothing blocks.
 */
#ifndef BRIDGE_RUNTIME_WATCH_H
#define BRIDGE_RUNTIME_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/kafka/consumer.h"

struct br_parts;
struct br_watch;

struct br_watch *br_watch_new(void);
void br_watch_free(struct br_watch *w); /* NULL is fine */

/*
 * Looks at all partitions and asks about those that stand still; to be called
 * in every turn of the loop, after reading. `drained`: whatever the client
 * has of records was read. Only such time counts, from one turn with it to
 * the next: records that wait in the client's queue, because the buffer is
 * full or every worker has enough to do, are no reason.
 */
void br_watch_step(
    struct br_watch *w, struct br_parts *ps, bool drained, int64_t now_ms);

/* True when it was the answer to a question of this file. */
bool br_watch_answer(struct br_watch *w, const struct br_kafka_event *ev);

/* Text for the alarm, with cause and cure, or NULL: nothing is stuck. Valid
 * until the next call. */
const char *br_watch_why(struct br_watch *w);

/* ---- the parts of a step, for tests */

/* Counts the time; true when it is time to look at the partitions. */
bool br_watch_begin(struct br_watch *w, bool drained, int64_t now_ms);
/* A partition that is being read, and the next offset that is expected. */
void br_watch_see(
    struct br_watch *w, const char *topic, int32_t partition, int64_t next);
/* Partitions that were not seen are forgotten. Those to be asked about, or
 * NULL: none. The caller frees them; the question is out from now on. */
struct br_positions *br_watch_end(struct br_watch *w);
/* The question is answered; NULL: not at all. */
void br_watch_told(struct br_watch *w, const struct br_positions *range);

#endif
