/*
 * What the retry rules promise, measured: outages, bad events, lanes full of
 * them. Prints a table and exits with 1 when a bound is broken.
 *
 *     sim_breaker [SEED]
 */
#include "sim.h"

static int failures;

static void
bound(bool ok, const char *what, const char *where)
{
	if (ok)
		return;
	printf("BROKEN: %s: %s\n", where, what);
	failures++;
}
#define BOUND(ok, where) bound(ok, #ok, where)

static const struct kind {
	const char *name;
	struct reply reply;
	bool target_failure;
} kinds[] = {
    {"503", {503, BR_TRANSPORT_OK, 20, 0}, true},
    {"refused", {0, BR_TRANSPORT_REFUSED, 1, 0}, true},
    {"timeout", {0, BR_TRANSPORT_TIMEOUT, 5000, 0}, true},
    {"503+RA", {503, BR_TRANSPORT_OK, 20, 30000}, true},
    {"429+RA", {429, BR_TRANSPORT_OK, 20, 30000}, true},
    {"500", {500, BR_TRANSPORT_OK, 20, 0}, false},
    {"400", {400, BR_TRANSPORT_OK, 20, 0}, false},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct reply
usual(struct sim *s, const struct job *job)
{
	const struct reply fine = {200, BR_TRANSPORT_OK, 20, 0};

	if (s->now_ms >= s->down_from_ms && s->now_ms < s->down_to_ms)
		return s->down;
	return job->good ? fine : s->bad;
}

static double
seconds(int64_t ms)
{
	return ms == NEVER ? -1 : (double)ms / SECOND;
}

/* ---- n events that always fail, and nothing else */

static void
row_alone(const struct kind *k, size_t n, uint64_t seed)
{
	const struct br_sched_rules rules = sim_rules();
	bool asked = k->reply.retry_after_ms != 0;
	uint32_t requests = k->reply.status == 400 ? 1 : 5;
	struct sim s;

	sim_init(&s, &rules, usual, seed, n);
	s.bad = k->reply;
	for (size_t i = 0; i < n; i++)
		(void)sim_put(&s, (long)i, false, 0);
	sim_run(&s, 24 * HOUR);
	printf("%-8s %5zu %6zu %9.0f %9.0f %5u %5u %7.1f\n", k->name, n, s.dead,
	    seconds(s.first_dead_ms), seconds(s.last_dead_ms),
	    s.dead != 0 ? s.least : 0, s.most, seconds(s.first_close_ms));
	if (!k->target_failure || n < 20) {
		BOUND(k->target_failure ? s.dead == n : s.dead >= n, k->name);
		/* throttled ones may be sent as often again */
		BOUND(s.least == requests || (asked && s.least > 5), k->name);
		BOUND(s.most == requests || (asked && s.most <= 10), k->name);
		/* the ladder; then the probes, or what was asked for */
		BOUND(s.last_dead_ms <=
		          (n < 20 && !asked ? 10 : 24 * 60) * MINUTE,
		    k->name);
	} else
		BOUND(s.dead < 20 + WORKERS, k->name);
	sim_free(&s);
}

static void
table_alone(uint64_t seed)
{
	static const size_t many[] = {1, 4, 5, 10, 19, 20, 1000};

	printf("\nn events that always fail, alone, 24 h"
	       " (times in s, -1: never)\n");
	printf("%-8s %5s %6s %9s %9s %5s %5s %7s\n", "answer", "n", "dead",
	    "first", "last", "least", "most", "closed");
	for (size_t k = 0; k < KINDS; k++)
		for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++)
			row_alone(&kinds[k], many[i], seed);
}

/* ---- an outage under traffic */

#define KEYS 2000
#define BUFFER 20000 /* open at once; what is more waits in Kafka */

/* Events of so many keys come at `rate` a second until `to_ms`. */
static void
feed(struct sim *s, double rate, size_t keys, int64_t to_ms)
{
	double at_ms = (double)s->now_ms;
	long key;

	for (;;) {
		at_ms += (0.5 + sim_random(s)) * SECOND / rate;
		if (at_ms >= (double)to_ms)
			break;
		sim_run(s, (int64_t)at_ms);
		key = (long)(sim_random(s) * (double)keys);
		if (sim_open(s) < BUFFER && s->jobs < s->room)
			(void)sim_put(s, key, true, 0);
	}
	sim_run(s, to_ms);
}

/* From five minutes after the start; then all that is left has its end. */
static void
run_outage(struct sim *s, const struct br_sched_rules *rules,
    const struct reply *reply, int64_t length_ms, double rate, size_t keys,
    uint64_t seed)
{
	sim_init(s, rules, usual, seed, 400000);
	s->down = *reply;
	feed(s, rate, keys, 5 * MINUTE);
	s->down_from_ms = s->now_ms;
	s->down_to_ms = s->now_ms + length_ms;
	feed(s, rate, keys, s->down_to_ms);
	feed(s, rate, keys, s->now_ms + 5 * MINUTE);
	sim_run(s, s->now_ms + 2 * HOUR);
}

