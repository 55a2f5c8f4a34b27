/*
 * avro_schema: a writer's schema as a graph of nodes, with what Kafka Connect
 * adds to it, and the same as avro-c sees it.
 *
 * What comes from a registry is not trusted: depth, size, direct recursion
 * and everything else that makes avro-c crash or grow is refused here. avro-c
 * is given a schema of our own making with the same structure and plain
 * names; it never sees defaults, documentation, or names of the user.
 *
 * Immutable once made, but for the value inside (avro_json.h), so that one
 * thread at a time may use it. avro-c keeps the text of its last error for
 * the whole process: only one thread may make schemas.
 */
#ifndef BRIDGE_SOURCE_AVRO_SCHEMA_H
#define BRIDGE_SOURCE_AVRO_SCHEMA_H

#include "bridge/base/error.h"
#include "bridge/base/slice.h"

#include <stdint.h>

/* Levels of records, unions, arrays and maps inside each other. */
#define BR_AVRO_DEPTH 64

enum br_avro_type {
	BR_AVRO_NULL,
	BR_AVRO_BOOLEAN,
	BR_AVRO_INT,
	BR_AVRO_LONG,
	BR_AVRO_FLOAT,
	BR_AVRO_DOUBLE,
	BR_AVRO_BYTES,
	BR_AVRO_STRING,
	/* with children or a name of their own: */
	BR_AVRO_FIXED,
	BR_AVRO_ENUM,
	BR_AVRO_ARRAY,
	BR_AVRO_MAP,
	BR_AVRO_UNION,
	BR_AVRO_RECORD
};

enum br_avro_logical {
	BR_AVRO_PLAIN,
	BR_AVRO_DECIMAL, /* bytes or fixed: an unscaled number */
	BR_AVRO_VARIABLE /* record {scale, value}: Debezium's decimal */
};

struct br_avro_node {
	enum br_avro_type type;
	enum br_avro_logical logical;
	int64_t scale; /* DECIMAL */
	size_t size;   /* FIXED: bytes */
	size_t number; /* among the nodes of the schema */
	size_t weight; /* values that one instance holds at least */
	char *name;    /* full name of a named type, as JSON spells it */
	char *connect; /* Kafka Connect's name of it, or NULL */
	size_t count;  /* fields, branches, symbols; 1 of ARRAY and MAP */
	struct br_avro_node **child; /* not of ENUM */
	char **label; /* RECORD, ENUM: name as a JSON string, with its quotes */
	char *connect_schema; /* of a record at the top; see avro_connect.h */
	struct br_avro_node *next; /* all nodes of the schema */
	unsigned mark;             /* while the schema is made */
};

struct br_avro_schema {
	const struct br_avro_node *root;
	struct br_avro_node *nodes;  /* all of them */
	struct br_avro_value *value; /* of avro_json.c; made when needed */
	void *handle;                /* avro_schema_t */
	size_t values; /* of the body that is rendered next, at most */
};

/*
 * Reads schemas: the last text is the one that was asked for, those before it
 * define what it refers to, each after what it needs itself. NULL and a
 * reason when it is no schema, or one that cannot be read safely.
 */
struct br_avro_schema *br_avro_schema_new(
    const struct br_slice *texts, size_t count, struct br_error *err);
void br_avro_schema_free(struct br_avro_schema *s);

/* What Connect calls a record: "x.Envelope"; NULL for other types. */
const char *br_avro_schema_name(const struct br_avro_node *node);

/* Version of avro-c, for --version. */
const char *br_avro_version(void);

#endif
