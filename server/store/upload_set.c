/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/upload_set.h"

#include "base/size_text.h"
#include "server/base/memory.h"
#include "server/gather/sessions.h"
#include "server/gather/tree_archive.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PATH_BYTES = 1024, MAX_DEPTH = 16, MAX_NAME_BYTES = 255 };

/* What the tree and the snapshot of a set take, about: those of the set, and of each file. */
static const uint64_t FILE_BYTES = 1 << 10, SET_BYTES = UPLOAD_SET_COST_BYTES - FILE_BYTES;

/* Owns its files; tree and snapshot borrow from them. */
struct kept_set {
    char id[UPLOAD_SET_ID_SIZE];
    size_t file_count;
    uint64_t added_bytes;           /* of the last that came */
    struct upload_set_file **files; /* shared with the sets before */
    const struct store *store;
    pthread_mutex_t lock; /* of the two that follow, made when they are needed first */
    struct tree *tree;
    struct snapshot *snapshot;
};

static void release_file(struct upload_set_file *file)
{
    if (atomic_fetch_sub(&file->holders, 1) != 1)
        return;
    upload_release(file->upload);
    free(file->path);
    free(file);
}

static void release_files(struct upload_set_file **files, size_t count)
{
    for (size_t at = 0; at < count; at++)
        release_file(files[at]);
    free(files);
}

static void free_set(void *value)
{
    struct kept_set *set = value;
    if (set->snapshot)
        sessions_free(set->snapshot);
    if (set->tree)
        tree_free(set->tree);
    pthread_mutex_destroy(&set->lock);
    release_files(set->files, set->file_count);
    free(set);
}

static bool upload_set_fill(const struct kept_set *kept, struct upload_set *set)
{
    if (!kept)
        return false;
    set->id = kept->id;
    set->file_count = kept->file_count;
    set->files = kept->files;
    return true;
}

void upload_set_close(struct upload_set *set)
{
    cache_release(&set->hold);
    *set = (struct upload_set){0};
}

/* ---- names -------------------------------------------------------------------------- */

bool upload_set_is_id(const char *text)
{
    size_t length = strspn(text, "0123456789abcdef"), digits;
    if (length != UPLOAD_SET_ID_SIZE - 1)
        return false;
    if (text[length] != '-')
        return text[length] == '\0';
    digits = strspn(text + length + 1, "0123456789");
    return digits > 0 && digits < 5 && text[length + 1 + digits] == '\0';
}

/* Parts of a plain name, with "/" between them: nothing that could mean another place. */
static bool check_path(const char *path, struct err *err)
{
    size_t depth = 0;
    if (strlen(path) > MAX_PATH_BYTES)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "the name is longer than %d bytes", MAX_PATH_BYTES);
    for (const char *part = path; part; depth++) {
        size_t length = strcspn(part, "/");
        if (length == 0 || length > MAX_NAME_BYTES || part[0] == '.')
            return err_set(err, ERR_argument, ERR_NO_OFFSET,
                           "each part of the name must have 1 to %d bytes and not begin with a dot", MAX_NAME_BYTES);
        part = part[length] ? part + length + 1 : NULL;
    }
    return depth <= MAX_DEPTH ||
           err_set(err, ERR_argument, ERR_NO_OFFSET, "the name has more than %d parts", MAX_DEPTH);
}

