/* log: see the header. */
#include "bridge/base/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "bridge/base/clock.h"
#include "bridge/base/limiter.h"
#include "bridge/base/logline.h"
#include "bridge/base/metrics.h"

#define GROUPS 1024
/* How long a line waits for a reader that was not stalled before. */
#define PATIENCE_MS 50

static atomic_int log_level = BR_INFO;
static atomic_bool log_json;
static atomic_int log_fd = STDERR_FILENO;

/* The last line went out in part; the next one begins on a line of its own. */
static atomic_bool torn;

static pthread_mutex_t write_lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */

static pthread_mutex_t limiter_lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
static struct br_limiter *limiter; /* under it; made by the first question */

struct br_kv
br_kv_str(const char *key, const char *value)
{
	return (struct br_kv){.kind = BR_KV_STR,
	    .key = key,
	    .str = value,
	    .len = value != NULL ? strlen(value) : 0};
}

struct br_kv
br_kv_bytes(const char *key, const void *data, size_t len)
{
	return (struct br_kv){
	    .kind = BR_KV_BYTES, .key = key, .str = data, .len = len};
}

struct br_kv
br_kv_int(const char *key, int64_t value)
{
	return (struct br_kv){.kind = BR_KV_INT, .key = key, .num = value};
}

struct br_kv
br_kv_real(const char *key, double value)
{
	return (struct br_kv){.kind = BR_KV_REAL, .key = key, .real = value};
}

void
br_log_setup(enum br_level level, bool json)
{
	atomic_store(&log_level, (int)level);
	atomic_store(&log_json, json);
}

void
br_log_fd(int fd)
{
	atomic_store(&log_fd, fd);
	atomic_store(&torn, false);
}

bool
br_log_on(enum br_level level)
{
	return (int)level >=
	       atomic_load_explicit(&log_level, memory_order_relaxed);
}

/*
 * Room for a line? Lines are shorter than PIPE_BUF, and under the lock, so a
 * pipe or a socket that says yes takes it without waiting (a terminal may not:
 * `run` opens its own anew, so that it never waits). A reader that is only
 * slow gets a moment; one that has stalled gets it once, and from then on
 * lines are lost until there is room again.
 */
static bool
has_room(int fd)
{
	static bool stalled; /* under write_lock */
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int n;

	do
		n = poll(&p, 1, stalled ? 0 : PATIENCE_MS);
	while (n < 0 && errno == EINTR);
	stalled = n == 0;
	return !stalled;
}

/*
 * What a full pipe or disk does not take is lost: to wait for room would hold
 * up deliveries for the sake of a line about them. Returns how much was
 * written.
 */
static size_t
write_once(const char *text, size_t len)
{
	int fd = atomic_load(&log_fd);
	ssize_t n = 0;

	pthread_mutex_lock(&write_lock);
	if (has_room(fd))
		do
			n = write(fd, text, len);
		while (n < 0 && errno == EINTR);
	pthread_mutex_unlock(&write_lock);
	return n > 0 ? (size_t)n : 0;
}

static void
put(enum br_level level, const char *msg, const struct br_kv *fields,
    uint64_t suppressed)
{
	char text[1 + BR_LOGLINE_BYTES];
	bool was_torn = atomic_exchange(&torn, false);
	size_t skip = was_torn ? 0 : 1, len, written;
	int saved = errno;

	text[0] = '\n';
	len = br_logline_compose(text + 1, atomic_load(&log_json),
	    br_clock_wall_ms(), level, msg, fields, suppressed);
	len += 1 - skip;
	written = write_once(text + skip, len);
	if (written < len) {
		if (was_torn || written > 0)
			atomic_store(&torn, true);
		br_metric_add(BR_M_LOG_LOST, 1);
	}
	errno = saved;
}

void
br_log_line(enum br_level level, const char *msg, const struct br_kv *fields)
{
	if (br_log_on(level))
		put(level, msg, fields, 0);
}

void
br_log_line_limited(enum br_level level, const char *group, const char *msg,
    const struct br_kv *fields)
{
	uint64_t suppressed = 0;
	bool allowed;

	if (!br_log_on(level))
		return;
	pthread_mutex_lock(&limiter_lock);
	if (limiter == NULL)
		limiter = br_limiter_new(GROUPS);
	allowed =
	    br_limiter_allow(limiter, group, br_clock_mono_ms(), &suppressed);
	pthread_mutex_unlock(&limiter_lock);
	if (allowed)
		put(level, msg, fields, suppressed);
}

bool
br_level_parse(const char *text, enum br_level *level)
{
	for (int i = BR_DEBUG; i <= BR_ERROR; i++)
		if (strcmp(text, br_level_name((enum br_level)i)) == 0) {
			*level = (enum br_level)i;
			return true;
		}
	return false;
}
