/*
 * guard: which addresses an event may not make the bridge connect to. Pure;
 * any thread. Asked with the resolved address of each try, so that a name
 * cannot hide what it stands for.
 */
#ifndef BRIDGE_HTTP_GUARD_H
#define BRIDGE_HTTP_GUARD_H

#include <stdbool.h>
#include <sys/socket.h>

/*
 * True for a public unicast address. False for loopback, unspecified,
 * link-local, private, shared (100.64/10), multicast, broadcast, reserved and
 * documentation addresses, for IPv6 forms that wrap such an IPv4 address
 * (mapped, compatible, NAT64, 6to4, Teredo), and for any other family.
 */
bool br_guard_allows(const struct sockaddr *address);

#endif
