/* pool: the threads, see pool.h; the Kafka thread's side stands in
 * pool_kafka.c. */
#include "bridge/runtime/pool_internal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bridge/base/clock.h"
#include "bridge/base/metrics.h"
#include "bridge/runtime/worker.h"

/* The Kafka thread is woken for so many settled events at once; what stays
 * below waits for its commit timer. */
#define WAKE_EVENTS 256

/* xorshift64*: only jitter depends on it. Uniform in [0, 1). */
static double
next_random(struct br_pool_worker *w)
{
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return (double)((w->random * 0x2545f4914f6cdd1dULL) >> 11) /
	       9007199254740992.0;
}

void
br_pool_wake_kafka_thread(struct br_pool *p)
{
	uint64_t one = 1;

	/* A full counter already wakes it. */
	if (write(p->wake_fd, &one, sizeof(one)) < 0)
		return;
}

static struct br_pool_worker *
leave_idle(struct br_pool *p, uint32_t at)
{
	struct br_pool_worker *w = &p->worker[p->idle[at]];

	p->idle_count--;
	for (; at < p->idle_count; at++)
		p->idle[at] = p->idle[at + 1];
	w->idle = false;
	return w;
}

/* Takes the worker at `at` out of the idle list and lets it run. */
static void
pick(struct br_pool *p, uint32_t at)
{
	/* Under the lock: the worker cannot miss it. */
	(void)pthread_cond_signal(&leave_idle(p, at)->picked);
}

/* Wakes one sleeper, the one that is connected to the right target. */
void
br_pool_pick_best(struct br_pool *p)
{
	uint32_t at = p->idle_count - 1;

	for (uint32_t i = p->idle_count; i > 0; i--)
		if (br_sched_suits(p->sched, p->idle[i - 1])) {
			at = i - 1;
			break;
		}
	pick(p, at);
}

static void
sleep_until(struct br_pool_worker *w, int64_t until_ms)
{
	struct br_pool *p = w->pool;
	struct timespec at = {
	    .tv_sec = until_ms / 1000,
	    .tv_nsec = until_ms % 1000 * 1000000,
	};

	p->idle[p->idle_count++] = w->index;
	w->idle = true;
	if (p->tell_idle) {
		p->tell_idle = false;
		br_pool_wake_kafka_thread(p);
	}
	if (until_ms == INT64_MAX)
		(void)pthread_cond_wait(&w->picked, &p->lock);
	else
		(void)pthread_cond_timedwait(&w->picked, &p->lock, &at);
	if (!w->idle)
		return;
	/* Nobody picked it: its time came, or it woke for no reason. */
	for (uint32_t i = 0; i < p->idle_count; i++)
		if (p->idle[i] == w->index) {
			(void)leave_idle(p, i);
			break;
		}
}

/* Closes a connection that was idle for too long, without the lock. */
static int64_t
expire(struct br_pool_worker *w)
{
	struct br_pool *p = w->pool;
	int64_t next_ms;

	(void)pthread_mutex_unlock(&p->lock);
	next_ms = br_http_expire(w->http, br_clock_mono_ms());
	(void)pthread_mutex_lock(&p->lock);
	return next_ms;
}

/*
 * Next reference for this worker; sleeps until there is one. NULL: the pool
 * is closed. Called and returns with the lock held.
 */
static struct br_ref *
next_work(struct br_pool_worker *w)
{
	struct br_pool *p = w->pool;
	int64_t expire_ms = 0;

	for (;;) {
		int64_t now_ms = br_clock_mono_ms(), due_ms, until_ms;
		struct br_ref *ref;

		if (p->closed)
			return NULL;
		ref = br_sched_take(p->sched, w->index, now_ms, &due_ms);
		if (ref != NULL) {
			/* Somebody must see the rest, and the next timer. */
			if (p->idle_count > 0 &&
			    (br_sched_ready(p->sched, now_ms, 1) > 0 ||
			        due_ms < p->watch_ms))
				br_pool_pick_best(p);
			return ref;
		}
		if (expire_ms <= now_ms) {
			expire_ms = expire(w);
			continue;
		}
		until_ms = expire_ms;
		if (due_ms < p->watch_ms) {
			p->watch_ms = due_ms;
			p->watcher = w->index;
			until_ms = due_ms < until_ms ? due_ms : until_ms;
		}
		sleep_until(w, until_ms);
		if (p->watch_ms != INT64_MAX && p->watcher == w->index)
			p->watch_ms = INT64_MAX;
	}
}

