/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/dump_copy.h"

#include "server/base/descriptors.h"
#include "server/base/memory.h"
#include "server/run/dump_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static bool file_copy(const char *from, const char *to)
{
    struct stat status;
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int out = in >= 0 ? open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    bool is_whole = out >= 0 && fstat(in, &status) == 0;
    off_t left = is_whole ? status.st_size : 0;
    while (left > 0 && is_whole) {
        ssize_t part = descriptors_copy(in, out, (size_t)left);
        is_whole = part > 0;
        left -= is_whole ? part : 0;
    }
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    if (out >= 0 && !is_whole)
        unlink(to);
    return is_whole;
}

static void folder_copy(const char *from, const char *to)
{
    DIR *folder = opendir(from);
    const struct dirent *entry;
    if (!folder)
        return;
    mkdir(to, 0700);
    while ((entry = readdir(folder)) != NULL) {
        if (!dump_files_is_useful_inside(entry->d_name))
            continue;
        char *inner = memory_format("%s/%s", from, entry->d_name), *copy = memory_format("%s/%s", to, entry->d_name);
        file_copy(inner, copy);
        free(inner);
        free(copy);
    }
    closedir(folder);
}

static void program_copy(const struct dump_limit *limit, const char *from, const struct dump_file *files, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        char *path = memory_format("%s/%s", from, files[at].name);
        char *copy = memory_format("%s/%s", limit->folder, files[at].name);
        if (files[at].is_folder)
            folder_copy(path, copy);
        else if (files[at].is_useful)
            file_copy(path, copy);
        free(path);
        free(copy);
    }
}

size_t dump_copy(const struct dump_limit *limit, const char *from, int64_t since_ns)
{
    struct dump_files files = dump_files_list(from);
    uint64_t bytes = 0;
    size_t copied = 0;
    for (size_t end = files.count, begin; end > 0; end = begin) {
        uint64_t more = 0;
        for (begin = end - 1; begin > 0 && dump_files_program_end(&files, begin - 1) > begin;)
            begin--;
        for (size_t at = begin; at < end; at++)
            more += files.items[at].is_useful ? files.items[at].bytes : 0;
        if (files.items[begin].modified_at_ns < since_ns || copied == limit->max_programs ||
            bytes + more > limit->max_bytes)
            break;
        program_copy(limit, from, &files.items[begin], end - begin);
        copied += dump_files_has_module(&files, begin, end);
        bytes += more;
    }
    dump_files_free(&files);
    return copied;
}
