/* Retry-After in all its forms, and in none of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bridge/core/retry_after.h"
#include "seed.h"

/* Wed, 21 Oct 2026 07:28:00 GMT */
#define NOW_MS INT64_C(1792567680000)
#define TEN_YEARS_MS INT64_C(315360000000)

static void
assert_waits(const char *value, int64_t want)
{
	int64_t wait = -1;

	if (!br_retry_after_parse(br_slice_str(value), NOW_MS, &wait))
		fail_msg("\"%s\" was refused", value);
	if (wait != want)
		fail_msg("\"%s\": %lld, not %lld", value, (long long)wait,
		    (long long)want);
}

static void
test_seconds(void **state)
{
	(void)state;
	assert_waits("0", 0);
	assert_waits("1", 1000);
	assert_waits("30", 30000);
	assert_waits("120", 120000);
	assert_waits("86400", 86400000);
	assert_waits("007", 7000);
	assert_waits(" 30", 30000);
	assert_waits("30\t ", 30000);
	assert_waits("315359999", INT64_C(315359999000));
	assert_waits("315360000", TEN_YEARS_MS);
	assert_waits("315360001", TEN_YEARS_MS);
	/* 18 digits: saturated, not wrapped. */
	assert_waits("999999999999999999", TEN_YEARS_MS);
	assert_waits("000000000000000030", 30000);
}

static void
test_dates(void **state)
{
	(void)state;
	assert_waits("Wed, 21 Oct 2026 07:28:30 GMT", 30000);
	assert_waits("Wednesday, 21-Oct-26 07:28:30 GMT", 30000);
	assert_waits("Wed Oct 21 07:28:30 2026", 30000);
	assert_waits("  Wed, 21 Oct 2026 07:28:30 GMT ", 30000);
	assert_waits("Wed, 21 Oct 2026 07:28:00 GMT", 0);
	/* In the past. */
	assert_waits("Wed, 21 Oct 2026 07:27:59 GMT", 0);
	assert_waits("Sunday, 06-Nov-94 08:49:37 GMT", 0);
	assert_waits("Sun Nov  6 08:49:37 1994", 0);
	assert_waits("Thu, 01 Jan 1970 00:00:00 GMT", 0);
	assert_waits("Sat, 01 Jan 0000 00:00:00 GMT", 0);
	/* Far ahead. */
	assert_waits("Thu, 21 Oct 2027 07:28:00 GMT", INT64_C(31536000000));
	assert_waits("Fri, 31 Dec 9999 23:59:59 GMT", TEN_YEARS_MS);
	/* A leap second, and a weekday that does not fit. */
	assert_waits("Wed, 21 Oct 2026 07:28:60 GMT", 60000);
	assert_waits("Mon, 21 Oct 2026 07:28:30 GMT", 30000);
}

