/* client: see the header. */
#include "bridge/http/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "bridge/base/buffer.h"
#include "bridge/base/clock.h"
#include "bridge/base/metrics.h"
#include "bridge/core/url.h"
#include "bridge/http/answer.h"
#include "bridge/http/fields.h"
#include "bridge/http/result.h"
#include "bridge/http/socket.h"

#include "limit.h"
#include "options.h"

/* The kernel gives a connection up only after libcurl had its chance. */
#define USER_TIMEOUT_MARGIN_MS 1000

#define LATE_BYTES 4096

/* At the receiver, for one attempt. */
#define REQUESTS_MAX 2

struct br_http {
	CURL *easy;
	CURLSH *share; /* the connection cache; a new one is an empty one */
	struct curl_slist *resolve;
	struct br_fields fields;
	struct br_buffer url;          /* as set last */
	char origin[BR_HOST_MAX + 40]; /* whose connection is in the cache */
	struct br_socket socket;
	struct br_limit limit;
	int64_t timeout_ms; /* of a whole attempt */
	int64_t timeout_set_ms;
	int64_t max_idle_ms;
	int64_t max_life_ms;
	int64_t used_ms; /* monotonic: end of the last attempt */
	bool custom_method;
	bool progress_on;
	char error_text[CURL_ERROR_SIZE];
	/* of the attempt in progress: */
	const struct br_http_request *request;
	struct br_answer answer; /* to the last request */
	unsigned requests;       /* handed to a connection */
	bool on_reused;          /* the last one went out on a used one */
	bool connected;          /* a connection took the last request */
	bool aborted;
};

static bool
abort_wanted(const struct br_http *h)
{
	const atomic_bool *flag = h->request->abort;

	return flag != NULL && atomic_load(flag);
}

static curl_socket_t
on_open(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct br_http *h = user;

	(void)purpose;
	h->connected = false;
	return br_socket_open(
	    &h->socket, &address->addr, address->socktype, address->protocol);
}

/* What came while we were still sending; inside TLS it cannot be read. */
static void
read_late_answer(struct br_http *h, int fd)
{
	char bytes[LATE_BYTES];
	size_t len;

	if (strncmp(h->request->target, "http:", 5) != 0)
		return;
	len = br_socket_unread(fd, bytes, sizeof(bytes));
	if (len > 0)
		br_answer_late(&h->answer, bytes, len);
}

static int
on_close(void *user, curl_socket_t fd)
{
	struct br_http *h = user;

	if (h->connected && h->answer.head_bytes == 0)
		read_late_answer(h, fd);
	return br_socket_close(&h->socket, fd);
}

/*
 * A connection is about to carry the request. Called again within one
 * perform when libcurl sends it again by itself.
 */
static int
on_request(void *user, char *peer, char *local, int peer_port, int local_port)
{
	struct br_http *h = user;
	bool reused = h->socket.opened == 0;

	(void)peer;
	(void)local;
	(void)peer_port;
	(void)local_port;
	if (h->requests > 0) {
		if (h->requests >= REQUESTS_MAX || !h->on_reused || reused ||
		    h->answer.head_bytes > 0)
			return CURL_PREREQFUNC_ABORT;
		br_metric_add(BR_M_RESENDS, 1);
	}
	h->requests++;
	h->on_reused = reused;
	h->connected = true;
	return CURL_PREREQFUNC_OK;
}

static size_t
on_header(char *line, size_t size, size_t count, void *user)
{
	struct br_http *h = user;
	long status = 0;

	(void)curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
	if (!br_answer_line(&h->answer, line, size * count, (int)status))
		return 0;
	return size * count;
}

static size_t
on_body(char *bytes, size_t size, size_t count, void *user)
{
	struct br_http *h = user;

	return br_answer_body(&h->answer, bytes, size * count) ? size * count
	                                                       : 0;
}

