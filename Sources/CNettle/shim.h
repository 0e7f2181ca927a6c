#pragma once
#include <nettle/eddsa.h>
#include <nettle/sha2.h>
#include <nettle/version.h>

// Version 4 of Nettle removed the parameter for the length from the function that returns the digest.
static inline void cnettle_sha256_digest(struct sha256_ctx *context, uint8_t *digest) {
#if NETTLE_VERSION_MAJOR >= 4
    sha256_digest(context, digest);
#else
    sha256_digest(context, SHA256_DIGEST_SIZE, digest);
#endif
}
