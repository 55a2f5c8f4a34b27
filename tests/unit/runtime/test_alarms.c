/* Alarms: what stands, what it says, and what makes the bridge not ready. */
#include "runtime_support.h"

#include <pthread.h>

#include "bridge/base/log.h"
#include "bridge/base/metrics.h"
#include "bridge/runtime/alarms.h"

static const struct {
	enum br_alarm alarm;
	const char *name;
	bool blocks;
} expected[] = {
    {BR_ALARM_BROKER_DOWN, "broker_down", true},
    {BR_ALARM_TOPIC_MISSING, "topic_missing", true},
    {BR_ALARM_OFFSET_GAP, "offset_gap", true},
    {BR_ALARM_PARTITION_STUCK, "partition_stuck", true},
    {BR_ALARM_DLQ_UNAVAILABLE, "dlq_unavailable", true},
    {BR_ALARM_DLQ_TOO_LARGE, "dlq_too_large", true},
    {BR_ALARM_EVENT_URLS_EMPTY, "event_urls_empty", true},
    {BR_ALARM_REGISTRY_DOWN, "registry_down", true},
    {BR_ALARM_TARGET_CLOSED, "target_closed", false},
    {BR_ALARM_BUFFER_FILLING, "buffer_filling", false},
    {BR_ALARM_BUFFER_PARKED, "buffer_parked", false},
};

#define EXPECTED (sizeof(expected) / sizeof(expected[0]))

static FILE *lines; /* what was logged */

static int
setup(void **state)
{
	(void)state;
	br_metrics_reset();
	lines = tmpfile();
	if (lines == NULL)
		return -1;
	br_log_setup(BR_INFO, false);
	br_log_fd(fileno(lines));
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	br_log_fd(2);
	return fclose(lines);
}

/* The log so far; valid until the next call. */
static const char *
logged(void)
{
	static char text[8192];
	size_t len;

	rewind(lines);
	len = fread(text, 1, sizeof(text) - 1, lines);
	text[len] = '\0';
	return text;
}

static size_t
count(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)) != NULL; text++)
		n++;
	return n;
}

/* Ready, or not ready for exactly this reason. */
static void
expect_why(struct br_alarms *a, const char *reason)
{
	struct br_buffer why = {0};

	assert_int_equal(br_alarms_block_ready(a, &why), reason != NULL);
	if (reason == NULL)
		assert_int_equal(why.len, 0);
	else
		assert_string_equal(why.data, reason);
	br_buffer_free(&why);
}

static void
nothing_stands_at_first(void **state)
{
	struct br_alarms *a = br_alarms_new();
	struct br_buffer page = {0};

	(void)state;
	assert_int_equal(EXPECTED, BR_ALARM_COUNT);
	br_metrics_render(&page);
	for (size_t i = 0; i < EXPECTED; i++) {
		char sample[80];

		assert_string_equal(
		    br_alarm_name(expected[i].alarm), expected[i].name);
		assert_false(br_alarms_is(a, expected[i].alarm));
		/* There from the start: a rule can be written for it. */
		(void)snprintf(sample, sizeof(sample),
		    "outbox_bridge_alarm{name=\"%s\"} 0\n", expected[i].name);
		assert_non_null(strstr(page.data, sample));
	}
	expect_why(a, NULL);
	assert_string_equal(logged(), "");
	br_buffer_free(&page);
	br_alarms_free(a);
	br_alarms_free(NULL);
}

static void
each_is_raised_and_cleared(void **state)
{
	struct br_alarms *a = br_alarms_new();

	(void)state;
	for (size_t i = 0; i < EXPECTED; i++) {
		char why[80];

		(void)snprintf(
		    why, sizeof(why), "%s: do this", expected[i].name);
		br_alarms_set(a, expected[i].alarm, "do this");
		for (size_t k = 0; k < EXPECTED; k++) {
			assert_int_equal(
			    br_alarms_is(a, expected[k].alarm), k == i);
			assert_int_equal(
			    br_metric_get_label(BR_M_ALARM, expected[k].name),
			    k == i);
		}
		expect_why(a, expected[i].blocks ? why : NULL);
		br_alarms_set(a, expected[i].alarm, NULL);
		assert_false(br_alarms_is(a, expected[i].alarm));
		assert_int_equal(
		    br_metric_get_label(BR_M_ALARM, expected[i].name), 0);
		expect_why(a, NULL);
	}
	br_alarms_free(a);
}

