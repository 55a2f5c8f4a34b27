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

/*
 * NULL and every fault found (the first 100 at most), one a line, appended to
 * `faults` as `FILE:LINE: KEY: …` or `FILE:LINE:COLUMN: …`. No fault shows a
 * value that came from a reference or stands in a secret key.
 */
struct br_config *br_config_load(const char *file, struct br_buffer *faults);

/* The same from a text; `file` is only its name. */
struct br_config *br_config_load_text(
    const char *file, const char *text, size_t len, struct br_buffer *faults);

/* NULL is fine. */
void br_config_free(struct br_config *c);

/*
 * The effective configuration as a libconfig file that loads to the same
 * (but for secrets, which are shown as "***"): every key with its value and,
 * as a comment, whether it is the default or set. kafka.start is shown as
 * the time it was resolved to.
 */
void br_config_print(const struct br_config *c, struct br_buffer *out);

/*
 * Where an item of kafka.properties stands, and whether it held a reference,
 * so that its value must not be shown. For checks that only kafka/ can make.
 */
unsigned br_config_property_line(
    const struct br_config *c, size_t item, bool *secret);

/*
 * Whether a reference was in the URL of that route, or (-1) in delivery.url,
 * so that even its path must not be shown.
 */
bool br_config_url_referenced(const struct br_config *c, int route);

/* "libconfig 1.5", for --version. */
const char *br_config_version(void);

#endif
