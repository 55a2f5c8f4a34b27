/* world_receiver: what receivers answer. See world.h. */
#include "world.h"

enum { ABOUT_ANSWER = 300, ABOUT_LATENCY, ABOUT_NOISE };

static void
status(struct reply *r, int code, int64_t retry_after_ms)
{
	r->outcome.http_status = code;
	r->outcome.head_complete = true;
	r->outcome.transport = BR_TRANSPORT_OK;
	r->outcome.request_sent = true;
	if (retry_after_ms >= 0) {
		r->outcome.retry_after_given = true;
		r->outcome.retry_after_ms = retry_after_ms;
	}
}

static void
transport(struct reply *r, enum br_transport what, int64_t takes_ms)
{
	r->outcome.http_status = 0;
	r->outcome.head_complete = false;
	r->outcome.transport = what;
	r->takes_ms = takes_ms;
}

/* True: the phase decides. */
static bool
in_phase(struct world *w, const struct phase *p, uint64_t dice, struct reply *r)
{
	int64_t later_ms = (int64_t)(dice >> 8 & 3) * 1000;
	bool decides = true, pure = false;

	switch (p->mode) {
	case MODE_REFUSED:
		transport(r, BR_TRANSPORT_REFUSED, 1);
		pure = true;
		break;
	case MODE_TIMEOUT:
		transport(r, BR_TRANSPORT_TIMEOUT, 5000);
		pure = true;
		break;
	case MODE_502:
		status(r, 502, -1);
		pure = true;
		break;
	case MODE_503:
		status(r, 503, -1);
		pure = true;
		break;
	case MODE_500:
		status(r, 500, -1);
		break;
	case MODE_429:
		status(r, 429, later_ms);
		break;
	case MODE_503_LATER:
		status(r, 503, later_ms);
		break;
	case MODE_SLOW:
	case MODES:
		r->takes_ms += 800;
		decides = false;
		break;
	}
	if (pure)
		r->phase = (int)(p - w->phase);
	return decides;
}

/* Now and then a request just fails. */
static bool
noise(struct world *w, uint64_t dice, struct reply *r)
{
	if (dice % 1000 >= w->rules->noise)
		return false;
	switch (dice / 1000 % 8) {
	case 0:
		status(r, 404, -1);
		break;
	case 1:
		status(r, 429, (int64_t)(dice >> 20 & 3) * 700);
		break;
	case 2:
		status(r, 503, -1);
		break;
	case 3:
		transport(r, BR_TRANSPORT_TIMEOUT, 5000);
		break;
	case 4:
		transport(r, BR_TRANSPORT_RESET, 3);
		break;
	case 5:
		status(r, 500, (int64_t)(dice >> 20 & 3) * 1500);
		break;
	case 6:
		transport(r, BR_TRANSPORT_BAD_RESPONSE, 10);
		break;
	default:
		status(r, 500, -1);
		break;
	}
	return true;
}

int
receiver_route(const struct happening *what)
{
	return what->salt % 3 == 0;
}

void
receiver_answer(struct world *w, const struct happening *what, uint32_t nth,
    struct reply *reply)
{
	const struct phase *p = phase_now(w, what->target);
	uint64_t dice = roll(w, ABOUT_ANSWER, what->salt, nth);
	uint64_t nudge = roll(w, ABOUT_NOISE, what->salt, nth);

	*reply = (struct reply){.phase = -1};
	reply->takes_ms = roll_ms(w, ABOUT_LATENCY, what->salt, nth, 1, 60);
	if (dice % 16 == 0)
		reply->takes_ms *= 10;
	if (p != NULL && in_phase(w, p, dice, reply))
		return;
	switch (what->fate) {
	case FATE_NEVER:
		status(reply, 400, -1);
		return;
	case FATE_BAD:
		status(reply, 500, -1);
		return;
	case FATE_BAD_503:
		status(reply, 503, -1);
		return;
	case FATE_GOOD:
	case FATE_UNSENDABLE:
	case FATE_SKIP:
		break;
	}
	if (!noise(w, nudge, reply))
		status(reply, 200 + (int)(dice % 5), -1);
}
