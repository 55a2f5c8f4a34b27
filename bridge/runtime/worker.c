/* worker: see the header. */
#include "bridge/runtime/worker.h"

#include <stdio.h>
#include <stdlib.h>

#include "bridge/base/clock.h"
#include "bridge/base/metrics.h"

/* Copies text for the log; a key may be any bytes. */
static void
keep(char *out, size_t size, const void *data, size_t len)
{
	if (len >= size)
		len = size - 1;
	if (len != 0)
		memcpy(out, data, len);
	out[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (out[i] == '\0')
			out[i] = '.';
}

static void
keep_text(char *out, size_t size, const char *text)
{
	keep(out, size, text, text != NULL ? strlen(text) : 0);
}

static void
fill_line(struct br_attempt_line *line, const struct br_ref *ref,
    const struct br_outcome *o)
{
	const struct br_event *ev = ref->event;

	keep_text(line->topic, sizeof(line->topic), ev->record.topic);
	keep(line->key, sizeof(line->key), ev->order_key.data,
	    ev->order_key.len);
	keep_text(line->event, sizeof(line->event), ev->idempotency_key);
	keep_text(line->route, sizeof(line->route), ev->route);
	keep_text(line->target, sizeof(line->target), ev->target);
	if (o->head_complete)
		(void)snprintf(
		    line->word, sizeof(line->word), "%d", o->http_status);
	else
		keep_text(line->word, sizeof(line->word),
		    br_transport_name(o->transport));
	line->partition = ev->record.partition;
	line->offset = ref->offset;
	line->attempt = ref->attempts;
	line->outcome = *o;
}

/* The event failed: remembers how, for the dead letter. */
static void
remember(struct br_ref *ref, const struct br_outcome *o)
{
	if (ref->failure == NULL) {
		ref->failure = calloc(1, sizeof(*ref->failure));
		if (ref->failure == NULL)
			abort();
		ref->failure->first_wall_ms = o->wall_ms;
	}
	ref->failure->last = *o;
}

static void
count(const struct br_event *ev, const struct br_outcome *o, bool delivered)
{
	br_metric_add_label(BR_M_ATTEMPTS, br_outcome_class(o), 1);
	br_metric_observe(BR_M_ATTEMPT_SECONDS, o->seconds);
	if (!delivered)
		return;
	br_metric_add(BR_M_DELIVERED, 1);
	if (ev->record.timestamp_ms > 0 && o->wall_ms > ev->record.timestamp_ms)
		br_metric_observe(BR_M_DELIVERY_SECONDS,
		    (double)(o->wall_ms - ev->record.timestamp_ms) / 1000);
	else
		br_metric_observe(BR_M_DELIVERY_SECONDS, 0);
}

static void
log_delivered(const struct br_ref *ref, const struct br_outcome *o)
{
	const struct br_event *ev = ref->event;

	BR_LOG(BR_INFO, "delivered", br_kv_str("topic", ev->record.topic),
	    br_kv_int("partition", ev->record.partition),
	    br_kv_int("offset", ref->offset),
	    br_kv_bytes("key", ev->order_key.data, ev->order_key.len),
	    br_kv_str("event", ev->idempotency_key),
	    br_kv_str("route", ev->route), br_kv_str("target", ev->target),
	    br_kv_int("attempt", ref->attempts),
	    br_kv_int("status", o->http_status),
	    br_kv_int("ms", (int64_t)(o->seconds * 1000)));
}

void
br_worker_attempt(const struct br_config *config,
    const struct br_request_rules *rules, struct br_http *http,
    const atomic_bool *abort_flag, struct br_ref *ref,
    struct br_outcome *outcome, struct br_attempt_line *line)
{
	const struct br_event *ev = ref->event;
	struct br_request request;
	bool delivered;

	br_request_build(rules, ev, &request);
	request.http.abort = abort_flag;
	request.http.throttle_match = config->retry.throttle_match;
	br_http_perform(http, &request.http, outcome);
	outcome->wall_ms = br_clock_wall_ms();

	delivered = br_verdict(&config->retry.verdict, outcome) == BR_DELIVERED;
	count(ev, outcome, delivered);
	if (delivered) {
		if (config->log.delivered)
			log_delivered(ref, outcome);
		keep_text(line->target, sizeof(line->target), ev->target);
		return;
	}
	remember(ref, outcome);
	fill_line(line, ref, outcome);
}

/* What is next for the event, in a few characters. */
static void
next_step(const struct br_decision *d, char *out, size_t size)
{
	if (d->verdict == BR_NEVER || d->exhausted)
		(void)snprintf(out, size, "dlq");
	else if (d->dropped)
		(void)snprintf(out, size, "handed over");
	else if (d->wait_ms < 0)
		(void)snprintf(out, size, "when the target opens");
	else
		(void)snprintf(out, size, "%.1fs", (double)d->wait_ms / 1000);
}

static void
log_attempt(const struct br_attempt_line *line, const struct br_decision *d)
{
	const struct br_outcome *o = &line->outcome;
	char group[160], next[32];

	next_step(d, next, sizeof(next));
	(void)snprintf(group, sizeof(group), "%s %s", line->target, line->word);
	BR_LOG_LIMITED(BR_WARN, group, "attempt failed",
	    br_kv_str("topic", line->topic),
	    br_kv_int("partition", line->partition),
	    br_kv_int("offset", line->offset), br_kv_str("key", line->key),
	    br_kv_str("event", line->event), br_kv_str("route", line->route),
	    br_kv_str("target", line->target),
	    br_kv_int("attempt", line->attempt),
	    br_kv_str("status", line->word),
	    br_kv_str("reason", o->detail[0] != '\0' ? o->detail : NULL),
	    br_kv_str("outcome",
	        !o->head_complete && o->request_sent ? "unknown" : NULL),
	    br_kv_str("counted", d->counted ? NULL : "no"),
	    br_kv_str("next", next));
}

static void
log_closed(const struct br_config *config, const struct br_attempt_line *line,
    const struct br_decision *d)
{
	bool down = d->change == BR_TARGET_DOWN;
	char because[100], probe[32];

	(void)snprintf(because, sizeof(because), "%lld events in a row: %s%s",
	    (long long)(down ? config->breaker.failures
	                     : config->breaker.after),
	    down ? "" : "dead-lettered, the last by ", line->word);
	(void)snprintf(
	    probe, sizeof(probe), "%.1fs", (double)d->next_probe_ms / 1000);
	BR_LOG(BR_ERROR, "target closed", br_kv_str("target", line->target),
	    br_kv_str("because", because),
	    br_kv_int("waiting", (int64_t)d->waiting),
	    br_kv_str("next_probe", probe),
	    br_kv_str(
	        "hint", down ? "waiting events are not dead-lettered; "
	                       "breaker.failures=0 dead-letters each after "
	                       "max_attempts"
	                     : "waiting events are tried one at a time; "
	                       "breaker.after=0 goes on dead-lettering"));
}

void
br_worker_log(const struct br_config *config,
    const struct br_attempt_line *line, const struct br_decision *d)
{
	if (d->verdict != BR_DELIVERED)
		log_attempt(line, d);
	if (d->change == BR_TARGET_SAME)
		return;
	br_metric_set_label(
	    BR_M_TARGET_OPEN, line->target, d->change == BR_TARGET_OPENED);
	if (d->change == BR_TARGET_OPENED)
		BR_LOG(BR_INFO, "target open again",
		    br_kv_str("target", line->target),
		    br_kv_int("waiting", (int64_t)d->waiting));
	else
		log_closed(config, line, d);
}