/* Gives back and decides whether the Kafka thread should hear of it. */
static struct br_decision
give_back(
    struct br_pool_worker *w, struct br_ref *ref, const struct br_outcome *o)
{
	struct br_pool *p = w->pool;
	size_t bytes = ref->bytes;
	struct br_sched_stats stats;
	struct br_decision d = br_sched_give_back(
	    p->sched, w->index, ref, o, br_clock_mono_ms(), next_random(w));

	if (d.verdict == BR_DELIVERED) {
		p->settled++;
		p->settled_bytes += bytes;
	}
	br_sched_stats(p->sched, &stats);
	br_pool_note_extra(p, &stats);
	if (stats.settled_dead || (p->eager && stats.settled_any) ||
	    p->settled >= WAKE_EVENTS || p->settled_bytes >= p->wake_bytes) {
		p->settled = p->settled_bytes = 0;
		br_pool_wake_kafka_thread(p);
	}
	return d;
}

/* One attempt. Called and returns with the lock held, not in between. */
static void
serve(struct br_pool_worker *w, struct br_ref *ref)
{
	struct br_pool *p = w->pool;
	struct br_attempt_line line;
	struct br_outcome outcome;
	struct br_decision d;

	(void)pthread_mutex_unlock(&p->lock);
	br_worker_attempt(
	    p->config, p->request, w->http, &p->abort, ref, &outcome, &line);
	(void)pthread_mutex_lock(&p->lock);
	d = give_back(w, ref, &outcome);
	if (d.verdict == BR_DELIVERED && d.change == BR_TARGET_SAME)
		return;
	/* `ref` may be gone by now; `line` has what to say. */
	(void)pthread_mutex_unlock(&p->lock);
	br_worker_log(p->config, &line, &d);
	(void)pthread_mutex_lock(&p->lock);
}

static void *
work(void *opaque)
{
	struct br_pool_worker *w = opaque;
	struct br_pool *p = w->pool;
	struct br_ref *ref;
	char name[16];

	(void)snprintf(name, sizeof(name), "worker-%u", w->index);
	(void)pthread_setname_np(pthread_self(), name);
	(void)pthread_mutex_lock(&p->lock);
	while ((ref = next_work(w)) != NULL)
		serve(w, ref);
	(void)pthread_mutex_unlock(&p->lock);
	br_http_close(w->http);
	(void)pthread_mutex_lock(&p->lock);
	p->running--;
	(void)pthread_cond_broadcast(&p->ended);
	(void)pthread_mutex_unlock(&p->lock);
	return NULL;
}

static struct br_sched *
make_sched(const struct br_config *config, uint32_t workers)
{
	struct br_sched_rules rules = {
	    .order = config->delivery.order,
	    .retry = config->retry.rules,
	    .verdict = config->retry.verdict,
	    .health =
	        {
	            .failures = (uint32_t)config->breaker.failures,
	            .after = (uint32_t)config->breaker.after,
	            .probe_ms = config->breaker.probe_ms,
	            .probe_max_ms = config->breaker.probe_max_ms,
	            .give_up_ms = config->breaker.give_up_ms,
	        },
	    .workers = workers,
	    .seed = (uint64_t)br_clock_mono_ns(),
	};

	return br_sched_new(&rules);
}

