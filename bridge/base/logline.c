/* logline: see the header. */
#include "bridge/base/logline.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bridge/base/utf8.h"

/* One more: what log puts before a line that follows a torn one. */
_Static_assert(
    BR_LOGLINE_BYTES + 1 <= PIPE_BUF, "a pipe takes it in one piece");

/* Kept free for `,"suppressed":` with 20 digits, and the end of the line. */
#define RESERVED 48

struct line {
	char *text;
	size_t len;
	size_t limit;
	bool json;
};

/* Appends all of it, or nothing and returns false. */
static bool
add(struct line *l, const char *bytes, size_t len)
{
	if (len > l->limit - l->len)
		return false;
	memcpy(l->text + l->len, bytes, len);
	l->len += len;
	return true;
}

static bool
add_str(struct line *l, const char *text)
{
	return add(l, text, strlen(text));
}

/* Characters that a terminal or a reader of lines would act upon. */
static bool
is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) ||
	       code == 0x200e || code == 0x200f ||
	       (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

/*
 * Writes what stands for the first character of `s` to `out`; returns the
 * length of that and sets the number of bytes it stands for.
 */
static size_t
escape(const char *s, size_t len, char out[8], size_t *used)
{
	static const char plain[] = "\"\\\n\r\t", letter[] = "\"\\nrt";
	uint32_t code = 0;
	const char *found;
	size_t n = br_utf8_char(s, len, &code);

	*used = n != 0 ? n : 1;
	if (n == 0)
		return (size_t)snprintf(
		    out, 8, "\\\\x%02x", (unsigned int)(unsigned char)*s);
	found = n == 1 ? memchr(plain, (int)code, sizeof(plain) - 1) : NULL;
	if (found != NULL) {
		out[0] = '\\';
		out[1] = letter[found - plain];
		return 2;
	}
	if (is_control(code))
		return (size_t)snprintf(out, 8, "\\u%04x", (unsigned int)code);
	memcpy(out, s, n);
	return n;
}

/* Appends it in quotes, cut where it has to be. */
static bool
add_quoted(struct line *l, const char *s, size_t len)
{
	size_t end = l->limit, used;
	char piece[8];

	if (end - l->len > BR_LOGLINE_VALUE_BYTES)
		end = l->len + BR_LOGLINE_VALUE_BYTES;
	if (end - l->len < strlen("\"...\""))
		return false;
	l->text[l->len++] = '"';
	for (; len > 0; s += used, len -= used) {
		size_t n = escape(s, len, piece, &used);

		if (n + strlen("...\"") > end - l->len) {
			memcpy(l->text + l->len, "...", 3);
			l->len += 3;
			break;
		}
		memcpy(l->text + l->len, piece, n);
		l->len += n;
	}
	l->text[l->len++] = '"';
	return true;
}

static bool
is_bare(const char *s, size_t len)
{
	if (len == 0 || len > BR_LOGLINE_VALUE_BYTES)
		return false;
	for (size_t i = 0; i < len; i++)
		if (s[i] <= ' ' || s[i] > '~' || strchr("\"=\\", s[i]) != NULL)
			return false;
	return true;
}

static bool
add_text(struct line *l, const char *s, size_t len)
{
	if (!l->json && is_bare(s, len) && add(l, s, len))
		return true;
	return add_quoted(l, s, len);
}

static bool
add_real(struct line *l, double value)
{
	char text[32];

	if (!isfinite(value) && l->json)
		return add_str(l, "null");
	(void)snprintf(text, sizeof(text), "%.15g", value);
	return add_str(l, text);
}

static bool
add_value(struct line *l, const struct br_kv *kv)
{
	char text[24];

	switch (kv->kind) {
	case BR_KV_END:
		return false;
	case BR_KV_STR:
	case BR_KV_BYTES:
		return kv->str != NULL && add_text(l, kv->str, kv->len);
	case BR_KV_INT:
		(void)snprintf(text, sizeof(text), "%" PRId64, kv->num);
		return add_str(l, text);
	case BR_KV_REAL:
		return add_real(l, kv->real);
	}
	return false;
}

static bool
add_key(struct line *l, const char *key)
{
	if (l->json)
		return add_str(l, ",\"") && add_str(l, key) &&
		       add_str(l, "\":");
	return add_str(l, " ") && add_str(l, key) && add_str(l, "=");
}

/* A field that does not fit leaves no trace; a later, shorter one may fit. */
static void
add_field(struct line *l, const struct br_kv *kv)
{
	size_t before = l->len;

	if (!add_key(l, kv->key) || !add_value(l, kv))
		l->len = before;
}

const char *
br_level_name(enum br_level level)
{
	switch (level) {
	case BR_DEBUG:
		return "debug";
	case BR_INFO:
		return "info";
	case BR_WARN:
		return "warn";
	case BR_ERROR:
		return "error";
	}
	return "error";
}

static void
add_head(struct line *l, int64_t wall_ms, enum br_level level, const char *msg)
{
	time_t seconds = (time_t)(wall_ms / 1000);
	char text[128];
	struct tm t;

	if (gmtime_r(&seconds, &t) == NULL)
		t = (struct tm){.tm_mday = 1};
	(void)snprintf(text, sizeof(text),
	    l->json ? "{\"ts\":\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\","
	              "\"level\":\"%s\",\"msg\":"
	            : "ts=%04d-%02d-%02dT%02d:%02d:%02d.%03dZ level=%s msg=",
	    t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min,
	    t.tm_sec, (int)(wall_ms % 1000), br_level_name(level));
	(void)add_str(l, text);
	(void)add_quoted(l, msg, strlen(msg));
}

size_t
br_logline_compose(char out[BR_LOGLINE_BYTES], bool json, int64_t wall_ms,
    enum br_level level, const char *msg, const struct br_kv *fields,
    uint64_t suppressed)
{
	struct line l = {out, 0, BR_LOGLINE_BYTES - RESERVED, json};
	char count[24];

	add_head(&l, wall_ms > 0 ? wall_ms : 0, level, msg);
	for (; fields->kind != BR_KV_END; fields++)
		add_field(&l, fields);

	l.limit = BR_LOGLINE_BYTES;
	if (suppressed != 0) {
		(void)snprintf(count, sizeof(count), "%" PRIu64, suppressed);
		(void)(add_key(&l, "suppressed") && add_str(&l, count));
	}
	(void)add_str(&l, json ? "}\n" : "\n");
	return l.len;
}
