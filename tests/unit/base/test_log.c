/*
 * log: what reaches the descriptor, what is lost and counted, and floods.
 * The clock is this file's own, so that whole lines can be compared.
 */
#include "bridge/base/log.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bridge/base/clock.h"
#include "bridge/base/metrics.h"

static _Atomic int64_t now_ms;

int64_t
br_clock_mono_ms(void)
{
	return now_ms;
}

int64_t
br_clock_mono_ns(void)
{
	return now_ms * 1000000;
}

int64_t
br_clock_wall_ms(void)
{
	return INT64_C(1767225600000); /* 2026-01-01T00:00:00.000Z */
}

#define HEAD "ts=2026-01-01T00:00:00.000Z level="

static int fd; /* where lines go: a file in memory */

static int
set_up(void **state)
{
	(void)state;
	fd = memfd_create("log", MFD_CLOEXEC);
	/* Unlike a file, one in memory has no lock for its position. */
	(void)fcntl(fd, F_SETFL, O_APPEND);
	br_log_fd(fd);
	br_log_setup(BR_INFO, false);
	br_metrics_reset();
	now_ms += 1000000; /* groups of an earlier test have their lines back */
	return fd < 0;
}

static int
tear_down(void **state)
{
	(void)state;
	br_log_fd(STDERR_FILENO);
	return close(fd);
}

/* All that was written so far. */
static const char *
written(void)
{
	static char text[4 * 1024 * 1024];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	assert_true(n >= 0);
	text[n] = '\0';
	return text;
}

static void
test_lines(void **state)
{
	(void)state;
	BR_LOG(BR_INFO, "delivered", br_kv_str("key", "a b"),
	    br_kv_str("route", NULL), br_kv_int("status", 200),
	    br_kv_real("ms", 1.5), br_kv_bytes("raw", "\0x", 2),
	    br_kv_bytes("none", NULL, 0));
	BR_LOG(BR_DEBUG, "not written");
	BR_LOG(BR_ERROR, "last");
	assert_string_equal(written(),
	    HEAD "info msg=\"delivered\" key=\"a b\" status=200 ms=1.5 "
	         "raw=\"\\u0000x\"\n" HEAD "error msg=\"last\"\n");
	assert_int_equal(br_metric_get(BR_M_LOG_LOST), 0);
}

static void
test_level_and_format_change(void **state)
{
	(void)state;
	br_log_setup(BR_WARN, true);
	assert_false(br_log_on(BR_INFO));
	assert_true(br_log_on(BR_WARN));
	BR_LOG(BR_INFO, "no");
	BR_LOG(BR_WARN, "yes", br_kv_int("n", 1));
	br_log_setup(BR_DEBUG, false);
	BR_LOG(BR_DEBUG, "now");
	assert_string_equal(written(),
	    "{\"ts\":\"2026-01-01T00:00:00.000Z\",\"level\":\"warn\","
	    "\"msg\":\"yes\",\"n\":1}\n" HEAD "debug msg=\"now\"\n");
}

static void
test_level_parse(void **state)
{
	static const char *const good[] = {"debug", "info", "warn", "error"};
	static const char *const bad[] = {
	    "", "Info", "warning", "err", "info ", "0"};
	enum br_level level = BR_ERROR;

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_true(br_level_parse(good[i], &level));
		assert_int_equal(level, i);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(br_level_parse(bad[i], &level));
	assert_int_equal(level, BR_ERROR);
}

