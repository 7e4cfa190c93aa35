/* SPDX-License-Identifier: Apache-2.0
 * sha256.h: SHA-256 (FIPS 180-4): the name of bytes that a reader uploaded, which nobody can guess or forge. */
#pragma once

#include <stddef.h>

enum { SHA256_TEXT_SIZE = 65 };
/* 64 hex digits and a NUL. */
void sha256_text(const void *data, size_t size, char text[SHA256_TEXT_SIZE]);
