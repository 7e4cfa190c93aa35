/* SPDX-License-Identifier: Apache-2.0
 * files_joined.h: several files of one program, read as one: behind each other, framed as XLA frames what it dumps to
 * the standard output (analysis/read/hlo/hlo_parts.h takes them apart). Nothing is copied. Threads: as for files.h. */
#pragma once

#include "server/files/files.h"

struct files_joined;

/* NULL and `err` when one of them cannot be opened. */
struct files_joined *files_joined_open(const struct files_place *parts, size_t count, struct err *err);
void files_joined_close(struct files_joined *joined);
/* As the functions of a source: `context` is the files_joined. */
int64_t files_joined_read(void *context, uint64_t offset, void *into, size_t size);
int64_t files_joined_read_apart(void *context, uint64_t offset, void *into, size_t size);
/* The identity of all files together. */
struct files_identity files_joined_identity(const struct files_joined *joined);
/* Are all still the same bytes? False sets `changed`. */
bool files_joined_unchanged(const struct files_joined *joined, struct err *err);
