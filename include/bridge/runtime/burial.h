/*
 * burial: dead letters from the engine to the DLQ topic, and back as settled.
 *
 * Kafka thread only; nothing blocks. A reference that is given to it stays
 * open, and its lane holds, until the brokers acknowledged the copy. While
 * the DLQ cannot be written everything is kept and tried again: after 1 s,
 * doubling to 30 s, with an alarm.
 */
#ifndef BRIDGE_RUNTIME_BURIAL_H
#define BRIDGE_RUNTIME_BURIAL_H

#include "bridge/config/config.h"
#include "bridge/core/event.h"
#include "bridge/runtime/alarms.h"

struct br_burial;

/* Called for every reference whose copy is acknowledged, or that was
 * forgotten (then `stored` is false). It belongs to the callee then. */
typedef void br_buried_fn(void *opaque, struct br_ref *ref, bool stored);

/* NULL and a reason for a property that librdkafka refuses. */
struct br_burial *br_burial_new(const struct br_config *config,
    struct br_alarms *alarms, br_buried_fn *buried, void *opaque,
    struct br_error *err);
void br_burial_free(struct br_burial *b, int timeout_ms);

/* Descriptor to poll, and to clear before br_burial_step(). */
int br_burial_fd(const struct br_burial *b);
void br_burial_wake_clear(struct br_burial *b);

/* Takes a dead reference. */
void br_burial_add(struct br_burial *b, struct br_ref *ref);

/* Results and what is due; returns when to call again (INT64_MAX: then). */
int64_t br_burial_step(struct br_burial *b, int64_t now_ms);

/* Forgets what belongs to partitions that are gone (see br_part). What is
 * already with the producer comes back with its result. */
void br_burial_forget_gone(struct br_burial *b);

#endif
