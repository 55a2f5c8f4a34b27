/*
 * Every captured record (tests/fixtures), read from its file and explained
 * for a program, in auto and in the format of its connector, agrees with
 * tests/fixtures/expected.
 */
#include "explain_support.h"

#include <dirent.h>

#include "bridge/base/hash.h"
#include "bridge/source/decimal.h"

#define COLUMNS 15
#define ATTEMPTS 77 /* what holds where the record says nothing */

static struct br_arena arena;

static struct desk
desk_of(const char *format)
{
	char text[1024];

	(void)snprintf(text, sizeof(text),
	    "delivery = { url = \"https://receiver.test/in\"; "
	    "event_url = \"ignore\"; };\n"
	    "retry = { max_attempts = %d; };\n"
	    "source = { format = \"%s\"; message_prefixes = [ \"outbox\" ]; "
	    "envelope_fields = [ \"eventType\", \"type\", \"target_url\", "
	    "\"targetUrl\", \"max_retries\", \"maxRetries\", "
	    "\"idempotency_key\", \"amount\", \"created_at\" ]; };\n",
	    ATTEMPTS, format);
	return open_desk(text);
}

static void
expect_column(const char *place, const json_t *json, const char *name,
    const char *expected)
{
	const json_t *value = json_object_get(json, name);

	if (value == NULL)
		fail_msg("%s: no member %s", place, name);
	if (strcmp(expected, "*") == 0)
		return;
	if (strcmp(expected, "-") == 0) {
		if (!json_is_null(value))
			fail_msg("%s: %s is there", place, name);
		return;
	}
	if (!json_is_string(value) ||
	    strcmp(json_string_value(value), expected) != 0)
		fail_msg("%s: %s is %s, not %s", place, name,
		    json_is_string(value) ? json_string_value(value) : "null",
		    expected);
}

static void
expect_body(const char *place, const json_t *json, char **column)
{
	const char *text = json_string_value(json_object_get(json, "body"));
	const char *type =
	    json_string_value(json_object_get(json, "content_type"));
	struct br_slice body;
	char hash[BR_SHA256_HEX];

	if (text == NULL ||
	    !br_base64_padded(&arena, br_slice_str(text), &body))
		fail_msg("%s: body is not base64", place);
	if (body.len != strtoul(column[4], NULL, 10))
		fail_msg("%s: a body of %zu bytes, not %s", place, body.len,
		    column[4]);
	br_sha256_hex(body.data, body.len, hash);
	if (strcmp(hash, column[5]) != 0)
		fail_msg("%s: other bytes in the body", place);
	/* A CloudEvent tells its own. */
	if (strcmp(column[6], "1") == 0 &&
	    (type == NULL || strncmp(type, "application/json", 16) != 0))
		fail_msg("%s: content type %s of JSON", place, type);
	if (request_header(json, "Content-Length") == NULL ||
	    strcmp(request_header(json, "Content-Length"), column[4]) != 0)
		fail_msg("%s: not its length in the request", place);
	if (request_header(json, "Content-Type") == NULL ||
	    strcmp(request_header(json, "Content-Type"), type) != 0)
		fail_msg("%s: not its type in the request", place);
}

static void
expect_request(const char *place, const json_t *json, char **column)
{
	const json_t *request = json_object_get(json, "request");
	const char *key = request_header(json, "Idempotency-Key");
	int64_t attempts = strtoll(column[13], NULL, 10);

	expect_body(place, json, column);
	expect_member(request, "method", "POST");
	expect_member(request, "url", "https://receiver.test/in");
	if (key == NULL)
		fail_msg("%s: no key on the request", place);
	/* What a header cannot carry goes as a hash. */
	if (strcmp(key, column[8]) != 0 && strncmp(key, "sha256-", 7) != 0)
		fail_msg(
		    "%s: key %s on the request, not %s", place, key, column[8]);
	if (json_integer_value(json_object_get(json, "max_attempts")) !=
	    (attempts != 0 ? attempts : ATTEMPTS))
		fail_msg("%s: not %s attempts", place, column[13]);
}

static void
expect_line(const char *place, const json_t *json, char **column)
{
	bool dead = strcmp(column[2], "dead") == 0;
	bool sent = strcmp(column[2], "deliver") == 0;

	expect_column(place, json, "outcome", dead ? "dlq" : column[2]);
	expect_column(place, json, "reason", column[3]);
	expect_column(place, json, "event_id", column[7]);
	expect_column(place, json, "idempotency_key", column[8]);
	expect_column(place, json, "order_key", column[9]);
	expect_column(place, json, "event_type", column[10]);
	expect_column(place, json, "aggregate_type", column[11]);
	expect_column(place, json, "target_url", column[12]);
	if (column[14] != NULL && strcmp(column[14], "*") != 0 &&
	    json_integer_value(json_object_get(json, "time_ms")) !=
	        strtoll(column[14], NULL, 10))
		fail_msg("%s: not the time %s", place, column[14]);
	if (sent) {
		expect_request(place, json, column);
		return;
	}
	expect_member(json, "body", NULL);
	expect_member(json, "request", NULL);
	assert_true(json_is_string(json_object_get(json, "detail")));
	if (dead && !json_is_string(json_object_get(json, "advice")))
		fail_msg("%s: nothing is said about what to do", place);
}

/* Line `number` of the variant's records, explained. */
static json_t *
explain_line(struct desk *desk, const char *variant, unsigned long number)
{
	char path[512];
	struct br_explain_file *f;
	struct br_record record;
	struct br_error err;
	json_t *json;

	(void)snprintf(path, sizeof(path), FIXTURES "/%s.jsonl", variant);
	f = br_explain_file_open(path, &err);
	if (f == NULL)
		fail_msg("%s", err.text);
	while (number-- > 0)
		if (br_explain_file_next(f, &record, &err) !=
		    BR_EXPLAIN_FILE_RECORD)
			fail_msg("%s: %s", variant, err.text);
	json = json_of(desk, &record);
	br_explain_file_free(f);
	return json;
}

static size_t
run_variant(const char *variant)
{
	char path[512], place[300];
	static char line[8192];
	size_t lines = 0;
	FILE *f;

	(void)snprintf(
	    path, sizeof(path), FIXTURES "/expected/%s.tsv", variant);
	f = fopen(path, "r");
	assert_non_null(f);
	for (; fgets(line, sizeof(line), f) != NULL; lines++) {
		char *column[COLUMNS] = {NULL}, *at = line;
		size_t n = 0;
		struct desk desk;
		json_t *json;

		line[strcspn(line, "\n")] = '\0';
		(void)snprintf(place, sizeof(place), "%s %.16s", variant, line);
		while (at != NULL && n < COLUMNS)
			column[n++] = strsep(&at, "\t");
		assert_true(n == COLUMNS || n == COLUMNS - 1);
		desk = desk_of(column[0]);
		json =
		    explain_line(&desk, variant, strtoul(column[1], NULL, 10));
		expect_line(place, json, column);
		json_decref(json);
		close_desk(&desk);
		br_arena_reset(&arena);
	}
	(void)fclose(f);
	return lines;
}

static void
all_variants(void **state)
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
	(void)closedir(dir);
	/* A folder that was not found whole would pass in silence. */
	assert_true(variants >= 94);
	assert_true(lines >= 1353);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_variants),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	br_arena_free(&arena);
	return failed;
}
