/*
 * world_watch: the part of the checker that watches targets: outages, holds,
 * closing and probing, the sharing of workers. It has a rough model of its
 * own, which errs on the side of the bridge.
 */
#ifndef TESTS_SIMULATION_WORLD_WATCH_H
#define TESTS_SIMULATION_WORLD_WATCH_H

#include "world_checker.h"

struct watch;

/* For free(). */
struct watch *watch_new(void);

/* A request begins; with it `open` ones of this bridge are. */
void watch_begin(
    struct world *w, struct watch *v, const struct check_request *r, int open);
void watch_end(struct world *w, struct watch *v, const struct check_request *r,
    const struct reply *reply);
/* The event goes to the DLQ after this answer. */
void watch_dead(struct world *w, struct watch *v, const struct check_request *r,
    const struct reply *reply);
/* Nothing is open there, and nobody asked to come later. */
bool watch_allows(const struct world *w, const struct watch *v, int instance,
    const struct happening *what);
/* Closed targets may be probed at once. */
void watch_hup(struct watch *v, int instance);
/* This bridge has ended, and remembers nothing. */
void watch_life(struct watch *v, int instance);

#endif
