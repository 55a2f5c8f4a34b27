/* answer: see the header. */
#include "bridge/http/answer.h"

#include <string.h>
#include <strings.h>

#include "bridge/base/slice.h"
#include "bridge/core/retry_after.h"

#define STATUS_FIRST 100
#define STATUS_SWITCHING 101
#define STATUS_FIRST_FINAL 200
#define STATUS_RESET_CONTENT 205

/* Of an interim answer nothing counts. */
static void
forget(struct br_answer *a)
{
	a->head_bytes = 0;
	a->head_complete = false;
	a->status = 0;
	a->end = BR_ANSWER_OPEN;
	a->length_zero = false;
	a->transfer_coded = false;
	a->retry_after = (struct br_answer_field){0};
	a->date = (struct br_answer_field){0};
	a->location_host[0] = '\0';
	a->body_bytes = 0;
	a->body_len = 0;
	a->text_len = 0;
}

void
br_answer_reset(struct br_answer *a)
{
	forget(a);
	a->text = NULL;
}

/* Without the line end and the blanks around it. */
static struct br_slice
trim(const char *text, size_t len)
{
	while (len > 0 && strchr(" \t\r\n", text[len - 1]) != NULL &&
	       text[len - 1] != '\0')
		len--;
	while (len > 0 && (*text == ' ' || *text == '\t')) {
		text++;
		len--;
	}
	return (struct br_slice){(const uint8_t *)text, len};
}

/* True when the line is a header of this name, with its value. */
static bool
is_field(const char *line, size_t len, const char *name, struct br_slice *value)
{
	size_t n = strlen(name);

	if (len <= n || line[n] != ':' || strncasecmp(line, name, n) != 0)
		return false;
	*value = trim(line + n + 1, len - n - 1);
	return true;
}

static void
keep(struct br_answer_field *field, struct br_slice value)
{
	if (field->given) {
		if (value.len != field->len ||
		    memcmp(value.data, field->value, value.len) != 0)
			field->usable = false;
		return;
	}
	field->given = true;
	if (value.len > sizeof(field->value))
		return;
	memcpy(field->value, value.data, value.len);
	field->len = value.len;
	field->usable = true;
}

/* Host and port of an absolute URL. */
static void
keep_host(struct br_answer *a, struct br_slice url)
{
	const char *at = (const char *)url.data, *end = at + url.len;
	const char *host = memmem(at, url.len, "://", 3);
	size_t n = 0;

	if (host == NULL)
		return;
	host += 3;
	for (at = host; at < end && strchr("/?#", *at) == NULL; at++) {
		if (*at == '@')
			host = at + 1;
	}
	for (; host < at && n + 1 < sizeof(a->location_host); host++)
		a->location_host[n++] = *host;
	a->location_host[n] = '\0';
}

static void
take_field(struct br_answer *a, const char *line, size_t len)
{
	struct br_slice value;

	/* Most headers are none of these: one look at the first letter. */
	switch (line[0] | 0x20) {
	case 'r':
		if (is_field(line, len, "Retry-After", &value))
			keep(&a->retry_after, value);
		return;
	case 'd':
		if (is_field(line, len, "Date", &value))
			keep(&a->date, value);
		return;
	case 'l':
		if (is_field(line, len, "Location", &value))
			keep_host(a, value);
		return;
	case 'c':
		if (is_field(line, len, "Content-Length", &value))
			a->length_zero = value.len == 1 && value.data[0] == '0';
		return;
	case 't':
		if (is_field(line, len, "Transfer-Encoding", &value))
			a->transfer_coded = true;
		return;
	default:
		return;
	}
}

/* The blank line of a header block. False: the transfer ends here. */
static bool
end_block(struct br_answer *a, int status)
{
	size_t head_bytes = a->head_bytes;

	if (status < STATUS_FIRST) {
		a->end = BR_ANSWER_BAD;
		return false;
	}
	if (status != STATUS_SWITCHING && status < STATUS_FIRST_FINAL) {
		forget(a); /* but its length */
		a->head_bytes = head_bytes;
		return true;
	}
	a->head_complete = true;
	a->status = status;
	/* After these comes nothing, or nothing that we would understand; but
	 * libcurl would wait for it. */
	if (status == STATUS_SWITCHING ||
	    (status == STATUS_RESET_CONTENT &&
	        (!a->length_zero || a->transfer_coded))) {
		a->end = BR_ANSWER_ENOUGH;
		return false;
	}
	return true;
}

bool
br_answer_line(struct br_answer *a, const char *line, size_t len, int status)
{
	a->head_bytes += len;
	if (a->head_bytes > BR_ANSWER_HEAD_MAX) {
		a->end = BR_ANSWER_BAD;
		return false;
	}
	/* Trailers come after the body and change nothing. */
	if (a->head_complete || len == 0)
		return true;
	if (line[0] == '\n' || (line[0] == '\r' && len <= 2))
		return end_block(a, status);
	take_field(a, line, len);
	return true;
}

bool
br_answer_body(struct br_answer *a, const char *bytes, size_t len)
{
	size_t room = sizeof(a->body) - a->body_len;
	size_t kept = len < room ? len : room;

	if (kept > 0)
		memcpy(a->body + a->body_len, bytes, kept);
	a->body_len += kept;
	if (a->text != NULL && len > 0) {
		room = BR_ANSWER_BODY_MAX - a->text_len;
		kept = len < room ? len : room;
		memcpy(a->text + a->text_len, bytes, kept);
		a->text_len += kept;
	}
	a->body_bytes += len;
	if (a->body_bytes > BR_ANSWER_BODY_MAX) {
		a->end = BR_ANSWER_ENOUGH;
		return false;
	}
	return true;
}

/* Of "HTTP/1.1 200 OK", or 0. */
static int
status_of(const char *line, size_t len)
{
	int status = 0;

	if (len < 12 || memcmp(line, "HTTP/1.", 7) != 0 || line[8] != ' ')
		return 0;
	for (size_t i = 9; i < 12; i++) {
		if (line[i] < '0' || line[i] > '9')
			return 0;
		status = status * 10 + (line[i] - '0');
	}
	return status;
}

void
br_answer_late(struct br_answer *a, const char *bytes, size_t len)
{
	const char *end;
	int status = status_of(bytes, len);

	if (status == 0)
		return;
	while (!a->head_complete && a->end == BR_ANSWER_OPEN &&
	       (end = memchr(bytes, '\n', len)) != NULL) {
		size_t n = (size_t)(end - bytes) + 1;

		if (status_of(bytes, n) != 0)
			status = status_of(bytes, n);
		(void)br_answer_line(a, bytes, n, status);
		bytes += n;
		len -= n;
	}
	if (a->head_complete && len > 0)
		(void)br_answer_body(a, bytes, len);
}

static struct br_slice
field_value(const struct br_answer_field *field)
{
	return (struct br_slice){(const uint8_t *)field->value, field->len};
}

bool
br_answer_retry_after(
    const struct br_answer *a, int64_t wall_ms, int64_t *wait_ms)
{
	int64_t now_ms;

	if (!a->head_complete || !a->retry_after.usable)
		return false;
	if (!a->date.usable ||
	    !br_http_date_parse(field_value(&a->date), wall_ms, &now_ms))
		now_ms = wall_ms;
	return br_retry_after_parse(
	    field_value(&a->retry_after), now_ms, wait_ms);
}
