/* properties: see the header. */
#include "bridge/kafka/properties.h"

#include <stdio.h>
#include <string.h>

#include <librdkafka/rdkafka.h>

#include "bridge/config/loader.h"

#include "client.h"

bool
br_property_check(const char *text, bool hide, struct br_error *err)
{
	const char *equals = strchr(text, '=');
	rd_kafka_conf_t *conf;
	char name[128];
	bool ok;

	if (equals == NULL || (size_t)(equals - text) >= sizeof(name))
		return br_fail(err, "a property is written \"name=value\"");
	if (strncmp(text, "consumer.", 9) == 0 ||
	    strncmp(text, "producer.", 9) == 0)
		text += 9;
	(void)snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
	if (!br_client_may_set(name, err))
		return false;
	conf = rd_kafka_conf_new();
	ok = br_client_set(conf, name, equals + 1, err);
	rd_kafka_conf_destroy(conf);
	if (!ok && hide)
		return br_fail(
		    err, "%s: librdkafka does not take this value", name);
	return ok;
}

bool
br_properties_check(const struct br_config *c, struct br_buffer *faults)
{
	bool ok = true;

	for (size_t i = 0; i < c->kafka.properties.count; i++) {
		struct br_error err;
		bool secret = false;
		unsigned line = br_config_property_line(c, i, &secret);

		if (br_property_check(
		        c->kafka.properties.item[i], secret, &err))
			continue;
		br_buffer_format(faults, "%s:%u: kafka.properties: %s\n",
		    c->file, line, err.text);
		ok = false;
	}
	return ok;
}
