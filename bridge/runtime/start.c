/*
 * start: where a partition begins, and what holds it; see parts.h.
 *
 * Offsets are always given explicitly: librdkafka never chooses one. A
 * position that is not in the log holds its partition with an alarm that
 * names what is missing, and is looked at again every ten seconds.
 */
#include "bridge/runtime/parts_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bridge/base/clock.h"
#include "bridge/base/metrics.h"

#define ASK_TIMEOUT_MS 5000
#define ASK_AGAIN_MS 1000
#define LOOK_AGAIN_MS 10000

/* Are events of an earlier epoch of it still with the engine? Until they are
 * back the next one must not begin: they would be sent beside each other. */
static bool
still_out(const struct br_parts *ps, const struct br_part *part)
{
	for (const struct br_part *old = ps->gone; old != NULL; old = old->next)
		if (old->partition == part->partition &&
		    strcmp(old->topic, part->topic) == 0)
			return true;
	return false;
}

/* Is it this partition's turn to be asked about? */
static bool
asks(const struct br_parts *ps, const struct br_part *part, int64_t now_ms)
{
	if (part->ticket != 0 || now_ms < part->asked_ms || still_out(ps, part))
		return false;
	return part->state == BR_PART_ASKING ||
	       (part->state == BR_PART_HELD && part->gap);
}

void
br_start_ask(struct br_parts *ps, int64_t now_ms)
{
	struct br_positions *list;
	size_t count = 0;
	uint64_t ticket;

	for (struct br_part *part = ps->first; part != NULL; part = part->next)
		count += asks(ps, part, now_ms);
	if (count == 0)
		return;
	list = br_positions_new(count);
	for (struct br_part *part = ps->first; part != NULL; part = part->next)
		if (asks(ps, part, now_ms))
			(void)br_positions_add(
			    list, part->topic, part->partition, -1);
	ticket = br_consumer_ask(
	    ps->consumer, BR_ASK_POSITIONS, list, ASK_TIMEOUT_MS);
	for (struct br_part *part = ps->first; part != NULL; part = part->next)
		if (asks(ps, part, now_ms))
			part->ticket = ticket;
	br_positions_free(list);
}

/* What could not be read has been: the hold has ended. */
static void
mended(struct br_parts *ps, struct br_part *part)
{
	part->corrupt = false;
	BR_LOG(BR_INFO, "read on", br_kv_str("topic", part->topic),
	    br_kv_int("partition", part->partition),
	    br_kv_int("offset", part->corrupt_at));
	br_start_alarms(ps);
}

void
br_start_step(struct br_parts *ps, int64_t now_ms)
{
	for (struct br_part *part = ps->first; part != NULL; part = part->next)
		if (part->corrupt && part->ledger.next > part->corrupt_at)
			mended(ps, part);
	if (!ps->shutting_down)
		br_start_ask(ps, now_ms);
}

void
br_start_alarms(struct br_parts *ps)
{
	const struct br_part *gap = NULL, *url = NULL;

	for (struct br_part *part = ps->first; part != NULL;
	     part = part->next) {
		bool held = part->state == BR_PART_HELD;

		if (held && !part->gap && !part->awaits)
			url = part;
		/* Corrupt: also while it is tried again. */
		if (part->corrupt || (held && part->gap))
			gap = part;
	}
	br_alarms_set(
	    ps->alarms, BR_ALARM_OFFSET_GAP, gap != NULL ? gap->why : NULL);
	br_alarms_set(ps->alarms, BR_ALARM_EVENT_URLS_EMPTY,
	    url != NULL ? url->why : NULL);
}

void
br_parts_hold(struct br_parts *ps, struct br_part *part, const char *why)
{
	struct br_error err;

	part->state = BR_PART_HELD;
	(void)snprintf(part->why, sizeof(part->why), "%s", why);
	/* What is prefetched is left alone: whoever reads finds it held. */
	if (part->reading && !br_consumer_pause(ps->consumer, part->topic,
	                         part->partition, true, &err))
		BR_LOG(BR_WARN, "pause failed", br_kv_str("because", err.text));
	br_start_alarms(ps);
}

/* Says that a partition begins or ends to wait for a schema. */
static void
log_schema(const struct br_part *part, const char *msg)
{
	char text[BR_SCHEMA_KEY_TEXT];

	br_schema_key_text(&part->schema, text);
	BR_LOG(BR_INFO, msg, br_kv_str("topic", part->topic),
	    br_kv_int("partition", part->partition),
	    br_kv_int("offset", part->ledger.next), br_kv_str("schema", text));
}

