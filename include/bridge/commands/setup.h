/*
 * setup: what every command with `-c FILE` begins with.
 */
#ifndef BRIDGE_COMMANDS_SETUP_H
#define BRIDGE_COMMANDS_SETUP_H

#include "bridge/config/config.h"

/*
 * Reads `-c FILE` (argv[0] is the command's word) and loads the file. NULL
 * and the exit status: 64 with the usage on standard error, or 78 with every
 * fault on a line of its own there.
 */
struct br_config *br_setup_config(
    int argc, char **argv, const char *usage, int *status);

/* Loads a file that is known by name; the same, without the usage. */
struct br_config *br_setup_load(const char *file, int *status);

#endif
