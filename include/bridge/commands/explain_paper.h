/*
 * explain_paper: text for a person: sections, aligned rows, wrapped prose,
 * and bytes as text or hex. Pure; writes to a buffer.
 *
 * What comes from a record is cleaned: nothing in it reaches the terminal as
 * a control character.
 */
#ifndef BRIDGE_COMMANDS_EXPLAIN_PAPER_H
#define BRIDGE_COMMANDS_EXPLAIN_PAPER_H

#include "bridge/base/buffer.h"
#include "bridge/base/slice.h"

enum br_ink {
	BR_INK_PLAIN,
	BR_INK_BOLD,
	BR_INK_DIM,
	BR_INK_GREEN,
	BR_INK_YELLOW,
	BR_INK_RED,
	BR_INK_CYAN
};

#define BR_PAPER_ROWS 24

struct br_paper_row {
	const char *name;   /* static, or as long as the rows wait */
	size_t value, note; /* where they begin in `scratch` */
};

struct br_paper {
	struct br_buffer *out;
	size_t width; /* columns; at least 40 are used */
	bool colour;
	/* Rows of the section that is being collected. */
	size_t count;
	struct br_paper_row row[BR_PAPER_ROWS];
	struct br_buffer scratch;
};

/* Frees what the paper holds, not `out`. */
void br_paper_free(struct br_paper *p);

/* Text in a colour, as it is. */
void br_paper_ink(struct br_paper *p, enum br_ink ink, const char *text);

/* Bytes with what a terminal would act upon as \n, \x1b or \u202e. */
void br_paper_clean(struct br_buffer *out, struct br_slice text);

/* An empty line, and a heading. */
void br_paper_section(struct br_paper *p, const char *heading);

/*
 * A row of name, value and note, which stays until br_paper_rows() writes all
 * that were collected, in columns. An absent value is shown as "-". `note` is
 * copied; it may be empty.
 */
void br_paper_row(struct br_paper *p, const char *name, struct br_slice value,
    const char *note);
void br_paper_rows(struct br_paper *p);

/* Wrapped at words, each line indented, the first one behind `label`. */
void br_paper_prose(
    struct br_paper *p, size_t indent, const char *label, const char *text);

/* The beginning of a text, wrapped, and how much was left out. */
void br_paper_text(struct br_paper *p, size_t indent, struct br_slice text);

/* The same as a hex dump. */
void br_paper_hex(struct br_paper *p, size_t indent, struct br_slice bytes);

/* The one or the other: as text what is UTF-8 and holds no NUL. */
void br_paper_bytes(struct br_paper *p, size_t indent, struct br_slice bytes);

#endif
