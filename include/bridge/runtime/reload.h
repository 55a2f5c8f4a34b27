/*
 * reload: what HUP does.
 */
#ifndef BRIDGE_RUNTIME_RELOAD_H
#define BRIDGE_RUNTIME_RELOAD_H

#include "bridge/config/config.h"

/*
 * Checks the configuration file whole and logs every fault, or what differs
 * from the configuration in use. Changes nothing: a restart takes it over.
 * Sets outbox_bridge_reload_ok.
 */
void br_reload_check(const struct br_config *config);

#endif
