/* table_parts: pieces of the table of keys (table.h) that fill a file of their
 * own. Private to the room. */
#ifndef BRIDGE_CONFIG_TABLE_PARTS_H
#define BRIDGE_CONFIG_TABLE_PARTS_H

#include "bridge/config/table.h"

extern const struct br_key br_table_source[];
extern const size_t br_table_source_count;

extern const struct br_key br_table_registry[];
extern const size_t br_table_registry_count;

#endif
