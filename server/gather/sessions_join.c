/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/sessions_folder.h"

#include <stdio.h>
#include <string.h>

enum {
    FOLDERS_AWAY = 2,
    LOOKS_MAX = 1 << 20, /* pairs that are looked at, of one root: a folder of thousands of logs is no run */
};

/* Length of the folder in the path of a session's file; 0: the root. */
static size_t folder_length(const struct snapshot_session *session)
{
    const char *path = session->files[0]->path, *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

/* How many folders `inner` lies below `outer`; 0: it does not. */
static int folders_below(const char *outer, size_t outer_length, const char *inner, size_t inner_length)
{
    int count = 0;
    if (inner_length <= outer_length || memcmp(outer, inner, outer_length) != 0 ||
        (outer_length > 0 && inner[outer_length] != '/'))
        return 0;
    for (size_t at = outer_length + (outer_length > 0); at < inner_length; at++)
        count += inner[at] == '/';
    return count + 1;
}

static bool is_near(const struct snapshot_session *text, const struct snapshot_session *dump)
{
    if ((dump->kind != SNAPSHOT_DUMP && dump->kind != SNAPSHOT_HLO) || dump->file_count == 0)
        return false;
    const char *a = text->files[0]->path, *b = dump->files[0]->path;
    size_t a_length = folder_length(text), b_length = folder_length(dump);
    int below = folders_below(a, a_length, b, b_length), above = folders_below(b, b_length, a, a_length);
    return (below > 0 && below <= FOLDERS_AWAY) || (above > 0 && above <= FOLDERS_AWAY);
}

/* "jit_step" is a part between dots of "module_0006.jit_step.cl_1". */
static bool stem_has(const char *stem, const char *module)
{
    size_t length = strlen(module);
    for (const char *at = stem; (at = strstr(at, module)) != NULL; at++)
        if ((at == stem || at[-1] == '.') && (at[length] == '\0' || at[length] == '.'))
            return true;
    return false;
}

static bool has_module(const struct snapshot_session *dump, const char *module)
{
    for (size_t at = 0; at < dump->group_count; at++)
        if (stem_has(dump->groups[at].stem, module))
            return true;
    return false;
}

/* A job of another runtime wrote no dump of XLA, wherever its log lies. */
static bool may_be_of_xla(const struct snapshot_text *text)
{
    return !text->is_read || text->failure.failure_count == 0 || text->failure.may_be_of_xla;
}

/* The only session that the log can be of, or the count. */
static size_t partner_of(const struct snapshot *snapshot, size_t first, size_t at, size_t *looks_left)
{
    const struct snapshot_session *text = snapshot->sessions[at];
    const char *module = text->texts[0].failure.module;
    size_t partner = snapshot->session_count, count = 0;
    for (size_t other = first; other < snapshot->session_count && *looks_left > 0; other++) {
        (*looks_left)--;
        if (!snapshot->sessions[other] || !is_near(text, snapshot->sessions[other]) ||
            (module[0] && !has_module(snapshot->sessions[other], module)))
            continue;
        count++;
        partner = other;
    }
    return count == 1 ? partner : snapshot->session_count;
}

static void text_take(struct sessions_builder *builder, struct snapshot_session *dump,
                      const struct snapshot_session *text)
{
    struct memory_pool *pool = &builder->snapshot->pool;
    struct snapshot_text *texts = memory_pool_new(pool, (dump->text_count + 1) * sizeof(*texts));
    const struct snapshot_file **files = memory_pool_new(pool, (dump->file_count + 1) * sizeof(*files));
    if (dump->text_count > 0)
        memcpy(texts, dump->texts, dump->text_count * sizeof(*texts));
    memcpy(files, dump->files, dump->file_count * sizeof(*files));
    texts[dump->text_count++] = text->texts[0];
    files[dump->file_count++] = text->files[0];
    dump->texts = texts;
    dump->files = files;
    if (text->modified_at_ms > dump->modified_at_ms)
        dump->modified_at_ms = text->modified_at_ms;
    if (builder->upload_id && strcmp(text->id, builder->upload_id) == 0)
        snprintf(dump->id, sizeof(dump->id), "%s", text->id); /* the first one has the upload's id */
}

void sessions_join(struct sessions_builder *builder, size_t first)
{
    struct snapshot *snapshot = builder->snapshot;
    size_t looks_left = LOOKS_MAX, count = snapshot->session_count, kept = first;
    if (builder->tree->is_file)
        return;
    for (size_t at = first; at < count; at++) {
        const struct snapshot_session *text = snapshot->sessions[at];
        bool may_join = text->kind == SNAPSHOT_TEXT && may_be_of_xla(&text->texts[0]);
        size_t partner = may_join ? partner_of(snapshot, first, at, &looks_left) : count;
        if (partner == count)
            continue;
        /* add_session made the items of the list, and no one else has seen them yet */
        text_take(builder, (struct snapshot_session *)(uintptr_t)snapshot->sessions[partner], text);
        snapshot->sessions[at] = NULL;
    }
    for (size_t at = first; at < count; at++)
        if (snapshot->sessions[at])
            snapshot->sessions[kept++] = snapshot->sessions[at];
    snapshot->session_count = kept;
}
