/* SPDX-License-Identifier: Apache-2.0
 * profiles.h: the device profiles that readers look at, each decoded once.
 *
 * A profile that a reader gave is kept in memory, by the hash of its bytes, until
 * it was not looked at for six hours or later ones need the room; it never reaches
 * a disk. One on disk is kept under the identity that its file has now.
 * Threads: any number. */
#ifndef SERVER_STORE_PROFILES_H
#define SERVER_STORE_PROFILES_H

#include "analysis/analysis.h"
#include "server/store/account.h"
#include "server/store/body.h"
#include "server/store/cache.h"
#include "server/disk/files.h"
#include "server/store/upload.h"

#define PROFILES_LIMIT_BYTES ((size_t)64 << 20)
enum { PROFILES_ID_SIZE = 65 }; /* SHA-256 as text */

struct profiles;

/* `account`: what decoded profiles may take together with all else. */
struct profiles *profiles_new(struct account *account);
void profiles_on_wait(struct profiles *profiles, const struct cache_waiting *waiting);
/* To be called now and then: lets go of what was not looked at for long. */
void profiles_expire(struct profiles *profiles);
/* Nothing may be held. */
void profiles_free(struct profiles *profiles);

/* A profile that is looked at; profiles_close once with each that was filled. */
struct profiles_one {
    const struct analysis_profile *profile; /* NULL: see the error */
    const char *key;                        /* tells its bytes from all others; text */
    const char *name;                       /* of a given one */
    uint64_t size_bytes;
    int64_t modified_at_ms; /* of a file; 0 of a given one */
    struct cache_hold hold;
};

/* Keeps what `upload` decodes to. */
bool profiles_give(struct profiles *profiles, const struct upload *upload, const char *name, struct profiles_one *one,
                   struct err *err);
/* One that was given before; `notfound` when it is not kept any more. */
bool profiles_find(struct profiles *profiles, const char *id, struct profiles_one *one, struct err *err);
bool profiles_of_file(struct profiles *profiles, const struct files_place *place, struct profiles_one *one,
                      struct err *err);
void profiles_close(struct profiles_one *one);

/* The answer to a view about `asked`, with a reference of its own, or NULL. `keys`
 * tells the profiles and their roles from all others. */
struct profiles_question {
    const struct analysis_profile_question *asked;
    const char *keys, *view;
    const struct analysis_param *params;
    size_t param_count;
};
struct body *profiles_answer(struct profiles *profiles, const struct profiles_question *question, struct err *err);

#endif
