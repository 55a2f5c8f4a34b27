/* avro_parse: see the header. */
#include "bridge/source/avro_parse.h"

#include <stdio.h>
#include <stdlib.h>

#include "bridge/source/json.h"

#define NODES_MAX 20000
#define NAMED_MAX 2000
#define NAME_MAX_BYTES 1000
#define FIXED_MAX 1048576
#define TEXT_MAX 1048576 /* reading is not quite linear */

/* What is collected of a schema's JSON object, in one pass. */
enum attribute {
	TYPE,
	NAME,
	NAMESPACE,
	FIELDS,
	SYMBOLS,
	ITEMS,
	VALUES,
	SIZE,
	LOGICAL_TYPE,
	SCALE,
	CONNECT_NAME,
	CONNECT_PARAMETERS,
	ATTRIBUTES
};

static const char *const attribute_names[ATTRIBUTES] = {"type", "name",
    "namespace", "fields", "symbols", "items", "values", "size", "logicalType",
    "scale", "connect.name", "connect.parameters"};

static const char *const type_names[] = {"null", "boolean", "int", "long",
    "float", "double", "bytes", "string", "fixed", "enum", "array", "map",
    "union", "record"};

struct builder {
	struct br_avro_schema *schema;
	struct br_error *err;
	size_t node_count;
	struct br_avro_node *named[NAMED_MAX];
	size_t named_count;
};

static void *
allocate(size_t count, size_t size)
{
	void *p = calloc(count != 0 ? count : 1, size);

	if (p == NULL)
		abort();
	return p;
}

static char *
copy(struct br_slice text)
{
	char *to = allocate(text.len + 1, 1);

	memcpy(to, text.data, text.len);
	return to;
}

static struct br_avro_node *
node_new(struct builder *b, enum br_avro_type type)
{
	struct br_avro_node *node;

	if (b->node_count >= NODES_MAX) {
		(void)br_fail(b->err, "it has more than %d types", NODES_MAX);
		return NULL;
	}
	node = allocate(1, sizeof(*node));
	node->type = type;
	node->number = b->node_count++;
	node->next = b->schema->nodes;
	b->schema->nodes = node;
	return node;
}

static void *
fail_null(struct builder *b, const char *what, struct br_slice text)
{
	int shown = text.len < 80 ? (int)text.len : 80;

	(void)br_fail(b->err, "%s: %.*s", what, shown, (const char *)text.data);
	return NULL;
}

/* ---- names */

static struct br_slice
namespace_of(struct br_slice full)
{
	size_t len = full.len;

	while (len > 0 && full.data[len - 1] != '.')
		len--;
	return (struct br_slice){full.data, len > 0 ? len - 1 : 0};
}

/* name, or space.name, as one text. */
static bool
full_name(struct br_slice name, struct br_slice space, char *out, size_t size)
{
	bool full = memchr(name.data, '.', name.len) != NULL || space.len == 0;
	int len = full ? snprintf(out, size, "%.*s", (int)name.len,
	                     (const char *)name.data)
	               : snprintf(out, size, "%.*s.%.*s", (int)space.len,
	                     (const char *)space.data, (int)name.len,
	                     (const char *)name.data);

	return len > 0 && (size_t)len < size;
}

static struct br_avro_node *
find_named(const struct builder *b, const char *name)
{
	for (size_t i = 0; i < b->named_count; i++)
		if (strcmp(b->named[i]->name, name) == 0)
			return b->named[i];
	return NULL;
}

static enum br_avro_type
type_of(struct br_slice name, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (br_slice_eq(name, br_slice_str(type_names[i])))
			return (enum br_avro_type)i;
	return (enum br_avro_type)count;
}

/* A type by its name: a primitive one, or one that was defined before. */
static struct br_avro_node *
by_name(struct builder *b, struct br_slice name, struct br_slice space)
{
	enum br_avro_type type = type_of(name, BR_AVRO_STRING + 1);
	struct br_avro_node *node = NULL;
	char full[NAME_MAX_BYTES];

	if (type <= BR_AVRO_STRING)
		return node_new(b, type);
	if (name.len > 0 && name.len < NAME_MAX_BYTES && space.len < 1000) {
		if (full_name(name, space, full, sizeof(full)))
			node = find_named(b, full);
		if (node == NULL &&
		    full_name(name, (struct br_slice){name.data, 0}, full,
		        sizeof(full)))
			node = find_named(b, full);
	}
	return node != NULL ? node : fail_null(b, "unknown type", name);
}

