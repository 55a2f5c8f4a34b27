/* explain_support: records explained, and the answer read with jansson. */
#ifndef TESTS_UNIT_COMMANDS_EXPLAIN_SUPPORT_H
#define TESTS_UNIT_COMMANDS_EXPLAIN_SUPPORT_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/commands/explain_file.h"
#include "bridge/commands/explain_json.h"
#include "bridge/commands/explain_look.h"
#include "bridge/commands/explain_text.h"
#include "bridge/config/loader.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define KAFKA                                                                  \
	"kafka = { brokers = \"127.0.0.1:1\"; topics = [ \"outbox.*\", \"t\" " \
	"]; "                                                                  \
	"group = \"g\"; };\ndlq = { topic = \"the.dlq\"; };\n"
#define UUID "00000000-0000-4000-8000-000000000001"

/* A configuration and the explainer for it. */
struct desk {
	struct br_config *config;
	struct br_explainer *explainer;
};

static inline struct br_config *
config_of(const char *rest)
{
	struct br_buffer text = {0}, faults = {0};
	struct br_config *c;

	br_buffer_str(&text, KAFKA);
	br_buffer_str(&text, rest);
	c = br_config_load_text("test.conf", text.data, text.len, &faults);
	if (c == NULL)
		fail_msg("%s", faults.data);
	br_buffer_free(&text);
	br_buffer_free(&faults);
	return c;
}

static inline struct desk
open_desk(const char *rest)
{
	struct desk d = {.config = config_of(rest)};
	struct br_error err = {""};

	d.explainer = br_explainer_new(d.config, &err);
	if (d.explainer == NULL)
		fail_msg("%s", err.text);
	return d;
}

static inline void
close_desk(struct desk *d)
{
	br_explainer_free(d->explainer);
	br_config_free(d->config);
}

static inline struct br_header
header(const char *name, const char *value)
{
	return (struct br_header){name, br_slice_str(value)};
}

static inline struct br_record
record_of(const char *value, const struct br_header *headers, size_t count)
{
	return (struct br_record){.topic = "outbox.event.Order",
	    .partition = 2,
	    .offset = 77,
	    .timestamp_ms = 1767225600123,
	    .time_kind = BR_TIME_CREATE,
	    .key = br_slice_str("k1"),
	    .value = br_slice_str(value),
	    .headers = headers,
	    .header_count = count};
}

/* What a program reads: one line, one object. */
static inline json_t *
json_of(struct desk *d, const struct br_record *record)
{
	struct br_buffer out = {0};
	json_error_t why;
	json_t *json;

	br_explain_json(br_explainer_look(d->explainer, record), &out);
	assert_ptr_equal(strchr(out.data, '\n'), out.data + out.len - 1);
	json = json_loadb(
	    out.data, out.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	if (json == NULL)
		fail_msg("%s: %s", why.text, out.data);
	br_buffer_free(&out);
	return json;
}

/* What a person reads. */
static inline struct br_buffer
text_of(
    struct desk *d, const struct br_record *record, size_t width, bool colour)
{
	struct br_buffer out = {0};
	struct br_paper paper = {.out = &out, .width = width, .colour = colour};

	br_explain_text(br_explainer_look(d->explainer, record), &paper);
	br_paper_free(&paper);
	return out;
}

/* A member that is a string; NULL: null. */
static inline void
expect_member(const json_t *json, const char *name, const char *expected)
{
	const json_t *value = json_object_get(json, name);

	if (value == NULL)
		fail_msg("there is no member %s", name);
	if (expected == NULL) {
		if (!json_is_null(value))
			fail_msg("%s is %s, not null", name,
			    json_string_value(value));
		return;
	}
	if (!json_is_string(value) ||
	    strcmp(json_string_value(value), expected) != 0)
		fail_msg("%s is \"%s\", not \"%s\"", name,
		    json_is_string(value) ? json_string_value(value) : "(null)",
		    expected);
}

/* Value of the only header of the request with that name, or NULL. */
static inline const char *
request_header(const json_t *json, const char *name)
{
	const json_t *list =
	    json_object_get(json_object_get(json, "request"), "headers");
	const char *found = NULL;
	size_t i;
	json_t *pair;

	json_array_foreach(list, i, pair)
	{
		assert_int_equal(json_array_size(pair), 2);
		if (strcmp(json_string_value(json_array_get(pair, 0)), name) !=
		    0)
			continue;
		assert_null(found);
		found = json_string_value(json_array_get(pair, 1));
	}
	return found;
}

#endif
