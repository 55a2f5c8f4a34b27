/*
 * world_checker: watches from outside whether the promises hold. It knows
 * the log, what receivers and topics were asked and said, and when; it knows
 * nothing of core/.
 */
#ifndef TESTS_SIMULATION_WORLD_CHECKER_H
#define TESTS_SIMULATION_WORLD_CHECKER_H

#include "world.h"

/* What one assignment of one partition knows of each record. */
struct epoch;
/* What a commit passes on of it. */
struct cover;

void check_init(struct world *w);
void check_free(struct world *w);

void check_appended(struct world *w, int part);

/* The cluster says where to begin: what is passed on to this epoch? */
struct epoch *check_epoch_begin(struct world *w, int instance, int part);
/* The instance knows that it is over, or will be: nothing more is sent. */
void check_epoch_end(struct world *w, struct epoch *e, enum cause cause);

/*
 * A commit is composed: it should pass on what is known of records below
 * `read_to`. `whole`: there was room for all that is settled; `tried`: …
 * and for all attempts.
 */
struct cover *check_composed(struct world *w, const struct epoch *e,
    int64_t read_to, int64_t offset, bool whole, bool tried);
/* … and applied; the cover is the checker's from here on. */
void check_applied(
    struct world *w, int part, int64_t offset, struct cover *cover);
void check_cover_free(struct cover *cover);

struct check_request {
	int instance;
	uint32_t worker;
	struct epoch *epoch;
	int part;
	size_t index;
	uint32_t attempt; /* as the instance counts */
	uint64_t body;
};

void check_begin(struct world *w, const struct check_request *r);
void check_end(
    struct world *w, const struct check_request *r, const struct reply *reply);
/* It goes to the DLQ after this answer. */
void check_dead(
    struct world *w, const struct check_request *r, const struct reply *reply);
/* Its copy is acknowledged, and the instance knows. */
void check_buried(struct world *w, struct epoch *e, int part, size_t index);

/* Is an event due that this bridge could send, and does not? */
void check_idle(struct world *w, int instance);

/* Requests sent so far of this record. */
uint32_t check_requests(const struct world *w, int part, size_t index);

/* An instance has begun to live, or ended. */
void check_life(struct world *w, int instance, bool crashed);

/* Closed targets may be probed at once. */
void check_hup(struct world *w, int instance);

/* What an instance holds in memory. */
void check_memory(struct world *w, int instance, uint64_t bytes,
    uint64_t most_open_of_a_part);

/* A commit was refused, or not, because of the size of its metadata. */
void check_refused(struct world *w, int instance, bool too_large);

/* Is everything done and committed? */
bool check_all_done(const struct world *w);
/* For the message of a stall: the first that is not. */
void check_tell_stall(struct world *w);

#endif
