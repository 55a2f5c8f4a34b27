/*
 * route: rules for one kind of destination; the first that matches wins.
 * Pure; immutable once built, any thread may ask.
 */
#ifndef BRIDGE_CORE_ROUTE_H
#define BRIDGE_CORE_ROUTE_H

#include "bridge/base/error.h"
#include "bridge/core/pattern.h"
#include "bridge/core/record.h"

/*
 * What the configuration says; NULL or "" means: matches everything. All
 * that is written must match. A pattern, even "*", asks for the thing to be
 * there. Hosts are matched without regard to case.
 */
struct br_route_rules {
	char *name;
	char *match_topic;
	char *match_event_type;
	char *match_aggregate_type;
	char *match_host;   /* host of the event's own URL */
	char *match_header; /* "name=value", value a pattern; the last
                             * header of that name counts */
	char *url;          /* NULL: delivery.url */
};

struct br_routes;

/* NULL and a reason, naming the route, when a pattern does not compile or a
 * header rule has no "=". Copies what it needs. */
struct br_routes *br_routes_new(
    const struct br_route_rules *rules, size_t count, struct br_error *err);
void br_routes_free(struct br_routes *r);

/* What a record offers to the match; NULL where it has no such thing. */
struct br_route_facts {
	const struct br_record *record;
	const char *event_type;
	const char *aggregate_type;
	const char *host;
};

/* Index of the first route that matches, or -1. */
int br_routes_match(
    const struct br_routes *r, const struct br_route_facts *facts);

#endif
