/*
 * worker: one attempt of one event, from the reference to the outcome. What
 * the pool's threads call without any lock held.
 */
#ifndef BRIDGE_RUNTIME_WORKER_H
#define BRIDGE_RUNTIME_WORKER_H

#include "bridge/config/config.h"
#include "bridge/core/scheduler.h"
#include "bridge/http/client.h"
#include "bridge/http/request.h"

/*
 * What the log needs of an event after it was given back: then it may be
 * freed at any moment.
 */
struct br_attempt_line {
	char topic[250];
	char key[64];
	char event[100];
	char route[64];
	char target[128];
	char word[24]; /* status, or the transport's name */
	int32_t partition;
	int64_t offset;
	uint32_t attempt;
	struct br_outcome outcome;
};

/*
 * Sends the event once and fills `outcome`; counts it in the metrics; adds
 * to ref->failure unless delivered. `line` is filled for a failed attempt;
 * for a delivered one it names the target at least.
 */
void br_worker_attempt(const struct br_config *config,
    const struct br_request_rules *rules, struct br_http *http,
    const atomic_bool *abort, struct br_ref *ref, struct br_outcome *outcome,
    struct br_attempt_line *line);

/* Logs a failed attempt and what follows, and what it did to its target. */
void br_worker_log(const struct br_config *config,
    const struct br_attempt_line *line, const struct br_decision *decision);

#endif
