/* world: time, and what happens in it. See the header. */
#include "world.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world_checker.h"
#include "world_instance.h"

void *
world_alloc(size_t size)
{
	void *memory = calloc(1, size);

	if (memory == NULL) {
		(void)fputs("out of memory\n", stderr);
		exit(2);
	}
	return memory;
}

/* ---- chance */

static uint64_t
mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

uint64_t
roll(const struct world *w, uint64_t about, uint64_t a, uint64_t b)
{
	return mix(mix(mix(w->rules->seed ^ about << 32) ^ a) ^ b);
}

int64_t
roll_ms(const struct world *w, uint64_t about, uint64_t a, uint64_t b,
    int64_t least_ms, int64_t most_ms)
{
	uint64_t span = (uint64_t)(most_ms - least_ms) + 1;

	return least_ms + (int64_t)(roll(w, about, a, b) % span);
}

/* ---- telling */

void
say(const struct world *w, const char *format, ...)
{
	va_list args;

	if (!w->trace || w->over)
		return;
	printf("%9.3f  ", (double)w->now_ms / 1000);
	va_start(args, format);
	(void)vprintf(format, args);
	va_end(args);
	(void)putchar('\n');
}

void
broken(struct world *w, enum failure failure, const char *format, ...)
{
	va_list args;

	if (w->failure != FINE || w->over)
		return;
	w->failure = failure;
	va_start(args, format);
	(void)vsnprintf(w->why, sizeof(w->why), format, args);
	va_end(args);
	say(w, "BROKEN: %s: %s", failure_name(failure), w->why);
}

const char *
failure_name(enum failure failure)
{
	static const char *const names[] = {
	    [FINE] = "fine",
	    [FAIL_LOST] = "an event is lost (P1)",
	    [FAIL_BACKWARDS] = "a committed offset went back",
	    [FAIL_OPEN] = "too many open requests (P2)",
	    [FAIL_IDENTITY] = "another request for the same event (P3)",
	    [FAIL_ATTEMPTS] = "attempts are not kept",
	    [FAIL_EARLY] = "sent before its time",
	    [FAIL_ORDER] = "out of order (P4)",
	    [FAIL_EPOCH] = "sent by who is not the owner any more",
	    [FAIL_TWICE] = "sent again without need",
	    [FAIL_OUTAGE] = "an outage cost too many events (P5)",
	    [FAIL_HELD] = "sent to a target that is held or closed",
	    [FAIL_SHARE] = "one target takes the last worker",
	    [FAIL_BOUND] = "more memory than allowed (P7)",
	    [FAIL_STALL] = "it does not come to an end (P7)",
	    [FAIL_WAKE] = "nobody would be woken (P7)",
	    [FAIL_ABORT] = "the core gave up",
	};

	return names[failure];
}

/* ---- what happens from outside */

static void
come_back(struct world *w, struct task *t)
{
	int index = t->instance;

	free(t);
	if (w->over || w->instance[index] != NULL)
		return;
	say(w, "bridge %d starts", index);
	w->instance[index] = instance_start(w, index);
	group_join(w, index);
}

static void
come_back_at(struct world *w, int index, int64_t at_ms)
{
	struct task *t = world_alloc(sizeof(*t));

	t->run = come_back;
	t->instance = index;
	post(w, t, at_ms);
}

/* The group notices a dead member after its session, or by its successor. */
static void
kill_now(struct world *w, const struct happening *h)
{
	struct instance *in = w->instance[h->instance];

	say(w, "bridge %d is killed", h->instance);
	instance_end(w, in);
	w->instance[h->instance] = NULL;
	check_life(w, h->instance, true);
	group_leave(w, h->instance);
	come_back_at(w, h->instance, w->now_ms + h->length_ms);
}

static void
run_doom(struct world *w, struct task *t)
{
	const struct happening *h = w->doom[t->instance];
	const struct instance *in = w->instance[t->instance];

	if (!w->over && h != NULL) {
		w->doom[t->instance] = NULL;
		if (in != NULL && in->life == t->life)
			kill_now(w, h);
	}
	free(t);
}

void
world_moment(struct world *w, int instance, enum moment moment)
{
	const struct happening *h = w->doom[instance];
	struct task *t;

	if (h == NULL || h->moment != moment)
		return;
	t = world_alloc(sizeof(*t));
	t->run = run_doom;
	t->instance = instance;
	t->life = w->life[instance];
	post(w, t, w->now_ms);
}

static void
crash(struct world *w, const struct happening *h)
{
	if (w->instance[h->instance] == NULL)
		return;
	if (h->moment == MOMENT_NOW)
		kill_now(w, h);
	else
		w->doom[h->instance] = h;
}

