/* intake: see the header. */
#include "bridge/runtime/intake.h"

#include <stdio.h>
#include <stdlib.h>

#include "bridge/base/metrics.h"
#include "bridge/core/url.h"
#include "bridge/source/decode.h"

/* Where a configured receiver is, split once. */
struct place {
	char *url; /* as it goes on the wire; NULL: none */
	struct br_url parts;
};

struct br_intake {
	const struct br_config *config;
	struct br_decoder *decoder;
	struct br_hosts *hosts;
	struct br_routes *routes;
	struct place fallback; /* delivery.url */
	struct place *route;   /* by route */
	char encoded[3 * BR_URL_MAX + 1];
	char offset_key[300];
	struct br_buffer type, aggregate; /* scratch */
	struct told *told;                /* what was said once about a topic */
	struct br_schema_key schema;      /* that a record waits for */
};

/* A topic and a text (static) that was logged for it. */
struct told {
	struct told *next;
	const char *text;
	char topic[];
};

/* What was decided about one record. */
struct aim {
	const char *url;
	const char *target;
	const char *route;
	int route_index; /* -1: none matches */
	bool route_url;  /* `url` is the route's */
	bool from_event;
	bool literal;
	const char *reason; /* a dead letter */
	const char *detail;
	const char *stage;
};

static bool
place_set(struct place *place, const char *url, struct br_error *err)
{
	size_t size = 3 * strlen(url) + 1;

	if (!br_url_parse(br_slice_str(url), SIZE_MAX, &place->parts, err))
		return false;
	place->url = malloc(size);
	if (place->url == NULL)
		abort();
	(void)br_url_encode(br_slice_str(url), place->url, size);
	return true;
}

static bool
set_places(struct br_intake *in, struct br_error *err)
{
	const struct br_config *c = in->config;

	if (c->delivery.url[0] != '\0' &&
	    !place_set(&in->fallback, c->delivery.url, err))
		return false;
	for (size_t i = 0; i < c->route_count; i++)
		if (c->routes[i].url != NULL && c->routes[i].url[0] != '\0' &&
		    !place_set(&in->route[i], c->routes[i].url, err))
			return false;
	return true;
}

struct br_intake *
br_intake_new(const struct br_config *config, struct br_error *err)
{
	struct br_intake *in = calloc(1, sizeof(*in));
	const struct br_strings *urls = &config->delivery.event_urls;

	if (in == NULL)
		abort();
	in->config = config;
	in->route = calloc(config->route_count + 1, sizeof(*in->route));
	if (in->route == NULL)
		abort();
	in->decoder = br_decoder_new(config);
	in->hosts =
	    br_hosts_new((const char *const *)urls->item, urls->count, err);
	in->routes = br_routes_new(config->routes, config->route_count, err);
	if (in->hosts == NULL || in->routes == NULL || !set_places(in, err)) {
		br_intake_free(in);
		return NULL;
	}
	return in;
}

void
br_intake_free(struct br_intake *in)
{
	if (in == NULL)
		return;
	for (size_t i = 0; in->route != NULL && i < in->config->route_count;
	     i++)
		free(in->route[i].url);
	while (in->told != NULL) {
		struct told *next = in->told->next;

		free(in->told);
		in->told = next;
	}
	br_buffer_free(&in->type);
	br_buffer_free(&in->aggregate);
	free(in->route);
	free(in->fallback.url);
	br_routes_free(in->routes);
	br_hosts_free(in->hosts);
	br_decoder_free(in->decoder);
	free(in);
}

void
br_intake_use(struct br_intake *in, struct br_registry *registry)
{
	br_decoder_use(in->decoder, registry);
}

const struct br_schema_key *
br_intake_schema(const struct br_intake *in)
{
	return &in->schema;
}

void
br_ref_free(struct br_ref *ref)
{
	if (ref == NULL)
		return;
	free(ref->failure);
	free(ref->event);
	free(ref);
}

