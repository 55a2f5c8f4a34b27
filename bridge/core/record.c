/* record: see the header. */
#include "bridge/core/record.h"

const struct br_slice *
br_record_header(const struct br_record *r, const char *name)
{
	for (size_t i = r->header_count; i > 0; i--)
		if (strcmp(r->headers[i - 1].name, name) == 0)
			return &r->headers[i - 1].value;
	return NULL;
}
