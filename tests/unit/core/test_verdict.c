/*
 * Every status of every kind of outcome against a list that is written here
 * a second time, as text.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "bridge/core/verdict.h"

static const char never_list[] =
    " 400 402 405 406 410 411 413 414 415 417 422 426 428 431 451"
    " 501 505 506 508 510 511 ";
static const char target_list[] = " 401 403 407 429 502 503 504 ";

/* As a configuration without any list. */
static const struct br_verdict_rules no_rules;

static const enum br_transport transports[] = {BR_TRANSPORT_OK,
    BR_TRANSPORT_REFUSED, BR_TRANSPORT_UNREACHABLE, BR_TRANSPORT_DNS,
    BR_TRANSPORT_TLS, BR_TRANSPORT_CONNECT_TIMEOUT, BR_TRANSPORT_TIMEOUT,
    BR_TRANSPORT_RESET, BR_TRANSPORT_EMPTY, BR_TRANSPORT_BAD_RESPONSE,
    BR_TRANSPORT_FORBIDDEN, BR_TRANSPORT_OTHER};
#define TRANSPORTS (sizeof(transports) / sizeof(transports[0]))

static bool
listed(const char *list, int code)
{
	char word[16];

	(void)snprintf(word, sizeof(word), " %d ", code);
	return strstr(list, word) != NULL;
}

static struct br_outcome
answer(int status)
{
	return (struct br_outcome){
	    .http_status = status, .head_complete = true, .request_sent = true};
}

static struct br_outcome
broken(enum br_transport t)
{
	return (struct br_outcome){.transport = t};
}

static struct br_verdict_rules
rules_of(const char *success, const char *retry, const char *drop,
    const char *throttle)
{
	struct br_verdict_rules rules = {0};

	if (success != NULL)
		assert_true(br_status_set_add(&rules.success_on, success));
	if (retry != NULL)
		assert_true(br_status_set_add(&rules.retry_on, retry));
	if (drop != NULL)
		assert_true(br_status_set_add(&rules.drop_on, drop));
	if (throttle != NULL)
		assert_true(br_status_set_add(&rules.throttle_on, throttle));
	return rules;
}

static void
test_every_status(void **state)
{
	(void)state;
	for (int code = 100; code <= 999; code++) {
		struct br_outcome o = answer(code);
		enum br_verdict want = BR_AGAIN;

		if (code >= 200 && code < 300)
			want = BR_DELIVERED;
		else if (listed(never_list, code))
			want = BR_NEVER;
		/* What the connection did after the header block is nothing
		 * to the verdict. */
		for (size_t t = 0; t < TRANSPORTS; t++) {
			o.transport = transports[t];
			if (br_verdict(&no_rules, &o) != want)
				fail_msg("status %d transport %s", code,
				    br_transport_name(o.transport));
		}
	}
}

static void
test_every_status_without_a_whole_head(void **state)
{
	(void)state;
	for (int code = 0; code <= 999; code++) {
		struct br_outcome o = {.http_status = code};

		for (size_t t = 0; t < TRANSPORTS; t++) {
			o.transport = transports[t];
			assert_int_equal(br_verdict(&no_rules, &o),
			    transports[t] == BR_TRANSPORT_FORBIDDEN ? BR_NEVER
			                                            : BR_AGAIN);
		}
	}
}

/* A status that never arrived whole is not in any list. */
static void
test_lists_need_a_whole_head(void **state)
{
	struct br_verdict_rules rules = rules_of("2xx", "3xx", "5xx", "429");
	struct br_outcome o = {.transport = BR_TRANSPORT_BAD_RESPONSE};

	(void)state;
	for (o.http_status = 100; o.http_status <= 999; o.http_status++) {
		assert_int_equal(br_verdict(&rules, &o), BR_AGAIN);
		assert_false(br_target_failure(&rules, &o));
	}
}