static void
test_refused(void **state)
{
	static const char *const values[] = {"", " ", "\t", "-1", "+1", "1.5",
	    "1e9", "abc", "30s", "30 s", "3 0", "30,", "30, 60", "30;60",
	    "0x10", "9999999999999999999", "99999999999999999999",
	    "1000000000000000000", "\"30\"", "30\n", "\v30", "٣٠",
	    "2026-10-21T07:28:00Z", "Wed, 21 Oct 2026 07:28:00",
	    "Wed, 21 Oct 2026 07:28:00 UTC", "Wed, 21 Oct 2026 07:28:00 +0000",
	    "Wed, 21 Oct 2026 07:28:00 GMT, 30",
	    "Wed, 21 Oct 2026 07:28:00 GMTX", "Wed, 21 Oct 2026 07:28:00  GMT",
	    "Wed 21 Oct 2026 07:28:00 GMT", "21 Oct 2026 07:28:00 GMT",
	    "Wed,21 Oct 2026 07:28:00 GMT", "wed, 21 Oct 2026 07:28:00 GMT",
	    "Wed, 21 oct 2026 07:28:00 GMT", "Wed, 21 Okt 2026 07:28:00 GMT",
	    "Xyz, 21 Oct 2026 07:28:00 GMT", "Wed, 1 Oct 2026 07:28:00 GMT",
	    "Wed,  1 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 26 07:28:00 GMT",
	    "Wed, 21 Oct 2026 7:28:00 GMT", "Wed, 21 Oct 2026 07:28 GMT",
	    "Wed, 21 Oct 2026 24:00:00 GMT", "Wed, 21 Oct 2026 07:60:00 GMT",
	    "Wed, 21 Oct 2026 07:28:61 GMT", "Wed, 00 Oct 2026 07:28:00 GMT",
	    "Wed, 32 Oct 2026 07:28:00 GMT", "Wed, 31 Sep 2026 07:28:00 GMT",
	    "Sun, 29 Feb 2026 07:28:00 GMT", "Sun, 29 Feb 2100 07:28:00 GMT",
	    "Wed, 21-Oct-26 07:28:00 GMT",
	    "Wednesday, 21-Oct-2026 07:28:00 GMT",
	    "Wednesday, 21 Oct 2026 07:28:00 GMT",
	    "Wednesday, 29-Feb-27 07:28:00 GMT",
	    "Wednes, 21-Oct-26 07:28:00 GMT", "Wednesday Oct 21 07:28:00 2026",
	    "Wed Oct 21 07:28:00 2026 GMT", "Wed Oct  21 07:28:00 2026",
	    "Wed Oct 6 07:28:00 2026", "Wed Oct  0 07:28:00 2026",
	    "Wed Oct 21 07:28:00 26", "Wed", "Wed,", "Wednesday",
	    "Wednesday, "};
	int64_t wait = 4711;

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (br_retry_after_parse(
		        br_slice_str(values[i]), NOW_MS, &wait))
			fail_msg("\"%s\" was accepted", values[i]);
		assert_int_equal(wait, 4711);
	}
	assert_false(
	    br_retry_after_parse((struct br_slice){NULL, 0}, NOW_MS, &wait));
	/* A NUL inside is not an end. */
	assert_false(br_retry_after_parse(
	    (struct br_slice){(const uint8_t *)"30\0", 3}, NOW_MS, &wait));
}

/* The value is a slice: what follows it must not be read. */
static void
test_every_prefix_is_refused(void **state)
{
	static const char *const dates[] = {"Wed, 21 Oct 2026 07:28:30 GMT",
	    "Wednesday, 21-Oct-26 07:28:30 GMT", "Wed Oct 21 07:28:30 2026"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		for (size_t len = 0; len < strlen(dates[i]); len++) {
			uint8_t *copy = malloc(len + 1);
			uint8_t *exact = realloc(copy, len > 0 ? len : 1);
			int64_t date;

			assert_non_null(exact);
			memcpy(exact, dates[i], len);
			assert_false(br_http_date_parse(
			    (struct br_slice){exact, len}, NOW_MS, &date));
			free(exact);
		}
	}
}

/* Every day of 140 years in all three forms, against the C library. */
static void
test_every_day(void **state)
{
	static const char *const days[] = {"Sunday", "Monday", "Tuesday",
	    "Wednesday", "Thursday", "Friday", "Saturday"};
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May",
	    "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	const int64_t day_ms = 86400000;

	(void)state;
	for (int64_t at = 3661000; at < 140 * 365 * day_ms; at += day_ms) {
		time_t seconds = (time_t)(at / 1000);
		struct tm tm;
		char text[3][80];

		assert_non_null(gmtime_r(&seconds, &tm));
		(void)snprintf(text[0], sizeof(text[0]),
		    "%.3s, %02d %s %04d %02d:%02d:%02d GMT", days[tm.tm_wday],
		    tm.tm_mday, months[tm.tm_mon], tm.tm_year + 1900,
		    tm.tm_hour, tm.tm_min, tm.tm_sec);
		(void)snprintf(text[1], sizeof(text[1]),
		    "%s, %02d-%s-%02d %02d:%02d:%02d GMT", days[tm.tm_wday],
		    tm.tm_mday, months[tm.tm_mon], tm.tm_year % 100, tm.tm_hour,
		    tm.tm_min, tm.tm_sec);
		(void)snprintf(text[2], sizeof(text[2]),
		    "%.3s %s %2d %02d:%02d:%02d %04d", days[tm.tm_wday],
		    months[tm.tm_mon], tm.tm_mday, tm.tm_hour, tm.tm_min,
		    tm.tm_sec, tm.tm_year + 1900);
		for (int form = 0; form < 3; form++) {
			int64_t date = -1;

			assert_true(br_http_date_parse(
			    br_slice_str(text[form]), at, &date));
			assert_int_equal(date, at);
		}
	}
}

