/* bridge: see the header. What happens before the loop stands in prepare.c. */
#include "bridge/runtime/bridge.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bridge/admin/server.h"
#include "bridge/base/clock.h"
#include "bridge/base/metrics.h"
#include "bridge/kafka/consumer.h"
#include "bridge/runtime/alarms.h"
#include "bridge/runtime/burial.h"
#include "bridge/runtime/lookup.h"
#include "bridge/runtime/parts.h"
#include "bridge/runtime/pool.h"
#include "bridge/runtime/prepare.h"
#include "bridge/runtime/pressure.h"
#include "bridge/runtime/reading.h"
#include "bridge/runtime/reload.h"
#include "bridge/source/registry_ask.h"

#define GAUGES_MS 1000

/* Legal moves: to the right only. */
enum phase { PREPARING, RUNNING, DRAINING, LEAVING, ENDED };

struct br_bridge {
	const struct br_config *config;
	struct br_alarms *alarms;
	struct br_admin *admin;
	struct br_consumer *consumer;
	struct br_pool *pool;
	struct br_parts *parts;
	struct br_burial *burial;
	struct br_reading *reading;
	struct br_pressure pressure;
	struct br_lookup *lookup; /* NULL: no schema registry */
	int wake_fd;              /* workers: something settled */
	int control_fd;           /* stop and reload */
	atomic_bool stop;
	atomic_bool reload;
	atomic_bool ready;
	enum phase phase;
	int status;
	int64_t drain_ms; /* DRAINING: since when */
	bool subscribed;
	int64_t gauges_ms;
};

/* ---- wiring */

bool
br_bridge_ready(struct br_bridge *b, struct br_buffer *why)
{
	if (br_alarms_block_ready(b->alarms, why))
		return false;
	if (atomic_load(&b->ready))
		return true;
	br_buffer_str(why, "no partitions assigned yet");
	return false;
}

static bool
admin_ready(void *opaque, struct br_buffer *why)
{
	return br_bridge_ready(opaque, why);
}

static void
admin_refresh(void *opaque)
{
	struct br_bridge *b = opaque;
	struct br_sched_stats stats;

	br_pool_stats(b->pool, &stats);
	br_metric_set(BR_M_IN_FLIGHT, (int64_t)stats.in_flight);
	br_metric_set(BR_M_WAITING, (int64_t)stats.waiting);
	br_pool_show_targets(b->pool);
}

/* A dead letter is stored, or forgotten because its partition is gone. */
static void
buried(void *opaque, struct br_ref *ref, bool stored)
{
	struct br_bridge *b = opaque;

	br_pool_buried(b->pool, ref);
	if (stored)
		br_parts_settled(b->parts, ref);
	else
		br_parts_dropped(b->parts, ref);
}

static bool
make_rooms(struct br_bridge *b, int *status, struct br_error *err)
{
	const char *own[1] = {b->config->dlq.topic};

	*status = BR_EXIT_CONFIG;
	b->pool = br_pool_new(b->config, b->wake_fd, err);
	if (b->pool == NULL)
		return false;
	b->consumer = br_consumer_new(b->config, own, 1, err);
	if (b->consumer == NULL)
		return false;
	b->burial = br_burial_new(b->config, b->alarms, buried, b, err);
	if (b->burial == NULL)
		return false;
	b->parts = br_parts_new(b->config, b->consumer, b->pool, b->alarms);
	b->pressure = (struct br_pressure){.config = b->config,
	    .parts = b->parts,
	    .pool = b->pool,
	    .alarms = b->alarms};
	b->reading = br_reading_new(
	    b->config, b->consumer, b->parts, b->pool, &b->pressure, err);
	if (b->reading == NULL)
		return false;
	if (br_registry_configured(&b->config->registry)) {
		b->lookup =
		    br_lookup_new(b->config, b->alarms, b->wake_fd, err);
		if (b->lookup == NULL)
			return false;
		br_reading_use(b->reading, br_lookup_registry(b->lookup));
	}
	if (b->config->admin.host[0] != '\0') {
		struct br_admin_source source = {b, admin_ready, admin_refresh};

		*status = BR_EXIT_FATAL;
		b->admin = br_admin_start(
		    b->config->admin.host, b->config->admin.port, &source, err);
		if (b->admin == NULL)
			return false;
	}
	return true;
}

