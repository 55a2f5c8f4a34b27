/* delivery.event_urls: which targets an event may name. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "bridge/core/hosts.h"
#include "seed.h"

static enum br_host_rule
check(const struct br_hosts *h, const char *text)
{
	struct br_error err;
	struct br_url url;

	if (!br_url_parse(br_slice_str(text), BR_URL_MAX, &url, &err))
		fail_msg("\"%s\": %s", text, err.text);
	return br_hosts_check(h, &url);
}

/* With one entry. */
static enum br_host_rule
check_one(const char *entry, const char *url)
{
	struct br_error err;
	struct br_hosts *h = br_hosts_new(&entry, 1, &err);
	enum br_host_rule rule;

	if (h == NULL)
		fail_msg("%s", err.text);
	rule = check(h, url);
	br_hosts_free(h);
	return rule;
}

static const struct {
	const char *entry, *url;
	enum br_host_rule want;
} rows[] = {
    /* Without a scheme: https on 443. */
    {"hooks.example.test", "https://hooks.example.test/x", BR_HOST_ALLOWED},
    {"hooks.example.test", "https://hooks.example.test:443/", BR_HOST_ALLOWED},
    {"hooks.example.test", "https://HOOKS.Example.TEST/", BR_HOST_ALLOWED},
    {"HOOKS.Example.TEST", "https://hooks.example.test/", BR_HOST_ALLOWED},
    {"hooks.example.test", "http://hooks.example.test/", BR_HOST_FORBIDDEN},
    {"hooks.example.test", "http://hooks.example.test:443/", BR_HOST_FORBIDDEN},
    {"hooks.example.test", "https://hooks.example.test:8443/",
        BR_HOST_FORBIDDEN},
    {"hooks.example.test", "https://hooks.example.test:80/", BR_HOST_FORBIDDEN},
    {"hooks.example.test", "https://a.hooks.example.test/", BR_HOST_FORBIDDEN},
    {"hooks.example.test", "https://xhooks.example.test/", BR_HOST_FORBIDDEN},
    {"hooks.example.test", "https://example.test/", BR_HOST_FORBIDDEN},
    {"hooks.example.test", "https://hooks.example.test.evil.test/",
        BR_HOST_FORBIDDEN},
    {"hooks.example.test", "https://evil.test/hooks.example.test",
        BR_HOST_FORBIDDEN},
    {"hooks.example.test", "https://evil.test?https://hooks.example.test",
        BR_HOST_FORBIDDEN},
    {"hooks.example.test", "https://hooks-example.test/", BR_HOST_FORBIDDEN},
    /* A port. */
    {"a.test:8443", "https://a.test:8443/", BR_HOST_ALLOWED},
    {"a.test:8443", "https://a.test/", BR_HOST_FORBIDDEN},
    {"a.test:8443", "http://a.test:8443/", BR_HOST_FORBIDDEN},
    {"a.test:80", "http://a.test/", BR_HOST_FORBIDDEN},
    {"a.test:80", "https://a.test:80/", BR_HOST_ALLOWED},
    /* A scheme. */
    {"https://a.test", "https://a.test/", BR_HOST_ALLOWED},
    {"https://a.test:1", "https://a.test:1", BR_HOST_ALLOWED},
    {"http://a.test", "http://a.test/", BR_HOST_ALLOWED},
    {"HTTP://a.test", "http://a.test:80/", BR_HOST_ALLOWED},
    {"http://a.test", "https://a.test/", BR_HOST_FORBIDDEN},
    {"http://a.test", "http://a.test:8080/", BR_HOST_FORBIDDEN},
    {"http://a.test:8080", "http://a.test:8080/", BR_HOST_ALLOWED},
    /* One label or more. */
    {"*.a.test", "https://b.a.test/", BR_HOST_ALLOWED},
    {"*.a.test", "https://c.b.a.test/", BR_HOST_ALLOWED},
    {"*.A.test", "https://b.a.TEST/", BR_HOST_ALLOWED},
    {"*.a.test", "https://a.test/", BR_HOST_FORBIDDEN},
    {"*.a.test", "https://ba.test/", BR_HOST_FORBIDDEN},
    {"*.a.test", "https://b.a.test.evil.test/", BR_HOST_FORBIDDEN},
    {"*.a.test:8443", "https://b.a.test:8443/", BR_HOST_ALLOWED},
    {"*.a.test:8443", "https://b.a.test/", BR_HOST_FORBIDDEN},
    {"http://*.a.test", "http://b.a.test/", BR_HOST_ALLOWED},
    {"http://*.a.test:1", "http://b.a.test:1/", BR_HOST_ALLOWED},
    {"http://*.a.test", "https://b.a.test/", BR_HOST_FORBIDDEN},
    {"*.test", "https://a.b.c.test/", BR_HOST_ALLOWED},
    /* What names this machine or an address itself. */
    {"http://localhost:8080", "http://localhost:8080/x",
        BR_HOST_ALLOWED_LITERALLY},
    {"localhost", "https://LOCALHOST/", BR_HOST_ALLOWED_LITERALLY},
    {"a.localhost", "https://a.localhost/", BR_HOST_ALLOWED_LITERALLY},
    {"notlocalhost", "https://notlocalhost/", BR_HOST_ALLOWED},
    {"localhost.test", "https://localhost.test/", BR_HOST_ALLOWED},
    {"*.localhost", "https://a.localhost/", BR_HOST_ALLOWED},
    {"http://localhost", "http://a.localhost/", BR_HOST_FORBIDDEN},
    {"127.0.0.1", "https://127.0.0.1/", BR_HOST_ALLOWED_LITERALLY},
    {"http://10.0.0.7:81", "http://10.0.0.7:81/", BR_HOST_ALLOWED_LITERALLY},
    {"http://[::1]:8080", "http://[::1]:8080/", BR_HOST_ALLOWED_LITERALLY},
    {"[FD00::A]", "https://[fd00::a]/", BR_HOST_ALLOWED_LITERALLY},
    {"8.8.8.8", "https://8.8.8.8/", BR_HOST_ALLOWED_LITERALLY},
    /* Text is compared: no other spelling of an address gets through. */
    {"http://127.0.0.1", "http://0x7f.1/", BR_HOST_FORBIDDEN},
    {"http://127.0.0.1", "http://2130706433/", BR_HOST_FORBIDDEN},
    {"http://127.0.0.1", "http://0177.0.0.1/", BR_HOST_FORBIDDEN},
    {"http://127.0.0.1", "http://127.1/", BR_HOST_FORBIDDEN},
    {"http://127.0.0.1", "http://[::ffff:127.0.0.1]/", BR_HOST_FORBIDDEN},
    {"http://127.0.0.1", "http://localhost/", BR_HOST_FORBIDDEN},
    {"http://localhost", "http://0x7f.1/", BR_HOST_FORBIDDEN},
    {"http://*.test", "http://2130706433/", BR_HOST_FORBIDDEN},
    {"http://*.test", "http://0177.0.0.1/", BR_HOST_FORBIDDEN},
    {"http://[::1]", "http://[0:0:0:0:0:0:0:1]/", BR_HOST_FORBIDDEN},
    /* A spelling that is listed is allowed as a name: the guard of the
     * socket still sees where it leads. */
    {"http://0x7f.1", "http://0x7f.1/", BR_HOST_ALLOWED},
};

