/* table: see the header. */
#include "bridge/config/table.h"

#include <inttypes.h>
#include <string.h>

#include "bridge/config/check.h"
#include "table_parts.h"

#define YEAR_MS INT64_C(31536000000)
#define INT_MS INT64_C(2147483647) /* what poll(2) and libcurl can wait */

/* Where a member lives. */
#define AT(member)                                                             \
	.offset = offsetof(struct br_config, member),                          \
	.size = sizeof(((struct br_config *)0)->member)
#define AT_ROUTE(member) .offset = offsetof(struct br_route_rules, member)

static const struct br_key_name on_gap_names[] = {
    {"stop", BR_ON_GAP_STOP, false}, {"earliest", BR_ON_GAP_EARLIEST, false},
    {NULL, 0, false}};
static const struct br_key_name order_names[] = {{"key", BR_ORDER_KEY, false},
    {"partition", BR_ORDER_PARTITION, false}, {"none", BR_ORDER_NONE, false},
    {NULL, 0, false}};
static const struct br_key_name event_url_names[] = {
    {"use", false, false}, {"ignore", true, false}, {NULL, 0, false}};
static const struct br_key_name on_full_names[] = {
    {"hold", false, false}, {"dlq", true, false}, {NULL, 0, false}};
static const struct br_key_name style_names[] = {
    {"raw", false, false}, {"sf", true, false}, {NULL, 0, false}};
static const struct br_key_name level_names[] = {{"debug", BR_DEBUG, false},
    {"info", BR_INFO, false}, {"warn", BR_WARN, false},
    {"error", BR_ERROR, false}, {NULL, 0, false}};
static const struct br_key_name log_format_names[] = {
    {"logfmt", false, false}, {"json", true, false}, {NULL, 0, false}};

/* clang-format off: a key takes two to four lines, not nine. */
static const struct br_key first[] = {
    /* kafka */
    {.path = "kafka.brokers",
        .type = BR_KEY_STRING,
        AT(kafka.brokers),
        .flags = BR_KEY_REQUIRED,
        .preset = "",
        .example = "localhost:9092",
        .help = "brokers to ask first, HOST:PORT with commas between"},
    {.path = "kafka.topics",
        .type = BR_KEY_STRINGS,
        AT(kafka.topics),
        .flags = BR_KEY_REQUIRED,
        .preset = "",
        .example = "outbox.event.order",
        .check = br_check_topic_list,
        .help = "topics to read: names, patterns (* ?), or ^expressions"},
    {.path = "kafka.group",
        .type = BR_KEY_STRING,
        AT(kafka.group),
        .flags = BR_KEY_FILLED,
        .preset = "outbox-bridge",
        .help = "consumer group; its offsets say what is done"},
    {.path = "kafka.start",
        .type = BR_KEY_START,
        AT(kafka),
        .preset = "earliest",
        .help = "where a group without offsets begins"},
    {.path = "kafka.on_gap",
        .type = BR_KEY_ENUM,
        AT(kafka.on_gap),
        .preset = "stop",
        .names = on_gap_names,
        .help = "what to do when events were deleted before they were read"},
    {.path = "kafka.start_timeout_ms",
        .type = BR_KEY_INTEGER,
        AT(kafka.start_timeout_ms),
        .unit = "ms",
        .max = YEAR_MS,
        .preset = "60000",
        .help = "wait for brokers and topics at start"},
    {.path = "kafka.instance",
        .type = BR_KEY_STRING,
        AT(kafka.instance),
        .preset = "",
        .example = "bridge-1",
        .help = "group.instance.id, unique per instance"},
    {.path = "kafka.commit_interval_ms",
        .type = BR_KEY_INTEGER,
        AT(kafka.commit_interval_ms),
        .unit = "ms",
        .min = 1,
        .max = INT_MS,
        .preset = "100",
        .help = "shortest time between two commits"},
    {.path = "kafka.checkpoint_bytes",
        .type = BR_KEY_INTEGER,
        AT(kafka.checkpoint_bytes),
        .unit = "characters",
        .max = 65536,
        .preset = "4000",
        .help = "commit metadata: what is settled above the offset"},
    {.path = "kafka.revoke_wait_ms",
        .type = BR_KEY_INTEGER,
        AT(kafka.revoke_wait_ms),
        .unit = "ms",
        .max = INT_MS,
        .preset = "10000",
        .help = "wait for open requests when partitions are taken away"},
    {.path = "kafka.properties",
        .type = BR_KEY_STRINGS,
        AT(kafka.properties),
        .flags = BR_KEY_SECRET,
        .preset = "",
        .example = "security.protocol=SASL_SSL",
        .check = br_check_property,
        .help = "properties of librdkafka, \"name=value\""},
};

