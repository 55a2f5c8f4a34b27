/* The address check: each refused block at both ends, and its neighbours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "bridge/http/guard.h"

static bool
allows(const char *text)
{
	struct sockaddr_in in4 = {.sin_family = AF_INET};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};

	if (inet_pton(AF_INET, text, &in4.sin_addr) == 1)
		return br_guard_allows((const struct sockaddr *)&in4);
	assert_int_equal(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
	return br_guard_allows((const struct sockaddr *)&in6);
}

static void
check_all(const char *const *list, size_t count, bool expected)
{
	for (size_t i = 0; i < count; i++) {
		if (allows(list[i]) != expected)
			fail_msg("%s must be %s", list[i],
			    expected ? "allowed" : "refused");
	}
}

#define CHECK_ALL(list, expected)                                              \
	check_all((list), sizeof(list) / sizeof((list)[0]), (expected))

static void
test_refused4(void **state)
{
	static const char *const list[] = {"0.0.0.0", "0.255.255.255",
	    "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255",
	    "127.0.0.1", "127.255.255.255", "169.254.0.0", "169.254.169.254",
	    "169.254.255.255", "172.16.0.0", "172.31.255.255", "192.0.0.8",
	    "192.0.2.0", "192.0.2.255", "192.88.99.1", "192.168.0.0",
	    "192.168.255.255", "198.18.0.0", "198.19.255.255", "198.51.100.7",
	    "203.0.113.255", "224.0.0.0", "239.255.255.255", "240.0.0.1",
	    "255.255.255.255"};

	(void)state;
	CHECK_ALL(list, false);
}

static void
test_allowed4(void **state)
{
	static const char *const list[] = {"1.0.0.0", "1.1.1.1", "8.8.8.8",
	    "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
	    "126.255.255.255", "128.0.0.1", "169.253.255.255", "169.255.0.0",
	    "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0",
	    "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0",
	    "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0",
	    "203.0.112.255", "203.0.114.0", "223.255.255.255"};

	(void)state;
	CHECK_ALL(list, true);
}

static void
test_refused6(void **state)
{
	static const char *const list[] = {"::", "::1", "fe80::1",
	    "febf:ffff::1", "fec0::1", "feff::1", "fc00::1",
	    "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ff02::1", "ff0e::1",
	    "2001:db8::1", "2001:db8:ffff::1", "3fff:fff::1", "100::1",
	    "64:ff9b:1::808:808"};

	(void)state;
	CHECK_ALL(list, false);
}

static void
test_allowed6(void **state)
{
	static const char *const list[] = {"2606:4700:4700::1111",
	    "2001:4860:4860::8888", "2001:db7:ffff::1", "2001:db9::1",
	    "fbff:ffff::1", "fe7f:ffff::1", "3ffe::1", "3fff:1000::1",
	    "100:0:0:1::1"};

	(void)state;
	CHECK_ALL(list, true);
}

/* An IPv4 address keeps its nature in whatever it is wrapped. */
static void
test_wrapped(void **state)
{
	static const char *const refused[] = {"::ffff:127.0.0.1",
	    "::ffff:169.254.169.254", "::ffff:10.1.2.3", "::ffff:0.0.0.0",
	    "::10.0.0.1", "::192.168.1.1", "::2", "64:ff9b::127.0.0.1",
	    "64:ff9b::a9fe:a9fe", "2002:7f00:1::1", "2002:c0a8:101::1",
	    "2002:a9fe:a9fe::",
	    /* Teredo holds the client's address inverted: 10.0.0.1 */
	    "2001:0:808:808:0:0:f5ff:fffe"};
	static const char *const allowed[] = {"::ffff:8.8.8.8", "::8.8.8.8",
	    "64:ff9b::808:808", "2002:808:808::1",
	    "2001:0:808:808:0:0:f7f7:f7f7"};

	(void)state;
	CHECK_ALL(refused, false);
	CHECK_ALL(allowed, true);
}

static void
test_other_family(void **state)
{
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	struct sockaddr_storage none = {0};

	(void)state;
	assert_false(br_guard_allows((const struct sockaddr *)&local));
	assert_false(br_guard_allows((const struct sockaddr *)&none));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_refused4),
	    cmocka_unit_test(test_allowed4),
	    cmocka_unit_test(test_refused6),
	    cmocka_unit_test(test_allowed6),
	    cmocka_unit_test(test_wrapped),
	    cmocka_unit_test(test_other_family),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
