/* hash: see the header. */
#include "bridge/base/hash.h"

#include <openssl/evp.h>

#include <stdlib.h>

void
br_sha256_hex(const void *data, size_t len, char out[BR_SHA256_HEX])
{
	static const char digit[] = "0123456789abcdef";
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned int n = 0;

	if (EVP_Digest(data, len, sum, &n, EVP_sha256(), NULL) != 1)
		abort();
	for (unsigned int i = 0; i < n; i++) {
		out[2 * i] = digit[sum[i] >> 4];
		out[2 * i + 1] = digit[sum[i] & 15];
	}
	out[2 * n] = '\0';
}
