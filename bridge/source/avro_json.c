/* avro_json: see the header. */
#include "bridge/source/avro_json.h"

#include <avro.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bridge/base/buffer.h"
#include "bridge/base/jsontext.h"
#include "bridge/source/decimal.h"

#define KEPT (1024 * 1024) /* a larger text is for one record only */
#define VALUE_BYTES 40     /* avro-c's room for a value, at least */

/* A string of the text, and what it stands for. */
struct raw {
	size_t at;
	struct br_slice content;
};

struct br_avro_json {
	struct br_buffer out;
	struct raw *raw;
	size_t raw_count, raw_size;
	struct br_arena *arena; /* of the call */
};

struct br_avro_value {
	avro_value_iface_t *iface;
	avro_value_t value;
	avro_reader_t reader;
	size_t last; /* bytes that were read into it last */
};

struct br_avro_json *
br_avro_json_new(void)
{
	struct br_avro_json *j = calloc(1, sizeof(*j));

	if (j == NULL)
		abort();
	return j;
}

void
br_avro_json_free(struct br_avro_json *j)
{
	if (j == NULL)
		return;
	br_buffer_free(&j->out);
	free(j->raw);
	free(j);
}

/* ---- avro-c */

void
br_avro_value_free(struct br_avro_value *v)
{
	if (v == NULL)
		return;
	avro_reader_free(v->reader);
	avro_value_decref(&v->value);
	avro_value_iface_decref(v->iface);
	free(v);
}

/* A value to read into, made at the first need. NULL: no memory. */
static struct br_avro_value *
value_of(struct br_avro_schema *s)
{
	struct br_avro_value *v = s->value;

	/* avro-c keeps the room of the largest array it has seen. */
	if (v != NULL && v->last <= KEPT)
		return v;
	br_avro_value_free(v);
	v = calloc(1, sizeof(*v));
	if (v == NULL)
		abort();
	v->reader = avro_reader_memory("", 0);
	v->iface = avro_generic_class_from_schema((avro_schema_t)s->handle);
	if (v->reader == NULL || v->iface == NULL ||
	    avro_generic_value_new(v->iface, &v->value) != 0)
		abort();
	s->value = v;
	return v;
}

/* ---- leaves */

static void
add(struct br_avro_json *j, const char *text)
{
	br_buffer_str(&j->out, text);
}

/* Remembers what a string of the text stands for. */
static void
remember(struct br_avro_json *j, struct br_slice content)
{
	if (j->raw_count == j->raw_size) {
		j->raw_size = j->raw_size != 0 ? 2 * j->raw_size : 32;
		j->raw = realloc(j->raw, j->raw_size * sizeof(*j->raw));
		if (j->raw == NULL)
			abort();
	}
	j->raw[j->raw_count++] = (struct raw){j->out.len, content};
}

static void
add_escape(struct br_avro_json *j, uint8_t c)
{
	static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (const char *s = shorts; *s != '\0'; s += 2)
		if ((uint8_t)*s == c) {
			br_buffer_format(&j->out, "\\%c", s[1]);
			return;
		}
	br_buffer_format(&j->out, "\\u%04x", c);
}

static void
add_string(struct br_avro_json *j, struct br_slice text)
{
	size_t from = 0;

	add(j, "\"");
	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = text.data[i];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		br_buffer_add(&j->out, text.data + from, i - from);
		add_escape(j, c);
		from = i + 1;
	}
	br_buffer_add(&j->out, text.data + from, text.len - from);
	add(j, "\"");
}

/* The fewest digits that read back as the same number. */
static void
add_real(struct br_avro_json *j, double number, bool single)
{
	char text[40];
	int most = single ? 9 : 17;

	if (isnan(number)) {
		add(j, "\"NaN\"");
		return;
	}
	if (isinf(number)) {
		add(j, number > 0 ? "\"Infinity\"" : "\"-Infinity\"");
		return;
	}
	for (int n = single ? 6 : 15; n <= most; n++) {
		(void)snprintf(text, sizeof(text), "%.*g", n, number);
		if (single ? strtof(text, NULL) == (float)number
		           : strtod(text, NULL) == number)
			break;
	}
	add(j, text);
	if (strpbrk(text, ".e") == NULL)
		add(j, ".0");
}

