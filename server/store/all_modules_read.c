/* SPDX-License-Identifier: Apache-2.0
 * all_modules_read.c: reads the modules of a session side by side. Threads of the pool only read and decode; what they
 * made is put into the cache by the thread that asked, which alone may wait there. */
#include "server/store/all_modules_read.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/base/wanted.h"
#include "server/store/unpacked.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_MS = 250 };

/* ---- hashes ------------------------------------------------------------------------- */

/* One file of a piece that is worked on side by side. */
struct hashing {
    struct all_modules_file *file;
    struct all_modules_digests *digests;
    struct err err;
};

struct piece {
    struct all_modules *all;
    int64_t deadline_ms;
    atomic_size_t done_count;
    struct hashing *hashings;
    struct decoding *decodings;
    struct all_modules_read_running *runnings;
};

/* Something is done in every piece, however late it is. */
static bool is_over(struct piece *piece)
{
    return atomic_load(store_is_stopping(piece->all->store)) || wanted_is_over() ||
           (clock_ms() >= piece->deadline_ms && atomic_load(&piece->done_count) > 0);
}

static void hash_work(void *context, size_t at)
{
    struct piece *piece = context;
    if (is_over(piece))
        return;
    struct hashing *hashing = &piece->hashings[at];
    hashing->digests = all_modules_digests_make(piece->all, hashing->file, &hashing->err);
    atomic_fetch_add(&piece->done_count, 1);
}

static void *hand_over(void *context, struct cache_made *made, struct err *err)
{
    struct hashing *hashing = context;
    struct all_modules_digests *digests = hashing->digests;
    (void)err;
    hashing->digests = NULL;
    made->cost_bytes = sizeof(*digests) + digests->count * sizeof(digests->programs[0]);
    return digests;
}

static void keep_digests(struct all_modules *all, struct hashing *hashing)
{
    struct all_modules_file *file = hashing->file;
    if (err_is_set(&hashing->err))
        file->err = hashing->err;
    if (!hashing->digests)
        return;
    struct cache_maker maker = {hand_over, free, hashing};
    char *key = all_modules_digests_key(file);
    file->digests = cache_get(store_cache(all->store), STORE_DIGESTS, key, &maker, &file->digests_hold, &file->err);
    free(key);
    free(hashing->digests);
    if (file->digests)
        all_modules_join(all, (size_t)(file - all->files));
}

/* The next few files, so that their programs can be read before the others'. False: there are none. */
static bool hash_some(struct piece *piece)
{
    struct all_modules *all = piece->all;
    const struct workers *readers = store_readers(all->store);
    /* The first are hashed, which processors do; those after them are held against these, which disks do. */
    size_t count = 0, max = all->figures_count == 0 ? store_workers(all->store)->count : 2 * readers->count;
    piece->hashings = memory_new(max * sizeof(*piece->hashings));
    for (size_t at = 0; at < all->file_count && count < max; at++)
        if (all_modules_needs_digests(&all->files[at]))
            piece->hashings[count++] = (struct hashing){.file = &all->files[at], .err = ERR_INIT};
    workers_run(readers, count, hash_work, piece);
    for (size_t at = 0; at < count; at++)
        keep_digests(all, &piece->hashings[at]);
    free(piece->hashings);
    return count > 0;
}

/* ---- figures ------------------------------------------------------------------------ */

/* Distinct programs of one file: for a packed file all of them, in their order in the file. */
struct decoding {
    struct all_modules_figures **figures;
    struct subjects_made *made;
    size_t count;
    struct err err; /* the file cannot be opened */
};

static void decode_all(struct piece *piece, struct decoding *decoding, struct file *file, bool is_packed)
{
    struct err unpacking = ERR_INIT;
    struct cache_hold kept = {0};
    unpacked_attach_kept(piece->all->store, file, &kept);
    struct analysis_unpacked *unpacked = is_packed ? analysis_unpack(files_source(file), &unpacking) : NULL;
    const struct source *source = unpacked ? analysis_unpacked_source(unpacked) : files_source(file);
    for (size_t at = 0; at < decoding->count && !is_over(piece); at++) {
        const struct all_modules_figures *figures = decoding->figures[at];
        const struct all_modules_file *of = &piece->all->files[figures->file_at];
        const struct subjects_place place = {.kind = ANALYSIS_FIGURES,
                                             .opened = &of->opened,
                                             .program = figures->program,
                                             .category_rules = piece->all->category_rules};
        subjects_make(piece->all->store, &place, file, source, figures->key, &decoding->made[at]);
        if (!decoding->made[at].kept && err_is_set(&unpacking))
            decoding->made[at].err = unpacking;
        atomic_fetch_add(&piece->done_count, 1);
    }
    analysis_unpacked_free(unpacked);
    unpacked_let_go(file, &kept);
}

static void decode_work(void *context, size_t at)
{
    struct piece *piece = context;
    struct decoding *decoding = &piece->decodings[at];
    if (is_over(piece))
        return;
    const struct all_modules_file *of = &piece->all->files[decoding->figures[0]->file_at];
    struct file *file = store_reopen(&of->opened, &decoding->err);
    if (file)
        decode_all(piece, decoding, file, of->digests->is_packed);
    files_close(file);
}

static void keep_figures(struct all_modules *all, const struct decoding *decoding)
{
    for (size_t at = 0; at < decoding->count; at++) {
        struct all_modules_figures *figures = decoding->figures[at];
        struct subjects_made *made = &decoding->made[at];
        if (err_is_set(&decoding->err))
            figures->err = decoding->err;
        else if (made->kept || err_is_set(&made->err))
            subjects_keep(all->store, figures->key, made, &figures->subject, &figures->err);
    }
}