static void
several_are_all_named(void **state)
{
	struct br_alarms *a = br_alarms_new();
	struct br_buffer why = {0};

	(void)state;
	br_alarms_set(a, BR_ALARM_TARGET_CLOSED, "a receiver");
	br_alarms_set(a, BR_ALARM_OFFSET_GAP, "a hole");
	br_alarms_set(a, BR_ALARM_BROKER_DOWN, "no broker");
	expect_why(a, "broker_down: no broker; offset_gap: a hole");
	/* It is appended. */
	br_buffer_str(&why, "not ready: ");
	assert_true(br_alarms_block_ready(a, &why));
	assert_string_equal(
	    why.data, "not ready: broker_down: no broker; offset_gap: a hole");
	br_buffer_free(&why);
	br_alarms_set(a, BR_ALARM_BROKER_DOWN, NULL);
	expect_why(a, "offset_gap: a hole");
	br_alarms_set(a, BR_ALARM_OFFSET_GAP, NULL);
	expect_why(a, NULL);
	assert_true(br_alarms_is(a, BR_ALARM_TARGET_CLOSED));
	br_alarms_free(a);
}

static void
raised_again_only_the_text_changes(void **state)
{
	struct br_alarms *a = br_alarms_new();
	const char *text;

	(void)state;
	br_alarms_set(a, BR_ALARM_TOPIC_MISSING, "topic one");
	br_alarms_set(a, BR_ALARM_TOPIC_MISSING, "topic two");
	br_alarms_set(a, BR_ALARM_TOPIC_MISSING, "topic two");
	expect_why(a, "topic_missing: topic two");
	text = logged();
	assert_int_equal(count(text, "\n"), 1);
	assert_int_equal(count(text, "level=error"), 1);
	assert_int_equal(count(text, "alarm=topic_missing"), 1);
	assert_int_equal(count(text, "topic one"), 1);

	br_alarms_set(a, BR_ALARM_TOPIC_MISSING, NULL);
	br_alarms_set(a, BR_ALARM_TOPIC_MISSING, NULL);
	br_alarms_set(a, BR_ALARM_BROKER_DOWN, NULL); /* never stood */
	text = logged();
	assert_int_equal(count(text, "\n"), 2);
	assert_int_equal(count(text, "alarm=topic_missing"), 2);
	assert_int_equal(count(text, "cleared"), 1);

	br_alarms_set(a, BR_ALARM_TOPIC_MISSING, "topic three");
	assert_int_equal(count(logged(), "topic three"), 1);
	expect_why(a, "topic_missing: topic three");
	br_alarms_free(a);
}

/* The caller's text may change at once, be empty, or be longer than room. */
static void
texts_are_kept(void **state)
{
	struct br_alarms *a = br_alarms_new();
	struct br_buffer why = {0};
	char text[5000] = "brokers b:9092";

	(void)state;
	br_alarms_set(a, BR_ALARM_BROKER_DOWN, text);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	expect_why(a, "broker_down: brokers b:9092");

	br_alarms_set(a, BR_ALARM_BROKER_DOWN, text);
	assert_true(br_alarms_block_ready(a, &why));
	assert_true(why.len > 500 && why.len < sizeof(text));
	assert_true(strspn(why.data, "broker_down: x") == why.len);
	br_buffer_free(&why);

	br_alarms_set(a, BR_ALARM_BROKER_DOWN, "");
	assert_true(br_alarms_is(a, BR_ALARM_BROKER_DOWN));
	expect_why(a, "broker_down: ");
	br_alarms_free(a);
}

static void *
look(void *context)
{
	struct br_alarms *a = context;
	intptr_t wrong = 0;

	for (int i = 0; i < 500; i++) {
		struct br_buffer why = {0};
		bool blocks = br_alarms_block_ready(a, &why);

		if (blocks && strcmp(why.data, "broker_down: aaaa") != 0 &&
		    strcmp(why.data, "broker_down: bbbb") != 0)
			wrong++;
		if (!blocks && why.len != 0)
			wrong++;
		br_buffer_free(&why);
	}
	return (void *)wrong;
}

/* The admin thread reads while the Kafka thread writes: never half a text. */
static void
read_by_another_thread(void **state)
{
	struct br_alarms *a = br_alarms_new();
	pthread_t thread;
	void *wrong;

	(void)state;
	br_log_setup(BR_ERROR, false);
	assert_int_equal(pthread_create(&thread, NULL, look, a), 0);
	for (int i = 0; i < 500; i++)
		br_alarms_set(a, BR_ALARM_BROKER_DOWN,
		    i % 3 == 2   ? NULL
		    : i % 3 == 1 ? "aaaa"
		                 : "bbbb");
	assert_int_equal(pthread_join(thread, &wrong), 0);
	assert_int_equal((intptr_t)wrong, 0);
	br_alarms_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
	        nothing_stands_at_first, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        each_is_raised_and_cleared, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        several_are_all_named, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        raised_again_only_the_text_changes, setup, teardown),
	    cmocka_unit_test_setup_teardown(texts_are_kept, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        read_by_another_thread, setup, teardown),
	};

	return cmocka_run_group_tests_name("alarms", tests, NULL, NULL);
}
