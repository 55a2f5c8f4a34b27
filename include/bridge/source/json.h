/*
 * json: a strict scanner for JSON (RFC 8259) that gives back exact spans of
 * the text and never turns a number into a double: what is forwarded is the
 * bytes that came.
 *
 * Strict: UTF-8 is checked, control characters in strings, trailing bytes, a
 * BOM and more than BR_JSON_DEPTH nested arrays and objects are faults.
 * Duplicate names are not. A lone surrogate escape is accepted as long as
 * nobody asks for the decoded string. No allocation, no recursion. Any
 * thread.
 */
#ifndef BRIDGE_SOURCE_JSON_H
#define BRIDGE_SOURCE_JSON_H

#include "bridge/base/slice.h"
#include "bridge/source/arena.h"

#define BR_JSON_DEPTH 512

enum br_json_kind {
	BR_JSON_NONE, /* not a value */
	BR_JSON_NULL,
	BR_JSON_FALSE,
	BR_JSON_TRUE,
	BR_JSON_NUMBER,
	BR_JSON_STRING,
	BR_JSON_ARRAY,
	BR_JSON_OBJECT
};

struct br_json_value {
	enum br_json_kind kind;
	bool escaped;         /* a string that holds escapes */
	struct br_slice text; /* as it stands, a string with its quotes */
};

struct br_json_member {
	struct br_json_value name; /* of an array's element: NONE */
	struct br_json_value value;
};

/* Where and why a text is not JSON; `what` is static, NULL means: it is. */
struct br_json_fault {
	const char *what;
	size_t at;
};

/*
 * Texts to look out for while scanning: string values (not names) that are
 * equal to one of them once decoded. An absent slice never matches.
 */
struct br_json_watch {
	struct br_slice text[2];
	bool hit; /* set, never cleared */
};

/* Kind of the value that the text begins with, by its first character. */
enum br_json_kind br_json_peek(struct br_slice text);

/*
 * True when the whole text is one JSON value, with white space around it
 * allowed; `value` (may be NULL) gets its span. `watch` may be NULL.
 */
bool br_json_check(struct br_slice text, struct br_json_watch *watch,
    struct br_json_value *value, struct br_json_fault *fault);

/*
 * Walks the members of an object, or the elements of an array, scanning and
 * checking the text on the way: only when next has returned false is it known
 * whether the whole text is JSON (fault.what == NULL).
 */
struct br_json_iter {
	struct br_json_fault fault;
	enum br_json_kind kind; /* ARRAY, OBJECT; NONE for anything else */
	struct br_json_watch *watch;
	const uint8_t *begin, *at, *end;
	bool first;
};

void br_json_begin(
    struct br_json_iter *it, struct br_slice text, struct br_json_watch *watch);
bool br_json_next(struct br_json_iter *it, struct br_json_member *member);

/* An object read in one pass; the first BR_JSON_MEMBERS members are kept. */
#define BR_JSON_MEMBERS 64

struct br_json_object {
	struct br_slice text; /* as it was given */
	size_t count;         /* all of them, also those beyond the array */
	struct br_json_member member[BR_JSON_MEMBERS];
};

/* False and the fault when the whole text is not one object. */
bool br_json_read(struct br_slice text, struct br_json_watch *watch,
    struct br_json_object *object, struct br_json_fault *fault);

/* The last kept member of that name, or NULL. `any_case`: ASCII letters. */
const struct br_json_value *br_json_get(
    const struct br_json_object *object, const char *name);
const struct br_json_value *br_json_get_any_case(
    const struct br_json_object *object, const char *name);

/* The bytes between the quotes, escapes untouched. */
struct br_slice br_json_inner(const struct br_json_value *string);

/*
 * Decodes a string that the scanner has accepted: a span of the text where it
 * holds no escape, else bytes of the arena. False for a lone surrogate, which
 * no UTF-8 can spell.
 */
bool br_json_unquote(struct br_arena *arena, const struct br_json_value *string,
    struct br_slice *out);

/* True when a scanned string, decoded, is this text. */
bool br_json_is(const struct br_json_value *string, struct br_slice text);

/* Copies a scanned value without the white space between its tokens. */
struct br_slice br_json_compact(struct br_arena *arena, struct br_slice text);

#endif