struct br_bridge *
br_bridge_new(const struct br_config *config, int *status, struct br_error *err)
{
	struct br_bridge *b = calloc(1, sizeof(*b));

	if (b == NULL)
		abort();
	b->config = config;
	b->alarms = br_alarms_new();
	b->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	b->control_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (b->wake_fd < 0 || b->control_fd < 0) {
		*status = BR_EXIT_FATAL;
		(void)br_fail(err, "eventfd: %s", strerror(errno));
	} else if (make_rooms(b, status, err))
		return b;
	(void)br_bridge_free(b);
	return NULL;
}

/* Takes everything back from the engine: no worker runs any more. */
static void
give_up(struct br_bridge *b)
{
	struct br_ref *ref, *next;

	/* With all partitions closed a burial makes nothing ready. */
	br_parts_shutdown(b->parts, br_clock_mono_ms());
	for (ref = br_pool_settled(b->pool); ref != NULL; ref = next) {
		next = ref->settled_next;
		if (ref->settled == BR_SETTLED_DEAD)
			br_pool_buried(b->pool, ref);
		br_parts_dropped(b->parts, ref);
	}
}

enum br_freed
br_bridge_free(struct br_bridge *b)
{
	enum br_freed freed = BR_FREED;

	if (b->admin != NULL)
		br_admin_stop(b->admin);
	if (b->pool != NULL && !br_pool_stop(b->pool, true, 2000))
		return BR_FREED_NOT;
	if (b->parts != NULL)
		give_up(b);
	br_burial_free(b->burial, 0);
	/* Until 2.3 (its issue 4312) librdkafka aborts when a member ends that
	 * has joined and was never assigned anything: that one is left. */
	if ((b->subscribed && !br_parts_assigned(b->parts)) ||
	    !br_consumer_free(b->consumer))
		freed = BR_FREED_BUT_CLIENT;
	br_parts_free(b->parts);
	br_pool_free(b->pool);
	br_reading_free(b->reading);
	br_lookup_free(b->lookup);
	br_alarms_free(b->alarms);
	if (b->wake_fd >= 0)
		(void)close(b->wake_fd);
	if (b->control_fd >= 0)
		(void)close(b->control_fd);
	free(b);
	return freed;
}

static void
control(struct br_bridge *b)
{
	uint64_t one = 1;
	int saved = errno;

	if (write(b->control_fd, &one, sizeof(one)) < 0)
		errno = saved; /* full: it will wake all the same */
}

void
br_bridge_stop(struct br_bridge *b)
{
	atomic_store(&b->stop, true);
	control(b);
}

void
br_bridge_reload(struct br_bridge *b)
{
	atomic_store(&b->reload, true);
	control(b);
}

uint16_t
br_bridge_admin_port(const struct br_bridge *b)
{
	return b->admin != NULL ? br_admin_port(b->admin) : 0;
}

/* ---- the loop's parts */

static void
drain_settled(struct br_bridge *b)
{
	struct br_ref *ref = br_pool_settled(b->pool), *next;

	for (; ref != NULL; ref = next) {
		next = ref->settled_next;
		switch (ref->settled) {
		case BR_SETTLED_NOT:
			abort();
		case BR_SETTLED_DELIVERED:
			br_parts_settled(b->parts, ref);
			break;
		case BR_SETTLED_DEAD:
			br_burial_add(b->burial, ref);
			break;
		case BR_SETTLED_DROPPED:
			br_parts_dropped(b->parts, ref);
			break;
		}
	}
}

static void
fatal(struct br_bridge *b, const char *msg, const char *because)
{
	BR_LOG(BR_ERROR, msg, br_kv_str("because", because));
	b->status = BR_EXIT_FATAL;
	if (b->phase < LEAVING)
		b->phase = ENDED;
}

