/*
 * check: what one string of the configuration must look like, and how the
 * two structured ones (start, listen) are read. No connection, no look-up of
 * a name. Each returns false and a reason that completes "KEY: …"; values of
 * properties and the secret parts of URLs never stand in it.
 */
#ifndef BRIDGE_CONFIG_CHECK_H
#define BRIDGE_CONFIG_CHECK_H

#include "bridge/config/config.h"

bool br_check_topic(const char *text, struct br_error *err);      /* plain */
bool br_check_topic_list(const char *text, struct br_error *err); /* or wild */
bool br_check_pattern(const char *text, struct br_error *err);
bool br_check_phrase(const char *text, struct br_error *err); /* or "" */
bool br_check_url(const char *text, struct br_error *err);
bool br_check_event_url(const char *text, struct br_error *err);
bool br_check_token(const char *text, struct br_error *err); /* header name */
bool br_check_header_match(const char *text, struct br_error *err);
bool br_check_property(const char *text, struct br_error *err);
bool br_check_file(const char *text, struct br_error *err);

/*
 * `start`: earliest, latest, error, an RFC 3339 time, or "-2h" (s, m, h, d)
 * counted back from `now_ms`. Fills start and start_time_ms.
 */
bool br_check_start(const char *text, int64_t now_ms,
    struct br_config_kafka *kafka, struct br_error *err);

/* `listen`: HOST:PORT, [IPv6]:PORT, or "". Replaces host and port. */
bool br_check_listen(
    const char *text, struct br_config_admin *admin, struct br_error *err);

#endif
