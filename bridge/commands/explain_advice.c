/* explain_advice: see the header. */
#include "bridge/commands/explain_advice.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *reason, *advice;
} table[] = {
    {"missing-id",
        "Let the connector send the event's id: the outbox event router puts "
        "the table's id column into the header `id` by itself. If the topic "
        "has no ids at all, source.allow_offset_key = true makes a key of "
        "each record's position."},
    {"id-invalid",
        "Give the event an id or idempotency key of at most 255 bytes of "
        "valid text, and insert it again."},
    {"lossy-id",
        "The connector wrote the id in a form that loses digits. Set "
        "decimal.handling.mode=string (or precise) in it, and insert the "
        "event again."},
    {"null-payload",
        "If such events are meant to be, set source.on_null_payload to "
        "\"skip\", or to \"send_empty\". Else correct the row's payload and "
        "insert the event again."},
    {"empty-value",
        "If such events are meant to be, set source.on_null_payload to "
        "\"skip\", or to \"send_empty\". Else correct the row's payload and "
        "insert the event again."},
    {"payload-unavailable",
        "The database did not log the payload, so that it is not in the "
        "record. PostgreSQL: alter table … replica identity full. Oracle: "
        "lob.enabled=true in the connector. Then insert the event again."},
    {"payload-too-large",
        "Raise limits.body_bytes if the receiver takes such bodies, and "
        "restart; else send a link to the data instead."},
    {"json-syntax",
        "Look at the value's first bytes: if it is not JSON on purpose, set "
        "source.formats to \"string\" or \"bytes\" for this topic; else "
        "correct the converter."},
    {"java-text",
        "Correct value.converter (or header.converter) in the connector. The "
        "data of this record is lost: insert the event again afterwards."},
    {"format-mismatch",
        "source.format (or source.formats for this topic) promises something "
        "else than what stands in the record. Set it to \"auto\", or to what "
        "the connector writes."},
    {"unrecognised",
        "If the topic carries the outbox table, name its columns in "
        "source.columns. If all values are to be sent as they are, set "
        "source.formats to \"string\", \"json\" or \"bytes\" for this topic. "
        "If it carries something else, take it out of kafka.topics, or put "
        "it into source.skip_topics."},
    {"unsupported-framing",
        "Let the producer write a form that is read: see the table of source "
        "formats in the README."},
    {"envelope-malformed",
        "The change event lacks a part that it must have. Look at the "
        "connector's transforms: something rewrites the value."},
    {"avro-decode",
        "The bytes do not fit the schema that they name. Look whether the "
        "registry was emptied and ids were given anew, and whether "
        "registry.id4 and registry.id8 say the right kind of id."},
    {"avro-record-payload",
        "Set source.avro_payload = \"json\", or "
        "table.expand.json.payload=false in the connector."},
    {"schema-not-found",
        "Ask the registry for the id. If it belongs to another registry, "
        "correct registry.url; if ids are Apicurio's global ones, set "
        "registry.id4 (or id8) to \"global\"."},
    {"header-invalid",
        "A value that was to become a request header holds what a header "
        "cannot carry. Correct the row and insert the event again."},
    {"field-invalid",
        "Correct the column that the reason names, or set "
        "source.strict_fields = false to leave such a field out."},
    {"url-invalid",
        "Correct the URL in the row, and insert the event again; or set "
        "delivery.event_url = \"ignore\" to send such events to the route's "
        "URL or delivery.url."},
    {"url-forbidden",
        "Add the host to delivery.event_urls if events may be sent there, "
        "and restart; then insert the event again."},
    {"no-route",
        "Set delivery.url, or add a route that matches this event and has a "
        "url."},
    {"event_urls_empty",
        "Name the host in delivery.event_urls and restart; or set "
        "delivery.event_url = \"ignore\". Until then the partition waits here "
        "and nothing is lost."},
    {"registry_down",
        "Look whether registry.url can be reached from here with these "
        "credentials. Until then the partition waits here, and goes on by "
        "itself."},
};

const char *
br_explain_advice(const char *reason)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(table[i].reason, reason) == 0)
			return table[i].advice;
	return NULL;
}