void
br_parts_hold_schema(struct br_parts *ps, struct br_part *part, int64_t offset,
    const struct br_schema_key *schema)
{
	/* Records before it were passed; gaps in the log are no records. */
	br_ledger_pass(&part->ledger, offset);
	part->awaits = true;
	part->schema = *schema;
	log_schema(part, "partition waits for a schema");
	br_parts_hold(ps, part, "its schema is asked for");
}

void
br_parts_release_schemas(struct br_parts *ps, struct br_registry *registry)
{
	struct br_avro_schema *schema;
	const char *why;

	for (struct br_part *part = ps->first; part != NULL; part = part->next)
		if (part->state == BR_PART_HELD && part->awaits &&
		    br_registry_find(registry, &part->schema, &schema, &why) !=
		        BR_SCHEMA_WAIT) {
			part->awaits = false;
			log_schema(part, "partition goes on");
			br_start_read(ps, part);
		}
}

/* The brokers do not know the partition: nothing of this epoch is committed
 * any more, and the next one begins when the topic is back. */
static void
topic_gone(
    struct br_parts *ps, struct br_part *part, const char *text, int64_t now_ms)
{
	br_presence_lost(ps, part->topic, text);
	br_parts_renew(ps, part, now_ms + ASK_AGAIN_MS);
}

/* ---- beginning */

/* Gives the partitions that may be read now to the client. */
static void
assign(struct br_parts *ps, const struct br_positions *list)
{
	struct br_error err;

	if (!br_consumer_assign(ps->consumer, list, &err))
		BR_LOG(BR_ERROR, "assignment not taken",
		    br_kv_str("because", err.text));
}

/* The client reads it from the ledger's next offset, or does so again. */
static void
begin(struct br_parts *ps, struct br_part *part, struct br_positions *list)
{
	struct br_error err;

	part->state = BR_PART_READING;
	part->begun_ms = br_clock_mono_ms();
	part->gap = false;
	br_presence_see(ps, part->topic);
	if (!part->reading) {
		part->reading = true;
		(void)br_positions_add(
		    list, part->topic, part->partition, part->ledger.next);
		return;
	}
	/* A hold paused it, and a position does not end a pause. */
	part->paused = false;
	if (!br_consumer_seek(ps->consumer, part->topic, part->partition,
	        part->ledger.next, &err) ||
	    !br_consumer_pause(
	        ps->consumer, part->topic, part->partition, false, &err))
		BR_LOG(BR_WARN, "seek failed", br_kv_str("because", err.text));
}

void
br_start_read(struct br_parts *ps, struct br_part *part)
{
	struct br_positions *list = br_positions_new(1);

	begin(ps, part, list);
	if (list->count != 0)
		assign(ps, list);
	br_positions_free(list);
}

/* A start that the group does not know yet is committed before it is used. */
static void
start_at(struct br_parts *ps, struct br_part *part, int64_t offset,
    int64_t high, const char *because)
{
	br_ledger_init(&part->ledger, offset);
	part->committed = -1;
	part->committed_known = true;
	part->state = BR_PART_STARTING;
	part->first_start = high > offset;
	ps->commit_ms = 0;
	BR_LOG(BR_INFO, "first start", br_kv_str("topic", part->topic),
	    br_kv_int("partition", part->partition),
	    br_kv_int("offset", offset),
	    br_kv_int("waiting", high > offset ? high - offset : 0),
	    br_kv_str("because", because));
}

