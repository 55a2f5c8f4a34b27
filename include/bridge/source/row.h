/*
 * row: one row of the user's table, the columns that mean something picked
 * out of it by their names in any case. Columns come from source.columns;
 * what ExtractNewRecordState adds (`__op` and its kin) is found as well.
 */
#ifndef BRIDGE_SOURCE_ROW_H
#define BRIDGE_SOURCE_ROW_H

#include "bridge/config/config.h"
#include "bridge/source/field.h"
#include "bridge/source/schema.h"

enum br_column {
	BR_COLUMN_NONE = -1,
	BR_COLUMN_ID,
	BR_COLUMN_KEY,
	BR_COLUMN_AGGREGATE,
	BR_COLUMN_ORDER,
	BR_COLUMN_TYPE,
	BR_COLUMN_PAYLOAD,
	BR_COLUMN_URL,
	BR_COLUMN_RETRIES,
	BR_COLUMN_STATUS,
	BR_COLUMN_CREATED,
	BR_COLUMN_TRACING,
	/* added to a flattened row */
	BR_COLUMN_OP,
	BR_COLUMN_DELETED,
	BR_COLUMN_SCHEMA,
	BR_COLUMN_TABLE,
	BR_COLUMN_CONNECTOR,
	BR_COLUMN_TIME,
	BR_COLUMN_COUNT
};

/* Names of the columns; immutable, any thread. Keeps pointers to `config`. */
struct br_columns;

struct br_columns *br_columns_new(const struct br_config_columns *config);
void br_columns_free(struct br_columns *c);

/*
 * A row. A reader of another format than JSON fills it by hand: `plain` means
 * that the text of a string is its content, without quotes and escapes.
 */
struct br_row {
	struct br_json_value value[BR_COLUMN_COUNT]; /* kind NONE: absent */
	struct br_slice name[BR_COLUMN_COUNT];       /* as the record spells */
	uint8_t rank[BR_COLUMN_COUNT];
	bool exact[BR_COLUMN_COUNT];
	uint32_t twice; /* bits: two columns that differ only by case */
	bool plain;
	struct br_schemas *schemas; /* may be NULL */
	struct br_slice schema;     /* of Kafka Connect, with this row in it */
	const char *within;         /* its field that is the row, or NULL */
};

void br_row_clear(struct br_row *row);

/* Puts one column into its places, if it has any. */
void br_row_add(struct br_row *row, const struct br_columns *columns,
    struct br_slice name, const struct br_json_value *value);

/* Clears the row and reads an object that the scanner has accepted. */
void br_row_read(struct br_row *row, const struct br_columns *columns,
    struct br_slice object);

/* True when it has a payload and something that identifies it. */
bool br_row_is_event(const struct br_row *row);

/* The column as text. */
struct br_field br_row_field(
    struct br_arena *arena, const struct br_row *row, enum br_column column);

enum br_row_id {
	BR_ROW_ID_ABSENT,
	BR_ROW_ID_TEXT,
	BR_ROW_ID_NUMBER,  /* digits, maybe with a sign */
	BR_ROW_ID_LOSSY,   /* a fraction, or a double beyond 2^53 */
	BR_ROW_ID_INVALID, /* not a text at all */
};

/*
 * The column as an id, exact for whole numbers of any length: 1001, 1001.0,
 * "1001" and {"scale":0,"value":"A+k="} are the number 1001. `*field` is its
 * text, also where it cannot be used.
 */
enum br_row_id br_row_id(struct br_arena *arena, const struct br_row *row,
    enum br_column column, struct br_field *field);

/* The column as milliseconds since 1970; false when it says no time. */
bool br_row_time(struct br_arena *arena, const struct br_row *row,
    enum br_column column, int64_t *ms);

#endif
