/* pool_rig: a pool and its receiver; the test is the Kafka thread. */
#ifndef TESTS_UNIT_RUNTIME_POOL_RIG_H
#define TESTS_UNIT_RUNTIME_POOL_RIG_H

#include "runtime_support.h"

#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bridge/base/log.h"
#include "bridge/base/metrics.h"
#include "bridge/core/ledger.h"
#include "bridge/http/client.h"
#include "bridge/runtime/intake.h"
#include "bridge/runtime/pool.h"
#include "receiver.h"

#define EVENTS 2000

/* A pool, its receiver, and what came back. The test is the Kafka thread. */
struct rig {
	struct br_config *config;
	struct br_pool *pool;
	struct br_sched_part *part;
	bool closed; /* the partition */
	struct receiver *receiver;
	int wake_fd;
	size_t settled;
	struct br_ref *got[EVENTS]; /* in the order in which they settled */
	atomic_bool gate;           /* opens for those who wait at it */
	atomic_int status;          /* of the scripted answer */
};

/* "/hold" waits for the gate; all answer with the status. */
static inline void
scripted(struct exchange *x, void *context)
{
	struct rig *r = context;

	if (strncmp(exchange_request(x)->path, "/hold", 5) == 0)
		while (!atomic_load(&r->gate))
			if (!exchange_pause(x, 2))
				return;
	(void)exchange_answer(x, atomic_load(&r->status), "answer");
}

/* `rest` are further groups of the configuration. */
static inline void
rig_open_with(struct rig *r, unsigned connections, const char *rest)
{
	struct receiver_options options = {
	    .on_request = scripted, .context = r};
	struct br_error err = {""};
	char text[600];

	memset(r, 0, sizeof(*r));
	br_metrics_reset();
	br_log_setup(BR_ERROR, false);
	atomic_store(&r->status, 200);
	r->receiver = receiver_new(&options);
	assert_non_null(r->receiver);
	(void)snprintf(text, sizeof(text),
	    "delivery = { url = \"%s/\"; connections = %u; timeout_ms = "
	    "600000; };\n%s",
	    receiver_url(r->receiver), connections, rest);
	r->config = config_of(text);
	r->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	assert_true(r->wake_fd >= 0);
	r->pool = br_pool_new(r->config, r->wake_fd, &err);
	if (r->pool == NULL)
		fail_msg("%s", err.text);
	r->part = br_pool_part_open(r->pool, r);
	if (!br_pool_start(r->pool, &err))
		fail_msg("%s", err.text);
}

/* The same, with targets that never close. */
static inline void
rig_open(struct rig *r, unsigned connections, const char *rest)
{
	char text[300];

	(void)snprintf(text, sizeof(text),
	    "breaker = { failures = 0; after = 0; };\n%s", rest);
	rig_open_with(r, connections, text);
}

/* Takes what has settled; returns how many did in all. */
static inline size_t
collect(struct rig *r)
{
	struct br_ref *ref = br_pool_settled(r->pool);

	for (; ref != NULL; ref = ref->settled_next) {
		assert_true(r->settled < EVENTS);
		r->got[r->settled++] = ref;
	}
	return r->settled;
}

static inline void
close_part(struct rig *r)
{
	r->closed = true;
	br_pool_part_close(r->pool, r->part);
}

/* Everything is back, the workers have ended or end now. */
static inline void
rig_free(struct rig *r)
{
	struct br_sched_stats stats;

	assert_true(br_pool_stop(r->pool, false, WAIT_MS));
	(void)collect(r);
	br_pool_stats(r->pool, &stats);
	assert_int_equal(stats.in_flight + stats.waiting + stats.dead, 0);
	if (!r->closed)
		close_part(r);
	br_pool_part_free(r->pool, r->part);
	br_pool_free(r->pool);
	for (size_t i = 0; i < r->settled; i++)
		br_ref_free(r->got[i]);
	receiver_free(r->receiver);
	br_config_free(r->config);
	(void)close(r->wake_fd);
}

/* The wake descriptor was written, or is within the time. */
static inline bool
woken(struct rig *r, int limit_ms)
{
	struct pollfd fd = {.fd = r->wake_fd, .events = POLLIN};
	uint64_t count;

	return poll(&fd, 1, limit_ms) == 1 &&
	       read(r->wake_fd, &count, sizeof(count)) == sizeof(count);
}

/* What the texts of an event stand in: one allocation, as intake makes it. */
struct whole {
	struct br_event event;
	char url[100];
	char target[60];
	char key[40];
};

static inline struct br_ref *
event_at(struct rig *r, int64_t offset, const char *order, const char *path)
{
	struct whole *w = calloc(1, sizeof(*w));
	struct br_ref *ref = calloc(1, sizeof(*ref));

	assert_true(w != NULL && ref != NULL);
	(void)snprintf(
	    w->url, sizeof(w->url), "%s%s", receiver_url(r->receiver), path);
	(void)snprintf(
	    w->target, sizeof(w->target), "%s", receiver_url(r->receiver));
	(void)snprintf(w->key, sizeof(w->key), "event-%d", (int)offset);
	w->event = (struct br_event){
	    .record = {.topic = "t", .offset = offset, .timestamp_ms = -1},
	    .body = br_slice_str("{}"),
	    .idempotency_key = w->key,
	    .url = w->url,
	    .target = w->target,
	    .content_type = "application/json",
	    .format = "json",
	    .route = "",
	    .order_key = br_slice_str(order),
	    .max_attempts = 3};
	ref->offset = offset;
	ref->part = r->part;
	ref->bytes = 1000;
	ref->event = &w->event;
	return ref;
}

static inline void
put(struct rig *r, struct br_ref *ref)
{
	br_pool_put(r->pool, &ref, 1);
}

/* Group set-up of every program. */
static inline int
rig_begin(void **state)
{
	struct br_error err;

	(void)state;
	return br_http_global_init(&err) ? 0 : -1;
}

static inline int
rig_end(void **state)
{
	(void)state;
	br_http_global_cleanup();
	return 0;
}

#endif
