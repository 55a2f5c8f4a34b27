/* certificate: see the header. */
#include "certificate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#define DAY_S (24L * 60 * 60)

struct authority {
	EVP_PKEY *key;
	X509 *certificate;
	char file[512];
};

static void
must(int ok, const char *what)
{
	if (ok)
		return;
	(void)fprintf(stderr, "certificate: %s failed\n", what);
	abort();
}

static void
add_extension(X509 *certificate, int nid, const char *value)
{
	X509V3_CTX context;
	X509_EXTENSION *extension;

	X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	must(extension != NULL, "extension");
	must(X509_add_ext(certificate, extension, -1), "extension");
	X509_EXTENSION_free(extension);
}

/* Not signed yet. */
static X509 *
blank(const char *name, EVP_PKEY *key, long from_s, long to_s)
{
	static int serial;
	X509 *x = X509_new();
	X509_NAME *subject = X509_NAME_new();

	must(x != NULL && subject != NULL, "allocation");
	must(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
	         (const unsigned char *)name, -1, -1, 0),
	    "name");
	must(X509_set_version(x, 2), "version");
	must(ASN1_INTEGER_set(
	         X509_get_serialNumber(x), __sync_add_and_fetch(&serial, 1)),
	    "serial");
	must(X509_gmtime_adj(X509_getm_notBefore(x), from_s) != NULL, "time");
	must(X509_gmtime_adj(X509_getm_notAfter(x), to_s) != NULL, "time");
	must(X509_set_subject_name(x, subject), "subject");
	must(X509_set_pubkey(x, key), "key");
	X509_NAME_free(subject);
	return x;
}

static void
sign(X509 *x, X509 *issuer, EVP_PKEY *issuer_key)
{
	must(X509_set_issuer_name(x, X509_get_subject_name(issuer)), "issuer");
	must(X509_sign(x, issuer_key, EVP_sha256()) > 0, "signature");
}

struct authority *
authority_new(void)
{
	const char *dir = getenv("TMPDIR");
	struct authority *a = calloc(1, sizeof(*a));
	FILE *file;
	int fd;

	must(a != NULL, "allocation");
	a->key = EVP_EC_gen("P-256");
	must(a->key != NULL, "key");
	a->certificate = blank("Test authority", a->key, -DAY_S, DAY_S);
	add_extension(
	    a->certificate, NID_basic_constraints, "critical,CA:TRUE");
	sign(a->certificate, a->certificate, a->key);
	(void)snprintf(a->file, sizeof(a->file), "%s/authority-XXXXXX",
	    dir != NULL ? dir : "/tmp");
	fd = mkstemp(a->file);
	must(fd >= 0, a->file);
	file = fdopen(fd, "w");
	must(file != NULL && PEM_write_X509(file, a->certificate), a->file);
	must(fclose(file) == 0, a->file);
	return a;
}

void
authority_free(struct authority *a)
{
	if (a == NULL)
		return;
	(void)unlink(a->file);
	X509_free(a->certificate);
	EVP_PKEY_free(a->key);
	free(a);
}

const char *
authority_file(const struct authority *a)
{
	return a->file;
}

SSL_CTX *
authority_context(const struct authority *a, enum certificate_kind kind)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x;

	must(context != NULL && key != NULL, "context");
	if (kind == CERTIFICATE_EXPIRED)
		x = blank("localhost", key, -2 * DAY_S, -DAY_S);
	else
		x = blank("localhost", key, -DAY_S, DAY_S);
	add_extension(x, NID_subject_alt_name,
	    kind == CERTIFICATE_WRONG_HOST
	        ? "DNS:elsewhere.test"
	        : "DNS:localhost,IP:127.0.0.1,IP:::1");
	if (kind == CERTIFICATE_SELF_SIGNED)
		sign(x, x, key);
	else
		sign(x, a->certificate, a->key);
	must(SSL_CTX_use_certificate(context, x), "certificate");
	must(SSL_CTX_use_PrivateKey(context, key), "key");
	X509_free(x);
	EVP_PKEY_free(key);
	return context;
}
