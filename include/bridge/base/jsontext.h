/*
 * jsontext: pieces of JSON text, appended to a buffer. Pure.
 *
 * Controls, quotes and backslashes are escaped, so that a text stays on one
 * line; all other characters stand as they are.
 */
#ifndef BRIDGE_BASE_JSONTEXT_H
#define BRIDGE_BASE_JSONTEXT_H

#include "bridge/base/buffer.h"
#include "bridge/base/slice.h"

/*
 * A string, or null for an absent slice. Bytes that are not UTF-8 become
 * U+FFFD each.
 */
void br_jsontext_string(struct br_buffer *out, struct br_slice text);

/* A string of the bytes in base64 with padding, or null. */
void br_jsontext_base64(struct br_buffer *out, struct br_slice bytes);

#endif
