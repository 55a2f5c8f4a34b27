/*
 * explain: `outbox-bridge explain -c FILE TOPIC:PARTITION:OFFSET` and
 * `explain -c FILE --file RECORD.json`: what `run` would do with a record,
 * and why. Sends nothing, commits nothing, joins no group.
 */
#ifndef BRIDGE_COMMANDS_EXPLAIN_H
#define BRIDGE_COMMANDS_EXPLAIN_H

/*
 * `argv[0]` is the word "explain". Returns the exit status: 0 when every
 * record was explained, whatever would become of it; 64 for wrong usage or a
 * file that holds something else; 69 without the broker, topic or offset; 78
 * for the configuration; 1 when standard output cannot be written.
 */
int br_command_explain(int argc, char **argv);

#endif