static void
test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (check_one(rows[i].entry, rows[i].url) != rows[i].want)
			fail_msg(
			    "\"%s\" with \"%s\"", rows[i].entry, rows[i].url);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *entry, *why;
	} bad[] = {{"", "no host"}, {"*", "'*'"}, {"*.", "no host"},
	    {"*.*", "'*'"}, {"*.*.test", "'*'"}, {"a.*.test", "'*'"},
	    {"*a.test", "'*'"}, {"a.test:*", "'*'"}, {"a?.test", "path"},
	    {"a.test/", "path"}, {"a.test/hooks", "path"},
	    {"http://a.test/", "path"}, {"https://a.test?x", "path"},
	    {"ftp://a.test", "http://"}, {"://a.test", "http://"},
	    {"https://", "no host"}, {"http://*.", "no host"},
	    {"a.test:", "port"}, {"a.test:0", "1..65535"},
	    {"a.test:65536", "1..65535"}, {"a.test:https", "not a number"},
	    {"a.test.", "dot"}, {"*.a.test.", "dot"}, {"*..test", "dot"},
	    {".a.test", "dot"}, {"a b", "space"}, {" a.test", "space"},
	    {"a.test\n", "control"}, {"a#b", "fragment"},
	    {"\xC5\xBE"
	     "ena.test",
	        "xn--"},
	    {"::1", "no host"}, {"[::1", "no ']'"}, {"[::x]", "IPv6"},
	    {"*.[::1]", "addresses"}, {"*.0.0.1", "addresses"},
	    {"*.1", "addresses"}, {"*.a.1", "addresses"}};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *entries[] = {"a.test", bad[i].entry, "b.test"};
		struct br_error err = {""};

		if (br_hosts_new(entries, 3, &err) != NULL)
			fail_msg("\"%s\" was accepted", bad[i].entry);
		if (strstr(err.text, bad[i].why) == NULL)
			fail_msg("\"%s\": %s", bad[i].entry, err.text);
		assert_non_null(strstr(err.text, bad[i].entry));
		assert_non_null(strstr(err.text, "entry 2"));
	}
}

