/* The one live socket: what gives way, and what is refused. */
#include "attempt.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "bridge/base/metrics.h"
#include "bridge/http/socket.h"
#include "silent.h"

#define USER_TIMEOUT_MS 6000

static struct sockaddr_in
at_port(uint16_t port)
{
	struct sockaddr_in address = {
	    .sin_family = AF_INET, .sin_port = htons(port)};

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

/* A socket of `s` that has connected, or begun to. */
static int
open_to(struct br_socket *s, uint16_t port, bool wait)
{
	struct sockaddr_in address = at_port(port);
	const struct sockaddr *to = (const struct sockaddr *)&address;
	int fd = br_socket_open(s, to, SOCK_STREAM, 0);

	if (fd < 0)
		return fd;
	if (!wait)
		assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	if (connect(fd, to, sizeof(address)) != 0)
		assert_int_equal(errno, EINPROGRESS);
	return fd;
}

static int
option(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
	return value;
}

static int64_t
open_sockets(void)
{
	return br_metric_get(BR_M_CONNECTIONS_OPEN);
}

static void
test_options(void **state)
{
	struct receiver *r = receiver_with(NULL, NULL);
	struct br_socket s;
	int fd;

	(void)state;
	br_socket_init(&s, USER_TIMEOUT_MS);
	fd = open_to(&s, receiver_port(r), true);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(option(fd, IPPROTO_TCP, TCP_NODELAY), 1);
	assert_int_equal(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
	assert_int_equal(
	    option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), USER_TIMEOUT_MS);
	assert_int_equal(open_sockets(), 1);
	assert_int_equal(br_socket_close(&s, fd), 0);
	assert_int_equal(open_sockets(), 0);
	assert_int_equal(s.fd, -1);
	/* the receiver saw the end before close returned */
	assert_int_equal(receiver_open(r), 0);
	receiver_free(r);
}

static void
test_second_refused(void **state)
{
	struct receiver *r = receiver_with(NULL, NULL);
	struct br_socket s;
	int fd;

	(void)state;
	br_socket_init(&s, USER_TIMEOUT_MS);
	fd = open_to(&s, receiver_port(r), true);
	assert_true(fd >= 0);
	assert_int_equal(open_to(&s, receiver_port(r), true), -1);
	assert_int_equal(s.blocked, 1);
	assert_int_equal(s.opened, 1);
	assert_int_equal(open_sockets(), 1);
	br_socket_begin(&s);
	assert_int_equal(s.blocked + s.opened, 0);
	(void)br_socket_close(&s, fd);
	fd = open_to(&s, receiver_port(r), true);
	assert_true(fd >= 0);
	(void)br_socket_close(&s, fd);
	assert_int_equal(receiver_open_max(r), 1);
	receiver_free(r);
}

static void
test_connecting_gives_way(void **state)
{
	struct receiver *r = receiver_with(NULL, NULL);
	struct silent *silent = silent_new(false, 0);
	struct br_socket s;
	int first, second;

	(void)state;
	assert_non_null(silent);
	br_socket_init(&s, USER_TIMEOUT_MS);
	first = open_to(&s, silent_port(silent), false);
	assert_true(first >= 0);
	assert_int_equal(open_sockets(), 1);
	second = open_to(&s, receiver_port(r), true);
	assert_true(second >= 0);
	assert_int_equal(s.fd, second);
	assert_int_equal(s.opened, 2);
	assert_int_equal(open_sockets(), 1);
	/* closing the one that gave way changes nothing */
	(void)br_socket_close(&s, first);
	assert_int_equal(s.fd, second);
	assert_int_equal(open_sockets(), 1);
	(void)br_socket_close(&s, second);
	assert_int_equal(open_sockets(), 0);
	silent_free(silent);
	receiver_free(r);
}

/* Its number belongs to somebody else by now, who keeps his socket. */
static void
test_closed_behind_our_back(void **state)
{
	struct receiver *r = receiver_with(NULL, NULL);
	struct br_socket s;
	int fd, other;

	(void)state;
	br_socket_init(&s, USER_TIMEOUT_MS);
	fd = open_to(&s, receiver_port(r), true);
	assert_int_equal(close(fd), 0);
	other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(other, fd);
	br_socket_reconcile(&s);
	assert_int_equal(s.fd, -1);
	assert_int_equal(open_sockets(), 0);
	assert_int_equal(close(other), 0);
	/* found out at the next one, too */
	fd = open_to(&s, receiver_port(r), true);
	assert_int_equal(close(fd), 0);
	fd = open_to(&s, receiver_port(r), true);
	assert_true(fd >= 0);
	assert_int_equal(open_sockets(), 1);
	(void)br_socket_close(&s, fd);
	assert_int_equal(open_sockets(), 0);
	receiver_free(r);
}

static void
test_guard(void **state)
{
	struct receiver *r = receiver_with(NULL, NULL);
	struct br_socket s;

	(void)state;
	br_socket_init(&s, USER_TIMEOUT_MS);
	s.guard = true;
	assert_int_equal(open_to(&s, receiver_port(r), true), -1);
	assert_int_equal(s.forbidden, 1);
	assert_int_equal(s.opened, 0);
	assert_int_equal(open_sockets(), 0);
	receiver_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_second_refused),
	    cmocka_unit_test(test_connecting_gives_way),
	    cmocka_unit_test(test_closed_behind_our_back),
	    cmocka_unit_test(test_guard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
