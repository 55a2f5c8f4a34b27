/*
 * world: a whole installation in virtual time: a Kafka topic with its group,
 * a dead letter topic, receivers, and up to three bridges that run the real
 * core/. Single-threaded; everything follows from the seed.
 *
 *     sim_world                      seeds 1-12000 (the test)
 *     sim_world --seeds 1-1000000    many
 *     sim_world --long               as many as fit into ten minutes
 *     sim_world --seed 17 --trace    one, told step by step
 *     sim_world --steps N            a seed may take so many steps at most
 *     sim_world --plant NAME         with a fault planted in the model of
 *                                    runtime/; --plant list names them
 *     sim_world --no-shrink          says the first failure and ends
 *
 * What happens from outside (records, crashes, outages …) is a plan, made
 * from the seed before the run. All other chance is drawn from what it is
 * about and not from one stream, so that a failing plan keeps failing when
 * unrelated parts of it are taken away: it is shrunk that way, and the short
 * trace is printed.
 *
 * The model of a bridge (world_instance, world_parts, world_burial) decides
 * as runtime/ does and no more. The checker watches from outside, and knows
 * nothing of core/.
 */
#ifndef TESTS_SIMULATION_WORLD_H
#define TESTS_SIMULATION_WORLD_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/core/checkpoint.h"
#include "bridge/core/scheduler.h"

#define WORLD_PARTS 6
#define WORLD_INSTANCES 3
#define WORLD_TARGETS 3
#define WORLD_WORKERS 4
#define WORLD_PHASES 32
#define NEVER_MS INT64_MAX

/* ---- the plan */

/* What always becomes of an event, whatever its receiver is like. */
enum fate {
	FATE_GOOD,
	FATE_NEVER,      /* 400 */
	FATE_BAD,        /* 500 */
	FATE_BAD_503,    /* looks like an outage */
	FATE_UNSENDABLE, /* cannot be decoded: a dead letter */
	FATE_SKIP        /* not an event: passed */
};

enum happening_kind {
	HAPPEN_RECORD,  /* a: partition, key, fate, target … */
	HAPPEN_GAP,     /* offsets without a record */
	HAPPEN_CRASH,   /* kill -9 at a `moment`; back after length_ms */
	HAPPEN_STOP,    /* TERM; back after length_ms */
	HAPPEN_LOST,    /* the group forgets a member */
	HAPPEN_FREEZE,  /* SIGSTOP … CONT, beyond the session */
	HAPPEN_SHUFFLE, /* a rebalance that moves partitions */
	HAPPEN_HUP,     /* probes closed targets at once */
	HAPPEN_PHASE,   /* a target behaves in some way for a while */
	HAPPEN_DLQ,     /* … the dead letter topic */
	HAPPEN_COMMITS  /* … the coordinator */
};

enum mode {
	MODE_REFUSED,
	MODE_TIMEOUT,
	MODE_502,
	MODE_503,
	MODE_500,
	MODE_429,       /* with Retry-After */
	MODE_503_LATER, /* with Retry-After */
	MODE_SLOW,
	MODES
};

enum trouble {
	TROUBLE_REFUSED,  /* not done, error */
	TROUBLE_SLOW,     /* done late, told late */
	TROUBLE_UNTOLD,   /* done, and never (DLQ: wrongly) told */
	TROUBLE_VANISHED, /* not done, never told */
	TROUBLES
};

/* When a crash comes: at its time, or just after … from then on. */
enum moment {
	MOMENT_NOW,
	MOMENT_ANSWER, /* … a 2xx was heard */
	MOMENT_STORED, /* … a dead letter was stored, before it is told */
	MOMENT_COMMIT, /* … a commit was applied, before it is told */
	MOMENTS
};

struct happening {
	int64_t at_ms, length_ms;
	enum happening_kind kind;
	int part, instance, target; /* where */
	int key;                    /* 0: null, 1: empty, others: lanes */
	enum fate fate;
	enum mode mode;
	enum trouble trouble;
	enum moment moment;
	uint32_t max_attempts;
	size_t bytes;
	uint64_t salt;
};

