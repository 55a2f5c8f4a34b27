/* check: see the header. */
#include "bridge/commands/check.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "bridge/config/loader.h"

#define USAGE "usage: outbox-bridge check -c FILE\n"

/* Finds the file in the words; 0, or the exit status. */
static int
parse(int argc, char **argv, const char **file)
{
	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "-c") == 0 && i + 1 < argc &&
		    *file == NULL) {
			*file = argv[++i];
		} else if (strcmp(argv[i], "--connect") == 0) {
			fputs("outbox-bridge: check --connect is not part of "
			      "this version; without it the file is checked\n",
			    stderr);
			return EX_USAGE;
		} else {
			fprintf(stderr,
			    "outbox-bridge: check: '%s' is not understood "
			    "here\n%s",
			    argv[i], USAGE);
			return EX_USAGE;
		}
	}
	if (*file != NULL)
		return 0;
	fputs("outbox-bridge: check needs a file\n" USAGE, stderr);
	return EX_USAGE;
}

/* Each line of the faults with the program's name before it. */
static void
print_faults(const char *text)
{
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		fprintf(stderr, "outbox-bridge: %.*s\n", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

/* True when all of it was written. */
static bool
print_config(const struct br_config *c)
{
	struct br_buffer text = {0};
	bool ok;

	br_config_print(c, &text);
	ok = fwrite(text.data, 1, text.len, stdout) == text.len &&
	     fflush(stdout) == 0;
	if (!ok)
		perror("outbox-bridge: standard output");
	br_buffer_free(&text);
	return ok;
}

int
br_command_check(int argc, char **argv)
{
	struct br_buffer faults = {0};
	const char *file = NULL;
	struct br_config *c;
	int status = parse(argc, argv, &file);

	if (status != 0)
		return status;
	c = br_config_load(file, &faults);
	if (c == NULL) {
		print_faults(faults.data);
		status = EX_CONFIG;
	} else if (!print_config(c)) {
		status = 1;
	}
	br_config_free(c);
	br_buffer_free(&faults);
	return status;
}
