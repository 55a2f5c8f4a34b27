/* post: see the header. */
#include "post.h"

#include <curl/curl.h>
#include <stdlib.h>

struct post {
	CURL *easy;
	struct curl_slist *headers;
};

static size_t
ignore(char *bytes, size_t size, size_t count, void *user)
{
	(void)bytes;
	(void)user;
	return size * count;
}

struct post *
post_new(const char *url)
{
	struct post *p = calloc(1, sizeof(*p));

	if (p == NULL || (p->easy = curl_easy_init()) == NULL)
		abort();
	p->headers = curl_slist_append(NULL, "Content-Type: application/json");
	p->headers = curl_slist_append(p->headers, "Expect:");
	(void)curl_easy_setopt(p->easy, CURLOPT_URL, url);
	(void)curl_easy_setopt(p->easy, CURLOPT_HTTPHEADER, p->headers);
	(void)curl_easy_setopt(p->easy, CURLOPT_WRITEFUNCTION, ignore);
	(void)curl_easy_setopt(p->easy, CURLOPT_NOSIGNAL, 1L);
	return p;
}

void
post_free(struct post *p)
{
	curl_easy_cleanup(p->easy);
	curl_slist_free_all(p->headers);
	free(p);
}

bool
post_send(struct post *p, const void *body, size_t len)
{
	(void)curl_easy_setopt(p->easy, CURLOPT_POSTFIELDSIZE, (long)len);
	(void)curl_easy_setopt(p->easy, CURLOPT_POSTFIELDS, body);
	return curl_easy_perform(p->easy) == CURLE_OK;
}