/* What stays the same during a run. */
struct rules {
	uint64_t seed;
	int parts, instances, targets;
	enum br_order order;
	uint32_t workers, failures, after;
	int64_t give_up_ms, probe_ms, probe_max_ms, base_ms, max_delay_ms;
	int64_t commit_interval_ms, revoke_wait_ms;
	uint64_t buffer_bytes, open_per_partition;
	size_t checkpoint_bytes, broker_metadata_bytes;
	unsigned noise; /* requests of a thousand that just fail */
	bool eager;     /* rebalances take everything from everybody */
	int64_t faults_end_ms;
};

struct plan {
	struct rules rules;
	struct happening *happening; /* by time */
	size_t count;
};

void plan_make(struct plan *plan, uint64_t seed);
void plan_free(struct plan *plan);
const char *plan_kind_name(enum happening_kind kind);
void plan_print(const struct plan *plan);

/* ---- what a run counts */

/* Why an epoch ended. */
enum cause {
	CAUSE_CRASH,
	CAUSE_STOP,
	CAUSE_REVOKE,
	CAUSE_LOST,
	CAUSE_NONE, /* it has not, or nobody had it before */
	CAUSES
};

/* Room for checkpoints. */
enum room { ROOM_NONE, ROOM_LITTLE, ROOM_ENOUGH, ROOMS };

struct tally {
	uint64_t seeds, steps, records, requests, dead_letters, copies;
	uint64_t commits, commit_errors;
	uint64_t happened[HAPPEN_COMMITS + 1];
	uint64_t rebalances, duplicates, late_results;
	/* Epochs that ended, and what was sent again in the next one, by cause
	 * and room for the checkpoint. */
	uint64_t ended[CAUSES][ROOMS], repeated[CAUSES][ROOMS];
	uint64_t most_open;
	int64_t virtual_ms, longest_ms; /* from the last fault to the end */
};

/* ---- the world */

enum failure {
	FINE,
	FAIL_LOST,      /* P1: committed, and not done */
	FAIL_BACKWARDS, /* a committed offset went back */
	FAIL_OPEN,      /* P2: too many requests at once */
	FAIL_IDENTITY,  /* P3: another body */
	FAIL_ATTEMPTS,  /* P3, P4 of the design: the ladder */
	FAIL_EARLY,     /* sent before its time */
	FAIL_ORDER,     /* P4 */
	FAIL_EPOCH,     /* sent by who knows that it is not his any more */
	FAIL_TWICE,     /* a duplicate that need not be */
	FAIL_OUTAGE,    /* P5 */
	FAIL_HELD,      /* sent into a hold, or to a closed target */
	FAIL_SHARE,     /* one target takes all workers */
	FAIL_BOUND,     /* P7: memory */
	FAIL_STALL,     /* P7: no end */
	FAIL_WAKE,      /* who should be woken would sleep */
	FAIL_ABORT      /* the core found a broken invariant */
};

struct world;

/* Something that is to happen; a task says itself what comes after. */
struct task {
	int64_t at_ms;
	uint64_t order;
	void (*run)(struct world *w, struct task *t); /* frees it when over */
	int instance;
	uint32_t life;
	int stage;
	struct task *next; /* in an inbox */
};

struct record {
	int64_t offset;
	const struct happening *what;
};

struct log {
	struct record *record;
	size_t count, room;
	int64_t end;
};

/* A committed offset. */
struct committed {
	int64_t offset; /* -1: none */
	size_t len;
	char *metadata;
};

struct group {
	int owner[WORLD_PARTS]; /* -1: nobody */
	int want[WORLD_PARTS];
	uint64_t asked[WORLD_PARTS]; /* the question to give it up; 0: none */
	uint64_t questions;
	bool joined[WORLD_INSTANCES];
	uint32_t generation;
	uint32_t
	    member[WORLD_INSTANCES]; /* its id; a new one each time it joins */
	uint64_t turn;               /* shifts the assignment */
};

struct phase {
	int64_t from_ms, to_ms;
	int target; /* -1: DLQ, -2: commits */
	enum mode mode;
	enum trouble trouble;
};

struct checker;
struct instance;

