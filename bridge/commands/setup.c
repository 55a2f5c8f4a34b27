/* setup: see the header. */
#include "bridge/commands/setup.h"

#include <stdio.h>
#include <string.h>

#include "bridge/config/loader.h"
#include "bridge/kafka/properties.h"
#include "bridge/runtime/bridge.h"

/* The file that the words name, or NULL after saying what is wrong. */
static const char *
find_file(int argc, char **argv, const char *usage)
{
	const char *file = NULL;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-c") == 0 && i + 1 < argc && file == NULL)
			file = argv[++i];
		else if (strcmp(argv[i], "-c") == 0 && file == NULL)
			break;
		else {
			(void)fprintf(stderr,
			    "outbox-bridge: %s: '%s' is not understood here\n"
			    "usage: %s\n",
			    argv[0], argv[i], usage);
			return NULL;
		}
	}
	if (file == NULL)
		(void)fprintf(stderr,
		    "outbox-bridge: %s needs a file\nusage: %s\n", argv[0],
		    usage);
	return file;
}

/* Each line of the faults with the program's name before it. */
static void
print_faults(const char *text)
{
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		(void)fprintf(stderr, "outbox-bridge: %.*s\n", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

struct br_config *
br_setup_load(const char *file, int *status)
{
	struct br_buffer faults = {0};
	struct br_config *config = br_config_load(file, &faults);

	*status = BR_EXIT_CONFIG;
	if (config != NULL && !br_properties_check(config, &faults)) {
		br_config_free(config);
		config = NULL;
	}
	if (config == NULL)
		print_faults(faults.data);
	br_buffer_free(&faults);
	return config;
}

struct br_config *
br_setup_config(int argc, char **argv, const char *usage, int *status)
{
	const char *file = find_file(argc, argv, usage);

	*status = BR_EXIT_USAGE;
	return file != NULL ? br_setup_load(file, status) : NULL;
}
