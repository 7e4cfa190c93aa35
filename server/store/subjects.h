/* SPDX-License-Identifier: Apache-2.0
 * subjects.h: what the core reads (analysis.h, "One subject"), each read once, and the
 * answers to views on it.
 *
 * One of a file is kept under the identity that the file has now, an uploaded one by
 * the hash of its bytes. Of a text on disk only what was found in it is kept, not its bytes. Threads: any number. */
#pragma once

#include "server/gather/snapshot.h"
#include "server/store/groundwork.h"
#include "server/store/store.h"
#include "server/store/upload.h"

#define SUBJECTS_UPLOAD_LIMIT_BYTES ((size_t)64 << 20)

/* One that is looked at; subjects_close once with each that was filled, fine with {0}. */
struct subject {
    const struct analysis_subject *core; /* NULL: see the error */
    struct groundwork_slot *groundwork;  /* of a module; else NULL */
    const char *key;                     /* tells its bytes from all others of its kind; text */
    const char *name;                    /* of an uploaded profile; else NULL */
    const struct upload *upload;         /* the bytes of an uploaded text; else NULL */
    uint64_t size_bytes;
    int64_t modified_at_ms; /* of a file; 0 of an uploaded one */
    bool is_partial;        /* something was left out, for lack of memory or of a file: a later answer may have it */
    bool lacks_file;        /* the same, for a file that could not be read */
    struct cache_hold hold; /* is_transient after a failure: only others took the memory */
};

/* Where one lies. */
struct subjects_place {
    enum analysis_subject_kind kind;
    const struct files_place *file;         /* of all but a module */
    const struct store_file *opened;        /* of a module: its file, */
    const struct analysis_program *program; /* and which of the file's contents */
    const struct snapshot_session
        *session;               /* of a trace: in its other files programs are looked up; NULL: there are none */
    bool without_owners;        /* of a module: no question needs them (analysis_question_needs_owners) */
    const char *category_rules; /* of the figures of a module, which its key has to tell; NULL: those of the store */
};
/* The trace of a host of the session. */
struct subjects_place subjects_trace(const struct snapshot_session *session, const struct snapshot_host *host);

/* One that was read on a thread that may not wait in the cache (thread_pool.h). */
struct subjects_made {
    enum analysis_subject_kind kind;
    void *kept; /* NULL: see err */
    uint64_t cost_bytes;
    int64_t kept_ms;
    bool is_transient;
    struct err err;
};
/* Reads one out of an open file; `source` may be that of the file, unpacked. Then subjects_keep, once, from a thread
 * that may wait. */
void subjects_make(struct store *store, const struct subjects_place *place, struct file *file,
                   const struct source *source, const char *key, struct subjects_made *made);
/* Puts it, or why there is none, under `key`. If something is there already, that is the subject. */
bool subjects_keep(struct store *store, const char *key, struct subjects_made *made, struct subject *subject,
                   struct err *err);
/* What is under `key`; false without an error when there is nothing. */
bool subjects_find_kept(struct store *store, enum analysis_subject_kind kind, const char *key, struct subject *subject,
                        struct err *err);
/* The key of what lies at `place` in a file of that identity; free(). */
char *subjects_key(const struct subjects_place *place, const struct files_identity *identity);
/* That of what lies there now; NULL where it cannot be opened. */
char *subjects_key_now(const struct subjects_place *place);

bool subjects_open(struct store *store, const struct subjects_place *place, struct subject *subject, struct err *err);
/* Keeps the profile or the text in `upload`; of a text the bytes too (a reference is taken). `name` may be NULL. */
bool subjects_add(struct store *store, enum analysis_subject_kind kind, struct upload *upload, const char *name,
                  struct subject *subject, struct err *err);
/* One that was uploaded before; `notfound` when it is not kept any more. */
bool subjects_find(struct store *store, enum analysis_subject_kind kind, const char *id, struct subject *subject,
                   struct err *err);
/* Can it be the id (the key) of an uploaded one? The first letters of the SHA-256 of its bytes: 64 of a profile's, 32
 * of a text's. */
bool subjects_is_id(enum analysis_subject_kind kind, const char *text);
void subjects_close(struct subject *subject);

/* A host that could not be read, or (`trace` has its subject then) not to its end: `err` says why. */
typedef void subjects_lost(void *context, const struct snapshot_host *host, const struct subject *trace,
                           const struct err *err);
/* The host of a trace session whose worst pool is the worst of all; the first without any. Reads every host, where
 * there are several, and tells `lost` (may be NULL) which could not be read. */
const struct snapshot_host *subjects_worst_host(struct store *store, const struct snapshot_session *session,
                                                subjects_lost *lost, void *context);

/* The allocator snapshot to show if none is named: the worst host if it is a snapshot, else the first snapshot of the
 * session, which has at least one. */
const struct snapshot_host *subjects_allocator(struct store *store, const struct snapshot_session *session);

/* The answer to `question`, with a reference of its own, or NULL. With a `place` the question is about the subject
 * there, which is read only if the answer is not known (uses: none); else about its uses, which `key` tells from all
 * others, with their roles. `is_transient` (may be NULL) is then whether it was only others that took the memory;
 * `limit` without it means that it is too large for this machine. */
struct body *subjects_answer(struct store *store, const struct subjects_place *place, const char *key,
                             const struct analysis_question *question, struct err *err, bool *is_transient);
