/* SPDX-License-Identifier: Apache-2.0
 * around.c: see around.h. Of a log only folders that hold a dump themselves are looked through, and of its own
 * folder the files: it may lie in a folder as large as /tmp. */
#include "server/gather/around.h"

#include "server/base/memory.h"
#include "server/files/archive_path.h"
#include "server/files/remote/remote.h"
#include "server/gather/index.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FOLDERS_MAX = 64 };

static bool is_program_name(const char *name)
{
    const char *found = strstr(name, ".hlo");
    return found != NULL && (strcmp(found, ".hlo.pb") == 0 || strcmp(found, ".hlo") == 0);
}

/* Does the folder hold a program? One that cannot be read to its end may: the code that lists it reports why. `inner`,
 * if not NULL, is called for each folder in it. */
static bool around_look(const char *folder, void (*inner)(void *context, const char *path), void *context)
{
    bool has_program = false;
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    while (errno = 0, entries && (entry = readdir(entries)) != NULL) {
        struct stat status;
        has_program |= is_program_name(entry->d_name);
        if (!inner || entry->d_name[0] == '.')
            continue;
        char *path = memory_format("%s/%s", folder, entry->d_name);
        if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode))
            inner(context, path);
        free(path);
    }
    has_program |= entries && errno != 0;
    if (entries)
        closedir(entries);
    return has_program;
}

struct around_adding {
    struct index *index;
    size_t count;
};

static void inner_add(void *context, const char *path)
{
    struct around_adding *adding = context;
    if (adding->count < FOLDERS_MAX && around_look(path, NULL, NULL)) {
        index_add(adding->index, path);
        adding->count++;
    }
}

static void program_note(void *context, const char *path)
{
    struct around *around = context;
    const char *name = path + strlen(around->folder) + 1;
    around->holds_dump |= !strchr(name, '/') && is_program_name(name);
}

/* For a log at an address: adds what lies beside and below it, unless that is a whole bucket. */
static void address_add(struct around *around, const char *path)
{
    struct remote_address address;
    struct err unsaid = ERR_INIT;
    char *folder = memory_format("%.*s", (int)(strrchr(path, '/') - path), path);
    if (remote_address_read(folder, &address, &unsaid) && address.key[0] &&
        path_kind_of(folder, false) == PATH_KIND_FOLDER) {
        around->folder = memory_text(folder);
        path_kind_each_file(folder, program_note, around);
        index_add(around->index, folder);
    }
    remote_address_free(&address);
    free(folder);
}

/* Beside, below, above; where it lies beside a dump, folders in that are of the same dump. */
static void log_add(struct around *around, const char *path)
{
    struct around_adding adding = {.index = around->index};
    char *real = realpath(path, NULL), *slash = real ? strrchr(real, '/') : NULL;
    if (!slash || slash == real) {
        free(real);
        return;
    }
    *slash = '\0';
    around->folder = memory_text(real);
    around->holds_dump = around_look(real, inner_add, &adding);
    if (around->holds_dump)
        index_add(around->index, real);
    else
        index_add_files(around->index, real); /* device profiles, traces */
    slash = strrchr(real, '/');
    if (slash && slash != real) {
        *slash = '\0';
        if (around_look(real, NULL, NULL))
            index_add(around->index, real);
    }
    free(real);
}

/* Without links and dots, as the folders of logs are: what lies beside each other is found by that. */
static void folder_add(struct around *around, const char *path)
{
    char *real = path_kind_real(path);
    index_add(around->index, real ? real : path);
    free(real);
}

/* Adds the whole archive: files beside the log explain its failure further. The log itself is found in an archive that
 * is read as its only file; otherwise the reason is reported. */
static void member_log_add(struct around *around, const char *path)
{
    char *archive = archive_path_split(path, &around->inside);
    if (archive)
        folder_add(around, archive);
    folder_add(around, path);
    free(archive);
}

void around_open(struct around *around, const struct around_input *input, struct around_input *const *given,
                 size_t given_count)
{
    const char *path = input->path;
    bool is_log = input->is_log;
    *around = (struct around){.index = index_new()};
    if (is_log && remote_address_is(path))
        address_add(around, path);
    else if (is_log && strcmp(path, "-") != 0)
        log_add(around, path);
    else if (input->is_member_log)
        member_log_add(around, path);
    else if (!is_log)
        folder_add(around, path);
    around->has_given = is_log && given_count > 0;
    for (size_t at = 0; is_log && at < given_count; at++)
        index_add(around->index, given[at]->path);
    index_scan_once(around->index);
    around->snapshot = index_hold(around->index);
}

void around_close(struct around *around)
{
    if (around->snapshot)
        index_release(around->index, around->snapshot);
    index_free(around->index);
    free(around->folder);
}

/* ---- the session of a log ---- */

char *around_real(const struct files_place *place)
{
    char *path = files_place_path(place), *real = path_kind_real(path);
    free(path);
    return real;
}

static bool is_text_of(const struct snapshot_session *session, const char *real)
{
    bool is_found = false;
    for (size_t at = 0; at < session->text_count && !is_found; at++) {
        char *other = around_real(&session->texts[at].file->place);
        is_found = other && strcmp(other, real) == 0;
        free(other);
    }
    return is_found;
}

/* A log is one of a dump's that it lies beside; which logs tell of a failure is not known to a snapshot that was made
 * for the command line. */
static bool is_beside(const struct snapshot_session *session, const char *real)
{
    bool has_programs = session->kind == SNAPSHOT_DUMP || session->kind == SNAPSHOT_HLO;
    char *other = has_programs && session->file_count > 0 ? around_real(&session->files[0]->place) : NULL;
    size_t length = other ? (size_t)(strrchr(other, '/') - other) : 0;
    bool is_beside = other && strncmp(other, real, length + 1) == 0 && !strchr(real + length + 1, '/');
    free(other);
    return is_beside;
}

const struct snapshot_session *around_session(const struct around *around, const char *path)
{
    const struct snapshot *snapshot = around->snapshot;
    char *real = path_kind_real(path);
    const struct snapshot_session *found = NULL;
    for (size_t at = 0; real && at < snapshot->session_count && !found; at++) {
        const struct snapshot_session *session = snapshot->sessions[at];
        bool is_in_dump = (around->holds_dump || !around->folder) && is_beside(session, real);
        found = is_text_of(session, real) || is_in_dump ? session : NULL;
    }
    free(real);
    return found;
}
