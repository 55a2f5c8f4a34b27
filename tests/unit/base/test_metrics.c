/*
 * metrics: names, values, limits; every page is read by a strict reader of
 * the exposition format; threads at once.
 */
#include "bridge/base/metrics.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/base/utf8.h"

/* The family that the reader is in. */
struct family {
	char name[128];
	char type[16];
	double last_bucket; /* of the histogram, -1 before the first */
	double last_bound;
	bool has_sum;
	bool has_count;
};

static bool
starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool
ends(const char *text, const char *suffix)
{
	size_t len = strlen(text), n = strlen(suffix);

	return len >= n && strcmp(text + len - n, suffix) == 0;
}

/* [a-z_]+ */
static const char *
read_name(const char *p, char name[128])
{
	size_t n = 0;

	while (islower((unsigned char)*p) || *p == '_') {
		assert_true(n < 127);
		name[n++] = *p++;
	}
	assert_true(n > 0);
	name[n] = '\0';
	return p;
}

/* name="value", in the three escapes that exist. */
static const char *
read_label(const char *p, char name[128])
{
	uint32_t code;
	size_t n;

	p = read_name(p, name);
	assert_memory_equal(p, "=\"", 2);
	for (p += 2; *p != '"'; p += n) {
		if (*p == '\\') {
			assert_non_null(strchr("\\\"n", p[1]));
			assert_int_not_equal(p[1], '\0');
			n = 2;
			continue;
		}
		n = br_utf8_char(p, strlen(p), &code);
		assert_int_not_equal(n, 0);
	}
	return p + 1;
}

static void
check_type(const struct family *f)
{
	assert_true(starts(f->name, "outbox_bridge_"));
	if (strcmp(f->type, "counter") == 0) {
		assert_true(ends(f->name, "_total"));
		return;
	}
	assert_false(ends(f->name, "_total"));
	assert_true(
	    strcmp(f->type, "gauge") == 0 ||
	    (strcmp(f->type, "histogram") == 0 && ends(f->name, "_seconds")));
}

static void
check_bucket(struct family *f, const char *labels, double value)
{
	double bound;
	char *end;

	assert_true(starts(labels, "{le=\""));
	bound = strtod(labels + 5, &end);
	assert_string_equal(end, "\"}");
	assert_true(bound > f->last_bound);
	assert_true(value >= f->last_bucket);
	assert_false(f->has_sum || f->has_count);
	f->last_bound = bound;
	f->last_bucket = value;
}

/* A sample line of family `f`. */
static void
check_sample(struct family *f, const char *line)
{
	char name[128], label[128], labels[1024] = "", *end;
	const char *p = read_name(line, name), *suffix;
	double value;

	if (*p == '{') {
		const char *start = p;

		do
			p = read_label(p + 1, label);
		while (*p == ',');
		assert_int_equal(*p++, '}');
		assert_true((size_t)(p - start) < sizeof(labels));
		memcpy(labels, start, (size_t)(p - start));
	}
	assert_int_equal(*p++, ' ');
	assert_false(isspace((unsigned char)*p));
	value = strtod(p, &end);
	assert_true(end != p && *end == '\0');
	if (strcmp(f->type, "counter") == 0)
		assert_true(value >= 0);
	if (strcmp(f->type, "histogram") != 0) {
		assert_string_equal(name, f->name);
		return;
	}
	assert_true(starts(name, f->name));
	suffix = name + strlen(f->name);
	if (strcmp(suffix, "_bucket") == 0) {
		check_bucket(f, labels, value);
	} else if (strcmp(suffix, "_sum") == 0) {
		assert_true(value >= 0 && labels[0] == '\0');
		f->has_sum = true;
	} else {
		assert_string_equal(suffix, "_count");
		assert_string_equal(labels, "");
		assert_true(isinf(f->last_bound));
		assert_true(value == f->last_bucket);
		f->has_count = true;
	}
}

static void
check_family_end(const struct family *f)
{
	if (strcmp(f->type, "histogram") == 0)
		assert_true(f->has_sum && f->has_count);
}

