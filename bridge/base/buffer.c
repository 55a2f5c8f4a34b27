/* buffer: see the header. */
#include "bridge/base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes and a NUL. */
static void
reserve(struct br_buffer *b, size_t more)
{
	size_t need = b->len + more + 1;
	size_t capacity = b->capacity != 0 ? b->capacity : 256;
	char *data;

	if (need <= b->capacity)
		return;
	while (capacity < need)
		capacity *= 2;
	data = realloc(b->data, capacity);
	if (data == NULL)
		abort();
	b->data = data;
	b->capacity = capacity;
}

void
br_buffer_add(struct br_buffer *b, const void *bytes, size_t len)
{
	reserve(b, len);
	if (len != 0)
		memcpy(b->data + b->len, bytes, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void
br_buffer_str(struct br_buffer *b, const char *text)
{
	br_buffer_add(b, text, strlen(text));
}

void
br_buffer_format(struct br_buffer *b, const char *format, ...)
{
	va_list args, again;
	size_t room;
	int len;

	reserve(b, 0);
	room = b->capacity - b->len;
	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(b->data + b->len, room, format, args);
	va_end(args);
	if (len >= 0 && (size_t)len >= room) {
		reserve(b, (size_t)len);
		(void)vsnprintf(
		    b->data + b->len, (size_t)len + 1, format, again);
	}
	va_end(again);
	if (len >= 0)
		b->len += (size_t)len;
	b->data[b->len] = '\0';
}

void
br_buffer_clear(struct br_buffer *b)
{
	b->len = 0;
	if (b->data != NULL)
		b->data[0] = '\0';
}

void
br_buffer_free(struct br_buffer *b)
{
	free(b->data);
	*b = (struct br_buffer){0};
}
