/* explain_file: see the header. */
#include "bridge/commands/explain_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bridge/base/buffer.h"
#include "bridge/source/decimal.h"
#include "bridge/source/json.h"

struct br_explain_file {
	const char *name;
	struct br_buffer bytes; /* what was read; empty for a given text */
	struct br_slice text;
	enum br_json_kind kind; /* ARRAY, OBJECT; NONE: one record a line */
	struct br_json_iter list;
	size_t at;             /* of the next line */
	size_t count;          /* of lines, or of records */
	bool any;              /* there was one */
	struct br_arena arena; /* of the last record */
	struct br_header *headers;
};

/* Kind of the whole text, when it is one JSON value. */
static void
find_kind(struct br_explain_file *f)
{
	struct br_json_value value;
	struct br_json_fault fault;

	f->kind = BR_JSON_NONE;
	if (br_json_check(f->text, NULL, &value, &fault))
		f->kind = value.kind;
	if (f->kind == BR_JSON_ARRAY)
		br_json_begin(&f->list, value.text, NULL);
}

struct br_explain_file *
br_explain_file_text(const char *name, const char *text, size_t len)
{
	struct br_explain_file *f = calloc(1, sizeof(*f));

	if (f == NULL)
		abort();
	f->name = name;
	f->text = (struct br_slice){(const uint8_t *)text, len};
	find_kind(f);
	return f;
}

static bool
read_all(FILE *in, struct br_buffer *out)
{
	char piece[65536];
	size_t n;

	br_buffer_str(out, "");
	while ((n = fread(piece, 1, sizeof(piece), in)) > 0)
		br_buffer_add(out, piece, n);
	return ferror(in) == 0;
}

struct br_explain_file *
br_explain_file_open(const char *path, struct br_error *err)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *in = standard ? stdin : fopen(path, "re");
	struct br_buffer bytes = {0};
	struct br_explain_file *f;
	bool ok;

	errno = 0;
	ok = in != NULL && read_all(in, &bytes);
	if (!ok)
		(void)br_fail(err, "%s: %s", standard ? "(stdin)" : path,
		    strerror(errno != 0 ? errno : ENOENT));
	if (in != NULL && !standard)
		(void)fclose(in);
	if (!ok) {
		br_buffer_free(&bytes);
		return NULL;
	}
	f = br_explain_file_text(
	    standard ? "(stdin)" : path, bytes.data, bytes.len);
	f->bytes = bytes;
	return f;
}

void
br_explain_file_free(struct br_explain_file *f)
{
	if (f == NULL)
		return;
	br_buffer_free(&f->bytes);
	br_arena_free(&f->arena);
	free(f->headers);
	free(f);
}

/* ---- one record */

/* NUL-terminated in the arena. */
static const char *
text_of(struct br_explain_file *f, const struct br_json_value *value)
{
	struct br_slice text;
	uint8_t *copy;

	if (value == NULL || value->kind != BR_JSON_STRING ||
	    !br_json_unquote(&f->arena, value, &text))
		return NULL;
	copy = br_arena_take(&f->arena, text.len + 1);
	if (text.len > 0)
		memcpy(copy, text.data, text.len);
	copy[text.len] = '\0';
	return (const char *)copy;
}

/* Null, or bytes in base64; an absent member is null. */
static bool
bytes_of(struct br_explain_file *f, const struct br_json_value *value,
    const char *what, struct br_slice *out, struct br_error *err)
{
	struct br_slice text;

	*out = (struct br_slice){NULL, 0};
	if (value == NULL || value->kind == BR_JSON_NULL)
		return true;
	if (value->kind != BR_JSON_STRING)
		return br_fail(err, "%s is neither null nor a string", what);
	if (!br_json_unquote(&f->arena, value, &text) ||
	    !br_base64_padded(&f->arena, text, out))
		return br_fail(err, "%s is not base64", what);
	/* An empty value is there, unlike a null. */
	if (out->data == NULL)
		*out = br_slice_str("");
	return true;
}

static bool
number_of(const struct br_json_value *value, const char *what, int64_t max,
    int64_t *out, struct br_error *err)
{
	char text[24], *end;

	if (value == NULL || value->kind == BR_JSON_NULL)
		return true;
	if (value->kind != BR_JSON_NUMBER || value->text.len >= sizeof(text))
		return br_fail(err, "%s is not a whole number", what);
	memcpy(text, value->text.data, value->text.len);
	text[value->text.len] = '\0';
	errno = 0;
	*out = strtoll(text, &end, 10);
	if (*end != '\0' || errno != 0 || *out > max || *out < -1)
		return br_fail(err,
		    "%s is not a whole number from -1 to %" PRId64, what, max);
	return true;
}

/* One [name, value] of the headers. */
static bool
read_header(struct br_explain_file *f, const struct br_json_value *pair,
    struct br_header *out, struct br_error *err)
{
	struct br_json_iter it;
	struct br_json_member name, value, more;

	br_json_begin(&it, pair->text, NULL);
	if (pair->kind != BR_JSON_ARRAY || !br_json_next(&it, &name) ||
	    !br_json_next(&it, &value) || br_json_next(&it, &more))
		return br_fail(
		    err, "headers: each is a list [name, base64 or null]");
	out->name = text_of(f, &name.value);
	if (out->name == NULL)
		return br_fail(err, "headers: a name is not a string");
	return bytes_of(
	    f, &value.value, "the value of a header", &out->value, err);
}

