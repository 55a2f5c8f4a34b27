/* skip_text: reasons to skip, in a sentence; see decode.h. */
#include "bridge/source/decode.h"

#include <string.h>

static const struct {
	const char *reason, *text;
} texts[] = {
    {"op-update", "an update of a row is not a new event"},
    {"requeue-by-update",
        "an update has set the row back to a pending status, which is not a "
        "new event: use `dlq redrive --id` or `replay --requeue --id`"},
    {"op-delete", "the row was deleted"},
    {"op-truncate", "the table was emptied"},
    {"op-message",
        "a logical message whose prefix is not in source.message_prefixes"},
    {"pk-update", "the row's primary key was changed: the event is an old one"},
    {"status-not-pending",
        "the row's status is not in source.pending_status, or it has none and "
        "source.on_snapshot is \"skip\""},
    {"tombstone", "a null value that no header calls an event"},
    {"null-payload",
        "the event has no payload, and source.on_null_payload is \"skip\""},
    {"heartbeat", "a heartbeat of the connector"},
    {"transaction-metadata", "the begin or end of a transaction"},
    {"schema-change", "a change of a table's schema"},
    {"notification", "a notification of the connector"},
    {"other-table", "a row of a table that is not in source.tables"},
    {"topic-skipped", "the topic is in source.skip_topics"},
    {"duplicate", "the event was seen before"},
};

const char *
br_decode_skip_text(const char *reason)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(texts[i].reason, reason) == 0)
			return texts[i].text;
	return NULL;
}
