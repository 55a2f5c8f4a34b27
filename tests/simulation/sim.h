/*
 * sim: the scheduler, four workers and a receiver in virtual time. A receiver
 * is a function; everything else is the core's. Deterministic by its seed.
 */
#ifndef TESTS_SIMULATION_SIM_H
#define TESTS_SIMULATION_SIM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/core/scheduler.h"

#define SECOND 1000
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define WORKERS 4
#define NEVER INT64_MAX

/* One event and what became of it. */
struct job {
	struct br_ref ref; /* first: a reference is its job */
	struct br_event event;
	char key[24];
	bool good;      /* the receiver takes it when it is well */
	int kind;       /* the scenario's */
	int64_t put_ms; /* or when it came to Kafka */
	int64_t end_ms; /* NEVER: not settled */
	uint32_t requests;
};

/* What the receiver says, and after how long. */
struct reply {
	int status; /* 0: `transport` */
	enum br_transport transport;
	int64_t takes_ms;
	int64_t retry_after_ms; /* 0: not given */
};

struct sim;
typedef struct reply receiver(struct sim *s, const struct job *job);

struct sim {
	struct br_sched *sched;
	struct br_sched_part *part;
	receiver *receive;
	const char *target, *route; /* of what is put next */
	uint64_t random;
	int64_t now_ms;
	int64_t down_from_ms, down_to_ms; /* the scenario's outage, … */
	struct reply down;                /* … and what is said then */
	struct reply bad;                 /* what bad events get */
	struct br_failure failure;        /* of all: nobody reads it here */
	struct job *job;
	size_t jobs, room;
	size_t delivered, dead, dead_good;
	size_t requests;
	int64_t first_dead_ms, last_dead_ms;
	int64_t first_good_ms; /* delivered, after down_to_ms */
	int64_t slowest_ms;    /* of good ones: from put to delivered */
	uint32_t least, most;  /* requests of one dead event */
	size_t closings, openings;
	int64_t first_close_ms;
	struct {
		struct job *job; /* NULL: free */
		int64_t end_ms;
		struct reply reply;
	} worker[WORKERS];
};

static inline double
sim_random(struct sim *s)
{
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return (double)((s->random * UINT64_C(2685821657736338717)) >> 11) *
	       0x1p-53;
}

/* The defaults of the configuration. */
static inline struct br_sched_rules
sim_rules(void)
{
	struct br_sched_rules rules = {
	    .order = BR_ORDER_KEY,
	    .retry = {.base_ms = 10 * SECOND,
	        .max_delay_ms = HOUR,
	        .retry_after_max_ms = HOUR,
	        .jitter = 0.1},
	    .health = {.failures = 20,
	        .after = 100,
	        .probe_ms = SECOND,
	        .probe_max_ms = MINUTE},
	    .workers = WORKERS,
	    .seed = 1,
	};

	(void)br_status_set_add(&rules.verdict.throttle_on, "429");
	return rules;
}

static inline void
sim_init(struct sim *s, const struct br_sched_rules *rules, receiver *receive,
    uint64_t seed, size_t room)
{
	*s = (struct sim){
	    .receive = receive,
	    .target = "https://receiver.test:443",
	    .route = "",
	    .random = seed | 1,
	    .room = room,
	    .down_from_ms = NEVER,
	    .down_to_ms = NEVER,
	    .first_dead_ms = NEVER,
	    .first_good_ms = NEVER,
	    .first_close_ms = NEVER,
	    .least = UINT32_MAX,
	};
	s->sched = br_sched_new(rules);
	s->part = br_sched_part_open(s->sched, s);
	s->job = calloc(room, sizeof(*s->job));
	if (s->job == NULL)
		abort();
}

/* Puts one; `kind` is the scenario's, 0 where it has none. `key` < 0: an
 * order of its own. */
static inline struct job *
sim_put(struct sim *s, long key, bool good, int kind)
{
	struct job *job = &s->job[s->jobs++];

	if (s->jobs > s->room)
		abort();
	job->good = good;
	job->kind = kind;
	job->put_ms = s->now_ms;
	job->end_ms = NEVER;
	if (key >= 0)
		(void)snprintf(job->key, sizeof(job->key), "%ld", key);
	job->event.order_key = br_slice_str(job->key);
	job->event.target = s->target;
	job->event.route = s->route;
	job->event.max_attempts = 5;
	job->ref.event = &job->event;
	job->ref.part = s->part;
	br_sched_put(s->sched, &job->ref, s->now_ms);
	return job;
}

