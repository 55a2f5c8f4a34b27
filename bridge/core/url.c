/* url: see the header. */
#include "bridge/core/url.h"

#include <stdio.h>
#include <string.h>

static bool
is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static uint8_t
to_lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

static bool
is_letter(uint8_t c)
{
	return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}

static bool
is_hex(uint8_t c)
{
	return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'f');
}

static struct br_slice
skip(struct br_slice s, size_t count)
{
	return (struct br_slice){s.data + count, s.len - count};
}

/* Index of the first byte that is one of `set`, or the length. */
static size_t
find_any(struct br_slice s, const char *set)
{
	size_t i;

	for (i = 0; i < s.len; i++)
		if (strchr(set, s.data[i]) != NULL)
			break;
	return i;
}

/* Four numbers 0..255 as inet_ntop writes them, without leading zeros. */
static bool
is_dotted_quad(struct br_slice s)
{
	for (int part = 0; part < 4; part++) {
		int number = 0;
		size_t digits = 0;

		if (part > 0) {
			if (s.len == 0 || s.data[0] != '.')
				return false;
			s = skip(s, 1);
		}
		while (digits < s.len && digits < 3 && is_digit(s.data[digits]))
			number = number * 10 + (s.data[digits++] - '0');
		if (digits == 0 || number > 255 ||
		    (digits > 1 && s.data[0] == '0'))
			return false;
		s = skip(s, digits);
	}
	return s.len == 0;
}

/*
 * Counts the 16-bit groups of a colon-separated list; -1 when it is none. The
 * empty list has none. A dotted quad, allowed as the last one, counts for two.
 */
static int
count_groups(struct br_slice s, bool quad_allowed)
{
	int count = 0;

	if (s.len == 0)
		return 0;
	for (;;) {
		size_t digits = 0;

		if (quad_allowed && is_dotted_quad(s))
			return count + 2;
		while (digits < s.len && digits < 4 && is_hex(s.data[digits]))
			digits++;
		if (digits == 0)
			return -1;
		count++;
		s = skip(s, digits);
		if (s.len == 0)
			return count;
		if (s.data[0] != ':')
			return -1;
		s = skip(s, 1);
	}
}

/* The text form of RFC 4291, 2.2; no zone. */
static bool
is_ipv6(struct br_slice s)
{
	for (size_t i = 0; i + 1 < s.len; i++) {
		int head, tail;

		if (s.data[i] != ':' || s.data[i + 1] != ':')
			continue;
		head = count_groups((struct br_slice){s.data, i}, false);
		tail = count_groups(skip(s, i + 2), true);
		return head >= 0 && tail >= 0 && head + tail <= 7;
	}
	return count_groups(s, true) == 8;
}

/*
 * The texts of all failures name no part of the URL but single bytes of the
 * host: what stands where the host should be may be a secret.
 */
static bool
check_bytes(struct br_slice text, size_t max, struct br_error *err)
{
	if (text.len == 0)
		return br_fail(err, "the URL is empty");
	if (text.len > max)
		return br_fail(err,
		    "the URL has %zu bytes, more than the %zu allowed",
		    text.len, max);
	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = text.data[i];

		if (c <= ' ' || c == 0x7F)
			return br_fail(err,
			    "the URL holds a space or control character (0x%02X"
			    " at byte %zu): write it percent-encoded",
			    c, i + 1);
		if (c == '#')
			return br_fail(err,
			    "the URL has a fragment ('#' at byte %zu), which"
			    " is never sent: leave it out, or write %%23",
			    i + 1);
	}
	return true;
}

