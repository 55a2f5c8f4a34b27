/*
 * lexer: the words of a libconfig text, with their places. Pure. Splits as
 * libconfig 1.5 does (the longest word wins), so that what it accepts is
 * accepted, and tells apart what libconfig only calls garbage.
 */
#ifndef BRIDGE_CONFIG_LEXER_H
#define BRIDGE_CONFIG_LEXER_H

#include <stdbool.h>
#include <stddef.h>

enum br_word {
	BR_WORD_END,
	BR_WORD_NAME,
	BR_WORD_BOOLEAN,
	BR_WORD_INTEGER,
	BR_WORD_REAL,
	BR_WORD_STRING,
	BR_WORD_EQUALS, /* = or : */
	BR_WORD_COMMA,
	BR_WORD_SEMICOLON,
	BR_WORD_OPEN,         /* { */
	BR_WORD_CLOSE,        /* } */
	BR_WORD_LIST_OPEN,    /* ( */
	BR_WORD_LIST_CLOSE,   /* ) */
	BR_WORD_ARRAY_OPEN,   /* [ */
	BR_WORD_ARRAY_CLOSE,  /* ] */
	BR_WORD_INCLUDE,      /* @include */
	BR_WORD_OPEN_STRING,  /* a string without end */
	BR_WORD_OPEN_COMMENT, /* a comment without end */
	BR_WORD_OTHER         /* one byte that begins nothing */
};

struct br_token {
	enum br_word word;
	size_t start, end; /* in the text */
	unsigned line, column;
	bool hex, wide;   /* integer: 0x…, with L */
	bool nul;         /* string: holds \x00 */
	bool many_lines;  /* string: goes over a line's end */
	bool after_space; /* something stands between it and the one before */
};

struct br_lexer {
	const char *text;
	size_t len, pos;
	unsigned line, column; /* of pos, from 1; columns are characters */
};

/* Reads the next word. At the end it is BR_WORD_END for ever. */
struct br_token br_lexer_next(struct br_lexer *lx);

/* Steps over the bytes up to `pos`. */
void br_lexer_skip(struct br_lexer *lx, size_t pos);

#endif
