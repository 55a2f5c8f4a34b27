/*
 * phrase: a POSIX extended regular expression that is looked for anywhere in
 * what a receiver says (`retry.throttle_match`). Pure.
 *
 * The text comes from outside, so the search takes time in proportion to its
 * length and bounded memory. Case does not count: such texts are written for
 * people. One thread: who shares an expression takes a phrase for each.
 */
#ifndef BRIDGE_CORE_PHRASE_H
#define BRIDGE_CORE_PHRASE_H

#include <stdbool.h>
#include <stddef.h>

#include "bridge/base/error.h"

struct br_phrase;

/* NULL and a reason: it does not compile, has a `)` too many, matches the
 * empty text (so it would be found everywhere), or has a back-reference
 * (\1 … \9), whose search may take for ever. */
struct br_phrase *br_phrase_new(const char *text, struct br_error *err);
void br_phrase_free(struct br_phrase *p);

/* The expression as it was given. */
const char *br_phrase_text(const struct br_phrase *p);

/*
 * Is it found in the `len` bytes? They may be any; control characters (NUL,
 * tabs, line ends) are read as blanks. `^` and `$` are the beginning and the
 * end of all. Overwrites those characters, and bytes[len], which must be there.
 */
bool br_phrase_found(struct br_phrase *p, char *bytes, size_t len);

#endif
