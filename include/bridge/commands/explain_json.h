/* explain_json: what was found out about a record, as a line of JSON. Pure. */
#ifndef BRIDGE_COMMANDS_EXPLAIN_JSON_H
#define BRIDGE_COMMANDS_EXPLAIN_JSON_H

#include "bridge/commands/explain_look.h"

/*
 * Appends one object and a newline. Its members are always the same ones, in
 * the same order; what a record does not have is null. `body` is base64;
 * `request.headers` is a list of [name, value]; `target_url` is the event's
 * own, `request.url` where it goes. An order key that is not UTF-8 stands
 * exactly in `order_key_base64`.
 */
void br_explain_json(const struct br_explained *x, struct br_buffer *out);

#endif
