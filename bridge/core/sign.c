/* sign: see the header. */
#include "bridge/core/sign.h"

enum br_sign
br_sign_of(
    const struct br_verdict_rules *rules, const struct br_outcome *outcome)
{
	enum br_verdict verdict = br_verdict(rules, outcome);

	if (verdict == BR_DELIVERED)
		return BR_SIGN_SUCCESS;
	/* A forbidden address was not called, and a failure of our own is
	 * nobody's answer: neither may open a target that is down. */
	if (!outcome->head_complete &&
	    (outcome->transport == BR_TRANSPORT_FORBIDDEN ||
	        outcome->transport == BR_TRANSPORT_OTHER))
		return BR_SIGN_NONE;
	if (verdict == BR_NEVER)
		return BR_SIGN_NEVER;
	if (!br_target_failure(rules, outcome))
		return BR_SIGN_ALIVE;
	if (br_throttled(rules, outcome))
		return BR_SIGN_THROTTLED;
	return !outcome->head_complete &&
	               outcome->transport == BR_TRANSPORT_TIMEOUT
	           ? BR_SIGN_SLOW
	           : BR_SIGN_FAILURE;
}

bool
br_sign_is_failure(enum br_sign sign)
{
	return sign == BR_SIGN_FAILURE || sign == BR_SIGN_THROTTLED ||
	       sign == BR_SIGN_SLOW;
}

bool
br_sign_turned_away(const struct br_outcome *outcome)
{
	return !outcome->head_complete &&
	       (outcome->transport == BR_TRANSPORT_REFUSED ||
	           outcome->transport == BR_TRANSPORT_RESET ||
	           outcome->transport == BR_TRANSPORT_EMPTY);
}

bool
br_sign_later(enum br_sign sign, const struct br_outcome *outcome)
{
	/* 429 says so whatever throttle_on holds. */
	return sign == BR_SIGN_THROTTLED ||
	       (br_sign_is_failure(sign) && outcome->http_status == 429);
}
