/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/sessions.h"

#include "server/gather/sessions_folder.h"
#include "server/gather/sessions_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void sessions_walk(struct sessions_builder *builder, const struct tree_folder *folder)
{
    sessions_folder_add(builder, folder);
    if (folder->file_count > 0 && folder->depth > builder->root->depth)
        builder->root->depth = folder->depth;
    builder->root->file_count += folder->file_count;
    for (size_t at = 0; at < folder->folder_count; at++)
        sessions_walk(builder, folder->folders[at]);
    for (size_t at = 0; at < folder->file_count; at++)
        sessions_place_archive(builder, folder, &folder->files[at], sessions_walk);
}

/* Says why a root on a server cannot be listed, or which files are left out; also as a problem. */
static void tell_remote(struct sessions_builder *builder, const struct tree *tree)
{
    struct memory_pool *pool = &builder->snapshot->pool;
    struct snapshot_root *root = builder->root;
    const uint64_t unnamed = tree->listing ? remote_listing_left_out(tree->listing).unnamed : 0;
    if (err_is_set(&tree->fault)) {
        root->reason = memory_pool_text(pool, tree->fault.text, strlen(tree->fault.text));
        root->is_missing = tree->fault.code == ERR_notfound;
    } else if (unnamed > 0) {
        root->reason =
            memory_pool_format(pool, "%llu objects whose keys are no paths are left out", (unsigned long long)unnamed);
    }
    root->is_readable = tree->listing != NULL;
    if (root->reason[0]) {
        struct err why = tree->fault;
        err_set(&why, ERR_limit, ERR_NO_OFFSET, "%s", root->reason);
        sessions_folder_problem(builder, builder->root_path, NULL, &why, NULL);
    }
}

static void add_root(struct sessions_builder *builder, const struct sessions_root *from)
{
    struct memory_pool *pool = &builder->snapshot->pool;
    const struct tree *tree = from->tree;
    int reason = tree->top->reason;
    if (tree->is_file && tree->top->file_count)
        reason = tree->top->files[0].reason;
    builder->tree = tree;
    builder->root_path = memory_pool_text(pool, tree->root, strlen(tree->root));
    builder->lone_kind = from->kind;
    builder->lone_refusal = &from->refusal;
    *builder->root = (struct snapshot_root){
        .path = builder->root_path,
        .is_readable = reason == 0,
        .is_missing = reason == ENOENT,
        .reason = reason ? memory_pool_format(pool, "%s", strerror(reason)) : "",
        .last_scan_ms = tree->refreshed_at_ms,
    };
    builder->root->is_cut = tree->is_cut;
    if (tree->is_cut)
        builder->root->reason = "more or deeper folders than are looked at; the rest is left out";
    if (tree->is_remote)
        tell_remote(builder, tree);
    else if (reason && reason != ENOENT && !tree->is_file) {
        struct err why = ERR_INIT;
        err_set(&why, ERR_io, ERR_NO_OFFSET, "%s", builder->root->reason);
        sessions_folder_problem(builder, builder->root_path, NULL, &why, NULL);
    }
    size_t first = builder->snapshot->session_count;
    sessions_walk(builder, tree->top);
    sessions_join(builder, first);
}

static int newest_first(const void *a, const void *b)
{
    const struct snapshot_session *x = *(const struct snapshot_session *const *)a;
    const struct snapshot_session *y = *(const struct snapshot_session *const *)b;
    if (x->modified_at_ms != y->modified_at_ms)
        return x->modified_at_ms < y->modified_at_ms ? 1 : -1;
    return strcmp(x->name, y->name);
}

static int runs_descending(const void *a, const void *b)
{
    return strcmp(((const struct snapshot_run *)b)->name, ((const struct snapshot_run *)a)->name);
}

/* If two roots have a run with the same name, the first one's is shown. */
static void place_runs(struct snapshot *snapshot)
{
    size_t kept = 0;
    if (snapshot->run_count)
        qsort(snapshot->runs, snapshot->run_count, sizeof(*snapshot->runs), runs_descending);
    for (size_t at = 0; at < snapshot->run_count; at++) {
        if (kept == 0 || strcmp(snapshot->runs[kept - 1].name, snapshot->runs[at].name) != 0)
            snapshot->runs[kept++] = snapshot->runs[at];
    }
    snapshot->run_count = kept;
}

static struct snapshot *sessions_build_all(const struct sessions_root *roots, size_t root_count,
                                           struct sessions_builder *builder)
{
    struct snapshot *snapshot = builder->snapshot;
    snapshot->holders = 1;
    snapshot->root_count = root_count;
    snapshot->roots = memory_pool_new(&snapshot->pool, (root_count + 1) * sizeof(*snapshot->roots));
    for (size_t at = 0; at < root_count; at++) {
        builder->root_at = at;
        builder->root = &snapshot->roots[at];
        add_root(builder, &roots[at]);
    }
    if (snapshot->session_count)
        qsort(snapshot->sessions, snapshot->session_count, sizeof(*snapshot->sessions), newest_first);
    place_runs(snapshot);
    return snapshot;
}

struct snapshot *sessions_build(const struct sessions_root *roots, size_t root_count, uint64_t generation,
                                struct log_texts *log_texts, const struct sessions_texts *texts)
{
    struct sessions_builder builder = {.snapshot = memory_new(sizeof(struct snapshot)), .log_texts = log_texts};
    if (texts) {
        builder.is_stopping = texts->is_stopping;
        builder.facts = texts->facts;
        builder.kept = texts->kept;
        builder.are_texts_beside = texts->are_beside;
    }
    builder.snapshot->generation = generation;
    return sessions_build_all(roots, root_count, &builder);
}

struct snapshot *sessions_build_uploaded(struct tree *tree, const char *id, const atomic_bool *is_stopping)
{
    const struct sessions_root root = {.tree = tree, .kind = ANALYSIS_KIND_UNKNOWN};
    struct sessions_builder builder = {
        .snapshot = memory_new(sizeof(struct snapshot)), .upload_id = id, .is_stopping = is_stopping};
    return sessions_build_all(&root, 1, &builder);
}

void sessions_free(struct snapshot *snapshot)
{
    for (size_t at = 0; at < snapshot->session_count; at++) {
        free(atomic_load(&snapshot->sessions[at]->known->worst));
        free(atomic_load(&snapshot->sessions[at]->known->devices));
    }
    free(snapshot->sessions);
    free(snapshot->runs);
    free(snapshot->problems);
    memory_pool_free(&snapshot->pool);
    free(snapshot);
}
