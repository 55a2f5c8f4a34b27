/* outage: see the header. */
#include "outage.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>

#define GRACE_MS 1000

void
br_outage_complaint(struct br_outage *o, int error, const char *text)
{
	switch (error) {
	case RD_KAFKA_RESP_ERR__AUTHENTICATION:
	case RD_KAFKA_RESP_ERR__RESOLVE:
	case RD_KAFKA_RESP_ERR__SSL:
	case RD_KAFKA_RESP_ERR__TRANSPORT:
		o->error = error;
		(void)snprintf(o->why, sizeof(o->why), "%s", text);
		break;
	default:
		break;
	}
}

bool
br_outage_begin(struct br_outage *o, int64_t now_ms)
{
	if (o->down)
		return false;
	o->down = true;
	o->since_ms = now_ms;
	return true;
}

bool
br_outage_end(struct br_outage *o)
{
	bool told = o->told;

	*o = (struct br_outage){0};
	return told;
}

bool
br_outage_due(struct br_outage *o, int64_t now_ms)
{
	if (!o->down || now_ms - o->since_ms < GRACE_MS ||
	    (o->told && o->error == o->told_error))
		return false;
	o->told = true;
	o->told_error = o->error;
	return true;
}
