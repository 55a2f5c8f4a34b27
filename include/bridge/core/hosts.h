/*
 * hosts: the list `delivery.event_urls`: which targets an event may name.
 * Pure; immutable once built, any thread may ask.
 *
 * An entry is HOST, HOST:PORT, http://HOST[:PORT] or https://HOST[:PORT].
 * Without a scheme it means https; the port is 443 (80 for http://) unless
 * written. `*.` in front stands for one label or more.
 *
 * Hosts are compared as text, without regard to case, and never resolved:
 * another spelling of an address (2130706433, 0x7f.1, [0:0:0:0:0:0:0:1]) is
 * another host.
 */
#ifndef BRIDGE_CORE_HOSTS_H
#define BRIDGE_CORE_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "bridge/base/error.h"
#include "bridge/core/url.h"

struct br_hosts;

/* NULL and a reason (naming the entry) when an entry is malformed. */
struct br_hosts *br_hosts_new(
    const char *const *entries, size_t count, struct br_error *err);
void br_hosts_free(struct br_hosts *h);

bool br_hosts_empty(const struct br_hosts *h);

enum br_host_rule {
	BR_HOST_FORBIDDEN,
	BR_HOST_ALLOWED,
	BR_HOST_ALLOWED_LITERALLY /* a name without wildcard: the entry names
	                           * localhost or an address itself, so that a
	                           * private address is meant */
};

enum br_host_rule br_hosts_check(
    const struct br_hosts *h, const struct br_url *url);

#endif
