/* avro_graph: see the header. */
#include "bridge/source/avro_graph.h"

/* Values in one instance, before anything was read; avro-c allocates them. */
#define WEIGHT_MAX 10000
/* Types inside types, as avro-c will recurse over them. */
#define LEVELS 256

enum mark { NEW, OPEN, DONE };

static void
unmark(struct br_avro_schema *s)
{
	for (struct br_avro_node *n = s->nodes; n != NULL; n = n->next)
		n->mark = NEW;
}

/* Follows records that are fields of records: there must be an end. */
static bool
ends(struct br_avro_node *node, unsigned level)
{
	if (node->mark == DONE || node->type != BR_AVRO_RECORD)
		return true;
	if (node->mark == OPEN || level > LEVELS)
		return false;
	node->mark = OPEN;
	for (size_t i = 0; i < node->count; i++)
		if (!ends(node->child[i], level + 1))
			return false;
	node->mark = DONE;
	return true;
}

/* May a value of this type have no bytes? Records have an end by now. */
static bool
may_be_empty(struct br_avro_node *node)
{
	if (node->type == BR_AVRO_NULL)
		return true;
	if (node->type != BR_AVRO_RECORD)
		return false;
	/* Asked again and again for one record: its first answer stands. */
	if (node->mark != NEW)
		return node->mark == OPEN;
	for (size_t i = 0; i < node->count; i++)
		if (!may_be_empty(node->child[i])) {
			node->mark = DONE;
			return false;
		}
	node->mark = OPEN;
	return true;
}

/*
 * Values in one instance: avro-c gives a record room for all its fields, and
 * a union for its largest branch. A type inside itself is a pointer there.
 * 0: too many, or too deep.
 */
static size_t
weigh(struct br_avro_node *node, unsigned level)
{
	size_t sum = 0, w;

	if (node->mark == DONE)
		return node->weight;
	if (node->mark == OPEN)
		return 1;
	if (level > LEVELS)
		return 0;
	node->mark = OPEN;
	if (node->type == BR_AVRO_FIXED)
		sum = node->size / 32;
	for (size_t i = 0; node->child != NULL && i < node->count; i++) {
		w = weigh(node->child[i], level + 1);
		if (w == 0 || w > WEIGHT_MAX)
			return 0;
		if (node->type == BR_AVRO_RECORD)
			sum += w;
		else if (node->type == BR_AVRO_UNION && w > sum)
			sum = w;
		if (sum > WEIGHT_MAX)
			return 0;
	}
	node->weight = sum + 1;
	node->mark = DONE;
	return node->weight;
}

bool
br_avro_graph_check(struct br_avro_schema *s, struct br_error *err)
{
	struct br_avro_node *n;

	unmark(s);
	for (n = s->nodes; n != NULL; n = n->next)
		if (!ends(n, 0))
			return br_fail(err,
			    "the record %s holds itself, and would have no end",
			    n->name);
	unmark(s);
	for (n = s->nodes; n != NULL; n = n->next)
		if (n->type == BR_AVRO_ARRAY && may_be_empty(n->child[0]))
			return br_fail(err,
			    "an array of items without bytes has no limit");
	unmark(s);
	for (n = s->nodes; n != NULL; n = n->next)
		if (weigh(n, 0) == 0)
			return br_fail(err,
			    "one value of it would hold more than %d others, "
			    "or more than %d levels",
			    WEIGHT_MAX, LEVELS);
	return true;
}

/* ---- text */

struct text {
	struct br_buffer *out;
	unsigned level;
};

static bool write_type(struct text *t, struct br_avro_node *node);

static bool
write_list(struct text *t, struct br_avro_node *node)
{
	for (size_t i = 0; i < node->count; i++) {
		br_buffer_str(t->out, i > 0 ? "," : "");
		if (node->type == BR_AVRO_RECORD)
			br_buffer_format(
			    t->out, "{\"name\":\"f%zu\",\"type\":", i);
		if (node->type == BR_AVRO_ENUM)
			br_buffer_format(t->out, "\"s%zu\"", i);
		else if (!write_type(t, node->child[i]))
			return false;
		br_buffer_str(t->out, node->type == BR_AVRO_RECORD ? "}" : "");
	}
	return true;
}

static bool
write_inner(struct text *t, struct br_avro_node *node, const char *kind,
    const char *list, const char *end)
{
	br_buffer_format(t->out, "{\"type\":\"%s\",", kind);
	if (node->name != NULL)
		br_buffer_format(t->out, "\"name\":\"n%zu\",", node->number);
	br_buffer_format(t->out, "\"%s\":", list);
	if (node->type == BR_AVRO_FIXED)
		br_buffer_format(t->out, "%zu", node->size);
	else if (*end != '\0')
		br_buffer_str(t->out, "[");
	if (!write_list(t, node))
		return false;
	br_buffer_str(t->out, end);
	br_buffer_str(t->out, "}");
	return true;
}

/* A named type in full where it comes first, then by its name. */
static bool
write_known(struct text *t, struct br_avro_node *node)
{
	static const char *const plain[] = {"null", "boolean", "int", "long",
	    "float", "double", "bytes", "string"};
	bool ok = true;

	if (node->type <= BR_AVRO_STRING) {
		br_buffer_format(t->out, "\"%s\"", plain[node->type]);
		return true;
	}
	if (node->mark == DONE && node->name != NULL) {
		br_buffer_format(t->out, "\"n%zu\"", node->number);
		return true;
	}
	node->mark = DONE;
	if (node->type == BR_AVRO_RECORD)
		return write_inner(t, node, "record", "fields", "]");
	if (node->type == BR_AVRO_ENUM)
		return write_inner(t, node, "enum", "symbols", "]");
	if (node->type == BR_AVRO_FIXED)
		return write_inner(t, node, "fixed", "size", "");
	if (node->type == BR_AVRO_ARRAY)
		return write_inner(t, node, "array", "items", "");
	if (node->type == BR_AVRO_MAP)
		return write_inner(t, node, "map", "values", "");
	br_buffer_str(t->out, "[");
	ok = write_list(t, node);
	br_buffer_str(t->out, "]");
	return ok;
}

static bool
write_type(struct text *t, struct br_avro_node *node)
{
	bool ok;

	if (++t->level > LEVELS)
		return false;
	ok = write_known(t, node);
	t->level--;
	return ok;
}

/* The nodes are the schema's own; marking them changes nothing else. */
bool
br_avro_graph_text(struct br_avro_schema *s, struct br_buffer *out)
{
	struct text t = {.out = out};
	struct br_avro_node *n = s->nodes;

	unmark(s);
	while (n != NULL && n != s->root)
		n = n->next;
	return n != NULL && write_type(&t, n);
}