/* Limited by the error's number: its text holds times, and never repeats. */
static void
log_kafka_error(const struct br_kafka_event *ev)
{
	char group[32];

	(void)snprintf(group, sizeof(group), "kafka %d", ev->error);
	BR_LOG_LIMITED(
	    BR_WARN, group, "kafka error", br_kv_str("because", ev->text));
}

/* `because` may be empty. */
static void
brokers_down(struct br_bridge *b, const char *because)
{
	bool told = because[0] != '\0';
	struct br_error why;

	(void)br_fail(&why,
	    "no Kafka broker can be used%s%.300s%s; events wait, and go on by "
	    "themselves",
	    told ? " (" : "", because, told ? ")" : "");
	br_alarms_set(b->alarms, BR_ALARM_BROKER_DOWN, why.text);
}

static void
kafka_event(
    struct br_bridge *b, const struct br_kafka_event *ev, int64_t now_ms)
{
	switch (ev->what) {
	case BR_KAFKA_NOTHING:
		break;
	case BR_KAFKA_ASSIGN:
	case BR_KAFKA_REVOKE:
	case BR_KAFKA_COMMITTED:
	case BR_KAFKA_ANSWER:
		if (br_reading_answer(b->reading, ev, now_ms))
			break;
		br_parts_event(b->parts, ev, now_ms);
		br_burial_forget_gone(b->burial);
		break;
	case BR_KAFKA_BROKERS_DOWN:
		brokers_down(b, ev->text);
		break;
	case BR_KAFKA_BROKERS_UP:
		br_alarms_set(b->alarms, BR_ALARM_BROKER_DOWN, NULL);
		break;
	case BR_KAFKA_ERROR:
		log_kafka_error(ev);
		/* It may name a topic that is not there. */
		br_parts_event(b->parts, ev, now_ms);
		break;
	case BR_KAFKA_FATAL:
		fatal(b, "the Kafka client cannot go on", ev->text);
		break;
	}
}

static void
drain_events(struct br_bridge *b, int64_t now_ms)
{
	struct br_kafka_event ev;

	while (br_consumer_next(b->consumer, &ev)) {
		kafka_event(b, &ev, now_ms);
		br_kafka_event_clear(&ev);
	}
}

static void
begin_drain(struct br_bridge *b, int64_t now_ms)
{
	struct br_sched_stats stats;

	br_pool_stats(b->pool, &stats);
	BR_LOG(BR_INFO, "stopping",
	    br_kv_int("in_flight", (int64_t)stats.in_flight),
	    br_kv_int("waiting", (int64_t)stats.waiting),
	    br_kv_int("limit_ms", b->config->limits.shutdown_ms));
	b->phase = DRAINING;
	b->drain_ms = now_ms;
	br_parts_shutdown(b->parts, now_ms);
}

/*
 * The end by steps, in tenths of limits.shutdown_ms: seven for what is in
 * flight to come back by itself; then it is cut off; from eight on the group
 * is left whatever is still out; from nine on nothing is waited for.
 */
static void
step_end(struct br_bridge *b, int64_t now_ms)
{
	int64_t tenth_ms = b->config->limits.shutdown_ms / 10;

	if (b->phase == DRAINING && now_ms >= b->drain_ms + 7 * tenth_ms)
		br_pool_abort(b->pool);
	if (b->phase == DRAINING && (br_parts_quiet(b->parts) ||
	                                now_ms >= b->drain_ms + 8 * tenth_ms)) {
		b->phase = LEAVING;
		br_parts_leave(b->parts, now_ms);
		br_consumer_close(b->consumer);
	}
	if (b->phase == LEAVING && (br_consumer_closed(b->consumer) ||
	                               now_ms >= b->drain_ms + 9 * tenth_ms))
		b->phase = ENDED;
}

static void
gauges(struct br_bridge *b, int64_t now_ms)
{
	if (now_ms < b->gauges_ms)
		return;
	b->gauges_ms = now_ms + GAUGES_MS;
	br_parts_gauges(b->parts, br_clock_wall_ms());
	br_pressure_look(&b->pressure, br_reading_full(b->reading), now_ms);
	br_alarms_set(
	    b->alarms, BR_ALARM_PARTITION_STUCK, br_reading_stuck(b->reading));
}

