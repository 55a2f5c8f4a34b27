/*
 * retry_after: the Retry-After header (RFC 9110, 10.2.3): seconds, or one of
 * the three date forms of 5.6.7. Pure.
 */
#ifndef BRIDGE_CORE_RETRY_AFTER_H
#define BRIDGE_CORE_RETRY_AFTER_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/base/slice.h"

/*
 * Parses a value (white space around it is allowed). `now_ms` is the time
 * that dates are compared with, since 1970: the answer's own Date where it
 * has one. True and the milliseconds to wait (0 for a past date; saturated
 * at 10 years), or false for anything else: negative, fractional, several
 * values, more than 18 digits, no date.
 */
bool br_retry_after_parse(
    struct br_slice value, int64_t now_ms, int64_t *wait_ms);

/* Parses an HTTP date in any of its three forms to ms since 1970. */
bool br_http_date_parse(
    struct br_slice value, int64_t now_ms, int64_t *date_ms);

#endif
