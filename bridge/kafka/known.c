/* known: see the header. */
#include "known.h"

#include <string.h>

#include "bridge/base/clock.h"

static int
left_ms(int64_t until_ms)
{
	int64_t left = until_ms - br_clock_mono_ms();

	return left > 1 ? (int)left : 1;
}

/* All partitions of a topic, or NULL and an error. */
static rd_kafka_topic_partition_list_t *
all_partitions(rd_kafka_t *rk, const char *topic, int64_t until_ms, int *error)
{
	rd_kafka_topic_t *handle = rd_kafka_topic_new(rk, topic, NULL);
	rd_kafka_topic_partition_list_t *list = NULL;
	const struct rd_kafka_metadata *md = NULL;

	*error = handle == NULL
	             ? RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC
	             : rd_kafka_metadata(rk, 0, handle, &md, left_ms(until_ms));
	if (*error == 0 && md->topic_cnt == 1)
		*error = md->topics[0].err;
	if (*error == 0 && md->topic_cnt == 1) {
		list = rd_kafka_topic_partition_list_new(
		    md->topics[0].partition_cnt);
		for (int i = 0; i < md->topics[0].partition_cnt; i++)
			(void)rd_kafka_topic_partition_list_add(
			    list, topic, md->topics[0].partitions[i].id);
	}
	if (md != NULL)
		rd_kafka_metadata_destroy(md);
	if (handle != NULL)
		rd_kafka_topic_destroy(handle);
	return list;
}

static bool
is_known(rd_kafka_t *rk, const char *topic, int64_t until_ms, int *error)
{
	rd_kafka_topic_partition_list_t *list =
	    all_partitions(rk, topic, until_ms, error);
	bool known = false;

	if (list == NULL)
		return false;
	*error = rd_kafka_committed(rk, list, left_ms(until_ms));
	for (int i = 0; *error == 0 && i < list->cnt; i++)
		known |= list->elems[i].offset >= 0;
	rd_kafka_topic_partition_list_destroy(list);
	return known;
}

void
br_known_ask(rd_kafka_t *rk, struct br_positions *positions, int64_t until_ms)
{
	const char *last = NULL;
	bool known = false;
	int error = 0;

	for (size_t i = 0; i < positions->count; i++) {
		struct br_position *p = &positions->item[i];

		if (p->offset >= 0 || p->error != 0)
			continue;
		/* Lists come sorted by topic, or nearly so. */
		if (last == NULL || strcmp(last, p->topic) != 0)
			known = is_known(rk, p->topic, until_ms, &error);
		last = p->topic;
		p->topic_known = known;
		if (error != 0)
			p->error = error;
	}
}
