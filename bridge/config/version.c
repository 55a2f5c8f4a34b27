/* version: see loader.h. */
#include <libconfig.h>

#include "bridge/config/loader.h"

#define TEXT(x) #x
#define DOTTED(major, minor) TEXT(major) "." TEXT(minor)

const char *
br_config_version(void)
{
	return "libconfig " DOTTED(LIBCONFIG_VER_MAJOR, LIBCONFIG_VER_MINOR);
}
