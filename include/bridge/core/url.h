/*
 * url: splits and checks absolute http and https URLs (RFC 3986, 9110). Pure;
 * checked against libcurl's parser by a test.
 */
#ifndef BRIDGE_CORE_URL_H
#define BRIDGE_CORE_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/base/error.h"
#include "bridge/base/slice.h"

#define BR_URL_MAX 1000 /* bytes of an event's URL, wire-formats 3.4 */
#define BR_HOST_MAX 255

struct br_url {
	bool https;
	char host[BR_HOST_MAX + 1]; /* lower case; IPv6 in brackets */
	uint16_t port;              /* the scheme's own when none is written */
	bool port_given;
	char target[BR_HOST_MAX + 32]; /* scheme://host:port, always a port */
};

/*
 * Splits `text`. Refused, with the reason in `err`: not http or https, no
 * host, userinfo, fragment, a host that is not ASCII or holds other than
 * letters, digits, '-', '.', '_' (or a bracketed IPv6 address without zone),
 * a dot at the host's end or two together, a colon without a port, a port
 * outside 1..65535, white space or control characters, longer than `max`.
 * `err` holds neither userinfo nor path nor query. After false the contents
 * of `url` mean nothing.
 *
 * The host is not resolved or read as an address: "0x7f.1" stays that text.
 */
bool br_url_parse(
    struct br_slice text, size_t max, struct br_url *url, struct br_error *err);

/* True when the host is an IPv6 address, or an IPv4 address in its usual
 * spelling (four numbers without leading zeros). */
bool br_url_is_address(const struct br_url *url);

/*
 * Writes `text` as it goes on the wire: bytes above 0x7E in path or query
 * percent-encoded with upper-case hex. Returns its length; writes at most
 * `size` bytes with the NUL (snprintf-like, but what does not fit is cut
 * before a whole %XX).
 */
size_t br_url_encode(struct br_slice text, char *out, size_t size);

#endif
