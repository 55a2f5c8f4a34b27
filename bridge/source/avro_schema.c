/*
 * avro_schema: see the header. Read in avro_parse.c, judged in avro_graph.c.
 */
#include "bridge/source/avro_schema.h"

#include <avro.h>
#include <stdlib.h>

#include "bridge/base/buffer.h"
#include "bridge/source/avro_connect.h"
#include "bridge/source/avro_graph.h"
#include "bridge/source/avro_json.h"
#include "bridge/source/avro_parse.h"

static bool
make_handle(struct br_avro_schema *s, struct br_error *err)
{
	struct br_buffer text = {0};
	avro_schema_t handle = NULL;
	int rc = -1;

	if (br_avro_graph_text(s, &text))
		rc = avro_schema_from_json_length(text.data, text.len, &handle);
	br_buffer_free(&text);
	if (rc != 0)
		return br_fail(err, "avro-c does not take it");
	s->handle = handle;
	return true;
}

/* What stands at the top, also behind a union. */
static void
describe(struct br_avro_schema *s)
{
	for (struct br_avro_node *n = s->nodes; n != NULL; n = n->next) {
		bool top = n == s->root;

		for (size_t i = 0;
		     s->root->type == BR_AVRO_UNION && i < s->root->count; i++)
			top = top || n == s->root->child[i];
		if (top && n->type == BR_AVRO_RECORD)
			n->connect_schema = br_avro_connect_schema(n);
	}
}

struct br_avro_schema *
br_avro_schema_new(
    const struct br_slice *texts, size_t count, struct br_error *err)
{
	struct br_avro_schema *s = calloc(1, sizeof(*s));

	if (s == NULL)
		abort();
	if (br_avro_parse(s, texts, count, err) &&
	    br_avro_graph_check(s, err) && make_handle(s, err)) {
		describe(s);
		return s;
	}
	br_avro_schema_free(s);
	return NULL;
}

static void
node_free(struct br_avro_node *node)
{
	for (size_t i = 0; node->label != NULL && i < node->count; i++)
		free(node->label[i]);
	free(node->label);
	free(node->child);
	free(node->name);
	free(node->connect);
	free(node->connect_schema);
	free(node);
}

void
br_avro_schema_free(struct br_avro_schema *s)
{
	struct br_avro_node *next;

	if (s == NULL)
		return;
	br_avro_value_free(s->value);
	if (s->handle != NULL)
		(void)avro_schema_decref((avro_schema_t)s->handle);
	for (struct br_avro_node *n = s->nodes; n != NULL; n = next) {
		next = n->next;
		node_free(n);
	}
	free(s);
}

const char *
br_avro_schema_name(const struct br_avro_node *node)
{
	if (node->type != BR_AVRO_RECORD)
		return NULL;
	return node->connect != NULL ? node->connect : node->name;
}

const char *
br_avro_version(void)
{
	return BRIDGE_AVRO_VERSION;
}
