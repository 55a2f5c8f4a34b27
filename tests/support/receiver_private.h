/* receiver_private: what receiver.c and exchange.c share. */
#ifndef TESTS_SUPPORT_RECEIVER_PRIVATE_H
#define TESTS_SUPPORT_RECEIVER_PRIVATE_H

#include <pthread.h>

#include <openssl/ssl.h>

#include "receiver.h"

enum fate { FATE_KEEP, FATE_CLOSE, FATE_RESET };

struct exchange {
	struct receiver *receiver;
	struct exchange *next; /* connections whose thread is not joined */
	pthread_t thread;
	int fd;    /* under the lock when set to -1 or used by others */
	bool done; /* under the lock: the thread is about to end */
	SSL *ssl;  /* NULL: plain */
	enum fate fate;
	int number;
	int served;
	struct receiver_request *request;
	char *input; /* read and not yet used */
	size_t input_len, input_size;
};

struct receiver {
	struct receiver_options options;
	SSL_CTX *tls;
	int listener;
	int stop_fd; /* readable for ever once the receiver ends */
	uint16_t port;
	char url[64];
	pthread_t acceptor;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stopping;
	struct exchange *connections;
	int accepted, open, open_max;
	struct receiver_request **kept;
	size_t requests, kept_size;
};

/* realloc that aborts. */
void *receiver_grow(void *old, size_t bytes);

/* Counts the request of the exchange, and keeps it unless told not to. */
void receiver_keep(struct exchange *x);

void receiver_request_free(struct receiver_request *request);

/* TLS, then requests until the connection ends. */
void exchange_serve(struct exchange *x);

#endif
