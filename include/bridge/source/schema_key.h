/*
 * schema_key: how a record names its schema. The id spaces of one registry
 * are apart: content id 7 and global id 7 are two schemas.
 */
#ifndef BRIDGE_SOURCE_SCHEMA_KEY_H
#define BRIDGE_SOURCE_SCHEMA_KEY_H

#include <stdbool.h>
#include <stdint.h>

enum br_schema_space {
	BR_SCHEMA_CONTENT, /* what Confluent's API calls the id */
	BR_SCHEMA_GLOBAL,  /* Apicurio's global id */
	BR_SCHEMA_GUID
};

struct br_schema_key {
	enum br_schema_space space;
	uint64_t id;      /* not of GUID */
	uint8_t guid[16]; /* of GUID */
};

/* Room for "global id 18446744073709551615" or "guid " and a UUID. */
#define BR_SCHEMA_KEY_TEXT 48

/* "content id 7", as messages name it. */
void br_schema_key_text(
    const struct br_schema_key *key, char text[BR_SCHEMA_KEY_TEXT]);

bool br_schema_key_eq(
    const struct br_schema_key *a, const struct br_schema_key *b);

#endif
