/*
 * log: one line per event on standard error, logfmt or JSON.
 *
 *     BR_LOG(BR_INFO, "delivered", br_kv_str("key", key),
 *         br_kv_int("status", 200));
 *
 * A line is `ts=… level=… msg="…"` and the fields in their order, values
 * quoted where needed and control characters escaped (logline.h has the exact
 * form and the limits), and goes out with one write(2). Any thread may log;
 * errno is kept. Nothing here waits for longer than a moment, once for each
 * reader that stalls: a line that finds no room (full disk, closed pipe, pipe
 * that nobody reads) is lost, is counted in outbox_bridge_log_lost_total, and
 * never ends the program, which must ignore SIGPIPE.
 */
#ifndef BRIDGE_BASE_LOG_H
#define BRIDGE_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum br_level { BR_DEBUG, BR_INFO, BR_WARN, BR_ERROR };

enum br_kv_kind { BR_KV_END, BR_KV_STR, BR_KV_BYTES, BR_KV_INT, BR_KV_REAL };

struct br_kv {
	enum br_kv_kind kind;
	const char *key;
	const char *str; /* NULL: the field is left out */
	size_t len;
	int64_t num;
	double real;
};

struct br_kv br_kv_str(const char *key, const char *value);
struct br_kv br_kv_bytes(const char *key, const void *data, size_t len);
struct br_kv br_kv_int(const char *key, int64_t value);
struct br_kv br_kv_real(const char *key, double value);

/* Sets level and format; called once before threads start, and on reload. */
void br_log_setup(enum br_level level, bool json);

/* Where lines go; 2 (standard error) unless changed. For tests and the demo. */
void br_log_fd(int fd);

/* True when a line of this level would be written. */
bool br_log_on(enum br_level level);

/* Use BR_LOG. `fields` ends with BR_KV_END. */
void br_log_line(
    enum br_level level, const char *msg, const struct br_kv *fields);

#define BR_LOG(level, msg, ...)                                                \
	br_log_line((level), (msg),                                            \
	    (const struct br_kv[]){                                            \
	        __VA_ARGS__ __VA_OPT__(, ){.kind = BR_KV_END}})

/*
 * Like BR_LOG, for lines that an outage repeats: of one `group` (any text,
 * such as target and reason) at most 10 lines are written in 10 seconds; the
 * first line after that says how many were left out (suppressed=N). At most
 * 1024 groups are remembered, the oldest forgotten first. Any thread.
 */
void br_log_line_limited(enum br_level level, const char *group,
    const char *msg, const struct br_kv *fields);

#define BR_LOG_LIMITED(level, group, msg, ...)                                 \
	br_log_line_limited((level), (group), (msg),                           \
	    (const struct br_kv[]){                                            \
	        __VA_ARGS__ __VA_OPT__(, ){.kind = BR_KV_END}})

/* "debug" … "error" to a level; false for anything else. */
bool br_level_parse(const char *text, enum br_level *level);

#endif
