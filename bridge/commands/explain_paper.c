/* explain_paper: see the header. */
#include "bridge/commands/explain_paper.h"

#include <stdlib.h>

#include "bridge/base/utf8.h"

#define INDENT 2
#define GAP 2
#define MIN_WIDTH 40
#define TEXT_LINES 24
#define HEX_LINES 16

static size_t
usable(const struct br_paper *p)
{
	return p->width > MIN_WIDTH ? p->width : MIN_WIDTH;
}

void
br_paper_free(struct br_paper *p)
{
	br_buffer_free(&p->scratch);
}

void
br_paper_ink(struct br_paper *p, enum br_ink ink, const char *text)
{
	static const char *const codes[] = {[BR_INK_PLAIN] = "",
	    [BR_INK_BOLD] = "\033[1m",
	    [BR_INK_DIM] = "\033[2m",
	    [BR_INK_GREEN] = "\033[1;32m",
	    [BR_INK_YELLOW] = "\033[1;33m",
	    [BR_INK_RED] = "\033[1;31m",
	    [BR_INK_CYAN] = "\033[36m"};
	bool on = p->colour && ink != BR_INK_PLAIN && text[0] != '\0';

	if (on)
		br_buffer_str(p->out, codes[ink]);
	br_buffer_str(p->out, text);
	if (on)
		br_buffer_str(p->out, "\033[0m");
}

static void
spaces(struct br_paper *p, size_t n)
{
	while (n-- > 0)
		br_buffer_add(p->out, " ", 1);
}

/* Characters that a terminal would act upon, or that hide or reorder. */
static bool
is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0xad ||
	       code == 0xfeff || (code >= 0x200b && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x2069);
}

/*
 * Appends what stands for the first character; returns its bytes and adds the
 * columns that it takes.
 */
static size_t
clean_one(struct br_buffer *out, const uint8_t *s, size_t len, size_t *columns)
{
	size_t before = out->len, n;
	uint32_t code = 0;

	n = br_utf8_char(s, len, &code);
	if (n != 0 && !is_control(code)) {
		br_buffer_add(out, s, n);
		*columns += 1;
		return n;
	}
	if (code == '\n' || code == '\r' || code == '\t')
		br_buffer_str(out, code == '\n'   ? "\\n"
		                   : code == '\r' ? "\\r"
		                                  : "\\t");
	else if (n == 0 || code < 0x80)
		br_buffer_format(out, "\\x%02x", s[0]);
	else
		br_buffer_format(out, "\\u%04x", (unsigned)code);
	*columns += out->len - before;
	return n != 0 ? n : 1;
}

void
br_paper_clean(struct br_buffer *out, struct br_slice text)
{
	size_t columns = 0;

	for (size_t i = 0; i < text.len;)
		i += clean_one(out, text.data + i, text.len - i, &columns);
}

/* Characters of a clean text: how wide it is, as far as we care. */
static size_t
columns_of(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += ((uint8_t)*text & 0xc0) != 0x80;
	return n;
}

void
br_paper_section(struct br_paper *p, const char *heading)
{
	br_buffer_str(p->out, "\n");
	br_paper_ink(p, BR_INK_BOLD, heading);
	br_buffer_str(p->out, "\n");
}

/* ---- rows */

void
br_paper_row(struct br_paper *p, const char *name, struct br_slice value,
    const char *note)
{
	struct br_paper_row *row;

	if (p->count == BR_PAPER_ROWS)
		br_paper_rows(p);
	row = &p->row[p->count++];
	row->name = name;
	row->value = p->scratch.len;
	if (value.data == NULL)
		br_buffer_str(&p->scratch, "-");
	else if (value.len == 0)
		br_buffer_str(&p->scratch, "(empty)");
	else
		br_paper_clean(&p->scratch, value);
	br_buffer_add(&p->scratch, "", 1);
	row->note = p->scratch.len;
	br_paper_clean(&p->scratch, br_slice_str(note));
	br_buffer_add(&p->scratch, "", 1);
}

struct columns {
	size_t name, value;
};

/*
 * As wide as the widest value that leaves its note on the line; a wider one
 * has it on the next.
 */
static struct columns
measure(const struct br_paper *p)
{
	struct columns c = {0, 0};

	for (size_t i = 0; i < p->count; i++)
		if (strlen(p->row[i].name) > c.name)
			c.name = strlen(p->row[i].name);
	for (size_t i = 0; i < p->count; i++) {
		size_t value = columns_of(p->scratch.data + p->row[i].value);
		size_t note = columns_of(p->scratch.data + p->row[i].note);

		if (note > 0 && value > c.value &&
		    INDENT + c.name + GAP + value + GAP + note <= usable(p))
			c.value = value;
	}
	return c;
}

