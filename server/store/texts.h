/* SPDX-License-Identifier: Apache-2.0
 * texts.h: the out-of-memory texts that readers look at, each read once.
 *
 * An uploaded text is kept in memory, by the hash of its bytes (store.h). A text on disk is read where it lies; only what was found in it is kept.
 * Threads: any number. */
#ifndef SERVER_STORE_TEXTS_H
#define SERVER_STORE_TEXTS_H

#include "server/store/store.h"
#include "server/store/upload.h"

#define TEXTS_LIMIT_BYTES ((size_t)64 << 20)
enum { TEXTS_ID_SIZE = 33 };
/* What is kept of a given text beside its bytes, about. */
enum { TEXTS_COST_BYTES = 4 << 10 };

/* A text that was read; texts_close once with each that was filled. */
struct text {
    const char *id;              /* of a given one: 32 hex digits; NULL for a file's */
    const struct upload *upload; /* the bytes of a given one */
    const char *answer;          /* members of the answer, see analysis_oom_write_answer */
    struct cache_hold hold;
};

/* Keeps the bytes of `upload` (a reference is taken) and reads them. */
bool texts_give(struct store *store, struct upload *upload, struct text *text, struct err *err);
/* One that was given before; `notfound` when it is not kept any more. */
bool texts_find(struct store *store, const char *id, struct text *text, struct err *err);
/* Reads the file at `place`, unless it was read since it changed last. */
bool texts_of_file(struct store *store, const struct files_place *place, struct text *text, struct err *err);
void texts_close(struct text *text);

#endif
