/*
 * prepare: what must be there before the first record is read.
 */
#ifndef BRIDGE_RUNTIME_PREPARE_H
#define BRIDGE_RUNTIME_PREPARE_H

#include <stdatomic.h>

#include "bridge/base/error.h"
#include "bridge/config/config.h"

/*
 * Waits up to kafka.start_timeout_ms for a broker and for the topics that are
 * named plainly; then looks at the DLQ topic: it must exist and must not be
 * compacted. Returns 0, or the exit status and a reason. Ends early with 0
 * when `stop` becomes true. Blocks in slices of at most a second.
 */
int br_prepare(const struct br_config *config, const atomic_bool *stop,
    struct br_error *err);

#endif
