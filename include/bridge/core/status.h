/*
 * status: sets of HTTP status codes, as the configuration writes them
 * ("409", "5xx", "400-417"). Pure.
 */
#ifndef BRIDGE_CORE_STATUS_H
#define BRIDGE_CORE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#define BR_STATUS_MAX 999

struct br_status_set {
	uint64_t bits[(BR_STATUS_MAX + 64) / 64]; /* one bit per code */
};

/*
 * Adds one item: a code 100..999, a class "1xx".."9xx", or a range "A-B"
 * with A <= B. False, and nothing added, for anything else.
 */
bool br_status_set_add(struct br_status_set *set, const char *item);

/* Membership; false for codes outside 100..999. */
bool br_status_set_has(const struct br_status_set *set, int code);

#endif
