/* SPDX-License-Identifier: Apache-2.0
 * labels.h: what a file is of, as people say it: the job, the commit, the user, or any word they choose.
 *
 * They come, the first before the others, from --label; from memviewd.json in the folder of the file or one above it,
 * up to the root (the nearest first); from the file's path, by --label-path; from MEMVIEWD_LABELS,
 * "KEY=VALUE,KEY=VALUE"; and from where known programs put files (layouts.def). A key is a word of letters, digits,
 * '_', '-' and '.', at most 63 bytes and beginning with a letter; a value has at most 1,024 bytes. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "server/gather/facts.h"

struct labels;

/* `given`: "KEY=VALUE". `patterns`: "{user}/{job}-*", components of the path of a file below its root; the first
 * pattern that fits counts. `environment`: the value of MEMVIEWD_LABELS, or NULL. All must outlive the labels. NULL and
 * a line of the log when one cannot be parsed. */
struct labels *labels_new(const char *const *given, size_t given_count, const char *const *patterns,
                          size_t pattern_count, const char *environment);
/* What was read of memviewd.json before. Borrowed, also by copies; before labels_find. */
void labels_set_facts(struct labels *labels, const struct facts *facts);
/* Another of the same, for another thread. */
struct labels *labels_copy(const struct labels *labels);
void labels_free(struct labels *labels);

/* Those of a file, until the next is asked for. A memviewd.json that cannot be used sets `err`, and counts for nothing;
 * its path below the root is then in `*file`. */
void labels_find(struct labels *labels, const struct files_place *place, const char **file, struct err *err);
/* The value of a key, or NULL. */
const char *labels_value(const struct labels *labels, const char *key);
/* All of them as one JSON object, by key; "{}" if there are none. */
const char *labels_json(struct labels *labels);
