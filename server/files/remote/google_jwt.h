/* SPDX-License-Identifier: Apache-2.0
 * google_jwt.h: what a service account says of itself, signed with its key (RFC 7523, RS256). google_jwt_none.c
 * replaces it in a build without Nettle's public-key part. */
#pragma once

#include "base/err.h"

#include <stdint.h>

/* "HEADER.CLAIMS.SIGNATURE"; free(). `key_pem`: a private key of RSA in PKCS #8 or PKCS #1. NULL with `err`. */
char *google_jwt_make(const char *email, const char *key_pem, const char *scope, const char *audience,
                      int64_t now_unix_s, struct err *err);
