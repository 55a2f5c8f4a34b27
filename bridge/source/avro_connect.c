/* avro_connect: see the header. */
#include "bridge/source/avro_connect.h"

#include "bridge/base/buffer.h"

#define LEVELS 16          /* an envelope needs three */
#define TEXT_MAX (1 << 18) /* types that are used twice are written twice */

static const char *const connect_types[] = {"null", "boolean", "int32", "int64",
    "float", "double", "bytes", "string", "bytes", "string", "array", "map", "",
    "struct"};

static void write_type(struct br_buffer *out, const struct br_avro_node *node,
    const char *field, unsigned level);

/* Of a union the first branch that is something. */
static const struct br_avro_node *
meant(const struct br_avro_node *node)
{
	if (node->type != BR_AVRO_UNION)
		return node;
	for (size_t i = 0; i < node->count; i++)
		if (node->child[i]->type != BR_AVRO_NULL)
			return node->child[i];
	return node->child[0];
}

static void
write_fields(
    struct br_buffer *out, const struct br_avro_node *node, unsigned level)
{
	br_buffer_str(out, ",\"fields\":[");
	for (size_t i = 0; i < node->count && out->len < TEXT_MAX; i++) {
		br_buffer_str(out, i > 0 ? "," : "");
		write_type(out, node->child[i], node->label[i], level + 1);
	}
	br_buffer_str(out, "]");
}

/* `field` is a JSON string, or NULL. */
static void
write_type(struct br_buffer *out, const struct br_avro_node *node,
    const char *field, unsigned level)
{
	const struct br_avro_node *t = meant(node);
	const char *name =
	    t->type == BR_AVRO_RECORD ? br_avro_schema_name(t) : t->connect;

	if (t->logical != BR_AVRO_PLAIN) {
		br_buffer_str(out, "{\"type\":\"double\"");
	} else {
		br_buffer_format(
		    out, "{\"type\":\"%s\"", connect_types[t->type]);
		if (name != NULL) {
			br_buffer_str(out, ",\"name\":\"");
			br_buffer_str(out, name);
			br_buffer_str(out, "\"");
		}
		if (t->type == BR_AVRO_RECORD && level < LEVELS)
			write_fields(out, t, level);
	}
	if (field != NULL) {
		br_buffer_str(out, ",\"field\":");
		br_buffer_str(out, field);
	}
	br_buffer_str(out, "}");
}

char *
br_avro_connect_schema(const struct br_avro_node *node)
{
	struct br_buffer out = {0};

	write_type(&out, node, NULL, 0);
	if (out.len >= TEXT_MAX)
		br_buffer_free(&out);
	return out.data;
}
