/* run: see the header. */
#include "bridge/commands/run.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include "bridge/commands/setup.h"
#include "bridge/config/loader.h"
#include "bridge/http/client.h"
#include "bridge/runtime/bridge.h"

#define MAPPED_BYTES (256 * 1024)

/* The one thing a signal handler can reach; NULL before there is one. */
static struct br_bridge *_Atomic running;
static volatile sig_atomic_t stops;
static volatile sig_atomic_t end_status; /* when nothing runs (any more) */
static unsigned limit_s;                 /* limits.shutdown_ms, rounded up */

static void
on_stop(int signal_number)
{
	struct br_bridge *b = running;

	(void)signal_number;
	if (stops++ > 0)
		_exit(BR_EXIT_FATAL); /* asked twice: at once */
	if (b == NULL)
		_exit(end_status); /* nothing runs */
	(void)alarm(limit_s);
	br_bridge_stop(b);
}

/* The bridge has its own steps to end in time; this is for a call of a library
 * that does not come back. Nothing is lost: what is not committed is sent
 * again. */
static void
on_late(int signal_number)
{
	(void)signal_number;
	_exit(end_status);
}

static void
on_reload(int signal_number)
{
	struct br_bridge *b = running;

	(void)signal_number;
	if (b != NULL)
		br_bridge_reload(b);
}

static void
catch_signals(const struct br_config *config)
{
	struct sigaction stop = {.sa_handler = on_stop};
	struct sigaction late = {.sa_handler = on_late};
	struct sigaction reload = {.sa_handler = on_reload};

	limit_s = (unsigned)((config->limits.shutdown_ms + 999) / 1000);
	(void)sigaction(SIGALRM, &late, NULL);
	(void)sigaction(SIGTERM, &stop, NULL);
	(void)sigaction(SIGINT, &stop, NULL);
	(void)sigaction(SIGHUP, &reload, NULL);
}

/*
 * Whoever was started without standard descriptors would get their numbers
 * for the next things it opens, and write its log into a socket.
 */
static void
hold_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		(void)close(fd);
}

/*
 * A terminal that nobody reads has room for a part of a line, and then holds
 * up whoever writes the rest. Opened once more it can be told not to wait,
 * without a word to the others that have it as well.
 */
static void
never_wait_for_terminal(void)
{
	int fd;

	if (!isatty(STDERR_FILENO))
		return;
	fd = open(
	    "/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0)
		br_log_fd(fd);
}

static void
log_start(const struct br_config *config)
{
	BR_LOG(BR_INFO, "starting", br_kv_str("version", BRIDGE_VERSION),
	    br_kv_str("config", config->file),
	    br_kv_str("brokers", config->kafka.brokers),
	    br_kv_str("group", config->kafka.group),
	    br_kv_int("connections", config->delivery.connections),
	    br_kv_str("dlq", config->dlq.topic));
}

/*
 * librdkafka receives some MB at a time. By default malloc learns from the
 * first such block that is freed to keep the next ones (measured: 3 to 10 MB
 * more under load); with a threshold that is set they go back at once.
 */
static void
tune_memory(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
}

static int
run_config(const struct br_config *config)
{
	struct br_error err;
	struct br_bridge *b;
	int status = BR_EXIT_FATAL;

	catch_signals(config);
	tune_memory();
	never_wait_for_terminal();
	br_log_setup(config->log.level, config->log.json);
	log_start(config);
	if (!br_http_global_init(&err)) {
		BR_LOG(
		    BR_ERROR, "cannot start", br_kv_str("because", err.text));
		return BR_EXIT_FATAL;
	}
	b = br_bridge_new(config, &status, &err);
	if (b == NULL) {
		BR_LOG(
		    BR_ERROR, "cannot start", br_kv_str("because", err.text));
		return status;
	}
	running = b;
	status = br_bridge_run(b);
	end_status = status;
	running = NULL;
	if (br_bridge_free(b) != BR_FREED)
		_exit(status); /* threads still run: no exit handlers */
	br_http_global_cleanup();
	return status;
}

int
br_command_run(int argc, char **argv)
{
	int status;
	struct br_config *config;

	hold_descriptors();
	config =
	    br_setup_config(argc, argv, "outbox-bridge run -c FILE", &status);
	if (config == NULL)
		return status;
	status = run_config(config);
	br_config_free(config);
	return status;
}
