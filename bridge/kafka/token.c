/* token: see the header. */
#include "token.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bridge/base/buffer.h"
#include "bridge/base/clock.h"
#include "bridge/core/base64.h"

#include "memory.h"

#define LIFE_S 3600
#define CONFIG "sasl.oauthbearer.config"

/* What sasl.oauthbearer.config says; the pointers are into its text. */
struct claims {
	const char *principal, *principal_name;
	const char *scope, *scope_name;
	const char *life;
	int64_t life_s;
};

/* ---- reading sasl.oauthbearer.config */

/* Text that may stand in JSON as it is. */
static bool
is_plain(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < 0x20 || *text == '"' ||
		    *text == '\\')
			return false;
	return true;
}

static bool
take_extension(
    struct br_token *token, char *name, char *value, struct br_error *err)
{
	if (token->extension_count == 2 * BR_TOKEN_EXTENSIONS)
		return br_fail(err, CONFIG ": more than %d extensions",
		    BR_TOKEN_EXTENSIONS);
	token->extension[token->extension_count++] = name;
	token->extension[token->extension_count++] = value;
	return true;
}

/* One name=value, cut in place. */
static bool
take(struct br_token *token, struct claims *claims, char *word,
    struct br_error *err)
{
	const struct {
		const char *name;
		const char **place;
	} known[] = {
	    {"principal", &claims->principal},
	    {"principalClaimName", &claims->principal_name},
	    {"scope", &claims->scope},
	    {"scopeClaimName", &claims->scope_name},
	    {"lifeSeconds", &claims->life},
	};
	char *value = strchr(word, '=');

	if (value == NULL)
		return br_fail(err, CONFIG ": not name=value");
	*value++ = '\0';
	if (*value == '\0')
		return br_fail(err, CONFIG ": %s is empty", word);
	if (strncmp(word, "extension_", 10) == 0)
		return take_extension(token, word + 10, value, err);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(word, known[i].name) != 0)
			continue;
		if (*known[i].place != NULL)
			return br_fail(err, CONFIG ": %s stands twice", word);
		if (!is_plain(value))
			return br_fail(err,
			    CONFIG ": %s must not hold quotes, backslashes or "
			           "control characters",
			    word);
		*known[i].place = value;
		return true;
	}
	return br_fail(err, CONFIG ": unknown name %s", word);
}

static bool
read_config(struct br_token *token, struct claims *claims, struct br_error *err)
{
	char *rest = token->text, *word, *end;

	while ((word = strsep(&rest, " ")) != NULL)
		if (*word != '\0' && !take(token, claims, word, err))
			return false;
	if (claims->principal == NULL)
		return br_fail(err, CONFIG ": principal=NAME is missing");
	if (claims->principal_name == NULL)
		claims->principal_name = "sub";
	if (claims->scope_name == NULL)
		claims->scope_name = "scope";
	claims->life_s = LIFE_S;
	if (claims->life == NULL)
		return true;
	claims->life_s = strtoll(claims->life, &end, 10);
	if (*end != '\0' || claims->life_s <= 0 || claims->life_s > INT32_MAX)
		return br_fail(
		    err, CONFIG ": lifeSeconds is no positive number");
	return true;
}

/* ---- writing the token */

/* The scopes of a list with commas, as an array. */
static void
add_scopes(struct br_buffer *json, const struct claims *claims)
{
	const char *from = claims->scope, *before = "[";

	br_buffer_format(json, ",\"%s\":", claims->scope_name);
	while (*from != '\0') {
		int len = (int)strcspn(from, ",");

		if (len > 0) {
			br_buffer_format(json, "%s\"%.*s\"", before, len, from);
			before = ",";
		}
		from += len;
		from += *from == ',';
	}
	br_buffer_str(json, *before == '[' ? "[]" : "]");
}

/* Base64 with the alphabet for URLs. */
static void
add_encoded(struct br_buffer *out, const struct br_buffer *bytes)
{
	char *text = br_kafka_zeroed(BR_BASE64_CHARS(bytes->len) + 1, 1);
	struct br_base64 base64 = {.out = text};

	for (size_t i = 0; i < bytes->len; i++)
		br_base64_put(&base64, (uint8_t)bytes->data[i]);
	br_base64_end(&base64);
	for (char *c = text; *c != '\0'; c++)
		*c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
	br_buffer_str(out, text);
	free(text);
}

