/* positions: see the header. */
#include "positions.h"

#include "memory.h"

struct br_positions *
br_positions_new(size_t capacity)
{
	struct br_positions *list = br_kafka_zeroed(1, sizeof(*list));

	list->item = br_kafka_zeroed(capacity, sizeof(*list->item));
	list->capacity = capacity;
	return list;
}

struct br_position *
br_positions_add(struct br_positions *list, const char *topic,
    int32_t partition, int64_t offset)
{
	struct br_position *p;

	if (list->count == list->capacity) {
		list->capacity = list->capacity * 2 + 8;
		list->item = br_kafka_grow(
		    list->item, list->capacity, sizeof(*list->item));
	}
	p = &list->item[list->count++];
	*p = (struct br_position){.topic = br_kafka_copy(topic, strlen(topic)),
	    .partition = partition,
	    .offset = offset,
	    .low = -1,
	    .high = -1};
	return p;
}

void
br_positions_free(struct br_positions *list)
{
	if (list == NULL)
		return;
	for (size_t i = 0; i < list->count; i++) {
		free((void *)(uintptr_t)list->item[i].topic);
		free(list->item[i].metadata);
	}
	free(list->item);
	free(list);
}

void
br_position_metadata(
    struct br_position *item, const void *metadata, size_t size)
{
	free(item->metadata);
	item->metadata = NULL;
	item->metadata_len = 0;
	if (metadata == NULL || size == 0)
		return;
	item->metadata_len = strnlen(metadata, size);
	item->metadata = br_kafka_copy(metadata, item->metadata_len);
}

struct br_positions *
br_positions_from(const rd_kafka_topic_partition_list_t *list)
{
	struct br_positions *copy;

	if (list == NULL)
		return NULL;
	copy = br_positions_new((size_t)list->cnt);
	for (int i = 0; i < list->cnt; i++) {
		const rd_kafka_topic_partition_t *from = &list->elems[i];
		struct br_position *p = br_positions_add(copy, from->topic,
		    from->partition, from->offset < 0 ? -1 : from->offset);

		p->error = from->err;
		br_position_metadata(p, from->metadata, from->metadata_size);
	}
	return copy;
}

rd_kafka_topic_partition_list_t *
br_positions_to(const struct br_positions *list)
{
	rd_kafka_topic_partition_list_t *copy =
	    rd_kafka_topic_partition_list_new((int)list->count);

	for (size_t i = 0; i < list->count; i++) {
		const struct br_position *from = &list->item[i];
		rd_kafka_topic_partition_t *p =
		    rd_kafka_topic_partition_list_add(
		        copy, from->topic, from->partition);

		p->offset = from->offset;
		if (from->metadata == NULL || from->metadata_len == 0)
			continue;
		p->metadata = br_kafka_copy(from->metadata, from->metadata_len);
		p->metadata_size = from->metadata_len;
	}
	return copy;
}

struct br_positions *
br_positions_copy(const struct br_positions *list)
{
	struct br_positions *copy = br_positions_new(list->count);

	for (size_t i = 0; i < list->count; i++) {
		const struct br_position *from = &list->item[i];
		struct br_position *p = br_positions_add(
		    copy, from->topic, from->partition, from->offset);

		p->low = from->low;
		p->high = from->high;
		p->error = from->error;
		if (from->metadata == NULL)
			continue;
		p->metadata = br_kafka_copy(from->metadata, from->metadata_len);
		p->metadata_len = from->metadata_len;
	}
	return copy;
}