static void
test_order_of_the_lists(void **state)
{
	static const struct {
		const char *success, *retry, *drop, *throttle;
		int status;
		enum br_verdict want;
	} rows[] = {
	    {"409", NULL, NULL, NULL, 409, BR_DELIVERED},
	    {"409", "409", "409", "409", 409, BR_DELIVERED},
	    {NULL, "409", "409", "409", 409, BR_AGAIN},
	    {NULL, NULL, "409", "409", 409, BR_NEVER},
	    {NULL, NULL, NULL, "409", 409, BR_AGAIN},
	    {"410", NULL, NULL, NULL, 410, BR_DELIVERED},
	    {NULL, "410", NULL, NULL, 410, BR_AGAIN},
	    {NULL, NULL, NULL, "410", 410, BR_AGAIN},
	    {NULL, "202", NULL, NULL, 202, BR_AGAIN},
	    {NULL, NULL, "202", NULL, 202, BR_NEVER},
	    {NULL, NULL, NULL, "202", 202, BR_AGAIN},
	    {NULL, "202", NULL, NULL, 200, BR_DELIVERED},
	    {NULL, NULL, "503", NULL, 503, BR_NEVER},
	    {"3xx", NULL, NULL, NULL, 304, BR_DELIVERED},
	    {"3xx", NULL, NULL, NULL, 400, BR_NEVER},
	    {NULL, "400-417", NULL, NULL, 413, BR_AGAIN},
	    {NULL, "400-417", NULL, NULL, 422, BR_NEVER},
	    {NULL, NULL, "5xx", NULL, 599, BR_NEVER},
	    {NULL, NULL, "9xx", NULL, 999, BR_NEVER},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct br_verdict_rules rules = rules_of(rows[i].success,
		    rows[i].retry, rows[i].drop, rows[i].throttle);
		struct br_outcome o = answer(rows[i].status);

		if (br_verdict(&rules, &o) != rows[i].want)
			fail_msg("row %zu", i);
	}
}

static void
test_target_failures_by_status(void **state)
{
	(void)state;
	for (int code = 100; code <= 999; code++) {
		struct br_outcome o = answer(code);

		for (size_t t = 0; t < TRANSPORTS; t++) {
			o.transport = transports[t];
			if (br_target_failure(&no_rules, &o) !=
			    listed(target_list, code))
				fail_msg("status %d", code);
		}
	}
}

static void
test_target_failures_by_transport(void **state)
{
	static const char list[] =
	    " refused unreachable dns tls connect-timeout timeout reset"
	    " empty ";

	(void)state;
	for (size_t t = 0; t < TRANSPORTS; t++) {
		struct br_outcome o = broken(transports[t]);
		char word[40];

		(void)snprintf(word, sizeof(word), " %s ",
		    br_transport_name(transports[t]));
		assert_int_equal(br_target_failure(&no_rules, &o),
		    strstr(list, word) != NULL);
	}
}

static void
test_target_failures_by_list(void **state)
{
	struct br_verdict_rules throttle = rules_of(NULL, NULL, NULL, "599");
	struct br_verdict_rules success = rules_of("403", NULL, NULL, "403");
	struct br_verdict_rules drop = rules_of(NULL, NULL, "403", NULL);
	struct br_verdict_rules retry = rules_of(NULL, "5xx", NULL, NULL);
	struct br_outcome o = answer(599);

	(void)state;
	assert_true(br_target_failure(&throttle, &o));
	assert_false(br_target_failure(&retry, &o));
	o = answer(403);
	assert_true(br_target_failure(&no_rules, &o));
	/* Whoever names a status as an answer about the event means it. */
	assert_false(br_target_failure(&success, &o));
	assert_false(br_target_failure(&drop, &o));
	o = answer(503);
	assert_true(br_target_failure(&retry, &o));
}

/* What is said in words wins over every list and every status. */
static void
test_throttle_text(void **state)
{
	const struct br_verdict_rules lists[] = {no_rules,
	    rules_of("1xx", NULL, NULL, NULL),
	    rules_of("403", NULL, "5xx", NULL),
	    rules_of(NULL, NULL, "200", NULL)};
	struct br_outcome o;

	(void)state;
	for (int code = 100; code <= 999; code++)
		for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
			o = answer(code);
			o.throttle_text = true;
			if (br_verdict(&lists[i], &o) != BR_AGAIN ||
			    !br_target_failure(&lists[i], &o) ||
			    !br_throttled(&lists[i], &o))
				fail_msg("status %d, list %zu", code, i);
			assert_string_equal(br_outcome_class(&o), "throttled");
			assert_string_equal(br_dead_reason(&lists[i], &o),
			    "http-retries-exhausted");
		}
	/* Half of an answer has no body. */
	o = broken(BR_TRANSPORT_RESET);
	o.throttle_text = true;
	assert_false(br_throttled(&no_rules, &o));
	assert_string_equal(br_outcome_class(&o), "reset");
	o.transport = BR_TRANSPORT_FORBIDDEN;
	assert_int_equal(br_verdict(&no_rules, &o), BR_NEVER);
}

