/*
 * request: the headers of one event, the same at every attempt (P3).
 */
#ifndef BRIDGE_HTTP_REQUEST_H
#define BRIDGE_HTTP_REQUEST_H

#include "bridge/config/config.h"
#include "bridge/core/event.h"
#include "bridge/http/client.h"

struct br_request_rules; /* made once from the configuration, immutable */

struct br_request_rules *br_request_rules_new(const struct br_config *config);
void br_request_rules_free(struct br_request_rules *r);

#define BR_REQUEST_HEADERS 16

/* A built request; the strings live in it or in the event. */
struct br_request {
	struct br_http_request http;
	struct br_http_header header[BR_REQUEST_HEADERS];
	char key[1100]; /* the idempotency key in its style */
};

/* Fills `out` from the event. Any thread. */
void br_request_build(const struct br_request_rules *rules,
    const struct br_event *event, struct br_request *out);

#endif