static bool
read_headers(struct br_explain_file *f, const struct br_json_value *list,
    struct br_record *r, struct br_error *err)
{
	struct br_json_iter it;
	struct br_json_member pair;
	size_t room = 0;

	if (list == NULL || list->kind == BR_JSON_NULL)
		return true;
	if (list->kind != BR_JSON_ARRAY)
		return br_fail(err, "headers is not a list");
	br_json_begin(&it, list->text, NULL);
	while (br_json_next(&it, &pair)) {
		if (r->header_count == room) {
			room = room * 2 + 16;
			f->headers =
			    reallocarray(f->headers, room, sizeof(*f->headers));
			if (f->headers == NULL)
				abort();
		}
		if (!read_header(
		        f, &pair.value, &f->headers[r->header_count], err))
			return false;
		r->header_count++;
	}
	r->headers = f->headers;
	return true;
}

static bool
read_kind(struct br_explain_file *f, const struct br_json_value *value,
    struct br_record *r, struct br_error *err)
{
	const char *kind = text_of(f, value);

	if (r->timestamp_ms < 0)
		return true;
	r->time_kind = BR_TIME_CREATE;
	if (value == NULL || (kind != NULL && strcmp(kind, "create") == 0))
		return true;
	r->time_kind = BR_TIME_APPEND;
	return (kind != NULL && strcmp(kind, "append") == 0) ||
	       br_fail(
	           err, "timestamp_type is neither \"create\" nor \"append\"");
}

static bool
read_object(struct br_explain_file *f, struct br_slice text,
    struct br_record *r, struct br_error *err)
{
	struct br_json_object o;
	struct br_json_fault fault;
	const struct br_json_value *value;
	int64_t partition = 0;

	if (!br_json_read(text, NULL, &o, &fault))
		return br_fail(err, "not a record: %s", fault.what);
	*r = (struct br_record){.timestamp_ms = -1};
	r->topic = text_of(f, br_json_get(&o, "topic"));
	if (r->topic == NULL || r->topic[0] == '\0')
		return br_fail(err, "topic is not there, or not a string");
	value = br_json_get(&o, "value");
	if (value == NULL)
		return br_fail(
		    err, "value is not there (a string in base64, or null)");
	if (!number_of(br_json_get(&o, "partition"), "partition", INT32_MAX,
	        &partition, err) ||
	    !number_of(br_json_get(&o, "offset"), "offset", INT64_MAX,
	        &r->offset, err) ||
	    !number_of(br_json_get(&o, "timestamp"), "timestamp", INT64_MAX,
	        &r->timestamp_ms, err) ||
	    !bytes_of(f, br_json_get(&o, "key"), "key", &r->key, err) ||
	    !bytes_of(f, value, "value", &r->value, err) ||
	    !read_headers(f, br_json_get(&o, "headers"), r, err))
		return false;
	r->partition = (int32_t)partition;
	return read_kind(f, br_json_get(&o, "timestamp_type"), r, err);
}

/* ---- one after the other */

/* The next line that is not blank, with its number; false at the end. */
static bool
next_line(struct br_explain_file *f, struct br_slice *line)
{
	while (f->at < f->text.len) {
		const uint8_t *from = f->text.data + f->at;
		size_t rest = f->text.len - f->at, blank = 0;
		const uint8_t *end = memchr(from, '\n', rest);

		*line = (struct br_slice){
		    from, end != NULL ? (size_t)(end - from) : rest};
		f->at += line->len + (end != NULL);
		f->count++;
		while (blank < line->len &&
		       (from[blank] == ' ' || from[blank] == '\t' ||
		           from[blank] == '\r'))
			blank++;
		if (blank < line->len)
			return true;
	}
	return false;
}

static bool
next_text(struct br_explain_file *f, struct br_slice *text)
{
	struct br_json_member member;

	switch (f->kind) {
	case BR_JSON_ARRAY:
		if (!br_json_next(&f->list, &member))
			return false;
		*text = member.value.text;
		f->count++;
		return true;
	case BR_JSON_NONE:
		return next_line(f, text);
	default:
		*text = f->text;
		return f->count++ == 0;
	}
}

enum br_explain_file_result
br_explain_file_next(
    struct br_explain_file *f, struct br_record *record, struct br_error *err)
{
	struct br_slice text;
	struct br_error why;

	if (!next_text(f, &text)) {
		if (f->any)
			return BR_EXPLAIN_FILE_END;
		(void)br_fail(err, "%s: no record in it", f->name);
		return BR_EXPLAIN_FILE_FAULT;
	}
	f->any = true;
	br_arena_reset(&f->arena);
	if (read_object(f, text, record, &why))
		return BR_EXPLAIN_FILE_RECORD;
	if (f->kind == BR_JSON_NONE)
		(void)br_fail(
		    err, "%s:%zu: %.900s", f->name, f->count, why.text);
	else
		(void)br_fail(
		    err, "%s: record %zu: %.900s", f->name, f->count, why.text);
	return BR_EXPLAIN_FILE_FAULT;
}