/* Reads `# HELP name text`. */
static void
start_family(struct family *f, const char *line)
{
	*f = (struct family){.last_bucket = -1, .last_bound = -1};
	assert_int_equal(*read_name(line + strlen("# HELP "), f->name), ' ');
	assert_true(strlen(line) > strlen("# HELP ") + strlen(f->name) + 8);
	assert_null(strchr(line, '\\'));
}

/* Fails unless all of it is exposition format 0.0.4 as we write it. */
static void
check_page(const char *text_of_page)
{
	struct family f = {.type = ""};
	const char *line = text_of_page, *end;

	for (; *line != '\0'; line = end + 1) {
		char text[1024], want[256];

		end = strchr(line, '\n');
		assert_non_null(end);
		assert_true((size_t)(end - line) < sizeof(text));
		memcpy(text, line, (size_t)(end - line));
		text[end - line] = '\0';
		if (starts(text, "# HELP ")) {
			check_family_end(&f);
			start_family(&f, text);
			(void)snprintf(
			    want, sizeof(want), "# HELP %s ", f.name);
			/* No family twice. */
			assert_ptr_equal(strstr(text_of_page, want), line);
			continue;
		}
		if (starts(text, "# TYPE ")) {
			(void)snprintf(
			    want, sizeof(want), "# TYPE %s ", f.name);
			assert_true(starts(text, want));
			assert_string_equal(f.type, "");
			(void)snprintf(f.type, sizeof(f.type), "%.15s",
			    text + strlen(want));
			check_type(&f);
			continue;
		}
		assert_string_not_equal(f.type, "");
		check_sample(&f, text);
		/* No sample twice. */
		(void)snprintf(want, sizeof(want), "\n%.*s ",
		    (int)(strrchr(text, ' ') - text), text);
		assert_null(strstr(end, want));
	}
	check_family_end(&f);
}

static struct br_buffer page;

/* The page as it is now, read strictly. */
static const char *
render(void)
{
	br_buffer_clear(&page);
	br_metrics_render(&page);
	assert_int_equal(strlen(page.data), page.len);
	check_page(page.data);
	return page.data;
}

static void
has_line(const char *line)
{
	char want[512];

	(void)snprintf(want, sizeof(want), "\n%s\n", line);
	if (strstr(page.data, want) == NULL)
		fail_msg("no line %s", line);
}

static void
has_no(const char *text)
{
	if (strstr(page.data, text) != NULL)
		fail_msg("there is %s", text);
}

static int
set_up(void **state)
{
	(void)state;
	br_metrics_reset();
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	br_metrics_reset();
	br_buffer_free(&page);
	return 0;
}

/* Before any reset: what a process starts with. */
static void
test_start(void **state)
{
	(void)state;
	assert_int_equal(br_metric_get(BR_M_RELOAD_OK), 1);
	assert_int_equal(br_metric_get(BR_M_DELIVERED), 0);
	(void)render();
}

static void
test_names(void **state)
{
	static const char *const types[] = {"delivered_total counter",
	    "resends_total counter", "commits_total counter",
	    "commit_errors_total counter", "rebalances_total counter",
	    "records_total counter", "log_lost_total counter",
	    "late_results_total counter", "dead_letters_total counter",
	    "skipped_total counter", "attempts_total counter",
	    "connections_opened_total counter", "in_flight gauge",
	    "waiting gauge", "connections_open gauge",
	    "connections_open_max gauge", "buffer_bytes gauge",
	    "group_members gauge", "reload_ok gauge",
	    "start_time_seconds gauge", "alarm gauge", "target_open gauge",
	    "lag gauge", "watermark_age_seconds gauge",
	    "attempt_seconds histogram", "delivery_seconds histogram"};
	char line[128];

	(void)state;
	assert_int_equal(sizeof(types) / sizeof(types[0]), BR_M_COUNT);
	(void)render();
	for (size_t i = 0; i < BR_M_COUNT; i++) {
		(void)snprintf(
		    line, sizeof(line), "# TYPE outbox_bridge_%s", types[i]);
		has_line(line);
	}
}

