/*
 * harness: the whole bridge in this process, between a mock cluster and a
 * scripted receiver, and a book of what the receiver saw of every event.
 *
 *     struct rig *r = rig_new(&(struct rig_options){.partitions = 2});
 *     rig_event(r, 0, 1);              an event of key 1, in partition 0
 *     rig_start(r);                    joins; ready when it returns
 *     WAIT_FOR(rig_all_accepted(r));
 *     assert_int_equal(rig_stop(r), 0);
 *     rig_free(r);
 *
 * Events are numbered from 0. The receiver's threads write the book under
 * its lock; everything else belongs to the test's thread. Every wait has a
 * deadline and fails the test.
 */
#ifndef TESTS_BRIDGE_HARNESS_H
#define TESTS_BRIDGE_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bridge/base/clock.h"
#include "bridge/base/metrics.h"
#include "bridge/kafka/mockcluster.h"
#include "bridge/runtime/bridge.h"
#include "receiver.h"

#define WAIT_MS 90000
#define RIG_EVENTS 6000
#define RIG_KEYS 64
#define RIG_PARTITIONS 8
#define RIG_TOPIC "outbox.event.order"
#define RIG_DLQ "outbox.dlq"
#define RIG_GROUP "bridge-test"

#define WAIT_FOR(condition)                                                    \
	do {                                                                   \
		int64_t until_ms_ = br_clock_mono_ms() + WAIT_MS;              \
		while (!(condition)) {                                         \
			if (br_clock_mono_ms() > until_ms_)                    \
				fail_msg("waited for " #condition);            \
			(void)poll(NULL, 0, 5);                                \
		}                                                              \
	} while (0)

struct rig;

/*
 * What the receiver does with a request: a status to answer with, or 0 when
 * the script did everything itself. `n` is the event, `attempt` counts its
 * requests from 1. Runs on the receiver's threads, without the lock.
 */
typedef int rig_script(
    struct rig *r, struct exchange *x, unsigned n, unsigned attempt);

enum rig_order { RIG_BY_KEY, RIG_BY_PARTITION, RIG_NO_ORDER };

struct rig_options {
	int partitions;       /* 0: 1 */
	size_t body_bytes;    /* at least so many; 0: as short as may be */
	rig_script *script;   /* NULL: 200 */
	enum rig_order order; /* what the book checks */
	/* Text for the configuration's groups; NULL: nothing. */
	const char *kafka;
	const char *delivery; /* "url" is set unless no_url */
	const char *breaker;  /* NULL: targets never close */
	const char *rest;     /* whole groups */
	bool no_url;
	bool no_retry_group; /* `rest` has its own */
};

/* What is known of one event. */
struct rig_event {
	int32_t partition;
	int64_t offset;
	int key;
	bool foreign; /* not to be sent: the receiver must not see it */
	unsigned requests;
	unsigned accepted; /* answered with 2xx */
	int64_t began_ms;  /* last request read */
	int64_t ended_ms;  /* last answer begun */
	int connection;    /* of the last request */
};

/* A copy from the dead letter topic. */
struct rig_letter {
	struct br_record record; /* all of it is the letter's own */
	int64_t offset;          /* outbox.dlq.offset; -1: none */
	unsigned n;              /* event with this place; RIG_EVENTS: none */
};

struct rig_lane {
	int in_flight;
	int current; /* began and is not finished; -1: none */
	int64_t last_offset;
};

struct rig {
	struct rig_options options;
	struct br_mock_cluster *mock;
	struct receiver *receiver;
	struct br_config *config;
	struct br_bridge *bridge;
	pthread_t thread;
	int status;
	atomic_bool ended; /* the bridge's thread has returned */
	int64_t end[RIG_PARTITIONS];
	atomic_int gate; /* for scripts */

	pthread_mutex_t lock;
	struct rig_event event[RIG_EVENTS];
	unsigned count, accepted;
	struct rig_lane lane[RIG_PARTITIONS * RIG_KEYS];
	bool dead[RIG_EVENTS]; /* may be passed by later ones of its lane */
	/* Faults that the book found. */
	unsigned overlaps, disorders, passed, wrong_bodies, unknown;

	struct rig_letter *letter; /* of the last rig_letters() */
	size_t letters;
};

/* Cluster, topics, receiver. */
struct rig *rig_new(const struct rig_options *options);
void rig_free(struct rig *r);

/* A bridge: makes it and starts its thread. `rig_start` waits for ready. */
void rig_begin(struct rig *r);
void rig_start(struct rig *r);
bool rig_ready(struct rig *r);
/* True when it is not ready and says this why. */
bool rig_complains(struct rig *r, const char *word);
/* Asks it to stop, waits for its end, frees it; its exit status. */
int rig_stop(struct rig *r);

/* Writes an event, stored at the latest after rig_flush(); its number. */
unsigned rig_event(struct rig *r, int32_t partition, int key);
/* The same with more headers. */
unsigned rig_event_with(struct rig *r, int32_t partition, int key,
    const struct br_header *headers, size_t count);
/* A record as it is. Its number is an event's that must not be sent. */
unsigned rig_record(struct rig *r, const struct br_record *record);
/* Waits until all is stored. */
void rig_flush(struct rig *r);

/* What event `n` must look like at the receiver; NUL-terminated. */
void rig_body(const struct rig *r, unsigned n, struct br_buffer *out);

/* Event `n` as it is now. */
struct rig_event rig_look(struct rig *r, unsigned n);
unsigned rig_accepted(struct rig *r);
/* All events but the foreign ones got a 2xx. */
bool rig_all_accepted(struct rig *r);

/* Waits in a script until the gate has this value; false: client is gone. */
bool rig_at_gate(struct rig *r, struct exchange *x, int value);

int64_t rig_committed(struct rig *r, int32_t partition);
/* Every partition is committed up to its end. */
bool rig_all_committed(struct rig *r);

/* Reads the dead letter topic anew; how many there are. */
size_t rig_letters(struct rig *r);
/* The only letter of event `n`; fails when there is none or another. */
const struct rig_letter *rig_letter(struct rig *r, unsigned n);
/* Value of its header as text, or NULL. */
const char *rig_header(const struct rig_letter *letter, const char *name);

/* Value of a sample of the metrics page; -1: not there. */
double rig_sample(const char *sample);

/* P2, P3, P4 by the book; `connections` is the limit. */
void rig_check_book(struct rig *r, int connections);
/* Every event (but foreign ones) went out exactly once. */
void rig_check_once(struct rig *r);

#endif
