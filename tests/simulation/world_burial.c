/* world_burial: dead letters, as runtime/burial.c sees to them. */
#include "world_instance.h"

#include <stdlib.h>

#define AGAIN_FIRST_MS 1000
#define AGAIN_MAX_MS 30000

static void
append(struct instance *in, struct letter *letter)
{
	letter->next = NULL;
	letter->sent = false;
	if (in->waiting_last != NULL)
		in->waiting_last->next = letter;
	else
		in->waiting_first = letter;
	in->waiting_last = letter;
	in->waiting++;
}

static struct letter *
shift(struct instance *in)
{
	struct letter *letter = in->waiting_first;

	if (letter == NULL)
		return NULL;
	in->waiting_first = letter->next;
	if (in->waiting_first == NULL)
		in->waiting_last = NULL;
	in->waiting--;
	return letter;
}

static void
take_back(struct instance *in, struct letter *letter)
{
	struct letter **at = &in->sent;

	while (*at != letter)
		at = &(*at)->next;
	*at = letter->next;
}

void
burial_add(struct instance *in, struct item *item)
{
	struct letter *letter = world_alloc(sizeof(*letter));

	letter->item = item;
	append(in, letter);
}

/* Stored, or forgotten because its partition is gone. */
static void
finish(struct world *w, struct instance *in, struct letter *letter, bool stored)
{
	struct item *item = letter->item;

	free(letter);
	br_sched_buried(in->sched, &item->ref, w->now_ms);
	in->changed = true;
	if (stored)
		parts_settled(w, in, item);
	else
		parts_dropped(in, item);
}

static void
back_off(struct world *w, struct instance *in)
{
	if (in->wait_ms != 0 && !in->probing)
		return;
	in->probing = false;
	in->wait_ms = in->wait_ms == 0 ? AGAIN_FIRST_MS : 2 * in->wait_ms;
	if (in->wait_ms > AGAIN_MAX_MS)
		in->wait_ms = AGAIN_MAX_MS;
	in->again_ms = w->now_ms + in->wait_ms;
}

/* Planted: the producer has it, and that is taken for enough. */
static bool
settles_unacknowledged(
    struct world *w, struct instance *in, struct letter *letter)
{
	if (!planted("settle-unacknowledged"))
		return false;
	cluster_produce(w, in->index, letter->item->part->number,
	    letter->item->index, NULL);
	finish(w, in, letter, true);
	return true;
}

static void
send_letter(struct world *w, struct instance *in, struct letter *letter)
{
	if (settles_unacknowledged(w, in, letter))
		return;
	letter->sent = true;
	letter->next = in->sent;
	in->sent = letter;
	cluster_produce(w, in->index, letter->item->part->number,
	    letter->item->index, letter);
}

int64_t
burial_step(struct world *w, struct instance *in)
{
	while (in->waiting != 0 && w->now_ms >= in->again_ms) {
		send_letter(w, in, shift(in));
		/* While the DLQ fails, one at a time finds out. */
		if (in->wait_ms != 0) {
			in->probing = true;
			in->again_ms = w->now_ms + in->wait_ms;
			break;
		}
	}
	return in->waiting != 0 ? in->again_ms : NEVER_MS;
}

void
burial_answer(struct world *w, struct instance *in, struct produce *p)
{
	struct letter *letter = p->letter;
	struct item *item;

	if (letter == NULL)
		return;
	item = letter->item;
	take_back(in, letter);
	say(w, "bridge %d: dead letter of partition %d: %lld %s", in->index,
	    p->part, (long long)item->ref.offset,
	    p->ok ? "acknowledged" : "refused");
	if (p->ok) {
		in->wait_ms = in->again_ms = 0;
		in->probing = false;
		check_buried(w, item->part->epoch, p->part, p->index);
		finish(w, in, letter, true);
	} else if (planted("refused-is-stored"))
		finish(w, in, letter, true);
	else if (item->part->state == PART_GONE)
		finish(w, in, letter, false);
	else if (planted("dlq-gives-up")) {
		back_off(w, in);
		letter->next = in->sent;
		in->sent = letter;
	} else {
		append(in, letter);
		back_off(w, in);
	}
}

void
burial_forget_gone(struct world *w, struct instance *in)
{
	for (size_t n = in->waiting; n > 0; n--) {
		struct letter *letter = shift(in);

		if (letter->item->part->state == PART_GONE)
			finish(w, in, letter, false);
		else
			append(in, letter);
	}
	if (in->sent != NULL || in->waiting != 0)
		return;
	in->wait_ms = in->again_ms = 0;
	in->probing = false;
}

void
burial_free(struct world *w, struct instance *in)
{
	struct letter *letter;

	while ((letter = in->sent) != NULL) {
		take_back(in, letter);
		finish(w, in, letter, false);
	}
	while ((letter = shift(in)) != NULL)
		finish(w, in, letter, false);
}
