/*
 * URLs: by table, by property, and against libcurl's parser: what is accepted
 * here must mean the same there. That libcurl accepts more is intended.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <curl/curl.h>
#include <curl/urlapi.h>

#include "bridge/core/url.h"
#include "seed.h"

static bool
parse(const char *text, struct br_url *url)
{
	struct br_error err;

	return br_url_parse(br_slice_str(text), BR_URL_MAX, url, &err);
}

static void
test_accepted(void **state)
{
	static const struct {
		const char *text, *host, *target;
		bool https, port_given;
		uint16_t port;
	} rows[] = {
	    {"https://hooks.example.test/orders", "hooks.example.test",
	        "https://hooks.example.test:443", true, false, 443},
	    {"http://localhost", "localhost", "http://localhost:80", false,
	        false, 80},
	    {"HTTP://LocalHost:8080/A?B", "localhost", "http://localhost:8080",
	        false, true, 8080},
	    {"hTTpS://a:443", "a", "https://a:443", true, true, 443},
	    {"http://a:443/", "a", "http://a:443", false, true, 443},
	    {"https://a?q=b@c:1", "a", "https://a:443", true, false, 443},
	    {"https://a/b@c:d/[x]", "a", "https://a:443", true, false, 443},
	    {"http://a//b\\c|{}^\"<>%zz", "a", "http://a:80", false, false, 80},
	    {"http://a/\xC5\xBE?\xFF", "a", "http://a:80", false, false, 80},
	    {"http://my_host-1.test:1/", "my_host-1.test",
	        "http://my_host-1.test:1", false, true, 1},
	    {"http://a:65535", "a", "http://a:65535", false, true, 65535},
	    {"http://a:00080/", "a", "http://a:80", false, true, 80},
	    {"http://127.0.0.1:80", "127.0.0.1", "http://127.0.0.1:80", false,
	        true, 80},
	    {"http://[::1]/x", "[::1]", "http://[::1]:80", false, false, 80},
	    {"https://[2001:DB8::A]:8443?x", "[2001:db8::a]",
	        "https://[2001:db8::a]:8443", true, true, 8443},
	    {"http://[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]",
	        "http://[::ffff:127.0.0.1]:80", false, false, 80},
	    {"http://[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8]",
	        "http://[1:2:3:4:5:6:7:8]:80", false, false, 80},
	    /* Odd spellings of addresses stay text. */
	    {"http://0x7F.1/", "0x7f.1", "http://0x7f.1:80", false, false, 80},
	    {"http://2130706433", "2130706433", "http://2130706433:80", false,
	        false, 80},
	    {"http://0177.0.0.1", "0177.0.0.1", "http://0177.0.0.1:80", false,
	        false, 80},
	};
	struct br_url url;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!parse(rows[i].text, &url))
			fail_msg("\"%s\" was refused", rows[i].text);
		assert_string_equal(url.host, rows[i].host);
		assert_string_equal(url.target, rows[i].target);
		assert_int_equal(url.https, rows[i].https);
		assert_int_equal(url.port_given, rows[i].port_given);
		assert_int_equal(url.port, rows[i].port);
	}
}

