/* hash: digests (OpenSSL). core/ gets them as values. Any thread. */
#ifndef BRIDGE_BASE_HASH_H
#define BRIDGE_BASE_HASH_H

#include <stddef.h>

#define BR_SHA256_HEX 65

/* SHA-256 (FIPS 180-4) as 64 lower-case hex digits and a NUL. */
void br_sha256_hex(const void *data, size_t len, char out[BR_SHA256_HEX]);

#endif
