/* request: see the header. */
#include "bridge/http/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/base/hash.h"

struct br_request_rules {
	bool structured; /* the key as a quoted string */
	bool private_networks;
	size_t key_header_count;
	char *key_header[BR_REQUEST_KEY_HEADERS];
};

struct br_request_rules *
br_request_rules_new(const struct br_config *config)
{
	const struct br_strings *names = &config->delivery.idempotency_headers;
	struct br_request_rules *r = calloc(1, sizeof(*r));

	if (r == NULL)
		abort();
	r->structured = config->delivery.idempotency_sf;
	r->private_networks = config->delivery.private_networks;
	r->key_header_count = names->count < BR_REQUEST_KEY_HEADERS
	                          ? names->count
	                          : BR_REQUEST_KEY_HEADERS;
	for (size_t i = 0; i < r->key_header_count; i++) {
		r->key_header[i] = strdup(names->item[i]);
		if (r->key_header[i] == NULL)
			abort();
	}
	return r;
}

void
br_request_rules_free(struct br_request_rules *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < r->key_header_count; i++)
		free(r->key_header[i]);
	free(r);
}

/* Only 0x20 to 0x7E: what HTTP carries everywhere, and no line end. */
static bool
is_plain(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text < 0x20 || *text > 0x7e)
			return false;
	}
	return true;
}

/* A receiver would strip spaces at the ends, and see another key. */
static bool
has_outer_space(const char *text)
{
	size_t len = strlen(text);

	return len > 0 && (text[0] == ' ' || text[len - 1] == ' ');
}

/* "text" with quotes and backslashes escaped; false when it does not fit. */
static bool
quote(const char *text, char *out, size_t size)
{
	size_t n = 0;

	out[n++] = '"';
	for (; *text != '\0'; text++) {
		/* room for an escape, the closing quote and the NUL */
		if (n + 4 > size)
			return false;
		if (*text == '"' || *text == '\\')
			out[n++] = '\\';
		out[n++] = *text;
	}
	out[n++] = '"';
	out[n] = '\0';
	return true;
}

/* The same key gives the same text for ever: receivers compare it. */
static void
write_key(bool structured, const char *key, char *out, size_t size)
{
	char hex[BR_SHA256_HEX];
	const char *mark = structured ? "\"" : "";

	if (is_plain(key)) {
		if (structured && quote(key, out, size))
			return;
		if (!structured && !has_outer_space(key) &&
		    strlen(key) < size) {
			memcpy(out, key, strlen(key) + 1);
			return;
		}
	}
	br_sha256_hex(key, strlen(key), hex);
	(void)snprintf(out, size, "%ssha256-%s%s", mark, hex, mark);
}

static void
add(struct br_request *out, const char *name, const char *value)
{
	out->header[out->http.header_count++] =
	    (struct br_http_header){.name = name, .value = value};
}

static void
add_content_type(struct br_request *out, const char *type)
{
	bool usable = type != NULL && type[0] != '\0' && is_plain(type);

	add(out, "Content-Type", usable ? type : "application/octet-stream");
}

static void
add_trace(struct br_request *out, const struct br_event *ev)
{
	if (ev->traceparent == NULL || !is_plain(ev->traceparent))
		return;
	add(out, "traceparent", ev->traceparent);
	if (ev->tracestate != NULL && is_plain(ev->tracestate))
		add(out, "tracestate", ev->tracestate);
}

void
br_request_build(const struct br_request_rules *rules,
    const struct br_event *event, struct br_request *out)
{
	out->http = (struct br_http_request){.method = "POST",
	    .url = event->url,
	    .target = event->target,
	    .headers = out->header,
	    .body = event->body,
	    .guard = event->url_from_event && !event->literal_host &&
	             !rules->private_networks};
	write_key(rules->structured, event->idempotency_key, out->key,
	    sizeof(out->key));
	for (size_t i = 0; i < rules->key_header_count; i++)
		add(out, rules->key_header[i], out->key);
	add_content_type(out, event->content_type);
	add_trace(out, event);
}

/* As libcurl writes it: the host as the URL spells it, and its port unless it
 * is the scheme's own. */
static void
write_host(const char *url, char *out, size_t size)
{
	const char *host = strstr(url, "://") + 3;
	size_t len = strcspn(host, "/?#");
	const char *standard = strncmp(url, "https", 5) == 0 ? ":443" : ":80";
	size_t n = strlen(standard);

	if (len > n && memcmp(host + len - n, standard, n) == 0)
		len -= n;
	(void)snprintf(out, size, "%.*s", (int)len, host);
}

static void
list(struct br_request_wire *out, const char *name, const char *value)
{
	out->header[out->count++] =
	    (struct br_http_header){.name = name, .value = value};
}

void
br_request_list(const struct br_request *request, struct br_request_wire *out)
{
	const struct br_http_request *http = &request->http;

	out->count = 0;
	write_host(http->url, out->host, sizeof(out->host));
	(void)snprintf(
	    out->length, sizeof(out->length), "%zu", http->body.len);
	list(out, "Host", out->host);
	list(out, "User-Agent", BR_HTTP_USER_AGENT);
	for (size_t i = 0; i < http->header_count; i++)
		list(out, http->headers[i].name, http->headers[i].value);
	list(out, "Content-Length", out->length);
}
