/* exchange: one connection of a receiver, and the requests on it. */
#include "receiver_private.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define HEAD_MAX ((size_t)1 << 20)

/* Bytes of the connection, or <= 0 at its end. */
static ssize_t
receive(struct exchange *x, void *out, size_t size)
{
	if (x->ssl != NULL)
		return SSL_read(x->ssl, out, (int)size);
	return recv(x->fd, out, size, 0);
}

bool
exchange_send(struct exchange *x, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		size_t piece = len < 65536 ? len : 65536;
		ssize_t n = x->ssl != NULL
		                ? SSL_write(x->ssl, at, (int)piece)
		                : send(x->fd, at, piece, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

bool
exchange_text(struct exchange *x, const char *text)
{
	return exchange_send(x, text, strlen(text));
}

bool
exchange_answer(struct exchange *x, int status, const char *body)
{
	char text[1024];
	int n = snprintf(text, sizeof(text),
	    "HTTP/1.1 %d Scripted\r\nContent-Length: %zu\r\n\r\n%s", status,
	    strlen(body), body);

	if (n < 0 || (size_t)n >= sizeof(text))
		abort();
	return exchange_text(x, text);
}

bool
exchange_pause(struct exchange *x, int ms)
{
	struct pollfd wait[2] = {{.fd = x->fd, .events = POLLRDHUP},
	    {.fd = x->receiver->stop_fd, .events = POLLIN}};

	return poll(wait, 2, ms) == 0;
}

void
exchange_hold(struct exchange *x)
{
	(void)exchange_pause(x, -1);
}

void
exchange_close(struct exchange *x)
{
	x->fate = FATE_CLOSE;
}

void
exchange_reset(struct exchange *x)
{
	x->fate = FATE_RESET;
}

const struct receiver_request *
exchange_request(const struct exchange *x)
{
	return x->request;
}

struct receiver *
exchange_receiver(const struct exchange *x)
{
	return x->receiver;
}

bool
receiver_header(const struct receiver_request *request, const char *name,
    char *out, size_t size)
{
	size_t n = strlen(name);
	const char *line = strstr(request->head, "\r\n");

	for (; line != NULL; line = strstr(line + 2, "\r\n")) {
		const char *at = line + 2, *end = strstr(at, "\r\n");

		if (end == NULL || strncasecmp(at, name, n) != 0 ||
		    at[n] != ':')
			continue;
		at += n + 1;
		at += at[0] == ' ';
		if ((size_t)(end - at) >= size)
			return false;
		memcpy(out, at, (size_t)(end - at));
		out[end - at] = '\0';
		return true;
	}
	return false;
}

/* More input; false at the end of the connection. */
static bool
read_more(struct exchange *x)
{
	ssize_t n;

	if (x->input_size - x->input_len < 65536) {
		x->input_size = x->input_size * 2 + 131072;
		x->input = receiver_grow(x->input, x->input_size);
	}
	n = receive(x, x->input + x->input_len, 65536);
	if (n <= 0)
		return false;
	x->input_len += (size_t)n;
	return true;
}

static void
consume(struct exchange *x, size_t bytes)
{
	memmove(x->input, x->input + bytes, x->input_len - bytes);
	x->input_len -= bytes;
}

void
receiver_request_free(struct receiver_request *request)
{
	if (request == NULL)
		return;
	/* They are ours; const is for the readers. */
	free((void *)(uintptr_t)request->method);
	free((void *)(uintptr_t)request->path);
	free((void *)(uintptr_t)request->head);
	free((void *)(uintptr_t)request->body);
	free(request);
}

static struct receiver_request *
parse_head(struct exchange *x, size_t len)
{
	struct receiver_request *request = calloc(1, sizeof(*request));
	char *head = strndup(x->input, len);
	const char *space = head != NULL ? strchr(head, ' ') : NULL;

	if (request == NULL || head == NULL)
		abort();
	request->head = head;
	request->connection = x->number;
	request->nth = ++x->served;
	if (space == NULL)
		space = head;
	request->method = strndup(head, (size_t)(space - head));
	request->path = strndup(space + 1, strcspn(space + 1, " \r\n"));
	return request;
}

/* Reads up to the blank line into x->request. */
static bool
read_head(struct exchange *x)
{
	const char *end;

	while (x->input_len == 0 ||
	       (end = memmem(x->input, x->input_len, "\r\n\r\n", 4)) == NULL) {
		if (x->input_len > HEAD_MAX || !read_more(x))
			return false;
	}
	x->request = parse_head(x, (size_t)(end - x->input) + 4);
	consume(x, (size_t)(end - x->input) + 4);
	return true;
}

static bool
read_body(struct exchange *x)
{
	char text[32];
	size_t len = 0;
	uint8_t *body;

	if (receiver_header(x->request, "Content-Length", text, sizeof(text)))
		len = strtoull(text, NULL, 10);
	while (x->input_len < len) {
		if (!read_more(x))
			return false;
	}
	body = receiver_grow(NULL, len + 1);
	if (len > 0)
		memcpy(body, x->input, len);
	body[len] = '\0';
	x->request->body = body;
	x->request->body_len = len;
	consume(x, len);
	return true;
}

/* One request; false when the connection ends. */
static bool
serve_one(struct exchange *x)
{
	const struct receiver_options *o = &x->receiver->options;
	bool whole;

	if (!read_head(x))
		return false;
	if (o->on_head != NULL)
		o->on_head(x, o->context);
	whole = x->fate == FATE_KEEP && read_body(x);
	if (!whole) {
		receiver_request_free(x->request);
		x->request = NULL;
		return false;
	}
	receiver_keep(x);
	if (o->on_request != NULL)
		o->on_request(x, o->context);
	else
		(void)exchange_answer(x, 200, "ok");
	if (o->discard)
		receiver_request_free(x->request);
	x->request = NULL;
	return x->fate == FATE_KEEP;
}

static bool
start_tls(struct exchange *x)
{
	if (x->receiver->tls == NULL)
		return true;
	x->ssl = SSL_new(x->receiver->tls);
	if (x->ssl == NULL || SSL_set_fd(x->ssl, x->fd) != 1)
		abort();
	return SSL_accept(x->ssl) == 1;
}

void
exchange_serve(struct exchange *x)
{
	if (!start_tls(x))
		return;
	while (serve_one(x))
		;
}
