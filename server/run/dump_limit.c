/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/dump_limit.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/compile/folder.h"
#include "server/run/dump_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOOK_MS = 200, WRITTEN_NS = 1000000000 };

/* What is in the folder of a program counts as of one file; what is of no use in it goes. */
static void inner_look(const char *path, bool is_over, int64_t now_ns, struct dump_file *file)
{
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    const struct dirent *entry;
    if (descriptor >= 0 && !folder)
        close(descriptor);
    while (folder && (entry = readdir(folder)) != NULL) {
        struct stat status;
        if (entry->d_name[0] == '.' || fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        bool is_old = is_over || clock_is_apart(now_ns, dump_files_modified_at_ns(&status), WRITTEN_NS);
        if (!dump_files_is_useful_inside(entry->d_name) && is_old && unlinkat(dirfd(folder), entry->d_name, 0) == 0)
            continue;
        file->bytes += dump_files_bytes(&status);
    }
    if (folder)
        closedir(folder);
}

static void file_remove(const struct dump_limit *limit, struct dump_file *file)
{
    char *path = memory_format("%s/%s", limit->folder, file->name);
    if (file->is_folder)
        folder_remove(path);
    else
        unlink(path);
    free(path);
    file->bytes = 0;
    file->is_useful = false;
}

struct sums {
    size_t programs;
    uint64_t bytes;
};

static struct sums useless_remove(const struct dump_limit *limit, struct dump_files *files, bool is_over)
{
    struct sums sums = {0};
    int64_t now_ns = clock_unix_ns();
    for (size_t at = 0; at < files->count; at++) {
        struct dump_file *file = &files->items[at];
        char *path = memory_format("%s/%s", limit->folder, file->name);
        if (file->is_folder)
            inner_look(path, is_over, now_ns, file);
        else if (!file->is_useful && (is_over || clock_is_apart(now_ns, file->modified_at_ns, WRITTEN_NS)))
            file_remove(limit, file);
        sums.bytes += file->bytes;
        free(path);
    }
    for (size_t from = 0, end; from < files->count; from = end) {
        end = dump_files_program_end(files, from);
        sums.programs += dump_files_has_module(files, from, end);
    }
    return sums;
}

static size_t dump_limit_apply_one(const struct dump_limit *limit, bool is_over)
{
    struct dump_files files = dump_files_list(limit->folder);
    struct sums sums = useless_remove(limit, &files, is_over);
    for (size_t from = 0, end; from < files.count; from = end) {
        end = dump_files_program_end(&files, from);
        if (sums.programs <= limit->max_programs && sums.bytes <= limit->max_bytes)
            break;
        sums.programs -= dump_files_has_module(&files, from, end);
        for (size_t at = from; at < end; at++) {
            sums.bytes -= files.items[at].bytes;
            file_remove(limit, &files.items[at]);
        }
    }
    dump_files_free(&files);
    return sums.programs;
}

size_t dump_limit_apply(const struct dump_limit *limit) { return dump_limit_apply_one(limit, true); }

/* ---- Watching -------------------------------------------------------------------- */

struct dump_limit_watch {
    const struct dump_limit *limit;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    bool is_over;
};

/* Names that come and go change the time of the folder; a time that young may not show the last of them, and none shows
 * a file that grows. */
static bool is_worth_looking(const char *folder, int64_t looked_at_ns)
{
    struct stat status;
    if (clock_is_apart(clock_unix_ns(), looked_at_ns, 2 * (int64_t)WRITTEN_NS))
        return true;
    return stat(folder, &status) == 0 && dump_files_modified_at_ns(&status) + 2 * (int64_t)WRITTEN_NS > looked_at_ns;
}

static void *watch_run(void *context)
{
    struct dump_limit_watch *watch = context;
    int64_t looked_at_ns = 0;
    pthread_mutex_lock(&watch->mutex);
    while (!watch->is_over) {
        struct timespec then = clock_after(LOOK_MS);
        pthread_cond_timedwait(&watch->condition, &watch->mutex, &then);
        pthread_mutex_unlock(&watch->mutex);
        if (is_worth_looking(watch->limit->folder, looked_at_ns)) {
            looked_at_ns = clock_unix_ns();
            dump_limit_apply_one(watch->limit, false);
        }
        pthread_mutex_lock(&watch->mutex);
    }
    pthread_mutex_unlock(&watch->mutex);
    return NULL;
}

struct dump_limit_watch *dump_limit_watch_new(const struct dump_limit *limit)
{
    struct dump_limit_watch *watch = memory_new(sizeof(*watch));
    watch->limit = limit;
    pthread_mutex_init(&watch->mutex, NULL);
    clock_cond_init(&watch->condition);
    if (pthread_create(&watch->thread, NULL, watch_run, watch) == 0)
        return watch;
    pthread_cond_destroy(&watch->condition);
    pthread_mutex_destroy(&watch->mutex);
    free(watch);
    return NULL;
}

void dump_limit_watch_free(struct dump_limit_watch *watch)
{
    pthread_mutex_lock(&watch->mutex);
    watch->is_over = true;
    pthread_cond_signal(&watch->condition);
    pthread_mutex_unlock(&watch->mutex);
    pthread_join(watch->thread, NULL);
    pthread_cond_destroy(&watch->condition);
    pthread_mutex_destroy(&watch->mutex);
    free(watch);
}