/* ---- types */

static struct br_avro_node *build(struct builder *b,
    const struct br_json_value *json, struct br_slice space, unsigned depth);

static void
collect(struct br_slice text, struct br_json_value *found)
{
	struct br_json_iter it;
	struct br_json_member m;

	memset(found, 0, ATTRIBUTES * sizeof(*found));
	if (br_json_peek(text) != BR_JSON_OBJECT)
		return;
	br_json_begin(&it, text, NULL);
	while (br_json_next(&it, &m))
		for (int i = 0; i < ATTRIBUTES; i++)
			if (br_json_is(
			        &m.name, br_slice_str(attribute_names[i])))
				found[i] = m.value;
}

static bool
number_of(const struct br_json_value *json, int64_t *number)
{
	struct br_slice text = json->text;
	char digits[24], *end;

	if (json->kind == BR_JSON_STRING)
		text = br_json_inner(json);
	else if (json->kind != BR_JSON_NUMBER)
		return false;
	if (text.len == 0 || text.len >= sizeof(digits))
		return false;
	memcpy(digits, text.data, text.len);
	digits[text.len] = '\0';
	*number = strtoll(digits, &end, 10);
	return *end == '\0';
}

static size_t
elements(const struct br_json_value *array)
{
	struct br_json_iter it;
	struct br_json_member m;
	size_t count = 0;

	br_json_begin(&it, array->text, NULL);
	while (br_json_next(&it, &m))
		count++;
	return count;
}

/* Room for children and for labels, as the type has them. */
static bool
reserve(struct builder *b, struct br_avro_node *node, size_t count)
{
	if (count > NODES_MAX)
		return br_fail(b->err, "it has more than %d parts", NODES_MAX);
	if (node->type != BR_AVRO_ENUM)
		node->child = allocate(count, sizeof(struct br_avro_node *));
	if (node->type == BR_AVRO_ENUM || node->type == BR_AVRO_RECORD)
		node->label = allocate(count, sizeof(char *));
	return true;
}

static struct br_avro_node *
build_union(struct builder *b, const struct br_json_value *json,
    struct br_slice space, unsigned depth)
{
	struct br_avro_node *node = node_new(b, BR_AVRO_UNION), *branch;
	struct br_json_iter it;
	struct br_json_member m;

	if (node == NULL || !reserve(b, node, elements(json)))
		return NULL;
	br_json_begin(&it, json->text, NULL);
	while (br_json_next(&it, &m)) {
		branch = build(b, &m.value, space, depth + 1);
		if (branch == NULL)
			return NULL;
		if (branch->type == BR_AVRO_UNION)
			return fail_null(b, "a union in a union", json->text);
		node->child[node->count++] = branch;
	}
	return node->count > 0 ? node
	                       : fail_null(b, "an empty union", json->text);
}

static bool
build_fields(struct builder *b, struct br_avro_node *node,
    const struct br_json_value *fields, struct br_slice space, unsigned depth)
{
	struct br_json_value found[ATTRIBUTES];
	struct br_json_iter it;
	struct br_json_member m;
	struct br_avro_node *type;

	if (fields->kind != BR_JSON_ARRAY)
		return br_fail(
		    b->err, "the record %s has no fields", node->name);
	if (!reserve(b, node, elements(fields)))
		return false;
	br_json_begin(&it, fields->text, NULL);
	while (br_json_next(&it, &m)) {
		collect(m.value.text, found);
		if (m.value.kind != BR_JSON_OBJECT ||
		    found[NAME].kind != BR_JSON_STRING)
			return br_fail(b->err,
			    "a field of the record %s has no name", node->name);
		type = build(b, &found[TYPE], space, depth + 1);
		if (type == NULL)
			return false;
		node->child[node->count] = type;
		node->label[node->count++] = copy(found[NAME].text);
	}
	return true;
}

