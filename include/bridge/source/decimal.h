/*
 * decimal: numbers as Kafka Connect's JSON converter writes them: base64 of
 * a big-endian two's complement integer, its scale beside it or nowhere.
 * Pure, any thread.
 */
#ifndef BRIDGE_SOURCE_DECIMAL_H
#define BRIDGE_SOURCE_DECIMAL_H

#include "bridge/base/slice.h"
#include "bridge/source/arena.h"

/*
 * Decodes standard base64 with its padding; never in parts. False when it is
 * none. An empty text is an empty result.
 */
bool br_base64_padded(
    struct br_arena *arena, struct br_slice text, struct br_slice *out);

/*
 * The integer in `bytes` times ten to the power of -scale, in plain digits.
 * False for no bytes, more than 64 of them, or a scale beyond ±128.
 */
bool br_decimal_text(struct br_arena *arena, struct br_slice bytes,
    int64_t scale, struct br_slice *out);

#endif
