/* SPDX-License-Identifier: Apache-2.0
 * ca_file.h: where the certificates are that servers are checked by. Distributions keep them at different places, and a
 * binary that is linked statically runs on any of them. */
#pragma once

#include <stddef.h>

enum { CA_FILE_WHY_BYTES = 512 };

/* The PEM file to trust, borrowed: `named`, unless it is NULL or empty, else what CURL_CA_BUNDLE or SSL_CERT_FILE says,
 * else the first that is there of the places where distributions keep it. "" when there is none and libcurl is the
 * distribution's own, which knows better; NULL when the one that is named cannot be read, or a static binary finds
 * none: `why`, of CA_FILE_WHY_BYTES, then names what was looked for. */
const char *ca_file_find(const char *named, char *why);