/* RFC 9110: more than 50 years ahead means the century before. */
static void
test_two_digit_years(void **state)
{
	static const struct {
		const char *now, *two_digits, *same;
	} rows[] = {
	    {"Wed, 21 Oct 2026 07:28:00 GMT",
	        "Wednesday, 21-Oct-76 07:28:00 GMT",
	        "Wed, 21 Oct 2076 07:28:00 GMT"},
	    {"Wed, 21 Oct 2026 07:28:00 GMT",
	        "Wednesday, 23-Oct-76 07:28:00 GMT",
	        "Wed, 23 Oct 1976 07:28:00 GMT"},
	    {"Wed, 21 Oct 2026 07:28:00 GMT",
	        "Wednesday, 01-Jan-77 00:00:00 GMT",
	        "Sat, 01 Jan 1977 00:00:00 GMT"},
	    {"Wed, 21 Oct 2026 07:28:00 GMT",
	        "Wednesday, 21-Oct-00 07:28:00 GMT",
	        "Sat, 21 Oct 2000 07:28:00 GMT"},
	    {"Thu, 31 Dec 2099 23:59:30 GMT", "Friday, 01-Jan-00 00:00:00 GMT",
	        "Fri, 01 Jan 2100 00:00:00 GMT"},
	    {"Thu, 31 Dec 2099 23:59:30 GMT",
	        "Thursday, 31-Dec-49 00:00:00 GMT",
	        "Thu, 31 Dec 2149 00:00:00 GMT"},
	    {"Thu, 31 Dec 2099 23:59:30 GMT",
	        "Thursday, 31-Dec-50 00:00:00 GMT",
	        "Sat, 31 Dec 2050 00:00:00 GMT"},
	    {"Thu, 01 Jan 1970 00:00:00 GMT", "Friday, 31-Dec-99 23:59:59 GMT",
	        "Fri, 31 Dec 1999 23:59:59 GMT"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t now, got, want;

		assert_true(
		    br_http_date_parse(br_slice_str(rows[i].now), 0, &now));
		assert_true(br_http_date_parse(
		    br_slice_str(rows[i].two_digits), now, &got));
		assert_true(
		    br_http_date_parse(br_slice_str(rows[i].same), now, &want));
		if (got != want)
			fail_msg("row %zu", i);
	}
}

static void
test_absurd_clocks(void **state)
{
	/* A date in 2026, seen from before 1970 and from beyond year 9999. */
	static const struct {
		int64_t now;
		int64_t want;
	} clocks[] = {{INT64_MIN, TEN_YEARS_MS}, {-1, TEN_YEARS_MS},
	    {0, TEN_YEARS_MS}, {INT64_MAX - 1, 0}, {INT64_MAX, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		int64_t wait = -1;

		assert_true(br_retry_after_parse(
		    br_slice_str("Wed, 21 Oct 2026 07:28:30 GMT"),
		    clocks[i].now, &wait));
		assert_int_equal(wait, clocks[i].want);
		/* Two digits mean another century there. */
		assert_true(br_retry_after_parse(
		    br_slice_str("Wednesday, 21-Oct-26 07:28:30 GMT"),
		    clocks[i].now, &wait));
		assert_in_range(wait, 0, TEN_YEARS_MS);
	}
}

/* One changed byte never gives a wait out of bounds, and mostly none. */
static void
test_mutations(void **state)
{
	static const char *const values[] = {"Wed, 21 Oct 2026 07:28:30 GMT",
	    "Wednesday, 21-Oct-26 07:28:30 GMT", "Wed Oct 21 07:28:30 2026",
	    "120"};
	uint64_t rng = seed_take();

	(void)state;
	for (int i = 0; i < 100000; i++) {
		const char *value = values[seed_below(&rng, 4)];
		size_t len = strlen(value);
		uint8_t text[64];
		int64_t wait = 0;

		memcpy(text, value, len);
		text[seed_below(&rng, len)] = (uint8_t)seed_below(&rng, 256);
		(void)br_retry_after_parse(
		    (struct br_slice){text, len}, NOW_MS, &wait);
		assert_in_range(wait, 0, TEN_YEARS_MS);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_seconds),
	    cmocka_unit_test(test_dates),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_every_prefix_is_refused),
	    cmocka_unit_test(test_every_day),
	    cmocka_unit_test(test_two_digit_years),
	    cmocka_unit_test(test_absurd_clocks),
	    cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
