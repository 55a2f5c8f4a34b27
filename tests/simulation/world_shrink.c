/* world_shrink: takes away from a plan what its failure does not need. Each
 * try runs in a process of its own, since the core may abort or loop. */
#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIES 3000
#define TRY_SECONDS 10

static bool
fails(const struct plan *plan, enum failure failure, uint64_t most_steps)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		struct tally tally = {0};
		char why[300];

		(void)alarm(TRY_SECONDS);
		_exit((int)world_run(plan, most_steps, false, &tally, why));
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == (int)failure;
}

/* Without `count` happenings from `at` on. */
static bool
fails_without(struct plan *plan, size_t at, size_t count, enum failure failure,
    uint64_t most_steps)
{
	struct plan less = {.rules = plan->rules};
	bool still;

	less.happening =
	    world_alloc((plan->count + 1) * sizeof(*less.happening));
	less.count = plan->count - count;
	memcpy(less.happening, plan->happening, at * sizeof(*less.happening));
	memcpy(less.happening + at, plan->happening + at + count,
	    (less.count - at) * sizeof(*less.happening));
	still = fails(&less, failure, most_steps);
	if (still) {
		plan_free(plan);
		*plan = less;
	} else
		plan_free(&less);
	return still;
}

/* Other rules, if it fails with them too. */
static void
try_rules(struct plan *plan, const struct rules *rules, enum failure failure,
    uint64_t most_steps)
{
	struct plan other = {*rules, plan->happening, plan->count};

	if (fails(&other, failure, most_steps))
		plan->rules = *rules;
}

static bool
fits(const struct plan *plan, const struct rules *rules)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->happening[i].instance >= rules->instances ||
		    plan->happening[i].part >= rules->parts)
			return false;
	return true;
}

static void
shrink_rules(struct plan *plan, enum failure failure, uint64_t most_steps)
{
	struct rules less = plan->rules;

	while (--less.parts > 0 && fits(plan, &less))
		try_rules(plan, &less, failure, most_steps);
	less = plan->rules;
	while (--less.instances > 0 && fits(plan, &less))
		try_rules(plan, &less, failure, most_steps);
	less = plan->rules;
	less.noise = 0;
	try_rules(plan, &less, failure, most_steps);
	less = plan->rules;
	less.workers = 1;
	try_rules(plan, &less, failure, most_steps);
	less = plan->rules;
	less.eager = false;
	try_rules(plan, &less, failure, most_steps);
}

/* Pieces of half the size in every round; single ones until none can go. */
static void
shrink_happenings(struct plan *plan, enum failure failure, uint64_t most_steps)
{
	size_t size = plan->count;
	int tries = 0;
	bool any;

	while (size > 0 && tries < TRIES) {
		any = false;
		for (size_t at = 0; at < plan->count && tries < TRIES;) {
			size_t rest = plan->count - at;
			size_t count = size < rest ? size : rest;

			tries++;
			if (fails_without(plan, at, count, failure, most_steps))
				any = true;
			else
				at += count;
		}
		if (size > 1)
			size = (size + 1) / 2;
		else if (!any)
			size = 0;
	}
}

void
shrink(struct plan *plan, enum failure failure, uint64_t most_steps)
{
	shrink_happenings(plan, failure, most_steps);
	shrink_rules(plan, failure, most_steps);
}
