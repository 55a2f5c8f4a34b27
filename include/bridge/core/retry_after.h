/*
 * retry_after: the Retry-After header (RFC 9110, 10.2.3): seconds, or one of
 * the three date forms of 5.6.7. Pure.
 */
#ifndef BRIDGE_CORE_RETRY_AFTER_H
#define BRIDGE_CORE_RETRY_AFTER_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/base/slice.h"

/* 10 years of 365 days: what a longer wait is cut to. */
#define BR_RETRY_AFTER_MAX_MS INT64_C(315360000000)

/*
 * Parses a value (white space around it is allowed). `now_ms` is the time
 * that dates are compared with, since 1970: the answer's own Date where it
 * has one. True and the milliseconds to wait (0 for a past date; saturated
 * at 10 years), or false for anything else: negative, fractional, several
 * values, more than 18 digits, no date.
 */
bool br_retry_after_parse(
    struct br_slice value, int64_t now_ms, int64_t *wait_ms);

/*
 * Parses an HTTP date in any of its three forms to ms since 1970; false, and
 * `date_ms` untouched, for anything else. `now_ms` chooses the century of a
 * two-digit year: the latest that is not more than 50 years ahead.
 */
bool br_http_date_parse(
    struct br_slice value, int64_t now_ms, int64_t *date_ms);

#endif