void
br_parts_first(struct br_part *part, const struct br_record *record)
{
	time_t since = (time_t)(record->timestamp_ms / 1000);
	char text[40] = "";
	struct tm tm;

	part->first_start = false;
	if (record->timestamp_ms > 0 && gmtime_r(&since, &tm) != NULL)
		(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	BR_LOG(BR_INFO, "first record", br_kv_str("topic", part->topic),
	    br_kv_int("partition", part->partition),
	    br_kv_int("offset", record->offset), br_kv_str("since", text));
}

static void
ask_time(struct br_parts *ps, struct br_part *part)
{
	struct br_positions *list = br_positions_new(1);

	(void)br_positions_add(list, part->topic, part->partition,
	    ps->config->kafka.start_time_ms);
	part->ticket =
	    br_consumer_ask(ps->consumer, BR_ASK_TIME, list, ASK_TIMEOUT_MS);
	br_positions_free(list);
}

/* The group has no offset for this partition. */
static void
first_start(struct br_parts *ps, struct br_part *part,
    const struct br_position *pos, bool known)
{
	if (known) {
		start_at(ps, part, pos->low, pos->high,
		    "new partition of a topic that the group knows");
		return;
	}
	switch (ps->config->kafka.start) {
	case BR_START_EARLIEST:
		start_at(ps, part, pos->low, pos->high,
		    "kafka.start = \"earliest\"");
		break;
	case BR_START_LATEST:
		start_at(
		    ps, part, pos->high, pos->high, "kafka.start = \"latest\"");
		break;
	case BR_START_TIME:
		ask_time(ps, part);
		break;
	case BR_START_ERROR:
		ps->no_start = true;
		BR_LOG(BR_ERROR, "no offset to start from",
		    br_kv_str("topic", part->topic),
		    br_kv_int("partition", part->partition),
		    br_kv_str("hint",
		        "kafka.start = \"error\": set offsets for the group "
		        "first, or say where to start"));
		break;
	}
}

/* Goes on with what is in the log. Events that are still open keep their
 * places: below a hole they go on to hold the watermark. */
static void
step_over(struct br_parts *ps, struct br_part *part,
    const struct br_position *pos, bool below, int64_t now_ms)
{
	part->gap = false;
	if (part->ledger.first == NULL)
		start_at(ps, part, pos->low, pos->high,
		    "kafka.on_gap = \"earliest\"");
	else if (below) {
		br_ledger_pass(&part->ledger, pos->low);
		br_start_read(ps, part);
	} else
		/* Another log: what is open belongs to the old one. */
		br_parts_renew(ps, part, now_ms);
}

/* What the last owner wrote beside the offset. */
static void
read_checkpoint(
    struct br_parts *ps, struct br_part *part, const struct br_position *pos)
{
	const struct br_retry_rules *rules = &ps->config->retry.rules;
	uint64_t longest_ms = rules->max_delay_ms > rules->retry_after_max_ms
	                          ? rules->max_delay_ms
	                          : rules->retry_after_max_ms;
	struct br_checkpoint_id id = {
	    .group = ps->config->kafka.group,
	    .topic = part->topic,
	    .partition = part->partition,
	    .offset = pos->offset,
	};
	struct br_checkpoint_now now = {
	    .log_end = pos->high,
	    .unix_s = br_clock_wall_ms() / 1000,
	    .wait_max_s = (int64_t)(longest_ms / 500),
	};
	enum br_checkpoint_verdict verdict;

	br_checkpoint_free(part->checkpoint);
	part->checkpoint = br_checkpoint_decode(&id,
	    (struct br_slice){
	        (const uint8_t *)pos->metadata, pos->metadata_len},
	    &now, &verdict);
	if (verdict == BR_CHECKPOINT_NONE)
		return;
	BR_LOG(part->checkpoint != NULL ? BR_INFO : BR_WARN,
	    part->checkpoint != NULL ? "checkpoint read" : "checkpoint ignored",
	    br_kv_str("topic", part->topic),
	    br_kv_int("partition", part->partition),
	    br_kv_int("offset", pos->offset),
	    br_kv_str("because", br_checkpoint_verdict_text(verdict)));
}

/* The position is not in the log: a hole, or a log that is shorter. */
static void
gap(struct br_parts *ps, struct br_part *part, const struct br_position *pos,
    int64_t at, int64_t now_ms)
{
	char why[400];
	bool below = at < pos->low;

	if (below)
		(void)snprintf(why, sizeof(why),
		    "topic %s partition %" PRId32 ": offsets %" PRId64
		    "-%" PRId64 " are no longer available (next to read: "
		    "%" PRId64 ", the log begins at %" PRId64 ")",
		    part->topic, part->partition, at, pos->low - 1, at,
		    pos->low);
	else
		(void)snprintf(why, sizeof(why),
		    "topic %s partition %" PRId32 ": the next offset to read "
		    "is %" PRId64 ", but the log ends at %" PRId64,
		    part->topic, part->partition, at, pos->high);
	if (ps->config->kafka.on_gap == BR_ON_GAP_EARLIEST) {
		BR_LOG(BR_ERROR, "gap stepped over",
		    br_kv_str("topic", part->topic),
		    br_kv_int("partition", part->partition),
		    br_kv_int("lost", below ? pos->low - at : 0),
		    br_kv_str("because", why));
		if (below)
			br_metric_add_label(BR_M_SKIPPED, "gap", pos->low - at);
		step_over(ps, part, pos, below, now_ms);
		return;
	}
	(void)snprintf(why + strlen(why), sizeof(why) - strlen(why),
	    "; nothing is read there: set the group's offset while the bridge "
	    "is stopped, or "
	    "kafka.on_gap = \"earliest\" to go on with what is there");
	part->gap = true;
	part->asked_ms = now_ms + LOOK_AGAIN_MS;
	br_parts_hold(ps, part, why);
}

/* What the brokers say about one partition: decides where it begins. */
static void
decide(struct br_parts *ps, struct br_part *part, const struct br_position *pos,
    bool known, struct br_positions *list, int64_t now_ms)
{
	/* Once reading, its own position counts, not what is committed. */
	int64_t at = part->committed_known ? part->ledger.next : pos->offset;

	if (at < 0) {
		first_start(ps, part, pos, known);
		return;
	}
	if (at < pos->low || at > pos->high) {
		gap(ps, part, pos, at, now_ms);
		return;
	}
	if (!part->committed_known) {
		br_ledger_init(&part->ledger, at);
		part->committed = at;
		part->committed_known = true;
		read_checkpoint(ps, part, pos);
	}
	begin(ps, part, list);
}

void
br_start_answer(
    struct br_parts *ps, const struct br_kafka_event *ev, int64_t now_ms)
{
	struct br_positions *list;

	if (ev->positions == NULL)
		return;
	list = br_positions_new(ev->positions->count);
	for (size_t i = 0; i < ev->positions->count; i++) {
		const struct br_position *pos = &ev->positions->item[i];
		struct br_part *part =
		    br_parts_find(ps, pos->topic, pos->partition);

		if (part == NULL || part->ticket != ev->ticket ||
		    part->state == BR_PART_CLOSING)
			continue;
		part->ticket = 0;
		/* Each by its own error: one without a leader holds no other. */
		if (pos->error != 0 || pos->low < 0) {
			part->asked_ms = now_ms + ASK_AGAIN_MS;
			BR_LOG_LIMITED(BR_WARN, "ask", "offsets not answered",
			    br_kv_str("topic", part->topic),
			    br_kv_int("partition", part->partition),
			    br_kv_str("because", ev->text),
			    br_kv_int("error", pos->error),
			    br_kv_str("next", "1s"));
		} else if (ev->question == BR_ASK_TIME)
			start_at(ps, part, pos->offset, pos->high,
			    "kafka.start is a time");
		else
			decide(ps, part, pos,
			    pos->topic_known ||
			        br_presence_seen(ps, part->topic),
			    list, now_ms);
	}
	/* Also when empty: it is the answer to the group. */
	if (!ps->shutting_down)
		assign(ps, list);
	br_positions_free(list);
	br_start_alarms(ps);
}

/* ---- faults while reading */

/* The position may be wrong: ask the brokers, and hold as long. */
static void
doubt(struct br_parts *ps, struct br_part *part, const struct br_read *read,
    int64_t now_ms)
{
	BR_LOG_LIMITED(BR_WARN, part->topic, "position refused",
	    br_kv_str("topic", part->topic),
	    br_kv_int("partition", part->partition),
	    br_kv_int("offset", part->ledger.next),
	    br_kv_str("because", read->text));
	part->state = BR_PART_ASKING;
	part->asked_ms = now_ms;
	br_start_ask(ps, now_ms);
}

void
br_parts_read(struct br_parts *ps, const struct br_read *read, int64_t now_ms)
{
	struct br_part *part =
	    br_parts_find(ps, read->record.topic, read->record.partition);
	char why[400];
	bool waits;

	/* A wait for a schema may be long: its topic may go meanwhile. */
	waits = part != NULL && part->state == BR_PART_HELD && part->awaits &&
	        read->kind == BR_READ_TOPIC_GONE;
	if (part == NULL || (part->state != BR_PART_READING && !waits))
		return;
	switch (read->kind) {
	case BR_READ_RECORD:
		break;
	case BR_READ_END:
		/* Behind gaps and transaction markers lag is 0 too. */
		br_ledger_pass(&part->ledger, read->record.offset);
		if (part->corrupt)
			mended(ps, part);
		break;
	case BR_READ_OUT_OF_RANGE:
		doubt(ps, part, read, now_ms);
		break;
	case BR_READ_TOPIC_GONE:
		topic_gone(ps, part, read->text, now_ms);
		break;
	case BR_READ_CORRUPT:
		(void)snprintf(why, sizeof(why),
		    "topic %s partition %" PRId32 ": the batch at offset "
		    "%" PRId64
		    " cannot be read: %s; nothing is read there, it is tried "
		    "again every 10 s: mend the log, or set the group's offset "
		    "behind the batch while the bridge is stopped",
		    part->topic, part->partition, part->ledger.next,
		    read->text);
		part->gap = true;
		part->corrupt = true;
		part->corrupt_at = part->ledger.next;
		part->asked_ms = now_ms + LOOK_AGAIN_MS;
		br_parts_hold(ps, part, why);
		break;
	case BR_READ_ERROR:
		BR_LOG_LIMITED(BR_WARN, part->topic, "read failed",
		    br_kv_str("topic", part->topic),
		    br_kv_int("partition", part->partition),
		    br_kv_str("because", read->text));
		break;
	}
}

bool
br_parts_no_start(struct br_parts *ps)
{
	bool no_start = ps->no_start;

	ps->no_start = false;
	return no_start;
}
