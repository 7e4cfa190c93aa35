/* SPDX-License-Identifier: Apache-2.0
 * texts.h: the out-of-memory texts that readers look at, each read once.
 *
 * A text that a reader gave is kept in memory, by the hash of its bytes, until it was
 * not looked at for six hours or later ones need the room; it never reaches a disk.
 * A text on disk is read where it lies; only what was found in it is kept.
 * Threads: any number. */
#ifndef SERVER_STORE_TEXTS_H
#define SERVER_STORE_TEXTS_H

#include "server/store/cache.h"
#include "server/disk/files.h"
#include "server/store/upload.h"

#define TEXTS_LIMIT_BYTES ((size_t)64 << 20)
enum { TEXTS_ID_SIZE = 33 };
/* What is kept of a given text beside its bytes, about. */
enum { TEXTS_COST_BYTES = 4 << 10 };

struct texts;

/* `account`: that of the uploads that are given. */
struct texts *texts_new(struct account *account);
void texts_on_wait(struct texts *texts, const struct cache_waiting *waiting);
/* To be called now and then: lets go of what was not looked at for long. */
void texts_expire(struct texts *texts);
/* The daemon ends: what is read now fails with `io`. */
void texts_stop(struct texts *texts);
/* Nothing may be held. */
void texts_free(struct texts *texts);

/* A text that was read; texts_close once with each that was filled. */
struct text {
    const char *id;              /* of a given one: 32 hex digits; NULL for a file's */
    const struct upload *upload; /* the bytes of a given one */
    const char *answer;          /* members of the answer, see analysis_oom_write_answer */
    struct cache_hold hold;
};

/* Keeps the bytes of `upload` (a reference is taken) and reads them. */
bool texts_give(struct texts *texts, struct upload *upload, struct text *text, struct err *err);
/* One that was given before; `notfound` when it is not kept any more. */
bool texts_find(struct texts *texts, const char *id, struct text *text, struct err *err);
/* Reads the file at `place`, unless it was read since it changed last. */
bool texts_of_file(struct texts *texts, const struct files_place *place, struct text *text, struct err *err);
void texts_close(struct text *text);

#endif
