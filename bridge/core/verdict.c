/* verdict: see the header. */
#include "bridge/core/verdict.h"

#include <stdlib.h>

/*
 * An answer counts once its header block had ended: what the connection did
 * afterwards does not take back what the receiver said.
 */
static bool
answered(const struct br_outcome *outcome)
{
	return outcome->head_complete && outcome->http_status != 0;
}

/* Statuses that say that the same request will never be accepted. */
static bool
is_never(int status)
{
	switch (status) {
	case 400:
	case 402:
	case 405:
	case 406:
	case 410:
	case 411:
	case 413:
	case 414:
	case 415:
	case 417:
	case 422:
	case 426:
	case 428:
	case 431:
	case 451:
	case 501:
	case 505:
	case 506:
	case 508:
	case 510:
	case 511:
		return true;
	default:
		return false;
	}
}

/* Statuses that say something about the target and not about the event. */
static bool
is_target_status(int status)
{
	switch (status) {
	case 401:
	case 403:
	case 407:
	case 429:
	case 502:
	case 503:
	case 504:
		return true;
	default:
		return false;
	}
}

static bool
is_target_transport(enum br_transport t)
{
	switch (t) {
	case BR_TRANSPORT_REFUSED:
	case BR_TRANSPORT_UNREACHABLE:
	case BR_TRANSPORT_DNS:
	case BR_TRANSPORT_TLS:
	case BR_TRANSPORT_CONNECT_TIMEOUT:
	case BR_TRANSPORT_TIMEOUT:
	case BR_TRANSPORT_RESET:
		return true;
	/* A dying receiver ends a connection with FIN or RST by chance (was
	 * the request read?), so both must mean the same. */
	case BR_TRANSPORT_EMPTY:
		return true;
	case BR_TRANSPORT_OK:
	case BR_TRANSPORT_BAD_RESPONSE:
	case BR_TRANSPORT_FORBIDDEN:
	case BR_TRANSPORT_OTHER:
		return false;
	}
	abort();
}

enum br_verdict
br_verdict(
    const struct br_verdict_rules *rules, const struct br_outcome *outcome)
{
	int status = outcome->http_status;

	if (!answered(outcome))
		return outcome->transport == BR_TRANSPORT_FORBIDDEN ? BR_NEVER
		                                                    : BR_AGAIN;
	/* What a receiver says in words is more than its status. */
	if (outcome->throttle_text)
		return BR_AGAIN;
	if (br_status_set_has(&rules->success_on, status))
		return BR_DELIVERED;
	if (br_status_set_has(&rules->retry_on, status))
		return BR_AGAIN;
	if (br_status_set_has(&rules->drop_on, status))
		return BR_NEVER;
	if (br_status_set_has(&rules->throttle_on, status))
		return BR_AGAIN;
	if (status >= 200 && status <= 299)
		return BR_DELIVERED;
	return is_never(status) ? BR_NEVER : BR_AGAIN;
}

bool
br_target_failure(
    const struct br_verdict_rules *rules, const struct br_outcome *outcome)
{
	/* A status that success_on or drop_on names is an answer about the
	 * event: whoever wrote the list said so. */
	if (br_verdict(rules, outcome) != BR_AGAIN)
		return false;
	if (!answered(outcome))
		return is_target_transport(outcome->transport);
	return outcome->throttle_text ||
	       is_target_status(outcome->http_status) ||
	       br_status_set_has(&rules->throttle_on, outcome->http_status);
}

bool
br_throttled(
    const struct br_verdict_rules *rules, const struct br_outcome *outcome)
{
	if (!outcome->head_complete)
		return false;
	return outcome->throttle_text ||
	       br_status_set_has(&rules->throttle_on, outcome->http_status) ||
	       (outcome->http_status == 503 && outcome->retry_after_given);
}

const char *
br_dead_reason(
    const struct br_verdict_rules *rules, const struct br_outcome *outcome)
{
	if (outcome->transport == BR_TRANSPORT_FORBIDDEN)
		return "url-forbidden";
	if (br_verdict(rules, outcome) != BR_NEVER)
		return "http-retries-exhausted";
	return outcome->http_status == 410 ? "http-gone" : "http-permanent";
}

const char *
br_outcome_class(const struct br_outcome *outcome)
{
	if (!answered(outcome))
		return outcome->transport == BR_TRANSPORT_OK
		           ? "other"
		           : br_transport_name(outcome->transport);
	if (outcome->throttle_text)
		return "throttled";
	switch (outcome->http_status / 100) {
	case 2:
		return "2xx";
	case 3:
		return "3xx";
	case 4:
		return "4xx";
	case 5:
		return "5xx";
	default:
		return "other";
	}
}
