/*
 * demo_events: the events of the demo, in all routed spellings, and what the
 * demo's receiver saw of each. Shared by the files of the demo only.
 */
#ifndef BRIDGE_COMMANDS_DEMO_EVENTS_H
#define BRIDGE_COMMANDS_DEMO_EVENTS_H

#include <pthread.h>

#include "bridge/base/error.h"
#include "bridge/kafka/mockcluster.h"

#define DEMO_TOPIC "outbox.event.order"
#define DEMO_DLQ "outbox.dlq"
#define DEMO_GROUP "outbox-bridge-demo"
#define DEMO_PARTITIONS 4
#define DEMO_ATTEMPTS 5

/* What is special about an event; the rows of the screen. */
enum demo_kind {
	DEMO_ORDINARY,
	DEMO_SLOW,      /* its key answers slowly */
	DEMO_FLAKY,     /* fails twice, then is taken */
	DEMO_BAD,       /* always fails */
	DEMO_NOT_EVENT, /* has no id: nothing that could be sent */
	DEMO_KINDS
};

const char *demo_kind_name(enum demo_kind kind);

/* States as the outbox table has them. */
enum demo_state {
	DEMO_PENDING,
	DEMO_PROCESSING,
	DEMO_FAILED,
	DEMO_SUCCESS,
	DEMO_DEAD,
	DEMO_STATES
};

struct demo_event {
	enum demo_kind kind;
	enum demo_state state;
	bool produced;
	unsigned requests;
};

struct demo_events {
	pthread_mutex_t lock; /* of everything below */
	struct demo_event *event;
	unsigned count;
	unsigned requests;
	unsigned wrong_bodies; /* not byte for byte what was produced */
};

void demo_events_init(struct demo_events *es, unsigned count);
void demo_events_free(struct demo_events *es);

/* The body that event `n` must arrive with; at most `size` bytes. */
size_t demo_body(unsigned n, char *out, size_t size);

/* Its id, which is its idempotency key; 37 bytes. */
void demo_id(unsigned n, char out[37]);

/* The number of an id, or -1. */
long demo_number(const char *id, size_t len);

/* Produces event `n` in one of the routed spellings. */
bool demo_produce(struct demo_events *es, struct br_mock_cluster *m, unsigned n,
    struct br_error *err);

/* Number of events by kind and state. */
void demo_tally(
    struct demo_events *es, unsigned tally[DEMO_KINDS][DEMO_STATES]);

#endif