/* How many good events an outage may cost. Who answers about the events costs
 * those that close the target; then one in sixteen of the probes that come
 * once a minute, or where there are few lanes one in five; or all, where each
 * answer ends an event. */
static size_t
may_lose(const struct kind *k, int64_t length_ms, double rate, size_t keys)
{
	size_t probes = (size_t)(length_ms / MINUTE);

	/* It takes 20 different events to close, and the first may die before
	 * there are so many. */
	if (k->target_failure)
		return rate < 1 || keys < 20 ? 20 + WORKERS : 0;
	if (k->reply.status == 400)
		return 100 + WORKERS + 7 * 16 + probes;
	return 100 + WORKERS + 5 + probes / (keys < 100 ? 5 : 12);
}

static void
row_outage(const struct kind *k, int64_t length_ms, double rate, size_t keys,
    uint64_t seed)
{
	const struct br_sched_rules rules = sim_rules();
	int64_t closed_ms = NEVER, good_ms = NEVER;
	struct sim s;

	run_outage(&s, &rules, &k->reply, length_ms, rate, keys, seed);
	if (s.first_close_ms != NEVER)
		closed_ms = s.first_close_ms - s.down_from_ms;
	if (s.first_good_ms != NEVER)
		good_ms = s.first_good_ms - s.down_to_ms;
	printf("%-8s %5.0f %6.2f %5zu %7zu %6zu %8.1f %9.1f %6zu %6zu\n",
	    k->name, seconds(length_ms) / 60, rate, keys, s.jobs, s.dead_good,
	    seconds(closed_ms), seconds(good_ms), s.closings, sim_open(&s));
	BOUND(sim_open(&s) == 0, k->name);
	BOUND(s.delivered == s.jobs - s.dead_good, k->name);
	BOUND(s.dead_good <= may_lose(k, length_ms, rate, keys), k->name);
	/* the next probe, which may hang; not closed: the next event */
	BOUND(good_ms <= (closed_ms != NEVER ? 66 : 150) * SECOND, k->name);
	sim_free(&s);
}

static void
table_outage(uint64_t seed)
{
	static const double rates[] = {0.02, 1, 10, 100};

	printf("\nan outage, all events good; %d open at most\n", BUFFER);
	printf("%-8s %5s %6s %5s %7s %6s %8s %9s %6s %6s\n", "answer", "min",
	    "rate/s", "keys", "events", "lost", "closed_s", "1st_ok_s",
	    "closes", "stuck");
	for (size_t k = 0; k < KINDS; k++) {
		for (size_t r = 0; r < 4; r++) {
			row_outage(
			    &kinds[k], 10 * MINUTE, rates[r], KEYS, seed);
			row_outage(&kinds[k], 8 * HOUR, rates[r], KEYS, seed);
		}
		row_outage(&kinds[k], 8 * HOUR, 1, 10, seed);
	}
}

/* ---- bad events among good ones */

static void
row_poison(const struct kind *k, size_t n, double good_rate, bool at_once,
    uint64_t seed)
{
	const struct br_sched_rules rules = sim_rules();
	int64_t every_ms = (int64_t)(SECOND / good_rate);
	size_t good = (size_t)((good_rate < 1 ? 20 : 2) * HOUR / every_ms);
	size_t put = 0;
	struct sim s;

	sim_init(&s, &rules, usual, seed, n + good);
	s.bad = k->reply;
	for (size_t i = 0; i < good; i++) {
		while (put < n && (at_once || put * good < i * n))
			(void)sim_put(&s, 1000000 + (long)put++, false, 0);
		(void)sim_put(&s, (long)i, true, 0);
		sim_run(&s, s.now_ms + every_ms);
	}
	sim_run(&s, s.now_ms + 48 * HOUR);
	printf("%-8s %5zu %6.3f %-6s %6zu %8.0f %6zu %5u %5u %10.1f %6zu "
	       "%6zu\n",
	    k->name, n, good_rate, at_once ? "once" : "spread", s.dead,
	    seconds(s.last_dead_ms), s.dead_good, s.dead != 0 ? s.least : 0,
	    s.most, seconds(s.slowest_ms), s.closings, sim_open(&s));
	BOUND(s.dead_good == 0, k->name);
	BOUND(s.delivered == good, k->name);
	BOUND(s.least >= (k->reply.status == 400 ? 1 : 5), k->name);
	/* What hangs, or asks all to wait, takes the time that it takes. */
	if (k->reply.takes_ms <= 20 && k->reply.retry_after_ms == 0)
		BOUND(s.slowest_ms <= 2 * MINUTE + 5 * SECOND, k->name);
	if (!k->target_failure) {
		BOUND(s.dead == put && s.most <= 5, k->name);
		if (at_once)
			BOUND(s.last_dead_ms <= HOUR, k->name);
	}
	sim_free(&s);
}

