/* status: see the header. */
#include "bridge/core/status.h"

#include <string.h>

#define STATUS_MIN 100

/* The three digits at `text` as a code, or 0 for anything else. */
static int
parse_code(const char *text)
{
	int code = 0;

	for (int i = 0; i < 3; i++) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		code = code * 10 + (text[i] - '0');
	}
	return code >= STATUS_MIN ? code : 0;
}

static void
add_range(struct br_status_set *set, int first, int last)
{
	for (int code = first; code <= last; code++)
		set->bits[code / 64] |= UINT64_C(1) << (code % 64);
}

bool
br_status_set_add(struct br_status_set *set, const char *item)
{
	size_t len = strlen(item);
	int first, last;

	if (len == 3 && strcmp(item + 1, "xx") == 0 && item[0] >= '1' &&
	    item[0] <= '9') {
		first = (item[0] - '0') * 100;
		last = first + 99;
	} else if (len == 3) {
		first = last = parse_code(item);
	} else if (len == 7 && item[3] == '-') {
		first = parse_code(item);
		last = parse_code(item + 4);
	} else {
		return false;
	}
	if (first == 0 || last < first)
		return false;
	add_range(set, first, last);
	return true;
}

bool
br_status_set_has(const struct br_status_set *set, int code)
{
	if (code < STATUS_MIN || code > BR_STATUS_MAX)
		return false;
	return (set->bits[code / 64] >> (code % 64) & 1) != 0;
}
