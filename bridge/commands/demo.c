/* demo: see the header. */
#include "bridge/commands/demo.h"

#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bridge/base/clock.h"
#include "bridge/base/metrics.h"
#include "bridge/config/loader.h"
#include "bridge/http/client.h"
#include "bridge/runtime/bridge.h"
#include "demo_events.h"
#include "demo_receiver.h"
#include "demo_screen.h"

#define DRAW_MS 100
#define EVENTS_MAX 100000
/* How long the last events may take beyond their ladder, before it is said
 * that something is wrong. */
#define PATIENCE_S 60

static const char usage_text[] =
    "usage: outbox-bridge demo [--events N] [--rate R] [--speed S] [--keep]\n"
    "\n"
    "  --events N   how many events are produced (200)\n"
    "  --rate R     how many a second (40)\n"
    "  --speed S    how much faster than real the retry ladder runs (100):\n"
    "               its waits of 20, 40, 80 and 160 s are divided by it\n"
    "  --keep       stay afterwards, to look at the admin pages\n";

struct options {
	unsigned events, rate, speed;
	bool keep;
};

struct demo {
	struct options options;
	struct demo_events events;
	struct demo_screen screen;
	struct demo_receiver *receiver;
	struct br_mock_cluster *cluster;
	struct br_config *config;
	struct br_bridge *bridge;
	pthread_t thread;
	int status; /* of the bridge; valid once joined */
	int64_t began_ms;
	unsigned produced;
	unsigned dead, wrong_dead; /* found in the DLQ topic */
};

static volatile sig_atomic_t interrupted;

static void
on_interrupt(int signal_number)
{
	(void)signal_number;
	if (interrupted++ > 0)
		_exit(BR_EXIT_FATAL);
}

/* A whole number from 1 to `max`, or 0. */
static unsigned
number(const char *text, unsigned max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || n > max)
		return 0;
	return (unsigned)n;
}

static bool
parse(int argc, char **argv, struct options *o)
{
	static const struct option names[] = {
	    {"events", required_argument, NULL, 'e'},
	    {"rate", required_argument, NULL, 'r'},
	    {"speed", required_argument, NULL, 's'},
	    {"keep", no_argument, NULL, 'k'},
	    {NULL, 0, NULL, 0},
	};
	int option;

	*o = (struct options){.events = 200, .rate = 40, .speed = 100};
	optind = 1;
	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (option == 'e')
			o->events = number(optarg, EVENTS_MAX);
		else if (option == 'r')
			o->rate = number(optarg, 100000);
		else if (option == 's')
			o->speed = number(optarg, 10000);
		else if (option == 'k')
			o->keep = true;
		else
			return false;
	}
	return optind == argc && o->events != 0 && o->rate != 0 &&
	       o->speed != 0;
}

/* ---- setting up */

/* The configuration as a user would write it, and loaded like a user's. */
static bool
load_config(struct demo *d, struct br_error *err)
{
	struct br_buffer text = {0}, faults = {0};
	char file[] = "/tmp/outbox-bridge-demo-XXXXXX";
	int fd = mkstemp(file);

	br_buffer_format(&text,
	    "kafka = { brokers = \"%s\"; topics = [ \"%s\" ];\n"
	    "          group = \"%s\"; };\n"
	    "delivery = { url = \"%s\"; };\n"
	    "retry = { base_ms = %u; };\n"
	    "dlq = { topic = \"%s\"; };\n"
	    "admin = { listen = \"127.0.0.1:0\"; };\n"
	    "log = { level = \"%s\"; };\n",
	    br_mock_bootstrap(d->cluster), DEMO_TOPIC, DEMO_GROUP,
	    demo_receiver_url(d->receiver), 10000 / d->options.speed, DEMO_DLQ,
	    d->screen.terminal ? "error" : "warn");
	if (fd >= 0 && write(fd, text.data, text.len) == (ssize_t)text.len)
		d->config = br_config_load(file, &faults);
	if (fd >= 0) {
		(void)close(fd);
		(void)unlink(file);
	}
	if (d->config == NULL)
		(void)br_fail(err, "the demo's configuration: %s",
		    faults.data != NULL ? faults.data : "cannot be written");
	br_buffer_free(&text);
	br_buffer_free(&faults);
	return d->config != NULL;
}

static void *
bridge_thread(void *opaque)
{
	struct demo *d = opaque;

	d->status = br_bridge_run(d->bridge);
	return NULL;
}

