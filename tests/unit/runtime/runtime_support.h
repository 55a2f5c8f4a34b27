/* runtime_support: configurations, and waits with a deadline. */
#ifndef TESTS_UNIT_RUNTIME_SUPPORT_H
#define TESTS_UNIT_RUNTIME_SUPPORT_H

/* clang-format off: cmocka needs these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/base/clock.h"
#include "bridge/config/loader.h"

/* Long enough for a slow machine, short enough to fail before ctest does. */
#define WAIT_MS 20000

#define WAIT_FOR(condition)                                                    \
	do {                                                                   \
		int64_t until_ms_ = br_clock_mono_ms() + WAIT_MS;              \
		while (!(condition)) {                                         \
			if (br_clock_mono_ms() > until_ms_)                    \
				fail_msg("waited for " #condition);            \
			(void)poll(NULL, 0, 2);                                \
		}                                                              \
	} while (0)

/* The configuration of this text, behind the least that a file must say. */
static inline struct br_config *
config_of(const char *rest)
{
	struct br_buffer text = {0}, faults = {0};
	struct br_config *c;

	br_buffer_format(&text,
	    "kafka = { brokers = \"b:9092\"; topics = [ \"t\" ];\n"
	    "group = \"the-group\"; };\nadmin = { listen = \"\"; };\n%s\n",
	    rest);
	c = br_config_load_text("t.conf", text.data, text.len, &faults);
	if (c == NULL)
		fail_msg("%s\nin: %s", faults.data, text.data);
	br_buffer_free(&text);
	br_buffer_free(&faults);
	return c;
}

#endif
