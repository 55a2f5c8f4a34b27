/*
 * pool_internal: what pool.c and pool_kafka.c share, and nobody else includes.
 */
#ifndef BRIDGE_RUNTIME_POOL_INTERNAL_H
#define BRIDGE_RUNTIME_POOL_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "bridge/runtime/pool.h"

struct br_pool_worker {
	struct br_pool *pool;
	uint32_t index;
	pthread_t thread;
	bool started;
	pthread_cond_t picked; /* under the pool's lock */
	bool idle;             /* it stands in the pool's idle list */
	struct br_http *http;
	uint64_t random;
};

struct br_pool {
	const struct br_config *config;
	struct br_request_rules *request;
	int wake_fd;
	atomic_bool abort;
	atomic_size_t extra; /* the scheduler's, to be read without the lock */

	pthread_mutex_t lock; /* everything below, and the scheduler */
	pthread_cond_t ended;
	struct br_sched *sched;
	struct br_pool_worker *worker;
	uint32_t workers;
	uint32_t *idle; /* the last to fall asleep is picked first: its
	                 * connection is the warmest */
	uint32_t idle_count;
	int64_t watch_ms; /* until when the earliest sleeper sleeps */
	uint32_t watcher; /* it; valid while watch_ms is set */
	uint32_t running;
	bool closed;
	bool eager;
	bool tell_idle; /* the Kafka thread reads again when one sleeps */
	size_t settled; /* events since the last br_pool_settled() */
	size_t settled_bytes;
	size_t wake_bytes;
};

/* With the lock held: wakes one sleeper (there is one), the one that is
 * connected to the right target. */
void br_pool_pick_best(struct br_pool *p);

/* With the lock held, after what may have changed it. */
void br_pool_note_extra(struct br_pool *p, const struct br_sched_stats *stats);

/* Has the Kafka thread call br_pool_settled(). */
void br_pool_wake_kafka_thread(struct br_pool *p);

#endif
