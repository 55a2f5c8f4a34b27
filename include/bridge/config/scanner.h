/*
 * scanner: passes over the text of a configuration before libconfig, which
 * is silent about much (a number that does not fit, a comment without end)
 * and says "syntax error" about the rest. Pure: text in, keys and faults out.
 *
 * It knows libconfig's grammar, so it can say where each key stands, and it
 * refuses besides wrong syntax only what libconfig would misread: integers
 * that do not fit, octal look-alikes, "\x00", strings joined by juxtaposition,
 * and `@include`.
 */
#ifndef BRIDGE_CONFIG_SCANNER_H
#define BRIDGE_CONFIG_SCANNER_H

#include <stdbool.h>
#include <stddef.h>

#include "bridge/base/buffer.h"

#define BR_SCAN_ROOT ((size_t)-1)

/* A key, or an element of a list. */
struct br_scan_key {
	size_t parent;    /* position of what holds it, or BR_SCAN_ROOT */
	size_t previous;  /* key before it in its group, or BR_SCAN_ROOT */
	const char *name; /* in the scanned text; NULL: an element */
	size_t name_len;
	size_t index; /* of an element, from 0 */
	unsigned line, column;
	bool bad; /* a fault of its value is reported: look no further */
};

struct br_scan {
	struct br_scan_key *keys; /* in the order of the text */
	size_t count;
	char *text;  /* as read, mended where faults could be mended */
	bool usable; /* the mended text is whole: a parser can go on */
};

/*
 * Scans `len` bytes. Faults are appended to `faults`, one a line, each as
 * `FILE:LINE:COLUMN: …`; after a fault that leaves the structure unclear the
 * rest is not looked at and `usable` is false. Values of secret keys never
 * stand in a fault. Returns the number of faults. br_scan_free() afterwards,
 * always.
 */
size_t br_scan(const char *file, const char *text, size_t len,
    struct br_scan *scan, struct br_buffer *faults);
void br_scan_free(struct br_scan *scan);

/* Appends the path of a key: `kafka.topics[1]`. */
void br_scan_path(
    const struct br_scan *scan, size_t key, struct br_buffer *out);

#endif
