/*
 * server: the admin pages (libmicrohttpd) on a thread of its own.
 *
 * GET /healthz 200 while the process lives; /readyz 200 or 503 with one line
 * that says why; /metrics Prometheus text. HEAD as GET; other paths 404,
 * other methods 405. It asks the bridge through functions that may be called
 * from any thread and must not block.
 */
#ifndef BRIDGE_ADMIN_SERVER_H
#define BRIDGE_ADMIN_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/base/buffer.h"
#include "bridge/base/error.h"

struct br_admin_source {
	void *opaque;
	/* True when ready; appends one line that says why not. */
	bool (*ready)(void *opaque, struct br_buffer *why);
	/* Called before /metrics is rendered, to set gauges. */
	void (*refresh)(void *opaque);
};

struct br_admin;

/*
 * Starts listening on an IPv4 or IPv6 address (no name, no brackets); port 0
 * takes any that is free. `source` is copied; its functions are called by the
 * thread of the server until br_admin_stop returns. NULL and a reason
 * (address in use, …).
 */
struct br_admin *br_admin_start(const char *host, uint16_t port,
    const struct br_admin_source *source, struct br_error *err);

/* The port that it listens on (for port 0). */
uint16_t br_admin_port(const struct br_admin *a);

/* Closes all connections and joins the thread. Accepts NULL. */
void br_admin_stop(struct br_admin *a);

/* Version of libmicrohttpd, for --version. */
const char *br_admin_version(void);

#endif
