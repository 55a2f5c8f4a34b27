/* burial: see the header. */
#include "bridge/runtime/burial.h"

#include <stdio.h>
#include <stdlib.h>

#include "bridge/base/clock.h"
#include "bridge/base/metrics.h"
#include "bridge/kafka/deadletter.h"
#include "bridge/runtime/epitaph.h"
#include "bridge/runtime/parts.h"

#define AGAIN_FIRST_MS 1000
#define AGAIN_MAX_MS 30000
/* The producer has at most so many letters at a time, and of their bytes this
 * share of limits.buffer_bytes. */
#define SENT_MAX 256
#define SENT_SHARE 32

struct letter {
	struct letter *next;
	struct letter *sent_next, **sent_at; /* while with the producer */
	struct br_ref *ref;
	struct br_epitaph_style style;
	bool too_large; /* refused even with the fewest headers */
	size_t keep;    /* truncated: bytes of the value */
	int64_t due_ms;
};

struct list {
	struct letter *first, *last;
	size_t count;
};

struct br_burial {
	const struct br_config *config;
	struct br_alarms *alarms;
	br_buried_fn *buried;
	void *opaque;
	struct br_deadletter *producer;
	struct br_epitaph *epitaph;
	struct list waiting; /* to be sent */
	struct list large;   /* too large, by their times: each waits alone */
	size_t large_count;  /* those of them, and those that are tried again */
	struct letter *sent; /* with the producer, not answered */
	size_t sent_bytes;   /* of their events */
	int64_t again_ms;    /* not before */
	int64_t wait_ms;     /* 0: the DLQ works */
	bool probing; /* sent after a wait: its failure makes it longer */
};

static void
append(struct list *l, struct letter *letter)
{
	letter->next = NULL;
	if (l->last != NULL)
		l->last->next = letter;
	else
		l->first = letter;
	l->last = letter;
	l->count++;
}

static struct letter *
shift(struct list *l)
{
	struct letter *letter = l->first;

	if (letter == NULL)
		return NULL;
	l->first = letter->next;
	if (l->first == NULL)
		l->last = NULL;
	l->count--;
	return letter;
}

/* The producer has it. */
static void
hand_over(struct br_burial *b, struct letter *letter)
{
	b->sent_bytes += letter->ref->bytes;
	letter->sent_at = &b->sent;
	letter->sent_next = b->sent;
	if (b->sent != NULL)
		b->sent->sent_at = &letter->sent_next;
	b->sent = letter;
}

/* The producer has it no more. */
static void
take_back(struct br_burial *b, struct letter *letter)
{
	b->sent_bytes -= letter->ref->bytes;
	*letter->sent_at = letter->sent_next;
	if (letter->sent_next != NULL)
		letter->sent_next->sent_at = letter->sent_at;
}

struct br_burial *
br_burial_new(const struct br_config *config, struct br_alarms *alarms,
    br_buried_fn *buried, void *opaque, struct br_error *err)
{
	struct br_burial *b = calloc(1, sizeof(*b));

	if (b == NULL)
		abort();
	b->config = config;
	b->alarms = alarms;
	b->buried = buried;
	b->opaque = opaque;
	b->producer = br_deadletter_new(config, err);
	if (b->producer == NULL) {
		free(b);
		return NULL;
	}
	b->epitaph = br_epitaph_new(config);
	return b;
}

/* The letter ends: stored, or forgotten. */
static void
end(struct br_burial *b, struct letter *letter, bool stored)
{
	struct br_ref *ref = letter->ref;

	b->large_count -= letter->too_large;
	free(letter);
	b->buried(b->opaque, ref, stored);
}

void
br_burial_free(struct br_burial *b, int timeout_ms)
{
	struct letter *letter;

	if (b == NULL)
		return;
	/* Its answers end in there; whoever is without one ends here. */
	br_deadletter_free(b->producer, timeout_ms);
	while ((letter = b->sent) != NULL) {
		take_back(b, letter);
		end(b, letter, false);
	}
	while ((letter = shift(&b->waiting)) != NULL)
		end(b, letter, false);
	while ((letter = shift(&b->large)) != NULL)
		end(b, letter, false);
	br_epitaph_free(b->epitaph);
	free(b);
}

int
br_burial_fd(const struct br_burial *b)
{
	return br_deadletter_fd(b->producer);
}

void
br_burial_wake_clear(struct br_burial *b)
{
	br_deadletter_wake_clear(b->producer);
}

