/*
 * lookup: the thread that asks the schema registry, and what the Kafka thread
 * sees of it.
 *
 * All calls but the thread's own are for the Kafka thread. Questions go into
 * a queue, answers come back through another one and wake the Kafka thread.
 */
#ifndef BRIDGE_RUNTIME_LOOKUP_H
#define BRIDGE_RUNTIME_LOOKUP_H

#include "bridge/config/config.h"
#include "bridge/runtime/alarms.h"
#include "bridge/source/registry.h"

struct br_lookup;

/*
 * Starts the thread. It writes to `wake_fd` when there is an answer. NULL and
 * a reason when the rules of the registry are unusable.
 */
struct br_lookup *br_lookup_new(const struct br_config *config,
    struct br_alarms *alarms, int wake_fd, struct br_error *err);

/* Cuts off what is under way and joins the thread. */
void br_lookup_free(struct br_lookup *l);

/* The schemas that are known; lives as long as `l`. NULL for NULL. */
struct br_registry *br_lookup_registry(struct br_lookup *l);

/*
 * Takes answers, asks again what is due, sets the alarm registry_down.
 * Returns when to call again, INT64_MAX: not. `l` may be NULL.
 */
int64_t br_lookup_step(struct br_lookup *l, int64_t now_ms);

#endif