/* A number of the unscaled bytes, or false: too long for one. */
static bool
add_decimal(struct br_avro_json *j, struct br_slice bytes, int64_t scale)
{
	struct br_slice text;

	if (!br_decimal_text(j->arena, bytes, scale, &text))
		return false;
	br_buffer_add(&j->out, text.data, text.len);
	return true;
}

static void
add_bytes(struct br_avro_json *j, const struct br_avro_node *node,
    struct br_slice bytes, bool top)
{
	if (node->logical == BR_AVRO_DECIMAL &&
	    add_decimal(j, bytes, node->scale))
		return;
	if (top)
		remember(j, bytes);
	/* None are an empty string, not null. */
	if (bytes.data == NULL)
		bytes = br_slice_str("");
	br_jsontext_base64(&j->out, bytes);
}

/* ---- values */

/* `top`: outside of arrays and maps, where content can be asked for. */
static bool render(struct br_avro_json *j, const struct br_avro_node *node,
    const avro_value_t *value, bool top);

static bool
render_string(struct br_avro_json *j, const avro_value_t *value, bool top)
{
	const char *text = NULL;
	size_t size = 0;
	struct br_slice content;

	/* The size counts a NUL behind the text. */
	if (avro_value_get_string(value, &text, &size) != 0 || size == 0)
		return false;
	content = (struct br_slice){(const uint8_t *)text, size - 1};
	if (top)
		remember(j, content);
	add_string(j, content);
	return true;
}

static bool
render_bytes(struct br_avro_json *j, const struct br_avro_node *node,
    const avro_value_t *value, bool top)
{
	const void *data = NULL;
	size_t size = 0;
	int rc = node->type == BR_AVRO_FIXED
	             ? avro_value_get_fixed(value, &data, &size)
	             : avro_value_get_bytes(value, &data, &size);

	if (rc != 0)
		return false;
	add_bytes(j, node,
	    (struct br_slice){data != NULL ? data : (const void *)"",
	        data != NULL ? size : 0},
	    top);
	return true;
}

static bool
render_array(struct br_avro_json *j, const struct br_avro_node *node,
    const avro_value_t *value)
{
	bool map = node->type == BR_AVRO_MAP;
	size_t count = 0;
	avro_value_t item;
	const char *name = NULL;

	if (avro_value_get_size(value, &count) != 0)
		return false;
	add(j, map ? "{" : "[");
	for (size_t i = 0; i < count; i++) {
		if (avro_value_get_by_index(value, i, &item, &name) != 0)
			return false;
		add(j, i > 0 ? "," : "");
		if (map) {
			add_string(j, br_slice_str(name));
			add(j, ":");
		}
		if (!render(j, node->child[0], &item, false))
			return false;
	}
	add(j, map ? "}" : "]");
	return true;
}

/* Debezium's {scale, value} as the number that it is. */
static bool
add_variable(struct br_avro_json *j, const avro_value_t *value)
{
	avro_value_t scale, bytes;
	const void *data = NULL;
	int32_t places = 0;
	size_t size = 0;

	return avro_value_get_by_index(value, 0, &scale, NULL) == 0 &&
	       avro_value_get_by_index(value, 1, &bytes, NULL) == 0 &&
	       avro_value_get_int(&scale, &places) == 0 &&
	       avro_value_get_bytes(&bytes, &data, &size) == 0 &&
	       data != NULL &&
	       add_decimal(j, (struct br_slice){data, size}, places);
}

static bool
render_record(struct br_avro_json *j, const struct br_avro_node *node,
    const avro_value_t *value, bool top)
{
	avro_value_t field;

	if (node->logical == BR_AVRO_VARIABLE && add_variable(j, value))
		return true;
	add(j, "{");
	for (size_t i = 0; i < node->count; i++) {
		if (avro_value_get_by_index(value, i, &field, NULL) != 0)
			return false;
		add(j, i > 0 ? "," : "");
		add(j, node->label[i]);
		add(j, ":");
		if (!render(j, node->child[i], &field, top))
			return false;
	}
	add(j, "}");
	return true;
}

