/*
 * parts_internal: what the files about partitions (parts, start, commit,
 * presence) share, and nobody else includes.
 */
#ifndef BRIDGE_RUNTIME_PARTS_INTERNAL_H
#define BRIDGE_RUNTIME_PARTS_INTERNAL_H

#include "bridge/runtime/parts.h"

/* A commit without an answer is given up after so long. */
#define BR_COMMIT_REPLY_MS 10000
/* A revoke whose time is over still commits once, for so long. */
#define BR_LAST_COMMIT_MS 2000

/* A topic that this process has read. When it has no offsets any more it was
 * deleted and made again, and is read from its beginning. */
struct br_seen {
	struct br_seen *next;
	bool missing;
	char why[300]; /* missing */
	char topic[];
};

struct br_parts {
	const struct br_config *config;
	struct br_consumer *consumer;
	struct br_pool *pool;
	struct br_alarms *alarms;
	struct br_part *first;      /* ours */
	struct br_part *gone;       /* not ours, some events still out */
	struct br_part *last_found; /* records come in runs of a partition */
	struct br_seen *seen;       /* topics that were ours before */
	int64_t look_ms;            /* when missing ones are looked for */
	uint64_t look_ticket;       /* of that question; 0: none is out */
	bool assigned;              /* the group has answered */
	bool shutting_down;
	bool no_start;
	int64_t commit_ms;               /* next commit */
	struct br_positions *committing; /* under way; NULL: none */
	uint64_t commit_ticket;
	int64_t commit_until_ms;
	size_t checkpoint_limit; /* characters; halved when refused */
	char *metadata;          /* room for one */
	struct br_checkpoint_retry *retry;
	bool commit_refused;          /* the last one: no hurry then */
	struct br_positions *revoked; /* being given up; NULL: none */
	int64_t revoke_until_ms;
	bool leaving; /* patience has ended: no revoke waits */
};

/* Ends the epoch of a partition and begins another one, which asks anew. */
void br_parts_renew(struct br_parts *ps, struct br_part *part, int64_t now_ms);

/* Is there something of it that should be committed? */
bool br_commit_needed(const struct br_parts *ps, const struct br_part *part);
/* Commits when it is time; takes the reply. */
void br_commit_step(struct br_parts *ps, int64_t now_ms);
void br_commit_reply(struct br_parts *ps, const struct br_kafka_event *ev);

/* Asks for the start of every partition that has none. */
void br_start_ask(struct br_parts *ps, int64_t now_ms);
/* An answer to that. */
void br_start_answer(
    struct br_parts *ps, const struct br_kafka_event *ev, int64_t now_ms);
/* The start is committed: read. */
void br_start_read(struct br_parts *ps, struct br_part *part);
/* Asks again where it is time. */
void br_start_step(struct br_parts *ps, int64_t now_ms);
/* Has this process read the topic, or missed it? */
bool br_presence_seen(const struct br_parts *ps, const char *topic);
/* The topic is there and ours. */
void br_presence_see(struct br_parts *ps, const char *topic);
/* The brokers do not know it (any more): raises the alarm. */
void br_presence_lost(struct br_parts *ps, const char *topic, const char *text);
/* Looks for missing topics that may be another member's when they are back:
 * asks the brokers, every ten seconds. */
void br_presence_step(struct br_parts *ps, int64_t now_ms);
/* True when it was the answer to that. */
bool br_presence_answer(struct br_parts *ps, const struct br_kafka_event *ev);
void br_presence_free(struct br_parts *ps);

/* Raises or clears the alarms of held partitions. */
void br_start_alarms(struct br_parts *ps);

#endif