/* Every refusal names its own cause. */
static const struct {
	const char *text, *why;
} refused[] = {
    {"", "empty"},
    {"hooks.example.test/x", "http://"},
    {"//hooks.example.test/x", "http://"},
    {"/orders", "http://"},
    {"http", "http://"},
    {"http:/", "http://"},
    {"http:/a", "http://"},
    {"http:a", "http://"},
    {"https:/a/", "http://"},
    {"httpss://a", "http://"},
    {"httpx://a", "http://"},
    {"ftp://a/x", "http://"},
    {"file:///etc/passwd", "http://"},
    {"javascript:alert(1)", "http://"},
    {"http:\\\\a", "http://"},
    {" http://a", "space"},
    {"http://a ", "space"},
    {"http://a/b c", "space"},
    {"http://a/b\tc", "control"},
    {"http://a/\r\nX: y", "control"},
    {"http://a\x7F", "control"},
    {"http://a/\x01", "control"},
    {"http://a/#f", "fragment"},
    {"http://a#", "fragment"},
    {"http://", "no host"},
    {"http:///x", "no host"},
    {"http://?x", "no host"},
    {"http://:80", "no host"},
    {"https:////a", "no host"},
    {"http://u@a", "password"},
    {"http://u:p@a/", "password"},
    {"http://@a/", "password"},
    {"http://good.test\\@evil.test/", "password"},
    {"http://a:80@b", "password"},
    {"http://a.", "dot"},
    {"http://a.:80/", "dot"},
    {"http://.a", "dot"},
    {"http://a..b", "dot"},
    {"http://.", "dot"},
    {"http://\xC5\xBE"
     "ena.test/",
        "xn--"},
    {"http://a%41/", "'%'"},
    {"http://a,b/", "','"},
    {"http://a*b/", "'*'"},
    {"http://a\\b/", "'\\'"},
    {"http://a]/", "']'"},
    {"http://a[::1]/", "'['"},
    {"http://a:/", "port"},
    {"http://a:0/", "1..65535"},
    {"http://a:65536/", "1..65535"},
    {"http://a:99999999999999999999/", "1..65535"},
    {"http://a:4294967376/", "1..65535"},
    {"http://a:-1/", "not a number"},
    {"http://a:+80/", "not a number"},
    {"http://a:8o/", "not a number"},
    {"http://a:80:80/", "not a number"},
    {"http://::1/", "no host"},
    {"http://[::1", "no ']'"},
    {"http://[::1]x", "only a port"},
    {"http://[::1]:", "port"},
    {"http://[]", "IPv6"},
    {"http://[:]", "IPv6"},
    {"http://[:::]", "IPv6"},
    {"http://[1]", "IPv6"},
    {"http://[1:2:3:4:5:6:7]", "IPv6"},
    {"http://[1:2:3:4:5:6:7:8:9]", "IPv6"},
    {"http://[1:2:3:4::5:6:7:8]", "IPv6"},
    {"http://[1::2::3]", "IPv6"},
    {"http://[12345::]", "IPv6"},
    {"http://[::g]", "IPv6"},
    {"http://[1:]", "IPv6"},
    {"http://[:1]", "IPv6"},
    {"http://[::1:]", "IPv6"},
    {"http://[1.2.3.4]", "IPv6"},
    {"http://[1.2.3.4::]", "IPv6"},
    {"http://[::1.2.3]", "IPv6"},
    {"http://[::1.2.3.256]", "IPv6"},
    {"http://[::1.2.3.04]", "IPv6"},
    {"http://[::1.2.3.4:5]", "IPv6"},
    {"http://[fe80::1%25eth0]", "IPv6"},
    {"http://[fe80::1%eth0]", "IPv6"},
    {"http://[v1.a]", "IPv6"},
};

static void
test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct br_error err = {""};
		struct br_url url;

		if (br_url_parse(
		        br_slice_str(refused[i].text), BR_URL_MAX, &url, &err))
			fail_msg("\"%s\" was accepted", refused[i].text);
		if (strstr(err.text, refused[i].why) == NULL)
			fail_msg("\"%s\": %s", refused[i].text, err.text);
	}
}

static void
test_every_byte(void **state)
{
	(void)state;
	for (int c = 0; c < 256; c++) {
		uint8_t in_host[] = "http://aXb/", in_path[] = "http://ab/X";
		struct br_url url;
		struct br_error err;
		bool name = c != 0 &&
		            strchr("abcdefghijklmnopqrstuvwxyz"
		                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./?",
		                c) != NULL;

		in_host[8] = in_path[10] = (uint8_t)c;
		assert_int_equal(br_url_parse((struct br_slice){in_host, 11},
		                     BR_URL_MAX, &url, &err),
		    name);
		assert_int_equal(br_url_parse((struct br_slice){in_path, 11},
		                     BR_URL_MAX, &url, &err),
		    c > 0x20 && c != 0x7F && c != '#');
	}
}

