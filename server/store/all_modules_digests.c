/* SPDX-License-Identifier: Apache-2.0
 * all_modules_digests.c: tells which programs of a file are which. One that is, byte for byte, a program of another
 * file of the session has that one's hash: to compare takes a third of the time that SHA-256 does. */
#include "server/store/all_modules_read.h"

#include "server/base/memory.h"
#include "server/store/unpacked.h"

#include <stdlib.h>
#include <string.h>

/* TWINS_MAX: of as many programs of one name and size that differ, one is found again. */
enum { PIECE_BYTES = 256 << 10, TWINS_MAX = 4 };

/* The file whose programs are listed, and the file of the session with which it was compared last. */
struct digesting {
    const struct all_modules *all;
    const struct source *source;
    const struct analysis_program *program; /* the next */
    char *bytes, *twin_bytes;
    struct file *twin_file;
    size_t twin_file_at; /* twin_file's, or that of one that cannot be opened; SIZE_MAX: none yet */
    size_t twins_left;
};

/* Past the window of a file: programs follow each other, each in pieces of this size. */
static int64_t read_piece(const struct source *source, const struct analysis_program *program, uint64_t done,
                          char *bytes)
{
    uint64_t left = program->size_bytes - done;
    int64_t (*read)(void *, uint64_t, void *, size_t) = source->read_apart ? source->read_apart : source->read;
    return read(source->context, program->offset_bytes + done, bytes, left < PIECE_BYTES ? (size_t)left : PIECE_BYTES);
}

/* ---- compare ------------------------------------------------------------------------ */

static bool is_equal(struct digesting *digesting, const struct source *source, const struct analysis_program *twin)
{
    const struct analysis_program *program = digesting->program;
    for (uint64_t done = 0; done < program->size_bytes;) {
        int64_t got = read_piece(digesting->source, program, done, digesting->bytes);
        if (got <= 0 || read_piece(source, twin, done, digesting->twin_bytes) != got ||
            memcmp(digesting->bytes, digesting->twin_bytes, (size_t)got) != 0)
            return false;
        done += (uint64_t)got;
    }
    return true;
}

static bool open_twin(struct digesting *digesting, size_t file_at)
{
    struct err err = ERR_INIT;
    if (digesting->twin_file_at != file_at) {
        files_close(digesting->twin_file);
        digesting->twin_file = store_reopen(&digesting->all->files[file_at].opened, &err);
        digesting->twin_file_at = file_at;
    }
    return digesting->twin_file != NULL;
}

/* The hashed bytes must not have changed: the file is the same before the comparison and after. */
static bool is_twin(const void *context, uint64_t at)
{
    struct digesting *digesting = *(struct digesting *const *)context;
    const struct all_modules_figures *figures = &digesting->all->figures[at];
    const struct analysis_program *twin = figures->program, *program = digesting->program;
    struct err err = ERR_INIT;
    if (digesting->twins_left == 0 || twin->size_bytes != program->size_bytes || strcmp(twin->key, program->key) != 0 ||
        (twin->offset_bytes > 0) != (program->offset_bytes > 0) ||
        digesting->all->files[figures->file_at].digests->is_packed)
        return false;
    digesting->twins_left--;
    return open_twin(digesting, figures->file_at) && is_equal(digesting, files_source(digesting->twin_file), twin) &&
           files_unchanged(digesting->twin_file, &err);
}

/* ---- hash ----------------------------------------------------------------------------- */

static bool hash_program(const struct digesting *digesting, char key[ALL_MODULES_KEY_SIZE], struct err *err)
{
    const struct analysis_program *program = digesting->program;
    struct sha256_stream stream;
    sha256_begin(&stream);
    for (uint64_t done = 0; done < program->size_bytes;) {
        int64_t got = read_piece(digesting->source, program, done, digesting->bytes);
        if (got <= 0)
            return err_set(err, got < 0 ? ERR_io : ERR_truncated, program->offset_bytes + done,
                           got < 0 ? "cannot be read" : "the file ends inside of the program");
        sha256_add(&stream, digesting->bytes, (size_t)got);
        done += (uint64_t)got;
    }
    /* The same bytes are another message where they are a file of their own: see analysis_contents_read. */
    key[0] = program->offset_bytes > 0 ? 't' : 'f';
    key[1] = ' ';
    sha256_end(&stream, key + 2);
    return true;
}

static bool tell_program(struct digesting *digesting, char key[ALL_MODULES_KEY_SIZE], struct err *err)
{
    const struct all_modules *all = digesting->all;
    digesting->twins_left = TWINS_MAX;
    uint64_t twin = map_find(&all->figures_of_name, all_modules_name_hash(digesting->program), is_twin, &digesting);
    if (twin == MAP_FREE)
        return hash_program(digesting, key, err);
    memcpy(key, all->figures[twin].key, ALL_MODULES_KEY_SIZE);
    return true;
}

struct all_modules_digests *all_modules_digests_make(const struct all_modules *all, const struct all_modules_file *of,
                                                     struct err *err)
{
    const struct analysis_contents *contents = of->opened.contents;
    struct file *file = store_reopen(&of->opened, err);
    struct err unpacking = ERR_INIT;
    if (!file)
        return NULL;
    struct cache_hold kept = {0};
    unpacked_attach_kept(all->store, file, &kept);
    const struct source *inside = files_source(file)->unpacked;
    struct analysis_unpacked *unpacked = analysis_unpack(files_source(file), &unpacking);
    size_t count = contents->program_count;
    struct all_modules_digests *digests = memory_new(sizeof(*digests) + count * sizeof(digests->programs[0]));
    struct digesting digesting = {.all = all,
                                  .source = inside     ? inside
                                            : unpacked ? analysis_unpacked_source(unpacked)
                                                       : files_source(file),
                                  .bytes = memory_new(PIECE_BYTES),
                                  .twin_bytes = memory_new(PIECE_BYTES),
                                  .twin_file_at = SIZE_MAX};
    digests->count = count;
    digests->is_packed = inside || unpacked;
    for (size_t at = 0; at < count; at++) {
        struct err *program_err = &digests->programs[at].err;
        *program_err = (struct err)ERR_INIT;
        digesting.program = &contents->programs[at];
        if (!tell_program(&digesting, digests->programs[at].key, program_err)) {
            digests->programs[at].key[0] = '\0';
            if (err_is_set(&unpacking))
                *program_err = unpacking;
        }
    }
    free(digesting.bytes);
    free(digesting.twin_bytes);
    files_close(digesting.twin_file);
    analysis_unpacked_free(unpacked);
    unpacked_let_go(file, &kept);
    bool is_good = files_unchanged(file, err);
    files_close(file);
    if (is_good)
        return digests;
    free(digests);
    return NULL;
}
