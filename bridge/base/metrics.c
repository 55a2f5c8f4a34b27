/* metrics: see the header. */
#include "bridge/base/metrics.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "bridge/base/utf8.h"

/* Label values come from events too: a flood of targets must end somewhere. */
#define LABELS_MAX BR_METRIC_LABELS
#define PARTITIONS_MAX 4096
#define OTHER "other"

#define CACHE_LINE 64
#define BOUNDS_MAX 16

/* A number of its own cache line: four workers bump neighbours at once. */
struct number {
	_Alignas(CACHE_LINE) _Atomic int64_t value;
};

struct family {
	_Alignas(CACHE_LINE) pthread_mutex_t lock; /* a leaf */
	struct br_samples samples;                 /* under it */
};

struct histogram {
	const double *bounds;
	size_t bound_count;
	/* Of each bound; the last: above all. Not beside what is only read. */
	_Alignas(CACHE_LINE) _Atomic uint64_t hits[BOUNDS_MAX + 1];
	_Atomic uint64_t sum_us;
};

enum kind { COUNTER, GAUGE, HISTOGRAM };

struct description {
	const char *name;
	const char *help;
	enum kind kind;
	const char *label;     /* NULL: none; "topic" goes with partition */
	struct family *family; /* NULL: none */
};

static struct number numbers[BR_M_COUNT] = {[BR_M_RELOAD_OK] = {1}};

#define FAMILY                                                                 \
	{                                                                      \
		.lock = PTHREAD_MUTEX_INITIALIZER                              \
	}

static struct family dead_letters = FAMILY;
static struct family skipped = FAMILY;
static struct family attempts = FAMILY;
static struct family connections_opened = FAMILY;
static struct family alarms = FAMILY;
static struct family targets_open = FAMILY;
static struct family lag = FAMILY;
static struct family watermark_age = FAMILY;

