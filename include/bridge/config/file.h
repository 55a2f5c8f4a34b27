/* file: reads a small text file whole. Any thread. */
#ifndef BRIDGE_CONFIG_FILE_H
#define BRIDGE_CONFIG_FILE_H

#include <stdbool.h>

#include "bridge/base/buffer.h"

#define BR_FILE_MAX (1024 * 1024)

/*
 * Appends the content of the file. False and a reason (static, or strerror's)
 * when it cannot be read, is a directory, or is larger than BR_FILE_MAX. A
 * pipe is read to its end; one without a writer is empty.
 */
bool br_file_read(const char *path, struct br_buffer *out, const char **reason);

#endif
