/*
 * server: over real sockets, with a client that writes its bytes itself, so
 * that it can also send what no well-behaved client sends.
 */
#include "bridge/admin/server.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "bridge/base/metrics.h"

static atomic_bool is_ready;
static const char *_Atomic reason;
static atomic_int refreshed;

static bool
ready(void *opaque, struct br_buffer *why)
{
	assert_ptr_equal(opaque, &is_ready);
	br_buffer_str(why, atomic_load(&reason));
	return atomic_load(&is_ready);
}

static void
refresh(void *opaque)
{
	assert_ptr_equal(opaque, &is_ready);
	br_metric_set(BR_M_WAITING, atomic_fetch_add(&refreshed, 1) + 1);
}

static const struct br_admin_source source = {&is_ready, ready, refresh};

static struct br_admin *server;

static int
set_up(void **state)
{
	struct br_error err = {""};

	(void)state;
	br_metrics_reset();
	atomic_store(&is_ready, true);
	atomic_store(&reason, "");
	atomic_store(&refreshed, 0);
	server = br_admin_start("127.0.0.1", 0, &source, &err);
	return server == NULL;
}

static int
tear_down(void **state)
{
	(void)state;
	br_admin_stop(server);
	server = NULL;
	return 0;
}

static int
dial(void)
{
	const struct timeval limit = {20, 0}; /* a deadline, not a measure */
	struct sockaddr_in to = {.sin_family = AF_INET,
	    .sin_port = htons(br_admin_port(server)),
	    .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	assert_int_equal(
	    connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static void
send_bytes(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

		assert_true(n > 0);
		bytes += n;
		len -= (size_t)n;
	}
}

static char answer[256 * 1024];

/* Reads until the server closes, then closes; NULL when it was reset. */
static const char *
read_all(int fd)
{
	size_t len = 0;
	ssize_t n;

	while ((n = recv(fd, answer + len, sizeof(answer) - 1 - len, 0)) > 0)
		len += (size_t)n;
	answer[len] = '\0';
	assert_true(n == 0 || errno == ECONNRESET);
	(void)close(fd);
	return n == 0 ? answer : NULL;
}

static const char *
ask(const char *request)
{
	int fd = dial();

	send_bytes(fd, request, strlen(request));
	return read_all(fd);
}

static const char *
get(const char *method, const char *path)
{
	char request[256];

	(void)snprintf(request, sizeof(request),
	    "%s %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", method,
	    path);
	return ask(request);
}

static const char *
body_of(const char *text)
{
	const char *blank;

	assert_non_null(text);
	blank = strstr(text, "\r\n\r\n");
	assert_non_null(blank);
	return blank + 4;
}

static void
check_answer(const char *text, int status, const char *type, const char *body)
{
	char want[128];

	assert_non_null(text);
	(void)snprintf(want, sizeof(want), "HTTP/1.1 %d ", status);
	assert_memory_equal(text, want, strlen(want));
	(void)snprintf(want, sizeof(want), "\r\nContent-Type: %s\r\n", type);
	assert_non_null(strstr(text, want));
	if (body != NULL)
		assert_string_equal(body_of(text), body);
}

#define TEXT "text/plain; charset=utf-8"

static void
test_healthz(void **state)
{
	(void)state;
	atomic_store(&is_ready, false);
	check_answer(get("GET", "/healthz"), 200, TEXT, "ok\n");
	check_answer(get("GET", "/healthz?probe=1"), 200, TEXT, "ok\n");
}

static void
test_readyz(void **state)
{
	(void)state;
	check_answer(get("GET", "/readyz"), 200, TEXT, "ready\n");
	atomic_store(&reason, "what is said while ready is not shown");
	check_answer(get("GET", "/readyz"), 200, TEXT, "ready\n");
	atomic_store(&is_ready, false);
	atomic_store(&reason, "broker_down: no broker answers");
	check_answer(get("GET", "/readyz"), 503, TEXT,
	    "broker_down: no broker answers\n");
	atomic_store(&reason, "not assigned\n");
	check_answer(get("GET", "/readyz"), 503, TEXT, "not assigned\n");
	atomic_store(&reason, "");
	check_answer(get("GET", "/readyz"), 503, TEXT, "not ready\n");
}

static void
test_metrics(void **state)
{
	const char *text;

	(void)state;
	br_metric_add(BR_M_DELIVERED, 5);
	text = get("GET", "/metrics");
	check_answer(
	    text, 200, "text/plain; version=0.0.4; charset=utf-8", NULL);
	assert_memory_equal(body_of(text), "# HELP outbox_bridge_", 21);
	assert_non_null(strstr(text, "\noutbox_bridge_delivered_total 5\n"));
	assert_non_null(strstr(text, "\noutbox_bridge_waiting 1\n"));
	text = get("GET", "/metrics");
	assert_non_null(strstr(text, "\noutbox_bridge_waiting 2\n"));
	assert_int_equal(text[strlen(text) - 1], '\n');
}

static void
test_head(void **state)
{
	static const char *const paths[] = {"/healthz", "/readyz", "/metrics"};
	char length[64];

	(void)state;
	for (int i = 0; i < 3; i++) {
		size_t len = strlen(body_of(get("GET", paths[i])));
		const char *text = get("HEAD", paths[i]);

		assert_memory_equal(text, "HTTP/1.1 200 ", 13);
		assert_string_equal(body_of(text), "");
		(void)snprintf(
		    length, sizeof(length), "\r\nContent-Length: %zu\r\n", len);
		assert_non_null(strstr(text, length));
	}
	atomic_store(&is_ready, false);
	assert_memory_equal(get("HEAD", "/readyz"), "HTTP/1.1 503 ", 13);
}

static void
test_unknown_paths(void **state)
{
	static const char *const paths[] = {"/", "/metrics/", "/Metrics",
	    "/healthz/../metrics", "//healthz", "/%00", "/favicon.ico"};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		check_answer(get("GET", paths[i]), 404, TEXT, "not found\n");
	check_answer(get("POST", "/nowhere"), 404, TEXT, "not found\n");
	assert_int_equal(atomic_load(&refreshed), 0);
}

static void
test_other_methods(void **state)
{
	static const char *const methods[] = {
	    "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "get", "BREW"};

	(void)state;
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		const char *text = get(methods[i], "/metrics");

		check_answer(text, 405, TEXT, "method not allowed\n");
		assert_non_null(strstr(text, "\r\nAllow: GET, HEAD\r\n"));
	}
	assert_int_equal(atomic_load(&refreshed), 0);
}

/* A body that nobody wants does not cost the client its answer. */
static void
test_bodies(void **state)
{
	static char body[60000];
	static const char head[] = "POST /readyz HTTP/1.1\r\nHost: a\r\n"
	                           "Connection: close\r\n"
	                           "Content-Length: 60000\r\n\r\n";
	int fd = dial();

	(void)state;
	memset(body, 'x', sizeof(body));
	send_bytes(fd, head, sizeof(head) - 1);
	send_bytes(fd, body, sizeof(body));
	check_answer(read_all(fd), 405, TEXT, "method not allowed\n");
	check_answer(ask("GET /readyz HTTP/1.1\r\nHost: a\r\n"
	                 "Connection: close\r\nTransfer-Encoding: chunked\r\n"
	                 "\r\n3\r\nabc\r\n0\r\n\r\n"),
	    200, TEXT, "ready\n");
}

/* One without an end is cut off. */
static void
test_endless_body(void **state)
{
	static char chunk[4096];
	static const char head[] = "POST /readyz HTTP/1.1\r\nHost: a\r\n"
	                           "Content-Length: 99999999999\r\n\r\n";
	ssize_t n = 0;
	int fd = dial();

	(void)state;
	send_bytes(fd, head, sizeof(head) - 1);
	for (int i = 0; i < 100000 && n >= 0; i++)
		n = send(fd, chunk, sizeof(chunk), MSG_NOSIGNAL);
	assert_true(n < 0);
	assert_true(errno == ECONNRESET || errno == EPIPE);
	(void)close(fd);
	check_answer(get("GET", "/healthz"), 200, TEXT, "ok\n");
}

/* Each is refused or, when it never gets whole, closed after a while. */
static void
test_garbage(void **state)
{
	static const char *const requests[] = {
	    "", /* says nothing at all */
	    "\r\n\r\n\r\n\r\n",
	    "nonsense\r\n\r\n",
	    "GET\r\n\r\n",
	    "GET /healthz HTTP/9.9\r\n\r\n",
	    "\x16\x03\x01\x02\x01\x01\x01\x01\xfc\x03\x03\r\n\r\n",
	    "GET /healthz HTTP/1.1\r\nHost: a\r\n",
	    "POST /readyz HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
	};
	enum { COUNT = sizeof(requests) / sizeof(requests[0]) };
	static char big[65536];
	int fds[COUNT + 1];

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		fds[i] = dial();
		send_bytes(fds[i], requests[i], strlen(requests[i]));
	}
	/* Headers that do not fit into the memory of a connection. */
	memset(big, 'a', sizeof(big));
	memcpy(big, "GET /healthz HTTP/1.1\r\nHost: ", 29);
	fds[COUNT] = dial();
	(void)send(fds[COUNT], big, sizeof(big), MSG_NOSIGNAL);

	check_answer(get("GET", "/healthz"), 200, TEXT, "ok\n");
	for (int i = 0; i <= COUNT; i++) {
		const char *text = read_all(fds[i]);

		if (text == NULL || text[0] == '\0')
			continue;
		assert_memory_equal(text, "HTTP/1.", 7);
		assert_int_equal(text[9], '4' + (text[9] == '5'));
	}
	check_answer(get("GET", "/healthz"), 200, TEXT, "ok\n");
}

static void
test_two_requests_on_one_connection(void **state)
{
	const char *text, *second;

	(void)state;
	text = ask("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
	           "GET /readyz HTTP/1.1\r\nHost: a\r\n"
	           "Connection: close\r\n\r\n");
	assert_non_null(text);
	assert_memory_equal(text, "HTTP/1.1 200 ", 13);
	second = strstr(text, "ok\nHTTP/1.1 200 ");
	assert_non_null(second);
	assert_string_equal(body_of(second), "ready\n");
}

/* One that has not finished its request holds up nobody else. */
static void
test_slow_client(void **state)
{
	static const char rest[] = "Host: a\r\nConnection: close\r\n\r\n";
	int slow = dial();

	(void)state;
	send_bytes(slow, "GET /rea", 8);
	for (int i = 0; i < 5; i++)
		check_answer(get("GET", "/healthz"), 200, TEXT, "ok\n");
	send_bytes(slow, "dyz HTTP/1.1\r\n", 14);
	check_answer(get("GET", "/healthz"), 200, TEXT, "ok\n");
	for (size_t i = 0; i < sizeof(rest) - 1; i++)
		send_bytes(slow, rest + i, 1);
	check_answer(read_all(slow), 200, TEXT, "ready\n");
}

/* Beyond the limit a client waits or is sent away; later it is served. */
static void
test_many_clients(void **state)
{
	int fds[40];

	(void)state;
	for (int i = 0; i < 40; i++) {
		fds[i] = dial();
		(void)send(fds[i], "GET ", 4, MSG_NOSIGNAL);
	}
	for (int i = 0; i < 40; i++)
		(void)close(fds[i]);
	check_answer(get("GET", "/healthz"), 200, TEXT, "ok\n");
}

/* What is open does not keep the server from stopping. */
static void
test_stop_with_open_connections(void **state)
{
	int silent = dial(), half = dial(), idle = dial();
	char byte;

	(void)state;
	send_bytes(half, "GET /metr", 9);
	send_bytes(idle, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 35);
	assert_int_equal(recv(idle, &byte, 1, MSG_PEEK), 1);
	br_admin_stop(server);
	server = NULL;
	assert_string_equal(read_all(silent), "");
	(void)read_all(half);
	assert_non_null(read_all(idle));
}

static void
test_refusals(void **state)
{
	char want[128];
	struct br_error err = {""};
	uint16_t port = br_admin_port(server);

	(void)state;
	assert_int_not_equal(port, 0);
	assert_null(br_admin_start("127.0.0.1", port, &source, &err));
	(void)snprintf(want, sizeof(want),
	    "cannot listen on 127.0.0.1:%u: Address already in use", port);
	assert_string_equal(err.text, want);
	assert_null(br_admin_start("localhost", 1, &source, &err));
	assert_string_equal(err.text,
	    "cannot listen on localhost:1: not an IPv4 or IPv6 address");
	assert_null(br_admin_start("", 1, &source, &err));
	assert_null(br_admin_start("127.0.0.1 ", 1, &source, &err));
	assert_null(br_admin_start("2001:db8::1", 9808, &source, &err));
	assert_memory_equal(
	    err.text, "cannot listen on [2001:db8::1]:9808: ", 37);
	/* The first one is not disturbed. */
	check_answer(get("GET", "/healthz"), 200, TEXT, "ok\n");
	br_admin_stop(NULL);
	assert_int_not_equal(br_admin_version()[0], '\0');
}

/* A port that was just in use can be taken again at once. */
static void
test_restart(void **state)
{
	uint16_t port = br_admin_port(server);
	struct br_error err = {""};

	(void)state;
	check_answer(get("GET", "/healthz"), 200, TEXT, "ok\n");
	br_admin_stop(server);
	server = br_admin_start("127.0.0.1", port, &source, &err);
	assert_string_equal(err.text, "");
	assert_non_null(server);
	assert_int_equal(br_admin_port(server), port);
	check_answer(get("GET", "/healthz"), 200, TEXT, "ok\n");
}

static void
test_ipv6(void **state)
{
	struct sockaddr_in6 to = {
	    .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct br_error err = {""};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	if (fd < 0 || bind(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
		if (fd >= 0)
			(void)close(fd);
		skip(); /* no IPv6 here */
	}
	(void)close(fd);
	br_admin_stop(server);
	server = br_admin_start("::1", 0, &source, &err);
	assert_non_null(server);
	fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	to.sin6_port = htons(br_admin_port(server));
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	send_bytes(fd, "GET /healthz HTTP/1.0\r\n\r\n", 25);
	assert_string_equal(body_of(read_all(fd)), "ok\n");
	/* The wildcard of IPv6 means IPv4 too. */
	br_admin_stop(server);
	server = br_admin_start("::", 0, &source, &err);
	assert_non_null(server);
	check_answer(get("GET", "/healthz"), 200, TEXT, "ok\n");
}

/* The value of a line of a thread's status file. */
static bool
read_status(const char *tid, const char *name, char value[64])
{
	char path[320], line[256];
	bool found = false;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%s/status", tid);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, name, strlen(name)) == 0)
			found =
			    sscanf(line + strlen(name), ": %63s", value) == 1;
	(void)fclose(f);
	return found;
}

/* Looks at the threads of libmicrohttpd; returns how many there are. */
static int
check_masks(void)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGUSR1,
	    SIGUSR2, SIGALRM, SIGCHLD};
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int seen = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		unsigned long long blocked;
		char value[64];

		if (!read_status(entry->d_name, "Name", value) ||
		    strncmp(value, "MHD", 3) != 0 ||
		    !read_status(entry->d_name, "SigBlk", value))
			continue;
		blocked = strtoull(value, NULL, 16);
		for (size_t i = 0; i < sizeof(signals) / sizeof(int); i++)
			assert_true(blocked >> (signals[i] - 1) & 1);
		seen++;
	}
	(void)closedir(dir);
	return seen;
}

static void
test_thread_takes_no_signal(void **state)
{
	const struct timespec ms = {0, 1000000};
	sigset_t mine;

	(void)state;
	/* Its name is the last thing that it sets before it serves. */
	for (int i = 0; check_masks() == 0; i++) {
		assert_true(i < 10000);
		(void)nanosleep(&ms, NULL);
	}
	/* Ours are as they were. */
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mine), 0);
	assert_int_equal(sigismember(&mine, SIGTERM), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    TEST(test_healthz),
	    TEST(test_readyz),
	    TEST(test_metrics),
	    TEST(test_head),
	    TEST(test_unknown_paths),
	    TEST(test_other_methods),
	    TEST(test_bodies),
	    TEST(test_endless_body),
	    TEST(test_garbage),
	    TEST(test_two_requests_on_one_connection),
	    TEST(test_slow_client),
	    TEST(test_many_clients),
	    TEST(test_stop_with_open_connections),
	    TEST(test_refusals),
	    TEST(test_restart),
	    TEST(test_ipv6),
	    TEST(test_thread_takes_no_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
