/* SPDX-License-Identifier: Apache-2.0
 * content_hash.h: SHA-256 of the bytes of a file, so that it is known again wherever it lies. */
#pragma once

#include "server/files/files.h"
#include "server/store/sha256.h"

/* In 64 hex digits; false where it cannot be read (`io`), or changed meanwhile (`changed`): `text` is then as it
 * was. */
bool content_hash(const struct files_place *place, char text[SHA256_TEXT_SIZE], struct err *err);
