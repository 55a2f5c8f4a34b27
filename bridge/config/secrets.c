/* secrets: see the header. */
#include "bridge/config/secrets.h"

#include <stdlib.h>
#include <string.h>

#include "bridge/config/file.h"

/* The value of an environment variable, or its default. */
static bool
add_env(
    const char *body, size_t len, struct br_buffer *out, struct br_error *err)
{
	const char *preset = memmem(body, len, ":-", 2);
	size_t name_len = preset != NULL ? (size_t)(preset - body) : len;
	char name[256];
	const char *got;

	if (name_len == 0 || name_len >= sizeof(name))
		return br_fail(err, "${env:NAME} needs the name of an "
		                    "environment variable");
	memcpy(name, body, name_len);
	name[name_len] = '\0';
	got = getenv(name);
	if (preset != NULL && (got == NULL || *got == '\0'))
		br_buffer_add(out, preset + 2, len - name_len - 2);
	else if (got != NULL)
		br_buffer_str(out, got);
	else
		return br_fail(err,
		    "the environment variable %s is not set; set it, or give "
		    "a default: ${env:%s:-DEFAULT}",
		    name, name);
	return true;
}

/* The content of a file, without one newline at its end. */
static bool
add_file(
    const char *body, size_t len, struct br_buffer *out, struct br_error *err)
{
	size_t start = out->len;
	const char *reason;
	char path[512];

	if (len == 0 || len >= sizeof(path))
		return br_fail(err, "${file:PATH} needs the path of a file");
	memcpy(path, body, len);
	path[len] = '\0';
	if (!br_file_read(path, out, &reason))
		return br_fail(
		    err, "${file:%s} cannot be read: %s", path, reason);
	if (out->len == start)
		return true;
	if (memchr(out->data + start, '\0', out->len - start) != NULL)
		return br_fail(err, "${file:%s} holds a NUL byte", path);
	if (out->data[out->len - 1] == '\n')
		out->len--;
	if (out->len > start && out->data[out->len] == '\n' &&
	    out->data[out->len - 1] == '\r')
		out->len--;
	out->data[out->len] = '\0';
	return true;
}

/* One reference between its braces. */
static bool
add_reference(
    const char *body, size_t len, struct br_buffer *out, struct br_error *err)
{
	if (len >= 4 && memcmp(body, "env:", 4) == 0)
		return add_env(body + 4, len - 4, out, err);
	if (len >= 5 && memcmp(body, "file:", 5) == 0)
		return add_file(body + 5, len - 5, out, err);
	return br_fail(err,
	    "a reference is written ${env:NAME}, ${env:NAME:-DEFAULT} or "
	    "${file:PATH}; for a literal \"${\" write \"$${\"");
}

bool
br_secrets_expand(const char *text, struct br_buffer *out,
    struct br_expanded *how, struct br_error *err)
{
	const char *p = text;

	*how = (struct br_expanded){false, false};
	br_buffer_str(out, "");
	while (*p != '\0') {
		const char *close;

		if (strncmp(p, "$${", 3) == 0) {
			br_buffer_str(out, "${");
			p += 3;
			continue;
		}
		if (strncmp(p, "${", 2) != 0) {
			br_buffer_add(out, p++, 1);
			continue;
		}
		close = strchr(p, '}');
		if (close == NULL)
			return br_fail(err,
			    "the reference that begins with \"${\" has no "
			    "'}'; for a literal \"${\" write \"$${\"");
		if (!add_reference(p + 2, (size_t)(close - p) - 2, out, err))
			return false;
		how->referenced = true;
		how->whole = p == text && close[1] == '\0';
		p = close + 1;
	}
	return true;
}

bool
br_secrets_is_property(const char *name, size_t len)
{
	static const char *const words[] = {
	    "password", "secret", "token", "credential", "passphrase"};
	static const char *const whole[] = {"ssl.key.pem", "ssl_key",
	    "ssl.keystore.pem", "sasl.jaas.config", "sasl.oauthbearer.config",
	    "sasl.oauthbearer.assertion.private.key.pem"};
	char low[128];

	/* Nothing known is that long: whatever it is, do not show it. */
	if (len >= sizeof(low))
		return true;
	for (size_t i = 0; i < len; i++)
		low[i] = (char)(name[i] >= 'A' && name[i] <= 'Z'
		                    ? name[i] + ('a' - 'A')
		                    : name[i]);
	low[len] = '\0';
	/* Where a token is fetched is no secret, the token is. */
	if (strstr(low, "token.endpoint.url") != NULL)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(low, words[i]) != NULL)
			return true;
	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++) {
		size_t tail = strlen(whole[i]);

		if (len >= tail && strcmp(low + len - tail, whole[i]) == 0)
			return true;
	}
	return false;
}

void
br_secrets_mask_property(
    const char *property, bool referenced, struct br_buffer *out)
{
	size_t len = strcspn(property, "=");

	if (!referenced && !br_secrets_is_property(property, len)) {
		br_buffer_str(out, property);
		return;
	}
	br_buffer_add(out, property, len);
	br_buffer_str(out, "=***");
}

void
br_secrets_mask_url(const char *url, bool referenced, struct br_buffer *out)
{
	const char *host = strstr(url, "://");
	size_t authority, path;
	const char *at;

	if (host == NULL) {
		br_buffer_str(out, *url != '\0' ? "***" : "");
		return;
	}
	host += 3;
	br_buffer_add(out, url, (size_t)(host - url));
	authority = strcspn(host, "/?#");
	at = memrchr(host, '@', authority);
	if (at != NULL) {
		br_buffer_str(out, "***@");
		authority -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	br_buffer_add(out, host, authority);
	host += authority;
	path = strcspn(host, "?#");
	if (referenced && *host != '\0') {
		br_buffer_str(out, "/***");
		return;
	}
	br_buffer_add(out, host, path);
	if (host[path] != '\0')
		br_buffer_format(out, "%c***", host[path]);
}