static int
on_progress(void *user, curl_off_t down_total, curl_off_t down,
    curl_off_t up_total, curl_off_t up)
{
	struct br_http *h = user;

	(void)down_total;
	(void)down;
	(void)up_total;
	(void)up;
	if (!abort_wanted(h))
		return 0;
	h->aborted = true;
	return 1;
}

/* Sets an option that this libcurl must have; false adds up in `ok`. */
#define SET(option, value)                                                     \
	(ok = curl_easy_setopt(h->easy, (option), (value)) == CURLE_OK && ok)

static bool
set_callbacks(struct br_http *h)
{
	bool ok = true;

	SET(CURLOPT_ERRORBUFFER, h->error_text);
	SET(CURLOPT_OPENSOCKETFUNCTION, on_open);
	SET(CURLOPT_OPENSOCKETDATA, h);
	SET(CURLOPT_CLOSESOCKETFUNCTION, on_close);
	SET(CURLOPT_CLOSESOCKETDATA, h);
	SET(CURLOPT_PREREQFUNCTION, on_request);
	SET(CURLOPT_PREREQDATA, h);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, h);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, h);
	SET(CURLOPT_XFERINFOFUNCTION, on_progress);
	SET(CURLOPT_XFERINFODATA, h);
	return ok;
}

static void
new_cache(struct br_http *h)
{
	h->share = curl_share_init();
	if (h->share == NULL ||
	    curl_share_setopt(h->share, CURLSHOPT_SHARE,
	        CURL_LOCK_DATA_CONNECT) != CURLSHE_OK ||
	    curl_easy_setopt(h->easy, CURLOPT_SHARE, h->share) != CURLE_OK)
		abort(); /* no memory */
}

static void
drop_cache(struct br_http *h)
{
	(void)curl_easy_setopt(h->easy, CURLOPT_SHARE, NULL);
	(void)curl_share_cleanup(h->share);
	br_socket_reconcile(&h->socket);
}

/* Closes whatever connection is open. */
static void
empty_cache(struct br_http *h)
{
	drop_cache(h);
	new_cache(h);
	h->origin[0] = '\0';
}

struct br_http *
br_http_new(const struct br_http_rules *rules, struct br_error *err)
{
	struct br_http *h;

	if (!br_options_check(rules, err))
		return NULL;
	h = calloc(1, sizeof(*h));
	if (h == NULL || (h->easy = curl_easy_init()) == NULL)
		abort();
	br_socket_init(&h->socket, rules->timeout_ms + USER_TIMEOUT_MARGIN_MS);
	h->timeout_ms = rules->timeout_ms;
	h->timeout_set_ms = rules->timeout_ms;
	h->max_idle_ms = rules->max_idle_ms;
	h->max_life_ms = rules->max_life_ms;
	new_cache(h);
	if (set_callbacks(h) && br_options_set(h->easy, rules, &h->resolve))
		return h;
	(void)br_fail(err, "%s lacks an option that is needed", curl_version());
	br_http_free(h);
	return NULL;
}

void
br_http_free(struct br_http *h)
{
	if (h == NULL)
		return;
	drop_cache(h);
	curl_easy_cleanup(h->easy);
	curl_slist_free_all(h->resolve);
	br_fields_free(&h->fields);
	br_buffer_free(&h->url);
	br_limit_free(&h->limit);
	free(h);
}

/* When the idle connection must be closed. */
static int64_t
due_ms(const struct br_http *h)
{
	int64_t idle_ms = h->used_ms + h->max_idle_ms;
	int64_t life_ms = h->socket.born_ms + h->max_life_ms;

	return idle_ms < life_ms ? idle_ms : life_ms;
}

int64_t
br_http_expire(struct br_http *h, int64_t now_ms)
{
	if (h->socket.fd < 0)
		return INT64_MAX;
	if (now_ms < due_ms(h))
		return due_ms(h);
	empty_cache(h);
	return INT64_MAX;
}

void
br_http_close(struct br_http *h)
{
	if (h->socket.fd >= 0)
		empty_cache(h);
}