static bool
render_union(struct br_avro_json *j, const struct br_avro_node *node,
    const avro_value_t *value, bool top)
{
	avro_value_t branch;
	int index = -1;

	return avro_value_get_discriminant(value, &index) == 0 && index >= 0 &&
	       (size_t)index < node->count &&
	       avro_value_get_current_branch(value, &branch) == 0 &&
	       render(j, node->child[index], &branch, top);
}

static bool
render_enum(struct br_avro_json *j, const struct br_avro_node *node,
    const avro_value_t *value)
{
	int index = -1;

	if (avro_value_get_enum(value, &index) != 0 || index < 0 ||
	    (size_t)index >= node->count)
		return false;
	add(j, node->label[index]);
	return true;
}

static bool
render_number(struct br_avro_json *j, const struct br_avro_node *node,
    const avro_value_t *value)
{
	int64_t whole = 0;
	int32_t small = 0;
	double real = 0;
	float single = 0;
	int rc;

	if (node->type == BR_AVRO_FLOAT || node->type == BR_AVRO_DOUBLE) {
		rc = node->type == BR_AVRO_FLOAT
		         ? avro_value_get_float(value, &single)
		         : avro_value_get_double(value, &real);
		if (rc != 0)
			return false;
		if (node->type == BR_AVRO_FLOAT)
			add_real(j, (double)single, true);
		else
			add_real(j, real, false);
		return true;
	}
	rc = node->type == BR_AVRO_INT ? avro_value_get_int(value, &small)
	                               : avro_value_get_long(value, &whole);
	if (node->type == BR_AVRO_INT)
		whole = small;
	br_buffer_format(&j->out, "%" PRId64, whole);
	return rc == 0;
}

static bool
render(struct br_avro_json *j, const struct br_avro_node *node,
    const avro_value_t *value, bool top)
{
	int truth = 0;

	switch (node->type) {
	case BR_AVRO_NULL:
		add(j, "null");
		return true;
	case BR_AVRO_BOOLEAN:
		if (avro_value_get_boolean(value, &truth) != 0)
			return false;
		add(j, truth != 0 ? "true" : "false");
		return true;
	case BR_AVRO_INT:
	case BR_AVRO_LONG:
	case BR_AVRO_FLOAT:
	case BR_AVRO_DOUBLE:
		return render_number(j, node, value);
	case BR_AVRO_BYTES:
	case BR_AVRO_FIXED:
		return render_bytes(j, node, value, top);
	case BR_AVRO_STRING:
		return render_string(j, value, top);
	case BR_AVRO_ENUM:
		return render_enum(j, node, value);
	case BR_AVRO_ARRAY:
	case BR_AVRO_MAP:
		return render_array(j, node, value);
	case BR_AVRO_UNION:
		return render_union(j, node, value, top);
	case BR_AVRO_RECORD:
		return render_record(j, node, value, top);
	}
	return false;
}

bool
br_avro_json_render(struct br_avro_json *j, struct br_avro_schema *schema,
    struct br_slice body, struct br_arena *arena, struct br_slice *text)
{
	struct br_avro_value *v = value_of(schema);
	bool ok;

	if (j->out.capacity > KEPT)
		br_buffer_free(&j->out);
	br_buffer_clear(&j->out);
	j->raw_count = 0;
	j->arena = arena;
	v->last = body.len + VALUE_BYTES * schema->values;
	avro_reader_memory_set_source(
	    v->reader, (const char *)body.data, (int64_t)body.len);
	ok = avro_value_reset(&v->value) == 0 &&
	     avro_value_read(v->reader, &v->value) == 0 &&
	     render(j, schema->root, &v->value, true);
	*text = (struct br_slice){(const uint8_t *)j->out.data, j->out.len};
	return ok;
}

bool
br_avro_json_raw(const struct br_avro_json *j, struct br_slice json_string,
    struct br_slice *content)
{
	const uint8_t *begin = (const uint8_t *)j->out.data;
	size_t at;

	if (begin == NULL || json_string.data < begin ||
	    json_string.data >= begin + j->out.len)
		return false;
	at = (size_t)(json_string.data - begin);
	for (size_t i = 0; i < j->raw_count; i++)
		if (j->raw[i].at == at) {
			*content = j->raw[i].content;
			return true;
		}
	return false;
}
