/* harness_dlq: the dead letter topic, and the end of the rig; see harness.h. */
#include "harness.h"

#include <string.h>

static struct br_slice
copy(struct br_slice s)
{
	uint8_t *to;

	if (s.data == NULL)
		return s;
	to = malloc(s.len + 1);
	assert_non_null(to);
	if (s.len != 0)
		memcpy(to, s.data, s.len);
	to[s.len] = '\0';
	return (struct br_slice){to, s.len};
}

static void
drop(const void *p)
{
	free((void *)(uintptr_t)p);
}

static void
letters_free(struct rig *r)
{
	for (size_t i = 0; i < r->letters; i++) {
		struct br_record *record = &r->letter[i].record;

		drop(record->key.data);
		drop(record->value.data);
		for (size_t h = 0; h < record->header_count; h++) {
			drop(record->headers[h].name);
			drop(record->headers[h].value.data);
		}
		drop(record->headers);
	}
	free(r->letter);
	r->letter = NULL;
	r->letters = 0;
}

/* The event that a letter says it was. */
static unsigned
event_of(struct rig *r, const struct rig_letter *letter)
{
	const char *partition = rig_header(letter, "outbox.dlq.partition");

	for (unsigned n = 0; partition != NULL && n < r->count; n++)
		if (r->event[n].offset == letter->offset &&
		    r->event[n].partition == (int32_t)atol(partition))
			return n;
	return RIG_EVENTS;
}

static void
see(void *context, const struct br_record *record)
{
	struct rig *r = context;
	struct rig_letter *letter;
	struct br_header *headers =
	    calloc(record->header_count + 1, sizeof(*headers));
	const char *offset;

	r->letter = realloc(r->letter, (r->letters + 1) * sizeof(*r->letter));
	assert_true(r->letter != NULL && headers != NULL);
	letter = &r->letter[r->letters++];
	*letter = (struct rig_letter){.record = *record, .offset = -1};
	letter->record.topic = NULL;
	letter->record.key = copy(record->key);
	letter->record.value = copy(record->value);
	for (size_t i = 0; i < record->header_count; i++) {
		headers[i].name = strdup(record->headers[i].name);
		headers[i].value = copy(record->headers[i].value);
	}
	letter->record.headers = headers;
	offset = rig_header(letter, "outbox.dlq.offset");
	if (offset != NULL)
		letter->offset = atol(offset);
	letter->n = event_of(r, letter);
}

size_t
rig_letters(struct rig *r)
{
	struct br_error err;

	letters_free(r);
	if (!br_mock_read(r->mock, RIG_DLQ, WAIT_MS, see, r, &err))
		fail_msg("%s", err.text);
	return r->letters;
}

const struct rig_letter *
rig_letter(struct rig *r, unsigned n)
{
	const struct rig_letter *found = NULL;

	for (size_t i = 0; i < r->letters; i++)
		if (r->letter[i].n == n) {
			if (found != NULL)
				fail_msg("two letters of event %u", n);
			found = &r->letter[i];
		}
	if (found == NULL)
		fail_msg("no letter of event %u", n);
	return found;
}

const char *
rig_header(const struct rig_letter *letter, const char *name)
{
	const struct br_slice *value = br_record_header(&letter->record, name);

	return value != NULL ? (const char *)value->data : NULL;
}

void
rig_free(struct rig *r)
{
	assert_null(r->bridge);
	letters_free(r);
	receiver_free(r->receiver);
	br_mock_free(r->mock);
	(void)pthread_mutex_destroy(&r->lock);
	free(r);
}
