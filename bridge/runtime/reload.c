/* reload: see the header. */
#include "bridge/runtime/reload.h"

#include <stdlib.h>
#include <string.h>

#include "bridge/base/clock.h"
#include "bridge/base/metrics.h"
#include "bridge/config/loader.h"
#include "bridge/config/table.h"
#include "bridge/kafka/properties.h"

/* How much later than the start a relative time may have been resolved. */
#define START_SLACK_MS 5000

/* ---- what differs, secrets too: so values, and not what is printed */

static bool
same_text(const char *a, const char *b)
{
	return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static bool
same_strings(const struct br_strings *a, const struct br_strings *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!same_text(a->item[i], b->item[i]))
			return false;
	return true;
}

/* "-2h" is another time with each load: as much later as we have run. */
static bool
same_start(const struct br_config_kafka *a, const struct br_config_kafka *b)
{
	int64_t ran_ms =
	    br_clock_wall_ms() - 1000 * br_metric_get(BR_M_START_TIME);

	if (a->start != b->start)
		return false;
	return a->start != BR_START_TIME ||
	       a->start_time_ms == b->start_time_ms ||
	       llabs(b->start_time_ms - a->start_time_ms - ran_ms) <
	           START_SLACK_MS;
}

static bool
same_value(const struct br_key *key, const void *a, const void *b)
{
	const struct br_config_admin *one = a, *other = b;

	switch (key->type) {
	case BR_KEY_STRING:
		return same_text(*(char *const *)a, *(char *const *)b);
	case BR_KEY_STRINGS:
		return same_strings(a, b);
	case BR_KEY_START:
		return same_start(a, b);
	case BR_KEY_LISTEN:
		return same_text(one->host, other->host) &&
		       one->port == other->port;
	case BR_KEY_INTEGER:
	case BR_KEY_REAL:
	case BR_KEY_BOOLEAN:
	case BR_KEY_ENUM:
	case BR_KEY_STATUSES:
		return memcmp(a, b, key->size) == 0;
	case BR_KEY_GROUPS: /* same_groups() */
		break;
	}
	return false;
}

static bool
same_element(const char *path, const char *a, const char *b)
{
	for (size_t i = 0; i < br_table_count(); i++) {
		const struct br_key *key = br_table_at(i);

		if (br_table_is_within(key, path) &&
		    !same_value(key, a + key->offset, b + key->offset))
			return false;
	}
	return true;
}

/* Lists of groups, `routes` for one: elements by their places. */
static bool
same_groups(const struct br_key *key, const char *a, const char *b)
{
	size_t count = *(const size_t *)(const void *)(a + key->count_offset);
	struct br_buffer path = {0};
	bool same =
	    count == *(const size_t *)(const void *)(b + key->count_offset);

	a = *(char *const *)(const void *)(a + key->offset);
	b = *(char *const *)(const void *)(b + key->offset);
	br_buffer_format(&path, "%s[]", key->path);
	for (size_t i = 0; i < count && same; i++)
		same = same_element(
		    path.data, a + i * key->size, b + i * key->size);
	br_buffer_free(&path);
	return same;
}

/* Names the keys that differ. */
static void
compare(const struct br_config *now, const struct br_config *fresh,
    struct br_buffer *names)
{
	const char *a = (const char *)now, *b = (const char *)fresh;

	for (size_t i = 0; i < br_table_count(); i++) {
		const struct br_key *key = br_table_at(i);

		if (!br_table_is_within(key, ""))
			continue;
		if (key->type == BR_KEY_GROUPS
		        ? same_groups(key, a, b)
		        : same_value(key, a + key->offset, b + key->offset))
			continue;
		br_buffer_format(
		    names, "%s%s", names->len != 0 ? " " : "", key->path);
	}
}

/* ---- what is said */

/* Each fault as `check` says it; those beyond the limiter's are counted. */
static void
log_faults(const char *file, char *text)
{
	char *line, *rest = text;
	int64_t count = 0;

	while ((line = strsep(&rest, "\n")) != NULL) {
		if (*line == '\0')
			continue;
		count++;
		BR_LOG_LIMITED(BR_ERROR, "configuration", "configuration fault",
		    br_kv_str("because", line));
	}
	BR_LOG(BR_ERROR, "configuration refused", br_kv_str("file", file),
	    br_kv_int("faults", count),
	    br_kv_str("next", "everything stays as it was"));
}

void
br_reload_check(const struct br_config *config)
{
	struct br_buffer faults = {0}, names = {0};
	struct br_config *fresh = br_config_load(config->file, &faults);
	bool ok = fresh != NULL && br_properties_check(fresh, &faults);

	br_metric_set(BR_M_RELOAD_OK, ok);
	if (!ok) {
		log_faults(config->file, faults.data);
	} else {
		compare(config, fresh, &names);
		BR_LOG(BR_INFO, "configuration checked",
		    br_kv_str("file", config->file),
		    br_kv_str("changed", names.data),
		    br_kv_str("next", names.len == 0
		                          ? "nothing has changed"
		                          : "it is valid: restart to take it "
		                            "over"));
	}
	br_buffer_free(&faults);
	br_buffer_free(&names);
	br_config_free(fresh);
}
