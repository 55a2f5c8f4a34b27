/*
 * fuzz_url: what an event or a receiver can bring to the rules of core/. The
 * first line is a URL, the second a Retry-After value, and each further line
 * an entry of delivery.event_urls.
 *
 * Beyond memory faults it aborts when one of these does not hold:
 * - a target parses to itself, and encoding a URL does not change its target;
 * - an encoded URL holds only visible ASCII and is written as announced;
 * - a wait is 0 … BR_RETRY_AFTER_MAX_MS;
 * - the list with the target itself in it allows the URL.
 */
#include <stdlib.h>
#include <string.h>

#include "bridge/core/hosts.h"
#include "bridge/core/retry_after.h"
#include "bridge/core/url.h"

#define ENTRIES 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool holds)
{
	if (!holds)
		abort();
}

/* Cuts the first line off. */
static struct br_slice
next_line(struct br_slice *rest)
{
	struct br_slice line = *rest;
	const uint8_t *end =
	    rest->len > 0 ? memchr(rest->data, '\n', rest->len) : NULL;

	if (end == NULL) {
		*rest = (struct br_slice){rest->data + rest->len, 0};
		return line;
	}
	line.len = (size_t)(end - rest->data);
	*rest = (struct br_slice){end + 1, rest->len - line.len - 1};
	return line;
}

static bool
try_url(struct br_slice text, struct br_url *url)
{
	char wire[3 * BR_URL_MAX + 1], cut[16];
	struct br_error err = {""};
	struct br_url again;
	size_t len;

	if (!br_url_parse(text, BR_URL_MAX, url, &err)) {
		must(err.text[0] != '\0');
		return false;
	}
	must(br_url_parse(br_slice_str(url->target), BR_URL_MAX, &again, &err));
	must(strcmp(again.target, url->target) == 0);
	must(again.https == url->https && again.port == url->port);
	must(strcmp(again.host, url->host) == 0);

	len = br_url_encode(text, wire, sizeof(wire));
	must(len < sizeof(wire) && strlen(wire) == len);
	for (size_t i = 0; i < len; i++)
		must(wire[i] > ' ' && wire[i] <= '~');
	must(br_url_parse(br_slice_str(wire), len, &again, &err));
	must(strcmp(again.target, url->target) == 0);
	must(br_url_encode(text, cut, sizeof(cut)) == len);
	must(strlen(cut) < sizeof(cut));
	must(memcmp(cut, wire, strlen(cut)) == 0);
	return true;
}

static void
try_retry_after(struct br_slice value)
{
	static const int64_t clocks[] = {
	    INT64_MIN, 0, INT64_C(1792567680000), INT64_MAX};
	int64_t wait, date;

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		if (br_retry_after_parse(value, clocks[i], &wait))
			must(wait >= 0 && wait <= BR_RETRY_AFTER_MAX_MS);
		/* Any date is a Retry-After. */
		if (br_http_date_parse(value, clocks[i], &date))
			must(br_retry_after_parse(value, clocks[i], &wait));
	}
}

static void
try_hosts(struct br_slice rest, const struct br_url *url)
{
	char *text[ENTRIES] = {NULL};
	const char *entries[ENTRIES + 1];
	struct br_error err = {""};
	struct br_hosts *h;
	size_t count = 0;

	while (rest.len > 0 && count < ENTRIES) {
		struct br_slice line = next_line(&rest);

		text[count] = calloc(1, line.len + 1);
		must(text[count] != NULL);
		memcpy(text[count], line.data, line.len);
		/* One by one, so that a bad one does not hide the others. */
		entries[count] = text[count];
		h = br_hosts_new(&entries[count], 1, &err);
		must(h != NULL || err.text[0] != '\0');
		if (h != NULL)
			count++;
		else
			free(text[count]);
		br_hosts_free(h);
	}
	entries[count] = url != NULL ? url->target : "http://a.test";
	h = br_hosts_new(entries, count + 1, &err);
	must(h != NULL);
	if (url != NULL)
		must(br_hosts_check(h, url) != BR_HOST_FORBIDDEN);
	br_hosts_free(h);
	while (count > 0)
		free(text[--count]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct br_slice rest = {data, size};
	struct br_slice first = next_line(&rest);
	struct br_slice second = next_line(&rest);
	struct br_url url;
	bool parsed = try_url(first, &url);

	try_retry_after(second);
	try_hosts(rest, parsed ? &url : NULL);
	return 0;
}
