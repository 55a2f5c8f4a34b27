/*
 * result: from what libcurl says to what the bridge calls it. Pure.
 */
#ifndef BRIDGE_HTTP_RESULT_H
#define BRIDGE_HTTP_RESULT_H

#include "bridge/core/outcome.h"
#include "bridge/http/answer.h"

/* What is known when an attempt is over. */
struct br_result_facts {
	int code;         /* CURLcode of the last perform */
	long os_errno;    /* of a failed connect, 0 when none */
	const char *text; /* libcurl's own words, may be empty */
	bool aborted;     /* the caller wanted it to end */
	bool connected;   /* the last request was handed to a connection */
	unsigned opened;  /* sockets opened for it */
	unsigned forbidden;
	unsigned blocked;
};

/* Fills status, head_complete, transport, curl_code, detail and body. */
void br_result_fill(struct br_outcome *out, const struct br_result_facts *facts,
    const struct br_answer *answer);

#endif
