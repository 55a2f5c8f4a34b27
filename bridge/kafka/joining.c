/* joining: see the header. */
#include "joining.h"

#include "bridge/base/clock.h"

/* Kafka's numbers of the two requests. */
#define JOIN_GROUP 11
#define SYNC_GROUP 14
/* Longest wait for a group; a lost request must not end all commits. */
#define OVERDUE_MS 30000

static rd_kafka_resp_err_t
sent(rd_kafka_t *rk, int fd, const char *name, int32_t id, int16_t key,
    int16_t version, int32_t corr, size_t size, void *opaque)
{
	struct br_joining *j = opaque;

	(void)rk, (void)fd, (void)name, (void)id;
	(void)version, (void)corr, (void)size;
	if (key == JOIN_GROUP)
		atomic_store(&j->since_ms, br_clock_mono_ms());
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t
received(rd_kafka_t *rk, int fd, const char *name, int32_t id, int16_t key,
    int16_t version, int32_t corr, size_t size, int64_t rtt,
    rd_kafka_resp_err_t err, void *opaque)
{
	struct br_joining *j = opaque;

	(void)rk, (void)fd, (void)name, (void)id;
	(void)version, (void)corr, (void)size, (void)rtt, (void)err;
	if (key == SYNC_GROUP)
		atomic_store(&j->since_ms, 0);
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t
begin(rd_kafka_t *rk, const rd_kafka_conf_t *conf, void *opaque, char *text,
    size_t size)
{
	rd_kafka_resp_err_t e;

	(void)conf, (void)text, (void)size;
	e = rd_kafka_interceptor_add_on_request_sent(
	    rk, "joining", sent, opaque);
	if (e == RD_KAFKA_RESP_ERR_NO_ERROR)
		e = rd_kafka_interceptor_add_on_response_received(
		    rk, "joining", received, opaque);
	return e;
}

void
br_joining_watch(struct br_joining *j, rd_kafka_conf_t *conf)
{
	(void)rd_kafka_conf_interceptor_add_on_new(conf, "joining", begin, j);
}

bool
br_joining_is(const struct br_joining *j)
{
	int64_t since_ms = atomic_load(&j->since_ms);

	return since_ms != 0 && br_clock_mono_ms() - since_ms < OVERDUE_MS;
}
