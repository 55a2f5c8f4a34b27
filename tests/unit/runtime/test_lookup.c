/* The thread that asks the registry: answers, outages, alarm, and its end. */
#include "runtime_support.h"

#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bridge/http/client.h"
#include "bridge/runtime/lookup.h"
#include "receiver.h"

static struct receiver *receiver;
static struct br_config *config;
static struct br_alarms *alarms;
static struct br_lookup *lookup;
static int wake_fd;
static atomic_int status; /* what the registry answers; 0: nothing */

static void
registry(struct exchange *x, void *context)
{
	const char *path = exchange_request(x)->path;
	int now = atomic_load(&status);

	(void)context;
	if (now == 0)
		exchange_hold(x);
	else if (now != 200)
		exchange_answer(x, now, "{}");
	else if (strcmp(path, "/schemas/ids/9") == 0)
		exchange_answer(x, 404, "{\"error_code\":40403}");
	else
		exchange_answer(x, 200, "{\"schema\":\"\\\"string\\\"\"}");
}

static int
begin(void **state)
{
	struct receiver_options options = {.on_request = registry};
	struct br_error err = {{0}};
	char text[300];

	(void)state;
	atomic_store(&status, 200);
	receiver = receiver_new(&options);
	assert_non_null(receiver);
	snprintf(text, sizeof(text),
	    "delivery = { url = \"http://h/\"; };\n"
	    "registry = { url = \"%s\"; timeout_ms = 60000; };",
	    receiver_url(receiver));
	config = config_of(text);
	alarms = br_alarms_new();
	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_true(wake_fd >= 0);
	lookup = br_lookup_new(config, alarms, wake_fd, &err);
	if (lookup == NULL)
		fail_msg("%s", err.text);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	br_lookup_free(lookup);
	(void)close(wake_fd);
	br_alarms_free(alarms);
	receiver_free(receiver);
	br_config_free(config);
	return 0;
}

static enum br_schema_state
find(uint64_t id)
{
	struct br_schema_key key = {.space = BR_SCHEMA_CONTENT, .id = id};
	struct br_avro_schema *schema;
	const char *why;

	return br_registry_find(
	    br_lookup_registry(lookup), &key, &schema, &why);
}

/* The next answer is here; waits for it as the Kafka thread does. */
static void
wait_for_answer(void)
{
	struct pollfd fd = {.fd = wake_fd, .events = POLLIN};
	uint64_t count;

	assert_int_equal(poll(&fd, 1, WAIT_MS), 1);
	assert_int_equal(read(wake_fd, &count, sizeof(count)), 8);
}

static void
test_found(void **state)
{
	(void)state;
	assert_int_equal(find(7), BR_SCHEMA_WAIT);
	wait_for_answer();
	assert_int_equal(find(7), BR_SCHEMA_WAIT);
	assert_int_equal(br_lookup_step(lookup, 1000), INT64_MAX);
	assert_int_equal(find(7), BR_SCHEMA_HERE);
	assert_int_equal(receiver_requests(receiver), 1);
	assert_false(br_alarms_is(alarms, BR_ALARM_REGISTRY_DOWN));
}

/* The alarm names cause and cure, blocks /readyz, and goes by itself. */
static void
test_outage(void **state)
{
	struct br_buffer why = {0};

	(void)state;
	(void)find(7);
	wait_for_answer();
	(void)br_lookup_step(lookup, 0);
	atomic_store(&status, 503);
	(void)find(8);
	wait_for_answer();
	assert_int_equal(br_lookup_step(lookup, 1000), 1500);
	assert_true(br_alarms_is(alarms, BR_ALARM_REGISTRY_DOWN));
	assert_true(br_alarms_block_ready(alarms, &why));
	assert_non_null(strstr(why.data, "registry_down"));
	assert_non_null(strstr(why.data, "/schemas/ids/8"));
	assert_non_null(strstr(why.data, "503"));
	assert_non_null(strstr(why.data, "dead-lettered"));
	br_buffer_free(&why);
	assert_int_equal(find(7), BR_SCHEMA_HERE);
	assert_int_equal(find(8), BR_SCHEMA_WAIT);
	atomic_store(&status, 200);
	assert_int_equal(br_lookup_step(lookup, 1500), INT64_MAX);
	wait_for_answer();
	(void)br_lookup_step(lookup, 1600);
	assert_int_equal(find(8), BR_SCHEMA_HERE);
	assert_false(br_alarms_is(alarms, BR_ALARM_REGISTRY_DOWN));
	/* An id that is not known is no outage. */
	(void)find(9);
	for (int64_t now_ms = 2000; now_ms <= 4000; now_ms += 1000) {
		wait_for_answer();
		(void)br_lookup_step(lookup, now_ms);
		(void)br_lookup_step(lookup, now_ms + 1000);
		assert_false(br_alarms_is(alarms, BR_ALARM_REGISTRY_DOWN));
	}
	assert_int_equal(find(9), BR_SCHEMA_UNKNOWN);
}

/* Ends at once, with one question under way and others in the queue. */
static void
test_end(void **state)
{
	(void)state;
	atomic_store(&status, 0);
	for (uint64_t id = 1; id <= 5; id++)
		assert_int_equal(find(id), BR_SCHEMA_WAIT);
	assert_true(receiver_wait_requests(receiver, 1, WAIT_MS));
	br_lookup_free(lookup);
	lookup = NULL;
	assert_int_equal(receiver_requests(receiver), 1);
}

/* Ends with an answer that nobody took. */
static void
test_answer_left(void **state)
{
	(void)state;
	(void)find(7);
	wait_for_answer();
}

static void
test_none(void **state)
{
	(void)state;
	assert_null(br_lookup_registry(NULL));
	assert_int_equal(br_lookup_step(NULL, 5), INT64_MAX);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
	    TEST(test_found),
	    TEST(test_outage),
	    TEST(test_end),
	    TEST(test_answer_left),
	    TEST(test_none),
	};
	struct br_error err;
	int failed;

	if (!br_http_global_init(&err))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	br_http_global_cleanup();
	return failed;
}
