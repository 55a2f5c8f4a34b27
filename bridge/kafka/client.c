/* client: see the header. */
#include "client.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "bridge/base/log.h"

#include "memory.h"
#include "token.h"

struct setting {
	const char *name, *value;
};

static const struct setting common_defaults[] = {
    {"socket.keepalive.enable", "true"},
    {"topic.metadata.refresh.interval.ms", "30000"},
    {"statistics.interval.ms", "0"},
};

/* An answer comes on top of a queue that is nearly full: it must not grow with
 * the number of partitions (librdkafka's default is 50 MB). Each fetch begins
 * with the next partition: as much as one of them may fill, so that they have
 * turns. */
#define FETCH_BYTES "1048576"
/* A message in the queue costs 450 bytes besides its own, which are all that
 * is counted: of small ones there may be so many, for each MiB of the queue. */
#define QUEUE_MESSAGES "25000"
#define QUEUE_MESSAGES_PER_MIB 3125

static const struct setting consumer_defaults[] = {
    {"fetch.max.bytes", FETCH_BYTES},
    /*
     * A broker answers a connection's requests in their order: behind a fetch
     * that waits, a question or the first fetch of a new partition waits too
     * (measured: 0.5 s with the default of 500).
     */
    {"fetch.wait.max.ms", "100"},
    {"queued.min.messages", QUEUE_MESSAGES},
    {"queued.max.messages.kbytes", "8192"},
    {"partition.assignment.strategy", "cooperative-sticky"},
    {"heartbeat.interval.ms", "1000"},
    {"session.timeout.ms", "10000"},
    {"check.crcs", "true"},
    {"allow.auto.create.topics", "false"},
};

static const struct setting consumer_forced[] = {
    {"enable.auto.commit", "false"},
    {"enable.auto.offset.store", "false"},
    {"isolation.level", "read_committed"},
    {"enable.partition.eof", "true"},
    {"auto.offset.reset", "error"},
    {"allow.auto.create.topics", "false"},
};

/* The broker is to limit the size, not we (design: dead letters). */
static const struct setting producer_defaults[] = {
    {"linger.ms", "0"},
    {"message.max.bytes", "1000000000"},
    {"message.timeout.ms", "30000"},
    {"partitioner", "murmur2_random"},
};

static const struct setting producer_forced[] = {
    {"acks", "all"},
    {"enable.idempotence", "true"},
};

/* Properties that are ours, and where to say what they would say. */
static const struct setting reserved[] = {
    {"bootstrap.servers", "kafka.brokers"},
    {"metadata.broker.list", "kafka.brokers"},
    {"group.id", "kafka.group"},
    {"group.instance.id", "kafka.instance"},
    {"auto.offset.reset", "kafka.start and kafka.on_gap"},
    {"enable.auto.commit", NULL},
    {"enable.auto.offset.store", NULL},
    {"isolation.level", NULL},
    {"enable.partition.eof", NULL},
    {"allow.auto.create.topics", NULL},
    {"enable.idempotence", NULL},
    {"acks", NULL},
    {"batch.num.messages", NULL},
    {"request.required.acks", NULL},
    {"log.queue", NULL},
};

/* The first version whose SCRAM sends the server's nonce as it came. */
#define SCRAM_AT_KAFKA_4 0x020601ff

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Whether a reason of librdkafka for this property might show a secret. */
static bool
is_secret(const char *name)
{
	static const char *const words[] = {
	    "password", "secret", "key.pem", "ssl.key", "oauthbearer.config"};

	for (size_t i = 0; i < COUNT(words); i++)
		if (strstr(name, words[i]) != NULL)
			return true;
	return false;
}

bool
br_client_set(rd_kafka_conf_t *conf, const char *name, const char *value,
    struct br_error *err)
{
	char reason[512];

	if (rd_kafka_conf_set(conf, name, value, reason, sizeof(reason)) ==
	    RD_KAFKA_CONF_OK)
		return true;
	if (is_secret(name))
		return br_fail(
		    err, "%s: librdkafka does not take this value", name);
	return br_fail(err, "%s: %s", name, reason);
}

static bool
set_all(rd_kafka_conf_t *conf, const struct setting *list, size_t count,
    struct br_error *err)
{
	for (size_t i = 0; i < count; i++)
		if (!br_client_set(conf, list[i].name, list[i].value, err))
			return false;
	return true;
}

bool
br_client_may_set(const char *name, struct br_error *err)
{
	for (size_t i = 0; i < COUNT(reserved); i++) {
		if (strcmp(reserved[i].name, name) != 0)
			continue;
		if (reserved[i].value == NULL)
			return br_fail(err, "%s cannot be changed", name);
		return br_fail(
		    err, "set %s instead of %s", reserved[i].value, name);
	}
	return true;
}

/*
 * One "name=value" for this kind of client. What only another kind uses is
 * set nevertheless: librdkafka ignores it, and thereby tells us that it knows
 * the name, so that a misspelt one is an error whichever client is first.
 */