static void
test_lengths(void **state)
{
	char text[1200] = "http://a/";
	struct br_url url;
	struct br_error err;

	(void)state;
	memset(text + 9, 'x', 1100);
	assert_true(br_url_parse(
	    (struct br_slice){(uint8_t *)text, 1000}, BR_URL_MAX, &url, &err));
	assert_false(br_url_parse(
	    (struct br_slice){(uint8_t *)text, 1001}, BR_URL_MAX, &url, &err));
	assert_non_null(strstr(err.text, "1001"));
	assert_non_null(strstr(err.text, "1000"));
	assert_true(br_url_parse(
	    (struct br_slice){(uint8_t *)text, 1001}, 2000, &url, &err));
	/* The host. */
	memset(text + 7, 'h', 300);
	text[7 + 255] = '/';
	assert_true(br_url_parse(
	    (struct br_slice){(uint8_t *)text, 600}, BR_URL_MAX, &url, &err));
	assert_int_equal(strlen(url.host), 255);
	assert_int_equal(strlen(url.target), 7 + 255 + 3);
	text[7 + 255] = 'h';
	text[7 + 256] = '/';
	assert_false(br_url_parse(
	    (struct br_slice){(uint8_t *)text, 600}, BR_URL_MAX, &url, &err));
	assert_non_null(strstr(err.text, "255"));
	assert_false(
	    br_url_parse((struct br_slice){NULL, 0}, BR_URL_MAX, &url, &err));
}

static void
test_is_address(void **state)
{
	static const char *const yes[] = {"http://127.0.0.1", "http://[::1]",
	    "http://0.0.0.0:1", "http://255.255.255.255"};
	static const char *const no[] = {"http://localhost", "http://0x7f.1",
	    "http://127.1", "http://0177.0.0.1", "http://256.0.0.1",
	    "http://1.2.3.4.5", "http://1.2.3", "http://2130706433",
	    "http://1.2.3.4a", "http://a.1.2.3.4", "http://01.2.3.4",
	    "http://1.2.3.1234"};
	struct br_url url;

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		assert_true(parse(yes[i], &url));
		assert_true(br_url_is_address(&url));
	}
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		assert_true(parse(no[i], &url));
		assert_false(br_url_is_address(&url));
	}
}

/* Whatever is wrong beside them, no secret stands in the reason. */
static void
test_no_secrets_in_errors(void **state)
{
	static const char *const texts[] = {"http://S3cret:S3cret@a/",
	    "http://S3cret:S3cret/S3cret@a/", "http://S3cret:p#S3cret@a/",
	    "http://S3cret:S3cret S3cret@a/", "http://a:b/S3cret",
	    "http://a/S3cret S3cret", "http://a/?S3cret=S3cret#",
	    "S3cret://S3cret:S3cret", "http://[S3cret]/S3cret",
	    "http://[S3cret", "http://[::1]S3cret", "http://S3cret\\S3cret",
	    "http://S3cret../", "http://S3cret./?S3cret", "S3cret",
	    "ftp:S3cret", "http://a:S3cret@", "http://S3cret%S3cret:@S3cret",
	    "http://\xFFS3cret/"};
	struct br_url url;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct br_error err = {""};

		assert_false(br_url_parse(
		    br_slice_str(texts[i]), BR_URL_MAX, &url, &err));
		assert_true(strlen(err.text) > 10);
		if (strstr(err.text, "3cret") != NULL)
			fail_msg("\"%s\": %s", texts[i], err.text);
		/* The limit on the length is not a way around it. */
		assert_false(
		    br_url_parse(br_slice_str(texts[i]), 3, &url, &err));
		assert_null(strstr(err.text, "3cret"));
	}
}

