/* times: see the header. */
#include "bridge/source/times.h"

#define DAY_MS INT64_C(86400000)

static int64_t
floor_div(int64_t number, int64_t by)
{
	return number / by - (number % by < 0 ? 1 : 0);
}

static enum br_time_unit
unit_by_size(int64_t number, int64_t *seconds)
{
	/* INT64_MIN has no positive twin. */
	uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

	*seconds = 0;
	if (size < UINT64_C(1000000))
		return BR_TIME_DAYS;
	if (size < UINT64_C(100000000000)) {
		*seconds = number;
		return BR_TIME_BY_SIZE;
	}
	if (size < UINT64_C(100000000000000))
		return BR_TIME_MILLIS;
	return size < UINT64_C(100000000000000000) ? BR_TIME_MICROS
	                                           : BR_TIME_NANOS;
}

bool
br_times_number(int64_t number, enum br_time_unit unit, int64_t *ms)
{
	int64_t seconds;

	if (unit == BR_TIME_BY_SIZE)
		unit = unit_by_size(number, &seconds);
	switch (unit) {
	case BR_TIME_BY_SIZE:
		*ms = seconds * 1000;
		return true;
	case BR_TIME_DAYS:
		if (number > INT64_MAX / DAY_MS || number < INT64_MIN / DAY_MS)
			return false;
		*ms = number * DAY_MS;
		return true;
	case BR_TIME_MILLIS:
		*ms = number;
		return true;
	case BR_TIME_MICROS:
		*ms = floor_div(number, 1000);
		return true;
	case BR_TIME_NANOS:
		*ms = floor_div(number, 1000000);
		return true;
	}
	return false;
}

/* Exactly `count` digits, and then `after` unless that is 0. */
static bool
digits(struct br_slice *text, size_t count, char after, int *number)
{
	size_t all = count + (after != 0 ? 1 : 0);

	*number = 0;
	if (text->len < all)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (text->data[i] < '0' || text->data[i] > '9')
			return false;
		*number = *number * 10 + (text->data[i] - '0');
	}
	if (after != 0 && text->data[count] != (uint8_t)after)
		return false;
	text->data += all;
	text->len -= all;
	return true;
}

/* Days from 1970 to a day of the Gregorian calendar, year 0 and later. */
static int64_t
days_of(int year, int month, int day)
{
	/* Years begin in March, so that the leap day is the last one. */
	int64_t y = year - (month <= 2 ? 1 : 0);
	int64_t era = floor_div(y, 400), of_era = y - era * 400;
	int64_t of_year =
	    (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 +
	       of_year - 719468;
}

/* A fraction of a second, of which three digits count. */
static bool
fraction(struct br_slice *text, int *ms)
{
	size_t n = 0;

	*ms = 0;
	if (text->len == 0 || (*text->data != '.' && *text->data != ','))
		return true;
	text->data++;
	text->len--;
	while (n < text->len && text->data[n] >= '0' && text->data[n] <= '9') {
		if (n < 3)
			*ms = *ms * 10 + (text->data[n] - '0');
		n++;
	}
	for (size_t i = n; i < 3; i++)
		*ms *= 10;
	text->data += n;
	text->len -= n;
	return n > 0;
}

/* Nothing, Z, +02:00, +0200 or +02, to the end of the text; in minutes. */
static bool
offset(struct br_slice text, int *minutes)
{
	int hour, minute = 0, sign;

	*minutes = 0;
	if (text.len > 0 && *text.data == ' ') {
		text.data++;
		text.len--;
	}
	if (text.len == 0)
		return true;
	if (text.len == 1 && (*text.data == 'Z' || *text.data == 'z'))
		return true;
	if (*text.data != '+' && *text.data != '-')
		return false;
	sign = *text.data == '-' ? -1 : 1;
	text.data++;
	text.len--;
	if (!digits(&text, 2, 0, &hour))
		return false;
	if (text.len > 0 && *text.data == ':') {
		text.data++;
		text.len--;
	}
	if (text.len > 0 && !digits(&text, 2, 0, &minute))
		return false;
	*minutes = sign * (hour * 60 + minute);
	return text.len == 0 && hour < 24 && minute < 60;
}

bool
br_times_text(struct br_slice text, int64_t *ms)
{
	int year, month, day, hour = 0, minute = 0, second = 0, part = 0;
	int east = 0;

	if (text.data == NULL || !digits(&text, 4, '-', &year) ||
	    !digits(&text, 2, '-', &month) || !digits(&text, 2, 0, &day) ||
	    month < 1 || month > 12 || day < 1 || day > 31)
		return false;
	if (text.len > 0) {
		if (*text.data != 'T' && *text.data != 't' && *text.data != ' ')
			return false;
		text.data++;
		text.len--;
		if (!digits(&text, 2, ':', &hour) ||
		    !digits(&text, 2, 0, &minute))
			return false;
		if (text.len > 0 && *text.data == ':') {
			text.data++;
			text.len--;
			if (!digits(&text, 2, 0, &second) ||
			    !fraction(&text, &part))
				return false;
		}
		if (!offset(text, &east))
			return false;
	}
	if (hour > 23 || minute > 59 || second > 60)
		return false;
	*ms = days_of(year, month, day) * DAY_MS +
	      ((hour * 60 + minute - east) * INT64_C(60) + second) * 1000 +
	      part;
	return true;
}