static void
test_flood(void **state)
{
	static const char line[] = HEAD "warn msg=\"failed\" status=503\n";
	const char *text;
	int lines = 0;

	(void)state;
	for (int i = 0; i < 12; i++)
		BR_LOG_LIMITED(BR_DEBUG, "g", "off"); /* costs no line */
	for (int i = 0; i < 25; i++)
		BR_LOG_LIMITED(
		    BR_WARN, "g", "failed", br_kv_int("status", 503));
	BR_LOG_LIMITED(BR_WARN, "h", "other");
	now_ms += 9999;
	BR_LOG_LIMITED(BR_WARN, "g", "failed");
	now_ms += 1;
	BR_LOG_LIMITED(BR_WARN, "g", "failed", br_kv_int("status", 502));
	BR_LOG_LIMITED(BR_WARN, "g", "failed", br_kv_int("status", 504));

	for (text = written(); strncmp(text, line, sizeof(line) - 1) == 0;
	     text += sizeof(line) - 1)
		lines++;
	assert_int_equal(lines, 10);
	assert_string_equal(text,
	    HEAD "warn msg=\"other\"\n" HEAD
	         "warn msg=\"failed\" status=502 suppressed=16\n" HEAD
	         "warn msg=\"failed\" status=504\n");
}

/* 1024 groups are remembered, so the first of 1025 has its lines back. */
static void
test_many_groups(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++)
		BR_LOG_LIMITED(BR_INFO, "first", "m");
	for (int i = 0; i < 1023; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "group %d", i);
		BR_LOG_LIMITED(BR_DEBUG, name, "off");
		BR_LOG_LIMITED(BR_INFO, name, "m");
	}
	assert_int_equal(ftruncate(fd, 0), 0);
	BR_LOG_LIMITED(BR_INFO, "first", "m");
	assert_string_equal(written(), ""); /* and is the newest now */
	for (int i = 2000; i < 2000 + 1024; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "group %d", i);
		BR_LOG_LIMITED(BR_INFO, name, "m");
	}
	assert_int_equal(ftruncate(fd, 0), 0);
	BR_LOG_LIMITED(BR_INFO, "first", "again");
	assert_string_equal(written(), HEAD "info msg=\"again\"\n");
}

static void
test_full_disk(void **state)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_true(full >= 0);
	br_log_fd(full);
	errno = EXDEV;
	BR_LOG(BR_INFO, "lost");
	assert_int_equal(errno, EXDEV);
	assert_int_equal(br_metric_get(BR_M_LOG_LOST), 1);
	br_log_fd(fd);
	BR_LOG(BR_INFO, "written");
	assert_string_equal(written(), HEAD "info msg=\"written\"\n");
	assert_int_equal(br_metric_get(BR_M_LOG_LOST), 1);
	(void)close(full);
}

/* Fills the pipe; returns how much it took. */
static size_t
fill(int pipe_fd)
{
	static const char zeros[4096];
	int flags = fcntl(pipe_fd, F_GETFL);
	size_t total = 0;
	ssize_t n;

	(void)fcntl(pipe_fd, F_SETFL, flags | O_NONBLOCK);
	while ((n = write(pipe_fd, zeros, sizeof(zeros))) > 0)
		total += (size_t)n;
	assert_int_equal(errno, EAGAIN);
	(void)fcntl(pipe_fd, F_SETFL, flags);
	return total;
}

static void
test_full_and_closed_pipe(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	(void)fill(ends[1]);
	br_log_fd(ends[1]);
	BR_LOG(BR_INFO, "no room");
	assert_int_equal(br_metric_get(BR_M_LOG_LOST), 1);
	(void)close(ends[0]);
	BR_LOG(BR_INFO, "nobody reads");
	assert_int_equal(br_metric_get(BR_M_LOG_LOST), 2);
	(void)close(ends[1]);
	BR_LOG(BR_INFO, "closed");
	assert_int_equal(br_metric_get(BR_M_LOG_LOST), 3);
}

