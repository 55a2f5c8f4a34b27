/* utf8: see the header. */
#include "bridge/base/utf8.h"

size_t
br_utf8_char(const void *bytes, size_t len, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const uint8_t *s = bytes;
	size_t n;

	if (len == 0)
		return 0;
	if (s[0] < 0x80) {
		*code = s[0];
		return 1;
	}
	n = s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (n == 0 || n > len || s[0] > 0xf4)
		return 0;
	*code = s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3fu);
	}
	if (*code < least[n] || *code > 0x10ffff)
		return 0;
	return *code >= 0xd800 && *code <= 0xdfff ? 0 : n;
}
