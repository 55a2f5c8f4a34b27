/*
 * pattern: `*` and `?`, or with a leading `^` a POSIX extended regular
 * expression. Pure. A pattern matches a whole text.
 */
#ifndef BRIDGE_CORE_PATTERN_H
#define BRIDGE_CORE_PATTERN_H

#include <stdbool.h>

#include "bridge/base/buffer.h"
#include "bridge/base/error.h"

struct br_pattern; /* compiled; immutable, any thread may match with it */

/* NULL and a reason when the regular expression does not compile. */
struct br_pattern *br_pattern_new(const char *text, struct br_error *err);
void br_pattern_free(struct br_pattern *p);

/* True when the whole text matches (a `^` pattern matches as it is written). */
bool br_pattern_match(const struct br_pattern *p, const char *text);

/* True when it holds a wildcard or begins with `^`; else it is a plain name. */
bool br_pattern_is_wild(const char *text);

/*
 * The pattern as an anchored regular expression that librdkafka understands
 * (`outbox.*` becomes `^outbox\..*$`); a `^` pattern is copied.
 */
void br_pattern_to_regex(const char *text, struct br_buffer *out);

#endif