/* A line that was cut does not swallow the next one. */
static void
test_short_write(void **state)
{
	static const char line[] = HEAD "info msg=\"0123456789\"\n";
	struct rlimit before, small;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = sizeof(line) - 1 + 20;
	BR_LOG(BR_INFO, "0123456789");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	BR_LOG(BR_INFO, "0123456789"); /* 20 bytes of it fit */
	assert_int_equal(br_metric_get(BR_M_LOG_LOST), 1);
	BR_LOG(BR_INFO, "nothing fits");
	assert_int_equal(br_metric_get(BR_M_LOG_LOST), 2);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	BR_LOG(BR_INFO, "0123456789");
	BR_LOG(BR_INFO, "0123456789");

	assert_memory_equal(written(), line, sizeof(line) - 1);
	assert_memory_equal(written() + sizeof(line) - 1, line, 20);
	assert_int_equal(written()[sizeof(line) - 1 + 20], '\n');
	assert_string_equal(written() + sizeof(line) + 20,
	    HEAD "info msg=\"0123456789\"\n" HEAD "info msg=\"0123456789\"\n");
	assert_int_equal(br_metric_get(BR_M_LOG_LOST), 2);
}

/* A reader that has stalled holds nobody up; when it reads again, lines come
 * again. */
static void
test_stalled_pipe(void **state)
{
	static const char want[] = HEAD "info msg=\"late\"\n";
	static char drained[1024 * 1024];
	size_t filled, got = 0;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	filled = fill(ends[1]);
	br_log_fd(ends[1]);
	for (int i = 1; i <= 20; i++) {
		BR_LOG(BR_INFO, "lost");
		assert_int_equal(br_metric_get(BR_M_LOG_LOST), i);
	}
	while (got < filled) {
		ssize_t n = read(ends[0], drained + got, sizeof(drained) - got);

		assert_true(n > 0);
		got += (size_t)n;
	}
	BR_LOG(BR_INFO, "late");
	assert_int_equal(
	    read(ends[0], drained, sizeof(drained)), sizeof(want) - 1);
	assert_memory_equal(drained, want, sizeof(want) - 1);
	assert_int_equal(br_metric_get(BR_M_LOG_LOST), 20);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

#define THREADS 4
#define LINES 500

static void *
log_many(void *opaque)
{
	const int *thread = opaque;

	for (int i = 0; i < LINES; i++) {
		BR_LOG(BR_INFO, "many", br_kv_int("thread", *thread),
		    br_kv_int("line", i), br_kv_str("end", "x y"));
		BR_LOG_LIMITED(BR_INFO, "many", "limited");
		if (i % 100 == 0)
			br_log_setup(BR_INFO, false);
	}
	return NULL;
}

static void
test_threads(void **state)
{
	int ids[THREADS], next[THREADS] = {0}, limited = 0;
	pthread_t threads[THREADS];
	static char copy[4 * 1024 * 1024];
	char *line, *rest;

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		ids[i] = i;
		assert_int_equal(
		    pthread_create(&threads[i], NULL, log_many, &ids[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);

	(void)strcpy(copy, written());
	for (line = strtok_r(copy, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		char want[128];
		int t = -1;

		if (strcmp(line, HEAD "info msg=\"limited\"") == 0) {
			limited++;
			continue;
		}
		assert_int_equal(
		    sscanf(line, HEAD "info msg=\"many\" thread=%d", &t), 1);
		assert_in_range(t, 0, THREADS - 1);
		(void)snprintf(want, sizeof(want),
		    HEAD "info msg=\"many\" thread=%d line=%d end=\"x y\"", t,
		    next[t]++);
		assert_string_equal(line, want);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(next[i], LINES);
	assert_int_equal(limited, 10);
	assert_int_equal(br_metric_get(BR_M_LOG_LOST), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    TEST(test_lines),
	    TEST(test_level_and_format_change),
	    TEST(test_level_parse),
	    TEST(test_flood),
	    TEST(test_many_groups),
	    TEST(test_full_disk),
	    TEST(test_full_and_closed_pipe),
	    TEST(test_short_write),
	    TEST(test_stalled_pipe),
	    TEST(test_threads),
	};

	(void)signal(SIGPIPE, SIG_IGN); /* as the program does */
	(void)signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