static void
table_poison(uint64_t seed)
{
	printf("\nn bad events among good ones for 2 h (20 h where they are"
	       " rare), each a key\n");
	printf("%-8s %5s %6s %-6s %6s %8s %6s %5s %5s %10s %6s %6s\n", "answer",
	    "n", "good/s", "come", "dead", "last", "lost", "least", "most",
	    "slowest_ok", "closes", "stuck");
	for (size_t k = 0; k < KINDS; k++)
		for (int once = 0; once < 2; once++) {
			row_poison(&kinds[k], 1, 1, once, seed);
			row_poison(&kinds[k], 19, 1, once, seed);
			row_poison(&kinds[k], 500, 1, once, seed);
			row_poison(&kinds[k], 500, 10, once, seed);
			row_poison(&kinds[k], 1000, 10, once, seed);
			if (kinds[k].target_failure)
				continue;
			row_poison(&kinds[k], 500, 0.02, once, seed);
			row_poison(&kinds[k], 500, 0.002, once, seed);
		}
}

/* ---- a lane of bad events before a good one */

/* When the good one is delivered. Ends with `s` still in use. */
static int64_t
run_lane(struct sim *s, const struct br_sched_rules *rules,
    const struct reply *bad, size_t n, double good_rate, uint64_t seed)
{
	int64_t step_ms =
	    good_rate > 0 ? (int64_t)(SECOND / good_rate) : SECOND;
	size_t others = 0;
	struct job *behind;

	sim_init(s, rules, usual, seed, 1000000);
	s->bad = *bad;
	for (size_t i = 0; i < n; i++)
		(void)sim_put(s, 0, false, 0);
	behind = sim_put(s, 0, true, 0);
	while (behind->end_ms == NEVER && s->now_ms < 60 * HOUR) {
		if (good_rate > 0)
			(void)sim_put(s, 1 + (long)others++ % KEYS, true, 0);
		sim_run(s, s->now_ms + step_ms);
	}
	return behind->end_ms;
}

static void
row_lane(const struct reply *bad, size_t n, double good_rate, int64_t limit_ms,
    uint64_t seed)
{
	const struct br_sched_rules rules = sim_rules();
	struct sim s;
	int64_t end_ms = run_lane(&s, &rules, bad, n, good_rate, seed);

	printf("%-8d %5zu %6.1f %10.1f %6zu\n", bad->status, n, good_rate,
	    seconds(end_ms), s.closings);
	BOUND(end_ms <= limit_ms, "lane");
	BOUND(s.dead == n && s.dead_good == 0, "lane");
	sim_free(&s);
}

static const struct reply never = {400, BR_TRANSPORT_OK, 20, 0};
static const struct reply again = {500, BR_TRANSPORT_OK, 20, 0};

static void
table_lane(uint64_t seed)
{
	printf(
	    "\na lane of n bad events before a good one, healthy receiver\n");
	printf("%-8s %5s %6s %10s %6s\n", "answer", "n", "good/s", "reached_s",
	    "closes");
	row_lane(&never, 150, 0, 4 * MINUTE, seed);
	row_lane(&never, 500, 0, 6 * HOUR, seed);
	row_lane(&never, 150, 1, 10 * SECOND, seed);
	/* The ladder takes 300 s for each, and closed, each step may wait a
	 * minute more for its probe. */
	row_lane(&again, 150, 0, (100 * 310 + 50 * 440) * SECOND, seed);
	row_lane(&again, 150, 1, 150 * 310 * SECOND, seed);
}

/* ---- a good event that was tried in an outage, and then only bad new ones */

static void
table_old(uint64_t seed)
{
	const struct br_sched_rules rules = sim_rules();
	struct job *old;
	struct sim s;

	sim_init(&s, &rules, usual, seed, 100000);
	s.bad = s.down = again;
	s.down_from_ms = 0;
	for (int i = 0; i < 100 + WORKERS; i++)
		(void)sim_put(&s, -1, false, 0);
	sim_run(&s, 4 * MINUTE);
	old = sim_put(&s, -1, true, 0);
	while (s.first_close_ms == NEVER && s.now_ms < HOUR)
		sim_run(&s, s.now_ms + SECOND);
	s.down_to_ms = s.now_ms;
	while (old->end_ms == NEVER && s.now_ms < 24 * HOUR) {
		(void)sim_put(&s, -1, false, 0);
		sim_run(&s, s.now_ms + 20 * SECOND);
	}
	printf("\nan event from an outage among bad new ones: delivered after"
	       " %.0f s\n",
	    old->end_ms == NEVER ? -1 : seconds(old->end_ms - s.down_to_ms));
	BOUND(s.dead_good == 0, "old");
	BOUND(old->end_ms <= s.down_to_ms + 2 * HOUR, "old");
	sim_free(&s);
}

