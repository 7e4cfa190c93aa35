/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/session_labels.h"

#include "base/json.h"
#include "server/base/label_key.h"
#include "server/base/memory.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LABELS_MAX = 32, LINE_MAX_BYTES = 4096, PACKED_MAX_BYTES = 1 << 20, SHORT_HASH = 40, LONG_HASH = 64 };

struct session_labels {
    struct {
        char *key, *value;
    } items[LABELS_MAX];
    size_t count;
};

/* Existing labels stay. Labels with an invalid key (base/label_key.h) or an empty value are left out. */
static void label_add(struct session_labels *labels, const char *key, size_t key_length, const char *value,
                      size_t value_length)
{
    bool is_known = labels->count >= LABELS_MAX || !label_key_is(key, key_length) || value_length == 0 ||
                    value_length > LABEL_VALUE_MAX_BYTES;
    for (size_t at = 0; at < labels->count && !is_known; at++)
        is_known = strlen(labels->items[at].key) == key_length && strncmp(labels->items[at].key, key, key_length) == 0;
    if (is_known)
        return;
    labels->items[labels->count].key = memory_format("%.*s", (int)key_length, key);
    labels->items[labels->count++].value = memory_format("%.*s", (int)value_length, value);
}

/* NULL: nothing. */
static void text_label_add(struct session_labels *labels, const char *key, const char *value)
{
    if (value)
        label_add(labels, key, strlen(key), value, strlen(value));
}

/* "KEY=VALUE,KEY=VALUE" */
static void pairs_add(struct session_labels *labels, const char *text)
{
    while (text && *text) {
        size_t length = strcspn(text, ",");
        const char *sign = memchr(text, '=', length);
        if (sign)
            label_add(labels, text, (size_t)(sign - text), sign + 1, length - (size_t)(sign - text) - 1);
        text += length + (text[length] == ',');
    }
}

static void variables_add(struct session_labels *labels)
{
    static const struct {
        const char *key, *variable;
    } rows[] = {
#define LABEL(key, variable) {key, variable},
#include "server/run/session_labels.def"
#undef LABEL
    };
    for (size_t at = 0; at < sizeof(rows) / sizeof(rows[0]); at++) {
        const char *value = getenv(rows[at].variable);
        bool says_nothing =
            value && (strcmp(value, "root") == 0 || strcmp(value, "none") == 0); /* in a container; by torchrun */
        text_label_add(labels, rows[at].key, says_nothing ? NULL : value);
    }
    if (getenv("KUBERNETES_SERVICE_HOST"))
        text_label_add(labels, "pod", getenv("HOSTNAME"));
}

/* What Ray hands to the entrypoint of a job that was submitted. */
static void ray_add(struct session_labels *labels)
{
    cJSON *config = cJSON_Parse(getenv("RAY_JOB_CONFIG_JSON_ENV_VAR"));
    const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(config, "metadata");
    text_label_add(labels, "job", cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(metadata, "job_name")));
    text_label_add(labels, "run",
                   cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(metadata, "job_submission_id")));
    cJSON_Delete(config);
}

/* ---- the commit, by the files of Git ---- */

/* A regular file, or NULL: a pipe that somebody else put there would keep the job from starting. */
static FILE *file_open(const char *folder, const char *name)
{
    struct stat status;
    char *path = memory_format("%s/%s", folder, name);
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool is_file = descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    FILE *file = is_file ? fdopen(descriptor, "r") : NULL;
    if (descriptor >= 0 && !file)
        close(descriptor);
    free(path);
    return file;
}

/* The first line without its end. False: there is none. */
static bool line_read(const char *folder, const char *name, char line[LINE_MAX_BYTES])
{
    FILE *file = file_open(folder, name);
    bool is_there = file && fgets(line, LINE_MAX_BYTES, file) != NULL;
    if (file)
        fclose(file);
    line[is_there ? strcspn(line, "\r\n") : 0] = '\0';
    return is_there;
}

static bool is_hash(const char *text, size_t length)
{
    return (length == SHORT_HASH || length == LONG_HASH) && strspn(text, "0123456789abcdef") >= length;
}