static void
hup(struct world *w, const struct happening *h)
{
	struct instance *in = w->instance[h->instance];

	if (in == NULL || w->now_ms < in->frozen_until_ms)
		return;
	say(w, "bridge %d probes at once", h->instance);
	check_hup(w, h->instance);
	br_sched_probe_now(in->sched, w->now_ms);
	in->changed = true;
}

/* The bridge stops by itself; see ended(). */
static void
stop(struct world *w, const struct happening *h)
{
	struct instance *in = w->instance[h->instance];

	if (in == NULL || in->stopping || w->now_ms < in->frozen_until_ms)
		return;
	say(w, "bridge %d is told to stop", h->instance);
	in->back_after_ms = h->length_ms;
	in->stop_until_ms = w->now_ms + 8000;
	parts_shutdown(w, in);
	instance_wake(w, in);
}

static void
thaw(struct world *w, struct task *t)
{
	int index = t->instance;
	bool same =
	    w->instance[index] != NULL && w->instance[index]->life == t->life;

	free(t);
	if (w->over || !same)
		return;
	say(w, "bridge %d goes on", index);
	group_join(w, index);
}

/* For longer than its session lasts: the group goes on without it. */
static void
freeze(struct world *w, const struct happening *h)
{
	struct instance *in = w->instance[h->instance];
	struct task *t;

	if (in == NULL || in->stopping || !w->group.joined[h->instance])
		return;
	say(w, "bridge %d stands still for %lld ms", h->instance,
	    (long long)h->length_ms);
	in->frozen_until_ms = w->now_ms + h->length_ms;
	group_expel(w, h->instance);
	t = world_alloc(sizeof(*t));
	t->run = thaw;
	t->instance = h->instance;
	t->life = in->life;
	post(w, t, in->frozen_until_ms + 100);
}

static void
begin_phase(struct world *w, const struct happening *h)
{
	if (w->phases == WORLD_PHASES)
		return;
	w->phase[w->phases++] = (struct phase){
	    .from_ms = w->now_ms,
	    .to_ms = w->now_ms + h->length_ms,
	    .target = h->kind == HAPPEN_PHASE ? h->target
	              : h->kind == HAPPEN_DLQ ? -1
	                                      : -2,
	    .mode = h->mode,
	    .trouble = h->trouble,
	};
	say(w, "%s %d: trouble %d for %lld ms", plan_kind_name(h->kind),
	    h->target, h->kind == HAPPEN_PHASE ? (int)h->mode : (int)h->trouble,
	    (long long)h->length_ms);
}

static void
happen(struct world *w, const struct happening *h)
{
	w->tally->happened[h->kind]++;
	switch (h->kind) {
	case HAPPEN_RECORD:
	case HAPPEN_GAP:
		cluster_append(w, h);
		break;
	case HAPPEN_CRASH:
		crash(w, h);
		break;
	case HAPPEN_STOP:
		stop(w, h);
		break;
	case HAPPEN_LOST:
		if (w->instance[h->instance] != NULL)
			group_lose(w, h->instance);
		break;
	case HAPPEN_FREEZE:
		freeze(w, h);
		break;
	case HAPPEN_SHUFFLE:
		group_shuffle(w);
		break;
	case HAPPEN_HUP:
		hup(w, h);
		break;
	case HAPPEN_PHASE:
	case HAPPEN_DLQ:
	case HAPPEN_COMMITS:
		begin_phase(w, h);
		break;
	}
}

/* ---- the loop */

/* A bridge that was told to stop, and has nothing left to wait for. */
static void
ended(struct world *w, struct instance *in)
{
	int index = in->index;
	int64_t back_ms = w->now_ms + in->back_after_ms;

	if (!in->stopping ||
	    (w->now_ms < in->stop_until_ms && !parts_quiet(w, in)))
		return;
	say(w, "bridge %d has stopped", index);
	instance_end(w, in);
	w->instance[index] = NULL;
	check_life(w, index, false);
	group_leave(w, index);
	come_back_at(w, index, back_ms);
}

static int64_t
due_of(const struct instance *in)
{
	int64_t due_ms = in->pass_ms < in->wake_ms ? in->pass_ms : in->wake_ms;

	return due_ms > in->frozen_until_ms ? due_ms : in->frozen_until_ms;
}

/* When the next thing happens; NEVER_MS: nothing does any more. */
static int64_t
next_ms(const struct world *w)
{
	int64_t at_ms = NEVER_MS;

	if (w->planned < w->plan->count)
		at_ms = w->plan->happening[w->planned].at_ms;
	if (w->tasks != 0 && w->task[0]->at_ms < at_ms)
		at_ms = w->task[0]->at_ms;
	for (int i = 0; i < w->rules->instances; i++)
		if (w->instance[i] != NULL && due_of(w->instance[i]) < at_ms)
			at_ms = due_of(w->instance[i]);
	return at_ms;
}