static bool
make_workers(struct br_pool *p, pthread_condattr_t *attr, struct br_error *err)
{
	struct br_http_rules rules = {
	    .timeout_ms = p->config->delivery.timeout_ms,
	    .connect_timeout_ms = p->config->delivery.connect_timeout_ms,
	    .max_idle_ms = p->config->delivery.max_idle_ms,
	    .max_life_ms = p->config->delivery.max_life_ms,
	    .ca_file = p->config->delivery.ca_file,
	    .user_agent = "outbox-bridge/" BRIDGE_VERSION,
	};

	for (uint32_t i = 0; i < p->workers; i++) {
		struct br_pool_worker *w = &p->worker[i];

		w->pool = p;
		w->index = i;
		w->random = (uint64_t)br_clock_mono_ns() ^
		            (0x9e3779b97f4a7c15ULL * (i + 1));
		(void)pthread_cond_init(&w->picked, attr);
		w->http = br_http_new(&rules, err);
		if (w->http == NULL)
			return false;
	}
	return true;
}

struct br_pool *
br_pool_new(const struct br_config *config, int wake_fd, struct br_error *err)
{
	struct br_pool *p = calloc(1, sizeof(*p));
	pthread_condattr_t attr;

	if (p == NULL)
		abort();
	p->config = config;
	p->wake_fd = wake_fd;
	p->workers = (uint32_t)config->delivery.connections;
	p->worker = calloc(p->workers, sizeof(*p->worker));
	p->idle = calloc(p->workers, sizeof(*p->idle));
	if (p->worker == NULL || p->idle == NULL)
		abort();
	p->request = br_request_rules_new(config);
	p->sched = make_sched(config, p->workers);
	p->watch_ms = INT64_MAX;
	p->wake_bytes = (size_t)config->limits.buffer_bytes / 64;
	(void)pthread_mutex_init(&p->lock, NULL);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&p->ended, &attr);
	if (!make_workers(p, &attr, err)) {
		br_pool_free(p);
		p = NULL;
	}
	(void)pthread_condattr_destroy(&attr);
	return p;
}

bool
br_pool_start(struct br_pool *p, struct br_error *err)
{
	sigset_t all, old;
	int error = 0;

	/* Signals are the main thread's: workers are born with all blocked. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	(void)pthread_mutex_lock(&p->lock);
	for (uint32_t i = 0; i < p->workers && error == 0; i++) {
		error = pthread_create(
		    &p->worker[i].thread, NULL, work, &p->worker[i]);
		p->worker[i].started = error == 0;
		p->running += error == 0 ? 1 : 0;
	}
	(void)pthread_mutex_unlock(&p->lock);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error != 0)
		return br_fail(
		    err, "cannot start a worker thread: %s", strerror(error));
	return true;
}

void
br_pool_abort(struct br_pool *p)
{
	atomic_store(&p->abort, true);
}

bool
br_pool_stop(struct br_pool *p, bool abort_now, int64_t timeout_ms)
{
	int64_t until_ms = br_clock_mono_ms() + timeout_ms;
	struct timespec at = {
	    .tv_sec = until_ms / 1000,
	    .tv_nsec = until_ms % 1000 * 1000000,
	};
	bool ended;

	(void)pthread_mutex_lock(&p->lock);
	p->closed = true;
	if (abort_now)
		br_pool_abort(p);
	while (p->idle_count > 0)
		pick(p, p->idle_count - 1);
	while (p->running > 0)
		if (pthread_cond_timedwait(&p->ended, &p->lock, &at) != 0)
			break;
	ended = p->running == 0;
	(void)pthread_mutex_unlock(&p->lock);
	for (uint32_t i = 0; ended && i < p->workers; i++)
		if (p->worker[i].started) {
			(void)pthread_join(p->worker[i].thread, NULL);
			p->worker[i].started = false;
		}
	return ended;
}

void
br_pool_free(struct br_pool *p)
{
	if (p == NULL)
		return;
	for (uint32_t i = 0; i < p->workers; i++)
		if (p->worker[i].pool != NULL) {
			br_http_free(p->worker[i].http);
			(void)pthread_cond_destroy(&p->worker[i].picked);
		}
	br_sched_free(p->sched);
	br_request_rules_free(p->request);
	(void)pthread_cond_destroy(&p->ended);
	(void)pthread_mutex_destroy(&p->lock);
	free(p->worker);
	free(p->idle);
	free(p);
}
