/* joining: see the header. */
#include "joining.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/base/clock.h"

#include "client.h"

/* Kafka's numbers of the requests. */
#define JOIN_GROUP 11
#define HEARTBEAT 12
#define SYNC_GROUP 14
/* Longest wait for a group; a lost request must not end all commits. */
#define OVERDUE_MS 30000
/* The JoinGroup comes within a second. */
#define ASKED_OVERDUE_MS 1500
/* A coordinator that does not answer takes no commit either; it is tried. */
#define BEAT_OVERDUE_MS 2000
/* At most, from the answer to the JoinGroup it causes, on a busy machine. */
#define BEAT_GRACE_MS 50

static rd_kafka_resp_err_t
sent(rd_kafka_t *rk, int fd, const char *name, int32_t id, int16_t key,
    int16_t version, int32_t corr, size_t size, void *opaque)
{
	struct br_joining *j = opaque;

	(void)rk, (void)fd, (void)name, (void)id;
	(void)version, (void)corr, (void)size;
	if (key == JOIN_GROUP) {
		atomic_store(&j->since_ms, br_clock_mono_ms());
		atomic_store(&j->asked_ms, 0);
	} else if (key == HEARTBEAT)
		atomic_store(&j->beat_ms, br_clock_mono_ms());
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t
received(rd_kafka_t *rk, int fd, const char *name, int32_t id, int16_t key,
    int16_t version, int32_t corr, size_t size, int64_t rtt,
    rd_kafka_resp_err_t err, void *opaque)
{
	struct br_joining *j = opaque;

	(void)rk, (void)fd, (void)name, (void)id;
	(void)version, (void)corr, (void)size, (void)rtt, (void)err;
	if (key == SYNC_GROUP)
		atomic_store(&j->since_ms, 0);
	else if (key == HEARTBEAT) {
		/* in this order: no moment without one of them */
		atomic_store(&j->back_ms, br_clock_mono_ms());
		atomic_store(&j->beat_ms, 0);
	}
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t
begin(rd_kafka_t *rk, const rd_kafka_conf_t *conf, void *opaque, char *text,
    size_t size)
{
	rd_kafka_resp_err_t e;

	(void)conf, (void)text, (void)size;
	e = rd_kafka_interceptor_add_on_request_sent(
	    rk, "joining", sent, opaque);
	if (e == RD_KAFKA_RESP_ERR_NO_ERROR)
		e = rd_kafka_interceptor_add_on_response_received(
		    rk, "joining", received, opaque);
	return e;
}

/* Not so long that frequent heartbeats leave no time to commit. */
static void
read_interval(struct br_joining *j, const rd_kafka_conf_t *conf)
{
	char text[32] = "";
	size_t size = sizeof(text);
	long interval_ms;

	(void)rd_kafka_conf_get(conf, "heartbeat.interval.ms", text, &size);
	interval_ms = strtol(text, NULL, 10);
	j->grace_ms =
	    interval_ms / 4 < BEAT_GRACE_MS ? interval_ms / 4 : BEAT_GRACE_MS;
	j->beat_most_ms = interval_ms / 2 < BEAT_OVERDUE_MS ? interval_ms / 2
	                                                    : BEAT_OVERDUE_MS;
}

bool
br_joining_watch(
    struct br_joining *j, rd_kafka_conf_t *conf, struct br_error *err)
{
	char debug[512] = "", more[520];
	size_t size = sizeof(debug);

	read_interval(j, conf);
	(void)rd_kafka_conf_get(conf, "debug", debug, &size);
	j->debug = debug[0] != '\0';
	(void)snprintf(
	    more, sizeof(more), "%s%scgrp", debug, debug[0] != '\0' ? "," : "");
	(void)rd_kafka_conf_interceptor_add_on_new(conf, "joining", begin, j);
	return br_client_set(conf, "debug", more, err);
}

bool
br_joining_log(struct br_joining *j, rd_kafka_event_t *ev)
{
	const char *facility, *text;
	int level;

	if (rd_kafka_event_log(ev, &facility, &text, &level) != 0 || level < 7)
		return false;
	if (strcmp(facility, "HEARTBEAT") == 0 &&
	    strstr(text, "error response") != NULL)
		atomic_store(&j->asked_ms, br_clock_mono_ms());
	return !j->debug;
}

static bool
is_recent(int64_t at_ms, int64_t now_ms, int64_t most_ms)
{
	return at_ms != 0 && now_ms - at_ms < most_ms;
}

bool
br_joining_is(const struct br_joining *j, bool revoking)
{
	/* Each is set before the one before it is cleared, so in this order
	 * none is missed. */
	int64_t beat_ms = atomic_load(&j->beat_ms);
	int64_t back_ms = atomic_load(&j->back_ms);
	int64_t asked_ms = atomic_load(&j->asked_ms);
	int64_t since_ms = atomic_load(&j->since_ms);
	int64_t now_ms = br_clock_mono_ms();

	if (is_recent(since_ms, now_ms, OVERDUE_MS))
		return true;
	/* No JoinGroup goes out before the revoke is answered, and heartbeats
	 * ask for it all the time. */
	if (revoking)
		return false;
	return is_recent(beat_ms, now_ms, j->beat_most_ms) ||
	       is_recent(back_ms, now_ms, j->grace_ms) ||
	       is_recent(asked_ms, now_ms, ASKED_OVERDUE_MS);
}
