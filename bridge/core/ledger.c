/* ledger: see the header. */
#include "bridge/core/ledger.h"

#include <stdlib.h>

void
br_ledger_init(struct br_ledger *l, int64_t next)
{
	*l = (struct br_ledger){.next = next};
}

void
br_ledger_open(struct br_ledger *l, struct br_ref *ref)
{
	/* An offset opened twice could be committed past: a broken invariant. */
	if (ref->offset < l->next)
		abort();
	ref->ledger_prev = l->last;
	ref->ledger_next = NULL;
	if (l->last != NULL)
		l->last->ledger_next = ref;
	else
		l->first = ref;
	l->last = ref;
	l->next = ref->offset + 1;
	l->open++;
	l->open_bytes += ref->bytes;
}

void
br_ledger_pass(struct br_ledger *l, int64_t next)
{
	if (next > l->next)
		l->next = next;
}

void
br_ledger_settle(struct br_ledger *l, struct br_ref *ref)
{
	/* Settling twice would cut the list and let the watermark pass what is
	 * open: a broken invariant. */
	if ((ref->ledger_prev != NULL ? ref->ledger_prev->ledger_next
	                              : l->first) != ref ||
	    (ref->ledger_next != NULL ? ref->ledger_next->ledger_prev
	                              : l->last) != ref)
		abort();
	if (ref->ledger_prev != NULL)
		ref->ledger_prev->ledger_next = ref->ledger_next;
	else
		l->first = ref->ledger_next;
	if (ref->ledger_next != NULL)
		ref->ledger_next->ledger_prev = ref->ledger_prev;
	else
		l->last = ref->ledger_prev;
	ref->ledger_prev = ref->ledger_next = NULL;
	l->open--;
	l->open_bytes -= ref->bytes;
}

int64_t
br_ledger_watermark(const struct br_ledger *l)
{
	return l->first != NULL ? l->first->offset : l->next;
}
