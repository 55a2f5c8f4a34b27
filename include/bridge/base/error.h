/*
 * error: a text for a person, filled in where a failure is noticed.
 *
 * A function that can fail takes a `struct br_error *` (never NULL) and
 * returns false or NULL; the caller decides whether to log it, add to it, or
 * end the program. No thread owns anything here.
 */
#ifndef BRIDGE_BASE_ERROR_H
#define BRIDGE_BASE_ERROR_H

#include <stdbool.h>

struct br_error {
	char text[1024]; /* always NUL-terminated once set; cut when longer */
};

/* Sets the text. Always returns false, so that `return br_fail(...)` reads. */
bool br_fail(struct br_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
