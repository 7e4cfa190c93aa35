/* SPDX-License-Identifier: Apache-2.0
 * all_modules_read.h: what all_modules.c and all_modules_read.c share: what is read of a session, and what of it is
 * missing yet. */
#pragma once

#include "server/store/all_modules.h"
#include "server/store/sha256.h"

enum { ALL_MODULES_KEY_SIZE = SHA256_TEXT_SIZE + 2 };

/* The hash of each program of a file. */
struct all_modules_digests {
    bool is_packed;
    size_t count;
    struct {
        char key[ALL_MODULES_KEY_SIZE]; /* "": see err */
        struct err err;
    } programs[];
};

/* Reads the hashes of a file that is open; NULL and `err` when it cannot be read any more. On any thread, while nothing
 * joins. */
struct all_modules_digests *all_modules_digests_make(const struct all_modules *all, const struct all_modules_file *of,
                                                     struct err *err);

/* A distinct program. */
struct all_modules_figures {
    char *key;      /* of its digest, and of the rules by which it is read */
    size_t file_at; /* where it is read */
    const struct analysis_program *program;
    struct subject subject; /* core NULL: not read yet, or see err */
    struct err err;
};

/* Equal programs have the same. */
static inline uint64_t all_modules_name_hash(const struct analysis_program *program)
{
    return hash_text(program->key, program->size_bytes);
}

static inline bool all_modules_needs_digests(const struct all_modules_file *file)
{
    return file->opened.contents && !file->digests && !err_is_set(&file->err);
}

static inline bool all_modules_needs_figures(const struct all_modules_figures *figures)
{
    return !figures->subject.core && !err_is_set(&figures->err);
}

static inline bool all_modules_needs_runs(const struct all_modules_file *file)
{
    return file->has_runs && !file->is_runs_known;
}

/* Takes what the cache has. */
void all_modules_look(struct all_modules *all);
/* Gives each program of a file whose hashes are known its place among the distinct ones. */
void all_modules_join(struct all_modules *all, size_t file_at);

/* The keys of the cache; free(). */
char *all_modules_digests_key(const struct all_modules_file *file);
char *all_modules_runs_key(const struct all_modules_file *file);
