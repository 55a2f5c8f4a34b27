/*
 * explain_file: records in a file, in the JSON form of tests/fixtures: one
 * object, a list of them, or one a line.
 *
 *     {"topic": "outbox.event.Order", "partition": 0, "offset": 7,
 *      "timestamp": 1767225600000, "timestamp_type": "create",
 *      "key": "Yy03", "value": "e30=", "headers": [["id", "NDI="]]}
 *
 * Key, value and headers are base64, a null is null. Only `topic` and `value`
 * must be there; members that are not known are not looked at.
 */
#ifndef BRIDGE_COMMANDS_EXPLAIN_FILE_H
#define BRIDGE_COMMANDS_EXPLAIN_FILE_H

#include "bridge/base/error.h"
#include "bridge/core/record.h"

struct br_explain_file;

/* Reads all of it; "-" is standard input. NULL and a reason. */
struct br_explain_file *br_explain_file_open(
    const char *path, struct br_error *err);

/* The same for a text; `name` stands in messages. Both are used, not copied. */
struct br_explain_file *br_explain_file_text(
    const char *name, const char *text, size_t len);

void br_explain_file_free(struct br_explain_file *f); /* NULL is fine */

enum br_explain_file_result {
	BR_EXPLAIN_FILE_RECORD,
	BR_EXPLAIN_FILE_END,
	BR_EXPLAIN_FILE_FAULT /* `err` names file, line and what is wrong */
};

/* The next record, valid until the next call. */
enum br_explain_file_result br_explain_file_next(
    struct br_explain_file *f, struct br_record *record, struct br_error *err);

#endif
