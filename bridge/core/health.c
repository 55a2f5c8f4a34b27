/* health: see the header. */
#include "bridge/core/health.h"

#include <stdlib.h>

void
br_health_init(struct br_health *h, const struct br_health_rules *rules)
{
	*h = (struct br_health){.window = rules->connections};
	if (rules->failures != 0) {
		h->event = calloc(rules->failures, sizeof(*h->event));
		if (h->event == NULL)
			abort();
	}
}

void
br_health_free(struct br_health *h)
{
	free(h->event);
	h->event = NULL;
}

bool
br_health_allows(const struct br_health *h, uint32_t in_flight, int64_t now_ms)
{
	if (h->state == BR_HEALTH_OPEN)
		return in_flight < h->window;
	return !h->probing && now_ms >= h->probe_at_ms;
}

bool
br_health_begin(struct br_health *h)
{
	if (h->state == BR_HEALTH_OPEN)
		return false;
	h->probing = true;
	return true;
}

bool
br_health_counts(const struct br_health *h, const struct br_health_rules *rules,
    bool probe, enum br_sign sign, int64_t now_ms)
{
	if (probe && h->state == BR_HEALTH_DOWN && br_sign_is_failure(sign))
		return rules->give_up_ms != 0 &&
		       now_ms - h->closed_ms >= rules->give_up_ms;
	return !(sign == BR_SIGN_THROTTLED && h->window > 1);
}

static void
close_target(struct br_health *h, const struct br_health_rules *rules,
    enum br_health_state state, int64_t now_ms)
{
	h->state = state;
	h->closed_ms = now_ms;
	h->probe_wait_ms = rules->probe_ms;
	h->probe_at_ms = now_ms + rules->probe_ms;
	h->nevers = 0;
	h->successes = 0;
}

static void
open_target(struct br_health *h)
{
	h->state = BR_HEALTH_OPEN;
	h->window = 1;
	h->successes = h->failed = h->dead = 0;
}

/* The row of failures, by different events; true: it is long enough. */
static bool
count_failure(
    struct br_health *h, const struct br_health_rules *rules, uint64_t serial)
{
	if (rules->failures == 0)
		return false;
	for (uint32_t i = 0; i < h->failed; i++)
		if (h->event[i] == serial)
			return false;
	if (h->failed < rules->failures)
		h->event[h->failed++] = serial;
	return h->failed >= rules->failures;
}

/* Less at once after a failure that asks for it, more after a run of
 * successes as long as the window. */
static void
move_window(struct br_health *h, const struct br_health_rules *rules,
    enum br_sign sign, bool others)
{
	if (sign == BR_SIGN_SUCCESS) {
		if (++h->successes < h->window)
			return;
		h->successes = 0;
		if (h->window < rules->connections)
			h->window++;
		return;
	}
	h->successes = 0;
	if (sign == BR_SIGN_THROTTLED || sign == BR_SIGN_SLOW ||
	    (sign == BR_SIGN_FAILURE && others))
		h->window = h->window > 1 ? h->window / 2 : 1;
}

/*
 * Does this end of a probe make the next one come later? An outage may well
 * answer: every "again" costs a good event an attempt then. Bad events that
 * are refused for good are gone through at first at an even pace.
 */
static bool
slows(struct br_health *h, enum br_sign sign)
{
	if (sign == BR_SIGN_NONE)
		return false;
	if (sign == BR_SIGN_NEVER && ++h->nevers < BR_HEALTH_NEVERS)
		return false;
	h->nevers = 0;
	return true;
}

static void
plan_probe(struct br_health *h, const struct br_health_rules *rules,
    enum br_sign sign, int64_t now_ms)
{
	if (slows(h, sign)) {
		h->probe_wait_ms *= 2;
		if (h->probe_wait_ms > rules->probe_max_ms)
			h->probe_wait_ms = rules->probe_max_ms;
	}
	h->probe_at_ms = now_ms + h->probe_wait_ms;
}

/* An end while closed. A 2xx opens; so does, while down, any answer that is
 * about the event: the target is there. */
static bool
end_closed(struct br_health *h, const struct br_health_rules *rules, bool probe,
    enum br_sign sign, bool down, int64_t now_ms)
{
	if (sign == BR_SIGN_SUCCESS ||
	    ((sign == BR_SIGN_ALIVE || sign == BR_SIGN_NEVER) && probe &&
	        h->state == BR_HEALTH_DOWN)) {
		open_target(h);
		return true;
	}
	if (probe)
		plan_probe(h, rules, sign, now_ms);
	/* Who refused everything now does not even answer: from here on an
	 * outage, which holds events back. */
	if (down && h->state == BR_HEALTH_REFUSING)
		close_target(h, rules, BR_HEALTH_DOWN, now_ms);
	return false;
}

bool
br_health_end(struct br_health *h, const struct br_health_rules *rules,
    bool probe, enum br_sign sign, uint64_t serial, bool dead, bool others,
    int64_t now_ms)
{
	bool down = false;

	if (probe)
		h->probing = false;
	if (br_sign_is_failure(sign))
		down = count_failure(h, rules, serial);
	else if (sign != BR_SIGN_NONE)
		h->failed = 0;
	if (sign != BR_SIGN_NONE)
		move_window(h, rules, sign, others);
	if (h->state != BR_HEALTH_OPEN)
		return end_closed(h, rules, probe, sign, down, now_ms);
	if (sign == BR_SIGN_SUCCESS)
		h->dead = 0;
	else if (dead)
		h->dead++;
	if (down) {
		close_target(h, rules, BR_HEALTH_DOWN, now_ms);
		return true;
	}
	if (rules->after != 0 && h->dead >= rules->after) {
		close_target(h, rules, BR_HEALTH_REFUSING, now_ms);
		return true;
	}
	return false;
}

void
br_health_probe_now(struct br_health *h, int64_t now_ms)
{
	if (h->state != BR_HEALTH_OPEN)
		h->probe_at_ms = now_ms;
}
