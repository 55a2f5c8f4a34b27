/* crc32c: the CRC of Castagnoli (RFC 3720, appendix B.4). Pure. */
#ifndef BRIDGE_CORE_CRC32C_H
#define BRIDGE_CORE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC of what gave `crc`, followed by these bytes; begin with 0. */
uint32_t br_crc32c(uint32_t crc, const void *bytes, size_t len);

#endif
