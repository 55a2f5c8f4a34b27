/* pressure: see the header. */
#include "bridge/runtime/pressure.h"

#include <inttypes.h>

#include "bridge/base/log.h"
#include "bridge/base/utf8.h"

#define LANES 3
#define TARGETS 3
/* The largest lanes are looked for so often while an alarm stands. */
#define TEXT_MS 10000
/* Nothing was there to be given up: again after so long. */
#define SHED_AGAIN_MS 100

uint64_t
br_pressure_share(const struct br_config *config)
{
	return (uint64_t)config->limits.buffer_bytes / 4 * 3;
}

/* ---- texts */

/* As much of a key as is shown: whole characters, none that steers. */
static void
add_key(struct br_buffer *out, const struct br_lane_view *lane)
{
	size_t left = lane->key_len < sizeof(lane->key) ? lane->key_len
	                                                : sizeof(lane->key);
	const uint8_t *at = lane->key;

	if (lane->key_len == 0) {
		br_buffer_str(out, " without key");
		return;
	}
	br_buffer_str(out, " key ");
	while (left > 0) {
		uint32_t code;
		size_t len = br_utf8_char(at, left, &code);

		if (len == 0 && left < 4 && lane->key_len > sizeof(lane->key))
			break; /* the cut is inside of it */
		if (len == 0 || code < 0x20 || code == 0x7f)
			br_buffer_str(out, ".");
		else
			br_buffer_add(out, at, len);
		len = len != 0 ? len : 1;
		at += len;
		left -= len;
	}
	if (lane->key_len > sizeof(lane->key))
		br_buffer_str(out, "...");
}

/* "; largest: TOPIC 3 key 4711: 20 events, 12345 bytes, …" */
static void
add_lanes(struct br_pressure *p, struct br_buffer *out)
{
	struct br_lane_view lane[LANES];
	size_t count = br_parts_largest(p->parts, lane, LANES);

	for (size_t i = 0; i < count; i++) {
		const struct br_part *part = br_sched_part_opaque(lane[i].part);

		br_buffer_format(out, "%s%s partition %" PRId32,
		    i == 0 ? "; largest: " : ", ", part->topic,
		    part->partition);
		add_key(out, &lane[i]);
		br_buffer_format(out, " (%zu events, %zu bytes)", lane[i].count,
		    lane[i].bytes);
	}
}

/* What closed it, in a few words. */
static void
add_why(const struct br_pressure *p, struct br_buffer *out,
    const struct br_target_view *t)
{
	bool down = t->state == BR_HEALTH_DOWN;

	br_buffer_format(out, "%" PRId64 " events in a row%s: ",
	    down ? p->config->breaker.failures : p->config->breaker.after,
	    down ? "" : " dead-lettered, the last by");
	if (t->status != 0)
		br_buffer_format(out, "%d", t->status);
	else
		br_buffer_str(out, br_transport_name(t->transport));
}

static size_t
add_targets(struct br_pressure *p, struct br_buffer *out, bool *down,
    bool *refusing, bool why)
{
	struct br_target_view t[TARGETS];
	size_t closed = br_pool_closed(p->pool, t, TARGETS);

	for (size_t i = 0; i < closed && i < TARGETS; i++) {
		*down |= t[i].state == BR_HEALTH_DOWN;
		*refusing |= t[i].state == BR_HEALTH_REFUSING;
		br_buffer_format(out, "%s%s (", i == 0 ? "" : ", ", t[i].name);
		if (why) {
			add_why(p, out, &t[i]);
			br_buffer_str(out, "; ");
		}
		br_buffer_format(out, "%zu waiting)", t[i].waiting);
	}
	if (closed > TARGETS)
		br_buffer_format(out, " and %zu more", closed - TARGETS);
	return closed;
}

/* ---- alarms */

static void
look_at_targets(struct br_pressure *p)
{
	struct br_buffer text = {0};
	bool down = false, refusing = false;
	size_t closed;

	closed = add_targets(p, &text, &down, &refusing, true);
	if (closed == 0) {
		br_buffer_free(&text);
		br_alarms_set(p->alarms, BR_ALARM_TARGET_CLOSED, NULL);
		return;
	}
	if (down)
		br_buffer_str(&text,
		    "; waiting events are not dead-lettered; "
		    "breaker.failures=0 dead-letters each after max_attempts");
	if (refusing)
		br_buffer_str(&text,
		    "; waiting events are tried one at a time; "
		    "breaker.after=0 goes on dead-lettering");
	br_buffer_str(&text, "; it ends when a probe is answered with 2xx");
	br_alarms_set(p->alarms, BR_ALARM_TARGET_CLOSED, text.data);
	br_buffer_free(&text);
}