static int by_place(const void *left, const void *right)
{
    const struct all_modules_figures *const *a = left, *const *b = right;
    if ((*a)->file_at != (*b)->file_at)
        return (*a)->file_at < (*b)->file_at ? -1 : 1;
    uint64_t x = (*a)->program->offset_bytes, y = (*b)->program->offset_bytes;
    return (x > y) - (x < y);
}

static void decode_some(struct piece *piece)
{
    struct all_modules *all = piece->all;
    size_t count = 0, task_count = 0, size = all->figures_count + 1;
    struct all_modules_figures **figures = memory_new(size * sizeof(*figures));
    struct subjects_made *made = memory_new(size * sizeof(*made));
    piece->decodings = memory_new(size * sizeof(*piece->decodings));
    for (size_t at = 0; at < all->figures_count; at++)
        if (all_modules_needs_figures(&all->figures[at]))
            figures[count++] = &all->figures[at];
    qsort(figures, count, sizeof(*figures), by_place);
    for (size_t at = 0; at < count; at++) {
        struct decoding *last = task_count > 0 ? &piece->decodings[task_count - 1] : NULL;
        made[at].err = (struct err)ERR_INIT;
        if (last && last->figures[0]->file_at == figures[at]->file_at &&
            all->files[figures[at]->file_at].digests->is_packed)
            last->count++;
        else
            piece->decodings[task_count++] = (struct decoding){&figures[at], &made[at], 1, ERR_INIT};
    }
    workers_run(store_workers(all->store), task_count, decode_work, piece);
    for (size_t at = 0; at < task_count; at++)
        keep_figures(all, &piece->decodings[at]);
    free(piece->decodings);
    free(made);
    free(figures);
}

/* ---- runs ------------------------------------------------------------------------------ */

struct all_modules_read_running {
    struct all_modules_file *file;
    struct subjects_made made;
    struct err err;
};

static void run_work(void *context, size_t at)
{
    struct piece *piece = context;
    struct all_modules_read_running *running = &piece->runnings[at];
    if (is_over(piece))
        return;
    struct file *file = store_reopen(&running->file->opened, &running->err);
    const struct subjects_place place = {.kind = ANALYSIS_RUNS};
    if (file) {
        char *key = all_modules_runs_key(running->file);
        struct cache_hold kept = {0};
        unpacked_attach_kept(piece->all->store, file, &kept);
        subjects_make(piece->all->store, &place, file, files_source(file), key, &running->made);
        unpacked_let_go(file, &kept);
        free(key);
    }
    files_close(file);
    atomic_fetch_add(&piece->done_count, 1);
}

static void run_some(struct piece *piece)
{
    struct all_modules *all = piece->all;
    size_t count = 0;
    piece->runnings = memory_new((all->file_count + 1) * sizeof(*piece->runnings));
    for (size_t at = 0; at < all->file_count; at++)
        if (all_modules_needs_runs(&all->files[at]))
            piece->runnings[count++] = (struct all_modules_read_running){&all->files[at], {.err = ERR_INIT}, ERR_INIT};
    workers_run(store_workers(all->store), count, run_work, piece);
    for (size_t at = 0; at < count; at++) {
        struct all_modules_read_running *running = &piece->runnings[at];
        struct err err = ERR_INIT;
        running->file->is_runs_known =
            err_is_set(&running->err) || running->made.kept || err_is_set(&running->made.err);
        if (!running->made.kept && !err_is_set(&running->made.err))
            continue;
        char *key = all_modules_runs_key(running->file);
        subjects_keep(all->store, key, &running->made, &running->file->runs, &err);
        free(key);
    }
    free(piece->runnings);
}

/* ---- pieces ------------------------------------------------------------------------------ */

static void *read_piece(void *context, struct cache_made *made, struct err *err)
{
    struct piece piece = {.all = context, .deadline_ms = clock_ms() + PIECE_MS};
    (void)err;
    bool has_more = true;
    all_modules_look(piece.all); /* of what another has read meanwhile */
    while (has_more && !is_over(&piece)) {
        has_more = hash_some(&piece);
        decode_some(&piece);
    }
    if (!is_over(&piece))
        run_some(&piece);
    made->is_transient = true; /* threads that waited look at what is there now */
    return memory_new(1);
}

/* One at a time reads a session: who comes meanwhile would read the same. */
static void read_in_turn(struct all_modules *all)
{
    struct cache_maker maker = {read_piece, free, all};
    struct cache_hold hold = {0};
    struct err err = ERR_INIT;
    char *key = memory_format("reading %s", all->session->id);
    cache_get(store_cache(all->store), STORE_DIGESTS, key, &maker, &hold, &err);
    cache_release(&hold);
    free(key);
    all_modules_look(all);
}

void all_modules_read(struct all_modules *all, int64_t budget_ms)
{
    int64_t deadline_ms = clock_ms() + budget_ms;
    all_modules_look(all);
    for (bool is_first = true;
         !all_modules_is_complete(all) && !atomic_load(store_is_stopping(all->store)) && !wanted_is_over();
         is_first = false) {
        if (budget_ms >= 0 && (budget_ms == 0 || (!is_first && clock_ms() >= deadline_ms)))
            return;
        read_in_turn(all);
    }
}
