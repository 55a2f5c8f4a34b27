/*
 * Schemas and values by chance: what an encoder of the test writes reads back
 * as the same value; and whatever bytes the check lets pass, avro-c reads.
 */
#include "source_support.h"

#include "bridge/base/buffer.h"
#include "bridge/source/avro_datum.h"
#include "bridge/source/avro_json.h"
#include "bridge/source/json.h"

#include <inttypes.h>
#include <stdio.h>

#define SCHEMAS 400
#define VALUES 20
#define MUTATIONS 20

struct dice {
	uint64_t state;
};

static uint64_t
roll(struct dice *d)
{
	uint64_t z = d->state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

static unsigned
below(struct dice *d, unsigned n)
{
	return (unsigned)(roll(d) % n);
}

/* ---- schemas */

static void
add_schema(struct dice *d, struct br_buffer *out, unsigned depth, bool in_union,
    unsigned *names)
{
	static const char *const plain[] = {"\"boolean\"", "\"int\"",
	    "\"long\"", "\"double\"", "\"bytes\"", "\"string\""};
	unsigned kind = below(d, depth > 4 ? 6 : 12), n;

	if (kind < 6) {
		br_buffer_str(out, plain[kind]);
	} else if (kind == 6) {
		br_buffer_format(out,
		    "{\"type\":\"enum\",\"name\":\"E%u\",\"symbols\":[\"A\","
		    "\"B\\u0041\",\"C\"]}",
		    (*names)++);
	} else if (kind == 7) {
		br_buffer_format(out,
		    "{\"type\":\"bytes\",\"logicalType\":\"decimal\","
		    "\"scale\":%u}",
		    below(d, 4));
	} else if (kind == 8) {
		br_buffer_str(out, "{\"type\":\"array\",\"items\":");
		add_schema(d, out, depth + 1, false, names);
		br_buffer_str(out, "}");
	} else if (kind == 9 && !in_union) {
		br_buffer_str(out, "[\"null\",");
		add_schema(d, out, depth + 1, true, names);
		br_buffer_str(out, "]");
	} else if (kind == 10) {
		br_buffer_str(out, "{\"type\":\"map\",\"values\":");
		add_schema(d, out, depth + 1, false, names);
		br_buffer_str(out, "}");
	} else {
		br_buffer_format(out,
		    "{\"type\":\"record\",\"name\":\"R%u\",\"fields\":[",
		    (*names)++);
		n = 1 + below(d, 4);
		for (unsigned i = 0; i < n; i++) {
			br_buffer_format(out,
			    "%s{\"name\":\"f%u\",\"type\":", i > 0 ? "," : "",
			    i);
			add_schema(d, out, depth + 1, false, names);
			br_buffer_str(out, "}");
		}
		br_buffer_str(out, "]}");
	}
}

/* ---- values: bytes, and the JSON that must come of them */

struct pair {
	struct br_buffer bytes, json;
};

static void
add_long(struct br_buffer *out, int64_t number)
{
	uint64_t bits = (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
	uint8_t byte;

	do {
		byte = (uint8_t)(bits & 0x7f);
		bits >>= 7;
		if (bits > 0)
			byte |= 0x80;
		br_buffer_add(out, &byte, 1);
	} while (bits > 0);
}

static int64_t
some_number(struct dice *d, bool is_int)
{
	int64_t number = (int64_t)roll(d) >> below(d, 64);

	return is_int ? (int32_t)number : number;
}

static void
add_text(struct dice *d, struct pair *p)
{
	static const struct {
		const char *text, *json;
	} pieces[] = {{"abc", "abc"}, {"\"", "\\\""}, {"\\", "\\\\"},
	    {"\n", "\\n"}, {"\x01", "\\u0001"}, {"\xc3\xa9", "\xc3\xa9"},
	    {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"}, {"/", "/"}};
	unsigned n = below(d, 6);
	struct br_buffer text = {0};

	br_buffer_str(&p->json, "\"");
	for (unsigned i = 0; i < n; i++) {
		unsigned k = below(d, COUNT(pieces));

		br_buffer_str(&text, pieces[k].text);
		br_buffer_str(&p->json, pieces[k].json);
	}
	br_buffer_str(&p->json, "\"");
	add_long(&p->bytes, (int64_t)text.len);
	if (text.len > 0)
		br_buffer_add(&p->bytes, text.data, text.len);
	br_buffer_free(&text);
}

/* A whole number of eight bytes as an unscaled decimal. */
static void
add_decimal(struct dice *d, struct pair *p, int64_t scale)
{
	int64_t number = some_number(d, true), power = 1, whole, rest;
	uint8_t bytes[8];

	for (int64_t i = 0; i < scale; i++)
		power *= 10;
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)((uint64_t)number >> (56 - 8 * i));
	add_long(&p->bytes, 8);
	br_buffer_add(&p->bytes, bytes, 8);
	whole = number / power;
	rest = number % power;
	br_buffer_format(&p->json, "%s%" PRId64, number < 0 ? "-" : "",
	    whole < 0 ? -whole : whole);
	if (scale > 0)
		br_buffer_format(&p->json, ".%0*" PRId64, (int)scale,
		    rest < 0 ? -rest : rest);
}

static void
add_bytes(struct dice *d, struct pair *p)
{
	static const struct {
		const char *bytes;
		int64_t len;
		const char *json;
	} some[] = {{"", 0, "\"\""}, {"\0", 1, "\"AA==\""},
	    {"\xff\xfe", 2, "\"//4=\""}, {"abc", 3, "\"YWJj\""}};
	unsigned k = below(d, COUNT(some));

	add_long(&p->bytes, some[k].len);
	br_buffer_add(&p->bytes, some[k].bytes, (size_t)some[k].len);
	br_buffer_str(&p->json, some[k].json);
}

static void add_value(
    struct dice *d, const struct br_avro_node *node, struct pair *p);

/* In one block or several, with their sizes or without. */
static void
add_items(struct dice *d, const struct br_avro_node *node, struct pair *p)
{
	bool map = node->type == BR_AVRO_MAP;
	unsigned blocks = below(d, 3), number = 0;

	br_buffer_str(&p->json, map ? "{" : "[");
	for (unsigned b = 0; b < blocks; b++) {
		unsigned count = 1 + below(d, 3);
		struct pair block = {{0}, {0}};

		for (unsigned i = 0; i < count; i++, number++) {
			if (number > 0)
				br_buffer_str(&p->json, ",");
			if (map) {
				add_long(&block.bytes, 1);
				br_buffer_format(
				    &block.bytes, "%c", 'a' + (int)number);
				br_buffer_format(
				    &block.json, "\"%c\":", 'a' + (int)number);
			}
			add_value(d, node->child[0], &block);
			br_buffer_str(&p->json, block.json.data);
			br_buffer_clear(&block.json);
		}
		if (below(d, 2) == 0) {
			add_long(&p->bytes, count);
		} else {
			add_long(&p->bytes, -(int64_t)count);
			add_long(&p->bytes, (int64_t)block.bytes.len);
		}
		br_buffer_add(&p->bytes, block.bytes.data, block.bytes.len);
		br_buffer_free(&block.bytes);
		br_buffer_free(&block.json);
	}
	add_long(&p->bytes, 0);
	br_buffer_str(&p->json, map ? "}" : "]");
}

static void
add_record(struct dice *d, const struct br_avro_node *node, struct pair *p)
{
	br_buffer_str(&p->json, "{");
	for (size_t i = 0; i < node->count; i++) {
		br_buffer_format(&p->json, "%s\"f%zu\":", i > 0 ? "," : "", i);
		add_value(d, node->child[i], p);
	}
	br_buffer_str(&p->json, "}");
}

static void
add_scalar(struct dice *d, const struct br_avro_node *node, struct pair *p)
{
	static const char *const symbols[] = {"\"A\"", "\"B\\u0041\"", "\"C\""};
	static const double halves[] = {0, 0.5, -2.5, 1024.25};
	static const char *const texts[] = {"0.0", "0.5", "-2.5", "1024.25"};
	unsigned k = below(d, 3);
	int64_t number;
	uint8_t byte;

	if (node->type == BR_AVRO_BOOLEAN) {
		byte = k & 1;
		br_buffer_add(&p->bytes, &byte, 1);
		br_buffer_str(&p->json, byte ? "true" : "false");
	} else if (node->type == BR_AVRO_DOUBLE) {
		br_buffer_add(&p->bytes, &halves[k], 8);
		br_buffer_str(&p->json, texts[k]);
	} else if (node->type == BR_AVRO_ENUM) {
		add_long(&p->bytes, k);
		br_buffer_str(&p->json, symbols[k]);
	} else {
		number = some_number(d, node->type == BR_AVRO_INT);
		add_long(&p->bytes, number);
		br_buffer_format(&p->json, "%" PRId64, number);
	}
}

static void
add_value(struct dice *d, const struct br_avro_node *node, struct pair *p)
{
	switch (node->type) {
	case BR_AVRO_STRING:
		add_text(d, p);
		break;
	case BR_AVRO_BYTES:
		if (node->logical == BR_AVRO_DECIMAL)
			add_decimal(d, p, node->scale);
		else
			add_bytes(d, p);
		break;
	case BR_AVRO_ARRAY:
	case BR_AVRO_MAP:
		add_items(d, node, p);
		break;
	case BR_AVRO_RECORD:
		add_record(d, node, p);
		break;
	case BR_AVRO_UNION:
		if (below(d, 3) == 0) {
			add_long(&p->bytes, 0);
			br_buffer_str(&p->json, "null");
		} else {
			add_long(&p->bytes, 1);
			add_value(d, node->child[1], p);
		}
		break;
	default:
		add_scalar(d, node, p);
		break;
	}
}

/* ---- the test */

struct counts {
	size_t values, passed, refused;
};

static void
check_value(struct dice *d, struct br_avro_schema *s, struct br_avro_json *j,
    const char *schema, struct counts *counts)
{
	struct br_arena arena = {0};
	struct pair p = {{0}, {0}};
	struct br_slice body, text;
	struct br_avro_fault fault;

	br_buffer_str(&p.bytes, "");
	add_value(d, s->root, &p);
	body = (struct br_slice){(uint8_t *)p.bytes.data, p.bytes.len};
	if (!br_avro_datum_check(s->root, body, &fault))
		fail_msg("%s: %s at %zu of %zu", schema, fault.what, fault.at,
		    body.len);
	assert_true(br_avro_json_render(j, s, body, &arena, &text));
	if (!br_slice_eq(text, br_slice_str(p.json.data)))
		fail_msg("%s: %.*s, not %s", schema, (int)text.len, text.data,
		    p.json.data);
	counts->values++;
	for (int i = 0; i < MUTATIONS && body.len > 0; i++) {
		uint8_t *bytes = malloc(body.len);
		struct br_slice bad = {bytes, body.len};

		memcpy(bytes, body.data, body.len);
		bytes[below(d, (unsigned)body.len)] = (uint8_t)roll(d);
		if (below(d, 3) == 0)
			bad.len = below(d, (unsigned)body.len);
		/* avro-c succeeds on whatever passes. */
		if (br_avro_datum_check(s->root, bad, &fault)) {
			struct br_json_fault json_fault;

			assert_true(
			    br_avro_json_render(j, s, bad, &arena, &text));
			assert_true(
			    br_json_check(text, NULL, NULL, &json_fault));
			counts->passed++;
		} else {
			assert_non_null(fault.what);
			counts->refused++;
		}
		free(bytes);
		br_arena_reset(&arena);
	}
	br_buffer_free(&p.bytes);
	br_buffer_free(&p.json);
	br_arena_free(&arena);
}

static void
test_random(void **state)
{
	struct br_avro_json *j = br_avro_json_new();
	struct counts counts = {0, 0, 0};

	(void)state;
	for (uint64_t seed = 1; seed <= SCHEMAS; seed++) {
		struct dice d = {seed};
		struct br_buffer text = {0};
		struct br_error err = {{0}};
		struct br_avro_schema *s;
		struct br_slice slice;
		unsigned names = 0;

		add_schema(&d, &text, 0, false, &names);
		slice = br_slice_str(text.data);
		s = br_avro_schema_new(&slice, 1, &err);
		if (s == NULL)
			fail_msg(
			    "seed %d: %s: %s", (int)seed, text.data, err.text);
		for (int i = 0; i < VALUES; i++)
			check_value(&d, s, j, text.data, &counts);
		br_avro_schema_free(s);
		br_buffer_free(&text);
	}
	br_avro_json_free(j);
	assert_int_equal(counts.values, SCHEMAS * VALUES);
	/* Both sides were seen often enough to mean something. */
	assert_true(counts.passed > 10000 && counts.refused > 10000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
