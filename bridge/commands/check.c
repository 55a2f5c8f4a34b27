/* check: see the header. */
#include "bridge/commands/check.h"

#include <stdio.h>

#include "bridge/commands/setup.h"
#include "bridge/config/loader.h"
#include "bridge/runtime/bridge.h"

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
	int status;
	struct br_config *c =
	    br_setup_config(argc, argv, "outbox-bridge check -c FILE", &status);

	if (c == NULL)
		return status;
	status = print_config(c) ? BR_EXIT_OK : BR_EXIT_FATAL;
	br_config_free(c);
	return status;
}
