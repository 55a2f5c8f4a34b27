/* demo_receiver: see the header. A thread for each connection. */
#include "demo_receiver.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST_MAX 8192
#define CONNECTIONS_MAX 64
#define ORDINARY_MS 8
#define SLOW_MS 350

struct demo_receiver {
	struct demo_events *events;
	demo_seen_fn *seen;
	void *opaque;
	int listener;
	int quit[2]; /* a pipe: closing its end wakes everybody */
	char url[64];
	pthread_t acceptor;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t gone;
	unsigned open, most;
};

struct connection {
	struct demo_receiver *receiver;
	int fd;
};

/* Waits until `fd` is readable or the end has come; false: end. */
static bool
readable(const struct demo_receiver *r, int fd, int timeout_ms)
{
	struct pollfd fds[2] = {
	    {.fd = fd, .events = POLLIN}, {.fd = r->quit[0], .events = POLLIN}};

	(void)poll(fds, 2, timeout_ms);
	return fds[1].revents == 0;
}

static bool
send_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

/* Value of a header in a head of whole lines, without its line end. */
static const char *
field(const char *head, const char *name, size_t *len)
{
	size_t name_len = strlen(name);

	for (const char *line = strstr(head, "\r\n"); line != NULL;
	     line = strstr(line, "\r\n")) {
		line += 2;
		if (strncasecmp(line, name, name_len) == 0 &&
		    line[name_len] == ':') {
			line += name_len + 1;
			line += strspn(line, " ");
			*len = strcspn(line, "\r");
			return line;
		}
	}
	return NULL;
}

/* Notes the request and chooses the answer. */
static int
answer_for(struct demo_receiver *r, long n, const char *body, size_t body_len,
    unsigned *attempt, enum demo_kind *kind)
{
	struct demo_events *es = r->events;
	struct demo_event *ev;
	char expected[200];
	int status = 200;

	if (n < 0 || (unsigned long)n >= es->count)
		return 404;
	(void)pthread_mutex_lock(&es->lock);
	ev = &es->event[n];
	*kind = ev->kind;
	*attempt = ++ev->requests;
	es->requests++;
	ev->state = DEMO_PROCESSING;
	if (demo_body((unsigned)n, expected, sizeof(expected)) != body_len ||
	    memcmp(expected, body, body_len) != 0)
		es->wrong_bodies++;
	if (ev->kind == DEMO_BAD)
		status = 500;
	else if (ev->kind == DEMO_FLAKY && *attempt <= 2)
		status = 503;
	(void)pthread_mutex_unlock(&es->lock);
	return status;
}

static void
note_answer(struct demo_receiver *r, long n, unsigned attempt, int status)
{
	struct demo_event *ev;

	if (n < 0 || (unsigned long)n >= r->events->count)
		return;
	(void)pthread_mutex_lock(&r->events->lock);
	ev = &r->events->event[n];
	if (status < 300)
		ev->state = DEMO_SUCCESS;
	else
		ev->state = attempt >= DEMO_ATTEMPTS ? DEMO_DEAD : DEMO_FAILED;
	(void)pthread_mutex_unlock(&r->events->lock);
}

/* One request that is whole in `text`; false: close. */
static bool
serve(struct connection *c, const char *head, const char *body, size_t body_len)
{
	struct demo_receiver *r = c->receiver;
	size_t len = 0;
	const char *id = field(head, "Idempotency-Key", &len);
	long n = id != NULL ? demo_number(id, len) : -1;
	enum demo_kind kind = DEMO_ORDINARY;
	unsigned attempt = 0;
	int status = answer_for(r, n, body, body_len, &attempt, &kind);
	char reply[128];

	/* The work that a receiver would do. */
	if (!readable(r, -1, kind == DEMO_SLOW ? SLOW_MS : ORDINARY_MS))
		return false;
	note_answer(r, n, attempt, status);
	if (kind != DEMO_ORDINARY)
		r->seen(r->opaque, (unsigned)n, attempt, status);
	(void)snprintf(reply, sizeof(reply),
	    "HTTP/1.1 %d %s\r\nContent-Length: 0\r\n\r\n", status,
	    status == 200 ? "OK" : "Not today");
	return send_all(c->fd, reply, strlen(reply));
}

