/*
 * Property: an event made at random, written as each connector and converter
 * would, comes back as the same event. The writers here share nothing with
 * the readers.
 */
#include "row_support.h"

#include "bridge/base/buffer.h"

#define ROUNDS 4000

static uint32_t seed = 20260101;

static uint32_t
pick(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)seed * below >> 32);
}

/* What is to arrive. */
struct event {
	int64_t number; /* the id, when there is no text */
	bool numeric;
	char id[40];
	char key[80]; /* "": none of its own */
	char type[40], url[60], aggregate[20], order[20];
	int attempts;
	struct br_buffer body; /* any text, not empty */
	char expected_key[120];
};

/* A character of UTF-8, often one that needs an escape. */
static void
add_character(struct br_buffer *out)
{
	static const char *const odd[] = {"\"", "\\", "\n", "\t", "\x01", "/",
	    "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "{", "}", "\x7f",
	    "\xef\xbb\xbf"};

	if (pick(3) != 0)
		br_buffer_format(out, "%c", (int)('a' + pick(26)));
	else
		br_buffer_str(out, odd[pick(COUNT(odd))]);
}

/* Never a document, a placeholder or a null: their rules are their own. */
static void
make_event(struct event *e)
{
	size_t n = 1 + pick(40);

	br_buffer_clear(&e->body);
	br_buffer_str(&e->body, "_");
	while (n-- > 0)
		add_character(&e->body);
	e->numeric = pick(2) == 0;
	e->number = pick(2) == 0
	                ? (int64_t)pick(100)
	                : (int64_t)pick(UINT32_MAX) * (pick(900000) + 1);
	if (pick(4) == 0)
		e->number = -e->number;
	if (e->numeric)
		snprintf(e->id, sizeof(e->id), "%lld", (long long)e->number);
	else
		snprintf(e->id, sizeof(e->id), "id-%u", pick(1000000));
	e->key[0] = '\0';
	if (pick(2) == 0)
		snprintf(e->key, sizeof(e->key), "key-%u", pick(1000000));
	snprintf(e->type, sizeof(e->type), "type.%u", pick(100));
	snprintf(e->url, sizeof(e->url), "https://h.test/%u", pick(100));
	snprintf(e->aggregate, sizeof(e->aggregate), "Agg%u", pick(100));
	snprintf(e->order, sizeof(e->order), "cust-%u", pick(100));
	e->attempts = 1 + (int)pick(200);
	if (e->key[0] != '\0')
		snprintf(
		    e->expected_key, sizeof(e->expected_key), "%s", e->key);
	else
		snprintf(e->expected_key, sizeof(e->expected_key), "%s%s",
		    e->numeric ? "S.T:" : "", e->id);
}

/* ---- writers */

/* A JSON string, escapes chosen at random where there is a choice. */
static void
add_string(struct br_buffer *out, const char *s, size_t len)
{
	br_buffer_str(out, "\"");
	for (size_t i = 0; i < len; i++) {
		uint8_t c = (uint8_t)s[i];

		if (c == '"' || c == '\\')
			br_buffer_format(out, "\\%c", c);
		else if (c == '\n' && pick(2) == 0)
			br_buffer_str(out, "\\n");
		else if (c < 0x20 || (c < 0x80 && pick(20) == 0))
			br_buffer_format(out, "\\u%04X", c);
		else if (c == 0xf0 && len - i >= 4 && pick(2) == 0) {
			/* the one of them that is picked */
			br_buffer_str(out, "\\uD83D\\uDE00");
			i += 3;
		} else {
			br_buffer_add(out, &s[i], 1);
		}
	}
	br_buffer_str(out, "\"");
}

