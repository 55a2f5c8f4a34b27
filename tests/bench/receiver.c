/*
 * receiver: an HTTP/1.1 server that answers after a chosen time and judges
 * its senders (judge.h). One thread around epoll; faster than any sender.
 *
 * Listens on two free ports of 127.0.0.1 and prints them as one line: data,
 * admin. Ends when its standard input ends. On the admin port, all GET:
 *   /stats     counts as JSON
 *   /events    one line an event
 *   /reset     forgets events and counts; most open connections: those now
 *   /set?delay_us=N&fail_key=N&fail_status=N
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "judge.h"

#define DUE_MAX 65536 /* requests under way, a power of two */
#define ROUND 64
#define HEAD_MAX 65536

struct conn {
	int fd;
	bool admin;
	bool busy;     /* its request waits for the answer */
	bool closed;   /* by the peer; freed when not busy any more */
	bool deferred; /* closed within this round of epoll */
	char *data;
	size_t len, capacity;
	struct conn *next_dead;
};

struct due {
	int64_t at_us;
	struct conn *conn;
	struct judge_case judged;
};

static struct due due[DUE_MAX]; /* a ring: all delays are equal */
static unsigned due_first, due_end;
static int64_t delay_us;
static unsigned open_now, open_max, accepted;
static struct conn *dead; /* freed after the round that may name them */

static int64_t
now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- connections */

static void
bury(struct conn *c)
{
	if (c->deferred)
		return;
	c->deferred = true;
	c->next_dead = dead;
	dead = c;
}

static void
close_conn(struct conn *c)
{
	if (c->closed)
		return;
	c->closed = true;
	(void)close(c->fd);
	if (!c->admin)
		open_now--;
	if (!c->busy)
		bury(c);
}

static void
free_dead(void)
{
	while (dead != NULL) {
		struct conn *c = dead;

		dead = c->next_dead;
		free(c->data);
		free(c);
	}
}