static void
test_encode(void **state)
{
	char out[64];
	struct br_slice text = br_slice_str("a/\xC5\xBE?\x7E\xFF%41");
	const char want[] = "a/%C5%BE?~%FF%41";

	(void)state;
	assert_int_equal(
	    br_url_encode(text, out, sizeof(out)), sizeof(want) - 1);
	assert_string_equal(out, want);
	assert_int_equal(br_url_encode(br_slice_str(""), out, sizeof(out)), 0);
	assert_string_equal(out, "");
	/* Every size: the length is the same, the text is cut before a %XX. */
	for (size_t size = 0; size <= sizeof(want); size++) {
		char *small = malloc(size > 0 ? size : 1);

		assert_non_null(small);
		small[0] = 'X';
		assert_int_equal(
		    br_url_encode(text, small, size), sizeof(want) - 1);
		if (size == 0)
			assert_int_equal(small[0], 'X');
		else
			assert_memory_equal(small, want, strlen(small));
		if (size == 5) /* "a/" and no half of %C5 */
			assert_string_equal(small, "a/");
		if (size == 6)
			assert_string_equal(small, "a/%C5");
		free(small);
	}
}

static void
test_encode_every_byte(void **state)
{
	(void)state;
	for (int c = 0; c < 256; c++) {
		uint8_t byte = (uint8_t)c;
		char out[8], want[8] = {(char)c};

		if (c <= 0x20 || c > 0x7E)
			(void)snprintf(want, sizeof(want), "%%%02X", c);
		assert_int_equal(br_url_encode((struct br_slice){&byte, 1}, out,
		                     sizeof(out)),
		    strlen(want));
		assert_string_equal(out, want);
	}
}

/* Same host: the same text, or (libcurl normalises) the same address. */
static bool
same_host(const char *ours, const char *curls)
{
	struct in_addr a4, b4;
	struct in6_addr a6, b6;
	char plain[BR_HOST_MAX + 1] = "", curl_plain[BR_HOST_MAX + 1] = "";

	if (strcasecmp(ours, curls) == 0)
		return true;
	if (ours[0] == '[')
		return sscanf(ours, "[%255[^]]", plain) == 1 &&
		       sscanf(curls, "[%255[^]]", curl_plain) == 1 &&
		       inet_pton(AF_INET6, plain, &a6) == 1 &&
		       inet_pton(AF_INET6, curl_plain, &b6) == 1 &&
		       memcmp(&a6, &b6, sizeof(a6)) == 0;
	return inet_aton(ours, &a4) != 0 &&
	       inet_pton(AF_INET, curls, &b4) == 1 && a4.s_addr == b4.s_addr;
}

/* True when it was accepted here, and then libcurl agreed. */
static bool
compare_with_curl(const char *text)
{
	char wire[3 * BR_URL_MAX + 1], *scheme, *host, *port;
	struct br_url url;
	CURLU *u = curl_url();

	assert_non_null(u);
	if (!parse(text, &url)) {
		curl_url_cleanup(u);
		return false;
	}
	assert_true(br_url_encode(br_slice_str(text), wire, sizeof(wire)) <
	            sizeof(wire));
	if (curl_url_set(u, CURLUPART_URL, wire, 0) != CURLUE_OK)
		fail_msg("libcurl refuses \"%s\"", text);
	assert_int_equal(
	    curl_url_get(u, CURLUPART_SCHEME, &scheme, 0), CURLUE_OK);
	assert_int_equal(curl_url_get(u, CURLUPART_HOST, &host, 0), CURLUE_OK);
	assert_int_equal(
	    curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT),
	    CURLUE_OK);
	assert_string_equal(scheme, url.https ? "https" : "http");
	if (!same_host(url.host, host))
		fail_msg("\"%s\": %s here, %s there", text, url.host, host);
	assert_int_equal(strtol(port, NULL, 10), url.port);
	curl_free(scheme);
	curl_free(host);
	curl_free(port);
	curl_url_cleanup(u);
	return true;
}

