/* server: see the header. */
#include "bridge/admin/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "bridge/base/metrics.h"

#define CONNECTIONS_MAX 32
#define IDLE_TIMEOUT_S 10
#define CONNECTION_BYTES ((size_t)16 * 1024) /* headers of a browser fit */
#define STACK_BYTES ((size_t)256 * 1024)
#define BODY_BYTES_MAX ((size_t)64 * 1024)

#define TEXT "text/plain; charset=utf-8"
#define EXPOSITION "text/plain; version=0.0.4; charset=utf-8"

struct br_admin {
	struct br_admin_source source;
	struct MHD_Daemon *daemon;
	uint16_t port;
};

/* What is kept from the first to the last call for one request. */
struct request {
	size_t body_bytes; /* read and dropped so far */
};

/* A page appends its body and returns the status. */
struct page {
	const char *method; /* GET answers HEAD too */
	const char *path;
	const char *content_type;
	unsigned int (*render)(struct br_admin *a, struct br_buffer *body);
};

static unsigned int
render_healthz(struct br_admin *a, struct br_buffer *body)
{
	(void)a;
	br_buffer_str(body, "ok\n");
	return MHD_HTTP_OK;
}

static unsigned int
render_readyz(struct br_admin *a, struct br_buffer *body)
{
	if (a->source.ready(a->source.opaque, body)) {
		br_buffer_clear(body);
		br_buffer_str(body, "ready\n");
		return MHD_HTTP_OK;
	}
	if (body->len == 0)
		br_buffer_str(body, "not ready");
	if (body->data[body->len - 1] != '\n')
		br_buffer_str(body, "\n");
	return MHD_HTTP_SERVICE_UNAVAILABLE;
}

static unsigned int
render_metrics(struct br_admin *a, struct br_buffer *body)
{
	a->source.refresh(a->source.opaque);
	br_metrics_render(body);
	return MHD_HTTP_OK;
}

static const struct page pages[] = {
    {"GET", "/healthz", TEXT, render_healthz},
    {"GET", "/readyz", TEXT, render_readyz},
    {"GET", "/metrics", EXPOSITION, render_metrics},
};

#define PAGE_COUNT (sizeof(pages) / sizeof(pages[0]))

/* The page for it, or NULL; `allow` then names what the path does answer. */
static const struct page *
find_page(const char *method, const char *path, struct br_buffer *allow)
{
	if (strcmp(method, "HEAD") == 0)
		method = "GET";
	for (size_t i = 0; i < PAGE_COUNT; i++) {
		if (strcmp(pages[i].path, path) != 0)
			continue;
		if (strcmp(pages[i].method, method) == 0)
			return &pages[i];
		br_buffer_str(allow, allow->len != 0 ? ", " : "");
		br_buffer_str(allow, pages[i].method);
		if (strcmp(pages[i].method, "GET") == 0)
			br_buffer_str(allow, ", HEAD");
	}
	return NULL;
}

/* Sends the body, which is empty afterwards. */
static enum MHD_Result
send_page(struct MHD_Connection *connection, unsigned int status,
    const char *content_type, const char *allow, struct br_buffer *body)
{
	struct MHD_Response *response;
	enum MHD_Result result;

	response = MHD_create_response_from_buffer(
	    body->len, body->data, MHD_RESPMEM_MUST_FREE);
	if (response == NULL) {
		br_buffer_free(body);
		return MHD_NO;
	}
	*body = (struct br_buffer){0};
	if (MHD_add_response_header(response, "Content-Type", content_type) ==
	        MHD_NO ||
	    MHD_add_response_header(response, "Cache-Control", "no-store") ==
	        MHD_NO ||
	    (allow != NULL &&
	        MHD_add_response_header(response, "Allow", allow) == MHD_NO))
		result = MHD_NO;
	else
		result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result
answer(struct br_admin *a, struct MHD_Connection *connection,
    const char *method, const char *path)
{
	struct br_buffer allow = {0}, body = {0};
	const struct page *page = find_page(method, path, &allow);
	enum MHD_Result result;
	unsigned int status;

	if (page != NULL) {
		status = page->render(a, &body);
	} else if (allow.len != 0) {
		status = MHD_HTTP_METHOD_NOT_ALLOWED;
		br_buffer_str(&body, "method not allowed\n");
	} else {
		status = MHD_HTTP_NOT_FOUND;
		br_buffer_str(&body, "not found\n");
	}
	result = send_page(connection, status,
	    page != NULL ? page->content_type : TEXT, allow.data, &body);
	br_buffer_free(&allow);
	return result;
}

/*
 * Called first when the headers are there, then for each piece of a body, then
 * once more. Bodies are dropped, a long one together with its connection: to
 * close with bytes unread would take the answer away from the client.
 */
static enum MHD_Result
on_request(void *opaque, struct MHD_Connection *connection, const char *path,
    const char *method, const char *version, const char *piece,
    size_t *piece_bytes, void **state)
{
	struct request *r = *state;

	(void)version;
	(void)piece;
	if (r == NULL) {
		*state = calloc(1, sizeof(*r));
		return *state != NULL ? MHD_YES : MHD_NO;
	}
	if (*piece_bytes != 0) {
		r->body_bytes += *piece_bytes;
		*piece_bytes = 0;
		return r->body_bytes <= BODY_BYTES_MAX ? MHD_YES : MHD_NO;
	}
	return answer(opaque, connection, method, path);
}

static void
on_completed(void *opaque, struct MHD_Connection *connection, void **state,
    enum MHD_RequestTerminationCode why)
{
	(void)opaque;
	(void)connection;
	(void)why;
	free(*state);
	*state = NULL;
}

/* Fills in the address; false when the host is no IPv4 or IPv6 literal. */
static bool
parse_address(const char *host, uint16_t port, struct sockaddr_storage *address,
    socklen_t *len)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;

	*address = (struct sockaddr_storage){0};
	if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		*len = sizeof(*v4);
		return true;
	}
	if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
		*len = sizeof(*v6);
		return true;
	}
	return false;
}

