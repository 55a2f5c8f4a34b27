/*
 * loader: a configuration file to a checked `struct br_config`.
 *
 * Everything that can be known without a connection is checked here: syntax
 * (a scanner of ours runs before libconfig, which is silent about much),
 * unknown keys, types, ranges, references, URLs, patterns, combinations. A
 * fault names file, line, key, what was expected, and the nearest known key.
 */
#ifndef BRIDGE_CONFIG_LOADER_H
#define BRIDGE_CONFIG_LOADER_H

#include "bridge/base/buffer.h"
#include "bridge/config/config.h"

/* NULL and every fault found, one a line, appended to `faults`. */
struct br_config *br_config_load(const char *file, struct br_buffer *faults);
void br_config_free(struct br_config *c);

/*
 * The effective configuration as a libconfig file that loads to the same
 * (but for secrets, which are shown as "***"): every key with its value and,
 * as a comment, whether it is the default.
 */
void br_config_print(const struct br_config *c, struct br_buffer *out);

#endif