static bool
set_up(struct demo *d, struct br_error *err)
{
	sigset_t all, old;
	int status, error;

	d->cluster = br_mock_new(1, err);
	if (d->cluster == NULL ||
	    !br_mock_topic(d->cluster, DEMO_TOPIC, DEMO_PARTITIONS, err) ||
	    !br_mock_topic(d->cluster, DEMO_DLQ, 1, err))
		return false;
	d->receiver =
	    demo_receiver_start(&d->events, demo_screen_seen, &d->screen, err);
	if (d->receiver == NULL || !load_config(d, err))
		return false;
	br_log_setup(d->config->log.level, d->config->log.json);
	d->bridge = br_bridge_new(d->config, &status, err);
	if (d->bridge == NULL)
		return false;
	/* Ctrl-C belongs to the main thread. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&d->thread, NULL, bridge_thread, d);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error != 0)
		return br_fail(
		    err, "cannot start a thread: %s", strerror(error));
	return true;
}

/* ---- running */

static unsigned
committed(struct demo *d, int32_t partition)
{
	int64_t at = br_mock_committed(
	    d->cluster, DEMO_GROUP, DEMO_TOPIC, partition, 1000);

	return at > 0 ? (unsigned)at : 0;
}

static void
look(struct demo *d, struct demo_progress *p)
{
	*p = (struct demo_progress){
	    .produced = d->produced,
	    .seconds = (double)(br_clock_mono_ms() - d->began_ms) / 1000,
	};
	for (int32_t i = 0; i < DEMO_PARTITIONS; i++)
		p->settled += committed(d, i);
	demo_receiver_connections(d->receiver, &p->open, &p->most);
}

/* Produces what is due by now. */
static bool
produce_due(struct demo *d, struct br_error *err)
{
	int64_t spent_ms = br_clock_mono_ms() - d->began_ms;
	unsigned due =
	    (unsigned)(spent_ms * (int64_t)d->options.rate / 1000) + 1;

	if (due > d->options.events)
		due = d->options.events;
	for (; d->produced < due; d->produced++)
		if (!demo_produce(&d->events, d->cluster, d->produced, err))
			return false;
	return br_mock_flush(d->cluster, 5000, err);
}

/* Until the bridge has its partitions: a mock cluster takes some seconds. */
static bool
wait_ready(struct demo *d, struct br_error *err)
{
	int64_t until_ms = br_clock_mono_ms() + PATIENCE_S * 1000;
	struct br_buffer why = {0};
	bool ready;

	(void)printf("Joining the group …\n\n");
	(void)fflush(stdout);
	while (!(ready = br_bridge_ready(d->bridge, &why)) && !interrupted &&
	       br_clock_mono_ms() < until_ms) {
		(void)poll(NULL, 0, DRAW_MS);
		br_buffer_clear(&why);
	}
	if (!ready)
		(void)br_fail(err, "%s",
		    interrupted ? "interrupted" : "the bridge is not ready");
	br_buffer_free(&why);
	return ready;
}

/* Until all is committed, Ctrl-C, or patience ends. True: all committed. */
static bool
watch(struct demo *d, struct br_error *err)
{
	int64_t until_ms =
	    d->began_ms +
	    (int64_t)d->options.events * 1000 / (int64_t)d->options.rate +
	    (300 / (int64_t)d->options.speed + PATIENCE_S) * 1000 *
	        (1 + (int64_t)d->options.events / 100);
	struct demo_progress p;

	for (;;) {
		if (!produce_due(d, err))
			return false;
		look(d, &p);
		demo_screen_draw(&d->screen, &d->events, &p);
		if (p.settled == d->options.events)
			return true;
		if (interrupted || br_clock_mono_ms() > until_ms)
			return br_fail(err, "%s",
			    interrupted ? "interrupted"
			                : "not all was settled in time");
		(void)poll(NULL, 0, DRAW_MS);
	}
}

/* ---- the summary */

/* A dead letter: the original, with headers that say why. */
static void
see_dead(void *opaque, const struct br_record *record)
{
	struct demo *d = opaque;
	const struct br_slice *reason =
	    br_record_header(record, "outbox.dlq.reason");

	d->dead++;
	if (reason == NULL || reason->len == 0)
		d->wrong_dead++;
}

static void
print_commits(struct demo *d)
{
	for (int32_t i = 0; i < DEMO_PARTITIONS; i++)
		(void)printf("%s%d: %u of %lld", i > 0 ? ", " : "", (int)i,
		    committed(d, i),
		    (long long)br_mock_end(d->cluster, DEMO_TOPIC, i, 1000));
	(void)printf("\n");
}

/* True when the promises held. */
static bool
summary(struct demo *d)
{
	struct br_error err;
	unsigned tally[DEMO_KINDS][DEMO_STATES], open, most, bad, delivered;

	demo_tally(&d->events, tally);
	demo_receiver_connections(d->receiver, &open, &most);
	if (!br_mock_read(d->cluster, DEMO_DLQ, 5000, see_dead, d, &err))
		(void)printf("  the DLQ topic cannot be read: %s\n", err.text);
	bad = tally[DEMO_BAD][DEMO_DEAD] + tally[DEMO_NOT_EVENT][DEMO_PENDING];
	delivered = tally[DEMO_ORDINARY][DEMO_SUCCESS] +
	            tally[DEMO_SLOW][DEMO_SUCCESS] +
	            tally[DEMO_FLAKY][DEMO_SUCCESS];
	(void)printf(
	    "\nSummary\n"
	    "  delivered              %u, each body byte for byte (%u wrong)\n"
	    "  requests               %u, %u of them retries\n"
	    "  dead-lettered          %u of %u that had to be\n"
	    "  most connections open  %u of 4\n"
	    "  committed offsets      ",
	    delivered, d->events.wrong_bodies, d->events.requests,
	    d->events.requests - (delivered + tally[DEMO_BAD][DEMO_DEAD]),
	    d->dead, bad, most);
	print_commits(d);
	return delivered + bad == d->options.events && d->dead == bad &&
	       d->wrong_dead == 0 && d->events.wrong_bodies == 0 && most <= 4;
}

static void
keep(struct demo *d)
{
	unsigned port = br_bridge_admin_port(d->bridge);

	(void)printf("\nThe bridge still runs. Look around:\n"
	             "  curl http://127.0.0.1:%u/metrics\n"
	             "  curl http://127.0.0.1:%u/readyz\n"
	             "  kcat -b %s -C -e -t %s\n"
	             "Ctrl-C ends it.\n",
	    port, port, br_mock_bootstrap(d->cluster), DEMO_DLQ);
	(void)fflush(stdout);
	while (!interrupted)
		(void)poll(NULL, 0, 200);
}

static const char next_text[] =
    "\nNext\n"
    "  README.md                 what it promises, and every setting\n"
    "  config/minimal.conf       copy it, put in your brokers and your URL\n"
    "  outbox-bridge check -c FILE   says what is wrong with it, or what is\n"
    "                                in effect\n"
    "  outbox-bridge run -c FILE     delivers\n";

static void
tear_down(struct demo *d)
{
	enum br_freed freed = BR_FREED;

	if (d->bridge != NULL && d->thread != 0) {
		br_bridge_stop(d->bridge);
		(void)pthread_join(d->thread, NULL);
	}
	if (d->bridge != NULL)
		freed = br_bridge_free(d->bridge);
	if (freed != BR_FREED)
		return; /* the process ends, and all of it */
	br_config_free(d->config);
	if (d->receiver != NULL)
		demo_receiver_stop(d->receiver);
	br_mock_free(d->cluster);
	demo_events_free(&d->events);
	br_http_global_cleanup();
}

static int
show(struct demo *d)
{
	struct br_error err = {{0}};
	bool done, good;

	(void)printf("Outbox Bridge demo: %u events in all spellings of the "
	             "outbox router, %u a second,\nover a mock Kafka cluster "
	             "to a receiver on loopback; retry waits divided by "
	             "%u.\n\n",
	    d->options.events, d->options.rate, d->options.speed);
	(void)fflush(stdout);
	if (!set_up(d, &err)) {
		(void)fprintf(stderr, "outbox-bridge demo: %s\n", err.text);
		return BR_EXIT_FATAL;
	}
	done = wait_ready(d, &err);
	d->began_ms = br_clock_mono_ms();
	done = done && watch(d, &err);
	good = summary(d);
	if (!done) {
		(void)printf("  ended early: %s\n", err.text);
		return interrupted ? BR_EXIT_OK : BR_EXIT_FATAL;
	}
	if (!good)
		(void)printf("  something is not as it should be: please "
		             "report it\n");
	if (d->options.keep)
		keep(d);
	(void)fputs(next_text, stdout);
	return good ? BR_EXIT_OK : BR_EXIT_FATAL;
}

int
br_command_demo(int argc, char **argv)
{
	struct sigaction interrupt = {.sa_handler = on_interrupt};
	struct br_error err;
	struct demo d = {0};
	int status;

	if (!parse(argc, argv, &d.options)) {
		(void)fputs(usage_text, stderr);
		return BR_EXIT_USAGE;
	}
	if (!br_http_global_init(&err)) {
		(void)fprintf(stderr, "outbox-bridge demo: %s\n", err.text);
		return BR_EXIT_FATAL;
	}
	(void)sigaction(SIGINT, &interrupt, NULL);
	(void)sigaction(SIGTERM, &interrupt, NULL);
	demo_events_init(&d.events, d.options.events);
	demo_screen_init(&d.screen, isatty(STDOUT_FILENO) == 1);
	status = show(&d);
	tear_down(&d);
	(void)fflush(stdout);
	_exit(status);
}
