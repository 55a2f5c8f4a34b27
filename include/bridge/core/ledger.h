/*
 * ledger: which offsets of one partition are open, and so how far a commit
 * may go. Belongs to the Kafka thread; no lock, no clock.
 *
 * Keeps true: the watermark is the lowest open offset, or the next offset to
 * read when none is open; it never goes back; everything below it is settled,
 * was skipped, or never was an event (gaps, transaction markers).
 *
 * Open references are a list in offset order, because records arrive in
 * that order: opening appends, settling unlinks, both O(1) whatever the span
 * between the lowest and the highest. A key that fails for five minutes
 * under 1,500,000 settled offsets costs one list entry. The settled runs
 * above the watermark are what lies between two entries.
 */
#ifndef BRIDGE_CORE_LEDGER_H
#define BRIDGE_CORE_LEDGER_H

#include "bridge/core/event.h"

struct br_ledger {
	struct br_ref *first, *last; /* open, by offset */
	int64_t next;                /* next offset to read */
	uint64_t open;               /* length of the list */
	uint64_t open_bytes;
};

/* An empty ledger that begins at `next`. */
void br_ledger_init(struct br_ledger *l, int64_t next);

/* Opens ref->offset. It must be >= next; what lies between is passed. */
void br_ledger_open(struct br_ledger *l, struct br_ref *ref);

/* Passes everything below `next` that is not open; smaller is ignored. */
void br_ledger_pass(struct br_ledger *l, int64_t next);

/* Settles an open reference: it is out of the ledger afterwards. */
void br_ledger_settle(struct br_ledger *l, struct br_ref *ref);

/* What may be committed. */
int64_t br_ledger_watermark(const struct br_ledger *l);

#endif
