/*
 * Every captured record of Avro converters (tests/fixtures/avro) against what
 * expect.py there made of it with a decoder of its own.
 */
#include "avro_support.h"

#include "bridge/source/decimal.h"

#define COLUMNS 13
#define AVRO FIXTURES "/avro"

static struct br_arena arena;

static struct br_slice
from_base64(const char *text)
{
	struct br_slice out = {NULL, 0};

	if (text != NULL)
		assert_true(br_base64_padded(&arena, br_slice_str(text), &out));
	return out;
}

/* Line `number` of a file, as a record; `headers` has room for 32. */
static json_t *
read_record(const char *path, unsigned long number, struct br_record *r,
    struct br_header *headers)
{
	static char line[65536];
	FILE *f = fopen(path, "r");
	json_t *json, *pair;
	size_t i;

	assert_non_null(f);
	while (number-- > 0)
		assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	json = json_loads(line, 0, NULL);
	assert_non_null(json);
	memset(r, 0, sizeof(*r));
	r->headers = headers;
	r->topic = json_string_value(json_object_get(json, "topic"));
	r->key = from_base64(json_string_value(json_object_get(json, "key")));
	r->value =
	    from_base64(json_string_value(json_object_get(json, "value")));
	json_array_foreach(json_object_get(json, "headers"), i, pair)
	{
		assert_true(i < 32);
		headers[i].name = json_string_value(json_array_get(pair, 0));
		headers[i].value =
		    from_base64(json_string_value(json_array_get(pair, 1)));
		r->header_count = i + 1;
	}
	return json;
}

static void
assert_same(const char *place, const char *what, struct br_slice got,
    const char *expected)
{
	struct br_slice want = {NULL, 0};

	if (strcmp(expected, "-") != 0)
		want = br_slice_str(expected);
	if (!br_slice_eq(got, want))
		fail_msg("%s: %s is \"%.*s\", not \"%s\"", place, what,
		    (int)got.len, got.data ? (const char *)got.data : "-",
		    expected);
}

static void
assert_line(const char *place, const struct br_decoded *out, char **column)
{
	static const char *const results[] = {
	    "deliver", "skip", "dead", "wait"};
	struct br_slice body = {NULL, 0};

	if (strcmp(results[out->result], column[4]) != 0)
		fail_msg("%s: %s (%s %s), not %s", place, results[out->result],
		    out->reason ? out->reason : "", out->detail, column[4]);
	assert_same(place, "reason", br_slice_str(out->reason), column[5]);
	if (out->result == BR_DECODE_SKIP)
		return;
	if (strcmp(column[6], "-") != 0)
		body = from_base64(column[6]);
	if (!br_slice_eq(out->body, body))
		fail_msg("%s: other body: %.*s", place, (int)out->body.len,
		    (const char *)out->body.data);
	assert_same(place, "key", out->idempotency_key, column[7]);
	assert_same(place, "order key", out->order_key, column[8]);
	assert_same(place, "type", out->event_type, column[9]);
	assert_same(place, "aggregate type", out->aggregate_type, column[10]);
	assert_same(place, "URL", out->target_url, column[11]);
	assert_int_equal(out->max_attempts, strtoll(column[12], NULL, 10));
}

static void
run_line(char *line)
{
	struct br_config own = default_config();
	struct br_header headers[32];
	struct files files;
	struct br_decoder *decoder;
	struct br_record record;
	struct br_decoded out;
	char *column[COLUMNS], folder[256], path[512], place[400];
	size_t n = 0;
	json_t *json;

	for (char *at = line; at != NULL && n < COLUMNS;)
		column[n++] = strsep(&at, "\t");
	assert_int_equal(n, COLUMNS);
	snprintf(folder, sizeof(folder), "%s/%s", AVRO, column[0]);
	snprintf(path, sizeof(path), "%s/%s", folder, column[1]);
	snprintf(place, sizeof(place), "%s line %s %s", column[1], column[2],
	    column[3]);
	own.source.allow_offset_key = true;
	if (strcmp(column[3], "json") == 0)
		own.source.avro_payload = BR_AVRO_PAYLOAD_JSON;
	files_open(&files, folder);
	/* Of the one schema there both ids are the same number. */
	if (strcmp(column[0], "j3") == 0)
		files.config.id8 = BR_ID_CONTENT;
	own.registry = files.config;
	decoder = br_decoder_new(&own);
	br_decoder_use(decoder, files.registry);
	json =
	    read_record(path, strtoul(column[2], NULL, 10), &record, headers);
	/* Twice: what the first call leaves behind must not show. */
	br_decode(decoder, &record, &out);
	br_decode(decoder, &record, &out);
	assert_line(place, &out, column);
	/* Said to be Avro it is the same. */
	own.source.format = BR_FORMAT_AVRO;
	br_decoder_free(decoder);
	decoder = br_decoder_new(&own);
	br_decoder_use(decoder, files.registry);
	br_decode(decoder, &record, &out);
	assert_line(place, &out, column);
	br_decoder_free(decoder);
	br_registry_free(files.registry);
	json_decref(json);
	br_arena_reset(&arena);
}

static void
test_all(void **state)
{
	FILE *f = fopen(AVRO "/expected.tsv", "r");
	static char line[16384];
	size_t lines = 0;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		*strchr(line, '\n') = '\0';
		run_line(line);
		lines++;
	}
	fclose(f);
	assert_int_equal(lines, 204);
}

/* A captured schema, each of them, can be read. */
static void
test_schemas(void **state)
{
	static const char *const names[] = {"16", "18", "2", "21", "22", "28",
	    "30", "33", "34", "37", "43", "49", "global-35", "global-38",
	    "run3/7", "run3/8", "run3/9", "j3/1", "py/2"};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		char path[512], *text;
		struct br_avro_schema *schema;
		struct br_slice slice;
		struct br_error err = {{0}};

		snprintf(path, sizeof(path), "%s/%s.avsc", AVRO, names[i]);
		text = read_file(path);
		assert_non_null(text);
		slice = br_slice_str(text);
		schema = br_avro_schema_new(&slice, 1, &err);
		if (schema == NULL)
			fail_msg("%s: %s", names[i], err.text);
		br_avro_schema_free(schema);
		free(text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all),
	    cmocka_unit_test(test_schemas),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	br_arena_free(&arena);
	return failed;
}
