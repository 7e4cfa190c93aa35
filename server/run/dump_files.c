/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/dump_files.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/base/other_systems.h"
#include "server/files/names.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static bool has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), ending_length = strlen(ending);
    return length >= ending_length && strcmp(name + length - ending_length, ending) == 0;
}

/* The program before and after optimization, what its memory is, and what it is compiled for and with. DUMP_ENDINGS of
 * python/memviewd/_oom.py are the same. */
static bool is_useful(const char *name)
{
    static const char *const endings[] = {"before_optimizations.hlo.pb",    "after_optimizations.hlo.pb",
                                          "oom_intermediate_module.hlo.pb", "-memory-usage-report.pb",
                                          "-memory-usage-report.txt",       "-buffer-assignment.txt",
                                          ".target_arguments.pb",           ".gpu_target_config.pbtxt"};
    char *plain = memory_text(name);
    if (names_is_gzip(name))
        plain[strlen(name) - 3] = '\0';
    bool is_found = false;
    for (size_t at = 0; at < sizeof(endings) / sizeof(endings[0]); at++)
        is_found |= has_ending(plain, endings[at]);
    free(plain);
    return is_found;
}

bool dump_files_is_useful_inside(const char *name)
{
    return strcmp(name, "topology.pb") == 0 || strcmp(name, "compile_options.pb") == 0;
}

int64_t dump_files_modified_at_ns(const struct stat *status) { return clock_file_ns(status->st_mtim); }

uint64_t dump_files_bytes(const struct stat *status) { return (uint64_t)status->st_blocks * 512; }

/* Up to the first dot behind "module_0010."; 0: not a name of a dump. */
static size_t stem_length(const char *name)
{
    enum names_kind kind = names_kind_of(name);
    const char *module = strstr(name, "module_"), *dot = module ? strchr(module, '.') : NULL;
    if ((kind != NAMES_DUMP_MODULE && kind != NAMES_DUMP_SIBLING) || !dot)
        return 0;
    return (size_t)(dot + 1 - name) + strcspn(dot + 1, ".");
}

static void file_add(struct dump_files *files, const struct dump_file *file)
{
    files->items = memory_grow(files->items, &files->capacity, files->count + 1, sizeof(*files->items));
    files->items[files->count++] = *file;
}

static int by_stem(const void *a, const void *b)
{
    const struct dump_file *x = a, *y = b;
    size_t shorter = x->stem_length < y->stem_length ? x->stem_length : y->stem_length;
    int order = strncmp(x->name, y->name, shorter);
    return order ? order : (x->stem_length > y->stem_length) - (x->stem_length < y->stem_length);
}

/* `modified_at_ns` is that of the whole program by now. */
static int by_age(const void *a, const void *b)
{
    const struct dump_file *x = a, *y = b;
    if (x->modified_at_ns != y->modified_at_ns)
        return x->modified_at_ns < y->modified_at_ns ? -1 : 1;
    return by_stem(a, b);
}

size_t dump_files_program_end(const struct dump_files *files, size_t from)
{
    size_t end = from + 1;
    while (end < files->count && by_stem(&files->items[from], &files->items[end]) == 0)
        end++;
    return end;
}

static void programs_sort(struct dump_files *files)
{
    if (files->count == 0)
        return;
    qsort(files->items, files->count, sizeof(*files->items), by_stem);
    for (size_t from = 0, end; from < files->count; from = end) {
        int64_t newest_ns = 0;
        end = dump_files_program_end(files, from);
        for (size_t at = from; at < end; at++)
            newest_ns = files->items[at].modified_at_ns > newest_ns ? files->items[at].modified_at_ns : newest_ns;
        for (size_t at = from; at < end; at++)
            files->items[at].modified_at_ns = newest_ns;
    }
    qsort(files->items, files->count, sizeof(*files->items), by_age);
}

struct dump_files dump_files_list(const char *path)
{
    struct dump_files files = {0};
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)) != NULL) {
        struct stat status;
        struct dump_file file = {.stem_length = stem_length(entry->d_name)};
        if (file.stem_length == 0 || fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        file.is_folder = S_ISDIR(status.st_mode);
        file.is_useful = file.is_folder || (S_ISREG(status.st_mode) && is_useful(entry->d_name));
        file.modified_at_ns = dump_files_modified_at_ns(&status);
        file.bytes = dump_files_bytes(&status);
        file.name = memory_text(entry->d_name);
        file_add(&files, &file);
    }
    if (folder)
        closedir(folder);
    programs_sort(&files);
    return files;
}

void dump_files_free(struct dump_files *files)
{
    for (size_t at = 0; at < files->count; at++)
        free(files->items[at].name);
    free(files->items);
}

bool dump_files_has_module(const struct dump_files *files, size_t from, size_t end)
{
    for (size_t at = from; at < end; at++) {
        if (files->items[at].is_useful && names_kind_of(files->items[at].name) == NAMES_DUMP_MODULE)
            return true;
    }
    return false;
}