static void
test_no_password_in_errors(void **state)
{
	static const char *const entries[] = {"https://u:S3cret@a.test",
	    "u:S3cret@a.test", "https://u:S3cret@a.test/x", "S3cret*@a.test",
	    "ftp://u:S3cret@a.test", "*.u:S3cret@a.test"};

	(void)state;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		struct br_error err = {""};

		assert_null(br_hosts_new(&entries[i], 1, &err));
		assert_null(strstr(err.text, "S3cret"));
		assert_non_null(strstr(err.text, "entry 1"));
	}
}

static void
test_long_entries(void **state)
{
	static char text[3000];
	const char *entry = text;
	struct br_error err;
	struct br_hosts *h;

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	assert_null(br_hosts_new(&entry, 1, &err));
	text[256] = '\0';
	assert_null(br_hosts_new(&entry, 1, &err));
	assert_non_null(strstr(err.text, "255"));
	text[255] = '\0';
	h = br_hosts_new(&entry, 1, &err);
	assert_non_null(h);
	br_hosts_free(h);
}

static void
test_empty_list(void **state)
{
	struct br_error err;
	struct br_hosts *h = br_hosts_new(NULL, 0, &err);
	const char *entry = "a.test";

	(void)state;
	assert_non_null(h);
	assert_true(br_hosts_empty(h));
	assert_int_equal(check(h, "https://a.test/"), BR_HOST_FORBIDDEN);
	br_hosts_free(h);
	br_hosts_free(NULL);
	h = br_hosts_new(&entry, 1, &err);
	assert_false(br_hosts_empty(h));
	br_hosts_free(h);
}

static void
test_several_entries(void **state)
{
	const char *const entries[] = {"hooks.example.test",
	    "*.partner.test:8443", "http://localhost:8080", "*.localhost",
	    "dev.localhost"};
	struct br_error err;
	struct br_hosts *h = br_hosts_new(entries, 5, &err);

	(void)state;
	assert_non_null(h);
	assert_int_equal(
	    check(h, "https://hooks.example.test/x"), BR_HOST_ALLOWED);
	assert_int_equal(
	    check(h, "https://a.partner.test:8443/"), BR_HOST_ALLOWED);
	assert_int_equal(
	    check(h, "https://a.partner.test/"), BR_HOST_FORBIDDEN);
	assert_int_equal(
	    check(h, "http://localhost:8080/"), BR_HOST_ALLOWED_LITERALLY);
	assert_int_equal(check(h, "http://localhost/"), BR_HOST_FORBIDDEN);
	/* The name itself wins over the wildcard before it. */
	assert_int_equal(check(h, "https://x.localhost/"), BR_HOST_ALLOWED);
	assert_int_equal(
	    check(h, "https://dev.localhost/"), BR_HOST_ALLOWED_LITERALLY);
	br_hosts_free(h);
}

static void
random_host(uint64_t *rng, char *out, size_t labels)
{
	static const char letters[] = "abAB01-_";
	size_t len = 0;

	for (size_t i = 0; i < labels; i++) {
		if (i > 0)
			out[len++] = '.';
		for (size_t n = 1 + seed_below(rng, 2); n > 0; n--)
			out[len++] = letters[seed_below(rng, 8)];
	}
	memcpy(out + len, ".t", 3);
}

/* Against the definition by labels, on hosts that often are related. */
static void
test_wildcards_by_model(void **state)
{
	uint64_t rng = seed_take();
	int allowed = 0;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char tail[64], host[140], entry[80], url[200];
		size_t tail_len;
		bool want;

		random_host(&rng, tail, 1 + seed_below(&rng, 2));
		random_host(&rng, host, 1 + seed_below(&rng, 3));
		if (seed_below(&rng, 2) == 0) {
			size_t len = strlen(host) - 2;

			if (seed_below(&rng, 4) != 0)
				host[len++] = '.';
			(void)snprintf(
			    host + len, sizeof(host) - len, "%s", tail);
		}
		(void)snprintf(entry, sizeof(entry), "*.%s", tail);
		(void)snprintf(url, sizeof(url), "https://%s/", host);
		tail_len = strlen(tail);
		want = strlen(host) > tail_len + 1 &&
		       strcasecmp(host + strlen(host) - tail_len, tail) == 0 &&
		       host[strlen(host) - tail_len - 1] == '.';
		allowed += want;
		if ((check_one(entry, url) == BR_HOST_ALLOWED) != want)
			fail_msg("\"%s\" with \"%s\"", entry, url);
	}
	assert_in_range(allowed, 1000, 19000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_no_password_in_errors),
	    cmocka_unit_test(test_long_entries),
	    cmocka_unit_test(test_empty_list),
	    cmocka_unit_test(test_several_entries),
	    cmocka_unit_test(test_wildcards_by_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
