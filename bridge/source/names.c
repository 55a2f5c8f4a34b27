/* names: see the header. */
#include "bridge/source/names.h"

#include <stdlib.h>
#include <strings.h>

struct entry {
	struct br_slice name; /* absent: free */
	int slot;
	bool listed;
	bool any_case;
};

struct br_names {
	struct entry *table; /* open addressing, `mask` + 1 places */
	size_t mask;
	size_t slots;
	int *types;
	size_t type_count;
};

static const struct {
	const char *name;
	int slot;
} fixed[] = {
    {"id", BR_SLOT_ID},
    {"outbox.idempotency.key", BR_SLOT_KEY},
    {"idempotencyKey", BR_SLOT_KEY_ALIAS},
    {"idempotency_key", BR_SLOT_KEY_ALIAS + 1},
    {"Idempotency-Key", BR_SLOT_KEY_ALIAS + 2},
    {"aggregatetype", BR_SLOT_AGGREGATE},
    {"aggregateType", BR_SLOT_AGGREGATE + 1},
    {"targetUrl", BR_SLOT_URL},
    {"target_url", BR_SLOT_URL + 1},
    {"maxRetries", BR_SLOT_RETRIES},
    {"max_retries", BR_SLOT_RETRIES + 1},
    {"traceparent", BR_SLOT_TRACEPARENT},
    {"tracestate", BR_SLOT_TRACESTATE},
    {"tracingspancontext", BR_SLOT_TRACING},
    {"content-type", BR_SLOT_CONTENT_TYPE},
    {"__op", BR_SLOT_OP},
    {"__debezium.oldkey", BR_SLOT_OLD_KEY},
    {"ce_subject", BR_SLOT_CLOUD_SUBJECT},
    {"ce_partitionkey", BR_SLOT_CLOUD_PARTITION},
    {"ce_time", BR_SLOT_CLOUD_TIME},
    {"ce_traceparent", BR_SLOT_CLOUD_TRACEPARENT},
    {"ce_tracestate", BR_SLOT_CLOUD_TRACESTATE},
    {"ce_specversion", BR_SLOT_CLOUD},
    {"ce_id", BR_SLOT_CLOUD + 1},
    {"ce_source", BR_SLOT_CLOUD + 2},
    {"ce_type", BR_SLOT_CLOUD + 3},
    {"__value_schema_id", BR_SLOT_REGISTRY},
    {"apicurio.value.globalId", BR_SLOT_REGISTRY + 1},
    {"apicurio.value.contentId", BR_SLOT_REGISTRY + 2},
};

#define FIXED_COUNT (sizeof(fixed) / sizeof(fixed[0]))

/* Length and three characters tell the names of a table of this size apart. */
static size_t
hash(struct br_slice name)
{
	size_t n = name.len;

	if (n == 0)
		return 0;
	return n * 31 + (name.data[0] | 0x20u) * 7 +
	       (name.data[n / 2] | 0x20u) * 131 +
	       (name.data[n - 1] | 0x20u) * 17;
}

static bool
same(const struct entry *e, struct br_slice name)
{
	if (e->name.len != name.len)
		return false;
	if (e->any_case)
		return strncasecmp((const char *)e->name.data,
		           (const char *)name.data, name.len) == 0;
	return memcmp(e->name.data, name.data, name.len) == 0;
}

/* The entry of the name, or the free one where it belongs. */
static struct entry *
place(const struct br_names *n, struct br_slice name)
{
	size_t i = hash(name) & n->mask;

	while (n->table[i].name.data != NULL && !same(&n->table[i], name))
		i = (i + 1) & n->mask;
	return &n->table[i];
}

static struct entry *
add(struct br_names *n, const char *text)
{
	struct br_slice name = br_slice_str(text);
	struct entry *e = place(n, name);

	if (e->name.data == NULL) {
		e->name = name;
		e->slot = BR_SLOT_NONE;
	}
	return e;
}

static void *
allocate(size_t count, size_t size)
{
	void *p = calloc(count != 0 ? count : 1, size);

	if (p == NULL)
		abort();
	return p;
}

struct br_names *
br_names_new(const struct br_config_source *source)
{
	const struct br_strings *types = &source->type_headers;
	const struct br_strings *fields = &source->envelope_fields;
	size_t need = 2 * (FIXED_COUNT + types->count + fields->count);
	struct br_names *n = allocate(1, sizeof(*n));
	size_t size = 64;

	while (size < need)
		size *= 2;
	n->table = allocate(size, sizeof(*n->table));
	n->mask = size - 1;
	n->slots = BR_SLOT_FIXED;
	n->types = allocate(types->count, sizeof(*n->types));
	n->type_count = types->count;
	for (size_t i = 0; i < FIXED_COUNT; i++) {
		struct entry *e = add(n, fixed[i].name);

		e->slot = fixed[i].slot;
		e->any_case = e->slot == BR_SLOT_CONTENT_TYPE;
	}
	for (size_t i = 0; i < types->count; i++) {
		struct entry *e = add(n, types->item[i]);

		if (e->slot == BR_SLOT_NONE)
			e->slot = (int)n->slots++;
		n->types[i] = e->slot;
	}
	for (size_t i = 0; i < fields->count; i++)
		add(n, fields->item[i])->listed = true;
	return n;
}

void
br_names_free(struct br_names *n)
{
	if (n == NULL)
		return;
	free(n->table);
	free(n->types);
	free(n);
}

size_t
br_names_slots(const struct br_names *n)
{
	return n->slots;
}

int
br_names_find(const struct br_names *n, struct br_slice name, bool *listed)
{
	const struct entry *e = place(n, name);

	*listed = e->name.data != NULL && e->listed;
	return e->name.data != NULL ? e->slot : BR_SLOT_NONE;
}

const char *
br_names_name(const struct br_names *n, int slot)
{
	for (size_t i = 0; i < FIXED_COUNT; i++)
		if (fixed[i].slot == slot)
			return fixed[i].name;
	for (size_t i = 0; i <= n->mask; i++)
		if (n->table[i].name.data != NULL && n->table[i].slot == slot)
			return (const char *)n->table[i].name.data;
	return "";
}

const int *
br_names_types(const struct br_names *n, size_t *count)
{
	*count = n->type_count;
	return n->types;
}

void
br_names_collect(const struct br_names *n, const struct br_record *r,
    const struct br_slice **at)
{
	memset(at, 0, n->slots * sizeof(at[0]));
	for (size_t i = 0; i < r->header_count; i++) {
		bool listed;
		int slot =
		    br_names_find(n, br_slice_str(r->headers[i].name), &listed);

		if (slot != BR_SLOT_NONE)
			at[slot] = &r->headers[i].value;
	}
}