static const struct br_key last[] = {
    /* delivery */
    {.path = "delivery.connections",
        .type = BR_KEY_INTEGER,
        AT(delivery.connections),
        .min = 1,
        .max = 1024,
        .preset = "4",
        .help = "connections to receivers that may be open at once"},
    {.path = "delivery.order",
        .type = BR_KEY_ENUM,
        AT(delivery.order),
        .preset = "key",
        .names = order_names,
        .help = "within what events keep their order"},
    {.path = "delivery.url",
        .type = BR_KEY_STRING,
        AT(delivery.url),
        .flags = BR_KEY_URL,
        .preset = "",
        .example = "https://hooks.example.com/orders",
        .check = br_check_url,
        .help = "receiver, where neither event nor route names one"},
    {.path = "delivery.event_urls",
        .type = BR_KEY_STRINGS,
        AT(delivery.event_urls),
        .preset = "",
        .example = "hooks.example.com",
        .check = br_check_event_url,
        .help = "hosts that an event's own URL may name"},
    {.path = "delivery.private_networks",
        .type = BR_KEY_BOOLEAN,
        AT(delivery.private_networks),
        .preset = "false",
        .help = "an event's own URL may lead to private addresses"},
    {.path = "delivery.timeout_ms",
        .type = BR_KEY_INTEGER,
        AT(delivery.timeout_ms),
        .unit = "ms",
        .min = 1,
        .max = INT_MS,
        .preset = "5000",
        .help = "longest time of one request"},
    {.path = "delivery.connect_timeout_ms",
        .type = BR_KEY_INTEGER,
        AT(delivery.connect_timeout_ms),
        .unit = "ms",
        .min = 1,
        .max = INT_MS,
        .preset = "3000",
        .help = "longest time to get connected"},
    {.path = "delivery.ca_file",
        .type = BR_KEY_STRING,
        AT(delivery.ca_file),
        .preset = "",
        .example = "/etc/ssl/certs/internal-ca.pem",
        .check = br_check_file,
        .help = "certificates to trust, PEM"},
    {.path = "delivery.event_url",
        .type = BR_KEY_ENUM,
        AT(delivery.event_url_ignore),
        .preset = "use",
        .names = event_url_names,
        .help = "whether an event's own URL counts"},
    {.path = "delivery.max_idle_ms",
        .type = BR_KEY_INTEGER,
        AT(delivery.max_idle_ms),
        .unit = "ms",
        .min = 1,
        .max = YEAR_MS,
        .preset = "30000",
        .help = "an idle connection is closed after this"},
    {.path = "delivery.max_life_ms",
        .type = BR_KEY_INTEGER,
        AT(delivery.max_life_ms),
        .unit = "ms",
        .min = 1,
        .max = YEAR_MS,
        .preset = "300000",
        .help = "any connection is closed after this"},
    {.path = "delivery.idempotency_headers",
        .type = BR_KEY_STRINGS,
        AT(delivery.idempotency_headers),
        .flags = BR_KEY_FILLED,
        .preset = "Idempotency-Key,X-Idempotency-Key",
        .check = br_check_token,
        .help = "headers that carry the idempotency key"},
    {.path = "delivery.idempotency_style",
        .type = BR_KEY_ENUM,
        AT(delivery.idempotency_sf),
        .preset = "raw",
        .names = style_names,
        .help = "the bare key, or a quoted structured field (sf)"},
    /* retry */
    {.path = "retry.max_attempts",
        .type = BR_KEY_INTEGER,
        AT(retry.max_attempts),
        .min = 1,
        .max = 1000000,
        .preset = "5",
        .help = "requests for one event, the first included"},
    {.path = "retry.base_ms",
        .type = BR_KEY_INTEGER,
        AT(retry.rules.base_ms),
        .unit = "ms",
        .min = 1,
        .max = YEAR_MS,
        .preset = "10000",
        .help = "doubled by each failure"},
    {.path = "retry.max_delay_ms",
        .type = BR_KEY_INTEGER,
        AT(retry.rules.max_delay_ms),
        .unit = "ms",
        .min = 1,
        .max = YEAR_MS,
        .preset = "3600000",
        .help = "longest wait between two attempts"},
    {.path = "retry.jitter",
        .type = BR_KEY_REAL,
        AT(retry.rules.jitter),
        .max = 1,
        .preset = "0.1",
        .help = "share by which a wait varies"},
    {.path = "retry.retry_after_max_ms",
        .type = BR_KEY_INTEGER,
        AT(retry.rules.retry_after_max_ms),
        .unit = "ms",
        .max = YEAR_MS,
        .preset = "3600000",
        .help = "longest wait a receiver may ask for"},
    {.path = "retry.success_on",
        .type = BR_KEY_STATUSES,
        AT(retry.verdict.success_on),
        .preset = "",
        .example = "409",
        .help = "statuses that mean delivered, besides 2xx"},
    {.path = "retry.retry_on",
        .type = BR_KEY_STATUSES,
        AT(retry.verdict.retry_on),
        .preset = "",
        .example = "410",
        .help = "statuses to try again"},
    {.path = "retry.drop_on",
        .type = BR_KEY_STATUSES,
        AT(retry.verdict.drop_on),
        .preset = "",
        .example = "404",
        .help = "statuses that mean the DLQ at once"},
    {.path = "retry.throttle_on",
        .type = BR_KEY_STATUSES,
        AT(retry.verdict.throttle_on),
        .preset = "429",
        .help = "statuses by which a receiver asks for less"},
    {.path = "retry.throttle_match",
        .type = BR_KEY_STRING,
        AT(retry.throttle_match),
        .preset = "",
        .example = "concurrent request limit",
        .check = br_check_phrase,
        .help = "text of an answer by which a receiver asks for less"},
    /* breaker */
    {.path = "breaker.failures",
        .type = BR_KEY_INTEGER,
        AT(breaker.failures),
        .max = BR_HEALTH_FAILURES_MAX,
        .preset = "20",
        .help = "events in a row that close a target; 0: never"},
    {.path = "breaker.after",
        .type = BR_KEY_INTEGER,
        AT(breaker.after),
        .max = 1000000000,
        .preset = "100",
        .help = "dead letters in a row that close a target; 0: never"},
    {.path = "breaker.probe_ms",
        .type = BR_KEY_INTEGER,
        AT(breaker.probe_ms),
        .unit = "ms",
        .min = 1,
        .max = YEAR_MS,
        .preset = "1000",
        .help = "first wait before a closed target is tried"},
    {.path = "breaker.probe_max_ms",
        .type = BR_KEY_INTEGER,
        AT(breaker.probe_max_ms),
        .unit = "ms",
        .min = 1,
        .max = YEAR_MS,
        .preset = "60000",
        .help = "longest wait before it is tried"},
    {.path = "breaker.give_up_ms",
        .type = BR_KEY_INTEGER,
        AT(breaker.give_up_ms),
        .unit = "ms",
        .max = YEAR_MS,
        .preset = "0",
        .help = "after this, tries count as attempts; 0: never"},
    {.path = "breaker.on_full",
        .type = BR_KEY_ENUM,
        AT(breaker.shed),
        .preset = "hold",
        .names = on_full_names,
        .help = "when waiting events fill the buffer: stop reading, or "
                "dead-letter those of closed targets"},
    /* dlq */
    {.path = "dlq.topic",
        .type = BR_KEY_STRING,
        AT(dlq.topic),
        .flags = BR_KEY_FILLED,
        .preset = "outbox.dlq",
        .check = br_check_topic,
        .help = "topic of the dead letters"},
    {.path = "dlq.truncate",
        .type = BR_KEY_BOOLEAN,
        AT(dlq.truncate),
        .preset = "false",
        .help = "cut values that the topic does not take"},
    /* routes */
    {.path = "routes",
        .type = BR_KEY_GROUPS,
        .offset = offsetof(struct br_config, routes),
        .count_offset = offsetof(struct br_config, route_count),
        .size = sizeof(struct br_route_rules),
        .example = "{ name = \"orders\"; match = { topic = \"*.order\"; }; "
                   "url = \"https://hooks.example.com/orders\"; }",
        .help = "rules for some events; the first that matches wins"},
    {.path = "routes[].name",
        .type = BR_KEY_STRING,
        AT_ROUTE(name),
        .flags = BR_KEY_REQUIRED,
        .preset = "",
        .example = "orders",
        .help = "shown in log and metrics"},
    {.path = "routes[].match.topic",
        .type = BR_KEY_STRING,
        AT_ROUTE(match_topic),
        .preset = "",
        .example = "*.order",
        .check = br_check_pattern,
        .help = "name or pattern"},
    {.path = "routes[].match.event_type",
        .type = BR_KEY_STRING,
        AT_ROUTE(match_event_type),
        .preset = "",
        .example = "order.*",
        .check = br_check_pattern,
        .help = "name or pattern"},
    {.path = "routes[].match.aggregate_type",
        .type = BR_KEY_STRING,
        AT_ROUTE(match_aggregate_type),
        .preset = "",
        .example = "order",
        .check = br_check_pattern,
        .help = "name or pattern"},
    {.path = "routes[].match.host",
        .type = BR_KEY_STRING,
        AT_ROUTE(match_host),
        .preset = "",
        .example = "*.example.com",
        .check = br_check_pattern,
        .help = "host of the event's own URL"},
    {.path = "routes[].match.header",
        .type = BR_KEY_STRING,
        AT_ROUTE(match_header),
        .preset = "",
        .example = "tenant=acme",
        .check = br_check_header_match,
        .help = "\"name=value\" of a record header, value a pattern"},
    {.path = "routes[].url",
        .type = BR_KEY_STRING,
        AT_ROUTE(url),
        .flags = BR_KEY_URL | BR_KEY_NULL,
        .preset = "",
        .example = "https://hooks.example.com/orders",
        .check = br_check_url,
        .help = "receiver, where the event names none"},
    /* limits */
    {.path = "limits.buffer_bytes",
        .type = BR_KEY_INTEGER,
        AT(limits.buffer_bytes),
        .unit = "bytes",
        .min = 1024,
        .max = INT64_C(1) << 40,
        .preset = "33554432",
        .help = "memory for events that are read and not finished"},
    {.path = "limits.open_per_partition",
        .type = BR_KEY_INTEGER,
        AT(limits.open_per_partition),
        .min = 1,
        .max = 1000000000,
        .preset = "100000",
        .help = "unfinished events of one partition"},
    {.path = "limits.body_bytes",
        .type = BR_KEY_INTEGER,
        AT(limits.body_bytes),
        .unit = "bytes",
        .min = 1,
        .max = INT64_C(1) << 30,
        .preset = "10485760",
        .help = "largest body that is sent"},
    {.path = "limits.shutdown_ms",
        .type = BR_KEY_INTEGER,
        AT(limits.shutdown_ms),
        .unit = "ms",
        .max = INT_MS,
        .preset = "10000",
        .help = "longest time from the signal to the end"},
    /* admin, log */
    {.path = "admin.listen",
        .type = BR_KEY_LISTEN,
        AT(admin),
        .preset = "127.0.0.1:9808",
        .help = "HOST:PORT of the pages"},
    {.path = "log.level",
        .type = BR_KEY_ENUM,
        AT(log.level),
        .preset = "info",
        .names = level_names,
        .help = "least important line to write"},
    {.path = "log.format",
        .type = BR_KEY_ENUM,
        AT(log.json),
        .preset = "logfmt",
        .names = log_format_names,
        .help = "how a line is written"},
    {.path = "log.delivered",
        .type = BR_KEY_BOOLEAN,
        AT(log.delivered),
        .preset = "false",
        .help = "one line for each delivered event"},
};
/* clang-format on */

