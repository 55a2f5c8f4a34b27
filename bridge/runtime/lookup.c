/* lookup: see the header. */
#include "bridge/runtime/lookup.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bridge/http/fetch.h"
#include "bridge/source/registry_ask.h"

struct question {
	struct question *next;
	struct br_schema_key key;
};

struct br_lookup {
	const struct br_config *config;
	struct br_alarms *alarms;
	struct br_registry *registry; /* Kafka thread */
	struct br_fetch *fetch;       /* our thread, but for the abort */
	bool down;                    /* the alarm is raised */
	int wake_fd;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows; a leaf */
	pthread_cond_t cond;
	struct question *first, **last;
	struct br_registry_reply *replies; /* newest first */
	bool stop;
};

/* ---- our thread */

static int
get(void *opaque, const char *url, struct br_buffer *body, struct br_error *err)
{
	struct br_lookup *l = opaque;

	return br_fetch_get(l->fetch, url, body, err);
}

/* The next question, or NULL: the end. */
static struct question *
next_question(struct br_lookup *l)
{
	struct question *q = NULL;

	(void)pthread_mutex_lock(&l->lock);
	while (l->first == NULL && !l->stop)
		(void)pthread_cond_wait(&l->cond, &l->lock);
	if (!l->stop) {
		q = l->first;
		l->first = q->next;
		if (l->first == NULL)
			l->last = &l->first;
	}
	(void)pthread_mutex_unlock(&l->lock);
	return q;
}

static void
answer(struct br_lookup *l, struct br_registry_reply *reply)
{
	uint64_t one = 1;

	(void)pthread_mutex_lock(&l->lock);
	reply->next = l->replies;
	l->replies = reply;
	(void)pthread_mutex_unlock(&l->lock);
	if (write(l->wake_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		abort();
}

static void *
run(void *opaque)
{
	struct br_lookup *l = opaque;
	struct br_registry_fetch fetch = {get, l};
	struct question *q;

	(void)pthread_setname_np(pthread_self(), "registry");
	while ((q = next_question(l)) != NULL) {
		answer(l,
		    br_registry_look_up(&l->config->registry, &fetch, &q->key));
		free(q);
	}
	return NULL;
}

/* ---- the Kafka thread */

static void
ask(void *opaque, const struct br_schema_key *key)
{
	struct br_lookup *l = opaque;
	struct question *q = calloc(1, sizeof(*q));

	if (q == NULL)
		abort();
	q->key = *key;
	(void)pthread_mutex_lock(&l->lock);
	*l->last = q;
	l->last = &q->next;
	(void)pthread_cond_signal(&l->cond);
	(void)pthread_mutex_unlock(&l->lock);
}

static bool
start_thread(struct br_lookup *l, struct br_error *err)
{
	sigset_t all, old;
	int rc;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&l->thread, NULL, run, l);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc == 0 || br_fail(err, "no thread for the schema registry: %s",
	                      strerror(rc));
}

/* Frees all but the thread, which does not run. */
static void
dispose(struct br_lookup *l)
{
	struct question *q, *next;

	for (q = l->first; q != NULL; q = next) {
		next = q->next;
		free(q);
	}
	while (l->replies != NULL) {
		struct br_registry_reply *reply = l->replies;

		l->replies = reply->next;
		br_registry_reply_free(reply);
	}
	br_fetch_free(l->fetch);
	br_registry_free(l->registry);
	(void)pthread_cond_destroy(&l->cond);
	(void)pthread_mutex_destroy(&l->lock);
	free(l);
}

struct br_lookup *
br_lookup_new(const struct br_config *config, struct br_alarms *alarms,
    int wake_fd, struct br_error *err)
{
	const struct br_config_registry *r = &config->registry;
	struct br_fetch_rules rules = {
	    .user = r->user,
	    .password = r->password,
	    .token = r->token,
	    .ca_file = r->ca_file,
	    .timeout_ms = r->timeout_ms,
	    .connect_timeout_ms = r->connect_timeout_ms,
	};
	struct br_lookup *l = calloc(1, sizeof(*l));

	if (l == NULL)
		abort();
	l->config = config;
	l->alarms = alarms;
	l->wake_fd = wake_fd;
	l->last = &l->first;
	(void)pthread_mutex_init(&l->lock, NULL);
	(void)pthread_cond_init(&l->cond, NULL);
	l->registry = br_registry_new(ask, l);
	l->fetch = br_fetch_new(&rules, err);
	if (l->fetch != NULL && start_thread(l, err))
		return l;
	dispose(l);
	return NULL;
}

void
br_lookup_free(struct br_lookup *l)
{
	if (l == NULL)
		return;
	(void)pthread_mutex_lock(&l->lock);
	l->stop = true;
	(void)pthread_cond_signal(&l->cond);
	(void)pthread_mutex_unlock(&l->lock);
	br_fetch_abort(l->fetch);
	(void)pthread_join(l->thread, NULL);
	dispose(l);
}

struct br_registry *
br_lookup_registry(struct br_lookup *l)
{
	return l != NULL ? l->registry : NULL;
}

static void
set_alarm(struct br_lookup *l)
{
	const char *trouble = br_registry_trouble(l->registry);
	struct br_error text;

	l->down = trouble != NULL;
	if (trouble != NULL)
		(void)br_fail(&text,
		    "no schema can be had: %s; partitions that need one wait, "
		    "nothing of them is dead-lettered, and it goes on by "
		    "itself once the registry answers",
		    trouble);
	br_alarms_set(l->alarms, BR_ALARM_REGISTRY_DOWN,
	    trouble != NULL ? text.text : NULL);
}

int64_t
br_lookup_step(struct br_lookup *l, int64_t now_ms)
{
	struct br_registry_reply *reply, *next;
	int64_t next_ms;
	bool any;

	if (l == NULL)
		return INT64_MAX;
	(void)pthread_mutex_lock(&l->lock);
	reply = l->replies;
	l->replies = NULL;
	(void)pthread_mutex_unlock(&l->lock);
	for (any = reply != NULL; reply != NULL; reply = next) {
		next = reply->next;
		br_registry_answer(l->registry, reply, now_ms);
	}
	next_ms = br_registry_step(l->registry, now_ms);
	if (any || (br_registry_trouble(l->registry) != NULL) != l->down)
		set_alarm(l);
	return next_ms;
}
