/* fields: see the header. */
#include "bridge/http/fields.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <curl/curl.h>

/* Lines that we add ourselves, at most. */
#define OWN_LINES 3

static void
add_line(struct br_fields *f, const char *text)
{
	br_buffer_add(&f->text, text, strlen(text) + 1);
}

static void
add_header(struct br_fields *f, const struct br_http_header *header)
{
	br_buffer_str(&f->text, header->name);
	if (header->value[0] == '\0') {
		/* libcurl's way to say: the header, and nothing in it */
		add_line(f, ";");
		return;
	}
	br_buffer_str(&f->text, ": ");
	add_line(f, header->value);
}

static void
reserve_nodes(struct br_fields *f, size_t count)
{
	struct curl_slist *node;

	if (count <= f->capacity)
		return;
	node = realloc(f->node, count * sizeof(*node));
	if (node == NULL)
		abort();
	f->node = node;
	f->capacity = count;
}

/* Chains the lines; the text does not move any more. */
static struct curl_slist *
chain(struct br_fields *f)
{
	char *at = f->text.data, *end = at + f->text.len;
	size_t n = 0;

	for (; at < end; at += strlen(at) + 1) {
		f->node[n].data = at;
		f->node[n].next = &f->node[n + 1];
		n++;
	}
	f->node[n - 1].next = NULL;
	return f->node;
}

struct curl_slist *
br_fields_build(struct br_fields *f, const struct br_http_request *request)
{
	bool typed = false;

	br_buffer_clear(&f->text);
	reserve_nodes(f, request->header_count + OWN_LINES);
	add_line(f, "Expect:");
	add_line(f, "Accept:");
	for (size_t i = 0; i < request->header_count; i++) {
		const struct br_http_header *header = &request->headers[i];

		if (strcasecmp(header->name, "Content-Type") == 0)
			typed = true;
		add_header(f, header);
	}
	if (!typed)
		add_line(f, "Content-Type:");
	return chain(f);
}

void
br_fields_free(struct br_fields *f)
{
	br_buffer_free(&f->text);
	free(f->node);
	*f = (struct br_fields){0};
}
