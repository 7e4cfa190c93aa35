/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_members.c: see analysis_members.h. */
#include "door/analysis_members.h"

#include "base/arena.h"
#include "door/job.h"
#include "door/members_entries.h"
#include "wire/gzip.h"
#include "wire/zip_view.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES_MAX = 1024, PART_BYTES_MAX = 255, PARTS_MAX = 16 };

/* The items point to names of the archive, copied behind each other into `texts`. */
struct analysis_members_state {
    struct members_entries entries;
    struct analysis_member *items;
    size_t *of; /* the archive's entry of each item */
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

static void member_judge(const struct members_entries *entries, size_t at, struct err *why)
{
    const char *fault = name_fault(members_entries_name(entries, at));
    if (fault != NULL)
        err_set(why, ERR_unsupported, ERR_NO_OFFSET, "%s; this member of the %s is left out", fault, entries->word);
    else
        members_entries_judge(entries, at, why);
}

/* ---- the archive as a whole ---- */

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
            err_set(&sorted[at]->why, ERR_unsupported, ERR_NO_OFFSET, "the %s has two members of this name",
                    members->internal->entries.word);
    free(sorted);
    return true;
}

static bool members_fill(struct analysis_members *members, struct err *err)
{
    struct analysis_members_state *state = members->internal;
    const struct members_entries *entries = &state->entries;
    size_t text_bytes = 1;
    for (size_t at = 0; at < entries->count; at++)
        text_bytes += members_entries_name(entries, at).length + 1;
    state->items = calloc(entries->count + 1, sizeof(*state->items));
    state->of = calloc(entries->count + 1, sizeof(*state->of));
    state->texts = malloc(text_bytes);
    if (state->items == NULL || state->of == NULL || state->texts == NULL)
        return err_exhausted(err);
    char *text = state->texts;
    for (size_t at = 0; at < entries->count; at++) {
        const struct str name = members_entries_name(entries, at);
        if (!job_member_is_file(name))
            continue;
        memcpy(text, name.data, name.length);
        text[name.length] = '\0';
        state->of[members->count] = at;
        state->items[members->count] = (struct analysis_member){.path = text, .why = ERR_INIT};
        member_judge(entries, at, &state->items[members->count++].why);
        text += name.length + 1;
    }
    members->items = state->items;
    members->word = entries->word;
    members->plain_bytes = entries->plain_bytes;
    return names_are_told_apart(members, err);
}

struct analysis_members *analysis_members_read(const struct source *archive, size_t fewest, struct err *err)
{
    struct analysis_members *members = calloc(1, sizeof(*members));
    struct analysis_members_state *state = calloc(1, sizeof(*state));
    if (members == NULL || state == NULL) {
        free(members);
        free(state);
        err_exhausted(err);
        return NULL;
    }
    members->internal = state;
    bool is_open = members_entries_open(&state->entries, archive, ANALYSIS_MEMBERS_MAX, err);
    /* of one file a zip is read as that file, but a tar file as a folder: no other reader looks into it */
    if (is_open && state->entries.zip != NULL && state->entries.file_count < fewest)
        err_set(err, ERR_notfound, 0, "no zip archive of several files");
    if (!err_is_set(err) && members_fill(members, err))
        return members;
    analysis_members_free(members);
    return NULL;
}

bool analysis_members_is_tar(const struct source *source) { return members_entries_is_tar(source); }

bool analysis_members_locate(const struct analysis_members *members, size_t at, struct member *member, struct err *err)
{
    return members_entries_locate(&members->internal->entries, members->internal->of[at], member, err);
}

void analysis_members_free(struct analysis_members *members)
{
    if (members == NULL)
        return;
    members_entries_close(&members->internal->entries);
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
    struct gzip *own; /* of a member of a packed archive, unless it is the archive's */
    struct err err;   /* of the same */
};

static struct analysis_member_view *member_view_of(const struct source *archive, const struct gzip *gzip,
                                                   const struct member *member)
{
    struct analysis_member_view *view = calloc(1, sizeof(*view));
    if (view == NULL)
        return NULL;
    if (member->is_in_gzip && gzip == NULL)
        gzip = view->own = gzip_open(archive, &view->err);
    if (member->is_in_gzip && gzip == NULL) {
        free(view);
        return NULL;
    }
    view->view = (struct zip_view){.packed = member->is_in_gzip ? &gzip->source : archive, .member = *member};
    view->source = zip_view_source(&view->view);
    return view;
}

struct analysis_member_view *analysis_member_view_new(const struct source *archive, const struct member *member)
{
    return member_view_of(archive, NULL, member);
}

struct analysis_member_view *analysis_members_view(const struct analysis_members *members, const struct source *archive,
                                                   const struct member *member)
{
    return member_view_of(archive, members->internal->entries.gzip, member);
}

const struct source *analysis_member_view_source(const struct analysis_member_view *view) { return &view->source; }

bool analysis_member_view_check(const struct analysis_member_view *view, struct err *err)
{
    return !view->view.is_damaged ||
           err_set(err, ERR_malformed, 0, "is not what its checksum in the zip archive says: it is damaged");
}

void analysis_member_view_free(struct analysis_member_view *view)
{
    if (view == NULL)
        return;
    gzip_close(view->own);
    free(view);
}
