/*
 * registry_ask: one question to a schema registry, from the id to the texts
 * of the schema and of all that it refers to. Blocks in the fetch function it
 * is given, keeps nothing, and knows no HTTP library: any thread.
 *
 * Confluent's API (also as Karapace and Apicurio's ccompat speak it) for
 * content ids and GUIDs, Apicurio's own for global ids. Only the HTTP status
 * and the members `schema`, `schemaType` and `references` are looked at, and
 * only `schema` must be there.
 */
#ifndef BRIDGE_SOURCE_REGISTRY_ASK_H
#define BRIDGE_SOURCE_REGISTRY_ASK_H

#include "bridge/base/buffer.h"
#include "bridge/config/config.h"
#include "bridge/source/registry.h"

struct br_registry_fetch {
	/* One GET: the status and the body (into an empty buffer), or 0 and
	 * a reason when there was no answer. */
	int (*get)(void *opaque, const char *url, struct br_buffer *body,
	    struct br_error *err);
	void *opaque;
};

/* Is there a registry to ask? */
bool br_registry_configured(const struct br_config_registry *config);

/* Is there one that knows Apicurio's global ids? */
bool br_registry_has_global(const struct br_config_registry *config);

/* Asks, at each of the configured addresses in turn. Never NULL. */
struct br_registry_reply *br_registry_look_up(
    const struct br_config_registry *config,
    const struct br_registry_fetch *fetch, const struct br_schema_key *key);

#endif