/* Reads and answers until the peer, or the demo, ends it. */
static void
converse(struct connection *c)
{
	char text[REQUEST_MAX + 1];
	size_t have = 0;

	for (;;) {
		char *end;
		const char *size;
		size_t head_len, body_len = 0, len;
		ssize_t n;

		text[have] = '\0';
		end = strstr(text, "\r\n\r\n");
		if (end != NULL) {
			end[2] = '\0';
			head_len = (size_t)(end - text) + 4;
			size = field(text, "Content-Length", &len);
			if (size != NULL)
				body_len = strtoul(size, NULL, 10);
			end[2] = '\r';
			if (head_len + body_len > REQUEST_MAX)
				return;
			if (have >= head_len + body_len) {
				if (!serve(c, text, text + head_len, body_len))
					return;
				have -= head_len + body_len;
				memmove(text, text + head_len + body_len, have);
				continue;
			}
		} else if (have == REQUEST_MAX)
			return;
		if (!readable(c->receiver, c->fd, -1))
			return;
		n = recv(c->fd, text + have, REQUEST_MAX - have, 0);
		if (n <= 0)
			return;
		have += (size_t)n;
	}
}

static void *
connection_thread(void *opaque)
{
	struct connection *c = opaque;
	struct demo_receiver *r = c->receiver;

	converse(c);
	(void)close(c->fd);
	free(c);
	(void)pthread_mutex_lock(&r->lock);
	r->open--;
	(void)pthread_cond_signal(&r->gone);
	(void)pthread_mutex_unlock(&r->lock);
	return NULL;
}

static void
accepted(struct demo_receiver *r, int fd)
{
	struct connection *c = malloc(sizeof(*c));
	pthread_t thread;
	bool refused;

	if (c == NULL)
		abort();
	*c = (struct connection){r, fd};
	(void)pthread_mutex_lock(&r->lock);
	refused = r->open >= CONNECTIONS_MAX;
	if (!refused && ++r->open > r->most)
		r->most = r->open;
	(void)pthread_mutex_unlock(&r->lock);
	if (!refused &&
	    pthread_create(&thread, NULL, connection_thread, c) == 0) {
		(void)pthread_detach(thread);
		return;
	}
	(void)close(fd);
	free(c);
	if (refused)
		return;
	(void)pthread_mutex_lock(&r->lock);
	r->open--;
	(void)pthread_mutex_unlock(&r->lock);
}

static void *
accept_thread(void *opaque)
{
	struct demo_receiver *r = opaque;

	while (readable(r, r->listener, -1)) {
		int fd = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd >= 0)
			accepted(r, fd);
	}
	return NULL;
}

static bool
listen_on_loopback(struct demo_receiver *r, struct br_error *err)
{
	struct sockaddr_in at = {
	    .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(at);

	r->listener =
	    socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (r->listener < 0 ||
	    bind(r->listener, (struct sockaddr *)&at, sizeof(at)) != 0 ||
	    listen(r->listener, 16) != 0 ||
	    getsockname(r->listener, (struct sockaddr *)&at, &len) != 0)
		return br_fail(err, "the demo's receiver cannot listen: %s",
		    strerror(errno));
	(void)snprintf(r->url, sizeof(r->url), "http://127.0.0.1:%u/orders",
	    (unsigned)ntohs(at.sin_port));
	return true;
}

struct demo_receiver *
demo_receiver_start(struct demo_events *es, demo_seen_fn *seen, void *opaque,
    struct br_error *err)
{
	struct demo_receiver *r = calloc(1, sizeof(*r));

	if (r == NULL || pipe(r->quit) != 0)
		abort();
	r->events = es;
	r->seen = seen;
	r->opaque = opaque;
	(void)pthread_mutex_init(&r->lock, NULL);
	(void)pthread_cond_init(&r->gone, NULL);
	if (listen_on_loopback(r, err) &&
	    pthread_create(&r->acceptor, NULL, accept_thread, r) == 0)
		return r;
	if (r->listener >= 0)
		(void)close(r->listener);
	(void)close(r->quit[0]);
	(void)close(r->quit[1]);
	free(r);
	return NULL;
}

void
demo_receiver_stop(struct demo_receiver *r)
{
	(void)close(r->quit[1]);
	(void)pthread_join(r->acceptor, NULL);
	(void)pthread_mutex_lock(&r->lock);
	while (r->open > 0)
		(void)pthread_cond_wait(&r->gone, &r->lock);
	(void)pthread_mutex_unlock(&r->lock);
	(void)close(r->listener);
	(void)close(r->quit[0]);
	(void)pthread_cond_destroy(&r->gone);
	(void)pthread_mutex_destroy(&r->lock);
	free(r);
}

const char *
demo_receiver_url(const struct demo_receiver *r)
{
	return r->url;
}

void
demo_receiver_connections(
    struct demo_receiver *r, unsigned *open, unsigned *most)
{
	(void)pthread_mutex_lock(&r->lock);
	*open = r->open;
	*most = r->most;
	(void)pthread_mutex_unlock(&r->lock);
}
