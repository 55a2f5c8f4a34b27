/* retry_after: see the header. */
#include "bridge/core/retry_after.h"

#define DAY_MS INT64_C(86400000)
/* A mean year of the Gregorian calendar. */
#define YEAR_MS INT64_C(31556952000)
/* First ms of the year 10000: a clock beyond it is no clock. */
#define CLOCK_END_MS INT64_C(253402300800000)

struct date {
	int year, month, day; /* month 1..12, day 1..31 */
	int hour, minute, second;
};

/* Reads from the front; every step is false when the text differs. */
struct cursor {
	const uint8_t *at, *end;
};

static bool
take_text(struct cursor *c, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(c->end - c->at) < len || memcmp(c->at, text, len) != 0)
		return false;
	c->at += len;
	return true;
}

/* Exactly `digits` digits. */
static bool
take_number(struct cursor *c, int digits, int *value)
{
	*value = 0;
	for (int i = 0; i < digits; i++) {
		if (c->at == c->end || *c->at < '0' || *c->at > '9')
			return false;
		*value = *value * 10 + (*c->at++ - '0');
	}
	return true;
}

static bool
take_month(struct cursor *c, int *month)
{
	static const char names[12][4] = {"Jan", "Feb", "Mar", "Apr", "May",
	    "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

	for (int i = 0; i < 12; i++)
		if (take_text(c, names[i])) {
			*month = i + 1;
			return true;
		}
	return false;
}

/* The day's name, short or long. Whether it fits the date is not asked: a
 * wrong one is the sender's slip, and the rest is still the time it means. */
static bool
take_weekday(struct cursor *c, bool *is_long)
{
	static const char names[7][10] = {"Sunday", "Monday", "Tuesday",
	    "Wednesday", "Thursday", "Friday", "Saturday"};
	char brief[4];

	for (int i = 0; i < 7; i++) {
		*is_long = take_text(c, names[i]);
		if (*is_long)
			return true;
		memcpy(brief, names[i], 3);
		brief[3] = '\0';
		if (take_text(c, brief))
			return true;
	}
	return false;
}

static bool
take_time(struct cursor *c, struct date *d)
{
	return take_number(c, 2, &d->hour) && take_text(c, ":") &&
	       take_number(c, 2, &d->minute) && take_text(c, ":") &&
	       take_number(c, 2, &d->second);
}

/* "21 Oct 2026 07:28:00 GMT" */
static bool
take_fixdate(struct cursor *c, struct date *d)
{
	return take_number(c, 2, &d->day) && take_text(c, " ") &&
	       take_month(c, &d->month) && take_text(c, " ") &&
	       take_number(c, 4, &d->year) && take_text(c, " ") &&
	       take_time(c, d) && take_text(c, " GMT");
}

/* "21-Oct-26 07:28:00 GMT"; the year is left with its two digits. */
static bool
take_rfc850(struct cursor *c, struct date *d)
{
	return take_number(c, 2, &d->day) && take_text(c, "-") &&
	       take_month(c, &d->month) && take_text(c, "-") &&
	       take_number(c, 2, &d->year) && take_text(c, " ") &&
	       take_time(c, d) && take_text(c, " GMT");
}

/* "Oct 21 07:28:00 2026"; a day below 10 has a space for its first digit. */
static bool
take_asctime(struct cursor *c, struct date *d)
{
	if (!take_month(c, &d->month) || !take_text(c, " "))
		return false;
	if (!take_number(c, take_text(c, " ") ? 1 : 2, &d->day))
		return false;
	return take_text(c, " ") && take_time(c, d) && take_text(c, " ") &&
	       take_number(c, 4, &d->year);
}

static bool
is_valid(const struct date *d)
{
	static const int days[12] = {
	    31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap =
	    (d->year % 4 == 0 && d->year % 100 != 0) || d->year % 400 == 0;
	int last = days[d->month - 1] + (d->month == 2 && leap ? 1 : 0);

	/* Second 60 is a leap second. */
	return d->day >= 1 && d->day <= last && d->hour <= 23 &&
	       d->minute <= 59 && d->second <= 60;
}

/*
 * Days since 1970-01-01. The year is counted from March, so that the leap
 * day is its last and needs no case of its own.
 */
static int64_t
days_since_1970(const struct date *d)
{
	int64_t year = d->month > 2 ? d->year : d->year - 1;
	int64_t month = (d->month + 9) % 12; /* March is 0 */
	int64_t leaps;

	/* From 400 years on, so that no division meets a negative number. */
	year += 400;
	leaps = year / 4 - year / 100 + year / 400;
	return year * 365 + leaps + (month * 153 + 2) / 5 + d->day - 1 -
	       (INT64_C(719468) + 146097);
}

static int64_t
to_ms(const struct date *d)
{
	return days_since_1970(d) * DAY_MS +
	       ((d->hour * 60 + d->minute) * INT64_C(60) + d->second) * 1000;
}

static int64_t
clamp_clock(int64_t now_ms)
{
	if (now_ms < 0)
		return 0;
	return now_ms < CLOCK_END_MS ? now_ms : CLOCK_END_MS;
}

/*
 * Picks the century of a two-digit year: the latest one that is not more
 * than 50 years ahead (RFC 9110, 5.6.7).
 */
static bool
pick_century(struct date *d, int64_t now_ms)
{
	struct date earlier = *d; /* by 50 years */

	/* Begins in the century after now's, which holds the latest year that
	 * may be meant. */
	earlier.year += (1970 + (int)(now_ms / YEAR_MS)) / 100 * 100 + 50;
	while (to_ms(&earlier) > now_ms)
		earlier.year -= 100;
	d->year = earlier.year + 50;
	/* 29 February exists in one century and not in another. */
	return is_valid(d);
}

static struct br_slice
trim(struct br_slice s)
{
	while (s.len > 0 && (s.data[0] == ' ' || s.data[0] == '\t')) {
		s.data++;
		s.len--;
	}
	while (s.len > 0 &&
	       (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t'))
		s.len--;
	return s;
}

bool
br_http_date_parse(struct br_slice value, int64_t now_ms, int64_t *date_ms)
{
	struct date d = {0};
	struct cursor c;
	bool is_long, ok;

	value = trim(value);
	if (value.len == 0)
		return false;
	c = (struct cursor){value.data, value.data + value.len};
	if (!take_weekday(&c, &is_long))
		return false;
	if (is_long)
		ok = take_text(&c, ", ") && take_rfc850(&c, &d) &&
		     pick_century(&d, clamp_clock(now_ms));
	else if (take_text(&c, ", "))
		ok = take_fixdate(&c, &d) && is_valid(&d);
	else
		ok = take_text(&c, " ") && take_asctime(&c, &d) && is_valid(&d);
	if (!ok || c.at != c.end)
		return false;
	*date_ms = to_ms(&d);
	return true;
}

/* 1 to 18 digits: their value always fits. */
static bool
parse_seconds(struct br_slice value, int64_t *seconds)
{
	if (value.len == 0 || value.len > 18)
		return false;
	*seconds = 0;
	for (size_t i = 0; i < value.len; i++) {
		if (value.data[i] < '0' || value.data[i] > '9')
			return false;
		*seconds = *seconds * 10 + (value.data[i] - '0');
	}
	return true;
}

bool
br_retry_after_parse(struct br_slice value, int64_t now_ms, int64_t *wait_ms)
{
	int64_t seconds, date_ms, wait;

	value = trim(value);
	if (parse_seconds(value, &seconds)) {
		wait = seconds < BR_RETRY_AFTER_MAX_MS / 1000
		           ? seconds * 1000
		           : BR_RETRY_AFTER_MAX_MS;
	} else if (br_http_date_parse(value, now_ms, &date_ms)) {
		wait = date_ms - clamp_clock(now_ms);
		if (wait < 0)
			wait = 0;
		if (wait > BR_RETRY_AFTER_MAX_MS)
			wait = BR_RETRY_AFTER_MAX_MS;
	} else {
		return false;
	}
	*wait_ms = wait;
	return true;
}