static void
mutate(uint64_t *rng, char *text)
{
	static const char bytes[] = "[]:/@?#%.\\-_*,;=&+~!$'()<>{}|^\"` "
	                            "0123456789abfxAZ\x80\xC5\xFF\x7F\t";
	size_t len = strlen(text);
	size_t at = seed_below(rng, len + 1);
	char c = bytes[seed_below(rng, sizeof(bytes) - 1)];

	switch (seed_below(rng, 4)) {
	case 0: /* put in */
		memmove(text + at + 1, text + at, len - at + 1);
		text[at] = c;
		break;
	case 1: /* take out */
		if (at < len)
			memmove(text + at, text + at + 1, len - at);
		break;
	case 2: /* change */
		if (at < len)
			text[at] = c;
		break;
	default: /* double a piece */
		if (at < len && len < 200) {
			memmove(text + len, text + at, len - at);
			text[2 * len - at] = '\0';
		}
		break;
	}
}

static void
test_against_libcurl(void **state)
{
	static const char *const texts[] = {"http://example.test/path?q=1",
	    "https://hooks.example.test:8443/a/b", "http://127.0.0.1:8080/x",
	    "http://[::1]:80/x", "https://[2001:db8::1:2]/", "http://0x7f.1/",
	    "http://2130706433/", "http://0177.0.0.1:81?x",
	    "http://[::ffff:10.0.0.1]/?a", "http://256.1.1.1/",
	    "http://[1:2:3:4:5:6:7:8]/", "http://1.2/", "http://4294967296/",
	    "http://1.2.3.4.5/", "https://a_b-c/", "http://08.1.1.1/",
	    "http://1.65536/", "http://1.1.256.1/", "http://0xffffffff/"};
	size_t count = sizeof(texts) / sizeof(texts[0]);
	uint64_t rng = seed_take();
	int accepted = 0;

	(void)state;
	for (size_t i = 0; i < count; i++)
		assert_true(compare_with_curl(texts[i]));
	for (int i = 0; i < 60000; i++) {
		char text[600];
		size_t changes = 1 + seed_below(&rng, 6);

		(void)snprintf(
		    text, sizeof(text), "%s", texts[seed_below(&rng, count)]);
		while (changes-- > 0)
			mutate(&rng, text);
		accepted += compare_with_curl(text);
	}
	/* Else the mutations would prove nothing. */
	assert_in_range(accepted, 3000, 57000);
}

/* Parsing what parsing gave changes nothing; encoding keeps the target. */
static void
test_target_is_stable(void **state)
{
	static const char base[] = "https://Ab_c.9-x.test:1234/p\xC5?q";
	uint64_t rng = seed_take();

	(void)state;
	for (int i = 0; i < 60000; i++) {
		char text[600], wire[2000];
		struct br_url url, again;

		memcpy(text, base, sizeof(base));
		for (size_t n = seed_below(&rng, 5); n > 0; n--)
			mutate(&rng, text);
		if (!parse(text, &url))
			continue;
		assert_true(parse(url.target, &again));
		assert_string_equal(again.target, url.target);
		assert_string_equal(again.host, url.host);
		assert_true(again.port_given);
		(void)br_url_encode(br_slice_str(text), wire, sizeof(wire));
		assert_true(parse(wire, &again));
		assert_string_equal(again.target, url.target);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_accepted),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_every_byte),
	    cmocka_unit_test(test_lengths),
	    cmocka_unit_test(test_is_address),
	    cmocka_unit_test(test_no_secrets_in_errors),
	    cmocka_unit_test(test_encode),
	    cmocka_unit_test(test_encode_every_byte),
	    cmocka_unit_test(test_against_libcurl),
	    cmocka_unit_test(test_target_is_stable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