/* What its name promises, as far as its bytes agree; NAMES_OTHER is not shown. */
static enum names_kind kind_of(const char *name, enum analysis_kind kind)
{
    enum names_kind named = names_kind_of(name);
    bool is_hlo_name = named == NAMES_HLO || named == NAMES_DUMP_MODULE || named == NAMES_XPROF_CACHE;
    bool is_text_name = named == NAMES_ERROR_TEXT || named == NAMES_LOG || named == NAMES_DUMP_SIBLING;
    switch (kind) {
    case ANALYSIS_KIND_XSPACE: return NAMES_TRACE;
    case ANALYSIS_KIND_ARCHIVE: /* of snapshots: upload_set_identify asks */
    case ANALYSIS_KIND_TORCH_SNAPSHOT: return NAMES_SNAPSHOT;
    case ANALYSIS_KIND_HLO_PROTO:
    case ANALYSIS_KIND_HLO_MODULE:
    case ANALYSIS_KIND_HLO_SNAPSHOT: return is_hlo_name ? named : NAMES_HLO;
    case ANALYSIS_KIND_BUFFER_ASSIGNMENT: return NAMES_ASSIGNMENT;
    case ANALYSIS_KIND_HLO_PARTS: return named == NAMES_DUMP_SIBLING ? named : NAMES_HLO;
    case ANALYSIS_KIND_PPROF: return NAMES_PROFILE;
    case ANALYSIS_KIND_TEXT: return is_text_name ? named : NAMES_LOG;
    case ANALYSIS_KIND_UNKNOWN: /* a log of two bytes a letter, or with a few that are none */
        return is_text_name ? named : NAMES_OTHER;
    case ANALYSIS_KIND_MEMORY_USAGE_REPORT: return named == NAMES_DUMP_SIBLING ? named : NAMES_OTHER;
    case ANALYSIS_KIND_PICKLE:
    case ANALYSIS_KIND_EMPTY: break;
    }
    return NAMES_OTHER;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int by_path(const void *a, const void *b)
{
    return strcmp((*(struct upload_set_file *const *)a)->path, (*(struct upload_set_file *const *)b)->path);
}

/* ---- what can be opened ----------------------------------------------------------------- */

/* NULL: it is none of several files. `identity` is used until it is freed. */
static struct tree_archive *archive_of(const struct upload_set_file *from, const struct files_identity *identity)
{
    struct err unsaid = ERR_INIT;
    const struct files_place place = {.root = "",
                                      .path = from->path,
                                      .bytes = (const unsigned char *)from->upload->data,
                                      .byte_count = from->upload->size,
                                      .identity = identity};
    struct file *opened = files_open(&place, &unsaid);
    const struct tree_archive_at at = {.path = from->path, .depth = 1};
    struct tree_archive *archive = opened ? tree_archive_read(opened, &place, &at) : NULL;
    files_close(opened);
    return archive;
}

static void add_to_tree(struct tree *tree, const struct upload_set_file *from)
{
    struct tree_file *file =
        tree_add_memory(tree, from->path, (const unsigned char *)from->upload->data, from->upload->size);
    file->kind = kind_of(file->name, from->kind);
    file->is_as_named = file->kind == NAMES_PROFILE || file->kind == NAMES_SNAPSHOT;
    /* Equal bytes are the same file, for every user and at any time. */
    file->identity = (struct files_identity){.size_bytes = from->upload->size};
    for (size_t at = 0; at < 32; at++) {
        char digit[2] = {from->sha256[at], '\0'};
        uint64_t *half = at < 16 ? &file->identity.device : &file->identity.inode;
        *half = *half << 4 | strtoul(digit, NULL, 16);
    }
    file->looked_into = file->identity;
    if (from->kind == ANALYSIS_KIND_ARCHIVE) {
        file->archive = archive_of(from, &file->identity);
        file->is_as_named = false; /* what is in it is */
    }
}

static void open_set(struct kept_set *set)
{
    char *root = set->file_count == 1 ? memory_format("%.*s", (int)names_title_length(name_of(set->files[0]->path)),
                                                      name_of(set->files[0]->path))
                                      : memory_format("%zu dropped files", set->file_count);
    set->tree = tree_new_of_memory(root);
    free(root);
    for (size_t at = 0; at < set->file_count; at++)
        add_to_tree(set->tree, set->files[at]);
    set->snapshot = sessions_build_uploaded(set->tree, set->id, store_is_stopping(set->store));
}

/* Another thread may read texts meanwhile: that can take long. */
static void wait_until_opened(struct kept_set *set)
{
    const struct cache_waiting *waiting = store_waiting(set->store);
    if (waiting->begin)
        waiting->begin(waiting->context);
    pthread_mutex_lock(&set->lock);
    pthread_mutex_unlock(&set->lock);
    if (waiting->end)
        waiting->end(waiting->context);
    pthread_mutex_lock(&set->lock);
}

const struct snapshot *upload_set_snapshot(const struct upload_set *set)
{
    struct kept_set *kept = (struct kept_set *)(uintptr_t)set->id; /* its first member */
    if (pthread_mutex_trylock(&kept->lock) != 0)
        wait_until_opened(kept);
    if (!kept->snapshot)
        open_set(kept);
    pthread_mutex_unlock(&kept->lock);
    return kept->snapshot;
}

/* ---- adding and finding ------------------------------------------------------------------ */

static void *make_set(void *context, struct cache_made *made, struct err *err)
{
    struct kept_set *from = context;
    struct kept_set *set = memory_new(sizeof(*set));
    (void)err;
    *set = *from;
    pthread_mutex_init(&set->lock, NULL);
    from->files = NULL;
    from->file_count = 0;
    made->cost_bytes = SET_BYTES;
    for (size_t at = 0; at < set->file_count; at++)
        made->cost_bytes += FILE_BYTES + strlen(set->files[at]->path);
    made->cost_bytes += from->added_bytes; /* the others were counted with the sets before */
    return set;
}

static void files_write(const void *context, struct buf *all)
{
    const struct kept_set *set = context;
    for (size_t at = 0; at < set->file_count; at++)
        buf_format(all, "%s %zu %s\n", set->files[at]->sha256, strlen(set->files[at]->path), set->files[at]->path);
}

/* The id is a hash of names and bytes, in the order of the names. */
static void name_set(struct kept_set *set)
{
    struct buf all = BUF_INIT;
    char hash[SHA256_TEXT_SIZE];
    memory_write(&all, files_write, set);
    sha256_text(all.data, all.length, hash);
    memcpy(set->id, hash, UPLOAD_SET_ID_SIZE - 1);
    buf_free(&all);
}

static bool archive_shows_any(const struct upload_set_file *file, struct err *err)
{
    const struct files_identity identity = {.size_bytes = file->upload->size};
    struct tree_archive *archive = archive_of(file, &identity);
    bool has = archive && archive->shown_count + archive->text_count > 0;
    if (!archive)
        err_exhausted(err);
    else if (!has)
        *err = archive->why;
    tree_archive_free(archive);
    return has;
}

static bool upload_set_identify(struct upload_set_file *file, struct err *err)
{
    const struct source source = upload_source(file->upload);
    if (!analysis_identify_whole(&source, &file->kind, err))
        return false;
    if (file->kind == ANALYSIS_KIND_ARCHIVE && !archive_shows_any(file, err))
        return false;
    if (kind_of(name_of(file->path), file->kind) == NAMES_OTHER)
        return err_set(err, ERR_unsupported, ERR_NO_OFFSET,
                       "it is no trace, no HLO file, no device profile and no text");
    sha256_text(file->upload->data, file->upload->size, file->sha256);
    return true;
}

/* The files of `with` but for one of this path, and `added`, which the list then holds. */
static void upload_set_join(const struct upload_set *with, struct upload_set_file *added, struct kept_set *set)
{
    set->files = memory_new((with->file_count + 1) * sizeof(*set->files));
    for (size_t at = 0; at < with->file_count; at++) {
        if (strcmp(with->files[at]->path, added->path) == 0)
            continue;
        atomic_fetch_add(&with->files[at]->holders, 1);
        set->files[set->file_count++] = with->files[at];
    }
    set->files[set->file_count++] = added;
    qsort(set->files, set->file_count, sizeof(*set->files), by_path);
}

static bool check_size(const struct kept_set *set, struct err *err)
{
    uint64_t size_bytes = 0;
    for (size_t at = 0; at < set->file_count; at++)
        size_bytes += set->files[at]->upload->size;
    if (set->file_count > UPLOAD_SET_MAX_FILES)
        return err_set(err, ERR_limit, ERR_NO_OFFSET, "at most %d files can be looked at together",
                       UPLOAD_SET_MAX_FILES);
    return size_bytes <= UPLOAD_SET_LIMIT_BYTES ||
           err_set(err, ERR_limit, ERR_NO_OFFSET, "the files would take %s together, more than the %s that are kept",
                   size_text((char[SIZE_TEXT_BYTES]){0}, size_bytes),
                   size_text((char[SIZE_TEXT_BYTES]){0}, UPLOAD_SET_LIMIT_BYTES));
}

bool upload_set_add(struct store *store, const char *with, const char *path, struct upload *upload,
                    struct upload_set *set, struct err *err)
{
    struct upload_set before = {0};
    struct kept_set joined = {.added_bytes = upload->size, .store = store};
    *set = (struct upload_set){0};
    if (!check_path(path, err) || (with && !upload_set_find(store, with, &before, err)))
        return false;
    struct upload_set_file *added = memory_new(sizeof(*added));
    atomic_init(&added->holders, 1);
    added->path = memory_text(path);
    added->upload = upload_hold(upload);
    upload_set_join(&before, added, &joined);
    bool is_good = upload_set_identify(added, err) && check_size(&joined, err);
    if (is_good) {
        name_set(&joined);
        char id[UPLOAD_SET_ID_SIZE];
        memcpy(id, joined.id, sizeof(id)); /* the maker takes the rest away */
        struct cache_maker maker = {make_set, free_set, &joined};
        is_good = upload_set_fill(cache_get(store_cache(store), STORE_UPLOADED_SETS, id, &maker, &set->hold, err), set);
    }
    release_files(joined.files, joined.file_count);
    upload_set_close(&before);
    return is_good;
}

bool upload_set_find(struct store *store, const char *id, struct upload_set *set, struct err *err)
{
    char key[UPLOAD_SET_ID_SIZE] = "";
    *set = (struct upload_set){0};
    if (upload_set_is_id(id)) {
        memcpy(key, id, UPLOAD_SET_ID_SIZE - 1);
        if (upload_set_fill(cache_get(store_cache(store), STORE_UPLOADED_SETS, key, NULL, &set->hold, err), set))
            return true;
    }
    return !err_is_set(err) &&
           err_set(err, ERR_notfound, ERR_NO_OFFSET, "these files are not kept here, or not any more: give them again");
}
