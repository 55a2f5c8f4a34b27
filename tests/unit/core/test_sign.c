/* What an outcome says about its target. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bridge/core/sign.h"

/* 429 throttles; 409 is a success, 403 dropped for good, as routes may say. */
static struct br_verdict_rules
usual(void)
{
	struct br_verdict_rules rules = {0};

	(void)br_status_set_add(&rules.throttle_on, "429");
	(void)br_status_set_add(&rules.success_on, "409");
	(void)br_status_set_add(&rules.drop_on, "403");
	return rules;
}

static const struct {
	int status;
	enum br_transport transport;
	bool retry_after;
	enum br_sign sign;
	bool turned_away, later;
} rows[] = {
    {200, BR_TRANSPORT_OK, false, BR_SIGN_SUCCESS, false, false},
    {200, BR_TRANSPORT_RESET, false, BR_SIGN_SUCCESS, false, false},
    {409, BR_TRANSPORT_OK, false, BR_SIGN_SUCCESS, false, false},
    {400, BR_TRANSPORT_OK, false, BR_SIGN_NEVER, false, false},
    {403, BR_TRANSPORT_OK, false, BR_SIGN_NEVER, false, false},
    {404, BR_TRANSPORT_OK, true, BR_SIGN_ALIVE, false, false},
    {500, BR_TRANSPORT_OK, true, BR_SIGN_ALIVE, false, false},
    {500, BR_TRANSPORT_TIMEOUT, false, BR_SIGN_ALIVE, false, false},
    {0, BR_TRANSPORT_BAD_RESPONSE, false, BR_SIGN_ALIVE, false, false},
    {401, BR_TRANSPORT_OK, false, BR_SIGN_FAILURE, false, false},
    {407, BR_TRANSPORT_OK, false, BR_SIGN_FAILURE, false, false},
    {502, BR_TRANSPORT_OK, true, BR_SIGN_FAILURE, false, false},
    {503, BR_TRANSPORT_OK, false, BR_SIGN_FAILURE, false, false},
    {504, BR_TRANSPORT_OK, false, BR_SIGN_FAILURE, false, false},
    {503, BR_TRANSPORT_OK, true, BR_SIGN_THROTTLED, false, true},
    {429, BR_TRANSPORT_OK, false, BR_SIGN_THROTTLED, false, true},
    {429, BR_TRANSPORT_OK, true, BR_SIGN_THROTTLED, false, true},
    {0, BR_TRANSPORT_TIMEOUT, false, BR_SIGN_SLOW, false, false},
    {0, BR_TRANSPORT_CONNECT_TIMEOUT, false, BR_SIGN_FAILURE, false, false},
    {0, BR_TRANSPORT_REFUSED, false, BR_SIGN_FAILURE, true, false},
    {0, BR_TRANSPORT_RESET, false, BR_SIGN_FAILURE, true, false},
    {0, BR_TRANSPORT_EMPTY, false, BR_SIGN_FAILURE, true, false},
    {0, BR_TRANSPORT_UNREACHABLE, false, BR_SIGN_FAILURE, false, false},
    {0, BR_TRANSPORT_DNS, false, BR_SIGN_FAILURE, false, false},
    {0, BR_TRANSPORT_TLS, false, BR_SIGN_FAILURE, false, false},
    {0, BR_TRANSPORT_FORBIDDEN, false, BR_SIGN_NONE, false, false},
    {0, BR_TRANSPORT_OTHER, false, BR_SIGN_NONE, false, false},
};

static void
test_signs(void **state)
{
	const struct br_verdict_rules rules = usual();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct br_outcome o = {
		    .http_status = rows[i].status,
		    .head_complete = rows[i].status != 0,
		    .transport = rows[i].transport,
		    .retry_after_given = rows[i].retry_after,
		};
		enum br_sign sign = br_sign_of(&rules, &o);

		if (sign != rows[i].sign ||
		    br_sign_turned_away(&o) != rows[i].turned_away ||
		    br_sign_later(sign, &o) != rows[i].later)
			fail_msg("row %zu", i);
		assert_int_equal(br_sign_is_failure(sign),
		    sign == BR_SIGN_FAILURE || sign == BR_SIGN_THROTTLED ||
		        sign == BR_SIGN_SLOW);
	}
}

/* Where throttle_on leaves 429 out it is a plain failure, that asks for later
 * all the same. */
static void
test_429_without_throttle_on(void **state)
{
	const struct br_verdict_rules rules = {0};
	const struct br_outcome o = {.http_status = 429, .head_complete = true};

	(void)state;
	assert_int_equal(br_sign_of(&rules, &o), BR_SIGN_FAILURE);
	assert_true(br_sign_later(BR_SIGN_FAILURE, &o));
	assert_false(br_sign_later(BR_SIGN_ALIVE, &o)); /* drop_on */
}

/* The text of a limit asks for less, whatever stands beside it. */
static void
test_throttle_text(void **state)
{
	static const int status[] = {200, 299, 400, 403, 409, 429, 500, 503};
	const struct br_verdict_rules rules = usual();

	(void)state;
	for (size_t i = 0; i < sizeof(status) / sizeof(status[0]); i++) {
		struct br_outcome o = {.http_status = status[i],
		    .head_complete = true,
		    .throttle_text = true};

		assert_int_equal(br_sign_of(&rules, &o), BR_SIGN_THROTTLED);
		assert_true(br_sign_later(BR_SIGN_THROTTLED, &o));
		/* its body was cut off behind the text */
		o.transport = BR_TRANSPORT_TIMEOUT;
		assert_int_equal(br_sign_of(&rules, &o), BR_SIGN_THROTTLED);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_signs),
	    cmocka_unit_test(test_429_without_throttle_on),
	    cmocka_unit_test(test_throttle_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
