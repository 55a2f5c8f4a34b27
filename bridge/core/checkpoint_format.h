/*
 * checkpoint_format: what the writer and the reader of checkpoints agree on
 * beyond the header, and nobody else includes.
 */
#ifndef BRIDGE_CORE_CHECKPOINT_FORMAT_H
#define BRIDGE_CORE_CHECKPOINT_FORMAT_H

#include "bridge/core/checkpoint.h"

#define BR_CHECKPOINT_PREFIX "ob1."
#define BR_CHECKPOINT_PREFIX_CHARS 4
#define BR_CHECKPOINT_CRC_BYTES 4
/* The year 36812: sums of seconds below it cannot overflow. */
#define BR_CHECKPOINT_DUE_MAX_S (INT64_C(1) << 40)

/* What an entry of the retries is relative to. */
struct br_checkpoint_before {
	int64_t next;  /* lowest offset that it can have */
	int64_t due_s; /* of the last one that had a due time */
};

/* Checksum of what the metadata belongs to: that of its bytes begins here. */
uint32_t br_checkpoint_crc(const struct br_checkpoint_id *id);

#endif
