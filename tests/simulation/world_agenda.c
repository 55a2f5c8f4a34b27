/* world_agenda: a heap of tasks, by time, then by order of posting. See
 * world.h. */
#include "world.h"

#include <stdlib.h>

static bool
is_before(const struct task *a, const struct task *b)
{
	return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->order < b->order;
}

void
post(struct world *w, struct task *t, int64_t at_ms)
{
	size_t i;

	if (w->tasks == w->task_room) {
		w->task_room = w->task_room == 0 ? 256 : 2 * w->task_room;
		w->task = realloc(w->task, w->task_room * sizeof(*w->task));
		if (w->task == NULL)
			exit(2);
	}
	t->at_ms = at_ms;
	t->order = ++w->serial;
	for (i = w->tasks++; i > 0 && is_before(t, w->task[(i - 1) / 2]);
	     i = (i - 1) / 2)
		w->task[i] = w->task[(i - 1) / 2];
	w->task[i] = t;
}

struct task *
take_task(struct world *w)
{
	struct task *top = w->task[0], *last = w->task[--w->tasks];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < w->tasks) {
		if (child + 1 < w->tasks &&
		    is_before(w->task[child + 1], w->task[child]))
			child++;
		if (!is_before(w->task[child], last))
			break;
		w->task[i] = w->task[child];
		i = child;
	}
	w->task[i] = last;
	return top;
}