static void
test_fresh_page(void **state)
{
	(void)state;
	(void)render();
	has_line("outbox_bridge_delivered_total 0");
	has_line("outbox_bridge_log_lost_total 0");
	has_line("outbox_bridge_in_flight 0");
	has_line("outbox_bridge_connections_open_max 0");
	has_line("outbox_bridge_reload_ok 1");
	has_line("outbox_bridge_start_time_seconds 0");
	has_line("outbox_bridge_attempt_seconds_bucket{le=\"0.001\"} 0");
	has_line("outbox_bridge_attempt_seconds_bucket{le=\"60\"} 0");
	has_line("outbox_bridge_delivery_seconds_bucket{le=\"0.005\"} 0");
	has_line("outbox_bridge_delivery_seconds_bucket{le=\"3600\"} 0");
	has_line("outbox_bridge_delivery_seconds_sum 0.000000");
	has_line("outbox_bridge_delivery_seconds_count 0");
	has_no("{reason");
	has_no("{name");
}

static void
test_numbers(void **state)
{
	(void)state;
	br_metric_add(BR_M_DELIVERED, 3);
	br_metric_add(BR_M_DELIVERED, 4);
	br_metric_add(BR_M_IN_FLIGHT, 2);
	br_metric_add(BR_M_IN_FLIGHT, -1);
	br_metric_set(BR_M_START_TIME, INT64_C(9007199254740993));
	br_metric_max(BR_M_CONNECTIONS_OPEN_MAX, 4);
	br_metric_max(BR_M_CONNECTIONS_OPEN_MAX, 3);
	br_metric_set(BR_M_RELOAD_OK, 0);
	assert_int_equal(br_metric_get(BR_M_DELIVERED), 7);
	assert_int_equal(br_metric_get(BR_M_RESENDS), 0);
	(void)render();
	has_line("outbox_bridge_delivered_total 7");
	has_line("outbox_bridge_in_flight 1");
	has_line("outbox_bridge_start_time_seconds 9007199254740993");
	has_line("outbox_bridge_connections_open_max 4");
	has_line("outbox_bridge_reload_ok 0");
}

static void
test_labels(void **state)
{
	(void)state;
	br_metric_add_label(BR_M_DEAD_LETTERS, "json-syntax", 1);
	br_metric_add_label(BR_M_DEAD_LETTERS, "json-syntax", 2);
	br_metric_add_label(BR_M_SKIPPED, "snapshot", 1);
	br_metric_add_label(BR_M_ATTEMPTS, "2xx", 5);
	br_metric_add_label(BR_M_CONNECTIONS_OPENED, "https://a:443", 1);
	br_metric_set_label(BR_M_TARGET_OPEN, "https://a:443", 1);
	br_metric_set_label(BR_M_ALARM, "broker_down", 1);
	br_metric_set_label(BR_M_ALARM, "broker_down", 0);
	br_metric_add_label(BR_M_SKIPPED, "q\"b\\n\nu\xc3\xbc\xff", 1);
	assert_int_equal(
	    br_metric_get_label(BR_M_DEAD_LETTERS, "json-syntax"), 3);
	assert_int_equal(br_metric_get_label(BR_M_DEAD_LETTERS, "never"), 0);
	(void)render();
	has_line("outbox_bridge_dead_letters_total{reason=\"json-syntax\"} 3");
	has_line("outbox_bridge_skipped_total{reason=\"snapshot\"} 1");
	has_line("outbox_bridge_attempts_total{outcome=\"2xx\"} 5");
	has_line("outbox_bridge_connections_opened_total"
	         "{target=\"https://a:443\"} 1");
	has_line("outbox_bridge_target_open{target=\"https://a:443\"} 1");
	has_line("outbox_bridge_alarm{name=\"broker_down\"} 0");
	has_line("outbox_bridge_skipped_total{reason="
	         "\"q\\\"b\\\\n\\nu\xc3\xbc\xef\xbf\xbd\"} 1");
	has_no("reason=\"never\"");
}

