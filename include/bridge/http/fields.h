/*
 * fields: the header lines of a request in the form that libcurl reads, in
 * memory that is kept from request to request. Owned by the client's thread.
 */
#ifndef BRIDGE_HTTP_FIELDS_H
#define BRIDGE_HTTP_FIELDS_H

#include "bridge/base/buffer.h"
#include "bridge/http/client.h"

struct curl_slist;

struct br_fields {
	struct br_buffer text;   /* the lines, each with its NUL */
	struct curl_slist *node; /* one per line */
	size_t capacity;
};

/*
 * The headers of `request`, and the ones that libcurl would add by itself
 * switched off (Expect, Accept, a content type of its own). Valid until the
 * next call.
 */
struct curl_slist *br_fields_build(
    struct br_fields *f, const struct br_http_request *request);

void br_fields_free(struct br_fields *f);

#endif
