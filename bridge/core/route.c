/* route: see the header. */
#include "bridge/core/route.h"

#include <stdlib.h>
#include <string.h>

/* NULL patterns match everything. */
struct route {
	struct br_pattern *topic;
	struct br_pattern *event_type;
	struct br_pattern *aggregate_type;
	struct br_pattern *host;
	struct br_pattern *header;
	char *header_name;
};

struct br_routes {
	size_t count;
	struct route route[];
};

/* Compiles a pattern where one is written. */
static bool
compile(const char *text, const char *key, bool any_case,
    struct br_pattern **out, struct br_error *err)
{
	struct br_error why;

	if (text == NULL || text[0] == '\0')
		return true;
	*out = any_case ? br_pattern_new_any_case(text, &why)
	                : br_pattern_new(text, &why);
	return *out != NULL || br_fail(err, "match.%s: %.700s", key, why.text);
}

static bool
compile_header(const char *text, struct route *rt, struct br_error *err)
{
	const char *equals;
	struct br_error why;

	if (text == NULL || text[0] == '\0')
		return true;
	equals = strchr(text, '=');
	if (equals == NULL || equals == text)
		return br_fail(err,
		    "match.header: \"%.100s\" is not of the form"
		    " \"name=value\"",
		    text);
	rt->header_name = strndup(text, (size_t)(equals - text));
	if (rt->header_name == NULL)
		abort();
	/* An empty value is a value here: the header must be empty. */
	rt->header = br_pattern_new(equals + 1, &why);
	return rt->header != NULL ||
	       br_fail(err, "match.header: %.700s", why.text);
}

static bool
compile_route(
    const struct br_route_rules *rules, struct route *rt, struct br_error *err)
{
	return compile(rules->match_topic, "topic", false, &rt->topic, err) &&
	       compile(rules->match_event_type, "event_type", false,
	           &rt->event_type, err) &&
	       compile(rules->match_aggregate_type, "aggregate_type", false,
	           &rt->aggregate_type, err) &&
	       compile(rules->match_host, "host", true, &rt->host, err) &&
	       compile_header(rules->match_header, rt, err);
}

struct br_routes *
br_routes_new(
    const struct br_route_rules *rules, size_t count, struct br_error *err)
{
	struct br_routes *r =
	    calloc(1, sizeof(*r) + count * sizeof(r->route[0]));
	struct br_error why;

	if (r == NULL)
		abort();
	r->count = count;
	for (size_t i = 0; i < count; i++) {
		const char *name = rules[i].name;

		if (compile_route(&rules[i], &r->route[i], &why))
			continue;
		(void)br_fail(err, "route %zu (\"%.100s\"): %.800s", i + 1,
		    name != NULL ? name : "", why.text);
		br_routes_free(r);
		return NULL;
	}
	return r;
}

void
br_routes_free(struct br_routes *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < r->count; i++) {
		br_pattern_free(r->route[i].topic);
		br_pattern_free(r->route[i].event_type);
		br_pattern_free(r->route[i].aggregate_type);
		br_pattern_free(r->route[i].host);
		br_pattern_free(r->route[i].header);
		free(r->route[i].header_name);
	}
	free(r);
}

/* What is not there matches no pattern, not even "*". */
static bool
matches(const struct br_pattern *p, const char *fact)
{
	return p == NULL || (fact != NULL && br_pattern_match(p, fact));
}

static bool
matches_header(const struct route *rt, const struct br_record *record)
{
	const struct br_slice *value;

	if (rt->header == NULL)
		return true;
	if (record == NULL)
		return false;
	value = br_record_header(record, rt->header_name);
	return value != NULL && br_pattern_match_slice(rt->header, *value);
}

int
br_routes_match(const struct br_routes *r, const struct br_route_facts *facts)
{
	const struct br_record *record = facts->record;

	for (size_t i = 0; i < r->count; i++) {
		const struct route *rt = &r->route[i];

		if (matches(rt->topic, record != NULL ? record->topic : NULL) &&
		    matches(rt->event_type, facts->event_type) &&
		    matches(rt->aggregate_type, facts->aggregate_type) &&
		    matches(rt->host, facts->host) &&
		    matches_header(rt, record))
			return (int)i;
	}
	return -1;
}
