/*
 * names: which header, or member of an envelope-placed value, means what.
 * Built once from the configuration, immutable, any thread may ask.
 */
#ifndef BRIDGE_SOURCE_NAMES_H
#define BRIDGE_SOURCE_NAMES_H

#include "bridge/config/config.h"
#include "bridge/core/record.h"

/* Several names for one thing stand side by side, the preferred one first. */
enum br_slot {
	BR_SLOT_NONE = -1,
	BR_SLOT_ID,
	BR_SLOT_KEY, /* outbox.idempotency.key first, then what rows call it */
	BR_SLOT_KEY_ALIAS,
	BR_SLOT_KEY_END = BR_SLOT_KEY_ALIAS + 3,
	BR_SLOT_AGGREGATE = BR_SLOT_KEY_END,
	BR_SLOT_AGGREGATE_END = BR_SLOT_AGGREGATE + 2,
	BR_SLOT_URL = BR_SLOT_AGGREGATE_END,
	BR_SLOT_URL_END = BR_SLOT_URL + 2,
	BR_SLOT_RETRIES = BR_SLOT_URL_END,
	BR_SLOT_RETRIES_END = BR_SLOT_RETRIES + 2,
	BR_SLOT_TRACEPARENT = BR_SLOT_RETRIES_END,
	BR_SLOT_TRACESTATE,
	BR_SLOT_TRACING, /* the column tracingspancontext */
	BR_SLOT_CONTENT_TYPE,
	BR_SLOT_OP,
	BR_SLOT_OLD_KEY, /* Debezium: the row's key was changed to this one */
	BR_SLOT_CLOUD_SUBJECT,
	BR_SLOT_CLOUD_PARTITION,
	BR_SLOT_CLOUD_TIME,
	BR_SLOT_CLOUD_TRACEPARENT,
	BR_SLOT_CLOUD_TRACESTATE,
	BR_SLOT_CLOUD, /* of CloudEvents in binary mode: all four */
	BR_SLOT_CLOUD_END = BR_SLOT_CLOUD + 4,
	BR_SLOT_REGISTRY = BR_SLOT_CLOUD_END, /* of a schema registry: any */
	BR_SLOT_REGISTRY_END = BR_SLOT_REGISTRY + 3,
	BR_SLOT_FIXED = BR_SLOT_REGISTRY_END /* configured ones follow */
};

struct br_names;

/* Keeps pointers into `source`. Never NULL. */
struct br_names *br_names_new(const struct br_config_source *source);
void br_names_free(struct br_names *n);

/* Number of slots, those of configured names included. */
size_t br_names_slots(const struct br_names *n);

/* The slot of a name, or BR_SLOT_NONE; `*listed`: it is an envelope field. */
int br_names_find(const struct br_names *n, struct br_slice name, bool *listed);

/* A name that the slot has, the preferred one of the fixed. For messages. */
const char *br_names_name(const struct br_names *n, int slot);

/* Slots of source.type_headers, in their order. */
const int *br_names_types(const struct br_names *n, size_t *count);

/*
 * Fills `at` (one pointer per slot) with the last header of each name, NULL
 * where the record has none.
 */
void br_names_collect(const struct br_names *n, const struct br_record *r,
    const struct br_slice **at);

#endif
