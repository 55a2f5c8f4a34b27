/* explain_look: see the header. */
#include "bridge/commands/explain_look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bridge/commands/explain_advice.h"
#include "bridge/commands/explain_registry.h"
#include "bridge/config/loader.h"
#include "bridge/config/secrets.h"
#include "bridge/core/pattern.h"

#define MASK "***"
/* Three questions for an unknown id, of the value and of the key. */
#define SCHEMA_TRIES 8

struct br_explainer {
	const struct br_config *config;
	struct br_intake *intake;
	struct br_explain_registry *registry; /* NULL: none is configured */
	struct br_request_rules *rules;
	struct br_intake_view view;
	struct br_request request;
	struct br_request_wire wire;
	struct br_buffer url;
	char detail[640];
	struct br_explained out;
};

struct br_explainer *
br_explainer_new(const struct br_config *config, struct br_error *err)
{
	struct br_explainer *e = calloc(1, sizeof(*e));

	if (e == NULL)
		abort();
	e->config = config;
	e->rules = br_request_rules_new(config);
	e->intake = br_intake_new(config, err);
	if (e->intake != NULL && br_explain_registry_wanted(config)) {
		e->registry = br_explain_registry_new(config, err);
		if (e->registry == NULL) {
			br_explainer_free(e);
			return NULL;
		}
		br_intake_use(
		    e->intake, br_explain_registry_schemas(e->registry));
	}
	if (e->intake != NULL)
		return e;
	br_explainer_free(e);
	return NULL;
}

void
br_explainer_free(struct br_explainer *e)
{
	if (e == NULL)
		return;
	br_ref_free(e->view.ref);
	br_intake_free(e->intake);
	br_explain_registry_free(e->registry);
	br_request_rules_free(e->rules);
	br_buffer_free(&e->url);
	free(e);
}

bool
br_explain_is_secret(const char *header)
{
	static const char *const words[] = {"authorization", "cookie",
	    "signature", "api-key", "apikey", "api_key", "access-key"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasestr(header, words[i]) != NULL)
			return true;
	return br_secrets_is_property(header, strlen(header));
}

/* ---- the four outcomes */

/* The event's own URL stands in the record; ours may hold a token. */
static void
show_url(struct br_explainer *e, const struct br_event *ev)
{
	const struct br_intake_view *view = &e->view;
	int route = view->route_url ? view->route : -1;

	br_buffer_clear(&e->url);
	if (ev->url_from_event) {
		br_buffer_str(&e->url, ev->url);
		e->out.url_from = "the event's own URL";
	} else {
		br_secrets_mask_url(ev->url,
		    br_config_url_referenced(e->config, route), &e->url);
		e->out.url_from =
		    view->route_url ? "the route's URL" : "delivery.url";
	}
	e->out.url = e->url.data;
}

static void
show_request(struct br_explainer *e, const struct br_event *ev)
{
	struct br_explained *out = &e->out;

	show_url(e, ev);
	br_request_build(e->rules, ev, &e->request);
	br_request_list(&e->request, &e->wire);
	out->method = e->request.http.method;
	for (size_t i = 0; i < e->wire.count; i++) {
		out->header[i] = e->wire.header[i];
		if (br_explain_is_secret(out->header[i].name))
			out->header[i].value = MASK;
	}
	out->header_count = e->wire.count;
}

static void
show_event(struct br_explainer *e)
{
	const struct br_event *ev = e->view.ref->event;
	struct br_explained *out = &e->out;

	out->event = ev;
	if (ev->reason == NULL) {
		out->outcome = BR_EXPLAIN_DELIVER;
		show_request(e, ev);
		return;
	}
	out->outcome = BR_EXPLAIN_DLQ;
	out->reason = ev->reason;
	out->stage = ev->stage;
	out->detail = ev->detail;
	out->advice = br_explain_advice(ev->reason);
}

/* What `run` would raise as an alarm. */
static void
show_hold(struct br_explainer *e, const char *alarm)
{
	e->out.outcome = BR_EXPLAIN_HOLD;
	e->out.reason = alarm;
	e->out.detail = e->detail;
	e->out.advice = br_explain_advice(alarm);
}

static void
show(struct br_explainer *e)
{
	switch (e->view.result) {
	case BR_INTAKE_EVENT:
		show_event(e);
		return;
	case BR_INTAKE_SKIP:
		e->out.outcome = BR_EXPLAIN_SKIP;
		e->out.reason = e->view.decoded.reason;
		e->out.detail = br_decode_skip_text(e->out.reason);
		return;
	case BR_INTAKE_HOLD:
		(void)snprintf(e->detail, sizeof(e->detail),
		    "the event names %s, and delivery.event_urls is empty",
		    e->view.host);
		show_hold(e, "event_urls_empty");
		return;
	case BR_INTAKE_WAIT:
		(void)snprintf(e->detail, sizeof(e->detail),
		    "its schema cannot be had: %s",
		    br_explain_registry_trouble(e->registry));
		show_hold(e, "registry_down");
		return;
	}
}

static bool
is_read(const struct br_config *config, const char *topic)
{
	const struct br_strings *topics = &config->kafka.topics;
	bool read = false;

	for (size_t i = 0; i < topics->count && !read; i++) {
		struct br_error err;
		struct br_pattern *p = br_pattern_new(topics->item[i], &err);

		/* The loader has checked it. */
		if (p == NULL)
			abort();
		read = br_pattern_match(p, topic);
		br_pattern_free(p);
	}
	return read;
}

/* Detection says why; without it, the configuration has said so. */
static const char *
why_format(const struct br_explainer *e)
{
	const struct br_config_source *source = &e->config->source;
	const struct br_intake_view *view = &e->view;

	if (view->origins.why != NULL)
		return view->origins.why;
	if (view->decoded.format[0] == '\0' ||
	    e->out.outcome == BR_EXPLAIN_SKIP)
		return NULL;
	if (source->format == BR_FORMAT_AUTO && source->format_count == 0)
		return NULL;
	return "source.format or source.formats says so";
}

const struct br_explained *
br_explainer_look(struct br_explainer *e, const struct br_record *record)
{
	struct br_intake_view *view = &e->view;

	br_ref_free(view->ref);
	br_intake_look(e->intake, record, view);
	for (int i = 0; view->result == BR_INTAKE_WAIT && i < SCHEMA_TRIES &&
	                br_explain_registry_again(e->registry);
	     i++)
		br_intake_look(e->intake, record, view);
	e->out = (struct br_explained){.config = e->config,
	    .record = record,
	    .topic_read = is_read(e->config, record->topic),
	    .stage = "",
	    .decoded = &view->decoded,
	    .origins = &view->origins};
	if (view->route >= 0)
		e->out.route = e->config->routes[view->route].name;
	show(e);
	e->out.format_why = why_format(e);
	return &e->out;
}

const char *
br_explain_outcome_name(enum br_explain_outcome outcome)
{
	switch (outcome) {
	case BR_EXPLAIN_DELIVER:
		return "deliver";
	case BR_EXPLAIN_SKIP:
		return "skip";
	case BR_EXPLAIN_DLQ:
		return "dlq";
	case BR_EXPLAIN_HOLD:
		return "hold";
	}
	return "";
}

const struct br_origin *
br_explained_origin(const struct br_explained *x, const char *field)
{
	const struct br_origins *o = x->origins;

	/* The last one noted is the one that held. */
	for (size_t i = o->count; i > 0; i--)
		if (strcmp(o->item[i - 1].field, field) == 0)
			return &o->item[i - 1];
	return NULL;
}
