/* explain_advice: there is one for every reason that the sources name. */
#include "explain_support.h"

#include <dirent.h>
#include <regex.h>

#include "bridge/commands/explain_advice.h"

/* A dead letter, as the sources decide it: the group is the reason. */
static const char *const forms[] = {
    "\"(detect|decode|extract|validate)\",[ \t\n]*\"([a-z-]+)\"",
    "(no_payload)\\(d, \"([a-z-]+)\"",
    "(dead)\\(out, &?frame, \"([a-z-]+)\"",
    "(refuse)\\(aim, \"([a-z-]+)\"",
};

static size_t
check_text(const char *file, const char *text)
{
	size_t found = 0;

	for (size_t i = 0; i < COUNT(forms); i++) {
		const char *at = text;
		regmatch_t m[3];
		regex_t re;

		assert_int_equal(regcomp(&re, forms[i], REG_EXTENDED), 0);
		for (; regexec(&re, at, 3, m, 0) == 0; at += m[0].rm_eo) {
			char reason[64];

			(void)snprintf(reason, sizeof(reason), "%.*s",
			    (int)(m[2].rm_eo - m[2].rm_so), at + m[2].rm_so);
			if (br_explain_advice(reason) == NULL)
				fail_msg("%s: no advice for %s", file, reason);
			found++;
		}
		regfree(&re);
	}
	return found;
}

static size_t
check_file(const char *path)
{
	struct br_buffer text = {0};
	FILE *f = fopen(path, "r");
	size_t found;
	char line[512];

	assert_non_null(f);
	br_buffer_str(&text, "");
	while (fgets(line, sizeof(line), f) != NULL)
		br_buffer_str(&text, line);
	(void)fclose(f);
	found = check_text(path, text.data);
	br_buffer_free(&text);
	return found;
}

static void
every_reason(void **state)
{
	static const char folder[] = SOURCE_DIR "/bridge/source";
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t found = check_file(SOURCE_DIR "/bridge/runtime/intake.c");
	char path[512];

	(void)state;
	/* url-invalid, url-forbidden, no-route */
	assert_int_equal(found, 3);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		if (strstr(entry->d_name, ".c") == NULL)
			continue;
		(void)snprintf(
		    path, sizeof(path), "%s/%s", folder, entry->d_name);
		found += check_file(path);
	}
	(void)closedir(dir);
	assert_true(found > 30);
	assert_null(br_explain_advice("no-such-reason"));
	assert_non_null(br_explain_advice("registry_down"));
	assert_non_null(br_explain_advice("event_urls_empty"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
