/* prepare: see the header. */
#include "bridge/runtime/prepare.h"

#include <poll.h>
#include <stdio.h>

#include "bridge/base/clock.h"
#include "bridge/core/pattern.h"
#include "bridge/kafka/topics.h"
#include "bridge/runtime/bridge.h"

#define SLICE_MS 1000
#define PAUSE_MS 200
/* A DLQ topic that was made a moment ago may not be known everywhere yet. */
#define DLQ_PATIENCE_MS 5000
#define WEEK_MS (7 * 24 * 3600 * 1000LL)
#define ADDED_BYTES 65536

/*
 * Waits for a topic: for brokers until `until_ms`, and for the topic, once
 * they say that there is none, until `missing_ms`. True when it is there;
 * else `err` says why not, or is empty when there is none.
 */
static bool
wait_topic(struct br_topics *t, const char *topic, int64_t until_ms,
    int64_t missing_ms, const atomic_bool *stop, struct br_topic_facts *facts,
    struct br_error *err)
{
	while (!atomic_load(stop)) {
		bool answered = br_topics_facts(t, topic, SLICE_MS, facts, err);

		if (answered && facts->exists)
			return true;
		/* What failed before is not why. */
		if (answered)
			err->text[0] = '\0';
		if (br_clock_mono_ms() >= (answered ? missing_ms : until_ms))
			return false;
		(void)poll(NULL, 0, PAUSE_MS);
	}
	return false;
}

/* Why nobody answered, with what to look at. */
static bool
no_answer(const struct br_config *config, struct br_error *err)
{
	struct br_error why = *err;

	return br_fail(err,
	    "no Kafka broker answers at kafka.brokers = \"%s\": %.600s",
	    config->kafka.brokers, why.text);
}

static bool
check_sources(struct br_topics *t, const struct br_config *config,
    const atomic_bool *stop, int64_t until_ms, int64_t *max_bytes,
    struct br_error *err)
{
	const struct br_strings *topics = &config->kafka.topics;

	for (size_t i = 0; i < topics->count; i++) {
		struct br_topic_facts facts = {0};

		if (br_pattern_is_wild(topics->item[i]))
			continue;
		err->text[0] = '\0';
		if (wait_topic(t, topics->item[i], until_ms, until_ms, stop,
		        &facts, err)) {
			if (facts.configs_known &&
			    facts.max_message_bytes > *max_bytes)
				*max_bytes = facts.max_message_bytes;
			continue;
		}
		if (atomic_load(stop))
			return false;
		if (err->text[0] != '\0')
			return no_answer(config, err);
		return br_fail(err,
		    "topic %s does not exist on %s; create it, or correct "
		    "kafka.topics",
		    topics->item[i], config->kafka.brokers);
	}
	return true;
}

static void
warn_dlq(const struct br_config *config, const struct br_topic_facts *facts,
    int64_t max_bytes)
{
	const char *topic = config->dlq.topic;

	if (!facts->configs_known) {
		BR_LOG(BR_WARN, "dead letter topic not checked",
		    br_kv_str("topic", topic),
		    br_kv_str("because", facts->note));
		return;
	}
	if (facts->append_time)
		BR_LOG(BR_WARN, "dead letter topic uses LogAppendTime",
		    br_kv_str("topic", topic),
		    br_kv_str("hint", "the original timestamp is kept in "
		                      "outbox.dlq.timestamp.ms only"));
	if (max_bytes != 0 &&
	    facts->max_message_bytes < max_bytes + ADDED_BYTES)
		BR_LOG(BR_WARN, "dead letter topic takes smaller records",
		    br_kv_str("topic", topic),
		    br_kv_int("max_message_bytes", facts->max_message_bytes),
		    br_kv_int("needed", max_bytes + ADDED_BYTES),
		    br_kv_str("hint",
		        "raise its max.message.bytes above the source's by "
		        "64 KiB, or a large dead letter will wait"));
	if (facts->retention_ms >= 0 && facts->retention_ms < WEEK_MS)
		BR_LOG(BR_WARN, "dead letter topic keeps records shortly",
		    br_kv_str("topic", topic),
		    br_kv_int("retention_ms", facts->retention_ms),
		    br_kv_str("hint", "7 days or more give people time"));
}

static bool
check_dlq(struct br_topics *t, const struct br_config *config,
    const atomic_bool *stop, int64_t until_ms, int64_t max_bytes,
    struct br_error *err)
{
	struct br_topic_facts facts = {0};
	int64_t missing_ms = br_clock_mono_ms() + DLQ_PATIENCE_MS;

	err->text[0] = '\0';
	if (!wait_topic(t, config->dlq.topic, until_ms, missing_ms, stop,
	        &facts, err)) {
		if (err->text[0] != '\0')
			return no_answer(config, err);
		return br_fail(err,
		    "the dead letter topic %s does not exist on %s; "
		    "create it with cleanup.policy=delete, or correct "
		    "dlq.topic",
		    config->dlq.topic, config->kafka.brokers);
	}
	if (facts.configs_known && facts.compacted)
		return br_fail(err,
		    "the dead letter topic %s is compacted, which would drop "
		    "dead letters; set cleanup.policy=delete on it",
		    config->dlq.topic);
	warn_dlq(config, &facts, max_bytes);
	return true;
}

int
br_prepare(const struct br_config *config, const atomic_bool *stop,
    struct br_error *err)
{
	int64_t until_ms = br_clock_mono_ms() + config->kafka.start_timeout_ms;
	int64_t max_bytes = 0;
	struct br_topics *t = br_topics_new(config, err);
	bool ok;

	if (t == NULL)
		return BR_EXIT_CONFIG;
	ok = check_sources(t, config, stop, until_ms, &max_bytes, err) &&
	     check_dlq(t, config, stop, until_ms, max_bytes, err);
	br_topics_free(t);
	return ok || atomic_load(stop) ? BR_EXIT_OK : BR_EXIT_UNAVAILABLE;
}
