/* result: see the header. */
#include "bridge/http/result.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <curl/curl.h>

/* A connect that failed at once. */
static enum br_transport
connect_failure(const struct br_result_facts *facts)
{
	/* Another address that was tried and failed may work next time: only
	 * when each one is forbidden is the event itself wrong. */
	if (facts->forbidden > 0 && facts->opened == 0)
		return BR_TRANSPORT_FORBIDDEN;
	switch (facts->os_errno) {
	case ECONNREFUSED:
		return BR_TRANSPORT_REFUSED;
	case ECONNRESET:
	case ECONNABORTED:
		return BR_TRANSPORT_RESET;
	case ETIMEDOUT:
		return BR_TRANSPORT_CONNECT_TIMEOUT;
	default:
		return BR_TRANSPORT_UNREACHABLE;
	}
}

/* A code that says nothing by itself: did an answer begin? */
static enum br_transport
unless_answered(const struct br_answer *answer, enum br_transport otherwise)
{
	return answer->head_bytes > 0 ? BR_TRANSPORT_BAD_RESPONSE : otherwise;
}

static enum br_transport
transport_of(
    const struct br_result_facts *facts, const struct br_answer *answer)
{
	if (answer->end == BR_ANSWER_BAD)
		return BR_TRANSPORT_BAD_RESPONSE;
	if (answer->end == BR_ANSWER_ENOUGH)
		return BR_TRANSPORT_OK;
	if (facts->aborted)
		return BR_TRANSPORT_OTHER;
	switch (facts->code) {
	case CURLE_OK:
		return answer->head_complete ? BR_TRANSPORT_OK
		                             : BR_TRANSPORT_BAD_RESPONSE;
	case CURLE_COULDNT_RESOLVE_HOST:
		return BR_TRANSPORT_DNS;
	case CURLE_COULDNT_CONNECT:
		return connect_failure(facts);
	case CURLE_OPERATION_TIMEDOUT:
		return facts->connected ? BR_TRANSPORT_TIMEOUT
		                        : BR_TRANSPORT_CONNECT_TIMEOUT;
	case CURLE_GOT_NOTHING:
	case CURLE_ABORTED_BY_CALLBACK: /* a further resend was stopped */
		return BR_TRANSPORT_EMPTY;
	case CURLE_SEND_ERROR:
		/* It did not want the whole body, but it answered. */
		return answer->head_complete ? BR_TRANSPORT_OK
		                             : BR_TRANSPORT_RESET;
	case CURLE_RECV_ERROR:
	case CURLE_SEND_FAIL_REWIND:
	case CURLE_PARTIAL_FILE:
		return BR_TRANSPORT_RESET;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_ENGINE_NOTFOUND:
	case CURLE_SSL_ENGINE_SETFAILED:
	case CURLE_SSL_ENGINE_INITFAILED:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_USE_SSL_FAILED:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_SHUTDOWN_FAILED:
	case CURLE_SSL_CRL_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
	case CURLE_SSL_INVALIDCERTSTATUS:
	case CURLE_SSL_CLIENTCERT:
		return BR_TRANSPORT_TLS;
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_BAD_CONTENT_ENCODING:
		return BR_TRANSPORT_BAD_RESPONSE;
	case CURLE_UNSUPPORTED_PROTOCOL:
		/* Also what 7.88 calls an answer that is not HTTP. */
		return facts->connected ? BR_TRANSPORT_BAD_RESPONSE
		                        : BR_TRANSPORT_OTHER;
	default:
		return unless_answered(answer, BR_TRANSPORT_OTHER);
	}
}

/* Our own words where libcurl has none or would only name our own cut. */
static const char *
words(const struct br_result_facts *facts, const struct br_answer *answer,
    enum br_transport transport)
{
	if (transport == BR_TRANSPORT_OK)
		return "";
	if (transport == BR_TRANSPORT_FORBIDDEN)
		return "the address is loopback, private or reserved";
	if (answer->end == BR_ANSWER_BAD)
		return answer->head_bytes > BR_ANSWER_HEAD_MAX
		           ? "headers of more than 256 KiB"
		           : "an answer without a status";
	if (facts->aborted)
		return "aborted";
	if (facts->blocked > 0 && facts->code == CURLE_COULDNT_CONNECT)
		return "refused a second connection of one worker";
	if (facts->code == CURLE_ABORTED_BY_CALLBACK)
		return "the connection ended without an answer";
	/* libcurl only says that it could not connect, the system says why. */
	if (facts->code == CURLE_COULDNT_CONNECT && facts->os_errno != 0 &&
	    strerrordesc_np((int)facts->os_errno) != NULL)
		return strerrordesc_np((int)facts->os_errno);
	if (facts->text[0] != '\0')
		return facts->text;
	return curl_easy_strerror((CURLcode)facts->code);
}

/* A certificate or a header may hold anything; a log line may not. */
static void
copy_printable(char *out, size_t size, const char *text)
{
	size_t n = 0;

	for (; text[n] != '\0' && n + 1 < size; n++)
		out[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] : '?';
	out[n] = '\0';
}

void
br_result_fill(struct br_outcome *out, const struct br_result_facts *facts,
    const struct br_answer *answer)
{
	char redirect[sizeof(answer->location_host) + 32];

	out->transport = transport_of(facts, answer);
	/* Our own cut is no error. */
	out->curl_code = out->transport == BR_TRANSPORT_OK ? 0 : facts->code;
	out->head_complete = answer->head_complete;
	out->http_status = answer->head_complete ? answer->status : 0;
	if (out->transport == BR_TRANSPORT_OK && out->http_status / 100 == 3 &&
	    answer->location_host[0] != '\0') {
		(void)snprintf(redirect, sizeof(redirect),
		    "points to %s, not followed", answer->location_host);
		copy_printable(out->detail, sizeof(out->detail), redirect);
	} else {
		copy_printable(out->detail, sizeof(out->detail),
		    words(facts, answer, out->transport));
	}
	memcpy(out->body, answer->body, answer->body_len);
	out->body_len = answer->body_len;
}
