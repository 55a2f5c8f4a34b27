/*
 * outcome: what one attempt returned, as http/ saw it. Data only: the
 * verdict over it is core/verdict.h's.
 */
#ifndef BRIDGE_CORE_OUTCOME_H
#define BRIDGE_CORE_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why there is no answer, or no whole one. */
enum br_transport {
	BR_TRANSPORT_OK,
	BR_TRANSPORT_REFUSED,         /* nobody listens */
	BR_TRANSPORT_UNREACHABLE,     /* network or host unreachable */
	BR_TRANSPORT_DNS,             /* the name does not resolve */
	BR_TRANSPORT_TLS,             /* handshake or certificate */
	BR_TRANSPORT_CONNECT_TIMEOUT, /* no connection in time */
	BR_TRANSPORT_TIMEOUT,         /* connected, no answer in time */
	BR_TRANSPORT_RESET,           /* connection reset or broken */
	BR_TRANSPORT_EMPTY,           /* closed without a byte of answer */
	BR_TRANSPORT_BAD_RESPONSE,    /* not HTTP, or headers without end */
	BR_TRANSPORT_FORBIDDEN,       /* address that an event may not name */
	BR_TRANSPORT_OTHER
};

#define BR_OUTCOME_BODY 512

struct br_outcome {
	int http_status;    /* of the final answer; 0: none came */
	bool head_complete; /* its header block had ended */
	enum br_transport transport;
	int curl_code;     /* CURLcode, 0 when none */
	bool request_sent; /* the receiver may have seen the request */
	bool connection_reused;
	bool resent;        /* once more on a new connection */
	bool throttle_text; /* its body holds what throttle_match looks for */
	bool retry_after_given;
	int64_t retry_after_ms;     /* from now, not capped; 0: in the past */
	double seconds;             /* length of the attempt */
	int64_t wall_ms;            /* when it ended, since 1970 */
	char detail[160];           /* for a person; never a secret */
	char body[BR_OUTCOME_BODY]; /* first bytes of the answer's body */
	size_t body_len;
};

/* "refused", "dns", "tls", "timeout", … for logs and metrics. */
const char *br_transport_name(enum br_transport t);

#endif