/*
 * The connection in the cache serves only the origin it was made for, and a
 * guarded request only one whose address was checked.
 */
static void
turn_to_origin(struct br_http *h, int64_t now_ms)
{
	const struct br_http_request *rq = h->request;
	const char *guard = rq->guard ? "guard " : "";
	size_t n = strlen(guard), len = strlen(rq->target);
	bool same = strncmp(h->origin, guard, n) == 0 &&
	            strcmp(h->origin + n, rq->target) == 0;

	if (h->socket.fd >= 0 && (!same || now_ms >= due_ms(h) ||
	                             br_socket_has_stray_bytes(&h->socket))) {
		empty_cache(h);
		same = false;
	}
	if (!same) {
		if (n + len >= sizeof(h->origin))
			len = 0; /* never equal: its connection is not kept */
		memcpy(h->origin, guard, n);
		memcpy(h->origin + n, rq->target, len);
		h->origin[n + len] = '\0';
	}
	h->socket.guard = rq->guard;
}

/* The URL is parsed and copied by libcurl: only when it is another one. */
static void
set_url(struct br_http *h, const char *url)
{
	struct br_slice text = br_slice_str(url);
	size_t size = text.len * 3 + 1; /* all of it encoded */
	char *wire;

	if (h->url.len == text.len && text.len > 0 &&
	    memcmp(h->url.data, url, text.len) == 0)
		return;
	br_buffer_clear(&h->url);
	br_buffer_str(&h->url, url);
	wire = malloc(size);
	if (wire == NULL)
		abort();
	(void)br_url_encode(text, wire, size);
	if (curl_easy_setopt(h->easy, CURLOPT_URL, wire) != CURLE_OK)
		abort(); /* no memory; the last one's URL must not stay */
	free(wire);
}

static void
set_method(struct br_http *h, const char *method)
{
	bool custom = strcmp(method, "POST") != 0;

	if (custom || h->custom_method)
		(void)curl_easy_setopt(
		    h->easy, CURLOPT_CUSTOMREQUEST, custom ? method : NULL);
	h->custom_method = custom;
}

static void
set_request(struct br_http *h)
{
	const struct br_http_request *rq = h->request;
	bool progress_on = rq->abort != NULL;

	set_url(h, rq->url);
	set_method(h, rq->method);
	/* Length first: without one libcurl would look for a NUL. A NULL
	 * pointer would make it read standard input. */
	(void)curl_easy_setopt(
	    h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)rq->body.len);
	(void)curl_easy_setopt(h->easy, CURLOPT_POSTFIELDS,
	    rq->body.len > 0 ? (const char *)rq->body.data : "");
	(void)curl_easy_setopt(
	    h->easy, CURLOPT_HTTPHEADER, br_fields_build(&h->fields, rq));
	if (progress_on != h->progress_on)
		(void)curl_easy_setopt(
		    h->easy, CURLOPT_NOPROGRESS, progress_on ? 0L : 1L);
	h->progress_on = progress_on;
}

/* What is left of the attempt's time goes to libcurl. */
static void
set_timeout(struct br_http *h, int64_t start_ms)
{
	int64_t left_ms = start_ms + h->timeout_ms - br_clock_mono_ms();

	if (left_ms < 1)
		left_ms = 1;
	if (left_ms == h->timeout_set_ms)
		return;
	(void)curl_easy_setopt(h->easy, CURLOPT_TIMEOUT_MS, (long)left_ms);
	h->timeout_set_ms = left_ms;
}

static CURLcode
perform(struct br_http *h)
{
	CURLcode code;

	br_answer_reset(&h->answer);
	br_limit_attach(&h->limit, &h->answer);
	br_socket_begin(&h->socket);
	h->connected = false;
	h->error_text[0] = '\0';
	code = curl_easy_perform(h->easy);
	if (code != CURLE_OK)
		br_socket_reconcile(&h->socket);
	return code;
}