static bool
build_symbols(struct builder *b, struct br_avro_node *node,
    const struct br_json_value *symbols)
{
	struct br_json_iter it;
	struct br_json_member m;
	size_t count;

	if (symbols->kind != BR_JSON_ARRAY || (count = elements(symbols)) == 0)
		return br_fail(
		    b->err, "the enum %s has no symbols", node->name);
	if (!reserve(b, node, count))
		return false;
	br_json_begin(&it, symbols->text, NULL);
	while (br_json_next(&it, &m)) {
		if (m.value.kind != BR_JSON_STRING)
			return br_fail(b->err,
			    "a symbol of the enum %s is no text", node->name);
		node->label[node->count++] = copy(m.value.text);
	}
	return true;
}

static bool
define(struct builder *b, struct br_avro_node *node,
    const struct br_json_value *found, struct br_slice space)
{
	char full[NAME_MAX_BYTES];
	struct br_slice own = space, name = {NULL, 0};

	if (found[NAME].kind == BR_JSON_STRING)
		name = br_json_inner(&found[NAME]);
	if (name.len == 0)
		return br_fail(
		    b->err, "a %s without a name", type_names[node->type]);
	if (found[NAMESPACE].kind == BR_JSON_STRING)
		own = br_json_inner(&found[NAMESPACE]);
	if (name.len >= NAME_MAX_BYTES || own.len >= NAME_MAX_BYTES ||
	    !full_name(name, own, full, sizeof(full)))
		return br_fail(b->err, "the name of a type is too long");
	if (find_named(b, full) != NULL)
		return br_fail(b->err, "the type %s is defined twice", full);
	if (b->named_count >= NAMED_MAX)
		return br_fail(
		    b->err, "it has more than %d named types", NAMED_MAX);
	node->name = copy(br_slice_str(full));
	b->named[b->named_count++] = node;
	return true;
}

static bool
ends_with(const char *text, const char *end)
{
	size_t len = text != NULL ? strlen(text) : 0, n = strlen(end);

	return len >= n && strcmp(text + len - n, end) == 0;
}

/* A decimal says its scale itself, or in what Connect adds. */
static void
set_decimal(struct br_avro_node *node, const struct br_json_value *found)
{
	struct br_json_value inner[ATTRIBUTES];
	int64_t scale = 0;

	if (!(found[LOGICAL_TYPE].kind == BR_JSON_STRING &&
	        br_json_is(&found[LOGICAL_TYPE], br_slice_str("decimal"))) &&
	    !ends_with(node->connect, "connect.data.Decimal"))
		return;
	node->logical = BR_AVRO_DECIMAL;
	if (!number_of(&found[SCALE], &scale) &&
	    found[CONNECT_PARAMETERS].kind == BR_JSON_OBJECT) {
		collect(found[CONNECT_PARAMETERS].text, inner);
		(void)number_of(&inner[SCALE], &scale);
	}
	node->scale = scale;
}

/* Debezium's decimal that brings its own scale. */
static void
set_variable(struct br_avro_node *node)
{
	if (ends_with(br_avro_schema_name(node), "VariableScaleDecimal") &&
	    node->count == 2 && strcmp(node->label[0], "\"scale\"") == 0 &&
	    strcmp(node->label[1], "\"value\"") == 0 &&
	    node->child[0]->type == BR_AVRO_INT &&
	    node->child[1]->type == BR_AVRO_BYTES)
		node->logical = BR_AVRO_VARIABLE;
}

static struct br_avro_node *
build_one_child(struct builder *b, struct br_avro_node *node,
    const struct br_json_value *json, struct br_slice space, unsigned depth)
{
	struct br_avro_node *child = build(b, json, space, depth + 1);

	if (child == NULL || !reserve(b, node, 1))
		return NULL;
	node->child[0] = child;
	node->count = 1;
	return node;
}