static void
test_partitions(void **state)
{
	(void)state;
	br_metric_set_partition(BR_M_LAG, "orders", 10, 1500000);
	br_metric_set_partition(BR_M_LAG, "orders", 2, 3);
	br_metric_set_partition(BR_M_WATERMARK_AGE, "orders", 2, 0.25);
	br_metric_set_partition(BR_M_WATERMARK_AGE, "orders", 3, NAN);
	br_metric_set_partition(BR_M_WATERMARK_AGE, "orders", 4, INFINITY);
	br_metric_set_partition(BR_M_WATERMARK_AGE, "gone", 0, 1);
	br_metric_drop_partition(BR_M_WATERMARK_AGE, "gone", 0);
	br_metric_drop_partition(BR_M_LAG, "orders", 99);
	(void)render();
	has_line("outbox_bridge_lag{topic=\"orders\",partition=\"2\"} 3\n"
	         "outbox_bridge_lag{topic=\"orders\",partition=\"10\"} "
	         "1500000");
	has_line("outbox_bridge_watermark_age_seconds"
	         "{topic=\"orders\",partition=\"2\"} 0.25");
	has_line("outbox_bridge_watermark_age_seconds"
	         "{topic=\"orders\",partition=\"3\"} NaN");
	has_line("outbox_bridge_watermark_age_seconds"
	         "{topic=\"orders\",partition=\"4\"} +Inf");
	has_no("\"gone\"");
}

/* What is not in the new set vanishes; the caller's is empty afterwards. */
static void
test_labels_replaced(void **state)
{
	struct br_samples fresh = {0};

	(void)state;
	br_metric_set_label(BR_M_TARGET_OPEN, "https://a:443", 1);
	br_metric_set_label(BR_M_TARGET_OPEN, "https://b:443", 1);
	br_samples_add(&fresh, "https://c:443", 0, 10)->value = 1;
	br_samples_add(&fresh, "https://b:443", 0, 10)->value = 0;
	br_metric_replace_labels(BR_M_TARGET_OPEN, &fresh);
	assert_int_equal(fresh.count, 0);
	assert_null(fresh.items);
	(void)render();
	has_no("https://a:443");
	has_line("outbox_bridge_target_open{target=\"https://b:443\"} 0");
	has_line("outbox_bridge_target_open{target=\"https://c:443\"} 1");
	br_metric_set_label(BR_M_TARGET_OPEN, "https://a:443", 0);
	(void)render();
	has_line("outbox_bridge_target_open{target=\"https://a:443\"} 0");
	br_metric_replace_labels(BR_M_TARGET_OPEN, &fresh);
	(void)render();
	has_no("outbox_bridge_target_open{");
}

static void
test_label_limit(void **state)
{
	(void)state;
	for (int i = 0; i < 1500; i++) {
		char target[32];

		(void)snprintf(target, sizeof(target), "http://h%d", i);
		br_metric_add_label(BR_M_CONNECTIONS_OPENED, target, 2);
		br_metric_set_label(BR_M_TARGET_OPEN, target, 1);
	}
	br_metric_add_label(BR_M_CONNECTIONS_OPENED, "http://h7", 1);
	assert_int_equal(
	    br_metric_get_label(BR_M_CONNECTIONS_OPENED, "http://h7"), 3);
	assert_int_equal(
	    br_metric_get_label(BR_M_CONNECTIONS_OPENED, "http://h999"), 2);
	assert_int_equal(
	    br_metric_get_label(BR_M_CONNECTIONS_OPENED, "http://h1000"), 0);
	assert_int_equal(
	    br_metric_get_label(BR_M_CONNECTIONS_OPENED, "other"), 1000);
	(void)render();
	has_line("outbox_bridge_connections_opened_total{target=\"other\"} "
	         "1000");
	has_no("outbox_bridge_target_open{target=\"other\"}");
	for (int i = 0; i < 5000; i++)
		br_metric_set_partition(BR_M_LAG, "t", i, 1);
	br_buffer_clear(&page);
	br_metrics_render(&page);
	has_line("outbox_bridge_lag{topic=\"t\",partition=\"4095\"} 1");
	has_no("partition=\"4096\"");
}

