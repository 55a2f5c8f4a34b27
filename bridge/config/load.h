/*
 * load: what the files of the loader share (loader, walk, combine); the
 * outside sees include/bridge/config/loader.h only.
 */
#ifndef BRIDGE_CONFIG_LOAD_H
#define BRIDGE_CONFIG_LOAD_H

#include "bridge/config/config.h"
#include "bridge/config/scanner.h"
#include "bridge/config/table.h"
#include "bridge/config/value.h"

#define BR_LOAD_FAULTS_MAX 100

struct br_load {
	const char *file;
	struct br_scan scan;
	struct br_config *config;
	struct br_buffer *faults;
	size_t fault_count;
	/* By position in the table, keys of struct br_config only. */
	unsigned *line; /* where it stands, 0: nowhere */
	bool *failed;   /* a fault of it is reported */
};

/* Reports a fault of `path`, or of the whole file ("") at a line. */
void br_load_fault(struct br_load *l, unsigned line, const char *path,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* True when there is no use in looking for more. */
bool br_load_full(const struct br_load *l);

/* walk.c: fills the configuration from the mended text. */
void br_load_walk(struct br_load *l);

/* combine.c: what no single key shows. */
void br_load_combine(struct br_load *l);

#endif
