/* avro: see the header. */
#include "bridge/source/avro.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bridge/source/avro_datum.h"
#include "bridge/source/avro_json.h"

struct br_avro {
	const struct br_config *config;
	struct br_registry *registry;
	struct br_avro_json *json[2]; /* by part */
};

struct br_avro *
br_avro_new(const struct br_config *config)
{
	struct br_avro *a = calloc(1, sizeof(*a));

	if (a == NULL)
		abort();
	a->config = config;
	a->json[BR_FRAME_VALUE] = br_avro_json_new();
	a->json[BR_FRAME_KEY] = br_avro_json_new();
	return a;
}

void
br_avro_free(struct br_avro *a)
{
	if (a == NULL)
		return;
	br_avro_json_free(a->json[BR_FRAME_VALUE]);
	br_avro_json_free(a->json[BR_FRAME_KEY]);
	free(a);
}

void
br_avro_use(struct br_avro *a, struct br_registry *registry)
{
	a->registry = registry;
}

bool
br_avro_on(const struct br_avro *a)
{
	return a->registry != NULL;
}

bool
br_avro_raw(const struct br_avro *a, struct br_slice json_string,
    struct br_slice *content)
{
	return br_avro_json_raw(a->json[BR_FRAME_VALUE], json_string, content);
}

static void dead(struct br_avro_value_read *out, const struct br_frame *frame,
    const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* What begins with 00 by chance may be no Avro at all: say what to do. */
static void
dead(struct br_avro_value_read *out, const struct br_frame *frame,
    const char *reason, const char *format, ...)
{
	size_t len;
	va_list args;

	out->kind = BR_AVRO_DEAD;
	out->reason = reason;
	va_start(args, format);
	(void)vsnprintf(out->detail, sizeof(out->detail) - 100, format, args);
	va_end(args);
	len = strlen(out->detail);
	if (!frame->from_header)
		(void)snprintf(out->detail + len, sizeof(out->detail) - len,
		    "; values that are no Avro need source.formats = bytes "
		    "for this topic");
}

static void
read_body(struct br_avro *a, struct br_avro_schema *schema,
    const struct br_frame *frame, enum br_frame_part part,
    struct br_arena *arena, struct br_avro_value_read *out)
{
	const struct br_avro_node *node = schema->root;
	struct br_avro_fault fault;
	struct br_slice inner;
	char key[BR_SCHEMA_KEY_TEXT];

	br_schema_key_text(&frame->key, key);
	if (frame->bare_bytes && node->type == BR_AVRO_BYTES &&
	    node->logical == BR_AVRO_PLAIN) {
		out->kind = BR_AVRO_CONTENT;
		out->text = frame->body;
		return;
	}
	if (!br_avro_datum_check(node, frame->body, &fault)) {
		dead(out, frame, "avro-decode",
		    "the bytes do not fit the schema with %s: %s, at byte %zu "
		    "of %zu",
		    key, fault.what, fault.at, frame->body.len);
		return;
	}
	node = br_avro_datum_top(node, frame->body, &inner);
	if (node->type == BR_AVRO_NULL) {
		out->kind = BR_AVRO_EMPTY;
		return;
	}
	if (node->logical == BR_AVRO_PLAIN &&
	    (node->type == BR_AVRO_STRING || node->type == BR_AVRO_BYTES ||
	        node->type == BR_AVRO_FIXED)) {
		out->kind = BR_AVRO_CONTENT;
		out->text = inner;
		return;
	}
	out->record =
	    node->type == BR_AVRO_RECORD && node->logical == BR_AVRO_PLAIN;
	schema->values = fault.values;
	if (!br_avro_json_render(
	        a->json[part], schema, frame->body, arena, &out->text)) {
		dead(out, frame, "avro-decode",
		    "avro-c cannot read it with the schema with %s", key);
		return;
	}
	out->kind = BR_AVRO_JSON;
	if (node->connect_schema != NULL)
		out->schema = br_slice_str(node->connect_schema);
}

void
br_avro_read(struct br_avro *a, const struct br_record *record,
    enum br_frame_part part, bool known, struct br_arena *arena,
    struct br_avro_value_read *out)
{
	struct br_frame frame = {.kind = BR_FRAME_NONE};
	struct br_avro_schema *schema;
	const char *why;
	char key[BR_SCHEMA_KEY_TEXT];

	memset(out, 0, sizeof(*out));
	if (a->registry != NULL)
		frame =
		    br_avro_frame(record, part, &a->config->registry, known);
	if (frame.kind == BR_FRAME_NONE)
		return;
	if (frame.kind == BR_FRAME_UNSUPPORTED) {
		dead(out, &frame, "unsupported-framing", "%s", frame.what);
		return;
	}
	out->key = frame.key;
	br_schema_key_text(&frame.key, key);
	switch (br_registry_find(a->registry, &frame.key, &schema, &why)) {
	case BR_SCHEMA_WAIT:
		out->kind = BR_AVRO_WAIT;
		break;
	case BR_SCHEMA_HERE:
		read_body(a, schema, &frame, part, arena, out);
		break;
	case BR_SCHEMA_UNKNOWN:
		dead(out, &frame, "schema-not-found",
		    "the registry has no schema with %s: %s", key, why);
		break;
	case BR_SCHEMA_UNUSABLE:
		dead(out, &frame, "avro-decode",
		    "the schema with %s cannot be used: %s", key, why);
		break;
	}
}