/* A named type: record, enum or fixed. */
static struct br_avro_node *
build_named(struct builder *b, struct br_avro_node *node,
    const struct br_json_value *found, struct br_slice space, unsigned depth)
{
	int64_t size = -1;

	if (!define(b, node, found, space))
		return NULL;
	if (node->type == BR_AVRO_ENUM)
		return build_symbols(b, node, &found[SYMBOLS]) ? node : NULL;
	if (node->type == BR_AVRO_FIXED) {
		if (found[SIZE].kind != BR_JSON_NUMBER ||
		    !number_of(&found[SIZE], &size) || size < 1 ||
		    size > FIXED_MAX) {
			(void)br_fail(b->err,
			    "the size of the fixed type %s is none from 1 to "
			    "%d",
			    node->name, FIXED_MAX);
			return NULL;
		}
		node->size = (size_t)size;
		set_decimal(node, found);
		return node;
	}
	if (!build_fields(b, node, &found[FIELDS],
	        namespace_of(br_slice_str(node->name)), depth))
		return NULL;
	set_variable(node);
	return node;
}

static struct br_avro_node *
build_object(struct builder *b, const struct br_json_value *json,
    struct br_slice space, unsigned depth)
{
	struct br_json_value found[ATTRIBUTES];
	struct br_avro_node *node;
	enum br_avro_type type;

	collect(json->text, found);
	if (found[TYPE].kind != BR_JSON_STRING)
		/* {"type": {…}}: the inner one is meant. */
		return build(b, &found[TYPE], space, depth + 1);
	type = type_of(br_json_inner(&found[TYPE]), BR_AVRO_RECORD + 1);
	if (br_json_is(&found[TYPE], br_slice_str("error")))
		type = BR_AVRO_RECORD;
	if (type == BR_AVRO_UNION || type > BR_AVRO_RECORD)
		return by_name(b, br_json_inner(&found[TYPE]), space);
	node = node_new(b, type);
	if (node == NULL)
		return NULL;
	if (found[CONNECT_NAME].kind == BR_JSON_STRING)
		node->connect = copy(br_json_inner(&found[CONNECT_NAME]));
	if (type == BR_AVRO_BYTES)
		set_decimal(node, found);
	if (type == BR_AVRO_ARRAY)
		return build_one_child(b, node, &found[ITEMS], space, depth);
	if (type == BR_AVRO_MAP)
		return build_one_child(b, node, &found[VALUES], space, depth);
	if (type < BR_AVRO_FIXED)
		return node;
	return build_named(b, node, found, space, depth);
}

static struct br_avro_node *
build(struct builder *b, const struct br_json_value *json,
    struct br_slice space, unsigned depth)
{
	if (depth > BR_AVRO_DEPTH) {
		(void)br_fail(
		    b->err, "it is more than %d levels deep", BR_AVRO_DEPTH);
		return NULL;
	}
	switch (json->kind) {
	case BR_JSON_STRING:
		return by_name(b, br_json_inner(json), space);
	case BR_JSON_ARRAY:
		return build_union(b, json, space, depth);
	case BR_JSON_OBJECT:
		return build_object(b, json, space, depth);
	case BR_JSON_NONE:
		(void)br_fail(b->err, "a type is missing");
		return NULL;
	case BR_JSON_NULL:
	case BR_JSON_FALSE:
	case BR_JSON_TRUE:
	case BR_JSON_NUMBER:
		break;
	}
	return fail_null(b, "not a type", json->text);
}

/* ---- texts */

static bool
read_text(struct builder *b, struct br_slice text)
{
	struct br_json_value json;
	struct br_json_fault fault;
	struct br_avro_node *root;

	if (!br_json_check(text, NULL, &json, &fault))
		return br_fail(b->err, "it is not JSON: %s at byte %zu",
		    fault.what, fault.at);
	root = build(b, &json, (struct br_slice){(const uint8_t *)"", 0}, 0);
	b->schema->root = root;
	return root != NULL;
}

bool
br_avro_parse(struct br_avro_schema *s, const struct br_slice *texts,
    size_t count, struct br_error *err)
{
	struct builder *b = allocate(1, sizeof(*b));
	bool ok = count > 0 || br_fail(err, "there is no text");
	size_t total = 0;

	b->schema = s;
	b->err = err;
	for (size_t i = 0; i < count && ok; i++) {
		total += texts[i].len;
		ok = total <= TEXT_MAX
		         ? read_text(b, texts[i])
		         : br_fail(err,
		               "it has, with what it refers to, more than "
		               "%d bytes",
		               TEXT_MAX);
	}
	free(b);
	return ok;
}
