/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/live_files.h"

#include "server/base/memory.h"
#include "server/files/files.h"
#include "server/run/run_folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file has 16 devices with 768 lines each at most, and their peaks. */
enum { MAX_FILES = 256, MAX_FILE_BYTES = 2 << 20, MAX_ALL_BYTES = 64 << 20 };

static const char FOLDER[] = ".live";

/* One that is replaced has a dot in front while it is written. */
static int is_live_name(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static int by_natural_name(const struct dirent **a, const struct dirent **b)
{
    return str_compare_natural(str_of((*a)->d_name), str_of((*b)->d_name));
}

/* "rank3.4711" of "rank3.4711-1f2e3d4c" */
static char *process_of(const char *name)
{
    const char *hyphen = strrchr(name, '-');
    return memory_format("%.*s", (int)(hyphen && hyphen > name ? hyphen - name : (ptrdiff_t)strlen(name)), name);
}

/* Bytes that were read. */
static size_t file_take(struct live_files *files, const char *all, const char *run, const char *name)
{
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    size_t length = 0;
    char *path = memory_format("%s/%s/%s", run, FOLDER, name);
    const struct files_place place = {.root = all, .path = path};
    if (files_read_text(&place, MAX_FILE_BYTES, &text, &err) && !text.failed && text.length > 0) {
        char *bytes = buf_take(&text, &length);
        files->items[files->count++] = (struct live_text){str_of(process_of(name)), {bytes, length}};
    }
    buf_free(&text);
    free(path);
    return length;
}

void live_files_read(const char *all, const char *name, struct live_files *files)
{
    struct dirent **names = NULL;
    char *path = memory_format("%s/%s/%s", all, name, FOLDER);
    int count = scandir(path, &names, is_live_name, by_natural_name);
    *files = (struct live_files){.items = memory_new(MAX_FILES * sizeof(*files->items))};
    size_t all_bytes = 0;
    for (int at = 0; at < count; at++) {
        if (files->count < MAX_FILES && all_bytes < MAX_ALL_BYTES)
            all_bytes += file_take(files, all, name, names[at]->d_name);
        else
            files->left_out_count++;
        free(names[at]);
    }
    free(names);
    free(path);
}

void live_files_free(struct live_files *files)
{
    for (size_t at = 0; at < files->count; at++) {
        free((void *)(uintptr_t)files->items[at].process.data);
        free((void *)(uintptr_t)files->items[at].text.data);
    }
    free(files->items);
    *files = (struct live_files){0};
}

bool live_files_are(const char *run_folder)
{
    struct stat status;
    char *path = memory_format("%s/%s", run_folder, FOLDER);
    bool are = lstat(run_folder, &status) == 0 && S_ISDIR(status.st_mode) && run_folder_is(run_folder) &&
               lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
    free(path);
    return are;
}
