/*
 * world_instance: the model of one bridge, as runtime/ puts core/ together.
 * Shared by the files of the model (instance, parts, burial).
 */
#ifndef TESTS_SIMULATION_WORLD_INSTANCE_H
#define TESTS_SIMULATION_WORLD_INSTANCE_H

#include "world.h"
#include "world_checker.h"

/* One record in memory; its reference comes first. */
struct item {
	struct br_ref ref;
	struct br_event event;
	struct part *part;
	size_t index; /* in the log */
	char key[8];
};

enum part_state {
	PART_ASKING,
	PART_STARTING,
	PART_READING,
	PART_CLOSING,
	PART_GONE
};

/* One assignment: runtime's struct br_part. */
struct part {
	struct part *next;
	int number;
	enum part_state state;
	struct br_ledger ledger;
	struct br_sched_part *sched;
	size_t out;
	int64_t committed;
	bool committed_known;
	struct br_checkpoint *checkpoint;
	int64_t begun_ms;
	bool resumed;
	uint64_t settled, sent[2], written[2];
	int64_t asked_ms;
	uint64_t ticket;
	bool paused;
	struct epoch *epoch;
};

struct letter {
	struct letter *next;
	struct item *item;
	bool sent;
};

struct worker {
	struct item *item; /* NULL: idle */
	struct reply reply;
	struct check_request request;
};

struct instance {
	int index;
	uint32_t life;
	uint32_t generation, member;
	struct br_sched *sched;
	struct br_failure failure; /* of all: nobody reads it here */
	struct worker worker[WORLD_WORKERS];
	bool changed;    /* workers look again */
	int64_t wake_ms; /* … or at this time */
	int64_t pass_ms; /* the next pass of the Kafka thread */
	int64_t frozen_until_ms;
	struct task *inbox_first, *inbox_last;
	struct part *first, *gone;
	uint64_t tickets;
	bool full;
	/* commits */
	int64_t commit_ms, commit_until_ms;
	uint64_t committing; /* ticket; 0: none */
	bool commit_refused;
	size_t checkpoint_limit;
	/* revokes and the end */
	bool revoking;
	unsigned revoked;
	uint64_t question;
	int64_t revoke_until_ms;
	bool stopping;
	int64_t stop_until_ms, back_after_ms;
	/* dead letters */
	struct letter *waiting_first, *waiting_last;
	struct letter *sent;
	size_t waiting;
	int64_t again_ms, wait_ms;
	bool probing;
	uint64_t draws;
};

#define COMMIT_REPLY_MS 10000
#define LAST_COMMIT_MS 2000
#define TAKE_OVER_MS 5000

/* ---- its life */

struct instance *instance_start(struct world *w, int index);
/* At once, as by kill -9. */
void instance_end(struct world *w, struct instance *in);
/* Has the Kafka thread look around soon. */
void instance_wake(struct world *w, struct instance *in);
void instance_mail(struct world *w, struct task *t);
void instance_pass(struct world *w, struct instance *in);
/* Idle workers look for something to do, if it may be there. */
void instance_work(struct world *w, struct instance *in);

/* ---- partitions */

struct part *part_find(struct instance *in, int number);
void parts_notice(struct world *w, struct instance *in, struct notice *n);
void parts_answer(struct world *w, struct instance *in, struct ask *a);
void parts_step(struct world *w, struct instance *in);
void parts_read(struct world *w, struct instance *in);
void parts_settled(struct world *w, struct instance *in, struct item *item);
void parts_dropped(struct instance *in, struct item *item);
void parts_shutdown(struct world *w, struct instance *in);
bool parts_quiet(const struct world *w, const struct instance *in);
/* When a pass is due for them at the latest. */
int64_t parts_next_ms(const struct world *w, const struct instance *in);
/* Takes all back from the engine: the end. */
void parts_free(struct instance *in);

/* ---- commits */

bool commit_needed(
    const struct world *w, const struct instance *in, const struct part *part);
void commit_step(struct world *w, struct instance *in);
void commit_reply(struct world *w, struct instance *in, struct commit *c);

/* ---- dead letters */

void burial_add(struct instance *in, struct item *item);
int64_t burial_step(struct world *w, struct instance *in);
void burial_answer(struct world *w, struct instance *in, struct produce *p);
void burial_forget_gone(struct world *w, struct instance *in);
void burial_free(struct world *w, struct instance *in);

#endif
