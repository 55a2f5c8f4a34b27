/*
 * receiver: an HTTP receiver on loopback that does what a test says.
 *
 * It accepts connections, reads requests (Content-Length, no chunked bodies)
 * and calls a handler for each, which answers with raw bytes, waits, closes
 * or resets. It keeps the requests and counts connections as a receiver
 * does: open from accept until it has seen the client's end. A thread for
 * each connection; handlers run there and may run at the same time.
 *
 *     static void
 *     unavailable(struct exchange *x, void *context)
 *     {
 *             exchange_text(x, "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n");
 *     }
 *
 *     struct receiver_options options = {.on_request = unavailable};
 *     struct receiver *r = receiver_new(&options);
 *     … requests to receiver_url(r) …
 *     receiver_free(r);
 */
#ifndef TESTS_SUPPORT_RECEIVER_H
#define TESTS_SUPPORT_RECEIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "certificate.h"

struct receiver;
struct exchange; /* a connection and its request, as a handler sees them */

/* May answer or not. The connection goes on to the next request unless the
 * handler called exchange_close or exchange_reset. */
typedef void receiver_handler(struct exchange *x, void *context);

/* Connections of several receivers counted together; start with {0}. */
struct receiver_tally {
	int open;
	int open_max;
};

struct receiver_options {
	receiver_handler *on_request; /* NULL: 200 and "ok" */
	receiver_handler *on_head;    /* before a body is read; NULL: none */
	receiver_handler *on_accept;  /* before TLS; NULL: none */
	void *context;                /* for the handlers */
	const struct authority *authority; /* NULL: plain HTTP */
	enum certificate_kind certificate;
	bool ipv6;
	uint16_t port;                /* 0: any */
	bool discard;                 /* keep no requests, only their number */
	struct receiver_tally *tally; /* NULL: none */
};

/* Options are copied, what they point to is not. NULL when it cannot listen. */
struct receiver *receiver_new(const struct receiver_options *options);

/* Ends all connections and handlers and frees the requests. */
void receiver_free(struct receiver *r);

uint16_t receiver_port(const struct receiver *r);

/* "http://127.0.0.1:PORT", "https://localhost:PORT", "http://[::1]:PORT";
 * also the target of such a URL. */
const char *receiver_url(const struct receiver *r);

/* Numbers up to now. Any thread. */
size_t receiver_requests(struct receiver *r);
int receiver_accepted(struct receiver *r);
int receiver_open(struct receiver *r);
int receiver_open_max(struct receiver *r);

/* Wait until there were `count` requests, or `count` connections are open;
 * false when `limit_ms` passed before. */
bool receiver_wait_requests(struct receiver *r, size_t count, int limit_ms);
bool receiver_wait_open(struct receiver *r, int count, int limit_ms);

struct receiver_request {
	const char *method;
	const char *path; /* with the query, as it came */
	const char *head; /* all lines, NUL-terminated */
	const uint8_t *body;
	size_t body_len;
	int connection; /* 1 is the first that was accepted */
	int nth;        /* on its connection, 1 is the first */
};

/* The i-th request that was read; valid until receiver_free. */
const struct receiver_request *receiver_request(struct receiver *r, size_t i);

/* Copies the value of the first header of this name; false when it has none
 * or it does not fit. */
bool receiver_header(const struct receiver_request *request, const char *name,
    char *out, size_t size);

/* How many requests carried this Idempotency-Key. */
size_t receiver_attempts(struct receiver *r, const char *key);

/* For handlers. */

/* NULL in on_accept; without a body in on_head. */
const struct receiver_request *exchange_request(const struct exchange *x);
struct receiver *exchange_receiver(const struct exchange *x);

/* False when the client is gone. */
bool exchange_send(struct exchange *x, const void *bytes, size_t len);
bool exchange_text(struct exchange *x, const char *text);
/* A whole answer with this status and body. */
bool exchange_answer(struct exchange *x, int status, const char *body);

/* Waits; false when the client ended the connection, or the receiver does. */
bool exchange_pause(struct exchange *x, int ms);
/* Waits for one of the two. */
void exchange_hold(struct exchange *x);

/* What happens when the handler returns. */
void exchange_close(struct exchange *x);
void exchange_reset(struct exchange *x); /* RST */

#endif
