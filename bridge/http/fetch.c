/* fetch: see the header. */
#include "bridge/http/fetch.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "bridge/core/url.h"
#include "bridge/http/client.h"

#include "options.h"

#define POLL_MS 1000

struct br_fetch {
	CURLM *multi;
	CURL *easy;
	struct curl_slist *headers;
	struct br_buffer *body; /* of the GET under way */
	bool too_long;
	atomic_bool abort;
	char error_text[CURL_ERROR_SIZE];
};

static size_t
on_body(char *bytes, size_t size, size_t count, void *user)
{
	struct br_fetch *f = user;

	f->too_long = f->body->len + size * count > BR_FETCH_MAX;
	if (f->too_long)
		return 0;
	br_buffer_add(f->body, bytes, size * count);
	return size * count;
}

/* Sets an option that this libcurl must have; false adds up in `ok`. */
#define SET(option, value)                                                     \
	(ok = curl_easy_setopt(f->easy, (option), (value)) == CURLE_OK && ok)

static bool
set_behaviour(struct br_fetch *f, const struct br_fetch_rules *rules)
{
	bool ok = true;

	SET(CURLOPT_NOSIGNAL, 1L);
	/* Else a slow resolver holds the thread past every time-out. */
	SET(CURLOPT_QUICK_EXIT, 1L);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_HTTP09_ALLOWED, 0L);
	SET(CURLOPT_PROXY, ""); /* what the environment names is not ours */
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(CURLOPT_HTTPGET, 1L);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	if (rules->ca_file[0] != '\0') {
		SET(CURLOPT_CAINFO, rules->ca_file);
		SET(CURLOPT_CAPATH, NULL);
	}
	SET(CURLOPT_TIMEOUT_MS, (long)rules->timeout_ms);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)rules->connect_timeout_ms);
	SET(CURLOPT_ERRORBUFFER, f->error_text);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, f);
	return ok;
}

/* User and password, or a token; never both (config/combine). */
static bool
set_headers(struct br_fetch *f, const struct br_fetch_rules *rules)
{
	struct br_buffer bearer = {0};
	bool ok = true;

	f->headers = curl_slist_append(NULL,
	    "Accept: application/vnd.schemaregistry.v1+json, application/json");
	if (rules->token[0] != '\0') {
		br_buffer_format(
		    &bearer, "Authorization: Bearer %s", rules->token);
		f->headers = curl_slist_append(f->headers, bearer.data);
		br_buffer_free(&bearer);
	} else if (rules->user[0] != '\0') {
		SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		SET(CURLOPT_USERNAME, rules->user);
		SET(CURLOPT_PASSWORD, rules->password);
	}
	SET(CURLOPT_HTTPHEADER, f->headers);
	SET(CURLOPT_USERAGENT, "outbox-bridge/" BRIDGE_VERSION);
	return ok && f->headers != NULL;
}

struct br_fetch *
br_fetch_new(const struct br_fetch_rules *rules, struct br_error *err)
{
	struct br_http_rules tls = {.ca_file = rules->ca_file};
	struct br_fetch *f;

	if (!br_options_check(&tls, err))
		return NULL;
	f = calloc(1, sizeof(*f));
	if (f == NULL || (f->easy = curl_easy_init()) == NULL ||
	    (f->multi = curl_multi_init()) == NULL)
		abort(); /* no memory */
	if (set_behaviour(f, rules) && set_headers(f, rules))
		return f;
	(void)br_fail(err, "%s lacks an option that is needed", curl_version());
	br_fetch_free(f);
	return NULL;
}

void
br_fetch_free(struct br_fetch *f)
{
	if (f == NULL)
		return;
	curl_easy_cleanup(f->easy);
	(void)curl_multi_cleanup(f->multi);
	curl_slist_free_all(f->headers);
	free(f);
}

void
br_fetch_abort(struct br_fetch *f)
{
	atomic_store(&f->abort, true);
	(void)curl_multi_wakeup(f->multi);
}

/* Runs the transfer to its end; false: aborted. */
static bool
run(struct br_fetch *f, CURLcode *code)
{
	int running = 1, left;
	CURLMsg *message;

	*code = CURLE_FAILED_INIT;
	while (running > 0) {
		if (atomic_load(&f->abort))
			return false;
		if (curl_multi_perform(f->multi, &running) != CURLM_OK ||
		    (running > 0 && curl_multi_poll(f->multi, NULL, 0, POLL_MS,
		                        NULL) != CURLM_OK))
			return true;
	}
	while ((message = curl_multi_info_read(f->multi, &left)) != NULL)
		if (message->msg == CURLMSG_DONE)
			*code = message->data.result;
	return true;
}

/* What is not ASCII goes out percent-encoded. */
static bool
set_url(struct br_fetch *f, const char *url)
{
	size_t size = 3 * strlen(url) + 1;
	char *wire = malloc(size);
	bool ok;

	if (wire == NULL)
		abort();
	(void)br_url_encode(br_slice_str(url), wire, size);
	ok = curl_easy_setopt(f->easy, CURLOPT_URL, wire) == CURLE_OK;
	free(wire);
	return ok;
}

int
br_fetch_get(struct br_fetch *f, const char *url, struct br_buffer *body,
    struct br_error *err)
{
	CURLcode code = CURLE_OK;
	long status = 0;
	bool whole;

	f->body = body;
	f->too_long = false;
	f->error_text[0] = '\0';
	if (!set_url(f, url) ||
	    curl_multi_add_handle(f->multi, f->easy) != CURLM_OK)
		abort(); /* no memory */
	whole = run(f, &code);
	(void)curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &status);
	(void)curl_multi_remove_handle(f->multi, f->easy);
	if (!whole)
		(void)br_fail(err, "aborted");
	else if (f->too_long)
		(void)br_fail(
		    err, "the answer is larger than %d bytes", BR_FETCH_MAX);
	else if (code != CURLE_OK)
		(void)br_fail(err, "%s",
		    f->error_text[0] != '\0' ? f->error_text
		                             : curl_easy_strerror(code));
	else
		return (int)status;
	return 0;
}
