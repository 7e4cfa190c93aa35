/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/xprof_run.h"

#include <string.h>

/* The folder that a request names, or NULL; session_path comes first. */
static const char *asked_path(const struct request *request, bool *is_session)
{
    const char *path = request_param(request, "session_path", "");
    *is_session = path[0] != '\0';
    if (!*is_session)
        path = request_param(request, "run_path", "");
    return path[0] ? path : NULL;
}

static size_t length_without_slashes(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

/* Does `root` hold `path`? Texts alone are compared: the index has no other names. */
static bool is_below(const char *root, const char *path)
{
    size_t length = strlen(root);
    return strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0' || length == 1) &&
           strstr(path, "/../") == NULL;
}

static const char *last_component(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* Is `folder` (below `root`) the one that `path` names? */
static bool is_folder(const char *root, const char *folder, size_t folder_length, const char *path)
{
    size_t root_length = strlen(root), length = length_without_slashes(path);
    if (length < root_length || strncmp(path, root, root_length) != 0)
        return false;
    path += root_length;
    length -= root_length;
    if (length > 0 && *path == '/') {
        path++;
        length--;
    }
    return length == folder_length && memcmp(path, folder, length) == 0;
}

bool xprof_run_is_chosen(const struct snapshot *snapshot, const struct request *request, const struct snapshot_run *run)
{
    bool is_session;
    const char *path = asked_path(request, &is_session);
    (void)snapshot;
    if (!path)
        return true;
    if (!run->session)
        return false;
    const struct snapshot_file *file = run->session->hosts[0].file;
    size_t length = strlen(file->path) - strlen(file->name); /* folder and its slash */
    length -= length > 0;
    if (!is_session) {
        const char *name = last_component(run->name);
        size_t name_length = strlen(name);
        length -= length >= name_length ? name_length : length;
        length -= length > 0;
    }
    return is_folder(file->place.root, file->path, length, path);
}

const char *xprof_run_name(const struct request *request, const struct snapshot_run *run)
{
    bool is_session;
    return asked_path(request, &is_session) ? last_component(run->name) : run->name;
}

struct response *xprof_run_check_path(const struct snapshot *snapshot, const struct request *request)
{
    bool is_session;
    const char *path = asked_path(request, &is_session);
    for (size_t at = 0; path && at < snapshot->root_count; at++) {
        if (is_below(snapshot->roots[at].path, path))
            return NULL;
    }
    if (!path)
        return NULL;
    return response_text(403, "session_path and run_path must lie in a folder that memviewd was started with "
                              "(--logdir=DIR)\n");
}

const struct snapshot_run *xprof_run_find(const struct snapshot *snapshot, const struct request *request,
                                          struct response **refusal)
{
    const char *name = request_param(request, "run", "");
    *refusal = xprof_run_check_path(snapshot, request);
    for (size_t at = 0; at < snapshot->run_count && !*refusal; at++) {
        const struct snapshot_run *run = &snapshot->runs[at];
        if (xprof_run_is_chosen(snapshot, request, run) && strcmp(xprof_run_name(request, run), name) == 0)
            return run;
    }
    if (!*refusal)
        *refusal = response_text(404, name[0] ? "No such run\n" : "The parameter run is missing\n");
    return NULL;
}
