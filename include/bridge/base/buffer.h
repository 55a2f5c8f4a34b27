/*
 * buffer: bytes that grow. One owner, no lock. Out of memory aborts: nothing
 * that runs here could go on without its text.
 */
#ifndef BRIDGE_BASE_BUFFER_H
#define BRIDGE_BASE_BUFFER_H

#include <stddef.h>

struct br_buffer {
	char *data; /* NULL until the first byte; else NUL-terminated */
	size_t len; /* without the NUL */
	size_t capacity;
};

/* Appends bytes. */
void br_buffer_add(struct br_buffer *b, const void *bytes, size_t len);

/* Appends a string. */
void br_buffer_str(struct br_buffer *b, const char *text);

/* Appends formatted text. */
void br_buffer_format(struct br_buffer *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Empties it and keeps the memory. */
void br_buffer_clear(struct br_buffer *b);

/* Frees the memory; the buffer is empty and usable afterwards. */
void br_buffer_free(struct br_buffer *b);

#endif