static void
test_throttled_by_status(void **state)
{
	const struct br_verdict_rules rules = rules_of(NULL, NULL, NULL, "429");
	struct br_outcome o;

	(void)state;
	for (int code = 100; code <= 999; code++) {
		o = answer(code);
		assert_int_equal(br_throttled(&rules, &o), code == 429);
		assert_false(br_throttled(&no_rules, &o));
		o.retry_after_given = true;
		assert_int_equal(
		    br_throttled(&rules, &o), code == 429 || code == 503);
		assert_int_equal(br_throttled(&no_rules, &o), code == 503);
	}
}

static void
test_dead_reasons(void **state)
{
	struct br_verdict_rules retry_gone = rules_of(NULL, "410", NULL, NULL);
	struct br_verdict_rules drop = rules_of(NULL, NULL, "503", NULL);
	struct br_outcome o;

	(void)state;
	for (int code = 300; code <= 999; code++) {
		const char *want = "http-retries-exhausted";

		o = answer(code);
		if (code == 410)
			want = "http-gone";
		else if (listed(never_list, code))
			want = "http-permanent";
		assert_string_equal(br_dead_reason(&no_rules, &o), want);
	}
	for (size_t t = 0; t < TRANSPORTS; t++) {
		o = broken(transports[t]);
		assert_string_equal(br_dead_reason(&no_rules, &o),
		    transports[t] == BR_TRANSPORT_FORBIDDEN
		        ? "url-forbidden"
		        : "http-retries-exhausted");
	}
	o = answer(410);
	assert_string_equal(
	    br_dead_reason(&retry_gone, &o), "http-retries-exhausted");
	o = answer(503);
	assert_string_equal(br_dead_reason(&drop, &o), "http-permanent");
	/* "Gone" is what a whole answer said, not half of one. */
	o = (struct br_outcome){
	    .http_status = 410, .transport = BR_TRANSPORT_RESET};
	assert_string_equal(
	    br_dead_reason(&no_rules, &o), "http-retries-exhausted");
}

static void
test_classes(void **state)
{
	struct br_outcome o;

	(void)state;
	for (int code = 100; code <= 999; code++) {
		char want[16];

		(void)snprintf(want, sizeof(want), "%dxx", code / 100);
		o = answer(code);
		o.transport = BR_TRANSPORT_RESET;
		assert_string_equal(br_outcome_class(&o),
		    code < 200 || code > 599 ? "other" : want);
	}
	for (size_t t = 1; t < TRANSPORTS; t++) {
		o = broken(transports[t]);
		o.http_status = 200;
		assert_string_equal(
		    br_outcome_class(&o), br_transport_name(transports[t]));
	}
	o = (struct br_outcome){0};
	assert_string_equal(br_outcome_class(&o), "other");
}

static void
test_transport_names(void **state)
{
	static const char *const names[TRANSPORTS] = {"ok", "refused",
	    "unreachable", "dns", "tls", "connect-timeout", "timeout", "reset",
	    "empty", "bad-response", "forbidden", "other"};

	(void)state;
	for (size_t t = 0; t < TRANSPORTS; t++)
		assert_string_equal(br_transport_name(transports[t]), names[t]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_status),
	    cmocka_unit_test(test_every_status_without_a_whole_head),
	    cmocka_unit_test(test_lists_need_a_whole_head),
	    cmocka_unit_test(test_order_of_the_lists),
	    cmocka_unit_test(test_target_failures_by_status),
	    cmocka_unit_test(test_target_failures_by_transport),
	    cmocka_unit_test(test_target_failures_by_list),
	    cmocka_unit_test(test_throttle_text),
	    cmocka_unit_test(test_throttled_by_status),
	    cmocka_unit_test(test_dead_reasons),
	    cmocka_unit_test(test_classes),
	    cmocka_unit_test(test_transport_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