struct world {
	const struct plan *plan;
	const struct rules *rules;
	bool trace;
	bool over; /* tasks only free themselves */
	int64_t now_ms;
	uint64_t serial;
	struct task **task; /* a heap */
	size_t tasks, task_room;
	size_t planned; /* happenings that have happened */
	struct log log[WORLD_PARTS];
	struct committed committed[WORLD_PARTS];
	struct phase phase[WORLD_PHASES];
	size_t phases;
	struct group group;
	struct instance *instance[WORLD_INSTANCES]; /* NULL: not alive */
	uint32_t life[WORLD_INSTANCES];
	int64_t commit_free_ms[WORLD_INSTANCES]; /* one connection each */
	const struct happening
	    *doom[WORLD_INSTANCES]; /* waits for its moment */
	struct checker *checker;
	struct tally *tally;
	enum failure failure;
	char why[300];
};

/* The name of the planted fault, "" for none. */
extern const char *world_plant;
bool planted(const char *name);
bool plant_is_known(const char *name);
void plant_list(void);

/* Chance that depends on the seed and on what it is about alone. */
uint64_t roll(const struct world *w, uint64_t about, uint64_t a, uint64_t b);
int64_t roll_ms(const struct world *w, uint64_t about, uint64_t a, uint64_t b,
    int64_t least_ms, int64_t most_ms);

void say(const struct world *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The first one counts. */
void broken(struct world *w, enum failure failure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *failure_name(enum failure failure);
void *world_alloc(size_t size);

/* A moment for a crash that waits for it. */
void world_moment(struct world *w, int instance, enum moment moment);

/* Runs at `at_ms`; the task is the world's from here on. */
void post(struct world *w, struct task *t, int64_t at_ms);
/* The next one, of at least one. */
struct task *take_task(struct world *w);

/* Runs a plan to its end; what it counts is added to `tally`. `why` has room
 * for 300 characters. */
enum failure world_run(const struct plan *plan, uint64_t most_steps, bool trace,
    struct tally *tally, char *why);

/* Takes away what the failure does not need. */
void shrink(struct plan *plan, enum failure failure, uint64_t most_steps);

/* ---- the cluster */

struct commit_entry {
	int part;
	int64_t offset;
	size_t len;
	char *metadata;
	struct cover *cover;
	int error; /* 0, or Kafka's */
};

#define ERROR_METADATA 12
#define ERROR_GENERATION 22
#define ERROR_REFUSED 15

struct commit {
	struct task task;
	uint32_t generation, member;
	uint64_t ticket;
	enum trouble trouble;
	bool troubled;
	int error; /* of the whole */
	size_t count;
	struct commit_entry entry[WORLD_PARTS];
};

/* Takes the request over. */
void cluster_commit(struct world *w, struct commit *c);

struct ask {
	struct task task;
	int part;
	uint64_t ticket;
	bool failed;
	int64_t offset, high;
	char *metadata;
	size_t len;
	struct epoch *epoch;
};

void cluster_ask(struct world *w, int instance, int part, uint64_t ticket);

struct letter;
struct produce {
	struct task task;
	struct letter *letter;
	int part;
	size_t index;
	bool store, ok;
};

void cluster_produce(struct world *w, int instance, int part, size_t index,
    struct letter *letter);

void cluster_append(struct world *w, const struct happening *h);
void cluster_free(struct world *w);

/* What is going on now, or NULL. */
const struct phase *phase_now(const struct world *w, int target);

/* ---- the group */

enum notice_kind { NOTICE_ASSIGN, NOTICE_REVOKE, NOTICE_LOST };

struct notice {
	struct task task;
	enum notice_kind kind;
	unsigned parts; /* a bit for each */
	uint64_t question;
	uint32_t generation, member;
};

void group_join(struct world *w, int instance);
void group_leave(struct world *w, int instance);
/* It has given up what this question named. */
void group_given_up(struct world *w, int instance, uint64_t question);
/* Forgotten by the group; it is told, and joins again at once. */
void group_lose(struct world *w, int instance);
/* … and is told, and joins again by group_join(). */
void group_expel(struct world *w, int instance);
void group_shuffle(struct world *w);

/* ---- the receivers */

struct reply {
	struct br_outcome outcome;
	int64_t takes_ms;
	int phase; /* index of a pure outage, or -1 */
};

/* Which of the two routes it takes. */
int receiver_route(const struct happening *what);

/* `nth`: its how manieth request, ever. */
void receiver_answer(struct world *w, const struct happening *what,
    uint32_t nth, struct reply *reply);

#endif
