/*
 * consumer: the group member, as events and records behind one descriptor.
 *
 * Kafka thread only. No call blocks (what librdkafka offers only as blocking
 * calls is asked on a thread of its own inside, see br_consumer_ask), no callback
 * does work. Knows partitions and offsets, and nothing about events.
 *
 * Two sources wake the descriptor: br_consumer_next() gives what happened to
 * the group, br_consumer_read() gives records. Both must be drained, because
 * the descriptor speaks only when a queue was empty; whoever stops reading
 * records on purpose (back-pressure) just begins again later.
 */
#ifndef BRIDGE_KAFKA_CONSUMER_H
#define BRIDGE_KAFKA_CONSUMER_H

#include "bridge/base/error.h"
#include "bridge/config/config.h"
#include "bridge/core/record.h"

struct br_consumer;

/* One partition in a list; what the members mean depends on the call. */
struct br_position {
	const char *topic; /* owned by the list */
	int32_t partition;
	int64_t offset; /* committed, or to commit, or to start at; -1: none */
	int64_t low, high; /* the log's range; -1: unknown */
	char *metadata;    /* owned by the list; NULL: none */
	size_t metadata_len;
	bool topic_known; /* BR_ASK_POSITIONS: the group has an offset for some
	                   * partition of this topic (asked only where this
	                   * one has none) */
	int error;        /* rd_kafka_resp_err_t of this partition, 0: none */
};

struct br_positions {
	size_t count, capacity;
	struct br_position *item;
};

/* An empty list; `capacity` is a hint. Copies of topics are its own. */
struct br_positions *br_positions_new(size_t capacity);
/* The new item, valid until the next call. */
struct br_position *br_positions_add(struct br_positions *list,
    const char *topic, int32_t partition, int64_t offset);
void br_positions_free(struct br_positions *list); /* NULL is fine */

enum br_kafka_what {
	BR_KAFKA_NOTHING,
	BR_KAFKA_ASSIGN,    /* positions: new partitions, perhaps none;
	                     * answer with br_consumer_assign once offsets
	                     * are known (none is answered already) */
	BR_KAFKA_REVOKE,    /* positions: give them up, then call
	                     * br_consumer_unassign; `lost`: they already
	                     * belong to somebody else, commit nothing */
	BR_KAFKA_COMMITTED, /* reply to br_consumer_commit: `error`, and per
	                     * partition `error` */
	BR_KAFKA_ANSWER,    /* reply to br_consumer_ask: `question`, `error` */
	BR_KAFKA_BROKERS_DOWN, /* all of them, for a second; `text`: why, or
	                        * empty. Told again when that changes */
	BR_KAFKA_BROKERS_UP,   /* first sign of life after that */
	BR_KAFKA_ERROR,        /* worth a line in the log; survived. About
	                        * a subscribed topic that is missing:
	                        * positions hold it, partition -1 */
	BR_KAFKA_FATAL         /* the client is dead: end with exit status 1 */
};

enum br_question {
	BR_ASK_POSITIONS, /* committed offset, metadata (up to the first NUL),
	                   * low, high */
	BR_ASK_RANGE,     /* low, high */
	BR_ASK_MEMBERS,   /* no partitions; `members` of the group */
	BR_ASK_TIME       /* `offset` in: ms since 1970; out: first offset at
	                   * or after that time, high when none */
};

struct br_kafka_event {
	enum br_kafka_what what;
	struct br_positions *positions; /* or NULL */
	bool lost;
	enum br_question question;
	int members;     /* BR_ASK_MEMBERS; -1: not known */
	uint64_t ticket; /* COMMITTED, ANSWER: of the call it replies to */
	int error;       /* rd_kafka_resp_err_t, 0: none */
	char text[512];  /* for a person */
};
void br_kafka_event_clear(struct br_kafka_event *ev);

/*
 * What a record read means: a record, the end of a partition (`offset` is
 * the next one to come; it may be told again), or a fault of one partition.
 * All faults of partitions come this way, whichever queue librdkafka used.
 *
 * After OUT_OF_RANGE, TOPIC_GONE and CORRUPT nothing of the partition is read
 * until br_consumer_seek or br_consumer_assign names where to go on: by
 * itself librdkafka would pass over a batch it cannot read, and go on in a
 * new topic of the old name where it was in the old one. `offset` is the
 * offset in question, or the next one for TOPIC_GONE.
 */
