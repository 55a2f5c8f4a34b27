/* refill: see the header. */
#include "bridge/runtime/refill.h"

#define EVERY_MS 100
#define TIMEOUT_MS 300
/* Brokers that do not answer are not asked more often than this. */
#define AFTER_ERROR_MS 1000

void
br_refill_empty(struct br_refill *r, struct br_parts *ps,
    struct br_consumer *consumer, int64_t now_ms)
{
	struct br_positions *behind;

	if (r->ticket != 0 || now_ms < r->next_ms)
		return;
	behind = br_parts_behind(ps);
	if (behind == NULL)
		return;
	r->next_ms = now_ms + EVERY_MS;
	r->ticket = br_consumer_ask(consumer, BR_ASK_RANGE, behind, TIMEOUT_MS);
	br_positions_free(behind);
}

bool
br_refill_answer(
    struct br_refill *r, const struct br_kafka_event *ev, int64_t now_ms)
{
	if (r->ticket == 0 || ev->what != BR_KAFKA_ANSWER ||
	    ev->ticket != r->ticket)
		return false;
	r->ticket = 0;
	if (ev->error != 0)
		r->next_ms = now_ms + AFTER_ERROR_MS;
	return true;
}
