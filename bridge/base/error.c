/* error: see the header. */
#include "bridge/base/error.h"

#include <stdarg.h>
#include <stdio.h>

bool
br_fail(struct br_error *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return false;
}
