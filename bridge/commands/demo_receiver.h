/*
 * demo_receiver: the third party of the demo: an HTTP server on loopback
 * that answers by the kind of the event and counts its connections.
 */
#ifndef BRIDGE_COMMANDS_DEMO_RECEIVER_H
#define BRIDGE_COMMANDS_DEMO_RECEIVER_H

#include "demo_events.h"

struct demo_receiver;

/* Told of every answer to an event that is not ordinary; any thread. */
typedef void demo_seen_fn(
    void *opaque, unsigned n, unsigned attempt, int status);

struct demo_receiver *demo_receiver_start(struct demo_events *es,
    demo_seen_fn *seen, void *opaque, struct br_error *err);
void demo_receiver_stop(struct demo_receiver *r);

/* "http://127.0.0.1:PORT/orders" */
const char *demo_receiver_url(const struct demo_receiver *r);

/* Connections open now, and at most so far. */
void demo_receiver_connections(
    struct demo_receiver *r, unsigned *open, unsigned *most);

#endif
