/*
 * alarms: conditions that a person should know of, by name. Raised and
 * cleared by the Kafka thread, read by the admin thread.
 *
 * Raising logs one line with cause and cure; raising it again with another
 * text only replaces the text; clearing logs one line.
 */
#ifndef BRIDGE_RUNTIME_ALARMS_H
#define BRIDGE_RUNTIME_ALARMS_H

#include <stdbool.h>

#include "bridge/base/buffer.h"

enum br_alarm {
	BR_ALARM_BROKER_DOWN,
	BR_ALARM_TOPIC_MISSING,
	BR_ALARM_OFFSET_GAP,
	BR_ALARM_PARTITION_STUCK,
	BR_ALARM_DLQ_UNAVAILABLE,
	BR_ALARM_DLQ_TOO_LARGE,
	BR_ALARM_EVENT_URLS_EMPTY,
	BR_ALARM_REGISTRY_DOWN,
	BR_ALARM_TARGET_CLOSED,
	BR_ALARM_BUFFER_FILLING,
	BR_ALARM_BUFFER_PARKED,
	BR_ALARM_COUNT
};

struct br_alarms;

struct br_alarms *br_alarms_new(void);
void br_alarms_free(struct br_alarms *a);

/* Raises with a text of cause and cure, or (text NULL) clears. */
void br_alarms_set(struct br_alarms *a, enum br_alarm alarm, const char *text);

bool br_alarms_is(struct br_alarms *a, enum br_alarm alarm);

/*
 * True when one of the alarms that make the bridge not ready is raised; its
 * name and text are appended. Those of receivers never do, so that a roll-out
 * of the cure is not blocked.
 */
bool br_alarms_block_ready(struct br_alarms *a, struct br_buffer *why);

/* "broker_down", … */
const char *br_alarm_name(enum br_alarm alarm);

#endif