static void
write_row(struct br_paper *p, const struct br_paper_row *row, struct columns c)
{
	const char *value = p->scratch.data + row->value;
	const char *note = p->scratch.data + row->note;
	size_t wide = columns_of(value), left = INDENT + c.name + GAP;

	spaces(p, INDENT);
	br_paper_ink(p, BR_INK_CYAN, row->name);
	spaces(p, c.name - strlen(row->name) + GAP);
	br_buffer_str(p->out, value);
	if (note[0] == '\0') {
		br_buffer_str(p->out, "\n");
		return;
	}
	if (wide > c.value ||
	    left + c.value + GAP + columns_of(note) > usable(p)) {
		br_buffer_str(p->out, "\n");
		spaces(p, left + GAP);
	} else {
		spaces(p, c.value - wide + GAP);
	}
	br_paper_ink(p, BR_INK_DIM, note);
	br_buffer_str(p->out, "\n");
}

void
br_paper_rows(struct br_paper *p)
{
	struct columns c = measure(p);

	for (size_t i = 0; i < p->count; i++)
		write_row(p, &p->row[i], c);
	p->count = 0;
	br_buffer_clear(&p->scratch);
}

/* ---- prose */

void
br_paper_prose(
    struct br_paper *p, size_t indent, const char *label, const char *text)
{
	struct br_buffer clean = {0};
	size_t at = indent + strlen(label), left = at;
	bool first = true;

	spaces(p, indent);
	br_paper_ink(p, BR_INK_CYAN, label);
	br_paper_clean(&clean, br_slice_str(text));
	for (const char *word = clean.data; word != NULL && *word != '\0';) {
		struct br_buffer piece = {0};
		size_t len = strcspn(word, " "), wide;

		br_buffer_add(&piece, word, len);
		wide = columns_of(piece.data);
		if (!first && at + 1 + wide > usable(p)) {
			br_buffer_str(p->out, "\n");
			spaces(p, left);
			at = left;
		} else if (!first) {
			br_buffer_str(p->out, " ");
			at++;
		}
		br_buffer_str(p->out, piece.data);
		br_buffer_free(&piece);
		at += wide;
		first = false;
		word += len;
		word += strspn(word, " ");
	}
	br_buffer_str(p->out, "\n");
	br_buffer_free(&clean);
}

/* ---- bytes */

/* "1,234,567" */
static void
add_count(struct br_buffer *out, size_t n)
{
	char digits[32];
	int len = 0;

	do {
		digits[len++] = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	while (len-- > 0) {
		br_buffer_add(out, &digits[len], 1);
		if (len > 0 && len % 3 == 0)
			br_buffer_str(out, ",");
	}
}

static void
left_out(struct br_paper *p, size_t indent, size_t n)
{
	struct br_buffer line = {0};

	if (n == 0)
		return;
	br_buffer_str(&line, "... and ");
	add_count(&line, n);
	br_buffer_str(&line, n == 1 ? " more byte" : " more bytes");
	spaces(p, indent);
	br_paper_ink(p, BR_INK_DIM, line.data);
	br_buffer_str(p->out, "\n");
	br_buffer_free(&line);
}

/* One line up to a newline or the width; returns the bytes it took. */
static size_t
text_line(struct br_paper *p, size_t room, struct br_slice text)
{
	size_t i = 0, columns = 0;

	while (i < text.len && columns < room && text.data[i] != '\n')
		i += clean_one(p->out, text.data + i, text.len - i, &columns);
	br_buffer_str(p->out, "\n");
	return i + (i < text.len && text.data[i] == '\n');
}

void
br_paper_text(struct br_paper *p, size_t indent, struct br_slice text)
{
	size_t room = usable(p) - indent;

	for (int line = 0; text.len > 0 && line < TEXT_LINES; line++) {
		size_t n;

		spaces(p, indent);
		n = text_line(p, room, text);
		text.data += n;
		text.len -= n;
	}
	left_out(p, indent, text.len);
}

void
br_paper_hex(struct br_paper *p, size_t indent, struct br_slice bytes)
{
	size_t row = usable(p) - indent >= 8 + 2 + 16 * 3 + 2 + 16 ? 16 : 8;
	size_t at = 0;

	for (int line = 0; at < bytes.len && line < HEX_LINES; line++) {
		spaces(p, indent);
		br_buffer_format(p->out, "%08zx ", at);
		for (size_t i = at; i < at + row; i++)
			if (i < bytes.len)
				br_buffer_format(
				    p->out, " %02x", bytes.data[i]);
			else
				spaces(p, 3);
		spaces(p, GAP);
		for (size_t i = at; i < at + row && i < bytes.len; i++) {
			uint8_t c = bytes.data[i];
			char shown = c >= 0x20 && c < 0x7f ? (char)c : '.';

			br_buffer_add(p->out, &shown, 1);
		}
		br_buffer_str(p->out, "\n");
		at += row;
	}
	left_out(p, indent, at < bytes.len ? bytes.len - at : 0);
}

/* UTF-8 without a NUL: escapes show the rest of what is no text. */
static bool
is_text(struct br_slice bytes)
{
	uint32_t code;

	for (size_t i = 0, n; i < bytes.len; i += n) {
		n = br_utf8_char(bytes.data + i, bytes.len - i, &code);
		if (n == 0 || code == 0)
			return false;
	}
	return true;
}

void
br_paper_bytes(struct br_paper *p, size_t indent, struct br_slice bytes)
{
	if (is_text(bytes))
		br_paper_text(p, indent, bytes);
	else
		br_paper_hex(p, indent, bytes);
}
