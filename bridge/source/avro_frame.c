/* avro_frame: see the header. */
#include "bridge/source/avro_frame.h"

#include <strings.h>

#define GUID_BYTES 16

/* Headers of registries, by part. */
static const struct {
	const char *guid, *global, *content, *encoding;
} names[] = {
    [BR_FRAME_VALUE] = {"__value_schema_id", "apicurio.value.globalId",
        "apicurio.value.contentId", "apicurio.value.encoding"},
    [BR_FRAME_KEY] = {"__key_schema_id", "apicurio.key.globalId",
        "apicurio.key.contentId", "apicurio.key.encoding"},
};

static uint64_t
big_endian(const uint8_t *bytes, size_t len)
{
	uint64_t number = 0;

	for (size_t i = 0; i < len; i++)
		number = number << 8 | bytes[i];
	return number;
}

static enum br_schema_space
space_of(enum br_id_space space)
{
	return space == BR_ID_GLOBAL ? BR_SCHEMA_GLOBAL : BR_SCHEMA_CONTENT;
}

/* The last header of the name that is not null, or NULL. */
static const struct br_slice *
header(const struct br_record *record, const char *name)
{
	const struct br_slice *found = NULL;

	for (size_t i = 0; i < record->header_count; i++)
		if (record->headers[i].value.data != NULL &&
		    strcmp(record->headers[i].name, name) == 0)
			found = &record->headers[i].value;
	return found;
}

static struct br_frame
unsupported(const char *what)
{
	return (struct br_frame){.kind = BR_FRAME_UNSUPPORTED, .what = what};
}

static struct br_frame
avro(struct br_schema_key key, struct br_slice body, bool bare_bytes)
{
	return (struct br_frame){.kind = BR_FRAME_AVRO,
	    .key = key,
	    .body = body,
	    .bare_bytes = bare_bytes};
}

static struct br_schema_key
guid_key(const uint8_t *bytes)
{
	struct br_schema_key key = {.space = BR_SCHEMA_GUID};

	memcpy(key.guid, bytes, GUID_BYTES);
	return key;
}

/* Confluent's header: what would be the prefix of the value. */
static struct br_frame
from_guid_header(struct br_slice id, struct br_slice body,
    const struct br_config_registry *config)
{
	struct br_schema_key key = {.space = space_of(config->id4)};

	if (id.len == 1 + GUID_BYTES && id.data[0] == 0x01)
		return avro(guid_key(id.data + 1), body, true);
	if (id.len != 5 || id.data[0] != 0x00)
		return unsupported("the header with the schema id holds "
		                   "neither a GUID nor a 4-byte id");
	key.id = big_endian(id.data + 1, 4);
	return avro(key, body, true);
}

static struct br_frame
from_apicurio_header(
    struct br_slice id, struct br_slice body, enum br_schema_space space)
{
	struct br_schema_key key = {.space = space};

	if (id.len != 8)
		return unsupported("the header with Apicurio's id has no 8 "
		                   "bytes");
	key.id = big_endian(id.data, 8);
	return avro(key, body, false);
}

static struct br_frame
from_headers(const struct br_record *record, enum br_frame_part part,
    struct br_slice body, const struct br_config_registry *config)
{
	const struct br_slice *guid = header(record, names[part].guid);
	const struct br_slice *global = header(record, names[part].global);
	const struct br_slice *content = header(record, names[part].content);
	const struct br_slice *encoding = header(record, names[part].encoding);
	struct br_frame frame = {.kind = BR_FRAME_NONE};

	if (guid != NULL)
		frame = from_guid_header(*guid, body, config);
	else if (global != NULL)
		frame = from_apicurio_header(*global, body, BR_SCHEMA_GLOBAL);
	else if (content != NULL)
		frame = from_apicurio_header(*content, body, BR_SCHEMA_CONTENT);
	if (guid == NULL && frame.kind == BR_FRAME_AVRO && encoding != NULL &&
	    !(encoding->len == 6 &&
	        strncasecmp((const char *)encoding->data, "BINARY", 6) == 0))
		frame = unsupported("Apicurio's encoding is JSON; set "
		                    "value.converter.apicurio.registry."
		                    "avro.encoding to BINARY");
	frame.from_header = frame.kind != BR_FRAME_NONE;
	return frame;
}

static struct br_slice
behind(struct br_slice bytes, size_t len)
{
	return (struct br_slice){bytes.data + len, bytes.len - len};
}

static struct br_frame
from_prefix(
    struct br_slice bytes, const struct br_config_registry *config, bool known)
{
	struct br_schema_key key = {.space = space_of(config->id4)};
	struct br_frame none = {.kind = BR_FRAME_NONE};

	if (known && bytes.len >= 1 + GUID_BYTES && bytes.data[0] == 0x01)
		return avro(guid_key(bytes.data + 1), behind(bytes, 17), true);
	if (known && bytes.len >= 18 && bytes.data[0] == 0x03)
		return unsupported("it looks like AWS Glue's framing");
	if (bytes.len >= 5 && bytes.data[0] == 0x00) {
		key.id = big_endian(bytes.data + 1, 4);
		if (key.id != 0)
			return avro(key, behind(bytes, 5), true);
		if (bytes.len >= 9) {
			key.space = space_of(config->id8);
			key.id = big_endian(bytes.data + 1, 8);
			return avro(key, behind(bytes, 9), false);
		}
	}
	return known ? unsupported("it begins with no id of a schema") : none;
}

struct br_frame
br_avro_frame(const struct br_record *record, enum br_frame_part part,
    const struct br_config_registry *config, bool known)
{
	struct br_slice bytes =
	    part == BR_FRAME_VALUE ? record->value : record->key;
	struct br_frame frame = {.kind = BR_FRAME_NONE};

	if (bytes.data == NULL)
		return frame;
	frame = from_headers(record, part, bytes, config);
	if (frame.kind != BR_FRAME_NONE)
		return frame;
	return from_prefix(bytes, config, known);
}
