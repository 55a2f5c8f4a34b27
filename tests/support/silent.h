/*
 * silent: an address on loopback that answers no connection attempt, neither
 * with yes nor with no: a listener whose queue is full.
 */
#ifndef TESTS_SUPPORT_SILENT_H
#define TESTS_SUPPORT_SILENT_H

#include <stdbool.h>
#include <stdint.h>

struct silent;

/* `port` 0: any. NULL when the port is taken, or there is no IPv6. */
struct silent *silent_new(bool ipv6, uint16_t port);
void silent_free(struct silent *s);

uint16_t silent_port(const struct silent *s);

#endif