static void
add_base64(struct br_buffer *out, const uint8_t *bytes, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijkl"
	                             "mnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		uint32_t w = (uint32_t)bytes[i] << 16;

		w |= i + 1 < len ? (uint32_t)bytes[i + 1] << 8 : 0;
		w |= i + 2 < len ? bytes[i + 2] : 0;
		br_buffer_format(out, "%c%c%c%c", digits[w >> 18],
		    digits[w >> 12 & 63],
		    i + 1 < len ? digits[w >> 6 & 63] : '=',
		    i + 2 < len ? digits[w & 63] : '=');
	}
}

/* Big-endian two's complement, with a needless byte now and then. */
static void
add_unscaled(struct br_buffer *out, int64_t number)
{
	uint8_t bytes[9];
	size_t first = 1;

	bytes[0] = number < 0 ? 0xff : 0;
	for (int i = 0; i < 8; i++)
		bytes[1 + i] = (uint8_t)((uint64_t)number >> (56 - 8 * i));
	while (first < 8 && bytes[first] == bytes[0] &&
	       (bytes[first + 1] & 0x80) == (bytes[0] & 0x80))
		first++;
	add_base64(out, bytes + first, 9 - first);
}

enum number_form { PLAIN, AS_TEXT, AS_DOUBLE, AS_STRUCT, FORMS };

static void
add_number(struct br_buffer *out, int64_t number, enum number_form form)
{
	if (form == AS_DOUBLE && number < (INT64_C(1) << 53) &&
	    number > -(INT64_C(1) << 53)) {
		br_buffer_format(out, "%lld.0", (long long)number);
	} else if (form == AS_STRUCT) {
		br_buffer_str(out, "{\"scale\":0,\"value\":\"");
		add_unscaled(out, number);
		br_buffer_str(out, "\"}");
	} else {
		br_buffer_format(out, form == AS_TEXT ? "\"%lld\"" : "%lld",
		    (long long)number);
	}
}

/* A column's name in the case of a database. */
static void
add_name(struct br_buffer *out, const char *name, uint32_t letter_case)
{
	br_buffer_str(out, "\"");
	for (const char *c = name; *c != '\0'; c++) {
		bool upper = letter_case == 1 || (letter_case == 2 && pick(2));

		br_buffer_format(
		    out, "%c", upper && *c >= 'a' && *c <= 'z' ? *c - 32 : *c);
	}
	br_buffer_str(out, "\":");
}

static void
add_column(struct br_buffer *out, const struct event *e, size_t column,
    uint32_t letter_case, enum number_form form)
{
	static const char *const names[] = {"id", "payload", "idempotency_key",
	    "event_type", "target_url", "max_retries", "aggregatetype",
	    "aggregateid", "status", "note"};
	const char *const texts[] = {e->id, NULL, e->key, e->type, e->url, NULL,
	    e->aggregate, e->order, "PENDING", "\x02\"}"};

	add_name(out, names[column], letter_case);
	if (column == 0 && e->numeric)
		add_number(out, e->number, form);
	else if (column == 1)
		add_string(out, e->body.data, e->body.len);
	else if (column == 5)
		add_number(out, e->attempts, form);
	else if (*texts[column] == '\0')
		br_buffer_str(out, "null");
	else
		add_string(out, texts[column], strlen(texts[column]));
}

