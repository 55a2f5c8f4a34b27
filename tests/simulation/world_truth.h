/*
 * world_truth: what the files of the checker share, and nobody else includes.
 */
#ifndef TESTS_SIMULATION_WORLD_TRUTH_H
#define TESTS_SIMULATION_WORLD_TRUTH_H

#include "world_checker.h"

#define LANES 64

/* What one epoch, or a commit, knows of one record. */
struct known {
	bool settled;
	uint32_t failures; /* of them some may not count */
	uint32_t counted;  /* failures that count whatever the target's state */
	int64_t due_ms;    /* not sent again before */
	int64_t late_ms;   /* … and at the latest then, if it can; 0: none */
};

struct epoch {
	struct epoch *next;
	int instance, part;
	int64_t begun_ms;
	bool ended;
	enum cause cause;    /* of its end */
	enum cause after;    /* how the one before ended */
	size_t begun[LANES]; /* the last one sent, and one; 0: none */
	size_t room;
	struct known *known; /* by index in the log */
};

struct cover {
	size_t count;
	struct known known[];
};

/* The truth about one record. */
struct truth {
	bool done; /* 2xx, or an acknowledged copy; both known */
	bool delivered;
	uint32_t requests; /* begun, ever */
	unsigned open;     /* a bit for each instance */
	size_t lane_next;  /* SIZE_MAX: none yet */
};

struct lane_truth {
	size_t undone; /* the first; SIZE_MAX: none */
	size_t last;
};

/* That many failures: nobody knows. */
#define UNKNOWN 1000000

struct part_truth {
	size_t room, count;
	struct truth *truth;
	struct lane_truth lane[LANES];
	size_t undone; /* all before are done */
	struct cover *base;
};

struct checker {
	struct part_truth part[WORLD_PARTS];
	struct epoch *epochs;
	struct watch *watch; /* targets */
	int open[WORLD_INSTANCES];
	bool busy[WORLD_INSTANCES][WORLD_WORKERS];
	/* commits in a row whose metadata was too large */
	uint32_t refused[WORLD_INSTANCES];
};

static inline const struct record *
record_at(const struct world *w, int part, size_t index)
{
	return &w->log[part].record[index];
}

/* Its lane; -1: it has no order. */
int check_lane(const struct world *w, const struct happening *h);
/* The event has its 2xx, or its acknowledged copy. */
void check_done(struct world *w, int part, size_t index);
enum room check_room(const struct rules *r);

#endif
