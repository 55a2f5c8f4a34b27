/*
 * health: whether a target may be sent to, and how much at once.
 *
 * Pure: no clock. One of these for each target, under the scheduler's lock.
 * The window (how many requests may be open) and the state (open or closed)
 * are two things: a throttled target is open with a small window.
 *
 * It closes when target failures in a row come from `failures` different
 * events, or when `after` events in a row ended in the DLQ by an answer. While
 * closed only probes go out, one at a time, and later each time that nothing
 * good comes back. An answer that is "never" ends its event and is no sign of
 * an outage; only after BR_HEALTH_NEVERS of them does the wait double too.
 */
#ifndef BRIDGE_CORE_HEALTH_H
#define BRIDGE_CORE_HEALTH_H

#include "bridge/core/sign.h"

#define BR_HEALTH_FAILURES_MAX 1000
#define BR_HEALTH_NEVERS 16

struct br_health_rules {
	uint32_t connections; /* the window never grows beyond it */
	uint32_t failures;    /* different events in a row; 0: rule off */
	uint32_t after;       /* dead letters in a row; 0: rule off */
	int64_t probe_ms;     /* before the first probe; doubles … */
	int64_t probe_max_ms; /* … up to this */
	int64_t give_up_ms;   /* closed so long, probes count; 0: never */
};

/*
 * Legal moves: OPEN to DOWN, REFUSING; both back to OPEN; REFUSING to DOWN,
 * when what answered all the time does not any more.
 */
enum br_health_state {
	BR_HEALTH_OPEN,
	BR_HEALTH_DOWN,    /* by target failures: is it there at all? */
	BR_HEALTH_REFUSING /* by dead letters: alive, and takes nothing */
};

struct br_health {
	enum br_health_state state;
	uint32_t window;
	uint32_t successes;  /* in a row since the window last changed */
	uint32_t dead;       /* dead letters in a row */
	uint32_t failed;     /* different events in the row of failures */
	uint64_t *event;     /* their serials; room for rules->failures */
	int64_t closed_ms;   /* closed: since when */
	int64_t probe_at_ms; /* closed: not before */
	int64_t probe_wait_ms;
	uint32_t nevers; /* refusing: such answers since the wait doubled */
	bool probing; /* a probe is under way, whatever the state is by now */
};

void br_health_init(struct br_health *h, const struct br_health_rules *rules);
void br_health_free(struct br_health *h);

/* May one more be sent now, when `in_flight` are? */
bool br_health_allows(
    const struct br_health *h, uint32_t in_flight, int64_t now_ms);

/* One is sent. True: it is a probe. */
bool br_health_begin(struct br_health *h);

/*
 * Does this end count as an attempt of its event? A throttled answer does not
 * while the window is above 1, nor does the failure of a probe while the
 * target is down. Ask before br_health_end().
 */
bool br_health_counts(const struct br_health *h,
    const struct br_health_rules *rules, bool probe, enum br_sign sign,
    int64_t now_ms);

/*
 * One ended. `serial` tells events apart; `dead`: it goes to the DLQ because
 * of an answer of the target; `others`: more of ours are open there (then a
 * refused one says that the target wants fewer). Returns true when it has
 * opened or closed; not when one that was closed is so by the other rule now.
 */
bool br_health_end(struct br_health *h, const struct br_health_rules *rules,
    bool probe, enum br_sign sign, uint64_t serial, bool dead, bool others,
    int64_t now_ms);

/* Closed targets are probed at once (HUP, `ctl target … probe`). */
void br_health_probe_now(struct br_health *h, int64_t now_ms);

#endif
