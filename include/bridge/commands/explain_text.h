/* explain_text: what was found out about a record, for a person. Pure. */
#ifndef BRIDGE_COMMANDS_EXPLAIN_TEXT_H
#define BRIDGE_COMMANDS_EXPLAIN_TEXT_H

#include "bridge/commands/explain_look.h"
#include "bridge/commands/explain_paper.h"

/* Writes all of it to the paper. */
void br_explain_text(const struct br_explained *x, struct br_paper *p);

#endif
