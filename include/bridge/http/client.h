/*
 * client: one attempt at a time over at most one connection.
 *
 * One client per worker thread, used by that thread only. It owns at most
 * one live socket, idle ones included, whatever happens: another origin,
 * happy eyeballs, a connect time-out, a close by the server (P2). It never
 * follows a redirect, sends no Expect, asks for no compression, uses no
 * proxy of the environment, and always verifies TLS.
 */
#ifndef BRIDGE_HTTP_CLIENT_H
#define BRIDGE_HTTP_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/base/error.h"
#include "bridge/base/slice.h"
#include "bridge/core/outcome.h"

#define BR_HTTP_USER_AGENT "outbox-bridge/" BRIDGE_VERSION

/* Copied by br_http_new. */
struct br_http_rules {
	int64_t timeout_ms; /* whole attempt */
	int64_t connect_timeout_ms;
	int64_t max_idle_ms; /* an idle connection is used up to this */
	int64_t max_life_ms;
	const char *ca_file;    /* "": the system's store */
	const char *user_agent; /* NULL: BR_HTTP_USER_AGENT */
	const char *resolve; /* tests: curl's HOST:PORT:ADDRESS[,…], or NULL */
};

struct br_http;

/* Before the first thread starts, and after the last one ended. */
bool br_http_global_init(struct br_error *err);
void br_http_global_cleanup(void);

/* "libcurl/7.88.1 OpenSSL/3.0.17 …", for --version. */
const char *br_http_version(void);

/* NULL and a reason, such as a CA file that cannot be read. */
struct br_http *br_http_new(
    const struct br_http_rules *rules, struct br_error *err);
/* Closes its connection. */
void br_http_free(struct br_http *h);

/* One request header; values hold no CR, LF or NUL (checked before). */
struct br_http_header {
	const char *name;
	const char *value; /* "": sent as an empty header */
};

struct br_http_request {
	const char *method; /* "POST"; another one is sent with a body too */
	const char *url;    /* bytes above 0x7E are percent-encoded */
	const char *target; /* scheme://host:port of url: the origin */
	const struct br_http_header *headers;
	size_t header_count;
	struct br_slice body;
	bool guard; /* refuse loopback, link-local, private addresses */
	/* What the text of a limit looks like (core/phrase.h, checked before);
	 * NULL or "": nothing is looked for. */
	const char *throttle_match;
	const atomic_bool *abort; /* NULL, or: becomes true → end in 1 s */
};

/*
 * Makes one attempt and fills `out`. Returns when it is over, at the latest
 * after timeout_ms plus about 0.3 s (0.5 s when it also closed a stale
 * connection). An answer whose head is complete keeps its status whatever
 * ended the body; `transport` then says how the body ended: OK when whole or
 * when we stopped reading (64 KiB), else TIMEOUT, RESET, … `throttle_text`
 * says whether the first 64 KiB of the body, or what came of them, hold
 * `throttle_match`. A request that failed on a reused
 * connection before any byte of the answer is sent once more on a new one
 * (never after a time-out); never more than twice in all.
 */
void br_http_perform(struct br_http *h, const struct br_http_request *request,
    struct br_outcome *out);

/* Closes the idle connection when it is past max_idle_ms or max_life_ms
 * (`now_ms` of the monotonic clock); returns when to ask again, INT64_MAX: no
 * connection is open. */
int64_t br_http_expire(struct br_http *h, int64_t now_ms);

/* Closes the connection now. */
void br_http_close(struct br_http *h);

#endif