/* ---- what closing by dead letters is worth, beside other ways */

static size_t
lost(const struct br_sched_rules *rules, const struct reply *reply,
    uint64_t seed)
{
	size_t dead;
	struct sim s;

	run_outage(&s, rules, reply, 8 * HOUR, 1, KEYS, seed);
	dead = s.dead_good;
	sim_free(&s);
	return dead;
}

static double
hours_to_reach(const struct br_sched_rules *rules, const struct reply *bad,
    size_t n, uint64_t seed)
{
	struct sim s;
	double hours = seconds(run_lane(&s, rules, bad, n, 0, seed)) / 3600;

	sim_free(&s);
	return hours;
}

static void
row_rule(const char *name, const struct br_sched_rules *rules, uint64_t seed)
{
	printf("%-22s %8zu %8zu %11.2f %11.2f\n", name,
	    lost(rules, &again, seed), lost(rules, &never, seed),
	    hours_to_reach(rules, &again, 150, seed),
	    hours_to_reach(rules, &never, 500, seed));
}

static void
table_rules(uint64_t seed)
{
	struct br_sched_rules rules = sim_rules();

	printf("\nlost in 8 h at 1 event/s; hours until a lane of bad events"
	       " is through\n");
	printf("%-22s %8s %8s %11s %11s\n", "", "lost_500", "lost_400",
	    "lane150_500", "lane500_400");
	row_rule("the defaults", &rules, seed);
	rules.health.probe_max_ms = rules.health.probe_ms;
	row_rule("probe_max_ms=probe_ms", &rules, seed);
	rules.health.after = 0;
	row_rule("after=0: never closed", &rules, seed);
}

/* ---- does anything wait for ever? */

#define MIXED 400
#define MIXED_KEYS 80

/* Every bad event has its own answer; outages have changing ones. */
static struct reply
mixed(struct sim *s, const struct job *job)
{
	const struct reply fine = {200, BR_TRANSPORT_OK, 20, 0};

	if (s->now_ms < s->down_to_ms)
		return kinds[(size_t)(s->now_ms / (3 * MINUTE)) % KINDS].reply;
	return job->good ? fine : kinds[job->kind].reply;
}

static void
aim(struct sim *s)
{
	static const char *const names[] = {"http://a:80", "http://b:80"};

	s->target = names[(size_t)(sim_random(s) * 2)];
	s->route = sim_random(s) < 0.5 ? "one" : "two";
}

/* Good and bad events behind each other; then only good ones, slowly: all
 * that was there before must have an end. */
static int64_t
row_mixed(uint64_t seed)
{
	const struct br_sched_rules rules = sim_rules();
	size_t left = MIXED;
	struct sim s;

	sim_init(&s, &rules, mixed, seed, 400000);
	s.down_to_ms = (int64_t)(sim_random(&s) * 60) * MINUTE;
	for (int i = 0; i < MIXED; i++) {
		aim(&s);
		(void)sim_put(&s, (long)(sim_random(&s) * MIXED_KEYS),
		    sim_random(&s) < 0.7, (int)(sim_random(&s) * KINDS));
		sim_run(&s, s.now_ms + (int64_t)(sim_random(&s) * 5000));
	}
	while (left > 0 && s.now_ms < 120 * HOUR) {
		aim(&s);
		(void)sim_put(&s, -1, true, 0);
		sim_run(&s, s.now_ms + 2 * SECOND);
		left = 0;
		for (size_t i = 0; i < MIXED; i++)
			left += s.job[i].end_ms == NEVER;
	}
	BOUND(left == 0, "mixed");
	sim_free(&s);
	return s.now_ms;
}

static void
table_mixed(uint64_t seed)
{
	int64_t longest_ms = 0;

	for (uint64_t i = 0; i < 20; i++) {
		int64_t took_ms = row_mixed(seed * 1000 + i);

		if (took_ms > longest_ms)
			longest_ms = took_ms;
	}
	printf("\n20 mixtures of good and bad in two targets, two routes, with"
	       " an outage:\nall settled, the last after %.0f s\n",
	    seconds(longest_ms));
}

int
main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;

	printf("seed %llu\n", (unsigned long long)seed);
	table_alone(seed);
	table_outage(seed);
	table_poison(seed);
	table_lane(seed);
	table_old(seed);
	table_rules(seed);
	table_mixed(seed);
	if (failures != 0)
		printf("\n%d bounds are broken\n", failures);
	return failures != 0;
}
