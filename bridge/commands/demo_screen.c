/* demo_screen: see the header. */
#include "demo_screen.h"

#include <stdio.h>
#include <string.h>

#include "bridge/base/buffer.h"
#include "bridge/base/metrics.h"

#define NEWS (sizeof(((struct demo_screen *)0)->news) / 100)
#define PLAIN_EVERY_S 1.0

void
demo_screen_init(struct demo_screen *s, bool terminal)
{
	*s = (struct demo_screen){.terminal = terminal, .said = -PLAIN_EVERY_S};
	(void)pthread_mutex_init(&s->lock, NULL);
}

void
demo_screen_seen(void *screen, unsigned n, unsigned attempt, int status)
{
	struct demo_screen *s = screen;
	const char *what = status < 300              ? "delivered"
	                   : attempt < DEMO_ATTEMPTS ? "will be tried again"
	                                             : "goes to the DLQ";
	char line[100];

	if (status < 300 && attempt == 1)
		return; /* a slow one, taken at once */
	(void)snprintf(line, sizeof(line),
	    "event %u, attempt %u: status %d, %s", n, attempt, status, what);
	(void)pthread_mutex_lock(&s->lock);
	if (s->terminal) {
		memmove(s->news[0], s->news[1], (NEWS - 1) * sizeof(line));
		memcpy(s->news[NEWS - 1], line, sizeof(line));
	} else {
		(void)printf("  %s\n", line);
		(void)fflush(stdout);
	}
	(void)pthread_mutex_unlock(&s->lock);
}

/* The state of dead letters and of what is no event, as the bridge counts
 * them: the receiver never hears of those. */
static void
add_bridge_side(unsigned tally[DEMO_KINDS][DEMO_STATES])
{
	unsigned *row = tally[DEMO_NOT_EVENT];
	unsigned dead =
	    (unsigned)br_metric_get_label(BR_M_DEAD_LETTERS, "missing-id");

	if (dead > row[DEMO_PENDING])
		dead = row[DEMO_PENDING];
	row[DEMO_PENDING] -= dead;
	row[DEMO_DEAD] += dead;
}

static void
draw_table(struct br_buffer *out, unsigned tally[DEMO_KINDS][DEMO_STATES])
{
	br_buffer_str(out,
	    "  events          PENDING  PROCESSING  FAILED  SUCCESS    DLQ\n");
	for (int k = 0; k < DEMO_KINDS; k++) {
		const unsigned *row = tally[k];

		br_buffer_format(out, "  %-14s %8u %11u %7u %8u %6u\n",
		    demo_kind_name((enum demo_kind)k), row[DEMO_PENDING],
		    row[DEMO_PROCESSING], row[DEMO_FAILED], row[DEMO_SUCCESS],
		    row[DEMO_DEAD]);
	}
}

static void
draw_bar(struct br_buffer *out, const struct demo_events *es,
    const struct demo_progress *p)
{
	unsigned width = 40;
	unsigned full = es->count != 0 ? p->settled * width / es->count : 0;

	br_buffer_str(out, "  [");
	for (unsigned i = 0; i < width; i++)
		br_buffer_str(out, i < full ? "#" : ".");
	br_buffer_format(out, "] %u of %u committed, %.1f s\n", p->settled,
	    es->count, p->seconds);
}

/* Draws over what was drawn before; each line is cleared to its end. */
static void
put_over(struct demo_screen *s, const struct br_buffer *text)
{
	unsigned lines = 0;

	if (s->lines > 0)
		(void)printf("\033[%uA", s->lines);
	for (const char *line = text->data; *line != '\0'; lines++) {
		size_t len = strcspn(line, "\n");

		(void)printf("%.*s\033[K\n", (int)len, line);
		line += len + 1;
	}
	s->lines = lines;
	(void)fflush(stdout);
}

void
demo_screen_draw(struct demo_screen *s, struct demo_events *es,
    const struct demo_progress *p)
{
	unsigned tally[DEMO_KINDS][DEMO_STATES];
	struct br_buffer text = {0};

	demo_tally(es, tally);
	add_bridge_side(tally);
	(void)pthread_mutex_lock(&s->lock);
	if (!s->terminal) {
		if (p->seconds - s->said >= PLAIN_EVERY_S) {
			s->said = p->seconds;
			(void)printf("  %5.1f s: %u produced, %u committed, "
			             "%u connections open (at most %u)\n",
			    p->seconds, p->produced, p->settled, p->open,
			    p->most);
			(void)fflush(stdout);
		}
		(void)pthread_mutex_unlock(&s->lock);
		return;
	}
	draw_bar(&text, es, p);
	br_buffer_format(&text,
	    "  connections open at the receiver: %u, at most %u\n\n", p->open,
	    p->most);
	draw_table(&text, tally);
	br_buffer_str(&text, "\n");
	for (size_t i = 0; i < NEWS; i++)
		br_buffer_format(&text, "  %s\n", s->news[i]);
	put_over(s, &text);
	(void)pthread_mutex_unlock(&s->lock);
	br_buffer_free(&text);
}
