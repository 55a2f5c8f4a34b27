/*
 * token: logins with OAUTHBEARER, whose tokens run out.
 *
 * librdkafka asks for a new token when four fifths of the old one's life are
 * over. It asks on a queue that a thread of its own serves here: nobody's
 * poll is needed, so an idle client, or one inside a blocking call, has its
 * token too.
 *
 * Tokens of an OIDC endpoint are librdkafka's work. Unsecured ones (tests) are
 * made here, because versions up to 2.0 at least crash when they renew the
 * first one (their queue for it does not exist).
 */
#ifndef BRIDGE_KAFKA_TOKEN_H
#define BRIDGE_KAFKA_TOKEN_H

#include <librdkafka/rdkafka.h>
#include <stdint.h>

#include "bridge/base/error.h"

#define BR_TOKEN_EXTENSIONS 16

/* One token; filled by br_token_make, freed by br_token_free. */
struct br_token {
	char *value; /* as it goes over the wire */
	const char *principal;
	int64_t until_ms; /* end of its life, ms since 1970 */
	const char *extension[2 * BR_TOKEN_EXTENSIONS]; /* name, value, … */
	size_t extension_count;                         /* of both together */
	char *text; /* what the pointers point into */
};

/*
 * Makes an unsecured token from sasl.oauthbearer.config as librdkafka
 * documents it: principal, lifeSeconds, scope, principalClaimName,
 * scopeClaimName, extension_NAME, each =value, with spaces between. False and a
 * reason that does not repeat any value; then there is nothing to free.
 */
bool br_token_make(const char *config, int64_t now_ms, struct br_token *token,
    struct br_error *err);
void br_token_free(struct br_token *token);

/*
 * Completes a configuration that is otherwise done; changes nothing unless
 * it logs in with OAUTHBEARER. False and a reason where no token can ever come
 * of it.
 */
bool br_token_prepare(rd_kafka_conf_t *conf, struct br_error *err);

/* The client exists: from now on its own thread gets its tokens. */
void br_token_serve(rd_kafka_t *rk);

#endif
