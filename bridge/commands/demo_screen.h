/*
 * demo_screen: what the demo shows: a table that is drawn again and again on
 * a terminal, plain lines otherwise.
 */
#ifndef BRIDGE_COMMANDS_DEMO_SCREEN_H
#define BRIDGE_COMMANDS_DEMO_SCREEN_H

#include "demo_events.h"
#include "demo_receiver.h"

struct demo_progress {
	unsigned produced;
	unsigned settled; /* offsets committed, over all partitions */
	unsigned open, most; /* connections at the receiver */
	double seconds;
};

struct demo_screen {
	bool terminal;
	pthread_mutex_t lock;
	unsigned lines;    /* drawn before, to be drawn over */
	char news[4][100]; /* the newest last */
	double said;       /* plain: when progress was last told */
};

void demo_screen_init(struct demo_screen *s, bool terminal);

/* Something worth a line; any thread (a demo_seen_fn with the screen). */
void demo_screen_seen(
    void *screen, unsigned n, unsigned attempt, int status);

/* Shows where things are. */
void demo_screen_draw(struct demo_screen *s, struct demo_events *es,
    const struct demo_progress *p);

#endif
