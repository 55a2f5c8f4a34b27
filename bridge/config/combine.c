/* combine: checks over several keys. See load.h. */
#include <string.h>
#include <strings.h>

#include "load.h"

/* Line of a key, or of another when it is not in the file. */
static unsigned
line_of(const struct br_load *l, const char *path, const char *other)
{
	unsigned line = l->line[br_table_find(path)];

	if (line == 0 && other != NULL)
		line = l->line[br_table_find(other)];
	return line != 0 ? line : 1;
}

static bool
failed(const struct br_load *l, const char *path)
{
	return l->failed[br_table_find(path)];
}

/* Dead letters would be read as events. */
static void
check_dlq(struct br_load *l)
{
	const struct br_strings *topics = &l->config->kafka.topics;
	const char *dlq = l->config->dlq.topic;

	for (size_t i = 0; i < topics->count; i++) {
		if (strcmp(topics->item[i], dlq) != 0)
			continue;
		br_load_fault(l, line_of(l, "kafka.topics", NULL),
		    "kafka.topics",
		    "holds \"%s\", which is dlq.topic: dead letters would be "
		    "sent as events; leave it out",
		    dlq);
		return;
	}
}

/* Length of a property's name. */
static size_t
name_len(const char *property)
{
	return strcspn(property, "=");
}

static void
check_properties(struct br_load *l)
{
	const struct br_strings *list = &l->config->kafka.properties;

	for (size_t i = 1; i < list->count && i < 1000; i++) {
		size_t len = name_len(list->item[i]);

		for (size_t j = 0; j < i; j++) {
			if (name_len(list->item[j]) != len ||
			    strncasecmp(list->item[i], list->item[j], len) != 0)
				continue;
			br_load_fault(l, line_of(l, "kafka.properties", NULL),
			    "kafka.properties", "%.*s is given twice",
			    len < 80 ? (int)len : 80, list->item[i]);
			break;
		}
	}
}

static void
check_route_names(struct br_load *l)
{
	const struct br_config *c = l->config;

	for (size_t i = 1; i < c->route_count && !br_load_full(l); i++) {
		for (size_t j = 0; j < i; j++) {
			if (*c->routes[i].name == '\0' ||
			    strcmp(c->routes[i].name, c->routes[j].name) != 0)
				continue;
			br_load_fault(l, line_of(l, "routes", NULL), "routes",
			    "two routes have the name \"%.64s\"",
			    c->routes[i].name);
			break;
		}
	}
}

/* Every event must be able to go somewhere. */
static void
check_destination(struct br_load *l)
{
	const struct br_config *c = l->config;
	bool event_urls =
	    c->delivery.event_urls.count != 0 && !c->delivery.event_url_ignore;
	size_t urls = 0;

	if (failed(l, "delivery.url") || failed(l, "delivery.event_urls") ||
	    failed(l, "delivery.event_url") || failed(l, "routes") ||
	    *c->delivery.url != '\0' || event_urls)
		return;
	for (size_t i = 0; i < c->route_count; i++)
		urls += c->routes[i].url != NULL;
	if (urls == 0) {
		br_load_fault(l,
		    line_of(l, "delivery.url", "delivery.event_urls"),
		    "delivery.url",
		    "no event could be sent anywhere; set delivery.url, the "
		    "url of a route, or delivery.event_urls%s",
		    c->delivery.event_url_ignore
		        ? " (with delivery.event_url = \"use\")"
		        : "");
		return;
	}
	for (size_t i = 0; i < c->route_count && !br_load_full(l); i++)
		if (c->routes[i].url == NULL)
			br_load_fault(l, line_of(l, "routes", NULL), "routes",
			    "the route \"%.64s\" has no url, and there is "
			    "neither delivery.url nor delivery.event_urls",
			    c->routes[i].name);
}

static void
check_key_headers(struct br_load *l)
{
	size_t count = l->config->delivery.idempotency_headers.count;

	if (count <= BR_CONFIG_KEY_HEADERS)
		return;
	br_load_fault(l, line_of(l, "delivery.idempotency_headers", NULL),
	    "delivery.idempotency_headers",
	    "names %zu headers; at most %d can carry the key", count,
	    BR_CONFIG_KEY_HEADERS);
}

/* Schemas come from somewhere, and one way to say who asks is enough. */
static void
check_registry(struct br_load *l)
{
	const struct br_config *c = l->config;
	bool avro = c->source.format == BR_FORMAT_AVRO;

	for (size_t i = 0; i < c->source.format_count; i++)
		avro = avro || c->source.formats[i].format == BR_FORMAT_AVRO;
	if (avro && c->registry.url.count == 0 &&
	    *c->registry.apicurio_url == '\0' && !failed(l, "registry.url") &&
	    !failed(l, "registry.apicurio_url"))
		br_load_fault(l, line_of(l, "source.format", "source.formats"),
		    "registry.url",
		    "the format avro needs a schema registry; set "
		    "registry.url");
	if (*c->registry.token != '\0' && *c->registry.user != '\0')
		br_load_fault(l, line_of(l, "registry.token", NULL),
		    "registry.token",
		    "there is a user as well; the registry takes either "
		    "registry.token, or registry.user with "
		    "registry.password");
}

void
br_load_combine(struct br_load *l)
{
	check_key_headers(l);
	check_dlq(l);
	check_properties(l);
	check_route_names(l);
	check_destination(l);
	check_registry(l);
}
