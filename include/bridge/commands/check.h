/*
 * check: `outbox-bridge check -c FILE` reads the configuration, says what is
 * wrong with it, or prints what is in effect. Connects nowhere.
 */
#ifndef BRIDGE_COMMANDS_CHECK_H
#define BRIDGE_COMMANDS_CHECK_H

/*
 * `argv[0]` is the word "check". Returns the exit status: 0, with the
 * effective configuration on standard output (secrets as ***); 78, with each
 * fault on a line of standard error; 64 for wrong usage; 1 when standard
 * output cannot be written.
 */
int br_command_check(int argc, char **argv);

#endif
