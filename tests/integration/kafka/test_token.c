/* token: what a token of sasl.oauthbearer.config looks like, and who gets
 * one. Renewal and logins need a real broker: acceptance case 045. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "bridge/base/clock.h"
#include "bridge/kafka/topics.h"

#include "client.h"
#include "token.h"

#define NOW_MS 1700000000123

static struct br_error err;

/* The token's claims, decoded by hand: base64url without padding. */
static const char *
claims_of(const struct br_token *token)
{
	static const char alphabet[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	static char out[1024];
	const char *from = strchr(token->value, '.') + 1;
	unsigned bits = 0, held = 0;
	size_t n = 0;

	for (; *from != '.'; from++) {
		const char *at = strchr(alphabet, *from);

		assert_non_null(at);
		bits = bits << 6 | (unsigned)(at - alphabet);
		held += 6;
		if (held >= 8) {
			held -= 8;
			out[n++] = (char)(bits >> held);
		}
	}
	assert_string_equal(from, ".");
	out[n] = '\0';
	return out;
}

static struct br_token
made(const char *config)
{
	struct br_token token;

	if (!br_token_make(config, NOW_MS, &token, &err))
		fail_msg("%s: %s", config, err.text);
	return token;
}

static void
makes_a_token_without_a_signature(void **state)
{
	struct br_token token = made("principal=bridge lifeSeconds=60");

	(void)state;
	/* {"alg":"none"} */
	assert_int_equal(strncmp(token.value, "eyJhbGciOiJub25lIn0.", 20), 0);
	assert_string_equal(claims_of(&token),
	    "{\"sub\":\"bridge\",\"iat\":1700000000.123,"
	    "\"exp\":1700000060.123}");
	assert_string_equal(token.principal, "bridge");
	assert_int_equal(token.until_ms, NOW_MS + 60000);
	assert_int_equal(token.extension_count, 0);
	br_token_free(&token);
}

static void
takes_all_that_librdkafka_documents(void **state)
{
	struct br_token token = made(" principalClaimName=azp principal=adm>? "
	                             "scopeClaimName=roles scope=,a,,b, "
	                             "extension_tenant=t=1 extension_zone=z ");

	(void)state;
	assert_string_equal(claims_of(&token),
	    "{\"azp\":\"adm>?\",\"iat\":1700000000.123,"
	    "\"exp\":1700003600.123,\"roles\":[\"a\",\"b\"]}");
	assert_int_equal(token.until_ms, NOW_MS + 3600000);
	assert_int_equal(token.extension_count, 4);
	assert_string_equal(token.extension[0], "tenant");
	assert_string_equal(token.extension[1], "t=1");
	assert_string_equal(token.extension[2], "zone");
	assert_string_equal(token.extension[3], "z");
	br_token_free(&token);
}

static void
refuses_what_is_wrong_and_shows_no_value(void **state)
{
	static const struct {
		const char *config, *said;
	} bad[] = {
	    {"", "principal"},
	    {"lifeSeconds=5", "principal"},
	    {"principal=", "principal"},
	    {"principal=a principal=hunter2", "twice"},
	    {"principal=hunter2\"", "principal"},
	    {"principal=hunter2\\", "principal"},
	    {"principal=a hunter2", "name=value"},
	    {"principal=a lifeseconds=hunter2", "lifeseconds"},
	    {"principal=a lifeSeconds=0", "lifeSeconds"},
	    {"principal=a lifeSeconds=-1", "lifeSeconds"},
	    {"principal=a lifeSeconds=1hunter2", "lifeSeconds"},
	    {"principal=a lifeSeconds=2147483648", "lifeSeconds"},
	};
	struct br_token token;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(
		    br_token_make(bad[i].config, NOW_MS, &token, &err));
		if (strstr(err.text, bad[i].said) == NULL ||
		    strstr(err.text, "hunter2") != NULL)
			fail_msg("%s: %s", bad[i].config, err.text);
	}
}

