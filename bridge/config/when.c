/* when: reads kafka.start and admin.listen. See check.h. */
#include "bridge/config/check.h"

#include <stdlib.h>
#include <string.h>

#define DAY_S INT64_C(86400)

/* Days from 1970-01-01 to that date of the Gregorian calendar. */
static int64_t
days(int year, int month, int day)
{
	int y = month <= 2 ? year - 1 : year;
	int era = y / 400; /* no year is before 0 here */
	int of_era = y - era * 400;
	int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return (int64_t)era * 146097 + of_era * 365 + of_era / 4 -
	       of_era / 100 + of_year - 719468;
}

static int
month_days(int year, int month)
{
	static const int len[] = {
	    31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return len[month - 1] + (month == 2 && leap);
}

/* Exactly `n` digits, and steps over them; -1 when there are fewer. */
static int
digits(const char **p, int n)
{
	int value = 0;

	for (; n > 0; n--, (*p)++) {
		if (**p < '0' || **p > '9')
			return -1;
		value = value * 10 + (**p - '0');
	}
	return value;
}

static bool
eat(const char **p, const char *any)
{
	if (**p == '\0' || strchr(any, **p) == NULL)
		return false;
	(*p)++;
	return true;
}

/* Z or +hh:mm, in seconds east of Greenwich. */
static bool
zone(const char **p, int *seconds)
{
	int sign = **p == '-' ? -1 : 1, hours, minutes;

	*seconds = 0;
	if (eat(p, "Zz"))
		return true;
	if (!eat(p, "+-"))
		return false;
	hours = digits(p, 2);
	if (hours < 0 || hours > 23 || !eat(p, ":"))
		return false;
	minutes = digits(p, 2);
	*seconds = sign * (hours * 3600 + minutes * 60);
	return minutes >= 0 && minutes <= 59;
}

/* Milliseconds of a fraction; more digits are cut. */
static int
fraction(const char **p)
{
	int ms = 0, scale = 100;

	for (; **p >= '0' && **p <= '9'; (*p)++, scale /= 10)
		ms += (**p - '0') * scale;
	return ms;
}

/* A time of RFC 3339, in ms since 1970. */
static bool
rfc3339(const char *p, int64_t *ms)
{
	int year, month, day, hour, minute, second, east, part = 0;

	if ((year = digits(&p, 4)) < 0 || !eat(&p, "-") ||
	    (month = digits(&p, 2)) < 1 || month > 12 || !eat(&p, "-") ||
	    (day = digits(&p, 2)) < 1 || day > month_days(year, month) ||
	    !eat(&p, "Tt "))
		return false;
	if ((hour = digits(&p, 2)) < 0 || hour > 23 || !eat(&p, ":") ||
	    (minute = digits(&p, 2)) < 0 || minute > 59 || !eat(&p, ":") ||
	    (second = digits(&p, 2)) < 0 || second > 60)
		return false;
	if (eat(&p, ".")) {
		if (*p < '0' || *p > '9')
			return false;
		part = fraction(&p);
	}
	if (!zone(&p, &east) || *p != '\0')
		return false;
	*ms = (days(year, month, day) * DAY_S + hour * 3600 + minute * 60 +
	          second - east) *
	          1000 +
	      part;
	return *ms >= 0;
}

/* "-2h": so long before now. */
static bool
ago(const char *p, int64_t now_ms, int64_t *ms)
{
	static const char units[] = "smhd";
	static const int64_t seconds[] = {1, 60, 3600, DAY_S};
	const char *unit;
	int64_t n;
	char *end;

	if (*p != '-' || p[1] < '0' || p[1] > '9')
		return false;
	n = strtoll(p + 1, &end, 10);
	unit = *end != '\0' ? strchr(units, *end) : NULL;
	/* 100,000 days are enough for anybody and never overflow. */
	if (unit == NULL || end[1] != '\0' ||
	    n > 100000 * DAY_S / seconds[unit - units])
		return false;
	*ms = now_ms - n * seconds[unit - units] * 1000;
	if (*ms < 0)
		*ms = 0;
	return true;
}

bool
br_check_start(const char *text, int64_t now_ms, struct br_config_kafka *kafka,
    struct br_error *err)
{
	static const struct {
		const char *name;
		enum br_start start;
	} words[] = {{"earliest", BR_START_EARLIEST},
	    {"latest", BR_START_LATEST}, {"error", BR_START_ERROR}};
	int64_t ms;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(text, words[i].name) == 0) {
			kafka->start = words[i].start;
			kafka->start_time_ms = 0;
			return true;
		}
	}
	if (!ago(text, now_ms, &ms) && !rfc3339(text, &ms))
		return br_fail(err, "\"%.64s\" is none of these", text);
	kafka->start = BR_START_TIME;
	kafka->start_time_ms = ms;
	return true;
}

/* True when all of it can stand in a host name or IPv6 address. */
static bool
is_host(const char *text, size_t len, bool v6)
{
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		bool alnum = (c >= '0' && c <= '9') ||
		             ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');

		if (!alnum && strchr(v6 ? ":.%" : ".-_", c) == NULL)
			return false;
	}
	return len > 0 && len <= BR_HOST_MAX;
}

bool
br_check_listen(
    const char *text, struct br_config_admin *admin, struct br_error *err)
{
	const char *colon = strrchr(text, ':'), *host = text;
	size_t len = colon != NULL ? (size_t)(colon - text) : 0;
	bool v6 = len >= 2 && text[0] == '[' && text[len - 1] == ']';
	char *end = NULL;
	long port = 0;

	if (v6) {
		host++;
		len -= 2;
	}
	if (*text != '\0') {
		if (colon != NULL && colon[1] >= '0' && colon[1] <= '9')
			port = strtol(colon + 1, &end, 10);
		if (end == NULL || *end != '\0' || port > 65535 ||
		    !is_host(host, len, v6))
			return br_fail(err, "\"%.64s\" is not HOST:PORT", text);
	}
	free(admin->host);
	admin->host = strndup(host, len);
	if (admin->host == NULL)
		abort();
	admin->port = (uint16_t)port;
	return true;
}
