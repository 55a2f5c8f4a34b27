/*
 * target: scheme, host and port that is really called; and its streams: the
 * lanes of one route at that target, whose first event wants to go there now.
 *
 * The place where the health of a destination lives, apart from the back-off
 * of single events. A Retry-After holds a stream, a closed target holds all
 * of its streams. Under the scheduler's lock; shared by the files of the
 * scheduler and nobody else.
 */
#ifndef BRIDGE_CORE_TARGET_H
#define BRIDGE_CORE_TARGET_H

#include "bridge/core/health.h"
#include "bridge/core/lane.h"

#define BR_RUN_TYPES 16
#define BR_TARGET_BUCKETS 256

/* What a timer in the scheduler's heap wakes. */
enum br_wake_kind { BR_WAKE_LANE, BR_WAKE_TARGET, BR_WAKE_STREAM };

struct br_stream {
	struct br_stream *next; /* of its target */
	struct br_target *target;
	struct br_heap ready;     /* READY lanes, by since when */
	struct br_heap_node turn; /* in the table's heap while it may send; key:
	                           * that of its oldest lane */
	struct br_heap_node wake; /* in the timers while held */
	int64_t held_until_ms;    /* Retry-After; 0: not held */
	bool hold_probing;        /* the hold is over, one finds out */
	size_t lanes;             /* that point here */
	size_t bytes;             /* of the READY ones */
	bool shut;                /* held, or its target is closed */
	char route[];
};

struct br_target {
	struct br_target *next; /* in the table's chain */
	struct br_health health;
	struct br_stream *streams;
	struct br_heap_node wake; /* in the timers while closed */
	size_t in_flight;
	size_t workers;                  /* that used it last */
	int64_t left_ms;                 /* when a lane last went away */
	int why_status;                  /* closed: by this answer, or … */
	enum br_transport why_transport; /* … for the want of one */
	uint64_t used;   /* … number of its last turn, of the scheduler's */
	uint32_t picked; /* probes since it closed */
	uint64_t run_type[BR_RUN_TYPES]; /* event types of the dead run */
	size_t run_types;
	uint64_t hash;
	char name[]; /* scheme://host:port */
};

struct br_target_table {
	const struct br_health_rules *rules;
	struct br_target *bucket[BR_TARGET_BUCKETS];
	size_t count;
	size_t closed;         /* of them */
	size_t parked;         /* the scheduler's: bytes of lanes that wait for
	                        * their time, a target, a hold or the DLQ */
	struct br_heap turns;  /* streams that may send now */
	struct br_heap timers; /* the scheduler's: lanes, streams, targets */
	uint64_t serial;       /* makes the order within a millisecond */
};

/* Finds or makes the stream of this target and route. */
struct br_stream *br_stream_get(struct br_target_table *t, const char *name,
    const char *route, int64_t now_ms);

/* Lanes become ready (since `since_ms`), or are not any more. */
void br_stream_ready(struct br_target_table *t, struct br_stream *s,
    struct br_lane *lane, int64_t since_ms, int64_t now_ms);
void br_stream_unready(struct br_target_table *t, struct br_stream *s,
    struct br_lane *lane, int64_t now_ms);

/* The READY lane has become heavier, or lighter. */
void br_stream_weigh(
    struct br_target_table *t, struct br_stream *s, size_t more, size_t less);

/* Holds the stream after a Retry-After; lifts the hold. */
void br_stream_hold(struct br_stream *s, int64_t until_ms);
void br_stream_lift(struct br_stream *s);

/* Something about the target changed: which of its streams may send? */
void br_target_update(
    struct br_target_table *t, struct br_target *target, int64_t now_ms);

/*
 * The lane to send next from this stream, which may send: the oldest; while
 * the target is closed the best probe of all its streams that may send.
 */
struct br_lane *br_stream_pick(struct br_stream *s);

/*
 * The stream to send from next: the one whose lane is ready for longest, but
 * one of `prefer` (or NULL) when its oldest is at most `slack_ms` younger.
 * NULL: none.
 */
struct br_stream *br_stream_next(
    struct br_target_table *t, struct br_target *prefer, int64_t slack_ms);

/* The stream to send from next when there is one worker for all targets: of
 * the target whose last turn is longest ago, the oldest. NULL: none. */
struct br_stream *br_stream_turn(struct br_target_table *t);

/* Lanes whose first event wants to go there. */
size_t br_target_waiting(const struct br_target *target);

/* What is known of closed targets that nobody has wanted for the longest wait
 * between two probes is forgotten: nobody would find out that they are well
 * again. */
void br_target_forget_idle(struct br_target_table *t, int64_t now_ms);

/* Targets that are closed and wanted are probed at once. */
void br_target_probe_now(struct br_target_table *t, int64_t now_ms);

/* Notes the type of an event that the target refused for good. */
void br_target_refused(struct br_target *target, const char *event_type);

/* Milliseconds of a key in the heaps of ready lanes and turns. */
int64_t br_ready_ms(int64_t key);

void br_target_table_free(struct br_target_table *t);

#endif
