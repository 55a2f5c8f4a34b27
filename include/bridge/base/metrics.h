/*
 * metrics: the counters, gauges and histograms of the process, declared in
 * one table (bridge/base/metrics.c) with name, type, label and help, and
 * rendered as Prometheus text (exposition format 0.0.4).
 *
 * Global on purpose (besides the logger the only such thing): a number is
 * bumped beside the state change it counts. Unlabelled ones are atomics;
 * labelled ones take a lock of their own, which is a leaf: nothing is called
 * while it is held. Any thread.
 */
#ifndef BRIDGE_BASE_METRICS_H
#define BRIDGE_BASE_METRICS_H

#include <stdint.h>

#include "bridge/base/buffer.h"
#include "bridge/base/samples.h"

enum br_metric {
	/* counters without label */
	BR_M_DELIVERED,
	BR_M_RESENDS,
	BR_M_COMMITS,
	BR_M_COMMIT_ERRORS,
	BR_M_REBALANCES,
	BR_M_RECORDS,
	BR_M_LOG_LOST,
	BR_M_LATE_RESULTS, /* results of an assignment that was gone */
	/* counters with one label */
	BR_M_DEAD_LETTERS, /* reason */
	BR_M_SKIPPED,      /* reason */
	BR_M_ATTEMPTS,     /* outcome: 2xx 3xx 4xx 5xx or a transport word */
	BR_M_CONNECTIONS_OPENED, /* target */
	/* gauges without label */
	BR_M_IN_FLIGHT,
	BR_M_WAITING,
	BR_M_CONNECTIONS_OPEN,
	BR_M_CONNECTIONS_OPEN_MAX,
	BR_M_BUFFER_BYTES,
	BR_M_GROUP_MEMBERS,
	BR_M_RELOAD_OK,
	BR_M_START_TIME, /* seconds since 1970, once */
	/* gauges with one label */
	BR_M_ALARM,       /* name */
	BR_M_TARGET_OPEN, /* target */
	/* gauges with topic and partition */
	BR_M_LAG,
	BR_M_WATERMARK_AGE,
	/* histograms, seconds */
	BR_M_ATTEMPT_SECONDS,
	BR_M_DELIVERY_SECONDS,
	BR_M_COUNT
};

/* Adds to a counter, or to a gauge (may be negative) without label. */
void br_metric_add(enum br_metric m, int64_t n);

/* Sets a gauge without label. */
void br_metric_set(enum br_metric m, int64_t value);

/* Raises a gauge without label to at least `value`. */
void br_metric_max(enum br_metric m, int64_t value);

/* Value of a counter or gauge without label. */
int64_t br_metric_get(enum br_metric m);

/*
 * The same for those with one label; a new label value appears by itself.
 * Beyond BR_METRIC_LABELS (1000) values of a metric, what is added counts under "other", and what
 * is set has no sample (states of several cannot be one value).
 */
void br_metric_add_label(enum br_metric m, const char *label, int64_t n);
void br_metric_set_label(enum br_metric m, const char *label, int64_t value);
int64_t br_metric_get_label(enum br_metric m, const char *label);
/* Sets all samples of a gauge at once; takes what is in `fresh`. */
void br_metric_replace_labels(enum br_metric m, struct br_samples *fresh);

/* So many label values of a metric, as above. */
#define BR_METRIC_LABELS 1000

/*
 * The same for those with topic and partition, at most 4096 of them; `drop`
 * takes the sample out.
 */
void br_metric_set_partition(
    enum br_metric m, const char *topic, int32_t partition, double value);
void br_metric_drop_partition(
    enum br_metric m, const char *topic, int32_t partition);

/* Adds an observation to a histogram, in seconds; below 0 counts as 0. */
void br_metric_observe(enum br_metric m, double seconds);

/* Forgets everything (tests only). */
void br_metrics_reset(void);

/* Appends the whole page. */
void br_metrics_render(struct br_buffer *out);

#endif