void
br_burial_add(struct br_burial *b, struct br_ref *ref)
{
	struct letter *letter = calloc(1, sizeof(*letter));

	if (letter == NULL)
		abort();
	letter->ref = ref;
	letter->keep = ref->event->record.value.len;
	/* Such a time cannot be produced: the copy gets the present one. */
	letter->style.replace_timestamp = ref->event->record.timestamp_ms <= 0;
	append(&b->waiting, letter);
}

static void
log_letter(const struct br_ref *ref, const char *msg)
{
	const struct br_event *ev = ref->event;
	const struct br_failure *f = ref->failure;
	const char *reason = br_epitaph_reason(ref);
	char status[16] = "";

	if (f != NULL && f->last.head_complete)
		(void)snprintf(
		    status, sizeof(status), "%d", f->last.http_status);
	BR_LOG_LIMITED(BR_WARN, reason, msg,
	    br_kv_str("topic", ev->record.topic),
	    br_kv_int("partition", ev->record.partition),
	    br_kv_int("offset", ref->offset),
	    br_kv_bytes("key", ev->order_key.data, ev->order_key.len),
	    br_kv_str("event", ev->idempotency_key),
	    br_kv_str("route", ev->route), br_kv_str("target", ev->target),
	    br_kv_int("attempt", ref->attempts),
	    br_kv_str("status", status[0] != '\0' ? status : NULL),
	    br_kv_str("reason", reason), br_kv_str("detail", ev->detail),
	    br_kv_str("next", "dlq"));
}

static void
clear_too_large(struct br_burial *b)
{
	if (b->large_count == 0)
		br_alarms_set(b->alarms, BR_ALARM_DLQ_TOO_LARGE, NULL);
}

static void
stored(struct br_burial *b, struct letter *letter)
{
	br_metric_add_label(
	    BR_M_DEAD_LETTERS, br_epitaph_reason(letter->ref), 1);
	log_letter(letter->ref, letter->style.truncated
	                            ? "dead-lettered, its value cut"
	                            : "dead-lettered");
	b->wait_ms = b->again_ms = 0;
	b->probing = false;
	br_alarms_set(b->alarms, BR_ALARM_DLQ_UNAVAILABLE, NULL);
	if (letter->too_large)
		/* The limit was raised: the others may fit now too. */
		for (struct letter *l = b->large.first; l != NULL; l = l->next)
			l->due_ms = 0;
	end(b, letter, true);
	clear_too_large(b);
}

/* The DLQ cannot be written now: everything waits, with growing patience. */
static void
back_off(struct br_burial *b, const char *text, int64_t now_ms)
{
	struct br_error why;

	/* What was sent at the same time fails at the same time: once. */
	if (b->wait_ms == 0 || b->probing) {
		b->probing = false;
		b->wait_ms = b->wait_ms == 0 ? AGAIN_FIRST_MS : 2 * b->wait_ms;
		if (b->wait_ms > AGAIN_MAX_MS)
			b->wait_ms = AGAIN_MAX_MS;
		b->again_ms = now_ms + b->wait_ms;
	}
	(void)br_fail(&why,
	    "the dead letter topic %s cannot be written: %s; dead letters and "
	    "their keys wait, nothing is lost",
	    b->config->dlq.topic, text);
	br_alarms_set(b->alarms, BR_ALARM_DLQ_UNAVAILABLE, why.text);
}

static void
too_large(struct br_burial *b, struct letter *letter, const char *text,
    int64_t now_ms)
{
	const struct br_record *r = &letter->ref->event->record;
	struct br_error why;

	/* It answers. */
	b->wait_ms = b->again_ms = 0;
	b->probing = false;
	br_alarms_set(b->alarms, BR_ALARM_DLQ_UNAVAILABLE, NULL);
	if (!letter->style.minimal) {
		letter->style.minimal = true;
		append(&b->waiting, letter);
		return;
	}
	if (b->config->dlq.truncate && letter->keep > 0) {
		letter->style.truncated = true;
		letter->keep /= 2;
		append(&b->waiting, letter);
		return;
	}
	b->large_count += !letter->too_large;
	letter->too_large = true;
	letter->due_ms = now_ms + AGAIN_MAX_MS;
	(void)br_fail(&why,
	    "topic %s partition %d offset %lld (%zu bytes) is too large for "
	    "the dead letter topic %s: %s; raise its max.message.bytes",
	    r->topic, (int)r->partition, (long long)letter->ref->offset,
	    r->key.len + r->value.len, b->config->dlq.topic, text);
	br_alarms_set(b->alarms, BR_ALARM_DLQ_TOO_LARGE, why.text);
	append(&b->large, letter);
}

