/* SPDX-License-Identifier: Apache-2.0
 * upload_set.h: traces, dumps and other files that a reader uploaded, opened like a folder, never on disk.
 *
 * Files come one by one; each makes a new set: the files of an earlier one and itself. A set is
 * named by the hash of the names and bytes in it and never changes.
 * Threads: any number. */
#pragma once

#include "analysis/analysis.h"
#include "server/gather/snapshot.h"
#include "server/store/sha256.h"
#include "server/store/store.h"
#include "server/store/upload.h"

#include <stdatomic.h>

/* The limits of one file, and of all files of a set together. */
#define UPLOAD_SET_FILE_LIMIT_BYTES ((size_t)1 << 30)
#define UPLOAD_SET_LIMIT_BYTES ((uint64_t)1 << 30)
enum { UPLOAD_SET_ID_SIZE = 41, UPLOAD_SET_MAX_FILES = 1000 };
/* What a set of one file takes beside its bytes, about. */
enum { UPLOAD_SET_COST_BYTES = 9 << 10 };

struct upload_set_file {
    atomic_int holders; /* sets that it is in */
    char *path;         /* below the set, as the reader's machine named it; "/" between its parts */
    struct upload *upload;
    enum analysis_kind kind;
    char sha256[SHA256_TEXT_SIZE];
};

/* A set that is looked at; upload_set_close once with each that was filled. */
struct upload_set {
    const char *id;
    size_t file_count;
    struct upload_set_file *const *files; /* by path */
    struct cache_hold hold;
};

/* The files of the set `with` (NULL: none) and `upload` (a reference is taken), which takes the place of one of the
 * same path. Errors: argument (path), unsupported (no file that is shown here), limit, notfound (`with`). */
bool upload_set_add(struct store *store, const char *with, const char *path, struct upload *upload,
                    struct upload_set *set, struct err *err);
/* `id` may be the id of one of the set's sessions. `notfound` when the set is not kept any more. */
bool upload_set_find(struct store *store, const char *id, struct upload_set *set, struct err *err);
void upload_set_close(struct upload_set *set);

/* What of the set can be opened; as long as it is held. Reads its texts when asked first. */
const struct snapshot *upload_set_snapshot(const struct upload_set *set);

/* Is it the name of a set, or of a session of one? */
bool upload_set_is_id(const char *text);
