/*
 * request: the headers of one event, the same at every attempt (P3).
 */
#ifndef BRIDGE_HTTP_REQUEST_H
#define BRIDGE_HTTP_REQUEST_H

#include "bridge/config/config.h"
#include "bridge/core/event.h"
#include "bridge/core/url.h"
#include "bridge/http/client.h"

struct br_request_rules; /* made once from the configuration, immutable */

#define BR_REQUEST_HEADERS 16
/* Names of delivery.idempotency_headers at most; further ones are left out. */
#define BR_REQUEST_KEY_HEADERS BR_CONFIG_KEY_HEADERS

/* Copies what it needs. */
struct br_request_rules *br_request_rules_new(const struct br_config *config);
void br_request_rules_free(struct br_request_rules *r);

/* A built request; the strings live in it or in the event. It points into
 * itself: build it where it stays. */
struct br_request {
	struct br_http_request http;
	struct br_http_header header[BR_REQUEST_HEADERS];
	char key[1100]; /* the idempotency key in its style */
};

/*
 * Fills `out` from the event, `http.abort` with NULL. The key goes out as it
 * is (raw) or as a quoted string of RFC 8941 (sf); one that a header cannot
 * carry, or that is too long, as sha256-HEX of its bytes. A traceparent,
 * tracestate or content type that a header cannot carry is left out (the
 * content type: application/octet-stream). Any thread.
 */
void br_request_build(const struct br_request_rules *rules,
    const struct br_event *event, struct br_request *out);

/* The headers of a request on the wire, those of libcurl's own among them. */
struct br_request_wire {
	size_t count;
	struct br_http_header header[BR_REQUEST_HEADERS + 3];
	char host[BR_HOST_MAX + 8];
	char length[24];
};

/* Lists them in the order in which they are sent, for a person who asks; the
 * strings live in `request` and `out`, which must stay where it is. */
void br_request_list(
    const struct br_request *request, struct br_request_wire *out);

#endif
