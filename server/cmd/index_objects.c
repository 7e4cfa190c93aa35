/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/index_objects.h"
#include "server/files/path_kind.h"

#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/cmd/object_lines.h"
#include "server/files/files.h"
#include "server/files/names.h"
#include "server/files/path_spelling.h"
#include "server/files/remote/remote.h"
#include "server/gather/index.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4 << 20, DETAIL_BYTES = 300 };

struct index_objects {
    const struct options *options;
    const struct rows_wanted *wanted;
    char **bases; /* the options' paths, each in its one spelling; NULL: there is none */
    struct buf rows;
    uint64_t line_number;
    size_t object_count, row_count, other_count, removed_count, bad_count;
    bool is_unread, is_other; /* of the object that is read */
    bool is_broken;           /* the output is */
};

static void objects_refuse(struct index_objects *objects, const char *address, const char *why)
{
    objects->bad_count++;
    log_line("line %llu: %.*s%s%s", (unsigned long long)objects->line_number, DETAIL_BYTES, address,
             address[0] ? ": " : "", why);
}

/* ---- one object ---- */

static bool object_rows_take(void *context, const struct rows_file *file)
{
    struct index_objects *objects = context;
    objects->is_unread |= file->is_unread || file->lacks_file;
    objects->row_count += file->count;
    buf_add(&objects->rows, file->rows->data, file->rows->length);
    return true;
}

/* Does a file with that name get rows of its own in a folder? Other files of a dump are read beside its modules, and of
 * those only the last stage counts; XProf's caches are read beside traces. */
static bool is_taken(const char *name)
{
    enum names_kind kind = names_kind_of(name);
    enum names_stage stage = names_module_of(name).stage;
    if (kind == NAMES_DUMP_MODULE)
        return stage == NAMES_STAGE_AFTER || stage == NAMES_STAGE_OOM;
    return kind != NAMES_OTHER && kind != NAMES_DUMP_SIBLING && kind != NAMES_ASSIGNMENT && kind != NAMES_XPROF_CACHE;
}

/* What a name leaves open, only the bytes tell: a log without a failure, or a table in JSON, has no rows in a folder.
 * */
static bool is_as_named(const char *name, const struct snapshot *snapshot)
{
    const struct snapshot_session *session = snapshot->session_count > 0 ? snapshot->sessions[0] : NULL;
    switch (names_kind_of(name)) {
    case NAMES_SNAPSHOT: return session ? session->kind == SNAPSHOT_TRACE : names_claims_kind(name);
    case NAMES_PROFILE: return session ? session->kind == SNAPSHOT_PROFILES : names_claims_kind(name);
    case NAMES_LOG: return session && snapshot_failure(session) != NULL;
    default: return true;
    }
}

/* Is there a file that cannot be read now, so that nothing is known about it yet? */
static bool has_transient(const struct snapshot *snapshot)
{
    bool has = false;
    for (size_t at = 0; at < snapshot->problem_count; at++)
        has |= err_is_transient(snapshot->problems[at].why.code);
    return has;
}

/* The rows of what can be read, or why not. */
static bool object_read(struct index_objects *objects, const char *address, const char *base, struct err *err)
{
    struct rows_wanted wanted = *objects->wanted;
    struct rows_counts counts;
    struct index *index = index_new();
    index_add(index, address);
    index_keep_texts(index);
    index_scan_once_with_texts(index, false);
    struct snapshot *snapshot = index_hold(index);
    const struct snapshot_root *root = &snapshot->roots[0];
    wanted.snapshot = snapshot;
    wanted.base = base;
    wanted.take = object_rows_take;
    wanted.context = objects;
    objects->rows.length = objects->row_count = 0;
    objects->is_unread = false;
    objects->is_other = !is_as_named(strrchr(address, '/') + 1, snapshot);
    if (!root->is_readable || root->is_missing)
        err_set(err, ERR_io, ERR_NO_OFFSET, "%s", root->reason);
    else if (!objects->is_other || has_transient(snapshot))
        rows_write(&wanted, &counts);
    index_release(index, snapshot);
    index_free(index);
    if (!err_is_set(err) && objects->is_unread)
        err_set(err, ERR_io, ERR_NO_OFFSET, "it, or what belongs to it, cannot be read now");
    if (objects->rows.failed)
        err_exhausted(err);
    return !err_is_set(err);
}

static bool is_object(const char *address, struct err *err)
{
    if (!remote_address_is(address)) {
        enum path_kind kind = path_kind_of(address, false);
        return path_kind_is_file(kind) ||
               err_set(err, ERR_notfound, ERR_NO_OFFSET, "%s",
                       kind == PATH_KIND_NONE ? path_kind_why_not(address, errno) : "is no plain file");
    }
    struct remote_root *root = remote_root_of(address, err);
    return root && remote_root_list(root, err) &&
           (remote_root_is_file(root) || err_set(err, ERR_notfound, ERR_NO_OFFSET, "there is no such object"));
}

static void object_write(struct index_objects *objects, const char *address, const char *base)
{
    struct err err = ERR_INIT;
    size_t before = objects->row_count;
    bool is_read = is_object(address, &err) && object_read(objects, address, base, &err);
    size_t rows = objects->row_count;
    objects->row_count = before;
    if (remote_address_is(address))
        remote_root_forget(address);
    if (!is_read) {
        objects_refuse(objects, address, err.text);
    } else if (objects->is_other) {
        objects->other_count++;
    } else {
        objects->object_count++;
        objects->row_count += rows;
        const struct rows_file file = {.rows = &objects->rows};
        objects->is_broken |= !objects->wanted->take(objects->wanted->context, &file);
    }
}

