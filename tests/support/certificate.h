/*
 * certificate: a certificate authority for tests, made at run time, and the
 * server certificates that it signs or does not sign.
 */
#ifndef TESTS_SUPPORT_CERTIFICATE_H
#define TESTS_SUPPORT_CERTIFICATE_H

struct ssl_ctx_st; /* SSL_CTX */

enum certificate_kind {
	CERTIFICATE_GOOD,        /* localhost, 127.0.0.1, ::1 */
	CERTIFICATE_SELF_SIGNED, /* the same, signed by itself */
	CERTIFICATE_EXPIRED,     /* the same, its time ended yesterday */
	CERTIFICATE_WRONG_HOST   /* for another name */
};

struct authority;

/* Writes its own certificate to a file under TMPDIR. Aborts on failure. */
struct authority *authority_new(void);
void authority_free(struct authority *a);

/* Path of the PEM file, for ca_file. */
const char *authority_file(const struct authority *a);

/* A server context with a certificate of this kind; SSL_CTX_free it. */
struct ssl_ctx_st *authority_context(
    const struct authority *a, enum certificate_kind kind);

#endif