/* Binds and listens; sets the port. Returns -1 with errno. */
static int
open_socket(
    const struct sockaddr_storage *address, socklen_t len, uint16_t *port)
{
	struct sockaddr_storage bound = {0};
	socklen_t bound_len = sizeof(bound);
	int fd, on = 1, off = 0, saved;

	fd = socket(
	    address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	/* A restart must not wait for the connections of the last run. */
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (address->ss_family == AF_INET6) /* [::] means IPv4 too */
		(void)setsockopt(
		    fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, (const struct sockaddr *)address, len) != 0 ||
	    listen(fd, CONNECTIONS_MAX) != 0 ||
	    getsockname(fd, (struct sockaddr *)&bound, &bound_len) != 0) {
		saved = errno;
		(void)close(fd);
		errno = saved;
		return -1;
	}
	*port = ntohs(bound.ss_family == AF_INET6
	                  ? ((struct sockaddr_in6 *)&bound)->sin6_port
	                  : ((struct sockaddr_in *)&bound)->sin_port);
	return fd;
}

/* Starts its thread, which inherits a mask that blocks all signals. */
static struct MHD_Daemon *
start_daemon(struct br_admin *a, int fd)
{
	struct MHD_Daemon *daemon;
	sigset_t all, before;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, &before);
	daemon = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD, a->port, NULL,
	    NULL, on_request, a, MHD_OPTION_LISTEN_SOCKET, fd,
	    MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
	    MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS_MAX,
	    MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_TIMEOUT_S,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES,
	    MHD_OPTION_THREAD_STACK_SIZE, STACK_BYTES, MHD_OPTION_END);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return daemon;
}

/* Says where and why not; always NULL. */
static struct br_admin *
refuse(
    const char *host, uint16_t port, const char *reason, struct br_error *err)
{
	bool v6 = strchr(host, ':') != NULL;

	(void)br_fail(err, "cannot listen on %s%s%s:%u: %s", v6 ? "[" : "",
	    host, v6 ? "]" : "", (unsigned int)port, reason);
	return NULL;
}

struct br_admin *
br_admin_start(const char *host, uint16_t port,
    const struct br_admin_source *source, struct br_error *err)
{
	struct sockaddr_storage address;
	struct br_admin *a;
	socklen_t len;
	int fd;

	if (!parse_address(host, port, &address, &len))
		return refuse(host, port, "not an IPv4 or IPv6 address", err);
	a = calloc(1, sizeof(*a));
	if (a == NULL)
		abort();
	a->source = *source;
	fd = open_socket(&address, len, &a->port);
	if (fd < 0) {
		(void)refuse(host, port, strerror(errno), err);
		free(a);
		return NULL;
	}
	a->daemon = start_daemon(a, fd);
	if (a->daemon == NULL) {
		/* libmicrohttpd owns the socket and has closed it. */
		free(a);
		return refuse(host, port, "cannot start its thread", err);
	}
	return a;
}

uint16_t
br_admin_port(const struct br_admin *a)
{
	return a->port;
}

void
br_admin_stop(struct br_admin *a)
{
	if (a == NULL)
		return;
	MHD_stop_daemon(a->daemon);
	free(a);
}

const char *
br_admin_version(void)
{
	return MHD_get_version();
}
