/* alarms: see the header. */
#include "bridge/runtime/alarms.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/base/log.h"
#include "bridge/base/metrics.h"

static const struct {
	const char *name;
	bool blocks_ready;
} table[BR_ALARM_COUNT] = {
    [BR_ALARM_BROKER_DOWN] = {"broker_down", true},
    [BR_ALARM_TOPIC_MISSING] = {"topic_missing", true},
    [BR_ALARM_OFFSET_GAP] = {"offset_gap", true},
    [BR_ALARM_PARTITION_STUCK] = {"partition_stuck", true},
    [BR_ALARM_DLQ_UNAVAILABLE] = {"dlq_unavailable", true},
    [BR_ALARM_DLQ_TOO_LARGE] = {"dlq_too_large", true},
    [BR_ALARM_EVENT_URLS_EMPTY] = {"event_urls_empty", true},
    [BR_ALARM_REGISTRY_DOWN] = {"registry_down", true},
    [BR_ALARM_TARGET_CLOSED] = {"target_closed", false},
    [BR_ALARM_BUFFER_FILLING] = {"buffer_filling", false},
    [BR_ALARM_BUFFER_PARKED] = {"buffer_parked", false},
};

struct br_alarms {
	pthread_mutex_t lock;
	bool raised[BR_ALARM_COUNT];
	char text[BR_ALARM_COUNT][1500];
};

struct br_alarms *
br_alarms_new(void)
{
	struct br_alarms *a = calloc(1, sizeof(*a));

	if (a == NULL)
		abort();
	(void)pthread_mutex_init(&a->lock, NULL);
	for (int i = 0; i < BR_ALARM_COUNT; i++)
		br_metric_set_label(BR_M_ALARM, table[i].name, 0);
	return a;
}

void
br_alarms_free(struct br_alarms *a)
{
	if (a == NULL)
		return;
	(void)pthread_mutex_destroy(&a->lock);
	free(a);
}

const char *
br_alarm_name(enum br_alarm alarm)
{
	return table[alarm].name;
}

void
br_alarms_set(struct br_alarms *a, enum br_alarm alarm, const char *text)
{
	bool was, is = text != NULL;

	(void)pthread_mutex_lock(&a->lock);
	was = a->raised[alarm];
	a->raised[alarm] = is;
	(void)snprintf(
	    a->text[alarm], sizeof(a->text[alarm]), "%s", is ? text : "");
	(void)pthread_mutex_unlock(&a->lock);
	if (was == is)
		return;
	br_metric_set_label(BR_M_ALARM, table[alarm].name, is);
	if (is)
		BR_LOG(BR_ERROR, "alarm", br_kv_str("alarm", table[alarm].name),
		    br_kv_str("because", text));
	else
		BR_LOG(BR_INFO, "alarm cleared",
		    br_kv_str("alarm", table[alarm].name));
}

bool
br_alarms_is(struct br_alarms *a, enum br_alarm alarm)
{
	bool is;

	(void)pthread_mutex_lock(&a->lock);
	is = a->raised[alarm];
	(void)pthread_mutex_unlock(&a->lock);
	return is;
}

bool
br_alarms_block_ready(struct br_alarms *a, struct br_buffer *why)
{
	bool blocks = false;

	(void)pthread_mutex_lock(&a->lock);
	for (int i = 0; i < BR_ALARM_COUNT; i++)
		if (a->raised[i] && table[i].blocks_ready) {
			br_buffer_format(why, "%s%s: %s", blocks ? "; " : "",
			    table[i].name, a->text[i]);
			blocks = true;
		}
	(void)pthread_mutex_unlock(&a->lock);
	return blocks;
}
