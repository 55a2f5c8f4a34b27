/*
 * answer: what of a receiver's answer is kept, and where it ends for us. It
 * is fed line by line and piece by piece. Owned by the client's thread; no
 * library.
 */
#ifndef BRIDGE_HTTP_ANSWER_H
#define BRIDGE_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/core/outcome.h"

#define BR_ANSWER_HEAD_MAX ((size_t)256 * 1024) /* bytes of all its headers */
#define BR_ANSWER_BODY_MAX ((size_t)64 * 1024)  /* bytes of body read */

enum br_answer_end {
	BR_ANSWER_OPEN,
	BR_ANSWER_ENOUGH, /* it told all that is of use: cut */
	BR_ANSWER_BAD     /* headers beyond the limit, or no status: cut */
};

/* A header of which exactly one value counts. */
struct br_answer_field {
	bool given;
	bool usable; /* one value, or the same one several times */
	size_t len;
	char value[64];
};

struct br_answer {
	size_t head_bytes; /* of all header lines, 1xx included */
	bool head_complete;
	int status; /* of the final answer, once head_complete */
	enum br_answer_end end;
	bool length_zero;    /* Content-Length: 0 */
	bool transfer_coded; /* Transfer-Encoding: the length does not count */
	struct br_answer_field retry_after;
	struct br_answer_field date;
	char location_host[128]; /* "": none; never path, query, userinfo */
	size_t body_bytes;
	size_t body_len;
	char body[BR_OUTCOME_BODY];
	/* The owner's, or NULL: all that is read of the body, at most
	 * BR_ANSWER_BODY_MAX bytes. */
	char *text;
	size_t text_len;
};

/* Makes it one of which nothing has come; `text` is NULL then. */
void br_answer_reset(struct br_answer *a);

/*
 * Takes one header line with its line end; `status` is that of the block it
 * belongs to. False: end the transfer, `end` says why.
 */
bool br_answer_line(
    struct br_answer *a, const char *line, size_t len, int status);

/* Takes body bytes. False: end the transfer. */
bool br_answer_body(struct br_answer *a, const char *bytes, size_t len);

/*
 * Takes bytes that were found on the connection after libcurl had given up:
 * a receiver that refuses a large body answers, and resets the connection
 * while we still send. Does nothing unless they begin an HTTP answer.
 */
void br_answer_late(struct br_answer *a, const char *bytes, size_t len);

/*
 * What the answer's Retry-After asks for, in ms from now; dates are compared
 * with its own Date where it has a valid one, else with `wall_ms`. False:
 * none, several different ones, or no valid one.
 */
bool br_answer_retry_after(
    const struct br_answer *a, int64_t wall_ms, int64_t *wait_ms);

#endif
