/*
 * properties: does librdkafka know an item of kafka.properties, and take its
 * value? Asked before anything connects, so that a misspelt one is a fault of
 * the configuration like any other. Any thread.
 */
#ifndef BRIDGE_KAFKA_PROPERTIES_H
#define BRIDGE_KAFKA_PROPERTIES_H

#include "bridge/base/buffer.h"
#include "bridge/base/error.h"
#include "bridge/config/config.h"

/*
 * Checks "name=value", "consumer.name=value" or "producer.name=value". False
 * and a reason that names the property; with `hide` it never shows the value.
 */
bool br_property_check(const char *text, bool hide, struct br_error *err);

/*
 * Checks all of a configuration that was loaded; appends a line with file and
 * line for each fault, as br_config_load() does.
 */
bool br_properties_check(const struct br_config *c, struct br_buffer *faults);

#endif