static void
takes_at_most_so_many_extensions(void **state)
{
	char config[2048] = "principal=a";
	struct br_token token;

	(void)state;
	for (int i = 0; i < BR_TOKEN_EXTENSIONS; i++)
		(void)strcat(config, " extension_x=y");
	token = made(config);
	assert_int_equal(token.extension_count, 2 * BR_TOKEN_EXTENSIONS);
	br_token_free(&token);
	(void)strcat(config, " extension_x=y");
	assert_false(br_token_make(config, NOW_MS, &token, &err));
}

/* A client of these properties, as all of ours are made. */
static rd_kafka_t *
client(const char *const *property, size_t count)
{
	struct br_config config = {0};
	char *item[8];
	rd_kafka_conf_t *conf;

	config.kafka.brokers = "127.0.0.1:1";
	config.kafka.group = "g";
	config.kafka.properties.item = item;
	config.kafka.properties.count = count;
	for (size_t i = 0; i < count; i++)
		item[i] = strdup(property[i]);
	conf = br_client_conf(&config, BR_CLIENT_ASKER, &err);
	for (size_t i = 0; i < count; i++)
		free(item[i]);
	return conf != NULL ? br_client_new(RD_KAFKA_CONSUMER, conf, &err)
	                    : NULL;
}

static void
refuses_oauthbearer_without_a_source_of_tokens(void **state)
{
	static const char *const none[] = {
	    "security.protocol=SASL_PLAINTEXT", "sasl.mechanism=OAUTHBEARER"};
	static const char *const broken[] = {"security.protocol=SASL_PLAINTEXT",
	    "sasl.mechanism=OAUTHBEARER",
	    "enable.sasl.oauthbearer.unsecure.jwt=true",
	    "sasl.oauthbearer.config=lifeSeconds=5"};

	(void)state;
	assert_null(client(none, 2));
	assert_non_null(strstr(err.text, "sasl.oauthbearer.method"));
	assert_null(client(broken, 4));
	assert_non_null(strstr(err.text, "principal"));
}

/* Nobody polls; the token is renewed all the same, several times. What the
 * client has of it shows in its own complaint about the next one. */
static void
renews_tokens_without_anybody_polling(void **state)
{
	static const char *const property[] = {
	    "security.protocol=SASL_PLAINTEXT", "sasl.mechanism=OAUTHBEARER",
	    "enable.sasl.oauthbearer.unsecure.jwt=true",
	    "sasl.oauthbearer.config=principal=bridge lifeSeconds=1",
	    "debug=security"};
	rd_kafka_t *rk = client(property, 5);
	rd_kafka_queue_t *queue;
	rd_kafka_event_t *ev;
	int64_t until_ms = br_clock_mono_ms() + 20000;
	int tokens = 0;

	(void)state;
	assert_non_null(rk);
	(void)rd_kafka_set_log_queue(rk, NULL);
	queue = rd_kafka_queue_get_main(rk);
	while (tokens < 3 && br_clock_mono_ms() < until_ms) {
		const char *facility, *text;
		int level;

		ev = rd_kafka_queue_poll(queue, 100);
		if (ev == NULL)
			continue;
		/* the event of a refresh is not for this queue */
		assert_int_not_equal(rd_kafka_event_type(ev),
		    RD_KAFKA_EVENT_OAUTHBEARER_TOKEN_REFRESH);
		if (rd_kafka_event_log(ev, &facility, &text, &level) == 0 &&
		    strstr(text, "after setting OAUTHBEARER token") != NULL)
			tokens++;
		rd_kafka_event_destroy(ev);
	}
	assert_int_equal(tokens, 3);
	rd_kafka_queue_destroy(queue);
	assert_true(br_client_destroy(rk, 0, 5000));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(makes_a_token_without_a_signature),
	    cmocka_unit_test(takes_all_that_librdkafka_documents),
	    cmocka_unit_test(refuses_what_is_wrong_and_shows_no_value),
	    cmocka_unit_test(takes_at_most_so_many_extensions),
	    cmocka_unit_test(refuses_oauthbearer_without_a_source_of_tokens),
	    cmocka_unit_test(renews_tokens_without_anybody_polling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
