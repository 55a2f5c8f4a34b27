/*
 * pattern: `*` and `?`, or with a leading `^` a POSIX extended regular
 * expression. Pure. A pattern matches a whole text; `*` stands for any bytes,
 * `?` for one character of UTF-8. Nothing escapes them: who needs the
 * characters themselves writes a regular expression.
 */
#ifndef BRIDGE_CORE_PATTERN_H
#define BRIDGE_CORE_PATTERN_H

#include <stdbool.h>

#include "bridge/base/buffer.h"
#include "bridge/base/error.h"
#include "bridge/base/slice.h"

struct br_pattern; /* compiled; immutable, any thread may match with it */

/* NULL and a reason when the regular expression does not compile. */
struct br_pattern *br_pattern_new(const char *text, struct br_error *err);
/* The same without regard to the case of ASCII letters, for host names. */
struct br_pattern *br_pattern_new_any_case(
    const char *text, struct br_error *err);
void br_pattern_free(struct br_pattern *p);

/* True when the whole text matches (a `^` pattern matches as it is written). */
bool br_pattern_match(const struct br_pattern *p, const char *text);
/* The same for bytes that no NUL ends; an absent slice never matches. */
bool br_pattern_match_slice(const struct br_pattern *p, struct br_slice text);

/* True when it holds a wildcard or begins with `^`; else it is a plain name. */
bool br_pattern_is_wild(const char *text);

/*
 * The pattern as an anchored regular expression that librdkafka understands
 * (`outbox.*` becomes `^outbox\..*$`); a `^` pattern is copied.
 */
void br_pattern_to_regex(const char *text, struct br_buffer *out);

#endif
