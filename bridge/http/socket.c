/* socket: see the header. */
#include "bridge/http/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

#include "bridge/base/clock.h"
#include "bridge/base/log.h"
#include "bridge/base/metrics.h"
#include "bridge/http/guard.h"

#define FIN_WAIT_MS 250
#define FIN_WAIT_BYTES ((size_t)1 << 20)

#define KEEPALIVE_IDLE_S 15
#define KEEPALIVE_EVERY_S 5

/* Of the whole process: the gauge's value at the moment of its maximum. */
static atomic_int open_sockets;

static void
count_open(void)
{
	int now_open = atomic_fetch_add(&open_sockets, 1) + 1;

	br_metric_add(BR_M_CONNECTIONS_OPEN, 1);
	br_metric_max(BR_M_CONNECTIONS_OPEN_MAX, now_open);
}

/* The live socket is gone. */
static void
forget(struct br_socket *s)
{
	s->fd = -1;
	s->cookie = 0;
	atomic_fetch_sub(&open_sockets, 1);
	br_metric_add(BR_M_CONNECTIONS_OPEN, -1);
}

/* Identity of a socket, 0 when `fd` is none. */
static uint64_t
cookie_of(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len) != 0)
		return 0;
	return cookie;
}

/* TCP_ESTABLISHED and so on; TCP_CLOSE when it cannot be asked. */
static int
tcp_state(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
		return TCP_CLOSE;
	return info.tcpi_state;
}

/* Waits for the peer's end, so that it counts this connection as closed
 * before it sees the next one. */
static void
drain(int fd)
{
	int64_t end_ms = br_clock_mono_ms() + FIN_WAIT_MS;
	size_t dropped = 0;
	char bytes[16384];

	/* A peer that goes on sending learns it sooner from the reset. */
	while (dropped < FIN_WAIT_BYTES) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		int64_t left_ms = end_ms - br_clock_mono_ms();
		ssize_t n;

		if (left_ms <= 0)
			return;
		n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (n > 0) {
			dropped += (size_t)n;
			continue;
		}
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			return;
		if (poll(&ready, 1, (int)left_ms) < 0 && errno != EINTR)
			return;
	}
}

/* True when no socket of ours is live any more. */
static bool
make_room(struct br_socket *s)
{
	br_socket_reconcile(s);
	if (s->fd < 0)
		return true;
	if (tcp_state(s->fd) == TCP_SYN_SENT) {
		/* Should it have connected in between, it ends like any other. */
		if (shutdown(s->fd, SHUT_RDWR) == 0 &&
		    tcp_state(s->fd) != TCP_CLOSE)
			drain(s->fd);
		forget(s);
		return true;
	}
	if (tcp_state(s->fd) == TCP_CLOSE) {
		forget(s);
		return true;
	}
	return false;
}

static void
set_option(int fd, int level, int option, int value)
{
	/* These only tune; a system without one of them still works. */
	(void)setsockopt(fd, level, option, &value, sizeof(value));
}

static void
tune(const struct br_socket *s, int fd)
{
	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
	set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_EVERY_S);
	set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)s->user_timeout_ms);
}

void
br_socket_init(struct br_socket *s, int64_t user_timeout_ms)
{
	*s = (struct br_socket){.fd = -1, .user_timeout_ms = user_timeout_ms};
}

void
br_socket_begin(struct br_socket *s)
{
	s->opened = 0;
	s->forbidden = 0;
	s->blocked = 0;
}

int
br_socket_open(
    struct br_socket *s, const struct sockaddr *address, int type, int protocol)
{
	int fd;

	if (s->guard && !br_guard_allows(address)) {
		s->forbidden++;
		return -1;
	}
	if (!make_room(s)) {
		s->blocked++;
		BR_LOG_LIMITED(BR_ERROR, "second socket",
		    "refused a second connection of one worker",
		    br_kv_int("open", atomic_load(&open_sockets)));
		return -1;
	}
	fd = socket(address->sa_family, type | SOCK_CLOEXEC, protocol);
	if (fd < 0)
		return -1;
	tune(s, fd);
	s->fd = fd;
	s->cookie = cookie_of(fd);
	s->born_ms = br_clock_mono_ms();
	s->opened++;
	count_open();
	return fd;
}

int
br_socket_close(struct br_socket *s, int fd)
{
	bool ours = fd == s->fd && cookie_of(fd) == s->cookie;
	int result;

	if (shutdown(fd, SHUT_WR) == 0)
		drain(fd);
	result = close(fd);
	if (ours)
		forget(s);
	return result;
}

size_t
br_socket_unread(int fd, char *out, size_t size)
{
	ssize_t n = recv(fd, out, size, MSG_DONTWAIT);

	return n > 0 ? (size_t)n : 0;
}

void
br_socket_reconcile(struct br_socket *s)
{
	if (s->fd >= 0 && cookie_of(s->fd) != s->cookie)
		forget(s);
}

bool
br_socket_has_stray_bytes(const struct br_socket *s)
{
	char byte;

	return s->fd >= 0 && recv(s->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}