static bool
override(rd_kafka_conf_t *conf, enum br_client_kind kind, const char *text,
    struct br_error *err)
{
	const char *equals = strchr(text, '=');
	char name[128];
	size_t len;
	bool mine = true;
	struct br_error why;

	if (equals == NULL)
		return br_fail(err, "kafka.properties: not name=value");
	while (*text == ' ')
		text++;
	if (strncmp(text, "consumer.", 9) == 0) {
		text += 9;
		mine = kind != BR_CLIENT_PRODUCER;
	} else if (strncmp(text, "producer.", 9) == 0) {
		text += 9;
		mine = kind == BR_CLIENT_PRODUCER;
	}
	len = (size_t)(equals - text);
	while (len > 0 && text[len - 1] == ' ')
		len--;
	if (len == 0 || len >= sizeof(name))
		return br_fail(err, "kafka.properties: not name=value");
	memcpy(name, text, len);
	name[len] = '\0';
	if (!br_client_may_set(name, &why))
		return br_fail(err, "kafka.properties: %s", why.text);
	if (!mine)
		return true;
	if (!br_client_set(conf, name, equals + 1, &why))
		return br_fail(err, "kafka.properties: %s", why.text);
	return true;
}

static bool
set_identity(rd_kafka_conf_t *conf, const struct br_config *config,
    enum br_client_kind kind, struct br_error *err)
{
	const struct br_config_kafka *k = &config->kafka;
	char host[65] = "", id[128];

	(void)gethostname(host, sizeof(host) - 1);
	(void)snprintf(id, sizeof(id), "outbox-bridge-%s-%ld",
	    k->instance != NULL && k->instance[0] != '\0' ? k->instance : host,
	    (long)getpid());
	if (!br_client_set(conf, "client.id", id, err) ||
	    !br_client_set(conf, "bootstrap.servers", k->brokers, err))
		return false;
	if (kind != BR_CLIENT_CONSUMER)
		return true;
	if (k->instance != NULL && k->instance[0] != '\0' &&
	    !br_client_set(conf, "group.instance.id", k->instance, err))
		return false;
	return br_client_set(conf, "group.id", k->group, err);
}

/*
 * How soon a full queue is looked at again; librdkafka's default of 1 s lets
 * a small one run empty. Versions before 2.2 cannot be told.
 */
static bool
set_backoff(rd_kafka_conf_t *conf, struct br_error *err)
{
	return rd_kafka_version() < 0x02020000 ||
	       br_client_set(conf, "fetch.queue.backoff.ms", "20", err);
}

static int64_t
number(const rd_kafka_conf_t *conf, const char *name)
{
	char text[32] = "0";
	size_t size = sizeof(text);

	if (rd_kafka_conf_get(conf, name, text, &size) != RD_KAFKA_CONF_OK)
		return 0;
	return strtoll(text, NULL, 10);
}

/* Replaces our own value of a property, not one of the configuration. */
static bool
adapt(rd_kafka_conf_t *conf, const char *name, const char *ours, int64_t value,
    struct br_error *err)
{
	char text[32];

	if (number(conf, name) != strtoll(ours, NULL, 10))
		return true;
	(void)snprintf(text, sizeof(text), "%lld", (long long)value);
	return br_client_set(conf, name, text, err);
}

/*
 * What follows from overrides of other properties: librdkafka wants an answer
 * to have room for message.max.bytes, which may have been raised for the
 * producer's sake; and a larger queue is meant to hold more messages.
 */
static bool
fit_queue(rd_kafka_conf_t *conf, struct br_error *err)
{
	int64_t message = number(conf, "message.max.bytes");
	int64_t part = number(conf, "fetch.message.max.bytes");
	int64_t messages = number(conf, "queued.max.messages.kbytes") *
	                   QUEUE_MESSAGES_PER_MIB / 1024;

	message = part > message ? part : message;
	if (message > strtoll(FETCH_BYTES, NULL, 10) &&
	    !adapt(conf, "fetch.max.bytes", FETCH_BYTES, message, err))
		return false;
	return messages <= strtoll(QUEUE_MESSAGES, NULL, 10) ||
	       adapt(conf, "queued.min.messages", QUEUE_MESSAGES,
	           messages < 10000000 ? messages : 10000000, err);
}

static bool
fill(rd_kafka_conf_t *conf, const struct br_config *config,
    enum br_client_kind kind, struct br_error *err)
{
	bool producer = kind == BR_CLIENT_PRODUCER;

	if (!set_identity(conf, config, kind, err) ||
	    !set_all(conf, common_defaults, COUNT(common_defaults), err))
		return false;
	if (producer ? !set_all(conf, producer_defaults,
	                   COUNT(producer_defaults), err)
	             : !set_all(conf, consumer_defaults,
	                   COUNT(consumer_defaults), err))
		return false;
	if (kind == BR_CLIENT_CONSUMER && !set_backoff(conf, err))
		return false;
	for (size_t i = 0; i < config->kafka.properties.count; i++)
		if (!override(
		        conf, kind, config->kafka.properties.item[i], err))
			return false;
	if (!producer && !fit_queue(conf, err))
		return false;
	if (producer
	        ? !set_all(conf, producer_forced, COUNT(producer_forced), err)
	        : !set_all(conf, consumer_forced, COUNT(consumer_forced), err))
		return false;
	return br_client_set(conf, "log.queue", "true", err) &&
	       br_token_prepare(conf, err);
}

