/* explain_advice: what a person does about a dead letter or a hold. Pure. */
#ifndef BRIDGE_COMMANDS_EXPLAIN_ADVICE_H
#define BRIDGE_COMMANDS_EXPLAIN_ADVICE_H

/* Static text for a reason or alarm; NULL for one that is not known. */
const char *br_explain_advice(const char *reason);

#endif