static void
test_histograms(void **state)
{
	(void)state;
	br_metric_observe(BR_M_ATTEMPT_SECONDS, 0.001); /* le includes it */
	br_metric_observe(BR_M_ATTEMPT_SECONDS, 0.0011);
	br_metric_observe(BR_M_ATTEMPT_SECONDS, 61);
	br_metric_observe(BR_M_DELIVERY_SECONDS, -5);
	br_metric_observe(BR_M_DELIVERY_SECONDS, NAN);
	br_metric_observe(BR_M_DELIVERY_SECONDS, 3600);
	br_metric_observe(BR_M_DELIVERY_SECONDS, INFINITY);
	(void)render();
	has_line("outbox_bridge_attempt_seconds_bucket{le=\"0.001\"} 1");
	has_line("outbox_bridge_attempt_seconds_bucket{le=\"0.0025\"} 2");
	has_line("outbox_bridge_attempt_seconds_bucket{le=\"60\"} 2");
	has_line("outbox_bridge_attempt_seconds_bucket{le=\"+Inf\"} 3");
	has_line("outbox_bridge_attempt_seconds_sum 61.002100");
	has_line("outbox_bridge_attempt_seconds_count 3");
	has_line("outbox_bridge_delivery_seconds_bucket{le=\"0.005\"} 2");
	has_line("outbox_bridge_delivery_seconds_bucket{le=\"900\"} 2");
	has_line("outbox_bridge_delivery_seconds_bucket{le=\"3600\"} 3");
	has_line("outbox_bridge_delivery_seconds_bucket{le=\"+Inf\"} 4");
	has_line("outbox_bridge_delivery_seconds_sum 1000003600.000000");
	br_metrics_reset();
	(void)render();
	has_line("outbox_bridge_attempt_seconds_bucket{le=\"+Inf\"} 0");
	has_line("outbox_bridge_attempt_seconds_sum 0.000000");
}

#define THREADS 4
#define ROUNDS 2000

static atomic_int working;

static void *
bump(void *opaque)
{
	const int *thread = opaque;

	for (int i = 0; i < ROUNDS; i++) {
		br_metric_add(BR_M_DELIVERED, 1);
		br_metric_add(BR_M_IN_FLIGHT, i % 2 == 0 ? 1 : -1);
		br_metric_max(BR_M_CONNECTIONS_OPEN_MAX, *thread * ROUNDS + i);
		br_metric_add_label(
		    BR_M_ATTEMPTS, i % 3 == 0 ? "5xx" : "2xx", 1);
		br_metric_observe(BR_M_ATTEMPT_SECONDS, 0.004);
		br_metric_set_partition(BR_M_LAG, "t", i % 10, i);
		br_metric_drop_partition(BR_M_LAG, "t", (i + 5) % 10);
	}
	atomic_fetch_sub(&working, 1);
	return NULL;
}

static void
test_threads(void **state)
{
	pthread_t threads[THREADS];
	int ids[THREADS];

	(void)state;
	atomic_store(&working, THREADS);
	for (int i = 0; i < THREADS; i++) {
		ids[i] = i;
		assert_int_equal(
		    pthread_create(&threads[i], NULL, bump, &ids[i]), 0);
	}
	do
		(void)render(); /* whole at any time */
	while (atomic_load(&working) > 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	(void)render();
	has_line("outbox_bridge_delivered_total 8000");
	has_line("outbox_bridge_in_flight 0");
	has_line("outbox_bridge_connections_open_max 7999");
	has_line("outbox_bridge_attempts_total{outcome=\"2xx\"} 5332");
	has_line("outbox_bridge_attempts_total{outcome=\"5xx\"} 2668");
	has_line("outbox_bridge_attempt_seconds_bucket{le=\"0.005\"} 8000");
	has_line("outbox_bridge_attempt_seconds_sum 32.000000");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_start),
	    TEST(test_names),
	    TEST(test_fresh_page),
	    TEST(test_numbers),
	    TEST(test_labels),
	    TEST(test_partitions),
	    TEST(test_labels_replaced),
	    TEST(test_label_limit),
	    TEST(test_histograms),
	    TEST(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