/* Cuts `prefix`, in whatever case, off the front. */
static bool
take_prefix(struct br_slice *text, const char *prefix)
{
	size_t len = strlen(prefix);

	if (text->len < len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (to_lower(text->data[i]) != (uint8_t)prefix[i])
			return false;
	*text = skip(*text, len);
	return true;
}

static bool
take_scheme(struct br_slice *text, bool *https, struct br_error *err)
{
	*https = take_prefix(text, "https://");
	if (*https || take_prefix(text, "http://"))
		return true;
	return br_fail(err, "the URL does not begin with http:// or https://");
}

static bool
check_name(struct br_slice host, struct br_error *err)
{
	for (size_t i = 0; i < host.len; i++) {
		uint8_t c = host.data[i];

		if (c > 0x7E)
			return br_fail(
			    err, "the host is not ASCII: write its xn-- form");
		if (!is_letter(c) && !is_digit(c) && c != '-' && c != '_' &&
		    c != '.')
			return br_fail(err,
			    "the host holds '%c', which no host name has", c);
		if (c != '.')
			continue;
		if (i + 1 == host.len)
			return br_fail(err, "the host ends in a dot");
		if (i == 0 || host.data[i - 1] == '.')
			return br_fail(
			    err, "the host has a dot with no name before it");
	}
	return true;
}

/* Cuts the host off the authority and copies it in lower case. */
static bool
take_host(struct br_slice *authority, char *out, struct br_error *err)
{
	struct br_slice host = *authority;
	bool bracketed = host.len > 0 && host.data[0] == '[';

	if (bracketed) {
		host.len = find_any(host, "]");
		if (host.len == authority->len)
			return br_fail(
			    err, "the host begins with '[' and has no ']'");
		host.len++;
		if (!is_ipv6((struct br_slice){host.data + 1, host.len - 2}))
			return br_fail(
			    err, "the host in brackets is no IPv6 address");
	} else {
		host.len = find_any(host, ":");
		if (host.len == 0)
			return br_fail(err, "the URL has no host");
		if (!check_name(host, err))
			return false;
	}
	if (host.len > BR_HOST_MAX)
		return br_fail(err, "the host has %zu bytes, more than %d",
		    host.len, BR_HOST_MAX);
	for (size_t i = 0; i < host.len; i++)
		out[i] = (char)to_lower(host.data[i]);
	out[host.len] = '\0';
	*authority = skip(*authority, host.len);
	return true;
}

/* What follows the host: nothing, or ":PORT". */
static bool
parse_port(struct br_slice rest, struct br_url *url, struct br_error *err)
{
	unsigned number = 0;

	url->port = url->https ? 443 : 80;
	url->port_given = rest.len > 0;
	if (!url->port_given)
		return true;
	if (rest.data[0] != ':')
		return br_fail(err, "after ']' only a port may follow");
	rest = skip(rest, 1);
	if (rest.len == 0)
		return br_fail(err, "no port stands after the colon");
	for (size_t i = 0; i < rest.len; i++) {
		if (!is_digit(rest.data[i]))
			return br_fail(err, "the port is not a number");
		if (number <= UINT16_MAX)
			number = number * 10 + (rest.data[i] - '0');
	}
	if (number == 0 || number > UINT16_MAX)
		return br_fail(err, "the port is not in 1..65535");
	url->port = (uint16_t)number;
	return true;
}

bool
br_url_parse(
    struct br_slice text, size_t max, struct br_url *url, struct br_error *err)
{
	struct br_slice authority;

	if (!check_bytes(text, max, err) ||
	    !take_scheme(&text, &url->https, err))
		return false;
	authority = (struct br_slice){text.data, find_any(text, "/?")};
	if (find_any(authority, "@") < authority.len)
		return br_fail(err,
		    "the URL holds a user name or password (an '@' before the"
		    " path): leave them out: they would stand in logs and at "
		    "every proxy");
	if (!take_host(&authority, url->host, err) ||
	    !parse_port(authority, url, err))
		return false;
	(void)snprintf(url->target, sizeof(url->target), "%s://%s:%u",
	    url->https ? "https" : "http", url->host, (unsigned)url->port);
	return true;
}

bool
br_url_is_address(const struct br_url *url)
{
	return url->host[0] == '[' || is_dotted_quad(br_slice_str(url->host));
}

size_t
br_url_encode(struct br_slice text, char *out, size_t size)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t len = 0;

	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = text.data[i];
		bool plain = c > ' ' && c <= 0x7E;
		char piece[3] = {'%', hex[c >> 4], hex[c & 0xF]};
		size_t piece_len = plain ? 1 : 3;

		if (plain)
			piece[0] = (char)c;
		/* Whole pieces only: half a %XX would mean something else. */
		if (len + piece_len < size)
			memcpy(out + len, piece, piece_len);
		else if (len < size)
			out[len] = '\0';
		len += piece_len;
	}
	if (len < size)
		out[len] = '\0';
	return len;
}
