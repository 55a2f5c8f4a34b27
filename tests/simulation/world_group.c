/* world_group: who has which partition. See world.h. */
#include "world.h"

#include <stdlib.h>

#include "world_instance.h"

enum { ABOUT_GROUP = 200 };

static void
run_notice(struct world *w, struct task *t)
{
	struct instance *in = w->instance[t->instance];

	if (w->over || in == NULL || in->life != t->life) {
		free(t);
		return;
	}
	t->stage++;
	if (t->stage == 1) {
		instance_mail(w, t);
		return;
	}
	parts_notice(w, in, (struct notice *)t);
	free(t);
}

static void
notify(struct world *w, int instance, enum notice_kind kind, unsigned parts)
{
	struct notice *n = world_alloc(sizeof(*n));

	n->task.run = run_notice;
	n->task.instance = instance;
	n->task.life = w->life[instance];
	n->kind = kind;
	n->parts = parts;
	n->generation = w->group.generation;
	n->member = w->group.member[instance];
	n->question = w->group.questions;
	/* All notices of one bridge travel for as long: in their order. */
	post(w, &n->task,
	    w->now_ms + roll_ms(w, ABOUT_GROUP, (uint64_t)instance, 0, 0, 100));
}

static bool
anybody(const struct world *w)
{
	for (int i = 0; i < w->rules->instances; i++)
		if (w->group.joined[i])
			return true;
	return false;
}

/* Evenly over the members; every turn it begins with another one. */
static void
plan_owners(struct world *w)
{
	struct group *g = &w->group;
	int member = (int)(g->turn % (uint64_t)w->rules->instances);

	for (int p = 0; p < w->rules->parts; p++) {
		g->want[p] = -1;
		if (!anybody(w))
			continue;
		while (!g->joined[member])
			member = (member + 1) % w->rules->instances;
		g->want[p] = member;
		member = (member + 1) % w->rules->instances;
	}
}

static bool
moves(const struct world *w, int p)
{
	const struct group *g = &w->group;

	return g->owner[p] != -1 && g->owner[p] != g->want[p];
}

/* Everything is free that moves: a new generation begins. */
static void
complete(struct world *w)
{
	struct group *g = &w->group;
	unsigned parts[WORLD_INSTANCES] = {0};

	for (int p = 0; p < w->rules->parts; p++)
		if (g->owner[p] == -1 && g->want[p] != -1) {
			g->owner[p] = g->want[p];
			g->asked[p] = 0;
			parts[g->owner[p]] |= 1u << p;
		}
	g->generation++;
	w->tally->rebalances++;
	for (int i = 0; i < w->rules->instances; i++)
		if (g->joined[i])
			notify(w, i, NOTICE_ASSIGN, parts[i]);
}

/* Has this member a question to answer? It gets one at a time. */
static bool
is_asked(const struct world *w, int instance)
{
	for (int p = 0; p < w->rules->parts; p++)
		if (w->group.owner[p] == instance && w->group.asked[p] != 0)
			return true;
	return false;
}

static void
ask_back(struct world *w, int instance, bool any)
{
	struct group *g = &w->group;
	unsigned parts = 0;

	for (int p = 0; p < w->rules->parts; p++)
		if (g->owner[p] == instance &&
		    (moves(w, p) || (any && w->rules->eager))) {
			g->asked[p] = g->questions + 1;
			parts |= 1u << p;
		}
	if (parts == 0)
		return;
	g->questions++;
	notify(w, instance, NOTICE_REVOKE, parts);
}

/* Goes on with a rebalance as far as it can. */
static void
go_on(struct world *w)
{
	struct group *g = &w->group;
	bool waits = false, any = false;

	for (int p = 0; p < w->rules->parts; p++)
		any |= moves(w, p);
	for (int i = 0; i < w->rules->instances; i++)
		if (!is_asked(w, i))
			ask_back(w, i, any);
	for (int p = 0; p < w->rules->parts; p++)
		waits |= g->owner[p] != -1 && g->asked[p] != 0;
	if (!waits)
		complete(w);
}

static void
rebalance(struct world *w)
{
	plan_owners(w);
	go_on(w);
}

void
group_join(struct world *w, int instance)
{
	w->group.joined[instance] = true;
	rebalance(w);
}

static void
take_all(struct world *w, int instance)
{
	for (int p = 0; p < w->rules->parts; p++)
		if (w->group.owner[p] == instance) {
			w->group.owner[p] = -1;
			w->group.asked[p] = 0;
		}
}

void
group_leave(struct world *w, int instance)
{
	take_all(w, instance);
	w->group.joined[instance] = false;
	/* Whoever is not a member may not commit; the others still may. */
	w->group.member[instance]++;
	rebalance(w);
}

void
group_given_up(struct world *w, int instance, uint64_t question)
{
	bool any = false;

	for (int p = 0; p < w->rules->parts; p++)
		if (w->group.owner[p] == instance &&
		    w->group.asked[p] == question) {
			w->group.owner[p] = -1;
			w->group.asked[p] = 0;
			any = true;
		}
	if (any)
		go_on(w);
}

static void
forget(struct world *w, int instance)
{
	unsigned parts = 0;

	for (int p = 0; p < w->rules->parts; p++)
		if (w->group.owner[p] == instance)
			parts |= 1u << p;
	take_all(w, instance);
	w->group.member[instance]++;
	w->group.turn++;
	say(w, "the group forgets bridge %d", instance);
	notify(w, instance, NOTICE_LOST, parts);
}

void
group_lose(struct world *w, int instance)
{
	if (!w->group.joined[instance])
		return;
	forget(w, instance);
	rebalance(w);
}

void
group_expel(struct world *w, int instance)
{
	forget(w, instance);
	w->group.joined[instance] = false;
	rebalance(w);
}

void
group_shuffle(struct world *w)
{
	w->group.turn++;
	say(w, "a rebalance");
	rebalance(w);
}
