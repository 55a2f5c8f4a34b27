/* silent: see the header. */
#include "silent.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* The queue of a backlog of 0 holds one; the others wait for ever. */
#define FILLERS 4

struct silent {
	int listener;
	int filler[FILLERS];
	uint16_t port;
};

static socklen_t
loopback(bool ipv6, uint16_t port, struct sockaddr_storage *out)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
	struct sockaddr_in *in4 = (struct sockaddr_in *)out;

	*out = (struct sockaddr_storage){0};
	if (ipv6) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		in6->sin6_addr = in6addr_loopback;
		return sizeof(*in6);
	}
	in4->sin_family = AF_INET;
	in4->sin_port = htons(port);
	in4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sizeof(*in4);
}

static bool
listen_at(struct silent *s, bool ipv6, uint16_t port)
{
	struct sockaddr_storage address;
	socklen_t len = loopback(ipv6, port, &address);
	int on = 1;

	s->listener =
	    socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s->listener < 0)
		return false;
	if (ipv6)
		(void)setsockopt(
		    s->listener, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(s->listener, (struct sockaddr *)&address, len) != 0 ||
	    listen(s->listener, 0) != 0)
		return false;
	len = sizeof(address);
	if (getsockname(s->listener, (struct sockaddr *)&address, &len) != 0)
		return false;
	/* the port stands at the same place in both */
	s->port = ntohs(((struct sockaddr_in *)&address)->sin_port);
	return true;
}

static bool
fill(struct silent *s, bool ipv6)
{
	struct sockaddr_storage address;
	socklen_t len = loopback(ipv6, s->port, &address);

	for (int i = 0; i < FILLERS; i++) {
		/* The first waits until it is in the queue, which fills it. */
		s->filler[i] = socket(ipv6 ? AF_INET6 : AF_INET,
		    SOCK_STREAM | SOCK_CLOEXEC | (i > 0 ? SOCK_NONBLOCK : 0),
		    0);
		if (s->filler[i] < 0)
			return false;
		if (connect(s->filler[i], (struct sockaddr *)&address, len) !=
		        0 &&
		    i == 0)
			return false;
	}
	return true;
}

struct silent *
silent_new(bool ipv6, uint16_t port)
{
	struct silent *s = calloc(1, sizeof(*s));

	if (s == NULL)
		abort();
	s->listener = -1;
	for (int i = 0; i < FILLERS; i++)
		s->filler[i] = -1;
	if (listen_at(s, ipv6, port) && fill(s, ipv6))
		return s;
	silent_free(s);
	return NULL;
}

void
silent_free(struct silent *s)
{
	if (s == NULL)
		return;
	for (int i = 0; i < FILLERS; i++) {
		if (s->filler[i] >= 0)
			(void)close(s->filler[i]);
	}
	if (s->listener >= 0)
		(void)close(s->listener);
	free(s);
}

uint16_t
silent_port(const struct silent *s)
{
	return s->port;
}
