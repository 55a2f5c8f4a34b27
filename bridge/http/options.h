/*
 * options: libcurl as a whole, and what never changes on a handle: how it
 * behaves, and what the rules say. Private to this room.
 */
#ifndef BRIDGE_HTTP_OPTIONS_H
#define BRIDGE_HTTP_OPTIONS_H

#include <stdbool.h>

#include <curl/curl.h>

#include "bridge/base/error.h"
#include "bridge/http/client.h"

/* False and a reason when the CA file holds no certificate: libcurl reads it
 * at the first handshake, which is too late to tell. */
bool br_options_check(const struct br_http_rules *rules, struct br_error *err);

/* False when this libcurl lacks one of them. `resolve` gets a list that must
 * live as long as the handle, or is left alone. */
bool br_options_set(
    CURL *easy, const struct br_http_rules *rules, struct curl_slist **resolve);

#endif
