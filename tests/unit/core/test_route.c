/* Routes: all that is written must match, and the first such route wins. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "bridge/core/route.h"

/* A configuration owns its strings and so has them writable. */
static char *
s(const char *text)
{
	static char pool[4096];
	static size_t used;
	size_t len = strlen(text) + 1;
	char *copy;

	if (used + len > sizeof(pool))
		used = 0;
	copy = pool + used;
	memcpy(copy, text, len);
	used += len;
	return copy;
}

static const struct br_header headers[] = {
    {"region", {(const uint8_t *)"us", 2}},
    {"region", {(const uint8_t *)"euX", 2}},
    {"empty", {(const uint8_t *)"", 0}},
    {"null", {NULL, 0}},
    {"a=b", {(const uint8_t *)"c", 1}},
    {"nul", {(const uint8_t *)"a\0b", 3}},
};

static const struct br_record record = {.topic = "outbox.event.order",
    .headers = headers,
    .header_count = sizeof(headers) / sizeof(headers[0])};

static const struct br_route_facts facts = {.record = &record,
    .event_type = "order.placed",
    .aggregate_type = "order",
    .host = "hooks.partner.test"};

static int
match_all(const struct br_route_rules *rules, size_t count,
    const struct br_route_facts *f)
{
	struct br_error err;
	struct br_routes *r = br_routes_new(rules, count, &err);
	int index;

	if (r == NULL)
		fail_msg("%s", err.text);
	index = br_routes_match(r, f);
	br_routes_free(r);
	return index;
}

static bool
match_one(struct br_route_rules rules)
{
	return match_all(&rules, 1, &facts) == 0;
}

static void
test_no_routes(void **state)
{
	(void)state;
	assert_int_equal(match_all(NULL, 0, &facts), -1);
	br_routes_free(NULL);
}

static void
test_empty_rules_match_everything(void **state)
{
	struct br_route_rules nothing = {0};
	struct br_route_rules empty = {.match_topic = s(""),
	    .match_event_type = s(""),
	    .match_aggregate_type = s(""),
	    .match_host = s(""),
	    .match_header = s("")};
	struct br_route_facts none = {0};

	(void)state;
	assert_true(match_one(nothing));
	assert_true(match_one(empty));
	assert_int_equal(match_all(&nothing, 1, &none), 0);
	assert_int_equal(match_all(&empty, 1, &none), 0);
}

static void
test_each_condition(void **state)
{
#define ROW(member, text, want)                                                \
	assert_int_equal(                                                      \
	    match_one((struct br_route_rules){.member = s(text)}), want)
	(void)state;
	ROW(match_topic, "outbox.event.order", true);
	ROW(match_topic, "outbox.*", true);
	ROW(match_topic, "outbox.event", false);
	ROW(match_topic, "^event\\.order$", false);
	ROW(match_topic, "^outbox\\.", true);
	ROW(match_event_type, "order.*", true);
	ROW(match_event_type, "ORDER.*", false);
	ROW(match_event_type, "invoice.*", false);
	ROW(match_aggregate_type, "order", true);
	ROW(match_aggregate_type, "orders", false);
	ROW(match_host, "hooks.partner.test", true);
	ROW(match_host, "*.Partner.TEST", true);
	ROW(match_host, "^HOOKS\\.", true);
	ROW(match_host, "partner.test", false);
	/* Headers: the last one of the name, and only that. */
	ROW(match_header, "region=eu", true);
	ROW(match_header, "region=us", false);
	ROW(match_header, "region=euX", false);
	ROW(match_header, "region=e?", true);
	ROW(match_header, "region=^(eu|ch)$", true);
	ROW(match_header, "region=^(us|ch)$", false);
	ROW(match_header, "Region=eu", false);
	ROW(match_header, "other=*", false);
	ROW(match_header, "empty=", true);
	ROW(match_header, "empty=*", true);
	ROW(match_header, "empty=?*", false);
	ROW(match_header, "region=", false);
	ROW(match_header, "null=*", false);
	ROW(match_header, "null=^", false);
	ROW(match_header, "null=", false);
	ROW(match_header, "nul=a", false);
	ROW(match_header, "nul=a?b", true);
	/* The name ends at the first sign of equality. */
	ROW(match_header, "a=b=c", false);
#undef ROW
}