/* Says something about a topic, once in the life of the process. */
static void
tell_once(
    struct br_intake *in, const char *topic, const char *key, const char *text)
{
	size_t len = strlen(topic) + 1;
	struct told *t;

	for (t = in->told; t != NULL; t = t->next)
		if (t->text == text && strcmp(t->topic, topic) == 0)
			return;
	t = malloc(sizeof(*t) + len);
	if (t == NULL)
		abort();
	memcpy(t->topic, topic, len);
	t->text = text;
	t->next = in->told;
	in->told = t;
	BR_LOG(BR_INFO, "source format", br_kv_str("topic", topic),
	    br_kv_str(key, text));
}

/* ---- where it goes */

static void
refuse(struct aim *aim, const char *reason, const char *detail)
{
	aim->reason = reason;
	aim->detail = detail;
	aim->stage = "validate";
}

/* The event's own URL. False: it must wait for a line of configuration. */
static bool
aim_at_event_url(struct br_intake *in, struct br_slice text, struct aim *aim,
    struct br_url *url, struct br_error *err)
{
	enum br_host_rule rule;

	if (!br_url_parse(text, BR_URL_MAX, url, err)) {
		refuse(aim, "url-invalid", err->text);
		return true;
	}
	if (br_hosts_empty(in->hosts))
		return false;
	rule = br_hosts_check(in->hosts, url);
	if (rule == BR_HOST_FORBIDDEN) {
		(void)br_fail(err,
		    "the event names %s, which delivery.event_urls does not "
		    "list",
		    url->target);
		refuse(aim, "url-forbidden", err->text);
		return true;
	}
	(void)br_url_encode(text, in->encoded, sizeof(in->encoded));
	aim->url = in->encoded;
	aim->target = url->target;
	aim->from_event = true;
	aim->literal = rule == BR_HOST_ALLOWED_LITERALLY;
	return true;
}

/* The text as a C string in the scratch, or NULL where it is absent. */
static const char *
text_of(struct br_slice s, struct br_buffer *scratch)
{
	if (s.data == NULL)
		return NULL;
	br_buffer_clear(scratch);
	br_buffer_add(scratch, s.data, s.len);
	return scratch->data;
}

static bool
aim_event(struct br_intake *in, const struct br_record *record,
    const struct br_decoded *d, struct aim *aim, struct br_url *url,
    struct br_error *err)
{
	bool own = d->target_url.data != NULL &&
	           !in->config->delivery.event_url_ignore;
	struct br_route_facts facts = {
	    .record = record,
	    .event_type = text_of(d->event_type, &in->type),
	    .aggregate_type = text_of(d->aggregate_type, &in->aggregate),
	};
	const struct place *place = &in->fallback;
	int route;

	if (own && br_url_parse(d->target_url, BR_URL_MAX, url, err))
		facts.host = url->host;
	route = br_routes_match(in->routes, &facts);
	aim->route = route >= 0 ? in->config->routes[route].name : "";
	aim->route_index = route;
	if (own)
		return aim_at_event_url(in, d->target_url, aim, url, err);
	aim->route_url = route >= 0 && in->route[route].url != NULL;
	if (aim->route_url)
		place = &in->route[route];
	if (place->url == NULL) {
		refuse(aim, "no-route",
		    "no route matches, the event has no URL of its own, and "
		    "delivery.url is not set");
		return true;
	}
	aim->url = place->url;
	aim->target = place->parts.target;
	return true;
}

/* ---- the copy: one allocation, strings behind the structures */

struct copier {
	char *at; /* NULL while it only counts */
	size_t size;
};

static const uint8_t *
copy_bytes(struct copier *c, const void *data, size_t len)
{
	uint8_t *to = (uint8_t *)c->at;

	c->size += len + 1;
	if (c->at == NULL || data == NULL)
		return NULL;
	if (len != 0)
		memcpy(to, data, len);
	to[len] = '\0';
	c->at += len + 1;
	return to;
}

