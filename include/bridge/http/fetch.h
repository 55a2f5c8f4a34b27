/*
 * fetch: one blocking GET at a time, for what the bridge itself needs to
 * know (schemas). Not one of the connections to receivers.
 *
 * Redirects are not followed, answers have a limit. One thread uses it; only
 * br_fetch_abort() may come from another.
 */
#ifndef BRIDGE_HTTP_FETCH_H
#define BRIDGE_HTTP_FETCH_H

#include <stdint.h>

#include "bridge/base/buffer.h"
#include "bridge/base/error.h"

#define BR_FETCH_MAX (8 * 1024 * 1024) /* bytes of a body */

struct br_fetch_rules {
	const char *user; /* "": no basic authentication */
	const char *password;
	const char *token;   /* "": no bearer token */
	const char *ca_file; /* "": the system's */
	int64_t timeout_ms;  /* of one GET */
	int64_t connect_timeout_ms;
};

struct br_fetch;

/* NULL and a reason for an unusable ca_file. The rules are copied. */
struct br_fetch *br_fetch_new(
    const struct br_fetch_rules *rules, struct br_error *err);
void br_fetch_free(struct br_fetch *f);

/*
 * One GET of JSON. The answer's status, with its body appended to `body`; or 0
 * and a reason when there was no answer, or one without an end.
 */
int br_fetch_get(struct br_fetch *f, const char *url, struct br_buffer *body,
    struct br_error *err);

/* Any thread: ends the GET under way, and every later one at once. */
void br_fetch_abort(struct br_fetch *f);

#endif
