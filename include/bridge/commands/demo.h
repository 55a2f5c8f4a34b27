/*
 * demo: `outbox-bridge demo`: all of it in one process, without Kafka: a
 * mock cluster, a receiver on loopback, and a stream of outbox events.
 */
#ifndef BRIDGE_COMMANDS_DEMO_H
#define BRIDGE_COMMANDS_DEMO_H

/* `argv[0]` is the word "demo". Returns the exit status. */
int br_command_demo(int argc, char **argv);

#endif
