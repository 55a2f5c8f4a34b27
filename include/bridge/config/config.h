/*
 * config: the effective configuration, filled once by config/loader and
 * passed on as pointer to const. Only config/ knows libconfig; everybody
 * else sees this. Strings are never NULL ("" instead), but for
 * br_route_rules.url. Each member is a key of the same name (see the table in
 * bridge/config/table.c, which is the one place that says type, unit, range,
 * default and help).
 */
#ifndef BRIDGE_CONFIG_CONFIG_H
#define BRIDGE_CONFIG_CONFIG_H

#include "bridge/base/log.h"
#include "bridge/core/hosts.h"
#include "bridge/core/retry.h"
#include "bridge/core/route.h"
#include "bridge/core/scheduler.h"
#include "bridge/core/verdict.h"

/* So many names at most in delivery.idempotency_headers. */
#define BR_CONFIG_KEY_HEADERS 13

struct br_strings {
	char **item;
	size_t count;
};

enum br_format { /* source.format */
	BR_FORMAT_AUTO,
	BR_FORMAT_STRING,
	BR_FORMAT_JSON,
	BR_FORMAT_JSON_SCHEMA,
	BR_FORMAT_BYTES,
	BR_FORMAT_AVRO,
	BR_FORMAT_ENVELOPE,
	BR_FORMAT_FLATTENED,
	BR_FORMAT_CLOUDEVENTS,
	BR_FORMAT_GOLDENGATE
};

enum br_on_null { BR_ON_NULL_DLQ, BR_ON_NULL_SKIP, BR_ON_NULL_SEND_EMPTY };
enum br_avro_payload { BR_AVRO_PAYLOAD_DLQ, BR_AVRO_PAYLOAD_JSON };
enum br_on_gap { BR_ON_GAP_STOP, BR_ON_GAP_EARLIEST };
enum br_start {
	BR_START_EARLIEST,
	BR_START_LATEST,
	BR_START_ERROR,
	BR_START_TIME
};

struct br_config_kafka {
	char *brokers;
	struct br_strings topics; /* names, patterns, ^regular expressions */
	char *group;
	enum br_start start;
	int64_t start_time_ms; /* BR_START_TIME: since 1970 ("-2h" resolved) */
	enum br_on_gap on_gap;
	int64_t start_timeout_ms;
	char *instance;
	int64_t commit_interval_ms;
	int64_t checkpoint_bytes; /* 0: commits carry no metadata */
	int64_t revoke_wait_ms;
	struct br_strings properties; /* "name=value", checked for the forced */
};

struct br_topic_format {
	char *topic; /* name or pattern */
	enum br_format format;
};

/* Columns of the user's table, in any case; the first that says something. */
struct br_config_columns {
	struct br_strings id;
	struct br_strings idempotency_key;
	struct br_strings aggregate_type;
	struct br_strings aggregate_id;
	struct br_strings event_type;
	struct br_strings payload;
	struct br_strings target_url;
	struct br_strings max_retries;
	struct br_strings status;
	struct br_strings created_at;
};

struct br_config_source {
	enum br_format format;
	struct br_topic_format *formats;
	size_t format_count;
	struct br_strings skip_topics;
	enum br_on_null on_null_payload;
	struct br_strings type_headers;
	struct br_strings envelope_fields;
	bool allow_offset_key;
	bool strict_fields;
	char *unavailable_value;
	struct br_strings tables;         /* patterns; empty: every table */
	struct br_strings pending_status; /* the first: a new row's */
	bool snapshot_skip;               /* on_snapshot = "skip" */
	struct br_strings message_prefixes;
	struct br_config_columns columns;
	enum br_avro_payload avro_payload;
};

enum br_id_space { BR_ID_CONTENT, BR_ID_GLOBAL };

struct br_config_registry {
	struct br_strings url; /* of Confluent's API; none: no registry */
	char *apicurio_url;    /* of Apicurio's own; "": by `url` */
	char *user;            /* "": none */
	char *password;
	char *token;
	enum br_id_space id4; /* what ids of four bytes are */
	enum br_id_space id8;
	char *ca_file; /* "": the system's */
	int64_t timeout_ms;
	int64_t connect_timeout_ms;
};

struct br_config_delivery {
	int64_t connections;
	enum br_order order;
	char *url; /* "" : none */
	struct br_strings event_urls;
	bool event_url_ignore; /* event_url = "ignore" */
	bool private_networks;
	int64_t timeout_ms;
	int64_t connect_timeout_ms;
	char *ca_file; /* "": the system's */
	int64_t max_idle_ms;
	int64_t max_life_ms;
	struct br_strings idempotency_headers;
	bool idempotency_sf; /* idempotency_style = "sf" */
};

struct br_config_retry {
	int64_t max_attempts;
	struct br_retry_rules rules;
	struct br_verdict_rules verdict;
	char *throttle_match; /* "": off */
};

struct br_config_breaker {
	int64_t failures; /* different events in a row; 0: rule off */
	int64_t after;    /* dead letters in a row; 0: rule off */
	int64_t probe_ms;
	int64_t probe_max_ms;
	int64_t give_up_ms; /* 0: never */
	bool shed;          /* on_full = "dlq" */
};

struct br_config_dlq {
	char *topic;
	bool truncate; /* a value that is too large loses its end */
};

struct br_config_limits {
	int64_t buffer_bytes;
	int64_t open_per_partition;
	int64_t body_bytes;
	int64_t shutdown_ms;
};

struct br_config_admin {
	char *host; /* "": off; an IPv6 address without brackets */
	uint16_t port;
};

struct br_config_log {
	enum br_level level;
	bool json;
	bool delivered;
};

struct br_config {
	char *file; /* as named on the command line */
	struct br_config_kafka kafka;
	struct br_config_source source;
	struct br_config_registry registry;
	struct br_config_delivery delivery;
	struct br_config_retry retry;
	struct br_config_breaker breaker;
	struct br_config_dlq dlq;
	struct br_config_limits limits;
	struct br_config_admin admin;
	struct br_config_log log;
	struct br_route_rules *routes;
	size_t route_count;
	struct br_config_notes *notes; /* what was set; config/ only */
};

#endif
