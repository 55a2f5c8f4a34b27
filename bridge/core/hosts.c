/* hosts: see the header. */
#include "bridge/core/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	bool https;
	bool wild;    /* *. in front, not part of `host` */
	bool literal; /* not wild, and is_literal() */
	uint16_t port;
	size_t host_len;
	char host[BR_HOST_MAX + 1];
};

struct br_hosts {
	size_t count;
	struct entry entry[];
};

static bool
ends_in(const char *text, size_t len, const char *end, size_t end_len)
{
	return len > end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

/* The last label is a number: resolvers read such a host as an address. */
static bool
ends_in_number(const char *host)
{
	const char *last = strrchr(host, '.');

	last = last != NULL ? last + 1 : host;
	return last[strspn(last, "0123456789")] == '\0';
}

/* The host names this machine or an address itself. */
static bool
is_literal(const struct br_url *url)
{
	static const char name[] = "localhost", end[] = ".localhost";

	return strcmp(url->host, name) == 0 ||
	       ends_in(url->host, strlen(url->host), end, sizeof(end) - 1) ||
	       br_url_is_address(url);
}

/* Length of the scheme that is written, or 0. */
static size_t
scheme_len(const char *text)
{
	const char *mark = strstr(text, "://");

	return mark != NULL ? (size_t)(mark - text) + 3 : 0;
}

static bool
parse_entry(const char *text, struct entry *e, struct br_error *err)
{
	size_t scheme = scheme_len(text);
	const char *host = text + scheme;
	char plain[BR_URL_MAX + 1];
	struct br_url url;

	if (strpbrk(host, "/?") != NULL && strchr(host, '@') == NULL)
		return br_fail(err,
		    "only a host and a port are meant: no '/', no path, no"
		    " '?'");
	e->wild = strncmp(host, "*.", 2) == 0;
	if (e->wild)
		host += 2;
	if (strchr(host, '*') != NULL)
		return br_fail(err,
		    "'*' may only stand in front, as \"*.\", for one or more"
		    " names");
	if (snprintf(plain, sizeof(plain), "%.*s%s",
	        scheme > 0 ? (int)scheme : (int)sizeof("https://") - 1,
	        scheme > 0 ? text : "https://", host) >= (int)sizeof(plain))
		return br_fail(err, "longer than %d bytes", BR_URL_MAX);
	if (!br_url_parse(br_slice_str(plain), BR_URL_MAX, &url, err))
		return false;
	if (e->wild && (url.host[0] == '[' || ends_in_number(url.host)))
		return br_fail(
		    err, "\"*.\" stands before names, not before addresses");
	e->https = url.https;
	e->port = url.port;
	e->host_len = strlen(url.host);
	memcpy(e->host, url.host, e->host_len + 1);
	e->literal = !e->wild && is_literal(&url);
	return true;
}

struct br_hosts *
br_hosts_new(const char *const *entries, size_t count, struct br_error *err)
{
	struct br_hosts *h =
	    calloc(1, sizeof(*h) + count * sizeof(h->entry[0]));
	struct br_error why;

	if (h == NULL)
		abort();
	for (; h->count < count; h->count++) {
		const char *text = entries[h->count];

		if (parse_entry(text, &h->entry[h->count], &why))
			continue;
		/* An entry with an '@' may hold a password. */
		(void)br_fail(err, "entry %zu (\"%.100s\"): %.500s",
		    h->count + 1, strchr(text, '@') == NULL ? text : "…@…",
		    why.text);
		br_hosts_free(h);
		return NULL;
	}
	return h;
}

void
br_hosts_free(struct br_hosts *h)
{
	free(h);
}

bool
br_hosts_empty(const struct br_hosts *h)
{
	return h->count == 0;
}

static bool
entry_matches(const struct entry *e, const struct br_url *url, size_t host_len)
{
	if (e->https != url->https || e->port != url->port)
		return false;
	if (!e->wild)
		return host_len == e->host_len &&
		       memcmp(url->host, e->host, host_len) == 0;
	/* A label in front and its dot: at least two bytes more. */
	return host_len > e->host_len + 1 &&
	       url->host[host_len - e->host_len - 1] == '.' &&
	       ends_in(url->host, host_len, e->host, e->host_len);
}

enum br_host_rule
br_hosts_check(const struct br_hosts *h, const struct br_url *url)
{
	enum br_host_rule rule = BR_HOST_FORBIDDEN;
	size_t host_len = strlen(url->host);

	for (size_t i = 0; i < h->count; i++) {
		if (!entry_matches(&h->entry[i], url, host_len))
			continue;
		/* An entry that means the address itself wins over one that
		 * only covers it, in whatever order they stand. */
		if (h->entry[i].literal)
			return BR_HOST_ALLOWED_LITERALLY;
		rule = BR_HOST_ALLOWED;
	}
	return rule;
}
