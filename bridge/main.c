/* main: the command line to one command. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "bridge/admin/server.h"
#include "bridge/commands/check.h"
#include "bridge/commands/demo.h"
#include "bridge/commands/explain.h"
#include "bridge/commands/run.h"
#include "bridge/config/loader.h"
#include "bridge/http/client.h"
#include "bridge/kafka/topics.h"
#include "bridge/runtime/bridge.h"
#include "bridge/source/avro_schema.h"

static const char help[] =
    "outbox-bridge delivers Debezium outbox events from Kafka as idempotent\n"
    "HTTP POSTs, over at most four connections, and commits an offset only\n"
    "after its event was delivered or stored in a dead letter topic.\n"
    "\n"
    "usage: outbox-bridge COMMAND [ARGUMENTS]\n"
    "\n"
    "  run -c FILE     deliver until TERM or INT (a second one ends at once)\n"
    "  check -c FILE   check the configuration and print what is in effect\n"
    "  explain -c FILE TOPIC:PARTITION:OFFSET\n"
    "  explain -c FILE --file RECORD.json\n"
    "                  what would be done with a record, and why; sends\n"
    "                  nothing (--json: for a program)\n"
    "  demo            show all of it on one machine, without Kafka\n"
    "  --version       versions of the program and its libraries\n"
    "  --help          this text\n"
    "\n"
    "exit status: 0 done, 1 failed at run time (a restart may cure it),\n"
    "64 usage, 69 a needed service or topic is missing at start,\n"
    "78 configuration\n"
    "\n"
    "Next: outbox-bridge demo; then copy config/minimal.conf.\n";

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
    {"run", br_command_run},
    {"check", br_command_check},
    {"explain", br_command_explain},
    {"demo", br_command_demo},
};

static int
version(void)
{
	(void)printf("outbox-bridge %s\n%s\n%s\navro-c %s\n%s\n"
	             "libmicrohttpd %s\n",
	    BRIDGE_VERSION, br_kafka_version(), br_http_version(),
	    br_avro_version(), br_config_version(), br_admin_version());
	return BR_EXIT_OK;
}

int
main(int argc, char **argv)
{
	/* Before the first line is written: a closed pipe ends nobody. */
	(void)signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		(void)fputs(help, stderr);
		return BR_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0)
		return version();
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		(void)fputs(help, stdout);
		return BR_EXIT_OK;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	(void)fprintf(stderr,
	    "outbox-bridge: unknown command \"%s\"; see outbox-bridge "
	    "--help\n",
	    argv[1]);
	return BR_EXIT_USAGE;
}