static inline void
sim_collect(struct sim *s)
{
	struct br_ref *ref = br_sched_settled(s->sched), *next;

	for (; ref != NULL; ref = next) {
		struct job *job = (struct job *)ref;

		next = ref->settled_next;
		job->end_ms = s->now_ms;
		if (ref->settled == BR_SETTLED_DELIVERED) {
			s->delivered++;
			if (s->first_good_ms == NEVER &&
			    s->now_ms >= s->down_to_ms)
				s->first_good_ms = s->now_ms;
			if (s->now_ms - job->put_ms > s->slowest_ms)
				s->slowest_ms = s->now_ms - job->put_ms;
		} else if (ref->settled == BR_SETTLED_DEAD) {
			s->dead++;
			s->dead_good += job->good;
			if (s->first_dead_ms == NEVER)
				s->first_dead_ms = s->now_ms;
			s->last_dead_ms = s->now_ms;
			if (job->requests < s->least)
				s->least = job->requests;
			if (job->requests > s->most)
				s->most = job->requests;
			br_sched_buried(s->sched, ref, s->now_ms);
		}
	}
}

static inline void
sim_end(struct sim *s, uint32_t w)
{
	struct job *job = s->worker[w].job;
	const struct reply *r = &s->worker[w].reply;
	struct br_outcome o = {
	    .http_status = r->status,
	    .head_complete = r->status != 0,
	    .transport = r->transport,
	    .retry_after_given = r->retry_after_ms != 0,
	    .retry_after_ms = r->retry_after_ms,
	};
	struct br_decision d;

	s->worker[w].job = NULL;
	if (r->status / 100 != 2)
		job->ref.failure = &s->failure;
	d = br_sched_give_back(
	    s->sched, w, &job->ref, &o, s->now_ms, sim_random(s));
	if (d.change == BR_TARGET_OPENED)
		s->openings++;
	else if (d.change != BR_TARGET_SAME) {
		s->closings++;
		if (s->first_close_ms == NEVER)
			s->first_close_ms = s->now_ms;
	}
	sim_collect(s);
}

/* Lets free workers take; when to come again at the latest. */
static inline int64_t
sim_take(struct sim *s)
{
	int64_t next_ms = NEVER;

	for (uint32_t w = 0; w < WORKERS; w++) {
		int64_t wake_ms;
		struct br_ref *ref;

		if (s->worker[w].job == NULL) {
			ref = br_sched_take(s->sched, w, s->now_ms, &wake_ms);
			if (wake_ms < next_ms)
				next_ms = wake_ms;
			if (ref == NULL)
				continue;
			s->worker[w].job = (struct job *)ref;
			s->worker[w].job->requests++;
			s->requests++;
			s->worker[w].reply = s->receive(s, s->worker[w].job);
			s->worker[w].end_ms =
			    s->now_ms + s->worker[w].reply.takes_ms;
		}
		if (s->worker[w].end_ms < next_ms)
			next_ms = s->worker[w].end_ms;
	}
	return next_ms;
}

/* Runs to `to_ms`, or to the moment at which nothing is left to happen. */
static inline void
sim_run(struct sim *s, int64_t to_ms)
{
	for (size_t still = 0;; still++) {
		int64_t next_ms = sim_take(s);

		if (next_ms > to_ms)
			break;
		if (next_ms > s->now_ms) {
			s->now_ms = next_ms;
			still = 0;
		}
		/* Called again and again in one instant: it would spin. */
		if (still > 100)
			abort();
		for (uint32_t w = 0; w < WORKERS; w++)
			if (s->worker[w].job != NULL &&
			    s->worker[w].end_ms <= s->now_ms)
				sim_end(s, w);
	}
	s->now_ms = to_ms;
}

static inline size_t
sim_open(const struct sim *s)
{
	return s->jobs - s->delivered - s->dead;
}

/* Ends it as a revoke does: what waits is dropped. */
static inline void
sim_free(struct sim *s)
{
	br_sched_part_close(s->sched, s->part, s->now_ms);
	for (uint32_t w = 0; w < WORKERS; w++)
		if (s->worker[w].job != NULL)
			sim_end(s, w);
	sim_collect(s);
	br_sched_part_free(s->part);
	br_sched_free(s->sched);
	free(s->job);
}

#endif
