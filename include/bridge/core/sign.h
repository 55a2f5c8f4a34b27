/*
 * sign: what the end of an attempt says about its target. Pure.
 */
#ifndef BRIDGE_CORE_SIGN_H
#define BRIDGE_CORE_SIGN_H

#include "bridge/core/verdict.h"

enum br_sign {
	BR_SIGN_NONE,      /* nothing: nobody was asked */
	BR_SIGN_SUCCESS,   /* a 2xx, or what counts as one */
	BR_SIGN_ALIVE,     /* an answer that is about the event: again */
	BR_SIGN_NEVER,     /* … and it is never to be sent again */
	BR_SIGN_FAILURE,   /* says nothing about the event */
	BR_SIGN_THROTTLED, /* a failure that asks for less */
	BR_SIGN_SLOW       /* a failure: a read time-out */
};

enum br_sign br_sign_of(
    const struct br_verdict_rules *rules, const struct br_outcome *outcome);

/* True for the last three. */
bool br_sign_is_failure(enum br_sign sign);

/* Refused, reset or closed before an answer: while another one of ours is
 * open there, the target wants fewer. */
bool br_sign_turned_away(const struct br_outcome *outcome);

/* Asked to come later: what a probe into a hold may hear without losing an
 * attempt. */
bool br_sign_later(enum br_sign sign, const struct br_outcome *outcome);

#endif
