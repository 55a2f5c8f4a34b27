/* registry_ask: see the header. */
#include "bridge/source/registry_ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bridge/source/json.h"

#define REFERENCES_MAX 64
/* Where Apicurio speaks as Confluent does. */
#define IMITATION "/apis/ccompat/"
#define REFERENCES_DEPTH 16

/* One look-up at one address. */
struct look {
	const struct br_registry_fetch *fetch;
	struct br_registry_reply *reply;
	const char *base;
	size_t base_len;
	bool apicurio; /* its own API, else Confluent's */
	bool v3;       /* of Apicurio's API */
	struct br_arena arena;
	struct br_buffer seen; /* paths of references, each with a newline */
	size_t references;
};

bool
br_registry_configured(const struct br_config_registry *config)
{
	return config->url.count > 0 || (config->apicurio_url != NULL &&
	                                    config->apicurio_url[0] != '\0');
}

/* Settles the look-up. Always false. */
static bool
settle(struct look *l, enum br_registry_outcome outcome)
{
	l->reply->outcome = outcome;
	return false;
}

static void
add_escaped(struct br_buffer *out, struct br_slice text)
{
	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = text.data[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		             (c >= '0' && c <= '9') || c == '-' || c == '.' ||
		             c == '_' || c == '~';

		br_buffer_format(out, plain ? "%c" : "%%%02X", c);
	}
}

/* ---- asking */

static int
get(struct look *l, const char *path, struct br_buffer *body, char *url,
    size_t size)
{
	struct br_error err = {{0}};
	int status;

	(void)snprintf(url, size, "%.*s%s", (int)l->base_len, l->base, path);
	br_buffer_clear(body);
	status = l->fetch->get(l->fetch->opaque, url, body, &err);
	if (status == 0)
		(void)br_fail(&l->reply->why, "%.300s: %.500s", url, err.text);
	return status;
}

static bool
is_json_error(const struct look *l, const struct br_buffer *body)
{
	struct br_json_object object;
	struct br_json_fault fault;

	if (!br_json_read(
	        (struct br_slice){(const uint8_t *)body->data, body->len}, NULL,
	        &object, &fault))
		return false;
	if (br_json_get(&object, "error_code") != NULL)
		return true;
	/* Apicurio's third API follows RFC 9457. */
	return l->apicurio && br_json_get(&object, "status") != NULL &&
	       br_json_get(&object, "name") != NULL;
}

/*
 * A 404 may also mean that no registry lives there: a wrong path in the
 * configuration must not send every event to the DLQ.
 */
static bool
is_registry(struct look *l, struct br_buffer *body)
{
	char url[1200];

	if (is_json_error(l, body))
		return true;
	return !l->apicurio &&
	       get(l, "/subjects", body, url, sizeof(url)) == 200;
}

/* The body of a path, or the look-up is settled. */
static bool
get_body(struct look *l, const char *path, struct br_buffer *body)
{
	char url[1200];
	int status = get(l, path, body, url, sizeof(url));

	if (status == 200)
		return true;
	if (status == 0)
		return settle(l, BR_REGISTRY_OUTAGE);
	(void)br_fail(
	    &l->reply->why, "%.300s was answered with %d", url, status);
	switch (status) {
	case 404:
		if (!is_registry(l, body)) {
			(void)br_fail(&l->reply->why,
			    "%.300s was answered with 404, and not in the "
			    "words of a schema registry: look at %s",
			    url,
			    l->apicurio ? "registry.apicurio_url"
			                : "registry.url");
			return settle(l, BR_REGISTRY_OUTAGE);
		}
		return settle(l, BR_REGISTRY_NONE);
	case 400:
	case 410:
	case 422:
		/* Without the registry's own words it is a proxy's. */
		if (br_json_peek((struct br_slice){(const uint8_t *)body->data,
		        body->len}) == BR_JSON_OBJECT)
			return settle(l, BR_REGISTRY_NONE);
		break;
	case 401:
	case 403:
		(void)br_fail(&l->reply->why,
		    "%.300s was answered with %d: look at registry.user, "
		    "registry.password and registry.token",
		    url, status);
		break;
	default:
		break;
	}
	return settle(l, BR_REGISTRY_OUTAGE);
}

static void
add_text(struct look *l, struct br_slice text)
{
	struct br_registry_reply *reply = l->reply;
	size_t n = reply->text_count + 1;

	reply->text = realloc(reply->text, n * sizeof(*reply->text));
	if (reply->text == NULL)
		abort();
	reply->text[reply->text_count] = (struct br_buffer){0};
	br_buffer_add(&reply->text[reply->text_count++], text.data, text.len);
}

/* ---- references */

static bool read_schema(struct look *l, const char *path, unsigned depth);

