/* receiver: see the header. */
#include "receiver.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "receiver_private.h"

/* Tallies are shared by receivers, so they have a lock of their own; it is
 * taken inside a receiver's. */
static pthread_mutex_t tally_lock = PTHREAD_MUTEX_INITIALIZER;

void *
receiver_grow(void *old, size_t bytes)
{
	void *p = realloc(old, bytes);

	if (p == NULL)
		abort();
	return p;
}

static void
count_open(struct receiver *r, int change)
{
	struct receiver_tally *tally = r->options.tally;

	r->open += change;
	if (r->open > r->open_max)
		r->open_max = r->open;
	if (tally != NULL) {
		pthread_mutex_lock(&tally_lock);
		tally->open += change;
		if (tally->open > tally->open_max)
			tally->open_max = tally->open;
		pthread_mutex_unlock(&tally_lock);
	}
	pthread_cond_broadcast(&r->changed);
}

/* Counts the request, and keeps it, before anybody answers it. */
void
receiver_keep(struct exchange *x)
{
	struct receiver *r = x->receiver;

	pthread_mutex_lock(&r->lock);
	if (!r->options.discard) {
		if (r->requests == r->kept_size) {
			r->kept_size = r->kept_size * 2 + 64;
			r->kept = receiver_grow(
			    r->kept, r->kept_size * sizeof(*r->kept));
		}
		r->kept[r->requests] = x->request;
	}
	r->requests++;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

static void
end_connection(struct exchange *x)
{
	struct receiver *r = x->receiver;
	struct linger now = {.l_onoff = 1, .l_linger = 0};

	if (x->fate == FATE_RESET)
		(void)setsockopt(
		    x->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	else if (x->ssl != NULL && SSL_is_init_finished(x->ssl))
		(void)SSL_shutdown(x->ssl);
	SSL_free(x->ssl);
	free(x->input);
	/* Counted as closed before the client can see the end. */
	pthread_mutex_lock(&r->lock);
	count_open(r, -1);
	(void)close(x->fd);
	x->fd = -1;
	x->done = true;
	pthread_mutex_unlock(&r->lock);
}

static void *
serve(void *context)
{
	struct exchange *x = context;
	const struct receiver_options *o = &x->receiver->options;

	if (o->on_accept != NULL)
		o->on_accept(x, o->context);
	if (x->fate == FATE_KEEP)
		exchange_serve(x);
	end_connection(x);
	return NULL;
}

/* Joins threads that ended; all of them when `wait`. Returns the rest. */
static struct exchange *
reap(struct receiver *r, struct exchange *list, bool wait)
{
	struct exchange *rest = NULL, *next;

	for (; list != NULL; list = next) {
		bool done;

		next = list->next;
		pthread_mutex_lock(&r->lock);
		done = list->done;
		pthread_mutex_unlock(&r->lock);
		if (!done && !wait) {
			list->next = rest;
			rest = list;
			continue;
		}
		(void)pthread_join(list->thread, NULL);
		free(list);
	}
	return rest;
}

static void
start_connection(struct receiver *r, int fd)
{
	struct exchange *x = calloc(1, sizeof(*x));
	struct exchange *list;
	int on = 1;

	if (x == NULL)
		abort();
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	x->receiver = r;
	x->fd = fd;
	pthread_mutex_lock(&r->lock);
	list = r->connections;
	r->connections = NULL;
	x->number = ++r->accepted;
	count_open(r, 1);
	pthread_mutex_unlock(&r->lock);
	list = reap(r, list, false);
	/* Only this thread adds; receiver_free looks after it has ended. */
	if (pthread_create(&x->thread, NULL, serve, x) != 0)
		abort();
	x->next = list;
	pthread_mutex_lock(&r->lock);
	r->connections = x;
	pthread_mutex_unlock(&r->lock);
}

static void *
accept_all(void *context)
{
	struct receiver *r = context;
	struct pollfd wait[2] = {{.fd = r->listener, .events = POLLIN},
	    {.fd = r->stop_fd, .events = POLLIN}};

	for (;;) {
		int fd;

		if (poll(wait, 2, -1) < 0 && errno != EINTR)
			abort();
		if (wait[1].revents != 0)
			return NULL;
		fd = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			start_connection(r, fd);
	}
}

static bool
listen_at_loopback(struct receiver *r)
{
	struct sockaddr_storage address = {0};
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address;
	struct sockaddr_in *in4 = (struct sockaddr_in *)&address;
	socklen_t len = r->options.ipv6 ? sizeof(*in6) : sizeof(*in4);
	int on = 1;

	if (r->options.ipv6) {
		in6->sin6_family = AF_INET6;
		in6->sin6_addr = in6addr_loopback;
	} else {
		in4->sin_family = AF_INET;
		in4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
	in4->sin_port = htons(r->options.port); /* the same place in both */
	r->listener = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (r->listener < 0)
		return false;
	(void)setsockopt(
	    r->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (r->options.ipv6)
		(void)setsockopt(
		    r->listener, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(r->listener, (struct sockaddr *)&address, len) != 0 ||
	    listen(r->listener, 128) != 0 ||
	    getsockname(r->listener, (struct sockaddr *)&address, &len) != 0)
		return false;
	r->port = ntohs(in4->sin_port);
	return true;
}

static void
write_url(struct receiver *r)
{
	const char *host = "127.0.0.1";

	if (r->options.ipv6)
		host = "[::1]";
	else if (r->options.authority != NULL)
		host = "localhost";
	(void)snprintf(r->url, sizeof(r->url), "%s://%s:%u",
	    r->options.authority != NULL ? "https" : "http", host, r->port);
}

/* Threads block all signals: they are the tested program's business, and a
 * SIGPIPE of a receiver must not hide one of the client. */
static void
start_acceptor(struct receiver *r)
{
	sigset_t all, old;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&r->acceptor, NULL, accept_all, r) != 0)
		abort();
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
}

struct receiver *
receiver_new(const struct receiver_options *options)
{
	struct receiver *r = calloc(1, sizeof(*r));
	pthread_condattr_t attributes;

	if (r == NULL)
		abort();
	r->options = *options;
	if (!listen_at_loopback(r)) {
		if (r->listener >= 0)
			(void)close(r->listener);
		free(r);
		return NULL;
	}
	write_url(r);
	r->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (r->stop_fd < 0)
		abort();
	if (options->authority != NULL)
		r->tls =
		    authority_context(options->authority, options->certificate);
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&r->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	start_acceptor(r);
	return r;
}

static void
stop_all(struct receiver *r)
{
	uint64_t one = 1;

	if (write(r->stop_fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
		abort();
	(void)pthread_join(r->acceptor, NULL);
	pthread_mutex_lock(&r->lock);
	for (struct exchange *x = r->connections; x != NULL; x = x->next) {
		if (x->fd >= 0)
			(void)shutdown(x->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&r->lock);
	(void)reap(r, r->connections, true);
}

void
receiver_free(struct receiver *r)
{
	if (r == NULL)
		return;
	stop_all(r);
	(void)close(r->listener);
	(void)close(r->stop_fd);
	if (!r->options.discard) {
		for (size_t i = 0; i < r->requests; i++)
			receiver_request_free(r->kept[i]);
	}
	free(r->kept);
	SSL_CTX_free(r->tls);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

uint16_t
receiver_port(const struct receiver *r)
{
	return r->port;
}

const char *
receiver_url(const struct receiver *r)
{
	return r->url;
}

size_t
receiver_requests(struct receiver *r)
{
	size_t n;

	pthread_mutex_lock(&r->lock);
	n = r->requests;
	pthread_mutex_unlock(&r->lock);
	return n;
}

static int
read_number(struct receiver *r, const int *number)
{
	int n;

	pthread_mutex_lock(&r->lock);
	n = *number;
	pthread_mutex_unlock(&r->lock);
	return n;
}

int
receiver_accepted(struct receiver *r)
{
	return read_number(r, &r->accepted);
}

int
receiver_open(struct receiver *r)
{
	return read_number(r, &r->open);
}

int
receiver_open_max(struct receiver *r)
{
	return read_number(r, &r->open_max);
}

static struct timespec
deadline(int limit_ms)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += limit_ms / 1000;
	t.tv_nsec += limit_ms % 1000 * 1000000L;
	if (t.tv_nsec >= 1000000000L) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000L;
	}
	return t;
}

bool
receiver_wait_requests(struct receiver *r, size_t count, int limit_ms)
{
	struct timespec until = deadline(limit_ms);
	bool met;

	pthread_mutex_lock(&r->lock);
	while (r->requests < count &&
	       pthread_cond_timedwait(&r->changed, &r->lock, &until) == 0)
		;
	met = r->requests >= count;
	pthread_mutex_unlock(&r->lock);
	return met;
}

bool
receiver_wait_open(struct receiver *r, int count, int limit_ms)
{
	struct timespec until = deadline(limit_ms);
	bool met;

	pthread_mutex_lock(&r->lock);
	while (r->open != count &&
	       pthread_cond_timedwait(&r->changed, &r->lock, &until) == 0)
		;
	met = r->open == count;
	pthread_mutex_unlock(&r->lock);
	return met;
}

const struct receiver_request *
receiver_request(struct receiver *r, size_t i)
{
	const struct receiver_request *request;

	pthread_mutex_lock(&r->lock);
	request = i < r->requests && !r->options.discard ? r->kept[i] : NULL;
	pthread_mutex_unlock(&r->lock);
	return request;
}

size_t
receiver_attempts(struct receiver *r, const char *key)
{
	size_t n = 0;
	char value[1200];

	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; !r->options.discard && i < r->requests; i++)
		n += receiver_header(
		         r->kept[i], "Idempotency-Key", value, sizeof(value)) &&
		     strcmp(value, key) == 0;
	pthread_mutex_unlock(&r->lock);
	return n;
}
