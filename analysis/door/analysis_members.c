/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_members.c: see analysis_members.h. */
#include "door/analysis_members.h"

#include "base/arena.h"
#include "door/job.h"
#include "wire/gzip.h"
#include "wire/zip.h"
#include "wire/zip_view.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES_MAX = 1024, PART_BYTES_MAX = 255, PARTS_MAX = 16, LOCAL_HEADER_BYTES = 30 };

/* The items point to names of the archive's list, copied behind each other into `texts`. */
struct analysis_members_state {
    struct zip *zip;
    struct err zip_err;
    struct analysis_member *items;
    size_t *of; /* the zip's member of each item */
    char *texts;
};

/* ---- which members can be read ---- */

static const char *part_fault(struct str part)
{
    if (part.length == 0 || str_equal(part, STR(".")) || str_equal(part, STR("..")))
        return "its name leads to another place";
    return part.length > PART_BYTES_MAX ? "a part of its name is longer than 255 bytes" : NULL;
}

/* NULL, or why a name is none of a file in a folder. */
static const char *name_fault(struct str name)
{
    size_t parts = 0;
    if (name.length > PATH_BYTES_MAX)
        return "its name is longer than 1,024 bytes";
    for (size_t at = 0; at < name.length; at++)
        if (str_is_control(name.data[at]) || name.data[at] == '\\')
            return "its name has a control character or a backslash";
    for (size_t at = 0; at <= name.length; parts++) {
        const char *slash = memchr(name.data + at, '/', name.length - at);
        size_t length = slash != NULL ? (size_t)(slash - name.data) - at : name.length - at;
        const char *fault = part_fault((struct str){name.data + at, length});
        if (fault != NULL)
            return fault;
        at += length + 1;
    }
    return parts > PARTS_MAX ? "its name has more than 16 parts" : NULL;
}

static void member_judge(const struct zip_member *member, struct err *why)
{
    const char *fault = name_fault(member->name);
    if (fault != NULL)
        err_set(why, ERR_unsupported, member->header_at, "%s; this member of the zip archive is left out", fault);
    else if (member->plain_bytes > GZIP_MIN_LIMIT && member->plain_bytes / GZIP_MAX_RATIO > member->packed_bytes)
        err_set(why, ERR_limit, member->header_at,
                "would inflate to %llu bytes from %llu, more than %d times as many; this member of the zip archive is "
                "left out",
                (unsigned long long)member->plain_bytes, (unsigned long long)member->packed_bytes, GZIP_MAX_RATIO);
    else if (member->method == 0 && member->packed_bytes != member->plain_bytes)
        err_set(why, ERR_malformed, member->header_at, "its two sizes in the zip archive differ though it is stored");
}

/* ---- the archive as a whole ---- */

static int by_header(const void *a, const void *b)
{
    const struct zip_member *x = *(const struct zip_member *const *)a, *y = *(const struct zip_member *const *)b;
    return x->header_at < y->header_at ? -1 : x->header_at > y->header_at;
}

/* Bytes that serve for several members make a small archive inflate to anything. */
static bool members_are_apart(const struct zip *zip, struct err *err)
{
    const struct zip_member **sorted = malloc((zip->member_count + 1) * sizeof(*sorted));
    bool is_good = true;
    if (sorted == NULL)
        return err_exhausted(err);
    for (size_t at = 0; at < zip->member_count; at++)
        sorted[at] = &zip->members[at];
    qsort(sorted, zip->member_count, sizeof(*sorted), by_header);
    for (size_t at = 1; is_good && at < zip->member_count; at++) {
        const struct zip_member *one = sorted[at - 1];
        uint64_t room = sorted[at]->header_at - one->header_at, head = LOCAL_HEADER_BYTES + one->name.length;
        if (room < head || room - head < one->packed_bytes)
            is_good = err_set(err, ERR_malformed, sorted[at]->header_at, "members of the zip archive share bytes");
    }
    free(sorted);
    return is_good;
}

static int by_path(const void *a, const void *b)
{
    return strcmp((*(struct analysis_member *const *)a)->path, (*(struct analysis_member *const *)b)->path);
}

