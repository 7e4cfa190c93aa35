/* SPDX-License-Identifier: Apache-2.0
 * hash.h: one 64-bit hash for tables, entity tags and ids.
 *
 * Good at spreading, not a defence against somebody who looks for collisions:
 * nothing that must be secret or safe depends on it. */
#ifndef SERVER_BASE_HASH_H
#define SERVER_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Hash of `size` bytes; pass an earlier hash as `seed` to chain. About 4 GB/s. */
uint64_t hash_bytes(const void *data, size_t size, uint64_t seed);

/* Same of a text and the NUL that ends it, so that ("ab", "c") and ("a", "bc") differ. */
uint64_t hash_text(const char *text, uint64_t seed);

enum { HASH_ID_SIZE = 13 };
/* Twelve hex digits and a NUL: how sessions, hosts and modules are named in URLs. */
void hash_id(char id[HASH_ID_SIZE], uint64_t hash);

#endif
