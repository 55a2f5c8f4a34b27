/* The files in config/ load, and the example lists every key with exactly its
 * default. */
#include "config_support.h"

#include "bridge/config/file.h"
#include "bridge/config/table.h"
#include "bridge/config/value.h"

#define EXAMPLE SOURCE_DIR "/config/outbox-bridge.conf"
#define MINIMAL SOURCE_DIR "/config/minimal.conf"

static struct br_config *
must_load_file(const char *file)
{
	struct br_buffer faults = {0};
	struct br_config *c = br_config_load(file, &faults);

	if (c == NULL)
		fail_msg("%s", faults.data);
	return c;
}

/* Makes a setting of every `  // key = value;`. */
static char *
uncommented(void)
{
	struct br_buffer text = {0};
	const char *reason = NULL;

	if (!br_file_read(EXAMPLE, &text, &reason))
		fail_msg("%s", reason);
	for (char *p = text.data; (p = strstr(p, "// ")) != NULL; p += 3) {
		const char *line = p;

		while (line > text.data && line[-1] == ' ')
			line--;
		if (line == text.data || line[-1] == '\n')
			memset(p, ' ', 3);
	}
	return text.data;
}

static bool
is_needed(const char *path)
{
	return strcmp(path, "kafka.brokers") == 0 ||
	       strcmp(path, "kafka.topics") == 0 ||
	       strcmp(path, "delivery.url") == 0;
}

/* What is not commented out is what has to be set, and nothing else. */
static void
loads(void **state)
{
	struct br_config *minimal = must_load_file(MINIMAL);
	struct br_config *example = must_load_file(EXAMPLE);
	char *a = printed(minimal, true), *b = printed(example, true);

	(void)state;
	assert_string_equal(a, b);
	for (size_t i = 0; i < br_table_count(); i++)
		assert_int_equal((example->notes->keys[i] & BR_NOTE_SET) != 0,
		    is_needed(br_table_at(i)->path));
	free(a);
	free(b);
	br_config_free(minimal);
	br_config_free(example);
}

static void
lists_every_default(void **state)
{
	char *text = uncommented();
	struct br_config *all = must_load(text);
	struct br_config *example = must_load_file(EXAMPLE);
	char *a = printed(all, false), *b = printed(example, false);

	(void)state;
	for (size_t i = 0; i < br_table_count(); i++) {
		const struct br_key *key = br_table_at(i);
		char name[40];

		if (br_table_is_within(key, "")) {
			if ((all->notes->keys[i] & BR_NOTE_SET) == 0)
				fail_msg("%s is not in the example", key->path);
			continue;
		}
		/* Keys of a list's groups stand in its explanation. */
		snprintf(
		    name, sizeof(name), "%s = ", strrchr(key->path, '.') + 1);
		if (strstr(text, name) == NULL)
			fail_msg("%s is not in the example", key->path);
	}
	assert_string_equal(a, b);
	free(a);
	free(b);
	free(text);
	br_config_free(all);
	br_config_free(example);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(loads), cmocka_unit_test(lists_every_default)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