static void
step(struct world *w)
{
	struct instance *in;

	if (w->planned < w->plan->count &&
	    w->plan->happening[w->planned].at_ms <= w->now_ms)
		happen(w, &w->plan->happening[w->planned++]);
	else if (w->tasks != 0 && w->task[0]->at_ms <= w->now_ms) {
		struct task *t = take_task(w);

		t->run(w, t);
	}
	for (int i = 0; i < w->rules->instances; i++) {
		in = w->instance[i];
		if (in == NULL || w->now_ms < in->frozen_until_ms)
			continue;
		if (in->pass_ms <= w->now_ms)
			instance_pass(w, in);
		instance_work(w, in);
		if (w->tally->steps % 8 == 0)
			check_idle(w, i);
		ended(w, in);
	}
}

/*
 * Faults are over: how long may the rest take? Generously: as if every event
 * that fails, by its nature or by chance, went through its ladder and through
 * the probes of a closed target, one after the other.
 */
static int64_t
patience_ms(const struct world *w)
{
	const struct rules *r = w->rules;
	int64_t each_ms = 0, step_ms = r->base_ms, fail = 0;

	for (size_t i = 0; i < w->plan->count; i++)
		fail += w->plan->happening[i].kind == HAPPEN_RECORD &&
		        w->plan->happening[i].fate != FATE_GOOD;
	fail += (int64_t)w->plan->count * r->noise / 500;
	for (int i = 0; i < 5; i++) {
		step_ms = 2 * step_ms < r->max_delay_ms ? 2 * step_ms
		                                        : r->max_delay_ms;
		each_ms += 2 * (step_ms + r->probe_max_ms + 6000);
	}
	return 600000 + r->give_up_ms + fail * each_ms;
}

static void
loop(struct world *w, uint64_t most_steps)
{
	int64_t end_ms = w->rules->faults_end_ms + patience_ms(w);

	for (uint64_t n = 0; w->failure == FINE; n++) {
		int64_t at_ms = next_ms(w);

		if (w->planned == w->plan->count && check_all_done(w))
			break;
		if (at_ms == NEVER_MS || at_ms > end_ms || n == most_steps) {
			check_tell_stall(w);
			break;
		}
		if (at_ms > w->now_ms)
			w->now_ms = at_ms;
		step(w);
		w->tally->steps++;
	}
}

static void
begin(struct world *w)
{
	check_init(w);
	for (int i = 0; i < WORLD_PARTS; i++) {
		w->committed[i].offset = -1;
		w->group.owner[i] = w->group.want[i] = -1;
	}
	for (int i = 0; i < w->rules->instances; i++) {
		w->instance[i] = instance_start(w, i);
		group_join(w, i);
	}
}

static void
end(struct world *w)
{
	w->over = true;
	for (int i = 0; i < WORLD_INSTANCES; i++)
		if (w->instance[i] != NULL) {
			instance_end(w, w->instance[i]);
			w->instance[i] = NULL;
		}
	while (w->tasks != 0) {
		struct task *t = take_task(w);

		t->run(w, t);
	}
	free(w->task);
	cluster_free(w);
	check_free(w);
}

static sigjmp_buf gave_up;
static volatile sig_atomic_t death;

static void
catch_death(int number)
{
	death = number;
	siglongjmp(gave_up, 1);
}

/* A sanitizer that sees to bad accesses itself may go on to do so. */
static void
catch_deaths(void)
{
	struct sigaction old;

	(void)signal(SIGABRT, catch_death);
	if (sigaction(SIGSEGV, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		(void)signal(SIGSEGV, catch_death);
}

enum failure
world_run(const struct plan *plan, uint64_t most_steps, bool trace,
    struct tally *tally, char *why)
{
	struct world *w = world_alloc(sizeof(*w));
	enum failure failure;

	w->plan = plan;
	w->rules = &plan->rules;
	w->trace = trace;
	w->tally = tally;
	catch_deaths();
	/* What the core held is lost then: a failure is the end of the run. */
	if (sigsetjmp(gave_up, 1) != 0) {
		(void)snprintf(why, sizeof(w->why),
		    "signal %d at %.3f s, after %llu steps", (int)death,
		    (double)w->now_ms / 1000, (unsigned long long)tally->steps);
		return FAIL_ABORT;
	}
	begin(w);
	loop(w, most_steps);
	tally->seeds++;
	tally->virtual_ms += w->now_ms;
	if (w->now_ms - w->rules->faults_end_ms > tally->longest_ms)
		tally->longest_ms = w->now_ms - w->rules->faults_end_ms;
	failure = w->failure;
	memcpy(why, w->why, sizeof(w->why));
	end(w);
	free(w);
	return failure;
}