rd_kafka_conf_t *
br_client_conf(const struct br_config *config, enum br_client_kind kind,
    struct br_error *err)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	int events = RD_KAFKA_EVENT_LOG | RD_KAFKA_EVENT_ERROR;

	if (!fill(conf, config, kind, err)) {
		rd_kafka_conf_destroy(conf);
		return NULL;
	}
	if (kind == BR_CLIENT_CONSUMER)
		events |= RD_KAFKA_EVENT_REBALANCE |
		          RD_KAFKA_EVENT_OFFSET_COMMIT | RD_KAFKA_EVENT_FETCH;
	if (kind == BR_CLIENT_PRODUCER)
		events |= RD_KAFKA_EVENT_DR;
	rd_kafka_conf_set_events(conf, events);
	return conf;
}

rd_kafka_t *
br_client_new(rd_kafka_type_t type, rd_kafka_conf_t *conf, struct br_error *err)
{
	char reason[512];
	rd_kafka_t *rk = rd_kafka_new(type, conf, reason, sizeof(reason));

	if (rk == NULL) {
		rd_kafka_conf_destroy(conf);
		(void)br_fail(err, "kafka client: %s", reason);
		return NULL;
	}
	br_token_serve(rk);
	return rk;
}

static enum br_level
level_of(int syslog_level)
{
	if (syslog_level <= 2)
		return BR_ERROR;
	if (syslog_level <= 4)
		return BR_WARN;
	return syslog_level <= 6 ? BR_INFO : BR_DEBUG;
}

void
br_client_log(const rd_kafka_t *rk, rd_kafka_event_t *ev)
{
	const char *facility, *text, *name = rd_kafka_name(rk);
	char group[96];
	int level;

	if (rd_kafka_event_log(ev, &facility, &text, &level) != 0)
		return;
	/* kafka.properties go to every client on purpose */
	if (strcmp(facility, "CONFWARN") == 0 &&
	    strstr(text, "will be ignored by this") != NULL)
		return;
	/*
	 * Either told as an error event too, or, by brokers older than 0.11,
	 * with every request for metadata.
	 */
	if (strcmp(facility, "FAIL") == 0 ||
	    strcmp(facility, "AUTOCREATE") == 0)
		level = 7;
	(void)snprintf(group, sizeof(group), "librdkafka %s", facility);
	BR_LOG_LIMITED(level_of(level), group, "librdkafka",
	    br_kv_str("client", name), br_kv_str("facility", facility),
	    br_kv_str("text", text));
}

void
br_client_log_error(const rd_kafka_t *rk, rd_kafka_event_t *ev)
{
	const char *name = rd_kafka_err2name(rd_kafka_event_error(ev));
	const char *text = rd_kafka_event_error_string(ev);

	if (rd_kafka_event_error(ev) == RD_KAFKA_RESP_ERR__AUTHENTICATION &&
	    rd_kafka_version() < SCRAM_AT_KAFKA_4 &&
	    strstr(text, "SCRAM") != NULL)
		BR_LOG_LIMITED(BR_WARN, "scram", "scram",
		    br_kv_str("client", rd_kafka_name(rk)),
		    br_kv_str("hint",
		        "brokers of Kafka 4 refuse SCRAM of librdkafka before "
		        "2.6.1, also with the right password"));
	BR_LOG_LIMITED(BR_WARN, name, "kafka error",
	    br_kv_str("client", rd_kafka_name(rk)), br_kv_str("error", name),
	    br_kv_str("text", text));
}

struct destroyer {
	rd_kafka_t *rk;
	int flags;
};

static void *
destroy_thread(void *arg)
{
	struct destroyer d = *(struct destroyer *)arg;

	free(arg);
	rd_kafka_destroy_flags(d.rk, d.flags);
	return NULL;
}

bool
br_kafka_thread(pthread_t *thread, void *(*run)(void *), void *opaque)
{
	sigset_t all, old;
	int error;

	/* Signals are the main thread's. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(thread, NULL, run, opaque);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error == 0;
}

bool
br_client_destroy(rd_kafka_t *rk, int flags, int timeout_ms)
{
	struct destroyer *d = br_kafka_zeroed(1, sizeof(*d));
	struct timespec until;
	pthread_t thread;

	d->rk = rk;
	d->flags = flags;
	if (!br_kafka_thread(&thread, destroy_thread, d)) {
		free(d);
		return false;
	}
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	if (pthread_timedjoin_np(thread, NULL, &until) == 0)
		return true;
	(void)pthread_detach(thread);
	return false;
}
