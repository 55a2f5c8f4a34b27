/*
 * bridge: the whole of it, wired and running; what `run` and `demo` start.
 *
 * br_bridge_run() is the Kafka thread: it owns the consumer, ledgers,
 * commits and dead letters, and returns when the bridge has stopped. The
 * other calls may come from any thread, br_bridge_stop() also from a signal
 * handler.
 */
#ifndef BRIDGE_RUNTIME_BRIDGE_H
#define BRIDGE_RUNTIME_BRIDGE_H

#include "bridge/base/buffer.h"
#include "bridge/base/error.h"
#include "bridge/config/config.h"

/* Exit statuses (sysexits(3) where there is one). */
enum br_exit {
	BR_EXIT_OK = 0,
	BR_EXIT_FATAL = 1, /* a restart may cure it */
	BR_EXIT_USAGE = 64,
	BR_EXIT_UNAVAILABLE = 69, /* a needed service or topic is missing */
	BR_EXIT_INCOMPLETE = 75,
	BR_EXIT_CONFIG = 78
};

struct br_bridge;

/*
 * Makes everything that needs no connection. NULL and a reason, with the
 * exit status for it in `*status`. `config` must outlive the bridge.
 */
struct br_bridge *br_bridge_new(
    const struct br_config *config, int *status, struct br_error *err);

/* Runs to the end and returns the exit status; logs why. */
int br_bridge_run(struct br_bridge *b);

/* Asks it to drain and end, within limits.shutdown_ms. Only writes to a
 * descriptor and an atomic: safe in a signal handler. */
void br_bridge_stop(struct br_bridge *b);

/* Asks it to look at its configuration file again (HUP). As above. */
void br_bridge_reload(struct br_bridge *b);

/* What /readyz says: partitions are assigned, and no alarm speaks against it.
 * The reason why not is appended. */
bool br_bridge_ready(struct br_bridge *b, struct br_buffer *why);

/* Port of the admin pages, 0 when they are off. After br_bridge_new(). */
uint16_t br_bridge_admin_port(const struct br_bridge *b);

enum br_freed {
	BR_FREED,
	BR_FREED_BUT_CLIENT, /* threads of librdkafka still run: the process
	                      * should end with _exit() */
	BR_FREED_NOT         /* threads of ours still run: nothing may be
	                      * freed, nor what the configuration holds */
};

/* Frees it, after it has run or instead. */
enum br_freed br_bridge_free(struct br_bridge *b);

#endif
