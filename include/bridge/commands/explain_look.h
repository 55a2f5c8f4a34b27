/*
 * explain_look: one record through the pipeline of `run`, up to the request.
 *
 * It is the very same code (intake, request), so that what is told here is
 * what is done there. Main thread; blocks for schemas of a registry only, and
 * that with the registry's own time limits.
 */
#ifndef BRIDGE_COMMANDS_EXPLAIN_LOOK_H
#define BRIDGE_COMMANDS_EXPLAIN_LOOK_H

#include "bridge/base/buffer.h"
#include "bridge/http/request.h"
#include "bridge/runtime/intake.h"

enum br_explain_outcome {
	BR_EXPLAIN_DELIVER,
	BR_EXPLAIN_SKIP,
	BR_EXPLAIN_DLQ,
	BR_EXPLAIN_HOLD /* its partition would wait for a cure */
};

/* What was found out; valid until the next call of br_explainer_look(). */
struct br_explained {
	const struct br_config *config;
	const struct br_record *record;
	bool topic_read; /* kafka.topics names or matches its topic */
	enum br_explain_outcome outcome;
	const char *reason; /* a code; NULL for DELIVER */
	const char *stage;  /* DLQ: where it was decided; "" otherwise */
	const char *detail; /* for a person; NULL: no more to say */
	const char *advice; /* DLQ, HOLD: what to do about it, or NULL */
	const struct br_decoded *decoded;
	const struct br_origins *origins;
	const char *format_why;       /* what gave the format away, or NULL */
	const struct br_event *event; /* DELIVER and DLQ; else NULL */
	const char *route;    /* name of the route that matches, or NULL */
	const char *url_from; /* DELIVER: static: whose URL it is */
	/* DELIVER: the request, with what is secret in it as ***. */
	const char *method;
	const char *url;
	struct br_http_header header[BR_REQUEST_HEADERS + 3];
	size_t header_count;
};

struct br_explainer;

/* `config` must outlive it. NULL and a reason for rules that are unusable. */
struct br_explainer *br_explainer_new(
    const struct br_config *config, struct br_error *err);
void br_explainer_free(struct br_explainer *e); /* NULL is fine */

/* Never NULL; `record` must live as long as the answer is used. */
const struct br_explained *br_explainer_look(
    struct br_explainer *e, const struct br_record *record);

/* "deliver", "skip", "dlq" or "hold". */
const char *br_explain_outcome_name(enum br_explain_outcome outcome);

/* Where a field came from, or NULL when nothing was noted. */
const struct br_origin *br_explained_origin(
    const struct br_explained *x, const char *field);

/* True for a header whose name says that its value is a secret. */
bool br_explain_is_secret(const char *header);

#endif
