/*
 * events: references and outcomes for the tests of the engine. A reference
 * and its event are the test's; tests end them with ref_free().
 */
#ifndef TESTS_UNIT_CORE_EVENTS_H
#define TESTS_UNIT_CORE_EVENTS_H

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "bridge/core/event.h"

#define TARGET "https://one.test:443"

static inline void *
must_calloc(size_t size)
{
	void *memory = calloc(1, size);

	if (memory == NULL)
		abort();
	return memory;
}

/* An event of five attempts; key NULL: none. The texts must outlive it. */
static inline struct br_ref *
ref_new(struct br_sched_part *part, int64_t offset, const char *key,
    const char *target)
{
	struct br_event *event = must_calloc(sizeof(*event));
	struct br_ref *ref = must_calloc(sizeof(*ref));

	event->record.topic = "t";
	event->record.offset = offset;
	event->order_key = br_slice_str(key);
	event->target = target;
	event->route = "";
	event->max_attempts = 5;
	ref->offset = offset;
	ref->part = part;
	ref->bytes = 100;
	ref->event = event;
	return ref;
}

static inline void
ref_free(struct br_ref *ref)
{
	free(ref->failure);
	free(ref->event);
	free(ref);
}

/* What every failed attempt brings along. */
static inline void
ref_failed(struct br_ref *ref)
{
	if (ref->failure == NULL)
		ref->failure = must_calloc(sizeof(*ref->failure));
}

/* A whole answer of this status; 0: nobody listens. */
static inline struct br_outcome
outcome_of(int status)
{
	return (struct br_outcome){
	    .http_status = status,
	    .head_complete = status != 0,
	    .transport = status != 0 ? BR_TRANSPORT_OK : BR_TRANSPORT_REFUSED,
	};
}

/* True when `call` ends its process by abort(); it runs in a child. */
static inline bool
aborts(void (*call)(void *), void *argument)
{
	const struct rlimit none = {0};
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		(void)setrlimit(RLIMIT_CORE, &none);
		(void)signal(SIGABRT, SIG_DFL);
		call(argument);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return false;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

#endif