/* Where one reference is; false: the object does not say. */
static bool
reference_path(
    const struct look *l, struct br_slice object_text, struct br_buffer *path)
{
	static const char *const members[2][3] = {
	    {"subject", "version", ""}, {"artifactId", "version", "groupId"}};
	static const char *const places[2][2] = {
	    {"/subjects/", "/versions/"}, {"/artifacts/", "/versions/"}};
	struct br_json_object object;
	struct br_json_fault fault;
	const struct br_json_value *value[3];

	if (!br_json_read(object_text, NULL, &object, &fault))
		return false;
	for (int i = 0; i < 3; i++)
		value[i] = br_json_get(&object, members[l->apicurio][i]);
	if (value[0] == NULL || value[0]->kind != BR_JSON_STRING ||
	    value[1] == NULL)
		return false;
	if (l->apicurio) {
		br_buffer_str(path, "/groups/");
		if (value[2] != NULL && value[2]->kind == BR_JSON_STRING)
			add_escaped(path, br_json_inner(value[2]));
		else
			br_buffer_str(path, "default");
	}
	br_buffer_str(path, places[l->apicurio][0]);
	add_escaped(path, br_json_inner(value[0]));
	br_buffer_str(path, places[l->apicurio][1]);
	add_escaped(path, value[1]->kind == BR_JSON_STRING
	                      ? br_json_inner(value[1])
	                      : value[1]->text);
	return true;
}

/* Has it been read already? Remembers it. */
static bool
seen_before(struct look *l, const struct br_buffer *path)
{
	if (l->seen.len > 0 &&
	    memmem(l->seen.data, l->seen.len, path->data, path->len) != NULL)
		return true;
	br_buffer_add(&l->seen, path->data, path->len);
	return false;
}

static bool
read_references(struct look *l, struct br_slice array, unsigned depth)
{
	struct br_buffer path = {0};
	struct br_json_iter it;
	struct br_json_member m;
	bool ok = true;

	br_json_begin(&it, array, NULL);
	while (ok && br_json_next(&it, &m)) {
		br_buffer_clear(&path);
		br_buffer_str(&path, "\n");
		if (!reference_path(l, m.value.text, &path)) {
			(void)br_fail(&l->reply->why,
			    "a reference of the schema names no place");
			ok = settle(l, BR_REGISTRY_UNUSABLE);
			break;
		}
		br_buffer_str(&path, "\n");
		if (seen_before(l, &path))
			continue;
		if (depth >= REFERENCES_DEPTH ||
		    ++l->references > REFERENCES_MAX) {
			(void)br_fail(&l->reply->why,
			    "the schema has more than %d references, or they "
			    "are more than %d deep",
			    REFERENCES_MAX, REFERENCES_DEPTH);
			ok = settle(l, BR_REGISTRY_UNUSABLE);
			break;
		}
		path.data[path.len - 1] = '\0';
		ok = read_schema(l, path.data + 1, depth + 1);
	}
	br_buffer_free(&path);
	return ok;
}

/* ---- schemas */

/* {"schema": "…", "references": […]}. The schema's own text comes last. */
static bool
take_confluent(struct look *l, struct br_slice body, unsigned depth)
{
	const struct br_json_value *schema = NULL, *kind, *references;
	struct br_json_object object;
	struct br_json_fault fault;
	struct br_slice text;

	if (br_json_read(body, NULL, &object, &fault))
		schema = br_json_get(&object, "schema");
	if (schema == NULL || schema->kind != BR_JSON_STRING ||
	    !br_json_unquote(&l->arena, schema, &text)) {
		(void)br_fail(&l->reply->why,
		    "%.*s: the answer is not one of a schema registry",
		    (int)l->base_len, l->base);
		return settle(l, BR_REGISTRY_OUTAGE);
	}
	kind = br_json_get(&object, "schemaType");
	if (kind != NULL && kind->kind == BR_JSON_STRING &&
	    !br_json_is(kind, br_slice_str("AVRO"))) {
		(void)br_fail(&l->reply->why, "it is of type %.*s, not Avro",
		    kind->text.len < 40 ? (int)kind->text.len : 40,
		    (const char *)kind->text.data);
		return settle(l, BR_REGISTRY_UNUSABLE);
	}
	references = br_json_get(&object, "references");
	if (references != NULL && references->kind == BR_JSON_ARRAY &&
	    !read_references(l, references->text, depth))
		return false;
	add_text(l, text);
	return true;
}

/* The body is the schema; what it refers to stands at a path of its own. */
static bool
take_apicurio(
    struct look *l, const char *path, struct br_slice body, unsigned depth)
{
	struct br_buffer list = {0}, place = {0};
	char url[1200];
	bool ok = true;

	if (br_json_peek(body) == BR_JSON_NONE) {
		bool page = body.len > 0 && body.data[0] == '<';

		(void)br_fail(&l->reply->why, "%.*s: the answer is not JSON",
		    (int)l->base_len, l->base);
		return settle(
		    l, page ? BR_REGISTRY_OUTAGE : BR_REGISTRY_UNUSABLE);
	}
	br_buffer_format(&place, "%s/references", path);
	switch (get(l, place.data, &list, url, sizeof(url))) {
	case 200:
		ok = read_references(l,
		    (struct br_slice){(const uint8_t *)list.data, list.len},
		    depth);
		break;
	case 404: /* none, or a version that knows none */
		break;
	case 0:
		ok = settle(l, BR_REGISTRY_OUTAGE);
		break;
	default:
		(void)br_fail(&l->reply->why, "%.300s was refused", url);
		ok = settle(l, BR_REGISTRY_OUTAGE);
		break;
	}
	if (ok)
		add_text(l, body);
	br_buffer_free(&list);
	br_buffer_free(&place);
	return ok;
}