static struct br_slice
copy_slice(struct copier *c, struct br_slice s)
{
	if (s.data == NULL)
		return s;
	return (struct br_slice){copy_bytes(c, s.data, s.len), s.len};
}

static const char *
copy_text(struct copier *c, struct br_slice s)
{
	return s.data == NULL ? NULL
	                      : (const char *)copy_bytes(c, s.data, s.len);
}

/* The body is a span of the value, or is copied beside it. */
static struct br_slice
copy_body(struct copier *c, const struct br_record *from, struct br_slice value,
    struct br_slice body)
{
	if (body.data == NULL)
		return body;
	if (from->value.data != NULL && body.data >= from->value.data &&
	    body.data + body.len <= from->value.data + from->value.len)
		return (struct br_slice){
		    value.data != NULL
		        ? value.data + (body.data - from->value.data)
		        : NULL,
		    body.len};
	return copy_slice(c, body);
}

static const char *
content_type_of(const struct br_decoded *d)
{
	if (d->body_is_json)
		return "application/json; charset=UTF-8";
	if (d->body_is_utf8)
		return "text/plain; charset=UTF-8";
	return "application/octet-stream";
}

static void
copy_headers(
    struct copier *c, struct br_header *headers, const struct br_record *from)
{
	for (size_t i = 0; i < from->header_count; i++) {
		const char *name =
		    copy_text(c, br_slice_str(from->headers[i].name));
		struct br_slice value = copy_slice(c, from->headers[i].value);

		if (headers != NULL)
			headers[i] = (struct br_header){name, value};
	}
}

/* Counts (ev == NULL) or copies everything that the event keeps. */
static void
copy_event(struct copier *c, struct br_event *ev, struct br_header *headers,
    const struct br_record *record, const struct br_decoded *d,
    const struct aim *aim)
{
	struct br_event out = {.record = *record};

	out.record.topic = copy_text(c, br_slice_str(record->topic));
	out.record.key = copy_slice(c, record->key);
	out.record.value = copy_slice(c, record->value);
	copy_headers(c, headers, record);
	out.record.headers = headers;
	out.body = copy_body(c, record, out.record.value, d->body);
	out.event_id = copy_text(c, d->event_id);
	out.idempotency_key = copy_text(c, d->idempotency_key);
	out.event_type = copy_text(c, d->event_type);
	out.aggregate_type = copy_text(c, d->aggregate_type);
	out.traceparent = copy_text(c, d->traceparent);
	out.tracestate = copy_text(c, d->tracestate);
	out.order_key = copy_slice(c, d->order_key);
	out.content_type = d->content_type.data != NULL
	                       ? copy_text(c, d->content_type)
	                       : content_type_of(d);
	out.url = copy_text(c, br_slice_str(aim->url));
	out.target = copy_text(c, br_slice_str(aim->target));
	out.route = copy_text(c, br_slice_str(aim->route));
	out.detail = copy_text(c, br_slice_str(aim->detail));
	out.reason = aim->reason;
	out.stage = aim->stage;
	out.format = d->format;
	out.url_from_event = aim->from_event;
	out.literal_host = aim->literal;
	if (ev != NULL)
		*ev = out;
}

static struct br_ref *
make_ref(const struct br_config *config, const struct br_record *record,
    const struct br_decoded *d, const struct aim *aim,
    struct br_sched_part *part)
{
	size_t fixed = sizeof(struct br_event) +
	               record->header_count * sizeof(struct br_header);
	struct copier c = {0};
	struct br_ref *ref = calloc(1, sizeof(*ref));
	struct br_event *ev;
	struct br_header *headers;

	copy_event(&c, NULL, NULL, record, d, aim);
	ev = malloc(fixed + c.size);
	if (ref == NULL || ev == NULL)
		abort();
	ref->bytes = sizeof(*ref) + fixed + c.size;
	headers = (struct br_header *)(ev + 1);
	c = (struct copier){.at = (char *)ev + fixed};
	copy_event(&c, ev, headers, record, d, aim);
	ev->max_attempts = d->max_attempts > 0
	                       ? (uint32_t)d->max_attempts
	                       : (uint32_t)config->retry.max_attempts;
	ref->offset = record->offset;
	ref->part = part;
	ref->event = ev;
	return ref;
}

