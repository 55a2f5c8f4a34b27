/* table_registry: the keys of the group `registry`. */
#include "bridge/config/check.h"
#include "bridge/config/config.h"
#include "table_parts.h"

#define INT_MS INT64_C(2147483647) /* what libcurl can wait */

#define AT(member)                                                             \
	.offset = offsetof(struct br_config, member),                          \
	.size = sizeof(((struct br_config *)0)->member)

static const struct br_key_name id_names[] = {{"content", BR_ID_CONTENT, false},
    {"global", BR_ID_GLOBAL, false}, {NULL, 0, false}};

/* clang-format off: a key takes two to four lines, not nine. */
const struct br_key br_table_registry[] = {
    {.path = "registry.url",
        .type = BR_KEY_STRINGS,
        AT(registry.url),
        .flags = BR_KEY_URL,
        .preset = "",
        .example = "http://localhost:8081",
        .check = br_check_url,
        .help = "schema registries for Avro, asked in turn"},
    {.path = "registry.apicurio_url",
        .type = BR_KEY_STRING,
        AT(registry.apicurio_url),
        .flags = BR_KEY_URL,
        .preset = "",
        .example = "http://localhost:8080/apis/registry/v2",
        .check = br_check_url,
        .help = "Apicurio's own API, for global ids"},
    {.path = "registry.user",
        .type = BR_KEY_STRING,
        AT(registry.user),
        .preset = "",
        .example = "bridge",
        .help = "user for basic authentication at the registry"},
    {.path = "registry.password",
        .type = BR_KEY_STRING,
        AT(registry.password),
        .flags = BR_KEY_SECRET | BR_KEY_HIDDEN,
        .preset = "",
        .example = "${env:REGISTRY_PASSWORD}",
        .help = "password for basic authentication at the registry"},
    {.path = "registry.token",
        .type = BR_KEY_STRING,
        AT(registry.token),
        .flags = BR_KEY_SECRET | BR_KEY_HIDDEN,
        .preset = "",
        .example = "${env:REGISTRY_TOKEN}",
        .help = "bearer token for the registry, instead of user and password"},
    {.path = "registry.id4",
        .type = BR_KEY_ENUM,
        AT(registry.id4),
        .preset = "content",
        .names = id_names,
        .help = "what ids of four bytes mean"},
    {.path = "registry.id8",
        .type = BR_KEY_ENUM,
        AT(registry.id8),
        .preset = "global",
        .names = id_names,
        .help = "what ids of eight bytes mean"},
    {.path = "registry.ca_file",
        .type = BR_KEY_STRING,
        AT(registry.ca_file),
        .preset = "",
        .example = "/etc/ssl/certs/internal-ca.pem",
        .check = br_check_file,
        .help = "certificates to trust for the registry, PEM"},
    {.path = "registry.timeout_ms",
        .type = BR_KEY_INTEGER,
        AT(registry.timeout_ms),
        .unit = "ms",
        .min = 1,
        .max = INT_MS,
        .preset = "5000",
        .help = "longest time of one question to the registry"},
    {.path = "registry.connect_timeout_ms",
        .type = BR_KEY_INTEGER,
        AT(registry.connect_timeout_ms),
        .unit = "ms",
        .min = 1,
        .max = INT_MS,
        .preset = "3000",
        .help = "longest time to get connected to the registry"},
};
/* clang-format on */

const size_t br_table_registry_count =
    sizeof(br_table_registry) / sizeof(br_table_registry[0]);
