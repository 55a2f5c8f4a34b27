/* attempt: a client and one request, as the tests of this room need them. */
#ifndef TESTS_UNIT_HTTP_ATTEMPT_H
#define TESTS_UNIT_HTTP_ATTEMPT_H

/* clang-format off: cmocka needs these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <string.h>

#include "bridge/http/client.h"
#include "receiver.h"

/* Long enough for a slow machine, short enough to fail before ctest does. */
#define LIMIT_MS 20000

static inline struct br_http_rules
test_rules(void)
{
	return (struct br_http_rules){.timeout_ms = LIMIT_MS,
	    .connect_timeout_ms = LIMIT_MS,
	    .max_idle_ms = 60000,
	    .max_life_ms = 60000,
	    .ca_file = ""};
}

static inline struct br_http *
client_with(const struct br_http_rules *rules)
{
	struct br_error err = {""};
	struct br_http *h = br_http_new(rules, &err);

	if (h == NULL)
		fail_msg("%s", err.text);
	return h;
}

static inline struct br_http *
plain_client(void)
{
	struct br_http_rules rules = test_rules();

	return client_with(&rules);
}

/* With a limit that a test waits for. */
static inline struct br_http *
hasty_client(int64_t timeout_ms)
{
	struct br_http_rules rules = test_rules();

	rules.timeout_ms = timeout_ms;
	return client_with(&rules);
}

/* A request to the root of `target`, with this key. */
static inline struct br_http_request
request_to(const char *target, const char *url,
    const struct br_http_header *header, const char *body)
{
	return (struct br_http_request){.method = "POST",
	    .url = url,
	    .target = target,
	    .headers = header,
	    .header_count = header != NULL ? 1 : 0,
	    .body = br_slice_str(body)};
}

/* One attempt at target + path with a key and a small body. */
static inline struct br_outcome
post(struct br_http *h, const char *target, const char *path, const char *key)
{
	struct br_http_header header = {"Idempotency-Key", key};
	struct br_http_request rq;
	struct br_outcome out;
	char url[512];

	(void)snprintf(url, sizeof(url), "%s%s", target, path);
	rq = request_to(target, url, &header, "{\"n\":1}");
	br_http_perform(h, &rq, &out);
	return out;
}

/* Fails with everything that is known about the outcome. */
static inline void
expect(const char *what, const struct br_outcome *out, int status,
    enum br_transport transport)
{
	if (out->http_status == status && out->transport == transport &&
	    out->head_complete == (status != 0))
		return;
	fail_msg("%s: expected %d %s, got %d %s, head %d, curl %d: %s", what,
	    status, br_transport_name(transport), out->http_status,
	    br_transport_name(out->transport), out->head_complete,
	    out->curl_code, out->detail);
}

static inline struct receiver *
receiver_with(receiver_handler *on_request, void *context)
{
	struct receiver_options options = {
	    .on_request = on_request, .context = context};
	struct receiver *r = receiver_new(&options);

	assert_non_null(r);
	return r;
}

#endif
