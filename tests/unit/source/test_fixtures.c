/*
 * Every captured record (tests/fixtures), in auto and in the format of its
 * connector, against what tests/fixtures/expect.py derives from the rows that
 * were inserted.
 */
#include "source_support.h"

#include "bridge/base/hash.h"
#include "bridge/source/decimal.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>

#define COLUMNS 15

static struct br_arena arena;

static struct br_slice
from_base64(const json_t *value)
{
	struct br_slice out = {NULL, 0};

	if (json_is_null(value))
		return out;
	assert_true(json_is_string(value));
	assert_true(br_base64_padded(
	    &arena, br_slice_str(json_string_value(value)), &out));
	return out;
}

/* A record of a .jsonl line; `headers` has room for 32. */
static struct br_record
read_record(const json_t *line, struct br_header *headers)
{
	const json_t *list = json_object_get(line, "headers");
	struct br_record r = {.headers = headers};
	size_t i;
	json_t *pair;

	r.topic = json_string_value(json_object_get(line, "topic"));
	r.offset = json_integer_value(json_object_get(line, "offset"));
	r.key = from_base64(json_object_get(line, "key"));
	r.value = from_base64(json_object_get(line, "value"));
	assert_true(json_array_size(list) <= 32);
	json_array_foreach(list, i, pair)
	{
		headers[i].name = json_string_value(json_array_get(pair, 0));
		headers[i].value = from_base64(json_array_get(pair, 1));
		r.header_count = i + 1;
	}
	return r;
}

static void
assert_same(const char *place, const char *what, struct br_slice got,
    const char *expected)
{
	if (strcmp(expected, "*") == 0)
		return;
	if (strcmp(expected, "-") == 0) {
		if (got.data != NULL)
			fail_msg("%s: %s is \"%.*s\", not absent", place, what,
			    (int)got.len, (const char *)got.data);
		return;
	}
	if (!br_slice_eq(got, br_slice_str(expected)))
		fail_msg("%s: %s is \"%.*s\", not \"%s\"", place, what,
		    (int)got.len, got.data ? (const char *)got.data : "",
		    expected);
}

static void
assert_body(const char *place, const struct br_decoded *out, char **column)
{
	char hash[BR_SHA256_HEX];

	if (out->body.len != strtoul(column[4], NULL, 10))
		fail_msg("%s: body of %zu bytes, not %s: %.*s", place,
		    out->body.len, column[4], (int)out->body.len,
		    (const char *)out->body.data);
	br_sha256_hex(out->body.data, out->body.len, hash);
	if (strcmp(hash, column[5]) != 0)
		fail_msg("%s: other bytes: %.*s", place, (int)out->body.len,
		    (const char *)out->body.data);
	if (out->body_is_json != (column[6][0] == '1'))
		fail_msg("%s: body_is_json is wrong", place);
	if (out->max_attempts != strtoll(column[13], NULL, 10))
		fail_msg("%s: %lld attempts, not %s", place,
		    (long long)out->max_attempts, column[13]);
}

static void
assert_line(const char *place, const struct br_decoded *out, char **column)
{
	static const char *const results[] = {"deliver", "skip", "dead"};

	if (strcmp(results[out->result], column[2]) != 0)
		fail_msg("%s: %s (%s %s), not %s", place, results[out->result],
		    out->reason ? out->reason : "", out->detail, column[2]);
	assert_same(place, "reason", br_slice_str(out->reason), column[3]);
	if (out->result == BR_DECODE_DELIVER)
		assert_body(place, out, column);
	assert_same(place, "id", out->event_id, column[7]);
	assert_same(place, "key", out->idempotency_key, column[8]);
	assert_same(place, "order key", out->order_key, column[9]);
	assert_same(place, "type", out->event_type, column[10]);
	assert_same(place, "aggregate type", out->aggregate_type, column[11]);
	assert_same(place, "URL", out->target_url, column[12]);
	if (column[14] != NULL && strcmp(column[14], "*") != 0 &&
	    out->time_ms != strtoll(column[14], NULL, 10))
		fail_msg("%s: time is %lld, not %s", place,
		    (long long)out->time_ms, column[14]);
}

static enum br_format
format_of(const char *name)
{
	static const char *const names[] = {[BR_FORMAT_AUTO] = "auto",
	    [BR_FORMAT_STRING] = "string",
	    [BR_FORMAT_JSON] = "json",
	    [BR_FORMAT_JSON_SCHEMA] = "json_schema",
	    [BR_FORMAT_BYTES] = "bytes",
	    [BR_FORMAT_ENVELOPE] = "envelope",
	    [BR_FORMAT_FLATTENED] = "flattened",
	    [BR_FORMAT_CLOUDEVENTS] = "cloudevents",
	    [BR_FORMAT_GOLDENGATE] = "goldengate"};

	for (size_t i = 0; i < COUNT(names); i++)
		if (names[i] != NULL && strcmp(names[i], name) == 0)
			return (enum br_format)i;
	fail_msg("no format %s", name);
	return BR_FORMAT_AUTO;
}