static void
test_a_pattern_asks_for_the_thing(void **state)
{
	struct br_record bare = {.topic = "t"};
	struct br_route_facts f = {.record = &bare};
	struct br_route_rules rules[] = {{.match_event_type = s("*")},
	    {.match_aggregate_type = s("*")}, {.match_host = s("^")},
	    {.match_header = s("region=*")}};

	(void)state;
	assert_int_equal(match_all(rules, 4, &f), -1);
	f.record = NULL;
	assert_int_equal(match_all(rules, 4, &f), -1);
	f.host = "a";
	assert_int_equal(match_all(rules, 4, &f), 2);
	f.event_type = "";
	assert_int_equal(match_all(rules, 4, &f), 0);
}

static void
test_all_conditions_must_match(void **state)
{
	struct br_route_rules all = {.match_topic = s("outbox.*"),
	    .match_event_type = s("order.*"),
	    .match_aggregate_type = s("order"),
	    .match_host = s("*.test"),
	    .match_header = s("region=eu")};
	struct br_route_rules one;

	(void)state;
	assert_true(match_one(all));
	one = all;
	one.match_topic = s("x");
	assert_false(match_one(one));
	one = all;
	one.match_event_type = s("x");
	assert_false(match_one(one));
	one = all;
	one.match_aggregate_type = s("x");
	assert_false(match_one(one));
	one = all;
	one.match_host = s("x");
	assert_false(match_one(one));
	one = all;
	one.match_header = s("region=x");
	assert_false(match_one(one));
}

static void
test_first_wins(void **state)
{
	struct br_route_rules rules[] = {
	    {.name = s("a"), .match_topic = s("other")},
	    {.name = s("b"), .match_event_type = s("order.*")},
	    {.name = s("c"), .match_event_type = s("order.placed")},
	    {.name = s("d")}};
	struct br_route_facts f = facts;

	(void)state;
	assert_int_equal(match_all(rules, 4, &f), 1);
	f.event_type = "x";
	assert_int_equal(match_all(rules, 4, &f), 3);
	assert_int_equal(match_all(rules, 3, &f), -1);
}

/* The configuration may go away, or be reloaded, under built routes. */
static void
test_copies_what_it_needs(void **state)
{
	char event_type[] = "order.*", header[] = "region=eu";
	struct br_route_rules rules = {
	    .match_event_type = event_type, .match_header = header};
	struct br_error err;
	struct br_routes *r = br_routes_new(&rules, 1, &err);

	(void)state;
	assert_non_null(r);
	memset(event_type, 'x', sizeof(event_type) - 1);
	memset(header, 'x', sizeof(header) - 1);
	memset(&rules, 0, sizeof(rules));
	assert_int_equal(br_routes_match(r, &facts), 0);
	br_routes_free(r);
}

static void
test_refused(void **state)
{
	const struct {
		struct br_route_rules rules;
		const char *key, *text;
	} bad[] = {
	    {{.match_topic = s("^(")}, "match.topic", "^("},
	    {{.match_event_type = s("^[")}, "match.event_type", "^["},
	    {{.match_aggregate_type = s("^(")}, "match.aggregate_type", "^("},
	    {{.match_host = s("^(")}, "match.host", "^("},
	    {{.match_header = s("a=^(")}, "match.header", "^("},
	    {{.match_header = s("region")}, "match.header", "region"},
	    {{.match_header = s("=eu")}, "match.header", "=eu"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct br_route_rules rules[] = {
		    {.name = s("good"), .match_topic = s("^a")}, bad[i].rules};
		struct br_error err = {""};

		rules[1].name = i % 2 == 0 ? s("orders") : NULL;
		assert_null(br_routes_new(rules, 2, &err));
		assert_non_null(strstr(err.text, "route 2"));
		assert_non_null(strstr(err.text, bad[i].key));
		assert_non_null(strstr(err.text, bad[i].text));
		if (i % 2 == 0)
			assert_non_null(strstr(err.text, "\"orders\""));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_no_routes),
	    cmocka_unit_test(test_empty_rules_match_everything),
	    cmocka_unit_test(test_each_condition),
	    cmocka_unit_test(test_a_pattern_asks_for_the_thing),
	    cmocka_unit_test(test_all_conditions_must_match),
	    cmocka_unit_test(test_first_wins),
	    cmocka_unit_test(test_copies_what_it_needs),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
