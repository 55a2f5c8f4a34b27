/* check: see the header. */
#include "bridge/config/check.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "bridge/core/phrase.h"
#include "bridge/core/url.h"

#define TOPIC_MAX 249 /* Kafka's own limit */

static bool
is_topic_char(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

bool
br_check_topic(const char *text, struct br_error *err)
{
	size_t len = strlen(text);

	if (len == 0)
		return br_fail(err, "a topic needs a name");
	if (len > TOPIC_MAX)
		return br_fail(err,
		    "a topic's name has at most %d characters, this has %zu",
		    TOPIC_MAX, len);
	if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0)
		return br_fail(err, "Kafka allows no topic \"%s\"", text);
	for (const char *p = text; *p != '\0'; p++)
		if (!is_topic_char(*p))
			return br_fail(err,
			    "\"%s\" is no topic name: letters, digits, '.', "
			    "'_' and '-' only",
			    text);
	return true;
}

bool
br_check_pattern(const char *text, struct br_error *err)
{
	struct br_pattern *p;

	if (*text == '\0')
		return br_fail(err, "an empty pattern matches nothing");
	p = br_pattern_new(text, err);
	br_pattern_free(p);
	return p != NULL;
}

bool
br_check_topic_list(const char *text, struct br_error *err)
{
	if (br_pattern_is_wild(text))
		return br_check_pattern(text, err);
	return br_check_topic(text, err);
}

bool
br_check_phrase(const char *text, struct br_error *err)
{
	struct br_phrase *p;

	if (*text == '\0')
		return true;
	p = br_phrase_new(text, err);
	br_phrase_free(p);
	return p != NULL;
}

bool
br_check_url(const char *text, struct br_error *err)
{
	struct br_url url;

	/* "" stands for none. */
	return *text == '\0' ||
	       br_url_parse(br_slice_str(text), BR_URL_MAX, &url, err);
}

bool
br_check_event_url(const char *text, struct br_error *err)
{
	const char *const entries[] = {text};
	struct br_hosts *h = br_hosts_new(entries, 1, err);

	br_hosts_free(h);
	return h != NULL;
}

/* Length of the header name that `text` begins with (RFC 9110, token). */
static size_t
token_len(const char *text)
{
	return strspn(text,
	    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

bool
br_check_token(const char *text, struct br_error *err)
{
	static const char *const ours[] = {"Content-Type", "Content-Length",
	    "Host", "Connection", "Transfer-Encoding", "Expect", "User-Agent",
	    "Traceparent", "Tracestate"};

	if (*text == '\0' || text[token_len(text)] != '\0')
		return br_fail(err,
		    "\"%s\" is no name of an HTTP header: no spaces, no ':'",
		    text);
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (strcasecmp(text, ours[i]) == 0)
			return br_fail(err,
			    "the header %s has a meaning of its own and cannot "
			    "carry the key",
			    ours[i]);
	return true;
}

bool
br_check_header_match(const char *text, struct br_error *err)
{
	const char *equals = strchr(text, '=');

	if (equals == NULL || equals == text)
		return br_fail(err,
		    "a header is matched by \"name=value\", where value may "
		    "be a pattern");
	return br_check_pattern(equals + 1, err);
}

bool
br_check_file(const char *text, struct br_error *err)
{
	if (*text != '\0' && access(text, R_OK) != 0)
		return br_fail(err, "the file %s cannot be read: %m", text);
	return true;
}

/* Properties that have a key of ours, or a value that must not change. */
static const struct {
	const char *name;
	const char *instead;
} taken[] = {
    {"enable.auto.commit", "it is always false: the bridge commits itself"},
    {"auto.commit.enable", "it is always false: the bridge commits itself"},
    {"enable.auto.offset.store",
        "it is always false: the bridge commits itself"},
    {"isolation.level",
        "it is always read_committed: aborted events are never sent"},
    {"auto.offset.reset", "use kafka.start and kafka.on_gap"},
    {"group.id", "use kafka.group"},
    {"group.instance.id", "use kafka.instance"},
    {"bootstrap.servers", "use kafka.brokers"},
    {"metadata.broker.list", "use kafka.brokers"},
};

bool
br_check_property(const char *text, struct br_error *err)
{
	const char *name = text;
	size_t len;

	if (strncmp(name, "consumer.", 9) == 0 ||
	    strncmp(name, "producer.", 9) == 0)
		name += 9;
	len = strcspn(name, "=");
	/* What stands there may be a secret whose name got lost. */
	if (name[len] != '=' || len == 0)
		return br_fail(err,
		    "a property is written \"name=value\"; there is no "
		    "'=' (or no name before it)");
	for (size_t i = 0; i < len; i++)
		if (!is_topic_char(name[i]))
			return br_fail(err,
			    "a property is written \"name=value\", without "
			    "spaces in the name");
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (strlen(taken[i].name) == len &&
		    strncasecmp(taken[i].name, name, len) == 0)
			return br_fail(err, "%s cannot be set here; %s",
			    taken[i].name, taken[i].instead);
	return true;
}