static bool
read_schema(struct look *l, const char *path, unsigned depth)
{
	struct br_buffer body = {0}, content = {0};
	struct br_slice text;
	bool ok;

	br_buffer_str(&content, path);
	if (l->v3 && depth > 0)
		br_buffer_str(&content, "/content");
	ok = get_body(l, content.data, &body);
	text = (struct br_slice){(const uint8_t *)body.data, body.len};
	if (ok)
		ok = l->apicurio ? take_apicurio(l, path, text, depth)
		                 : take_confluent(l, text, depth);
	br_buffer_free(&body);
	br_buffer_free(&content);
	return ok;
}

/* ---- addresses */

/* Where the schema with this key stands, below the base. */
static void
path_of(const struct look *l, const struct br_schema_key *key, char *path,
    size_t size)
{
	char text[BR_SCHEMA_KEY_TEXT];

	if (key->space == BR_SCHEMA_GUID) {
		br_schema_key_text(key, text);
		(void)snprintf(
		    path, size, "/schemas/guids/%s", strchr(text, ' ') + 1);
		return;
	}
	(void)snprintf(path, size, "%s%" PRIu64,
	    !l->apicurio                     ? "/schemas/ids/"
	    : key->space == BR_SCHEMA_GLOBAL ? "/ids/globalIds/"
	                                     : "/ids/contentIds/",
	    key->id);
}

static void
drop_texts(struct br_registry_reply *reply)
{
	for (size_t i = 0; i < reply->text_count; i++)
		br_buffer_free(&reply->text[i]);
	reply->text_count = 0;
}

/* Asks at one address; false: it could not tell. */
static bool
ask_at(struct look *l, const char *base, const struct br_schema_key *key)
{
	char path[80];

	l->base = base;
	l->base_len = strlen(base);
	while (l->base_len > 0 && base[l->base_len - 1] == '/')
		l->base_len--;
	l->v3 = l->apicurio && strstr(base, "/v3") != NULL;
	l->references = 0;
	br_buffer_clear(&l->seen);
	path_of(l, key, path, sizeof(path));
	if (read_schema(l, path, 0))
		l->reply->outcome = BR_REGISTRY_FOUND;
	else
		drop_texts(l->reply);
	return l->reply->outcome != BR_REGISTRY_OUTAGE;
}

bool
br_registry_has_global(const struct br_config_registry *config)
{
	if (config->apicurio_url != NULL && config->apicurio_url[0] != '\0')
		return true;
	for (size_t i = 0; i < config->url.count; i++)
		if (strstr(config->url.item[i], IMITATION) != NULL)
			return true;
	return false;
}

/* Apicurio's own address behind that of its imitation of Confluent's. */
static bool
own_api(const char *url, struct br_buffer *out)
{
	const char *at = strstr(url, IMITATION);

	if (at == NULL)
		return false;
	br_buffer_clear(out);
	br_buffer_add(out, url, (size_t)(at - url));
	br_buffer_str(out, "/apis/registry/v2");
	return true;
}

static void
ask_apicurio(struct look *l, const struct br_config_registry *config,
    const struct br_schema_key *key)
{
	struct br_buffer base = {0};
	bool asked = false, done = false;

	l->apicurio = true;
	if (config->apicurio_url[0] != '\0') {
		(void)ask_at(l, config->apicurio_url, key);
		return;
	}
	for (size_t i = 0; i < config->url.count && !done; i++)
		if (own_api(config->url.item[i], &base)) {
			asked = true;
			done = ask_at(l, base.data, key);
		}
	br_buffer_free(&base);
	if (asked)
		return;
	(void)br_fail(&l->reply->why,
	    "the record names a global id of Apicurio, and registry.url is "
	    "not Apicurio's: set registry.apicurio_url, or registry.id8 = "
	    "\"content\"");
	(void)settle(l, BR_REGISTRY_OUTAGE);
}

struct br_registry_reply *
br_registry_look_up(const struct br_config_registry *config,
    const struct br_registry_fetch *fetch, const struct br_schema_key *key)
{
	struct br_registry_reply *reply = calloc(1, sizeof(*reply));
	struct look l = {.fetch = fetch, .reply = reply};

	if (reply == NULL)
		abort();
	reply->key = *key;
	if (key->space == BR_SCHEMA_GLOBAL ||
	    (key->space == BR_SCHEMA_CONTENT && config->url.count == 0)) {
		ask_apicurio(&l, config, key);
	} else if (config->url.count == 0) {
		(void)br_fail(&reply->why, "registry.url is not set");
		(void)settle(&l, BR_REGISTRY_OUTAGE);
	}
	for (size_t i = 0;
	     key->space != BR_SCHEMA_GLOBAL && i < config->url.count; i++)
		if (ask_at(&l, config->url.item[i], key))
			break;
	br_buffer_free(&l.seen);
	br_arena_free(&l.arena);
	return reply;
}