static void
step_control(struct br_bridge *b, int64_t now_ms)
{
	if (atomic_exchange(&b->reload, false)) {
		br_reload_check(b->config);
		br_pool_probe_now(b->pool);
	}
	if (atomic_load(&b->stop) && b->phase == RUNNING)
		begin_drain(b, now_ms);
	if (b->phase == RUNNING && br_parts_no_start(b->parts)) {
		b->status = BR_EXIT_UNAVAILABLE;
		begin_drain(b, now_ms);
	}
}

/* Sleeps until something happens or is due. */
static void
wait_for_anything(struct br_bridge *b, int64_t until_ms)
{
	struct pollfd fds[4] = {
	    {.fd = br_consumer_fd(b->consumer), .events = POLLIN},
	    {.fd = br_burial_fd(b->burial), .events = POLLIN},
	    {.fd = b->wake_fd, .events = POLLIN},
	    {.fd = b->control_fd, .events = POLLIN},
	};
	int64_t wait_ms = until_ms - br_clock_mono_ms();
	uint64_t count;

	if (b->phase == RUNNING && br_reading_wants(b->reading))
		wait_ms = 0;
	if (wait_ms > GAUGES_MS)
		wait_ms = GAUGES_MS;
	if (poll(fds, 4, wait_ms > 0 ? (int)wait_ms : 0) <= 0)
		return;
	if (fds[0].revents != 0) {
		br_consumer_wake_clear(b->consumer);
		br_reading_wake(b->reading);
	}
	if (fds[1].revents != 0)
		br_burial_wake_clear(b->burial);
	for (int i = 2; i < 4; i++)
		if (fds[i].revents != 0 &&
		    read(fds[i].fd, &count, sizeof(count)) < 0 &&
		    errno != EAGAIN)
			abort();
}

static void
loop(struct br_bridge *b)
{
	int64_t due_ms, parts_ms, burial_ms;

	while (b->phase != ENDED) {
		int64_t now_ms = br_clock_mono_ms();

		step_control(b, now_ms);
		drain_settled(b);
		drain_events(b, now_ms);
		burial_ms = br_burial_step(b->burial, now_ms);
		drain_settled(b);
		parts_ms = br_parts_step(b->parts, now_ms);
		if (br_parts_any_gone(b->parts))
			br_burial_forget_gone(b->burial);
		due_ms = br_lookup_step(b->lookup, now_ms);
		if (b->phase == RUNNING)
			br_reading_pass(b->reading, now_ms);
		gauges(b, now_ms);
		atomic_store(
		    &b->ready, b->phase == RUNNING && br_parts_ready(b->parts));
		if (b->phase >= DRAINING)
			step_end(b, now_ms);
		if (b->phase == ENDED)
			break;
		if (burial_ms < due_ms)
			due_ms = burial_ms;
		wait_for_anything(b, parts_ms < due_ms ? parts_ms : due_ms);
	}
}

static void
log_end(const struct br_bridge *b)
{
	BR_LOG(BR_INFO, "stopped", br_kv_int("status", b->status),
	    br_kv_int("delivered", br_metric_get(BR_M_DELIVERED)),
	    br_kv_int("connections_open_max",
	        br_metric_get(BR_M_CONNECTIONS_OPEN_MAX)));
}

int
br_bridge_run(struct br_bridge *b)
{
	struct br_error err;

	br_metric_set(BR_M_START_TIME, br_clock_wall_ms() / 1000);
	b->status = br_prepare(b->config, &b->stop, &err);
	if (b->status != BR_EXIT_OK) {
		BR_LOG(
		    BR_ERROR, "cannot start", br_kv_str("because", err.text));
		return b->status;
	}
	if (atomic_load(&b->stop))
		return BR_EXIT_OK;
	if (!br_pool_start(b->pool, &err) ||
	    !br_consumer_subscribe(b->consumer, &err)) {
		BR_LOG(
		    BR_ERROR, "cannot start", br_kv_str("because", err.text));
		return BR_EXIT_FATAL;
	}
	b->subscribed = true;
	b->phase = RUNNING;
	loop(b);
	log_end(b);
	return b->status;
}