/* "; closed: TARGET (20 waiting)" */
static void
add_closed(struct br_pressure *p, struct br_buffer *out)
{
	struct br_buffer list = {0};
	bool any = false;

	if (add_targets(p, &list, &any, &any, false) != 0)
		br_buffer_format(out, "; closed: %s", list.data);
	br_buffer_free(&list);
}

static void
raise_parked(struct br_pressure *p, uint64_t share)
{
	struct br_buffer text = {0};

	br_buffer_format(&text,
	    "events that wait fill their %" PRIu64 " bytes of "
	    "limits.buffer_bytes: nothing is read until some are settled",
	    share);
	add_lanes(p, &text);
	add_closed(p, &text);
	br_buffer_str(&text,
	    p->config->breaker.shed
	        ? "; events of closed targets are dead-lettered"
	        : "; breaker.on_full=\"dlq\" dead-letters those of closed "
	          "targets");
	br_alarms_set(p->alarms, BR_ALARM_BUFFER_PARKED, text.data);
	br_buffer_free(&text);
}

static void
raise_filling(struct br_pressure *p, uint64_t share)
{
	uint64_t left = p->open < share ? share - p->open : 0;
	struct br_buffer text = {0};

	br_buffer_format(&text,
	    "open events, most of which wait, take %" PRIu64
	    " of their %" PRIu64 " bytes of limits.buffer_bytes",
	    p->open, share);
	if (left == 0)
		br_buffer_str(&text, ", all of them");
	else if (p->growth >= 1)
		br_buffer_format(&text,
		    ", all of them in about %.0f s at the present rate",
		    (double)left / p->growth);
	else
		br_buffer_str(&text, ", and do not become more");
	add_lanes(p, &text);
	add_closed(p, &text);
	br_alarms_set(p->alarms, BR_ALARM_BUFFER_FILLING, text.data);
	br_buffer_free(&text);
}

/* How fast the open events become more. */
static void
measure(struct br_pressure *p, int64_t now_ms)
{
	uint64_t open = br_parts_open_bytes(p->parts);
	double now;

	if (p->looked_ms != 0 && now_ms > p->looked_ms) {
		now = ((double)open - (double)p->open) * 1000 /
		      (double)(now_ms - p->looked_ms);
		p->growth += (now - p->growth) * 0.3;
	}
	p->open = open;
	p->looked_ms = now_ms;
}

/*
 * An attempt of a long lane takes it out of what is parked while it lasts: so
 * both alarms begin by what is parked, and end by what is open.
 */
void
br_pressure_look(struct br_pressure *p, bool full, int64_t now_ms)
{
	uint64_t share = br_pressure_share(p->config), parked = 0;
	bool filling = br_alarms_is(p->alarms, BR_ALARM_BUFFER_FILLING);
	bool stuck = br_alarms_is(p->alarms, BR_ALARM_BUFFER_PARKED);
	bool begins;

	look_at_targets(p);
	measure(p, now_ms);
	if (p->open >= share / 2)
		parked = br_pool_parked(p->pool);
	begins = (!filling && parked >= share / 2) ||
	         (!stuck && full && parked >= share / 8 * 7);
	filling = filling ? p->open >= share / 8 * 3 : parked >= share / 2;
	stuck = full && (stuck || parked >= share / 8 * 7);
	if (!filling)
		br_alarms_set(p->alarms, BR_ALARM_BUFFER_FILLING, NULL);
	if (!stuck)
		br_alarms_set(p->alarms, BR_ALARM_BUFFER_PARKED, NULL);
	if (!begins && now_ms < p->text_ms)
		return;
	p->text_ms = now_ms + TEXT_MS;
	if (filling)
		raise_filling(p, share);
	if (stuck)
		raise_parked(p, share);
}

/* ---- giving up */

void
br_pressure_relieve(struct br_pressure *p, uint64_t open, int64_t now_ms)
{
	uint64_t goal = br_pressure_share(p->config) / 8 * 7;
	size_t shed;

	if (!p->config->breaker.shed || open < goal || now_ms < p->shed_ms ||
	    br_pool_parked(p->pool) < goal)
		return;
	shed = br_pool_shed(p->pool, (size_t)(open - goal + 1));
	if (shed == 0) {
		p->shed_ms = now_ms + SHED_AGAIN_MS;
		return;
	}
	BR_LOG_LIMITED(BR_WARN, "on_full",
	    "the buffer is full: events of closed targets go to the DLQ",
	    br_kv_int("events", (int64_t)shed),
	    br_kv_str("reason", BR_PARKED_REASON));
}