static bool
is_gone(const struct letter *letter)
{
	const struct br_part *part = br_sched_part_opaque(letter->ref->part);

	return part->state == BR_PART_GONE;
}

static void
take_result(
    struct br_burial *b, const struct br_dead_result *result, int64_t now_ms)
{
	struct letter *letter = result->opaque;

	take_back(b, letter);
	if (result->class == BR_DEAD_STORED) {
		stored(b, letter);
		return;
	}
	if (is_gone(letter)) {
		end(b, letter, false);
		clear_too_large(b);
		return;
	}
	switch (result->class) {
	case BR_DEAD_STORED:
		break;
	case BR_DEAD_WAIT:
		append(&b->waiting, letter);
		back_off(b, result->text, now_ms);
		break;
	case BR_DEAD_TIMESTAMP:
		append(&b->waiting, letter);
		/* The present time is refused too: only waiting can help. */
		if (letter->style.replace_timestamp)
			back_off(b, result->text, now_ms);
		letter->style.replace_timestamp = true;
		break;
	case BR_DEAD_TOO_LARGE:
		too_large(b, letter, result->text, now_ms);
		break;
	}
}

/* Sends one; false when the producer takes no more for now. */
static bool
send(struct br_burial *b, struct letter *letter, int64_t now_ms)
{
	struct br_header headers[BR_EPITAPH_HEADERS];
	struct br_record copy = letter->ref->event->record;
	struct br_error err = {{0}};
	bool retry = false;
	size_t count =
	    br_epitaph_write(b->epitaph, letter->ref, &letter->style, headers);

	if (letter->style.replace_timestamp)
		copy.timestamp_ms = 0;
	if (letter->style.truncated)
		copy.value.len = letter->keep;
	if (br_deadletter_send(
	        b->producer, &copy, headers, count, letter, &retry, &err)) {
		hand_over(b, letter);
		return true;
	}
	if (!retry)
		back_off(b, err.text, now_ms);
	return false;
}

/* Those whose time has come go back among the waiting. */
static void
release_large(struct br_burial *b, int64_t now_ms)
{
	while (b->large.first != NULL && b->large.first->due_ms <= now_ms)
		append(&b->waiting, shift(&b->large));
}

static int64_t
next_time(const struct br_burial *b)
{
	int64_t next_ms = INT64_MAX;

	if (b->waiting.count != 0 && b->again_ms != 0)
		next_ms = b->again_ms;
	if (b->large.first != NULL && b->large.first->due_ms < next_ms)
		next_ms = b->large.first->due_ms;
	return next_ms;
}

/* The producer keeps copies: a few, and at least one. Whatever comes back
 * from it wakes the loop. */
static bool
has_room(const struct br_burial *b)
{
	size_t most = (size_t)b->config->limits.buffer_bytes / SENT_SHARE;

	return b->sent == NULL ||
	       (br_deadletter_pending(b->producer) < SENT_MAX &&
	           b->sent_bytes < most);
}

int64_t
br_burial_step(struct br_burial *b, int64_t now_ms)
{
	struct br_dead_result result;

	while (br_deadletter_next(b->producer, &result))
		take_result(b, &result, now_ms);
	release_large(b, now_ms);
	while (b->waiting.count != 0 && now_ms >= b->again_ms && has_room(b)) {
		struct letter *letter = shift(&b->waiting);

		if (!send(b, letter, now_ms)) {
			append(&b->waiting, letter);
			break;
		}
		/* While the DLQ fails, one at a time finds out. */
		if (b->wait_ms != 0) {
			b->probing = true;
			b->again_ms = now_ms + b->wait_ms;
			break;
		}
	}
	return next_time(b);
}

static void
forget(struct br_burial *b, struct list *l)
{
	for (size_t n = l->count; n > 0; n--) {
		struct letter *letter = shift(l);

		if (is_gone(letter))
			end(b, letter, false);
		else
			append(l, letter);
	}
}

void
br_burial_forget_gone(struct br_burial *b)
{
	forget(b, &b->waiting);
	forget(b, &b->large);
	clear_too_large(b);
	/* Nothing is left that could find out that the cure has come. */
	if (b->sent != NULL || b->waiting.count != 0 || b->large.count != 0)
		return;
	b->wait_ms = b->again_ms = 0;
	b->probing = false;
	br_alarms_set(b->alarms, BR_ALARM_DLQ_UNAVAILABLE, NULL);
}
