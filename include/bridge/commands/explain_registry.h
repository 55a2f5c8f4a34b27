/*
 * explain_registry: schemas for one record, asked for on the spot.
 *
 * Where `run` asks on a thread of its own and reads on, this blocks: one
 * person waits for one answer. Main thread.
 */
#ifndef BRIDGE_COMMANDS_EXPLAIN_REGISTRY_H
#define BRIDGE_COMMANDS_EXPLAIN_REGISTRY_H

#include "bridge/base/error.h"
#include "bridge/config/config.h"
#include "bridge/source/registry.h"

struct br_explain_registry;

/* Does the configuration name a registry? */
bool br_explain_registry_wanted(const struct br_config *config);

/* `config` must outlive it. NULL and a reason for an unusable CA file. */
struct br_explain_registry *br_explain_registry_new(
    const struct br_config *config, struct br_error *err);
void br_explain_registry_free(struct br_explain_registry *r); /* NULL: fine */

/* What has been learnt so far; it asks by itself for what it lacks. */
struct br_registry *br_explain_registry_schemas(struct br_explain_registry *r);

/*
 * Asks again for what is not known yet, after the pause that it wants. False
 * when that is of no use now: the registry does not answer.
 */
bool br_explain_registry_again(struct br_explain_registry *r);

/* Why not; never NULL. */
const char *br_explain_registry_trouble(const struct br_explain_registry *r);

#endif