/* A line of packed-refs, near its start: "HASH NAME". */
static bool packed_find(const char *folder, const char *name, char line[LINE_MAX_BYTES])
{
    FILE *file = file_open(folder, "packed-refs");
    bool is_found = false;
    for (size_t read = 0; file && !is_found && read < PACKED_MAX_BYTES && fgets(line, LINE_MAX_BYTES, file);) {
        size_t length = strcspn(line, " ");
        read += strlen(line) + 1; /* a line of NULs counts, too */
        line[strcspn(line, "\r\n")] = '\0';
        is_found = line[length] == ' ' && is_hash(line, length) && strcmp(line + length + 1, name) == 0;
        line[is_found ? length : 0] = '\0';
    }
    if (file)
        fclose(file);
    return is_found;
}

/* `line`: the hash. `git`: the folder .git, or of a worktree, whose branches lie in the one that `commondir` names. */
static bool head_read(const char *git, char line[LINE_MAX_BYTES])
{
    char common[LINE_MAX_BYTES];
    if (!line_read(git, "HEAD", line))
        return false;
    if (strncmp(line, "ref: ", 5) != 0)
        return is_hash(line, strlen(line));
    bool has_common = line_read(git, "commondir", common);
    char *name = memory_text(line + 5);
    char *shared = !has_common        ? memory_text(git)
                   : common[0] == '/' ? memory_text(common)
                                      : memory_format("%s/%s", git, common);
    bool is_found = !strstr(name, "..") &&
                    ((line_read(shared, name, line) && is_hash(line, strlen(line))) || packed_find(shared, name, line));
    free(name);
    free(shared);
    return is_found;
}

/* .git of this folder: a folder, or a file that names one. One of another user's is none: anybody may put one into a
 * folder above that all can write, as Git sees it, too. */
static bool commit_read(const char *folder, char line[LINE_MAX_BYTES])
{
    struct stat status;
    char *git = memory_format("%s/.git", folder);
    bool is_there = stat(git, &status) == 0 && (status.st_uid == geteuid() || status.st_uid == 0);
    if (is_there && S_ISREG(status.st_mode)) {
        is_there = line_read(folder, ".git", line) && strncmp(line, "gitdir: ", 8) == 0;
        free(git);
        git = is_there && line[8] == '/' ? memory_text(line + 8)
              : is_there                 ? memory_format("%s/%s", folder, line + 8)
                                         : memory_text("");
    }
    bool is_found = is_there && head_read(git, line);
    free(git);
    return is_found;
}

static void git_add(struct session_labels *labels, const char *folder)
{
    char line[LINE_MAX_BYTES];
    char *path = memory_text(folder);
    bool is_found = commit_read(path, line);
    for (char *slash; !is_found && (slash = strrchr(path, '/')) != NULL && path[0] == '/';) {
        *slash = '\0';
        is_found = commit_read(path, line);
    }
    free(path);
    if (is_found)
        text_label_add(labels, "commit", line);
}

/* ---- all of them ---- */

void session_labels_find(const char *folder, struct buf *out)
{
    struct session_labels labels = {.count = 0};
    struct json json = JSON_INIT(out);
    pairs_add(&labels, getenv("MEMVIEWD_LABELS"));
    variables_add(&labels);
    ray_add(&labels);
    git_add(&labels, folder);
    if (labels.count > 0)
        json_object_begin(&json);
    for (size_t at = 0; at < labels.count; at++) {
        json_key_text(&json, labels.items[at].key, labels.items[at].value);
        free(labels.items[at].key);
        free(labels.items[at].value);
    }
    if (labels.count > 0) {
        json_object_end(&json);
        buf_char(out, '\n');
    }
}

void session_labels_write(const char *run_folder)
{
    struct buf text = BUF_INIT;
    char *here = getcwd(NULL, 0), *path = memory_format("%s/memviewd.json", run_folder);
    session_labels_find(here ? here : "", &text);
    int file = text.length > 0 && !text.failed ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    if (file >= 0) {
        bool is_whole = write(file, text.data, text.length) == (ssize_t)text.length;
        close(file);
        if (!is_whole)
            unlink(path);
    }
    buf_free(&text);
    free(path);
    free(here);
}
