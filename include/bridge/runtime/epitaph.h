/*
 * epitaph: the `outbox.dlq.*` headers of a dead letter: why, where from, how
 * often tried. UTF-8 text; never a secret, never a URL's path or query.
 *
 * Kafka thread only; what it writes lives until the next call.
 */
#ifndef BRIDGE_RUNTIME_EPITAPH_H
#define BRIDGE_RUNTIME_EPITAPH_H

#include "bridge/config/config.h"
#include "bridge/core/event.h"

#define BR_EPITAPH_HEADERS 28

struct br_epitaph;

struct br_epitaph_style {
	bool minimal;           /* the record is near the size limit */
	bool replace_timestamp; /* the broker refuses the original one */
	bool truncated;         /* the value is cut */
};

struct br_epitaph *br_epitaph_new(const struct br_config *config);
void br_epitaph_free(struct br_epitaph *e);

/* Fills `out` (BR_EPITAPH_HEADERS of them) and returns how many. */
size_t br_epitaph_write(struct br_epitaph *e, const struct br_ref *ref,
    const struct br_epitaph_style *style, struct br_header *out);

/* Reason code of a dead reference. */
const char *br_epitaph_reason(const struct br_ref *ref);

#endif
