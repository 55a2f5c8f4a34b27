/* avro_datum: see the header. */
#include "bridge/source/avro_datum.h"

#include "bridge/source/text.h"

struct walk {
	const uint8_t *begin, *at, *end;
	size_t values; /* so far; see BR_AVRO_VALUES */
	const char *what;
};

static bool
fault(struct walk *w, const char *what)
{
	if (w->what == NULL)
		w->what = what;
	return false;
}

/* A zig-zag number: at most ten bytes, and no bit beyond the 64th. */
static bool
read_long(struct walk *w, int64_t *number)
{
	uint64_t bits = 0;
	uint8_t byte;

	for (unsigned i = 0; i < 10; i++) {
		if (w->at == w->end)
			return fault(w, "it ends inside a number");
		byte = *w->at++;
		if (i == 9 && byte > 1)
			break;
		bits |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			*number = (int64_t)(bits >> 1 ^ (~(bits & 1) + 1));
			return true;
		}
	}
	return fault(w, "a number is longer than 64 bits");
}

static bool
skip_bytes(struct walk *w, size_t len)
{
	if ((size_t)(w->end - w->at) < len)
		return fault(w, "it ends inside a value");
	w->at += len;
	return true;
}

static bool
read_bytes(struct walk *w, struct br_slice *bytes)
{
	int64_t len;

	if (!read_long(w, &len))
		return false;
	if (len < 0 || len > w->end - w->at)
		return fault(w, "a length is negative or beyond the end");
	*bytes = (struct br_slice){w->at, (size_t)len};
	w->at += len;
	return true;
}

static bool
read_string(struct walk *w)
{
	struct br_slice text;

	if (!read_bytes(w, &text))
		return false;
	return br_text_is_utf8(text) || fault(w, "a string is not UTF-8");
}

static bool
read_index(struct walk *w, size_t count, size_t *index)
{
	int64_t number;

	if (!read_long(w, &number))
		return false;
	if (number < 0 || (uint64_t)number >= count)
		return fault(w, "the index of a union or enum is out of range");
	*index = (size_t)number;
	return true;
}

static bool
count_values(struct walk *w, size_t count)
{
	w->values += count;
	return w->values <= BR_AVRO_VALUES ||
	       fault(w, "it unfolds to more than 2,000,000 values");
}

static bool walk_value(
    struct walk *w, const struct br_avro_node *node, unsigned depth);

/* avro-c keeps the names of a map's entries as C strings. */
static bool
read_map_key(struct walk *w)
{
	struct br_slice key;

	if (!read_bytes(w, &key))
		return false;
	if (memchr(key.data, '\0', key.len) != NULL)
		return fault(w, "the key of a map holds a NUL");
	return br_text_is_utf8(key) || fault(w, "a string is not UTF-8");
}

/* The entries of one block; each takes room even before it is read. */
static bool
walk_block(struct walk *w, const struct br_avro_node *node, int64_t count,
    unsigned depth)
{
	for (int64_t i = 0; i < count; i++) {
		if (!count_values(w, node->child[0]->weight))
			return false;
		if (node->type == BR_AVRO_MAP && !read_map_key(w))
			return false;
		if (!walk_value(w, node->child[0], depth + 1))
			return false;
	}
	return true;
}

static bool
walk_blocks(struct walk *w, const struct br_avro_node *node, unsigned depth)
{
	int64_t count, size;
	const uint8_t *from;

	for (;;) {
		if (!read_long(w, &count))
			return false;
		if (count == 0)
			return true;
		size = -1;
		if (count < 0) {
			if (count == INT64_MIN)
				return fault(w, "the count of a block is "
				                "out of range");
			count = -count;
			if (!read_long(w, &size))
				return false;
			if (size < 0 || size > w->end - w->at)
				return fault(w, "the size of a block is "
				                "negative or beyond the end");
		}
		from = w->at;
		if (!walk_block(w, node, count, depth))
			return false;
		if (size >= 0 && w->at - from != size)
			return fault(w, "the size of a block is wrong");
	}
}

static bool
walk_record(struct walk *w, const struct br_avro_node *node, unsigned depth)
{
	/* A weight knows nothing of what leads back to itself. */
	if (!count_values(w, node->count))
		return false;
	for (size_t i = 0; i < node->count; i++)
		if (!walk_value(w, node->child[i], depth + 1))
			return false;
	return true;
}

static bool
walk_number(struct walk *w, bool is_int)
{
	int64_t number;

	if (!read_long(w, &number))
		return false;
	return !is_int || (number >= INT32_MIN && number <= INT32_MAX) ||
	       fault(w, "an int is out of range");
}

static bool
walk_boolean(struct walk *w)
{
	if (w->at == w->end)
		return fault(w, "it ends inside a value");
	return *w->at++ <= 1 || fault(w, "a boolean is neither 0 nor 1");
}

static bool
walk_value(struct walk *w, const struct br_avro_node *node, unsigned depth)
{
	struct br_slice bytes;
	size_t index;

	if (depth > BR_AVRO_DEPTH)
		return fault(w, "it is more than 64 levels deep");
	switch (node->type) {
	case BR_AVRO_NULL:
		return true;
	case BR_AVRO_BOOLEAN:
		return walk_boolean(w);
	case BR_AVRO_INT:
	case BR_AVRO_LONG:
		return walk_number(w, node->type == BR_AVRO_INT);
	case BR_AVRO_FLOAT:
		return skip_bytes(w, 4);
	case BR_AVRO_DOUBLE:
		return skip_bytes(w, 8);
	case BR_AVRO_BYTES:
		return read_bytes(w, &bytes);
	case BR_AVRO_STRING:
		return read_string(w);
	case BR_AVRO_FIXED:
		return skip_bytes(w, node->size);
	case BR_AVRO_ENUM:
		return read_index(w, node->count, &index);
	case BR_AVRO_ARRAY:
	case BR_AVRO_MAP:
		return walk_blocks(w, node, depth);
	case BR_AVRO_UNION:
		/* The branch is made where the union stands, and may be
		 * larger than its bytes. */
		return read_index(w, node->count, &index) &&
		       count_values(w, node->child[index]->weight) &&
		       walk_value(w, node->child[index], depth + 1);
	case BR_AVRO_RECORD:
		return walk_record(w, node, depth);
	}
	return false;
}

bool
br_avro_datum_check(const struct br_avro_node *root, struct br_slice body,
    struct br_avro_fault *out)
{
	struct walk w = {
	    .begin = body.data, .at = body.data, .end = body.data + body.len};

	if (walk_value(&w, root, 0) && w.at != w.end)
		(void)fault(&w, "bytes are left behind the value");
	out->what = w.what;
	out->at = (size_t)(w.at - w.begin);
	out->values = w.values;
	return w.what == NULL;
}

const struct br_avro_node *
br_avro_datum_top(const struct br_avro_node *root, struct br_slice body,
    struct br_slice *inner)
{
	struct walk w = {
	    .begin = body.data, .at = body.data, .end = body.data + body.len};
	size_t index = 0;

	if (root->type == BR_AVRO_UNION) {
		(void)read_index(&w, root->count, &index);
		root = root->child[index];
	}
	*inner = (struct br_slice){w.at, (size_t)(w.end - w.at)};
	if (root->type == BR_AVRO_BYTES || root->type == BR_AVRO_STRING)
		(void)read_bytes(&w, inner);
	return root;
}