enum br_read_kind {
	BR_READ_RECORD,
	BR_READ_END,
	BR_READ_OUT_OF_RANGE, /* position not in the log */
	BR_READ_TOPIC_GONE,   /* unknown topic or partition */
	BR_READ_CORRUPT,      /* a batch that cannot be read */
	BR_READ_ERROR         /* anything else; librdkafka goes on by itself */
};

struct br_read {
	enum br_read_kind kind;
	struct br_record record; /* topic and partition always; the rest of a
	                          * record only for BR_READ_RECORD */
	int error;
	char text[200];
};

/*
 * Makes the client; does not connect before the next calls. `exclude` are
 * topics that a pattern must never match (our own). NULL and a reason for a
 * property that librdkafka refuses.
 */
struct br_consumer *br_consumer_new(const struct br_config *config,
    const char *const *exclude, size_t exclude_count, struct br_error *err);

/* Subscribes to the configured topics: joins the group. */
bool br_consumer_subscribe(struct br_consumer *c, struct br_error *err);

/* Readable when there may be something to read or an event. */
int br_consumer_fd(const struct br_consumer *c);
/* Clears the descriptor; call before draining. */
void br_consumer_wake_clear(struct br_consumer *c);

/* Next event; false when there is none now. */
bool br_consumer_next(struct br_consumer *c, struct br_kafka_event *ev);

/*
 * Reads up to `max` (≤ 256) records without waiting. What they point to lives
 * until br_consumer_release(). Returns how many.
 */
size_t br_consumer_read(struct br_consumer *c, struct br_read *out, size_t max);
void br_consumer_release(struct br_consumer *c);

/*
 * Starts reading at the given offsets, -2 (beginning) and -1 (end) included:
 * incrementally or fully as the protocol in use asks. Records go to
 * br_consumer_read. Partitions of an assignment may come in several calls;
 * the first one, an empty list too, answers the event. One that is read
 * already begins again at its offset. False while closing.
 */
bool br_consumer_assign(struct br_consumer *c,
    const struct br_positions *positions, struct br_error *err);

/*
 * Ends the reading; also for partitions that were never assigned here. A
 * revoke is answered when all of its partitions have been given up, in one
 * call or several. Until a rebalance is answered, changes to other partitions
 * wait for that answer.
 */
bool br_consumer_unassign(struct br_consumer *c,
    const struct br_positions *positions, struct br_error *err);

/*
 * Moves one assigned partition to another offset (-2: beginning) and reads
 * on from there, without waiting. What was read ahead is dropped, with the
 * eager protocol that of all partitions. False when it is not assigned.
 */
bool br_consumer_seek(struct br_consumer *c, const char *topic,
    int32_t partition, int64_t offset, struct br_error *err);

/*
 * Stops or goes on reading of one partition (never as back-pressure: going
 * on takes 0.2 to 1 s). A seek leaves it paused; an assign does not.
 */
bool br_consumer_pause(struct br_consumer *c, const char *topic,
    int32_t partition, bool pause, struct br_error *err);

/*
 * Commits these offsets with their metadata; the reply comes as an event
 * with the same ticket. False: could not even be sent. `*ticket` is set.
 */
bool br_consumer_commit(struct br_consumer *c,
    const struct br_positions *positions, uint64_t *ticket,
    struct br_error *err);

/*
 * True while the group is being joined again. A commit would be refused, and
 * all partitions taken for lost: wait until it is over. `revoking`: a revoke
 * is not answered yet; only what is on its way already counts then.
 */
bool br_consumer_joining(const struct br_consumer *c, bool revoking);

/*
 * Asks the brokers about these partitions; the answer comes as an event with
 * the same ticket, at the latest after `timeout_ms`.
 */
uint64_t br_consumer_ask(struct br_consumer *c, enum br_question question,
    const struct br_positions *positions, int timeout_ms);

/* Highest offset that the log is known to hold (+1), or -1. Never blocks. */
int64_t br_consumer_high(
    struct br_consumer *c, const char *topic, int32_t partition);

/*
 * Leaves the group; revokes come as events, answer them. An assignment that
 * is still unanswered is answered with nothing. Go on calling
 * br_consumer_next until closed.
 */
void br_consumer_close(struct br_consumer *c);
bool br_consumer_closed(const struct br_consumer *c);

/* After closed: frees everything. When not closed (a silent broker), leaks
 * the client on purpose rather than wait, and returns false: the process
 * should end with _exit(), without handlers that take libraries down. */
bool br_consumer_free(struct br_consumer *c);

#endif
