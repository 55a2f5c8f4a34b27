/* run: see the header. */
#include "bridge/commands/run.h"

#include <signal.h>
#include <unistd.h>

#include "bridge/commands/setup.h"
#include "bridge/config/loader.h"
#include "bridge/http/client.h"
#include "bridge/runtime/bridge.h"

/* The one thing a signal handler can reach. */
static struct br_bridge *running;
static volatile sig_atomic_t stops;

static void
on_stop(int signal_number)
{
	(void)signal_number;
	if (stops++ > 0)
		_exit(BR_EXIT_FATAL); /* asked twice: at once */
	br_bridge_stop(running);
}

static void
on_reload(int signal_number)
{
	(void)signal_number;
	br_bridge_reload(running);
}

static void
catch_signals(void)
{
	struct sigaction stop = {.sa_handler = on_stop};
	struct sigaction reload = {.sa_handler = on_reload};
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	(void)sigaction(SIGTERM, &stop, NULL);
	(void)sigaction(SIGINT, &stop, NULL);
	(void)sigaction(SIGHUP, &reload, NULL);
	(void)sigaction(SIGPIPE, &ignore, NULL);
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

static int
run_config(const struct br_config *config)
{
	struct br_error err;
	int status = BR_EXIT_FATAL;
	bool freed;

	br_log_setup(config->log.level, config->log.json);
	log_start(config);
	if (!br_http_global_init(&err)) {
		BR_LOG(
		    BR_ERROR, "cannot start", br_kv_str("because", err.text));
		return BR_EXIT_FATAL;
	}
	running = br_bridge_new(config, &status, &err);
	if (running == NULL) {
		BR_LOG(
		    BR_ERROR, "cannot start", br_kv_str("because", err.text));
		return status;
	}
	catch_signals();
	status = br_bridge_run(running);
	freed = br_bridge_free(running);
	if (!freed)
		_exit(status); /* a thread still runs: nothing may be freed */
	br_http_global_cleanup();
	return status;
}

int
br_command_run(int argc, char **argv)
{
	int status;
	struct br_config *config =
	    br_setup_config(argc, argv, "outbox-bridge run -c FILE", &status);

	if (config == NULL)
		return status;
	status = run_config(config);
	br_config_free(config);
	return status;
}
