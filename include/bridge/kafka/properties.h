/*
 * properties: does librdkafka know an item of kafka.properties, and take its
 * value? Asked before anything connects, so that a misspelt one is a fault of
 * the configuration like any other. Any thread.
 */
#ifndef BRIDGE_KAFKA_PROPERTIES_H
#define BRIDGE_KAFKA_PROPERTIES_H

#include "bridge/base/error.h"

/*
 * Checks "name=value", "consumer.name=value" or "producer.name=value". False
 * and a reason that names the property; with `hide` it never shows the value.
 */
bool br_property_check(const char *text, bool hide, struct br_error *err);

#endif
