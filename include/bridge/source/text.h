/* text: small readings of bytes that came as text. Pure, any thread. */
#ifndef BRIDGE_SOURCE_TEXT_H
#define BRIDGE_SOURCE_TEXT_H

#include "bridge/base/slice.h"
#include "bridge/source/arena.h"

/* Well-formed UTF-8 from end to end (also when empty). */
bool br_text_is_utf8(struct br_slice text);

/* Holds one of U+0000..U+001F or U+007F. */
bool br_text_has_control(struct br_slice text);

/* Printable ASCII only: what HTTP carries in a field value. */
bool br_text_is_printable(struct br_slice text);

bool br_text_begins(struct br_slice text, const char *prefix);

/*
 * What Java prints for an object it cannot print: `Struct{`, `[B@`,
 * `java.nio.HeapByteBuffer[`. A converter wrote it, and the data is lost.
 */
bool br_text_is_java(struct br_slice text);

/*
 * A whole number in any of its spellings (5, 5.0, 5e0, 1E+1), saturated at
 * the ends of int64_t. False when it is not a number or has a fraction.
 */
bool br_text_integer(struct br_slice text, int64_t *number);

/*
 * `1E+3`, as Java prints a BigDecimal, in plain digits; anything else, and
 * what would be longer than 64 digits, as it is.
 */
struct br_slice br_text_plain(struct br_arena *arena, struct br_slice text);

/* 16 bytes as a UUID of 36 characters. */
struct br_slice br_text_uuid(struct br_arena *arena, const uint8_t bytes[16]);

#endif
