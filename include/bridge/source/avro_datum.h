/*
 * avro_datum: walks the bytes of one value along its schema before avro-c
 * sees them: every length, count, index and depth is checked, so that avro-c
 * succeeds on what passes, uses all of it, and never allocates beyond what
 * the bytes justify. No allocation, any thread.
 */
#ifndef BRIDGE_SOURCE_AVRO_DATUM_H
#define BRIDGE_SOURCE_AVRO_DATUM_H

#include "bridge/source/avro_schema.h"

/* Values that one record may unfold to, fields of null branches included. */
#define BR_AVRO_VALUES 2000000

struct br_avro_fault {
	const char *what; /* static */
	size_t at;        /* byte of the body */
	size_t values;    /* that it unfolds to, at most */
};

/* True when the bytes are exactly one value of the schema. */
bool br_avro_datum_check(const struct br_avro_node *root, struct br_slice body,
    struct br_avro_fault *fault);

/*
 * After a check that passed: the node of the value, with the branches of a
 * union at the top taken, and the bytes of that value without its length.
 */
const struct br_avro_node *br_avro_datum_top(const struct br_avro_node *root,
    struct br_slice body, struct br_slice *inner);

#endif