static char *
write_token(const struct claims *claims, int64_t now_ms)
{
	struct br_buffer header = {0}, json = {0}, out = {0};

	br_buffer_str(&header, "{\"alg\":\"none\"}");
	br_buffer_format(&json,
	    "{\"%s\":\"%s\",\"iat\":%" PRId64 ".%03d,\"exp\":%" PRId64 ".%03d",
	    claims->principal_name, claims->principal, now_ms / 1000,
	    (int)(now_ms % 1000), now_ms / 1000 + claims->life_s,
	    (int)(now_ms % 1000));
	if (claims->scope != NULL)
		add_scopes(&json, claims);
	br_buffer_str(&json, "}");
	add_encoded(&out, &header);
	br_buffer_str(&out, ".");
	add_encoded(&out, &json);
	/* no signature */
	br_buffer_str(&out, ".");
	br_buffer_free(&header);
	br_buffer_free(&json);
	return out.data;
}

bool
br_token_make(const char *config, int64_t now_ms, struct br_token *token,
    struct br_error *err)
{
	struct claims claims = {0};

	*token = (struct br_token){0};
	token->text = br_kafka_copy(config, strlen(config));
	if (!read_config(token, &claims, err)) {
		br_token_free(token);
		return false;
	}
	token->principal = claims.principal;
	token->until_ms = now_ms + claims.life_s * 1000;
	token->value = write_token(&claims, now_ms);
	return true;
}

void
br_token_free(struct br_token *token)
{
	free(token->value);
	free(token->text);
	*token = (struct br_token){0};
}

/* ---- what librdkafka calls */

/* On the thread that serves the logins. */
static void
renew(rd_kafka_t *rk, const char *config, void *opaque)
{
	struct br_token token;
	struct br_error err;
	char why[512] = "";

	(void)opaque;
	if (!br_token_make(config != NULL ? config : "", br_clock_wall_ms(),
	        &token, &err)) {
		(void)rd_kafka_oauthbearer_set_token_failure(rk, err.text);
		return;
	}
	if (rd_kafka_oauthbearer_set_token(rk, token.value, token.until_ms,
	        token.principal, token.extension, token.extension_count, why,
	        sizeof(why)) != RD_KAFKA_RESP_ERR_NO_ERROR)
		(void)rd_kafka_oauthbearer_set_token_failure(rk, why);
	br_token_free(&token);
}

/* The value of a property; empty where this librdkafka does not know it. */
static void
get(const rd_kafka_conf_t *conf, const char *name, char *value, size_t size)
{
	if (rd_kafka_conf_get(conf, name, value, &size) != RD_KAFKA_CONF_OK)
		value[0] = '\0';
}

bool
br_token_prepare(rd_kafka_conf_t *conf, struct br_error *err)
{
	char protocol[32], mechanism[64], method[32], unsecured[16];
	char config[4096];
	struct br_token token;

	get(conf, "security.protocol", protocol, sizeof(protocol));
	get(conf, "sasl.mechanisms", mechanism, sizeof(mechanism));
	get(conf, "sasl.oauthbearer.method", method, sizeof(method));
	get(conf, "enable.sasl.oauthbearer.unsecure.jwt", unsecured,
	    sizeof(unsecured));
	get(conf, CONFIG, config, sizeof(config));
	if (strncasecmp(protocol, "sasl_", 5) != 0 ||
	    strcmp(mechanism, "OAUTHBEARER") != 0)
		return true;
	if (strcmp(method, "oidc") == 0)
		return true;
	if (strcmp(unsecured, "true") != 0)
		return br_fail(err,
		    "sasl.mechanism=OAUTHBEARER: nothing says where tokens "
		    "come from: set sasl.oauthbearer.method=oidc");
	if (!br_token_make(config, br_clock_wall_ms(), &token, err))
		return false;
	br_token_free(&token);
	if (rd_kafka_conf_set(conf, "enable.sasl.oauthbearer.unsecure.jwt",
	        "false", NULL, 0) != RD_KAFKA_CONF_OK)
		return br_fail(err, "OAUTHBEARER is not to be had");
	rd_kafka_conf_set_oauthbearer_token_refresh_cb(conf, renew);
	rd_kafka_conf_enable_sasl_queue(conf, 1);
	return true;
}

void
br_token_serve(rd_kafka_t *rk)
{
	/* an error says that this client's login calls nobody */
	rd_kafka_error_destroy(rd_kafka_sasl_background_callbacks_enable(rk));
}
