/*
 * verdict: what becomes of an event after an attempt. One pure function over
 * the outcome and the rules of `retry` (the design's status lists).
 */
#ifndef BRIDGE_CORE_VERDICT_H
#define BRIDGE_CORE_VERDICT_H

#include "bridge/core/outcome.h"
#include "bridge/core/status.h"

enum br_verdict { BR_DELIVERED, BR_AGAIN, BR_NEVER };

struct br_verdict_rules {
	struct br_status_set success_on;  /* delivered, besides 2xx */
	struct br_status_set retry_on;    /* again, wins over the lists below */
	struct br_status_set drop_on;     /* never */
	struct br_status_set throttle_on; /* again, and a target failure */
};

/*
 * The verdict. Order: the text of a limit in the body (again, whatever the
 * status), success_on, retry_on, drop_on, throttle_on, then the
 * built-in lists; 2xx is delivered once its header block was complete,
 * whatever happened to the body; no complete header block is "again", but
 * for an address that an event may not name, which is "never".
 */
enum br_verdict br_verdict(
    const struct br_verdict_rules *rules, const struct br_outcome *outcome);

/*
 * True when the outcome says nothing about the event but something about the
 * target: no connection, DNS, TLS, time-outs, reset, 401 403 407 429 502 503
 * 504, a status in throttle_on, or the text of a limit. False for whatever is not "again": a status
 * that success_on or drop_on names is an answer about the event.
 */
bool br_target_failure(
    const struct br_verdict_rules *rules, const struct br_outcome *outcome);

/*
 * True when a target failure asks for less: the text of a limit, a status in
 * throttle_on, or 503 with Retry-After.
 */
bool br_throttled(
    const struct br_verdict_rules *rules, const struct br_outcome *outcome);

/*
 * Reason code of the dead letter (wire-formats 3.4), static text:
 * "url-forbidden", "http-gone", "http-permanent"; for an outcome that is not
 * "never" the attempts are used up: "http-retries-exhausted".
 */
const char *br_dead_reason(
    const struct br_verdict_rules *rules, const struct br_outcome *outcome);

/* "2xx" … "5xx", "throttled" for the text of a limit, "other", or the
 * transport's name: the metric's label. */
const char *br_outcome_class(const struct br_outcome *outcome);

#endif
