/* utf8: well-formed UTF-8 as RFC 3629 has it. Pure. */
#ifndef BRIDGE_BASE_UTF8_H
#define BRIDGE_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Length of the character that `bytes` begins with, 0 if there is none or it
 * is malformed (overlong, a surrogate, above U+10FFFF, cut off). `*code` gets
 * its code point.
 */
size_t br_utf8_char(const void *bytes, size_t len, uint32_t *code);

#endif
