/*
 * logline: the text of one log line, logfmt or JSON. Pure.
 *
 *     ts=2026-01-01T00:00:00.000Z level=info msg="delivered" key=a status=200
 *     {"ts":"2026-01-01T00:00:00.000Z","level":"info","msg":"delivered",…}
 *
 * Both forms write strings as JSON has them; logfmt leaves out the quotes of
 * a value (never of msg) that is printable ASCII without space, " = and \.
 * Escaped are controls (C0, DEL, C1), what ends or reorders a line (U+2028,
 * U+2029, the bidirectional controls), and bytes that are not UTF-8: these
 * become the four characters \xHH, so that a reader of the line still sees
 * them.
 *
 * A line has less than PIPE_BUF bytes, since a pipe takes no more in one piece.
 * A string that is too long ends in `...`; a field for which nothing is left
 * is left out.
 */
#ifndef BRIDGE_BASE_LOGLINE_H
#define BRIDGE_BASE_LOGLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/base/log.h"

#define BR_LOGLINE_BYTES 4095
#define BR_LOGLINE_VALUE_BYTES 1536 /* of one string, escaped and quoted */

/*
 * Composes a line that ends with a newline (there is no NUL) and returns its
 * length. `fields` ends with BR_KV_END; `suppressed` is the last field unless
 * it is 0.
 */
size_t br_logline_compose(char out[BR_LOGLINE_BYTES], bool json,
    int64_t wall_ms, enum br_level level, const char *msg,
    const struct br_kv *fields, uint64_t suppressed);

/* "debug" … "error". */
const char *br_level_name(enum br_level level);

#endif
