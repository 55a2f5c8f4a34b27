/* outcome: see the header. */
#include "bridge/core/outcome.h"

#include <stdlib.h>

const char *
br_transport_name(enum br_transport t)
{
	/* No default: the compiler names the value that is missing here. */
	switch (t) {
	case BR_TRANSPORT_OK:
		return "ok";
	case BR_TRANSPORT_REFUSED:
		return "refused";
	case BR_TRANSPORT_UNREACHABLE:
		return "unreachable";
	case BR_TRANSPORT_DNS:
		return "dns";
	case BR_TRANSPORT_TLS:
		return "tls";
	case BR_TRANSPORT_CONNECT_TIMEOUT:
		return "connect-timeout";
	case BR_TRANSPORT_TIMEOUT:
		return "timeout";
	case BR_TRANSPORT_RESET:
		return "reset";
	case BR_TRANSPORT_EMPTY:
		return "empty";
	case BR_TRANSPORT_BAD_RESPONSE:
		return "bad-response";
	case BR_TRANSPORT_FORBIDDEN:
		return "forbidden";
	case BR_TRANSPORT_OTHER:
		return "other";
	}
	abort();
}
