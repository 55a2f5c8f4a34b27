/* intake_gate: an intake, and records for it. */
#ifndef TESTS_UNIT_RUNTIME_INTAKE_GATE_H
#define TESTS_UNIT_RUNTIME_INTAKE_GATE_H

#include "runtime_support.h"

#include "bridge/base/log.h"
#include "bridge/base/metrics.h"
#include "bridge/runtime/intake.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define JSON_TYPE "application/json; charset=UTF-8"

static int a_part; /* only its address counts */

/* A configuration, its intake, and the last thing that it said. */
struct gate {
	struct br_config *config;
	struct br_intake *intake;
	struct br_ref *ref;
	char host[400];
};

static inline void
open_gate(struct gate *g, const char *rest)
{
	struct br_error err = {""};

	br_log_setup(BR_WARN, false);
	br_metrics_reset();
	*g = (struct gate){.config = config_of(rest)};
	g->intake = br_intake_new(g->config, &err);
	if (g->intake == NULL)
		fail_msg("%s", err.text);
}

static inline void
close_gate(struct gate *g)
{
	br_ref_free(g->ref);
	br_intake_free(g->intake);
	br_config_free(g->config);
}

static inline struct br_sched_part *
part(void)
{
	return (struct br_sched_part *)(void *)&a_part;
}

static inline enum br_intake_result
take(struct gate *g, const struct br_record *record)
{
	br_ref_free(g->ref);
	g->ref = NULL;
	(void)strcpy(g->host, "(untouched)");
	return br_intake_take(
	    g->intake, record, part(), &g->ref, g->host, sizeof(g->host));
}

static inline struct br_record
record_of(const char *body, const struct br_header *headers, size_t count)
{
	return (struct br_record){.topic = "outbox.event.order",
	    .partition = 2,
	    .offset = 77,
	    .timestamp_ms = 1700000000123,
	    .time_kind = BR_TIME_APPEND,
	    .key = br_slice_str("k1"),
	    .value = br_slice_str(body),
	    .headers = headers,
	    .header_count = count};
}

static inline struct br_header
header(const char *name, const char *value)
{
	return (struct br_header){name, br_slice_str(value)};
}

/* Takes an event with an id and up to two further headers (NULL: none). */
static inline enum br_intake_result
take_with(struct gate *g, const char *name, const char *value,
    const char *name2, const char *value2)
{
	struct br_header headers[] = {header("id", "42"),
	    header(name != NULL ? name : "", value),
	    header(name2 != NULL ? name2 : "", value2)};
	struct br_record record = record_of("{\"a\":1}", headers,
	    name == NULL    ? 1
	    : name2 == NULL ? 2
	                    : 3);

	return take(g, &record);
}

static inline enum br_intake_result
take_url(struct gate *g, const char *url)
{
	return take_with(g, "target_url", url, NULL, NULL);
}

static inline void
expect_text(const char *got, const char *expected)
{
	if (expected == NULL) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_string_equal(got, expected);
}

static inline void
expect_slice(struct br_slice got, const char *expected)
{
	if (!br_slice_eq(got, br_slice_str(expected)))
		fail_msg("\"%.*s\" is not \"%s\"", (int)got.len,
		    (const char *)got.data,
		    expected != NULL ? expected : "(absent)");
}

/* The event that was taken goes there. */
static inline void
expect_aim(const struct gate *g, const char *url, const char *target,
    const char *route, bool own)
{
	const struct br_event *ev = g->ref->event;

	expect_text(ev->reason, NULL);
	expect_text(ev->url, url);
	expect_text(ev->target, target);
	expect_text(ev->route, route);
	assert_int_equal(ev->url_from_event, own);
}

static inline void
expect_dead(const struct gate *g, const char *reason, const char *stage)
{
	const struct br_event *ev = g->ref->event;

	expect_text(ev->reason, reason);
	expect_text(ev->stage, stage);
	expect_text(ev->url, NULL);
	assert_non_null(ev->detail);
	assert_int_not_equal(ev->detail[0], '\0');
}

#endif
