/*
 * post: the least a program can do to send POSTs with libcurl.
 *
 * One easy handle for each thread, kept alive between requests, and no
 * option beyond what the request needs: what the bridge is measured against.
 */
#ifndef BENCH_POST_H
#define BENCH_POST_H

#include <stdbool.h>
#include <stddef.h>

struct post;

/* `url` must outlive it. Ends the program when libcurl has no memory. */
struct post *post_new(const char *url);
void post_free(struct post *p);

/* True for any complete answer, whatever its status. */
bool post_send(struct post *p, const void *body, size_t len);

#endif