/* An event without an id gets one from where it lies, when that is allowed. */
static void
add_offset_key(
    struct br_intake *in, const struct br_record *r, struct br_decoded *d)
{
	(void)snprintf(in->offset_key, sizeof(in->offset_key), "%s-%d-%lld",
	    r->topic, (int)r->partition, (long long)r->offset);
	d->idempotency_key = br_slice_str(in->offset_key);
}

/* Everything that is found out about a record; `aim` points into the rest. */
struct judged {
	struct br_decoded d;
	struct aim aim;
	struct br_url url;
	struct br_error err;
};

/* What becomes of the record; counts and logs nothing. */
static enum br_intake_result
judge(struct br_intake *in, const struct br_record *record,
    struct br_origins *origins, struct judged *j)
{
	j->aim = (struct aim){.route = "", .route_index = -1};
	br_decode_explained(in->decoder, record, &j->d, origins);
	switch (j->d.result) {
	case BR_DECODE_WAIT:
		in->schema = j->d.schema;
		return BR_INTAKE_WAIT;
	case BR_DECODE_SKIP:
		return BR_INTAKE_SKIP;
	case BR_DECODE_DEAD:
		j->aim.reason = j->d.reason;
		j->aim.detail = j->d.detail;
		j->aim.stage = j->d.stage;
		return BR_INTAKE_EVENT;
	case BR_DECODE_DELIVER:
		break;
	}
	if (j->d.offset_key)
		add_offset_key(in, record, &j->d);
	return aim_event(in, record, &j->d, &j->aim, &j->url, &j->err)
	           ? BR_INTAKE_EVENT
	           : BR_INTAKE_HOLD;
}

/* Counts and logs a record that is no event. */
static void
pass(const struct br_record *record, const struct br_decoded *d)
{
	br_metric_add_label(BR_M_SKIPPED, d->reason, 1);
	if (br_log_on(BR_DEBUG))
		BR_LOG(BR_DEBUG, "record skipped",
		    br_kv_str("topic", record->topic),
		    br_kv_int("partition", record->partition),
		    br_kv_int("offset", record->offset),
		    br_kv_str("reason", d->reason));
}

enum br_intake_result
br_intake_take(struct br_intake *in, const struct br_record *record,
    struct br_sched_part *part, struct br_ref **ref, char *host,
    size_t host_size)
{
	struct judged j;
	enum br_intake_result result = judge(in, record, NULL, &j);

	if (result == BR_INTAKE_WAIT)
		return result;
	if (j.d.hint != NULL)
		tell_once(in, record->topic, "hint", j.d.hint);
	if (j.d.result == BR_DECODE_DELIVER)
		tell_once(in, record->topic, "format", j.d.format);
	if (result == BR_INTAKE_SKIP)
		pass(record, &j.d);
	else if (result == BR_INTAKE_HOLD)
		(void)snprintf(host, host_size, "%s", j.url.target);
	else
		*ref = make_ref(in->config, record, &j.d, &j.aim, part);
	return result;
}

void
br_intake_look(struct br_intake *in, const struct br_record *record,
    struct br_intake_view *view)
{
	struct judged j;

	*view = (struct br_intake_view){.route = -1};
	view->result = judge(in, record, &view->origins, &j);
	view->decoded = j.d;
	view->route = j.aim.route_index;
	view->route_url = j.aim.route_url;
	if (view->result == BR_INTAKE_HOLD)
		(void)snprintf(
		    view->host, sizeof(view->host), "%s", j.url.target);
	if (view->result == BR_INTAKE_EVENT)
		view->ref = make_ref(in->config, record, &j.d, &j.aim, NULL);
}
