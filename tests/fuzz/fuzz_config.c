/*
 * fuzz_config: any text as a configuration. It must never crash or hang;
 * what libconfig reads may be refused only for a reason that the scanner's
 * header names; and what loads must print as a text that loads to the same.
 */
#include <libconfig.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/config/loader.h"
#include "bridge/config/scanner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libconfig 1.5 loses the string that it read before a syntax error. */
const char *
__lsan_default_suppressions(void)
{
	return "leak:libconfig";
}

/* Words of the refusals that libconfig does not share. */
static const char *const own[] = {"too large to be read", "looks octal",
    "63 bits", "NUL", "joined into one", "@include", "more than 1000 keys",
    "nested more than", "byte order mark", "UTF-16",
    "comment that opens here is not", "string that opens here is not",
    "a '.' without a digit"};

static void
compare(const char *text, const char *faults)
{
	config_t tree;

	config_init(&tree);
	if (config_read_string(&tree, text)) {
		bool known = false;

		for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
			known |= strstr(faults, own[i]) != NULL;
		if (!known) {
			fprintf(stderr, "refused: %s", faults);
			abort();
		}
	}
	config_destroy(&tree);
}

/* What the scanner calls whole, libconfig must be able to read. */
static void
must_read(const char *mended)
{
	config_t tree;

	config_init(&tree);
	if (!config_read_string(&tree, mended)) {
		fprintf(stderr, "libconfig refuses line %d of: %s\n",
		    config_error_line(&tree), mended);
		abort();
	}
	config_destroy(&tree);
}

/* A text in a shape that libconfig and the scanner see alike. */
static char *
as_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 2);

	if (text == NULL)
		abort();
	if (size != 0)
		memcpy(text, data, size);
	memcpy(text + size, "\n", 2);
	return text;
}

static void
print_and_reload(const struct br_config *c)
{
	struct br_buffer first = {0}, second = {0}, faults = {0};
	struct br_config *again;

	br_config_print(c, &first);
	again = br_config_load_text("f", first.data, first.len, &faults);
	if (strstr(first.data, "***") == NULL) {
		if (again == NULL) {
			fprintf(stderr, "%s\n%s", first.data, faults.data);
			abort();
		}
		br_config_print(again, &second);
		/* The comments differ: everything is set now. */
		for (char *p = second.data; (p = strstr(p, "  // set")); p++)
			memset(p, ' ', 8);
		for (char *p = first.data; (p = strstr(p, "  // set")); p++)
			memset(p, ' ', 8);
		for (char *p = first.data; (p = strstr(p, "  // default")); p++)
			memmove(p + 8, p + 12, strlen(p + 12) + 1),
			    memset(p, ' ', 8);
		if (strcmp(first.data, second.data) != 0) {
			fprintf(stderr, "%s\n%s", first.data, second.data);
			abort();
		}
	}
	br_config_free(again);
	br_buffer_free(&first);
	br_buffer_free(&second);
	br_buffer_free(&faults);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = as_text(data, size);
	struct br_buffer faults = {0};
	struct br_scan scan;
	struct br_config *c;
	size_t count;

	count = br_scan("f", text, size + 1, &scan, &faults);
	if (scan.usable)
		must_read(scan.text);
	/* libconfig would open the files that @include names. */
	if (count != 0 && strstr(text, "@include") == NULL)
		compare(text, faults.data);
	br_scan_free(&scan);
	br_buffer_clear(&faults);
	/* Files that a text names may be anything on this machine. */
	if (strstr(text, "file:") == NULL) {
		c = br_config_load_text("f", text, size, &faults);
		if ((c == NULL) == (faults.len == 0))
			abort();
		if (c != NULL)
			print_and_reload(c);
		br_config_free(c);
	}
	br_buffer_free(&faults);
	free(text);
	return 0;
}
