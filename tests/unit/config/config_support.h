/* What the tests of config/ share. */
#ifndef TESTS_CONFIG_SUPPORT_H
#define TESTS_CONFIG_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/config/loader.h"

#define NAME "t.conf"

/* The least that loads, in one line; "%s" of a test follows in line 2. */
#define HEAD                                                                   \
	"kafka = { brokers = \"b:9092\"; topics = [ \"t\" ]; };"               \
	" delivery = { url = \"http://h/\"; };\n"

static inline struct br_config *
load(const char *text, struct br_buffer *faults)
{
	return br_config_load_text(NAME, text, strlen(text), faults);
}

/* Loads what must load. */
static inline struct br_config *
must_load(const char *text)
{
	struct br_buffer faults = {0};
	struct br_config *c = load(text, &faults);

	if (c == NULL)
		fail_msg("%s\nin: %s", faults.data, text);
	assert_true(faults.len == 0);
	br_buffer_free(&faults);
	return c;
}

/* The configuration as text, without the comments; the caller frees it. */
static inline char *
printed(const struct br_config *c, bool comments)
{
	struct br_buffer out = {0};

	br_config_print(c, &out);
	for (char *p = out.data; !comments && (p = strstr(p, ";  // ")); p++) {
		char *end = strchr(p, '\n');

		memmove(p + 1, end, strlen(end) + 1);
	}
	return out.data;
}

#endif
