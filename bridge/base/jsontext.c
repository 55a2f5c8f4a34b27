/* jsontext: see the header. */
#include "bridge/base/jsontext.h"

#include "bridge/base/utf8.h"

static void
add_escape(struct br_buffer *out, uint8_t c)
{
	switch (c) {
	case '"':
		br_buffer_str(out, "\\\"");
		break;
	case '\\':
		br_buffer_str(out, "\\\\");
		break;
	case '\n':
		br_buffer_str(out, "\\n");
		break;
	case '\r':
		br_buffer_str(out, "\\r");
		break;
	case '\t':
		br_buffer_str(out, "\\t");
		break;
	default:
		br_buffer_format(out, "\\u%04x", c);
		break;
	}
}

void
br_jsontext_string(struct br_buffer *out, struct br_slice text)
{
	if (text.data == NULL) {
		br_buffer_str(out, "null");
		return;
	}
	br_buffer_add(out, "\"", 1);
	for (size_t i = 0; i < text.len;) {
		const uint8_t *p = text.data + i;
		uint32_t code = 0;
		size_t n = br_utf8_char(p, text.len - i, &code);

		if (n == 0)
			br_buffer_str(out, "\xef\xbf\xbd");
		else if (code < 0x20 || code == '"' || code == '\\' ||
		         code == 0x7f)
			add_escape(out, (uint8_t)code);
		else
			br_buffer_add(out, p, n);
		i += n != 0 ? n : 1;
	}
	br_buffer_add(out, "\"", 1);
}

void
br_jsontext_base64(struct br_buffer *out, struct br_slice bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                             "abcdefghijklmnopqrstuvwxyz0123456789+/";

	if (bytes.data == NULL) {
		br_buffer_str(out, "null");
		return;
	}
	br_buffer_add(out, "\"", 1);
	for (size_t i = 0; i < bytes.len; i += 3) {
		size_t n = bytes.len - i < 3 ? bytes.len - i : 3;
		uint32_t bits = (uint32_t)bytes.data[i] << 16;
		char four[4];

		bits |= n > 1 ? (uint32_t)bytes.data[i + 1] << 8 : 0;
		bits |= n > 2 ? bytes.data[i + 2] : 0;
		four[0] = digits[bits >> 18];
		four[1] = digits[bits >> 12 & 63];
		four[2] = n > 1 ? digits[bits >> 6 & 63] : '=';
		four[3] = n > 2 ? digits[bits & 63] : '=';
		br_buffer_add(out, four, sizeof(four));
	}
	br_buffer_add(out, "\"", 1);
}