static const double attempt_bounds[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
    0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
static const double delivery_bounds[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
    0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

_Static_assert(COUNT(attempt_bounds) <= BOUNDS_MAX, "room for the bounds");
_Static_assert(COUNT(delivery_bounds) <= BOUNDS_MAX, "room for the bounds");

static struct histogram attempt_seconds = {
    .bounds = attempt_bounds, .bound_count = COUNT(attempt_bounds)};
static struct histogram delivery_seconds = {
    .bounds = delivery_bounds, .bound_count = COUNT(delivery_bounds)};

#define P "outbox_bridge_"

static const struct description table[BR_M_COUNT] = {
    [BR_M_DELIVERED] = {P "delivered_total", "Events answered with a final 2xx",
        COUNTER, NULL, NULL},
    [BR_M_RESENDS] = {P "resends_total",
        "Requests sent again at once because a reused connection was dead",
        COUNTER, NULL, NULL},
    [BR_M_COMMITS] = {P "commits_total", "Offset commits accepted by Kafka",
        COUNTER, NULL, NULL},
    [BR_M_COMMIT_ERRORS] = {P "commit_errors_total",
        "Offset commits refused by Kafka or unanswered", COUNTER, NULL, NULL},
    [BR_M_REBALANCES] = {P "rebalances_total",
        "Assignments and revocations of partitions", COUNTER, NULL, NULL},
    [BR_M_RECORDS] = {P "records_total", "Records read from Kafka", COUNTER,
        NULL, NULL},
    [BR_M_LOG_LOST] = {P "log_lost_total",
        "Log lines that could not be written in full", COUNTER, NULL, NULL},
    [BR_M_LATE_RESULTS] = {P "late_results_total",
        "Results dropped because their partition assignment was gone", COUNTER,
        NULL, NULL},
    [BR_M_DEAD_LETTERS] = {P "dead_letters_total",
        "Events stored in the dead letter topic, by reason", COUNTER, "reason",
        &dead_letters},
    [BR_M_SKIPPED] = {P "skipped_total",
        "Records passed over for a documented reason, by reason", COUNTER,
        "reason", &skipped},
    [BR_M_ATTEMPTS] = {P "attempts_total",
        "HTTP attempts, by class of status or kind of transport error", COUNTER,
        "outcome", &attempts},
    [BR_M_CONNECTIONS_OPENED] = {P "connections_opened_total",
        "Connections opened to receivers, by target", COUNTER, "target",
        &connections_opened},
    [BR_M_IN_FLIGHT] = {P "in_flight", "Requests under way", GAUGE, NULL, NULL},
    [BR_M_WAITING] = {P "waiting",
        "Events in memory that wait for their turn or next attempt", GAUGE,
        NULL, NULL},
    [BR_M_CONNECTIONS_OPEN] = {P "connections_open",
        "Open connections to receivers", GAUGE, NULL, NULL},
    [BR_M_CONNECTIONS_OPEN_MAX] = {P "connections_open_max",
        "Most connections to receivers open at once since start", GAUGE, NULL,
        NULL},
    [BR_M_BUFFER_BYTES] = {P "buffer_bytes", "Memory that events occupy", GAUGE,
        NULL, NULL},
    [BR_M_GROUP_MEMBERS] = {P "group_members",
        "Members of the consumer group when last asked", GAUGE, NULL, NULL},
    [BR_M_RELOAD_OK] = {P "reload_ok",
        "1 unless the last reload of the configuration was refused", GAUGE,
        NULL, NULL},
    [BR_M_START_TIME] = {P "start_time_seconds",
        "Start of the process in seconds since 1970-01-01 UTC", GAUGE, NULL,
        NULL},
    [BR_M_ALARM] = {P "alarm", "1 while the alarm stands, by name", GAUGE,
        "name", &alarms},
    [BR_M_TARGET_OPEN] = {P "target_open",
        "1 while the target is sent to, 0 while it is closed", GAUGE, "target",
        &targets_open},
    [BR_M_LAG] = {P "lag",
        "Offsets from the watermark to the end of the partition", GAUGE,
        "topic", &lag},
    [BR_M_WATERMARK_AGE] = {P "watermark_age_seconds",
        "Age of the oldest unfinished event of the partition", GAUGE, "topic",
        &watermark_age},
    [BR_M_ATTEMPT_SECONDS] = {P "attempt_seconds",
        "Time from the start of an attempt to its outcome", HISTOGRAM, NULL,
        NULL},
    [BR_M_DELIVERY_SECONDS] = {P "delivery_seconds",
        "Time from the timestamp of the record to its delivery", HISTOGRAM,
        NULL, NULL},
};

static bool
has_partition(enum br_metric m)
{
	return m == BR_M_LAG || m == BR_M_WATERMARK_AGE;
}

static struct histogram *
histogram_of(enum br_metric m)
{
	assert(table[m].kind == HISTOGRAM);
	return m == BR_M_ATTEMPT_SECONDS ? &attempt_seconds : &delivery_seconds;
}

static _Atomic int64_t *
number_of(enum br_metric m)
{
	assert(table[m].family == NULL && table[m].kind != HISTOGRAM);
	return &numbers[m].value;
}

void
br_metric_add(enum br_metric m, int64_t n)
{
	assert(n >= 0 || table[m].kind == GAUGE);
	atomic_fetch_add_explicit(number_of(m), n, memory_order_relaxed);
}

void
br_metric_set(enum br_metric m, int64_t value)
{
	assert(table[m].kind == GAUGE);
	atomic_store_explicit(number_of(m), value, memory_order_relaxed);
}

void
br_metric_max(enum br_metric m, int64_t value)
{
	_Atomic int64_t *number = number_of(m);
	int64_t seen = atomic_load_explicit(number, memory_order_relaxed);

	assert(table[m].kind == GAUGE);
	while (seen < value)
		if (atomic_compare_exchange_weak_explicit(number, &seen, value,
		        memory_order_relaxed, memory_order_relaxed))
			return;
}

int64_t
br_metric_get(enum br_metric m)
{
	return atomic_load_explicit(number_of(m), memory_order_relaxed);
}

static struct family *
family_of(enum br_metric m)
{
	assert(table[m].family != NULL && !has_partition(m));
	return table[m].family;
}

void
br_metric_add_label(enum br_metric m, const char *label, int64_t n)
{
	struct family *f = family_of(m);
	struct br_sample *s;

	assert(n >= 0 || table[m].kind == GAUGE);
	pthread_mutex_lock(&f->lock);
	s = br_samples_add(&f->samples, label, 0, LABELS_MAX);
	/* One more than the limit, so that the sum stays right. */
	if (s == NULL)
		s = br_samples_add(&f->samples, OTHER, 0, LABELS_MAX + 1);
	if (s != NULL)
		s->value += (double)n;
	pthread_mutex_unlock(&f->lock);
}

void
br_metric_set_label(enum br_metric m, const char *label, int64_t value)
{
	struct family *f = family_of(m);
	struct br_sample *s;

	assert(table[m].kind == GAUGE);
	pthread_mutex_lock(&f->lock);
	/* States of several cannot be one value: those have no sample. */
	s = br_samples_add(&f->samples, label, 0, LABELS_MAX);
	if (s != NULL)
		s->value = (double)value;
	pthread_mutex_unlock(&f->lock);
}

int64_t
br_metric_get_label(enum br_metric m, const char *label)
{
	struct family *f = family_of(m);
	const struct br_sample *s;
	int64_t value;

	pthread_mutex_lock(&f->lock);
	s = br_samples_find(&f->samples, label, 0);
	value = s != NULL ? (int64_t)s->value : 0;
	pthread_mutex_unlock(&f->lock);
	return value;
}

void
br_metric_replace_labels(enum br_metric m, struct br_samples *fresh)
{
	struct family *f = family_of(m);
	struct br_samples old;

	assert(table[m].kind == GAUGE);
	pthread_mutex_lock(&f->lock);
	old = f->samples;
	f->samples = *fresh;
	pthread_mutex_unlock(&f->lock);
	*fresh = (struct br_samples){0};
	br_samples_clear(&old);
}

void
br_metric_set_partition(
    enum br_metric m, const char *topic, int32_t partition, double value)
{
	struct family *f = table[m].family;
	struct br_sample *s;

	assert(has_partition(m));
	pthread_mutex_lock(&f->lock);
	s = br_samples_add(&f->samples, topic, partition, PARTITIONS_MAX);
	if (s != NULL)
		s->value = value;
	pthread_mutex_unlock(&f->lock);
}

void
br_metric_drop_partition(enum br_metric m, const char *topic, int32_t partition)
{
	struct family *f = table[m].family;

	assert(has_partition(m));
	pthread_mutex_lock(&f->lock);
	br_samples_drop(&f->samples, topic, partition);
	pthread_mutex_unlock(&f->lock);
}

void
br_metric_observe(enum br_metric m, double seconds)
{
	struct histogram *h = histogram_of(m);
	size_t i = 0;

	/* A wall clock that was set back makes a delivery end before its
	 * record began; the upper end keeps the conversion defined. */
	seconds = seconds > 0 ? seconds < 1e9 ? seconds : 1e9 : 0;
	while (i < h->bound_count && seconds > h->bounds[i])
		i++;
	atomic_fetch_add_explicit(&h->hits[i], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(
	    &h->sum_us, (uint64_t)(seconds * 1e6 + 0.5), memory_order_relaxed);
}

void
br_metrics_reset(void)
{
	for (int m = 0; m < BR_M_COUNT; m++) {
		struct family *f = table[m].family;
		struct histogram *h;

		atomic_store(&numbers[m].value, m == BR_M_RELOAD_OK ? 1 : 0);
		if (f != NULL) {
			pthread_mutex_lock(&f->lock);
			br_samples_clear(&f->samples);
			pthread_mutex_unlock(&f->lock);
		}
		if (table[m].kind != HISTOGRAM)
			continue;
		h = histogram_of((enum br_metric)m);
		for (size_t i = 0; i <= h->bound_count; i++)
			atomic_store(&h->hits[i], 0);
		atomic_store(&h->sum_us, 0);
	}
}

static void
render_value(struct br_buffer *out, double value)
{
	if (isnan(value))
		br_buffer_str(out, "NaN\n");
	else if (isinf(value))
		br_buffer_str(out, value > 0 ? "+Inf\n" : "-Inf\n");
	else
		br_buffer_format(out, "%.15g\n", value);
}

/* One byte that is not UTF-8 would cost the whole scrape. */
static void
render_label(struct br_buffer *out, const char *name, const char *value)
{
	size_t left = strlen(value), n;
	uint32_t code;

	br_buffer_format(out, "%s=\"", name);
	for (; left > 0; value += n, left -= n) {
		n = br_utf8_char(value, left, &code);
		if (n == 0) {
			br_buffer_str(out, "\xef\xbf\xbd");
			n = 1;
		} else if (*value == '\n') {
			br_buffer_str(out, "\\n");
		} else {
			if (*value == '"' || *value == '\\')
				br_buffer_str(out, "\\");
			br_buffer_add(out, value, n);
		}
	}
	br_buffer_str(out, "\"");
}

static void
render_family(struct br_buffer *out, enum br_metric m)
{
	struct family *f = table[m].family;

	pthread_mutex_lock(&f->lock);
	for (size_t i = 0; i < f->samples.count; i++) {
		const struct br_sample *s = &f->samples.items[i];

		br_buffer_format(out, "%s{", table[m].name);
		render_label(out, table[m].label, s->label);
		if (has_partition(m))
			br_buffer_format(
			    out, ",partition=\"%" PRId32 "\"", s->partition);
		br_buffer_str(out, "} ");
		render_value(out, s->value);
	}
	pthread_mutex_unlock(&f->lock);
}

static void
render_histogram(struct br_buffer *out, enum br_metric m)
{
	struct histogram *h = histogram_of(m);
	const char *name = table[m].name;
	uint64_t sum_us, total = 0;

	for (size_t i = 0; i <= h->bound_count; i++) {
		total += atomic_load(&h->hits[i]);
		br_buffer_format(out, "%s_bucket{le=\"", name);
		if (i < h->bound_count)
			br_buffer_format(out, "%g", h->bounds[i]);
		else
			br_buffer_str(out, "+Inf");
		br_buffer_format(out, "\"} %" PRIu64 "\n", total);
	}
	sum_us = atomic_load(&h->sum_us);
	br_buffer_format(out, "%s_sum %" PRIu64 ".%06" PRIu64 "\n", name,
	    sum_us / 1000000, sum_us % 1000000);
	br_buffer_format(out, "%s_count %" PRIu64 "\n", name, total);
}

static const char *
kind_name(enum kind kind)
{
	switch (kind) {
	case COUNTER:
		return "counter";
	case GAUGE:
		return "gauge";
	case HISTOGRAM:
		return "histogram";
	}
	return "untyped";
}

void
br_metrics_render(struct br_buffer *out)
{
	for (int i = 0; i < BR_M_COUNT; i++) {
		const struct description *d = &table[i];
		enum br_metric m = (enum br_metric)i;

		br_buffer_format(out, "# HELP %s %s.\n# TYPE %s %s\n", d->name,
		    d->help, d->name, kind_name(d->kind));
		if (d->kind == HISTOGRAM)
			render_histogram(out, m);
		else if (d->family != NULL)
			render_family(out, m);
		else
			br_buffer_format(
			    out, "%s %" PRId64 "\n", d->name, br_metric_get(m));
	}
}
