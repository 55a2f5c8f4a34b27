/*
 * socket: the one live socket of a client (P2). Owned by the client's thread.
 *
 * libcurl opens and closes sockets through these functions only. A socket is
 * known by its cookie, not by counting: libcurl 7.88 closes one whose connect
 * timed out without saying so, and its number may be somebody else's by then.
 */
#ifndef BRIDGE_HTTP_SOCKET_H
#define BRIDGE_HTTP_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct br_socket {
	int fd; /* -1: none is live */
	uint64_t cookie;
	int64_t born_ms;         /* monotonic */
	int64_t user_timeout_ms; /* unacknowledged data ends it after this */
	bool guard;              /* ask br_guard_allows first */
	/* since br_socket_begin: */
	unsigned opened;
	unsigned forbidden; /* refused by the guard */
	unsigned blocked;   /* refused because another one was live */
};

void br_socket_init(struct br_socket *s, int64_t user_timeout_ms);

/* Sets the counters to 0. */
void br_socket_begin(struct br_socket *s);

/*
 * A new socket for `address`, or -1: the guard refuses the address, another
 * socket of this client is connected, or the system has none. One that is
 * still connecting gives way (happy eyeballs): it is shut down first.
 */
int br_socket_open(struct br_socket *s, const struct sockaddr *address,
    int type, int protocol);

/*
 * Closes `fd` (of this client): end of stream, at most 250 ms for the
 * peer's, then close; one that never connected is closed at once. Returns
 * close's result.
 */
int br_socket_close(struct br_socket *s, int fd);

/* Bytes that have arrived on `fd` and were not read; 0: none. Never waits. */
size_t br_socket_unread(int fd, char *out, size_t size);

/* Forgets a socket that was closed behind our back. After each failure. */
void br_socket_reconcile(struct br_socket *s);

/*
 * True when bytes wait on the idle socket. What a receiver sends unasked
 * must never be taken for the answer to the next request.
 */
bool br_socket_has_stray_bytes(const struct br_socket *s);

#endif
