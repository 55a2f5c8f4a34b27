/*
 * secrets: references in strings of the configuration, and what of a value
 * may be shown. Any thread.
 */
#ifndef BRIDGE_CONFIG_SECRETS_H
#define BRIDGE_CONFIG_SECRETS_H

#include <stdbool.h>

#include "bridge/base/buffer.h"
#include "bridge/base/error.h"

struct br_expanded {
	bool referenced; /* at least one reference was replaced */
	bool whole;      /* the string is exactly one reference */
};

/*
 * Appends `text` to `out` with its references replaced: `${env:NAME}`,
 * `${env:NAME:-DEFAULT}` (unset or empty: DEFAULT), `${file:PATH}` (without
 * one trailing newline); `$${` stands for `${`. False and a reason, which
 * names the reference and never a value, when one cannot be replaced.
 */
bool br_secrets_expand(const char *text, struct br_buffer *out,
    struct br_expanded *how, struct br_error *err);

/* True when the property of that name (with or without `consumer.` or
 * `producer.`) holds a secret: `*.password`, `*secret*`, private keys, … */
bool br_secrets_is_property(const char *name, size_t len);

/*
 * Appends "name=value" with the value as *** when the name is one of a
 * secret, or `referenced` is set.
 */
void br_secrets_mask_property(
    const char *property, bool referenced, struct br_buffer *out);

/*
 * Appends a URL with userinfo and query as ***, and its path too when
 * `referenced` is set: some services put their token there.
 */
void br_secrets_mask_url(
    const char *url, bool referenced, struct br_buffer *out);

#endif