/* ---- which ---- */

/* The path that the address lies below; NULL: none. */
static const char *base_of(const struct index_objects *objects, const char *address)
{
    const char *found = NULL;
    for (size_t at = 0; at < objects->options->paths.count; at++) {
        const char *base = objects->bases[at];
        size_t length = !base || strcmp(base, "/") == 0 ? 0 : strlen(base);
        bool is_below = base && strncmp(address, base, length) == 0 && address[length] == '/' && address[length + 1];
        if (is_below && (!found || strlen(found) < length))
            found = base;
    }
    return found;
}

/* Where the local `address` below `base` lies, with no link but those of `base`: what a link names elsewhere is not
 * what was offered. NULL with `err`. free() */
static char *real_of(const char *address, const char *base, struct err *err)
{
    char real[BENEATH_PATH_BYTES];
    if (strcmp(base, "/") == 0)
        return memory_text(address); /* nothing lies elsewhere */
    const struct files_place place = {.root = base, .path = address + strlen(base) + 1};
    bool is_below = files_real_path(&place, real);
    if (is_below && real[0])
        return memory_format("%s/%s", base, real);
    if (is_below)
        errno = EISDIR; /* the base */
    err_set(err, ERR_notfound, ERR_NO_OFFSET, "%s",
            errno == EXDEV ? "a link leads out of the path that was named" : path_kind_why_not(address, errno));
    return NULL;
}

/* As index_add spells it; NULL: no file has so long a name. */
static char *spell(const char *text)
{
    char *usual = remote_address_respell(text), *spelled = usual ? usual : memory_text(text);
    if (remote_address_is(spelled)) {
        for (size_t length = strlen(spelled); length > 0 && spelled[length - 1] == '/'; length--)
            spelled[length - 1] = '\0';
        return spelled;
    }
    char *path = strlen(spelled) < PATH_MAX ? path_spelling(spelled) : NULL;
    free(spelled);
    return path;
}

/* "file:///PATH". */
static bool address_is_file(const char *text)
{
    char *usual = remote_address_respell(text);
    bool is = usual && usual[0] == '/';
    free(usual);
    return is;
}

/* One that lies below `base`. */
static void object_take_below(struct index_objects *objects, const char *address, const char *base)
{
    struct err err = ERR_INIT;
    char *real = remote_address_is(address) ? memory_text(address) : real_of(address, base, &err);
    if (!real)
        objects_refuse(objects, address, err.text);
    else if (!is_taken(strrchr(real, '/') + 1))
        objects->other_count++;
    else
        object_write(objects, real, base);
    free(real);
}

static void object_take(void *context, const char *text)
{
    struct index_objects *objects = context;
    char *address = spell(text);
    bool is_remote = address && remote_address_is(address);
    const char *base = address ? base_of(objects, address) : NULL;
    const char *why_not = is_remote || address_is_file(text) ? NULL : remote_address_why_not(text);
    if (!address && !why_not)
        why_not = "is too long for a path";
    if (is_remote && remote_address_has_dots(address)) {
        base = NULL;
        why_not = "has \".\" or \"..\" between slashes, by which servers may take it for another one";
    }
    if (!base)
        objects_refuse(objects, why_not ? text : address,
                       why_not ? why_not : "lies below none of the paths that were named");
    else if (!is_taken(strrchr(address, '/') + 1))
        objects->other_count++;
    else
        object_take_below(objects, address, base);
    free(address);
}

/* The next line, without its end; of a longer one than is taken, its begin. False: there is none. */
static bool line_read(FILE *in, struct buf *line)
{
    int next = EOF;
    line->length = 0;
    while ((next = getc_unlocked(in)) != EOF && next != '\n')
        if (line->length <= LINE_MAX_BYTES && !line->failed)
            buf_char(line, (char)next);
    return next != EOF || (feof(in) && (line->length > 0 || line->failed));
}

static void line_take(struct index_objects *objects, struct buf *line)
{
    struct err err = ERR_INIT;
    objects->line_number++;
    if (line->failed) {
        objects_refuse(objects, "", "there is no memory for it");
        buf_free(line);
    } else if (line->length > LINE_MAX_BYTES)
        objects_refuse(objects, "", "is longer than 4 MiB");
    else if (!object_lines_read(line->data ? line->data : "", line->length, object_take, objects,
                                &objects->removed_count, &err))
        objects_refuse(objects, "", err.text);
}

bool index_objects(const struct options *options, const struct rows_wanted *wanted, FILE *in)
{
    struct index_objects objects = {.options = options, .wanted = wanted, .rows = BUF_INIT};
    struct buf line = BUF_INIT;
    objects.bases = memory_new((options->paths.count + 1) * sizeof(*objects.bases));
    for (size_t at = 0; at < options->paths.count; at++)
        objects.bases[at] = spell(options->paths.items[at]);
    errno = 0;
    while (!objects.is_broken && line_read(in, &line))
        line_take(&objects, &line);
    bool is_read = objects.is_broken || feof(in);
    if (!is_read)
        log_line("--objects: %s", strerror(errno));
    log_line("%zu rows of %zu objects; %zu of other kinds, %zu removed, %zu that could not be taken", objects.row_count,
             objects.object_count, objects.other_count, objects.removed_count, objects.bad_count);
    for (size_t at = 0; at < options->paths.count; at++)
        free(objects.bases[at]);
    free(objects.bases);
    buf_free(&objects.rows);
    buf_free(&line);
    return is_read && objects.bad_count == 0 && !objects.is_broken;
}