/* Answers are small, or for the patient admin. */
static void
send_all(struct conn *c, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = send(c->fd, data, len, MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
}

static void
answer(struct conn *c, int status, const char *body, size_t len)
{
	char head[128];
	int n = snprintf(head, sizeof(head),
	    "HTTP/1.1 %d %s\r\nContent-Length: %zu\r\n\r\n", status,
	    status == 200 ? "OK" : "Refused", len);

	if (len + (size_t)n < sizeof(head)) {
		memcpy(head + n, body, len);
		send_all(c, head, (size_t)n + len);
		return;
	}
	send_all(c, head, (size_t)n);
	send_all(c, body, len);
}

/* ---- admin */

static double
cpu_s(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void
set_rule(const char *name, long value)
{
	if (strcmp(name, "delay_us") == 0)
		delay_us = value;
	else if (strcmp(name, "fail_key") == 0)
		judge_rules()->fail_key = value;
	else if (strcmp(name, "fail_status") == 0)
		judge_rules()->fail_status = (int)value;
}

static void
set_rules(char *query)
{
	char *rest = NULL;
	char *pair = strtok_r(query, "&", &rest);

	for (; pair != NULL; pair = strtok_r(NULL, "&", &rest)) {
		char *value = strchr(pair, '=');

		if (value == NULL)
			continue;
		*value++ = '\0';
		set_rule(pair, strtol(value, NULL, 10));
	}
}

static void
print_stats(FILE *out)
{
	(void)fputc('{', out);
	judge_print(out);
	(void)fprintf(out,
	    "\"open\": %u, \"open_max\": %u, \"accepted\": %u, "
	    "\"now_us\": %lld, \"cpu_s\": %.3f}\n",
	    open_now, open_max, accepted, (long long)now_us(), cpu_s());
}

/* What is under way belongs to a sender of before, perhaps a killed one. */
static void
reset(void)
{
	judge_reset();
	for (unsigned i = due_first; i != due_end; i++)
		due[i % DUE_MAX].judged.event = false;
	open_max = accepted = open_now;
}

static void
serve_admin(struct conn *c, const char *head)
{
	char path[256] = "", *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (out == NULL)
		abort();
	(void)sscanf(head, "GET %255s", path);
	if (strncmp(path, "/set?", 5) == 0)
		set_rules(path + 5);
	else if (strcmp(path, "/reset") == 0)
		reset();
	else if (strcmp(path, "/stats") == 0)
		print_stats(out);
	else if (strcmp(path, "/events") == 0)
		judge_print_events(out);
	(void)fclose(out);
	answer(c, 200, text, len);
	free(text);
}

/* ---- requests */

static void
serve(struct conn *c, const char *body, size_t len)
{
	struct due *d = &due[due_end % DUE_MAX];
	int64_t at_us = now_us();

	if (due_end - due_first == DUE_MAX)
		abort();
	due_end++;
	d->at_us = at_us + delay_us;
	d->conn = c;
	c->busy = true;
	judge_arrived(&d->judged, body, len, at_us);
}

static size_t
content_length(const char *head, const char *end)
{
	static const char name[] = "Content-Length:";

	for (const char *at = head; at < end; at++) {
		at = memchr(at, '\n', (size_t)(end - at));
		if (at == NULL)
			break;
		if (strncasecmp(at + 1, name, sizeof(name) - 1) == 0)
			return strtoul(at + sizeof(name), NULL, 10);
	}
	return 0;
}

/* Serves what has arrived in full; one request at a time. */
static void
parse(struct conn *c)
{
	while (!c->busy && c->len > 0) {
		char *end = memmem(c->data, c->len, "\r\n\r\n", 4);
		size_t head, total;

		if (end == NULL) {
			if (c->len > HEAD_MAX)
				close_conn(c);
			return;
		}
		head = (size_t)(end - c->data) + 4;
		total = head + content_length(c->data, end);
		if (c->len < total)
			return;
		if (c->admin)
			serve_admin(c, c->data);
		else
			serve(c, c->data + head, total - head);
		c->len -= total;
		memmove(c->data, c->data + total, c->len);
	}
}

static void
receive(struct conn *c)
{
	ssize_t n;

	/* One more byte than is read ends the text. */
	if (c->len + 1 >= c->capacity) {
		c->capacity = c->capacity * 2 + 8192;
		c->data = realloc(c->data, c->capacity);
		if (c->data == NULL)
			abort();
	}
	n = recv(c->fd, c->data + c->len, c->capacity - c->len - 1, 0);
	if (n > 0) {
		c->len += (size_t)n;
		c->data[c->len] = '\0';
		parse(c);
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close_conn(c);
}

static void
answer_due(void)
{
	static const char body[] = "{}";
	int64_t at_us = now_us();

	while (
	    due_first != due_end && due[due_first % DUE_MAX].at_us <= at_us) {
		struct due d = due[due_first++ % DUE_MAX];
		struct conn *c = d.conn;

		judge_answered(&d.judged, at_us);
		c->busy = false;
		if (c->closed) {
			bury(c);
			continue;
		}
		answer(c, d.judged.status, body, sizeof(body) - 1);
		parse(c);
	}
}

/* ---- loop */

static void
accept_all(int epoll, int listener, bool admin)
{
	int fd, one = 1;

	while ((fd = accept4(
	            listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct conn *c = calloc(1, sizeof(*c));
		struct epoll_event ev = {.events = EPOLLIN, .data.ptr = c};

		if (c == NULL)
			abort();
		(void)setsockopt(
		    fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		c->fd = fd;
		c->admin = admin;
		if (!admin) {
			accepted++;
			open_now++;
			open_max = open_now > open_max ? open_now : open_max;
		}
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) != 0)
			abort();
	}
}

static int
listen_on_free_port(unsigned *port)
{
	struct sockaddr_in at = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr *any = (struct sockaddr *)&at;
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, any, len) != 0 || listen(fd, 1024) != 0 ||
	    getsockname(fd, any, &len) != 0) {
		perror("receiver");
		exit(1);
	}
	*port = ntohs(at.sin_port);
	return fd;
}

/* Until the next answer is due; NULL: for ever. */
static struct timespec *
patience(struct timespec *t)
{
	int64_t left_us;

	if (due_first == due_end)
		return NULL;
	left_us = due[due_first % DUE_MAX].at_us - now_us();
	left_us = left_us > 0 ? left_us : 0;
	t->tv_sec = (time_t)(left_us / 1000000);
	t->tv_nsec = (long)(left_us % 1000000) * 1000;
	return t;
}

/* True when our standard input has ended. */
static bool
take_round(int epoll, const int *listener)
{
	struct epoll_event ev[ROUND];
	struct timespec t;
	int n = epoll_pwait2(epoll, ev, ROUND, patience(&t), NULL);
	bool end = false;

	for (int i = 0; i < n; i++) {
		if (ev[i].data.ptr == NULL)
			end = true;
		else if (ev[i].data.ptr == &listener[0] ||
		         ev[i].data.ptr == &listener[1])
			accept_all(epoll, *(int *)ev[i].data.ptr,
			    ev[i].data.ptr == &listener[1]);
		else
			receive(ev[i].data.ptr);
	}
	answer_due();
	free_dead();
	return end;
}

int
main(void)
{
	unsigned port[2];
	int listener[2];
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event in = {.events = EPOLLIN, .data.ptr = NULL};

	(void)signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 2; i++) {
		struct epoll_event ev = {
		    .events = EPOLLIN, .data.ptr = &listener[i]};

		listener[i] = listen_on_free_port(&port[i]);
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, listener[i], &ev) != 0)
			abort();
	}
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &in) != 0) {
		(void)fprintf(stderr, "receiver: standard input must be a "
		                      "pipe\n");
		return 64;
	}
	judge_reset();
	(void)printf("%u %u\n", port[0], port[1]);
	(void)fflush(stdout);
	while (!take_round(epoll, listener))
		continue;
	return 0;
}