static char *
read_line(FILE *f, char *line, size_t size)
{
	if (fgets(line, (int)size, f) == NULL)
		return NULL;
	assert_non_null(strchr(line, '\n'));
	*strchr(line, '\n') = '\0';
	return line;
}

/* Line `number` of the variant's records. */
static json_t *
record_line(const char *variant, unsigned long number)
{
	char path[512];
	static char line[65536];
	json_t *json;
	FILE *f;

	snprintf(path, sizeof(path), FIXTURES "/%s.jsonl", variant);
	f = fopen(path, "r");
	assert_non_null(f);
	while (number-- > 0)
		assert_non_null(read_line(f, line, sizeof(line)));
	fclose(f);
	json = json_loads(line, JSON_ALLOW_NUL, NULL);
	assert_non_null(json);
	return json;
}

static void
run_line(const char *variant, char *line)
{
	static char *more[] = {"eventType", "type", "target_url", "targetUrl",
	    "max_retries", "maxRetries", "idempotency_key", "amount",
	    "created_at"};
	struct br_config own = default_config();
	struct br_header headers[32];
	struct br_decoder *decoder;
	struct br_record record;
	struct br_decoded out;
	char *column[COLUMNS] = {NULL}, place[256];
	static char *prefix[] = {"outbox"};
	size_t n = 0;
	json_t *json;

	snprintf(place, sizeof(place), "%s %.16s", variant, line);
	for (char *at = line; at != NULL && n < COLUMNS;)
		column[n++] = strsep(&at, "\t");
	/* Only rows have a time of their own. */
	assert_true(n == COLUMNS || n == COLUMNS - 1);
	own.source.format = format_of(column[0]);
	own.source.message_prefixes = (struct br_strings){prefix, 1};
	own.source.envelope_fields = (struct br_strings){more, COUNT(more)};
	json = record_line(variant, strtoul(column[1], NULL, 10));
	record = read_record(json, headers);
	decoder = br_decoder_new(&own);
	/* Twice: what the first call leaves behind must not show. */
	br_decode(decoder, &record, &out);
	br_decode(decoder, &record, &out);
	assert_line(place, &out, column);
	br_decoder_free(decoder);
	json_decref(json);
	br_arena_reset(&arena);
}

static size_t
run_variant(const char *variant)
{
	char path[512];
	static char line[8192];
	size_t lines = 0;
	FILE *f;

	snprintf(path, sizeof(path), FIXTURES "/expected/%s.tsv", variant);
	f = fopen(path, "r");
	assert_non_null(f);
	while (read_line(f, line, sizeof(line)) != NULL) {
		run_line(variant, line);
		lines++;
	}
	fclose(f);
	return lines;
}

static void
test_all_variants(void **state)
{
	DIR *dir = opendir(FIXTURES "/expected");
	struct dirent *entry;
	size_t variants = 0, lines = 0;

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		char *dot = strstr(entry->d_name, ".tsv");

		if (dot == NULL)
			continue;
		*dot = '\0';
		lines += run_variant(entry->d_name);
		variants++;
	}
	closedir(dir);
	/* A folder that was not found whole would pass in silence. */
	assert_int_equal(variants, 94);
	assert_int_equal(lines, 1353);
}

/* The two captured records of 900 KB, made by the expression of their row. */
static void
test_900k(void **state)
{
	static const char open[] = "{\"pad\": \"", close[] = "\"}";
	struct br_config own = default_config();
	struct br_header headers[] = {
	    header("id", "00000000-0000-4000-8000-000000000001")};
	struct br_record record = {.topic = "outbox.event.Order",
	    .key = br_slice_str("1"),
	    .headers = headers,
	    .header_count = 1};
	size_t pad = 900 * 1024 - 11, len = pad + 11, n = 0;
	char *body = malloc(len + 1), *quoted = malloc(2 * len);
	struct expect e = {.body = body, .format = "string"};

	(void)state;
	memcpy(body, open, sizeof(open) - 1);
	memset(body + sizeof(open) - 1, 'x', pad);
	memcpy(body + sizeof(open) - 1 + pad, close, sizeof(close));
	record.value = br_slice_str(body);
	assert_int_equal(record.value.len, 921600);
	check_record(&own, &record, &e);
	quoted[n++] = '"';
	for (size_t i = 0; i < len; i++) {
		if (body[i] == '"')
			quoted[n++] = '\\';
		quoted[n++] = body[i];
	}
	quoted[n++] = '"';
	assert_int_equal(n, 921606);
	record.value = (struct br_slice){(uint8_t *)quoted, n};
	e.format = "json";
	check_record(&own, &record, &e);
	own.source.format = BR_FORMAT_JSON;
	check_record(&own, &record, &e);
	free(body);
	free(quoted);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all_variants),
	    cmocka_unit_test(test_900k),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	br_arena_free(&arena);
	return failed;
}
