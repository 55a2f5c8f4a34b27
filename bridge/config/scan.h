/*
 * scan: what the files of the scanner share (scan_fault, scan_value,
 * scanner); the outside sees include/bridge/config/scanner.h only.
 */
#ifndef BRIDGE_CONFIG_SCAN_H
#define BRIDGE_CONFIG_SCAN_H

#include "bridge/config/lexer.h"
#include "bridge/config/scanner.h"

struct br_scanner {
	const char *file;
	struct br_scan *scan;
	size_t capacity;
	struct br_lexer lx;
	struct br_token tok;    /* the next word, not yet used */
	struct br_token before; /* the one before it */
	struct br_buffer *faults;
	size_t fault_count;
	bool stop;   /* the structure is unclear from here on */
	bool spoilt; /* no parser could read the rest, but we can go on */
	unsigned depth;
	size_t key;          /* whose value is read; BR_SCAN_ROOT: none */
	unsigned quote_line; /* of the last string that spans lines, or 0 */
};

/* Uses up the next word. */
void br_scan_advance(struct br_scanner *s);

/* Goes on with the word at or behind `pos`, from the place `from`. */
void br_scan_resume(struct br_scanner *s, struct br_lexer from, size_t pos);

/* ---- scan_fault.c */

/* Reports a fault at a word; of the key that is read, when there is one. */
void br_scan_fault(struct br_scanner *s, const struct br_token *t,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same, and nothing can be said about the rest. */
void br_scan_fatal(struct br_scanner *s, const struct br_token *t,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The structure is broken at the next word: says what is wanted there. */
void br_scan_broken(struct br_scanner *s, const char *wanted);

/* True when the text there may be shown: it cannot be a secret. */
bool br_scan_may_show(struct br_scanner *s, size_t start, size_t end);

#define BR_SCAN_ROOM 120

/* What a word is, for a message; `room` holds it. */
const char *br_scan_found(
    struct br_scanner *s, const struct br_token *t, char room[BR_SCAN_ROOM]);

/* The usual reason why a text goes wrong far from its mistake, or "". */
const char *br_scan_quote_hint(
    const struct br_scanner *s, char room[BR_SCAN_ROOM]);

/* ---- scan_value.c: single values; each uses up its words */

void br_scan_number(struct br_scanner *s, size_t key);
void br_scan_string(struct br_scanner *s, size_t key, bool in_list);
/* Text without quotes, or with the wrong ones, where a value belongs. */
void br_scan_bare(struct br_scanner *s, size_t key);
void br_scan_missing(struct br_scanner *s, size_t key);

void br_scan_blank(struct br_scanner *s, size_t start, size_t end);
void br_scan_mark_bad(struct br_scanner *s, size_t key);

/* True when a name and = come next: a new key. */
bool br_scan_setting_follows(struct br_lexer lx);

#endif
