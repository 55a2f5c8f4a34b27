/* The headers of a request as they stand on the wire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "bridge/http/request.h"

static struct br_request request;
static struct br_request_wire wire;

static void
list_of(const char *url, const struct br_http_header *own, size_t count,
    const char *body)
{
	request = (struct br_request){.http = {.method = "POST",
	                                  .url = url,
	                                  .headers = own,
	                                  .header_count = count,
	                                  .body = br_slice_str(body)}};
	br_request_list(&request, &wire);
}

static void
expect_line(size_t i, const char *name, const char *value)
{
	assert_true(i < wire.count);
	assert_string_equal(wire.header[i].name, name);
	assert_string_equal(wire.header[i].value, value);
}

static void
order(void **state)
{
	const struct br_http_header own[] = {
	    {"Idempotency-Key", "42"}, {"Content-Type", "text/plain"}};

	(void)state;
	list_of("https://h.test/in?a=b", own, 2, "12345");
	assert_int_equal(wire.count, 5);
	expect_line(0, "Host", "h.test");
	expect_line(1, "User-Agent", "outbox-bridge/" BRIDGE_VERSION);
	expect_line(2, "Idempotency-Key", "42");
	expect_line(3, "Content-Type", "text/plain");
	expect_line(4, "Content-Length", "5");
	/* Nothing of the last one stays. */
	list_of("http://h.test", NULL, 0, NULL);
	assert_int_equal(wire.count, 3);
	expect_line(2, "Content-Length", "0");
}

static void
hosts(void **state)
{
	static const struct {
		const char *url, *host;
	} cases[] = {{"https://h.test/", "h.test"}, {"http://h.test", "h.test"},
	    {"https://h.test?x", "h.test"},
	    {"https://h.test:8443/a:443", "h.test:8443"},
	    {"https://h.test:443/", "h.test"}, {"http://h.test:80/", "h.test"},
	    {"http://h.test:443/", "h.test:443"},
	    {"https://h.test:80/", "h.test:80"},
	    {"http://[::1]:8080/x", "[::1]:8080"},
	    {"http://[2001:db8::80]/", "[2001:db8::80]"},
	    {"http://[2001:db8::80]:80/", "[2001:db8::80]"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		list_of(cases[i].url, NULL, 0, "");
		expect_line(0, "Host", cases[i].host);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(order),
	    cmocka_unit_test(hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
