/* sim_world: many seeds of the simulated world; see world.h. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHORT_SEEDS 12000
#define LONG_SECONDS 600
#define MOST_STEPS 1000000

struct settings {
	uint64_t first, last, most_steps;
	int64_t seconds; /* 0: no limit */
	bool trace, shrink;
};

static void
usage(void)
{
	(void)fputs("usage: sim_world [--seeds A-B | --seed N | --long] "
	            "[--steps N] [--trace] [--no-shrink] [--plant NAME]\n",
	    stderr);
	exit(64);
}

static const char *
value_of(int argc, char **argv, int *i)
{
	if (*i + 1 >= argc)
		usage();
	return argv[++*i];
}

static void
take_plant(const char *name)
{
	if (strcmp(name, "list") == 0) {
		plant_list();
		exit(0);
	}
	if (!plant_is_known(name))
		usage();
	world_plant = name;
}

static void
take_seeds(struct settings *s, const char *text)
{
	char *end;

	s->first = s->last = strtoull(text, &end, 10);
	if (*end == '-')
		s->last = strtoull(end + 1, &end, 10);
	if (*end != '\0' || end == text || s->last < s->first)
		usage();
}

static struct settings
parse(int argc, char **argv)
{
	struct settings s = {1, SHORT_SEEDS, MOST_STEPS, 0, false, true};

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--seeds") == 0 ||
		    strcmp(argv[i], "--seed") == 0)
			take_seeds(&s, value_of(argc, argv, &i));
		else if (strcmp(argv[i], "--steps") == 0)
			s.most_steps =
			    strtoull(value_of(argc, argv, &i), NULL, 10);
		else if (strcmp(argv[i], "--plant") == 0)
			take_plant(value_of(argc, argv, &i));
		else if (strcmp(argv[i], "--trace") == 0)
			s.trace = true;
		else if (strcmp(argv[i], "--no-shrink") == 0)
			s.shrink = false;
		else if (strcmp(argv[i], "--long") == 0) {
			s.last = UINT64_MAX;
			s.seconds = LONG_SECONDS;
		} else
			usage();
	}
	return s;
}

static int64_t
now_s(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* What failed, made short, and told again. */
static void
explain(struct plan *plan, const struct settings *s, enum failure failure,
    const char *why)
{
	struct tally ignored = {0};
	char again[300];

	printf("seed %llu: %s: %s\n", (unsigned long long)plan->rules.seed,
	    failure_name(failure), why);
	if (!s->shrink)
		return;
	(void)fflush(stdout);
	shrink(plan, failure, s->most_steps);
	printf("\nshrunk to %zu happenings:\n", plan->count);
	plan_print(plan);
	printf("\n");
	(void)fflush(stdout);
	(void)world_run(plan, s->most_steps, true, &ignored, again);
	printf("\nreplay: sim_world --seed %llu --trace%s%s\n",
	    (unsigned long long)plan->rules.seed,
	    world_plant[0] != '\0' ? " --plant " : "", world_plant);
}

/* What is sent again when a partition changes hands: how much for each
 * change, and how many changes there were. */
static void
print_repeated(const struct tally *t)
{
	static const char *const causes[] = {"crash", "stop", "revoke", "loss"};
	static const char *const rooms[] = {"no", "little", "enough"};

	printf("%llu requests for what had been delivered\n",
	    (unsigned long long)t->duplicates);
	for (int i = 0; i < CAUSE_NONE; i++)
		for (int k = 0; k < ROOMS; k++) {
			uint64_t ended = t->ended[i][k];

			printf("%s%s of a partition, %s room: %.3f (%llu)%s",
			    k == 0 ? "  " : "", causes[i], rooms[k],
			    (double)t->repeated[i][k] /
			        (double)(ended != 0 ? ended : 1),
			    (unsigned long long)ended,
			    k + 1 < ROOMS ? ", " : "\n");
		}
}

static void
print_tally(const struct tally *t, int64_t seconds)
{
	printf("%llu seeds, %llu steps, %.1f days of virtual time, at most %lld"
	       " s from the last fault to the end; took %lld s\n",
	    (unsigned long long)t->seeds, (unsigned long long)t->steps,
	    (double)t->virtual_ms / 86400000, (long long)(t->longest_ms / 1000),
	    (long long)seconds);
	printf("%llu records, %llu requests, most open of one bridge %llu, "
	       "%llu dead letters by answers, %llu copies in the DLQ\n",
	    (unsigned long long)t->records, (unsigned long long)t->requests,
	    (unsigned long long)t->most_open,
	    (unsigned long long)t->dead_letters, (unsigned long long)t->copies);
	for (int k = HAPPEN_CRASH; k <= HAPPEN_COMMITS; k++)
		printf("%s%llu %s", k == HAPPEN_CRASH ? "" : ", ",
		    (unsigned long long)t->happened[k],
		    plan_kind_name((enum happening_kind)k));
	printf("; %llu rebalances, %llu commits, %llu failed ones, %llu late "
	       "results\n",
	    (unsigned long long)t->rebalances, (unsigned long long)t->commits,
	    (unsigned long long)t->commit_errors,
	    (unsigned long long)t->late_results);
	print_repeated(t);
}

int
main(int argc, char **argv)
{
	struct settings s = parse(argc, argv);
	struct tally tally = {0};
	enum failure failure = FINE;
	int64_t begin_s = now_s();
	char why[300];

	for (uint64_t seed = s.first; seed <= s.last && failure == FINE;
	     seed++) {
		struct plan plan;

		if (s.seconds != 0 && now_s() - begin_s >= s.seconds)
			break;
		plan_make(&plan, seed);
		if (s.trace)
			plan_print(&plan);
		failure = world_run(&plan, s.most_steps, s.trace, &tally, why);
		if (failure != FINE)
			explain(&plan, &s, failure, why);
		plan_free(&plan);
	}
	print_tally(&tally, now_s() - begin_s);
	if (failure == FINE)
		printf("lost 0, out of order 0\n");
	return failure != FINE;
}
