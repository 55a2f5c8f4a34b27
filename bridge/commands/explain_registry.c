/* explain_registry: see the header. */
#include "bridge/commands/explain_registry.h"

#include <poll.h>
#include <stdlib.h>

#include "bridge/base/clock.h"
#include "bridge/http/fetch.h"
#include "bridge/source/registry_ask.h"

/* An id that is not known is asked for again after a second. */
#define PATIENCE_MS 10000

struct br_explain_registry {
	const struct br_config *config;
	struct br_registry *schemas;
	struct br_fetch *fetch;
};

bool
br_explain_registry_wanted(const struct br_config *config)
{
	return br_registry_configured(&config->registry);
}

static int
get(void *opaque, const char *url, struct br_buffer *body, struct br_error *err)
{
	struct br_explain_registry *r = opaque;

	return br_fetch_get(r->fetch, url, body, err);
}

static void
ask(void *opaque, const struct br_schema_key *key)
{
	struct br_explain_registry *r = opaque;
	struct br_registry_fetch fetch = {get, r};

	br_registry_answer(r->schemas,
	    br_registry_look_up(&r->config->registry, &fetch, key),
	    br_clock_mono_ms());
}

struct br_explain_registry *
br_explain_registry_new(const struct br_config *config, struct br_error *err)
{
	const struct br_config_registry *c = &config->registry;
	struct br_fetch_rules rules = {
	    .user = c->user,
	    .password = c->password,
	    .token = c->token,
	    .ca_file = c->ca_file,
	    .timeout_ms = c->timeout_ms,
	    .connect_timeout_ms = c->connect_timeout_ms,
	};
	struct br_explain_registry *r = calloc(1, sizeof(*r));

	if (r == NULL)
		abort();
	r->config = config;
	r->schemas = br_registry_new(ask, r);
	r->fetch = br_fetch_new(&rules, err);
	if (r->fetch != NULL)
		return r;
	br_explain_registry_free(r);
	return NULL;
}

void
br_explain_registry_free(struct br_explain_registry *r)
{
	if (r == NULL)
		return;
	if (r->fetch != NULL)
		br_fetch_free(r->fetch);
	br_registry_free(r->schemas);
	free(r);
}

struct br_registry *
br_explain_registry_schemas(struct br_explain_registry *r)
{
	return r->schemas;
}

bool
br_explain_registry_again(struct br_explain_registry *r)
{
	int64_t now_ms = br_clock_mono_ms(), due_ms;

	if (br_registry_trouble(r->schemas) != NULL)
		return false;
	due_ms = br_registry_step(r->schemas, now_ms);
	/* What is due later than that is another record's. */
	if (due_ms > now_ms + PATIENCE_MS)
		due_ms = now_ms;
	while (now_ms < due_ms) {
		(void)poll(NULL, 0, (int)(due_ms - now_ms));
		now_ms = br_clock_mono_ms();
	}
	(void)br_registry_step(r->schemas, now_ms);
	return br_registry_trouble(r->schemas) == NULL;
}

const char *
br_explain_registry_trouble(const struct br_explain_registry *r)
{
	const char *text = br_registry_trouble(r->schemas);

	return text != NULL ? text : "the registry gives no clear answer";
}
