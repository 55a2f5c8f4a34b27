/* run: `outbox-bridge run -c FILE`, the daemon. */
#ifndef BRIDGE_COMMANDS_RUN_H
#define BRIDGE_COMMANDS_RUN_H

/* `argv[0]` is the word "run". Returns the exit status. */
int br_command_run(int argc, char **argv);

#endif