/* The keys in the order in which they are printed. */
static const struct {
	const struct br_key *keys;
	const size_t *count; /* NULL: `own` */
	size_t own;
} parts[] = {
    {first, NULL, sizeof(first) / sizeof(first[0])},
    {br_table_source, &br_table_source_count, 0},
    {last, NULL, sizeof(last) / sizeof(last[0])},
    {br_table_registry, &br_table_registry_count, 0},
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static size_t
part_count(size_t part)
{
	return parts[part].count != NULL ? *parts[part].count : parts[part].own;
}

size_t
br_table_count(void)
{
	size_t n = 0;

	for (size_t i = 0; i < PARTS; i++)
		n += part_count(i);
	return n;
}

const struct br_key *
br_table_at(size_t i)
{
	size_t part = 0;

	while (part + 1 < PARTS && i >= part_count(part))
		i -= part_count(part++);
	return &parts[part].keys[i];
}

size_t
br_table_find(const char *path)
{
	for (size_t i = 0, n = br_table_count(); i < n; i++)
		if (strcmp(br_table_at(i)->path, path) == 0)
			return i;
	return BR_TABLE_NONE;
}

/* What follows `path` in the key's path, or NULL when it is elsewhere. */
static const char *
below(const struct br_key *key, const char *path)
{
	size_t len = strlen(path);

	if (len == 0)
		return key->path;
	if (strncmp(key->path, path, len) != 0 || key->path[len] != '.')
		return NULL;
	return key->path + len + 1;
}

bool
br_table_is_group(const char *path)
{
	for (size_t i = 0, n = br_table_count(); i < n; i++)
		if (below(br_table_at(i), path) != NULL)
			return true;
	return false;
}

bool
br_table_is_within(const struct br_key *key, const char *path)
{
	const char *rest = below(key, path);

	return rest != NULL && strstr(rest, "[]") == NULL;
}