static bool names_are_told_apart(const struct analysis_members *members, struct err *err)
{
    struct analysis_member **sorted = malloc((members->count + 1) * sizeof(*sorted));
    if (sorted == NULL)
        return err_exhausted(err);
    for (size_t at = 0; at < members->count; at++)
        sorted[at] = &members->internal->items[at];
    qsort(sorted, members->count, sizeof(*sorted), by_path);
    for (size_t at = 1; at < members->count; at++)
        if (!err_is_set(&sorted[at]->why) && strcmp(sorted[at - 1]->path, sorted[at]->path) == 0)
            err_set(&sorted[at]->why, ERR_unsupported, ERR_NO_OFFSET, "the zip archive has two members of this name");
    free(sorted);
    return true;
}

static bool members_fill(struct analysis_members *members, struct err *err)
{
    struct analysis_members_state *state = members->internal;
    const struct zip *zip = state->zip;
    size_t text_bytes = 1;
    for (size_t at = 0; at < zip->member_count; at++)
        text_bytes += zip->members[at].name.length + 1;
    state->items = calloc(zip->member_count + 1, sizeof(*state->items));
    state->of = calloc(zip->member_count + 1, sizeof(*state->of));
    state->texts = malloc(text_bytes);
    if (state->items == NULL || state->of == NULL || state->texts == NULL)
        return err_exhausted(err);
    char *text = state->texts;
    for (size_t at = 0; at < zip->member_count; at++) {
        const struct zip_member *member = &zip->members[at];
        if (!job_member_is_file(member->name))
            continue;
        memcpy(text, member->name.data, member->name.length);
        text[member->name.length] = '\0';
        state->of[members->count] = at;
        state->items[members->count] = (struct analysis_member){.path = text, .why = ERR_INIT};
        member_judge(member, &state->items[members->count++].why);
        text += member->name.length + 1;
    }
    members->items = state->items;
    return members_are_apart(zip, err) && names_are_told_apart(members, err);
}

struct analysis_members *analysis_members_read(const struct source *archive, size_t fewest, struct err *err)
{
    struct zip *zip = NULL;
    size_t count = 0;
    if (!zip_matches(archive)) {
        err_set(err, ERR_notfound, 0, "no zip archive");
        return NULL;
    }
    struct analysis_members *members = calloc(1, sizeof(*members));
    struct analysis_members_state *state = calloc(1, sizeof(*state));
    if (members == NULL || state == NULL) {
        free(members);
        free(state);
        err_exhausted(err);
        return NULL;
    }
    members->internal = state;
    state->zip = zip = zip_open(archive, &state->zip_err);
    if (zip == NULL)
        *err = state->zip_err;
    else if (!job_archive_is_of_files(zip, &count, err))
        count = 0;
    else if (count < fewest)
        err_set(err, ERR_notfound, 0, "no zip archive of several files");
    else if (count > ANALYSIS_MEMBERS_MAX)
        err_set(err, ERR_limit, 0, "a zip archive of %zu files, and at most %d are looked into", count,
                ANALYSIS_MEMBERS_MAX);
    if (zip != NULL && !err_is_set(err) && members_fill(members, err))
        return members;
    analysis_members_free(members);
    return NULL;
}

bool analysis_members_locate(const struct analysis_members *members, size_t at, struct member *member, struct err *err)
{
    struct analysis_members_state *state = members->internal;
    state->zip_err = (struct err)ERR_INIT;
    if (zip_locate(state->zip, state->of[at], member))
        return true;
    *err = state->zip_err;
    return false;
}

void analysis_members_free(struct analysis_members *members)
{
    if (members == NULL)
        return;
    zip_close(members->internal->zip);
    free(members->internal->items);
    free(members->internal->of);
    free(members->internal->texts);
    free(members->internal);
    free(members);
}

/* ---- one member ---- */

struct analysis_member_view {
    struct zip_view view;
    struct source source;
};

struct analysis_member_view *analysis_member_view_new(const struct source *archive, const struct member *member)
{
    struct analysis_member_view *view = calloc(1, sizeof(*view));
    if (view == NULL)
        return NULL;
    view->view = (struct zip_view){archive, *member};
    view->source = zip_view_source(&view->view);
    return view;
}

const struct source *analysis_member_view_source(const struct analysis_member_view *view) { return &view->source; }

void analysis_member_view_free(struct analysis_member_view *view) { free(view); }