/* Counts the connection that the last perform made, if it made one. */
static void
count_connection(struct br_http *h)
{
	curl_off_t connect_us = 0;

	if (h->socket.opened == 0)
		return;
	/* A handshake that failed is a connection, too. */
	(void)curl_easy_getinfo(h->easy, CURLINFO_CONNECT_TIME_T, &connect_us);
	if (h->connected || connect_us > 0)
		br_metric_add_label(
		    BR_M_CONNECTIONS_OPENED, h->request->target, 1);
}

/*
 * A receiver may close an idle connection at the very moment we use it.
 * libcurl sends again by itself in some of these cases only; never when the
 * answer had begun, or took too long: then the receiver may be at work.
 */
static bool
may_resend(const struct br_http *h, CURLcode code, int64_t start_ms)
{
	if (code != CURLE_SEND_ERROR && code != CURLE_RECV_ERROR &&
	    code != CURLE_GOT_NOTHING)
		return false;
	return h->requests == 1 && h->on_reused && h->answer.head_bytes == 0 &&
	       !abort_wanted(h) &&
	       br_clock_mono_ms() < start_ms + h->timeout_ms;
}

/*
 * A connection that libcurl would neither use nor close was in the way. That
 * should not happen; without it the request can be made.
 */
static bool
stood_in_own_way(const struct br_http *h, CURLcode code)
{
	return code == CURLE_COULDNT_CONNECT && h->socket.blocked > 0 &&
	       h->requests == 0;
}

static CURLcode
attempt(struct br_http *h, int64_t start_ms)
{
	CURLcode code;

	if (abort_wanted(h)) {
		br_answer_reset(&h->answer);
		br_socket_begin(&h->socket);
		h->aborted = true;
		return CURLE_ABORTED_BY_CALLBACK;
	}
	turn_to_origin(h, start_ms);
	set_request(h);
	set_timeout(h, start_ms);
	code = perform(h);
	count_connection(h);
	if (may_resend(h, code, start_ms) || stood_in_own_way(h, code)) {
		br_http_close(h);
		turn_to_origin(h, start_ms);
		set_timeout(h, start_ms);
		code = perform(h);
		count_connection(h);
	}
	return code;
}

static void
fill(struct br_http *h, CURLcode code, struct br_outcome *out)
{
	struct br_result_facts facts = {.code = (int)code,
	    .text = h->error_text,
	    .aborted = h->aborted,
	    .connected = h->connected,
	    .opened = h->socket.opened,
	    .forbidden = h->socket.forbidden,
	    .blocked = h->socket.blocked};

	if (code != CURLE_OK)
		(void)curl_easy_getinfo(
		    h->easy, CURLINFO_OS_ERRNO, &facts.os_errno);
	br_result_fill(out, &facts, &h->answer);
	if (br_limit_said(&h->limit, &h->answer)) {
		out->throttle_text = true;
		(void)snprintf(out->detail, sizeof(out->detail),
		    "the answer's text matches throttle_match");
	}
	out->request_sent = h->requests > 0;
	out->connection_reused = h->requests > 0 && h->on_reused;
	out->resent = h->requests > 1;
	out->wall_ms = br_clock_wall_ms();
	out->retry_after_given = br_answer_retry_after(
	    &h->answer, out->wall_ms, &out->retry_after_ms);
}

void
br_http_perform(struct br_http *h, const struct br_http_request *request,
    struct br_outcome *out)
{
	int64_t start_ns = br_clock_mono_ns(), end_ns;
	CURLcode code;

	*out = (struct br_outcome){0};
	h->request = request;
	h->requests = 0;
	h->on_reused = false;
	h->connected = false;
	h->aborted = false;
	h->error_text[0] = '\0';
	br_limit_look_for(&h->limit, request->throttle_match);
	code = attempt(h, start_ns / 1000000);
	fill(h, code, out);
	end_ns = br_clock_mono_ns();
	out->seconds = (double)(end_ns - start_ns) / 1e9;
	h->used_ms = end_ns / 1000000;
	h->request = NULL;
	h->connected = false;
}
