/* options: see the header. */
#include "options.h"

#include <signal.h>

#include <openssl/x509_vfy.h>

#define DNS_CACHE_S 60L

bool
br_http_global_init(struct br_error *err)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	/* OpenSSL writes when it closes; a peer that is gone must not end the
	 * process. */
	if (sigaction(SIGPIPE, &ignore, NULL) != 0)
		return br_fail(err, "SIGPIPE cannot be ignored");
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return br_fail(err, "libcurl cannot be initialised");
	return true;
}

void
br_http_global_cleanup(void)
{
	curl_global_cleanup();
}

const char *
br_http_version(void)
{
	return curl_version();
}

static bool
ca_file_usable(const char *path, struct br_error *err)
{
	X509_STORE *store = X509_STORE_new();
	bool ok = store != NULL && X509_STORE_load_file(store, path) == 1;

	X509_STORE_free(store);
	return ok || br_fail(err, "%s: no readable PEM certificate", path);
}

bool
br_options_check(const struct br_http_rules *rules, struct br_error *err)
{
	if (rules->ca_file == NULL || rules->ca_file[0] == '\0')
		return true;
	return ca_file_usable(rules->ca_file, err);
}

/* Sets an option that this libcurl must have; false adds up in `ok`. */
#define SET(option, value)                                                     \
	(ok = curl_easy_setopt(easy, (option), (value)) == CURLE_OK && ok)

static bool
set_behaviour(CURL *easy)
{
	bool ok = true;

	SET(CURLOPT_NOSIGNAL, 1L);
	/* Else a slow resolver holds the thread past every time-out. */
	SET(CURLOPT_QUICK_EXIT, 1L);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_HTTP09_ALLOWED, 0L);
	SET(CURLOPT_PATH_AS_IS, 1L);
	SET(CURLOPT_PROXY, ""); /* what the environment names is not ours */
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(CURLOPT_DNS_CACHE_TIMEOUT, DNS_CACHE_S);
	SET(CURLOPT_POST, 1L);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	return ok;
}

static bool
set_rules(
    CURL *easy, const struct br_http_rules *rules, struct curl_slist **resolve)
{
	bool ok = true;

	SET(CURLOPT_TIMEOUT_MS, (long)rules->timeout_ms);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)rules->connect_timeout_ms);
	/* Rounded up: the client's own check is exact, this backs it. */
	SET(CURLOPT_MAXAGE_CONN, (long)((rules->max_idle_ms + 999) / 1000));
	SET(CURLOPT_MAXLIFETIME_CONN,
	    (long)((rules->max_life_ms + 999) / 1000));
	SET(CURLOPT_USERAGENT,
	    rules->user_agent != NULL ? rules->user_agent : BR_HTTP_USER_AGENT);
	if (rules->ca_file != NULL && rules->ca_file[0] != '\0')
		SET(CURLOPT_CAINFO, rules->ca_file);
	if (rules->resolve != NULL) {
		*resolve = curl_slist_append(NULL, rules->resolve);
		SET(CURLOPT_RESOLVE, *resolve);
	}
	return ok;
}

bool
br_options_set(
    CURL *easy, const struct br_http_rules *rules, struct curl_slist **resolve)
{
	return set_behaviour(easy) && set_rules(easy, rules, resolve);
}