/* A row: columns in any order, white space between them now and then. */
static void
add_row(struct br_buffer *out, const struct event *e, const char *more)
{
	uint32_t letter_case = pick(3);
	enum number_form form = (enum number_form)pick(FORMS);
	size_t order[10] = {0};

	for (size_t i = 0; i < 10; i++) {
		size_t k = pick((uint32_t)i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	br_buffer_str(out, "{");
	for (size_t i = 0; i < 10; i++) {
		br_buffer_str(out, i == 0 ? "" : pick(5) == 0 ? " ,\n " : ",");
		add_column(out, e, order[i], letter_case, form);
	}
	br_buffer_format(out, "%s}", more);
}

#define SOURCE                                                                 \
	"\"source\":{\"connector\":\"mysql\",\"schema\":\"S\",\"table\":"      \
	"\"T\","                                                               \
	"\"ts_ms\":1}"

static void
add_change(struct br_buffer *out, const struct event *e)
{
	if (pick(2) == 0) {
		br_buffer_str(out, "{\"before\":null,\"after\":");
		add_row(out, e, "");
		br_buffer_str(out, "," SOURCE ",\"op\":\"c\"}");
	} else {
		br_buffer_str(out, "{\"op\":\"r\"," SOURCE ",\"after\":");
		add_row(out, e, "");
		br_buffer_str(out, ",\"before\":null}");
	}
}

static void
add_wrapped(struct br_buffer *out, const char *inner)
{
	br_buffer_format(out,
	    "{\"schema\":{\"type\":\"struct\",\"fields\":[],\"optional\":"
	    "false},\"payload\":%s}",
	    inner);
}

enum spelling {
	ENVELOPE,
	FLATTENED,
	CLOUD_CHANGE,
	GOLDENGATE_OPERATION,
	GOLDENGATE_ROW,
	MESSAGE,
	SPELLINGS
};

static void
add_cloud_change(struct br_buffer *out, const struct event *e)
{
	br_buffer_str(out,
	    "{\"id\":\"name:x;lsn:1\",\"source\":\"/debezium/mysql/x\","
	    "\"specversion\":\"1.0\",\"type\":\"x\",\"iodebeziumop\":\"c\","
	    "\"iodebeziumschema\":\"S\",\"iodebeziumtable\":\"T\","
	    "\"data\":{\"before\":null,\"after\":");
	add_row(out, e, "");
	br_buffer_str(out, "}}");
}

static void
add_message(struct br_buffer *out, const struct event *e)
{
	struct br_buffer row = {0};

	add_row(&row, e, "");
	br_buffer_str(out, "{\"op\":\"m\"," SOURCE
	                   ",\"message\":{\"prefix\":\"p\",\"content\":\"");
	add_base64(out, (const uint8_t *)row.data, row.len);
	br_buffer_str(out, "\"}}");
	br_buffer_free(&row);
}

static void
spell(struct br_buffer *out, const struct event *e, enum spelling spelling)
{
	static const char operation[] =
	    "\"table\":\"S.T\",\"op_type\":\"I\",\"op_ts\":\"2026-01-01 "
	    "00:00:00.000000\"";
	struct br_buffer inner = {0};

	switch (spelling) {
	case ENVELOPE:
		add_change(&inner, e);
		break;
	case FLATTENED:
		add_row(&inner, e,
		    ",\"__op\":\"c\",\"__schema\":\"S\",\"__table\":\"T\","
		    "\"__deleted\":\"false\"");
		break;
	case CLOUD_CHANGE:
		add_cloud_change(&inner, e);
		break;
	case GOLDENGATE_OPERATION:
		br_buffer_format(&inner, "{%s,\"after\":", operation);
		add_row(&inner, e, "");
		br_buffer_str(&inner, "}");
		break;
	case GOLDENGATE_ROW:
		br_buffer_format(&inner, ",%s", operation);
		add_row(out, e, inner.data);
		br_buffer_free(&inner);
		return;
	case MESSAGE:
	case SPELLINGS:
		add_message(&inner, e);
		break;
	}
	if (spelling <= FLATTENED && pick(3) == 0)
		add_wrapped(out, inner.data);
	else
		br_buffer_str(out, inner.data);
	br_buffer_free(&inner);
}

static void
check_same(const struct event *e, struct br_decoder *d,
    const struct br_record *record, bool row)
{
	struct br_decoded out;

	br_decode(d, record, &out);
	if (out.result != BR_DECODE_DELIVER ||
	    !br_slice_eq(out.body,
	        (struct br_slice){(const uint8_t *)e->body.data, e->body.len}))
		fail_msg("%s %s: %.*s", out.reason ? out.reason : "",
		    out.detail, (int)record->value.len,
		    (const char *)record->value.data);
	assert_text("id", out.event_id, e->id);
	assert_text("type", out.event_type, e->type);
	assert_text("URL", out.target_url, e->url);
	assert_text("order key", out.order_key, e->order);
	assert_text("aggregate type", out.aggregate_type, e->aggregate);
	assert_int_equal(out.max_attempts, e->attempts);
	/* The router's ids are unique in themselves. */
	if (row || e->key[0] != '\0' || !e->numeric)
		assert_text("key", out.idempotency_key, e->expected_key);
	assert_false(out.body_is_json);
}

static void
test_rows(void **state)
{
	static char *prefix[] = {"p"};
	struct br_buffer value = {0};
	struct event e = {.body = {0}};
	struct br_decoder *d;

	(void)state;
	config.source.message_prefixes = (struct br_strings){prefix, 1};
	d = br_decoder_new(&config);
	for (int i = 0; i < ROUNDS; i++) {
		struct br_record record = {
		    .topic = "x", .key = br_slice_str("other")};

		make_event(&e);
		br_buffer_clear(&value);
		spell(&value, &e, (enum spelling)(i % SPELLINGS));
		record.value =
		    (struct br_slice){(const uint8_t *)value.data, value.len};
		check_same(&e, d, &record, true);
	}
	br_decoder_free(d);
	br_buffer_free(&value);
	br_buffer_free(&e.body);
}

/* ---- the router, one converter for everything */

enum converter { STRING_CONVERTER, JSON_CONVERTER, SCHEMA_CONVERTER };

static void
convert(struct br_buffer *out, enum converter c, const char *s, size_t len)
{
	br_buffer_clear(out);
	if (c == STRING_CONVERTER) {
		br_buffer_add(out, s, len);
		return;
	}
	if (c == SCHEMA_CONVERTER)
		br_buffer_str(out, "{\"schema\":{\"type\":\"string\","
		                   "\"optional\":false},\"payload\":");
	add_string(out, s, len);
	if (c == SCHEMA_CONVERTER)
		br_buffer_str(out, "}");
}

static void
test_routed(void **state)
{
	static const char *const names[] = {
	    "id", "eventType", "targetUrl", "maxRetries", "idempotencyKey"};
	struct br_buffer value = {0}, key = {0}, header_value[5] = {{0}};
	struct event e = {.body = {0}};
	struct br_decoder *d = br_decoder_new(&config);

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		enum converter c = (enum converter)(i % 3);
		struct br_header headers[5];
		char topic[64], attempts[16];
		struct br_record record = {.topic = topic, .headers = headers};
		const char *texts[5];

		make_event(&e);
		snprintf(attempts, sizeof(attempts), "%d", e.attempts);
		texts[0] = e.id;
		texts[1] = e.type;
		texts[2] = e.url;
		texts[3] = attempts;
		texts[4] = e.key;
		record.header_count = e.key[0] != '\0' ? 5 : 4;
		for (size_t k = 0; k < record.header_count; k++) {
			convert(
			    &header_value[k], c, texts[k], strlen(texts[k]));
			headers[k] = header(names[k], header_value[k].data);
		}
		convert(&value, c, e.body.data, e.body.len);
		convert(&key, c, e.order, strlen(e.order));
		record.value =
		    (struct br_slice){(const uint8_t *)value.data, value.len};
		record.key =
		    (struct br_slice){(const uint8_t *)key.data, key.len};
		snprintf(topic, sizeof(topic), "outbox.event.%s", e.aggregate);
		check_same(&e, d, &record, false);
	}
	br_decoder_free(d);
	br_buffer_free(&value);
	br_buffer_free(&key);
	for (size_t k = 0; k < 5; k++)
		br_buffer_free(&header_value[k]);
	br_buffer_free(&e.body);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_rows, setup),
	    cmocka_unit_test_setup(test_routed, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
