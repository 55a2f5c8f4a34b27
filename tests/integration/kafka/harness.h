/*
 * harness: a mock cluster, a configuration for it, and waiting for what the
 * room under test has to say. Every wait has a deadline and fails the test.
 */
#ifndef BRIDGE_TESTS_HARNESS_H
#define BRIDGE_TESTS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bridge/config/config.h"
#include "bridge/kafka/consumer.h"
#include "bridge/kafka/mockcluster.h"

#define WAIT_MS 60000

struct harness {
	struct br_mock_cluster *mock;
	struct br_config config;
	char *topics[4], *properties[16];
};

/* A cluster of one broker; the configuration names it and `topic`. */
void harness_start(struct harness *h, const char *topic, int partitions);
void harness_stop(struct harness *h);

/* Adds a line to kafka.properties. */
void harness_property(struct harness *h, const char *text);

/* Writes `count` records "<from>" … to a partition, without key. */
void harness_fill(struct harness *h, const char *topic, int32_t partition,
    int from, int count);

/* A member of the group that has subscribed. */
struct br_consumer *harness_join(struct harness *h);

/* Sleeps until one of the members has something; fails after `until_ms`. */
void harness_poll(
    struct br_consumer *const *member, size_t count, int64_t until_ms);

/* Gives the next event of this kind; others are cleared. */
struct br_kafka_event harness_event(
    struct br_consumer *c, enum br_kafka_what what);

/* Waits for an assignment and reads all of it from `offset`. */
void harness_assign(struct br_consumer *c, int64_t offset);

/* The next `out` that is not an end; valid until the next read. */
struct br_read harness_read(struct br_consumer *c);

/* At least one of `max` reads, ends too; valid until the next read. */
size_t harness_batch(struct br_consumer *c, struct br_read *out, size_t max);

/* Leaves the group, giving up what is revoked, and frees. */
void harness_leave(struct br_consumer *c);

#define assert_bytes(slice, text)                                              \
	do {                                                                   \
		assert_int_equal((slice).len, sizeof(text) - 1);               \
		assert_non_null((slice).data);                                 \
		assert_memory_equal((slice).data, text, sizeof(text) - 1);     \
	} while (0)

#endif
