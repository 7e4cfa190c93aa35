/* SPDX-License-Identifier: Apache-2.0
 * dump_files.h: the files of a dump of XLA, by program: which belong together and which memviewd reads. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct dump_file {
    char *name;
    size_t stem_length;     /* "module_0010.jit_step": what files of one program share */
    int64_t modified_at_ns; /* of the newest file of its program; Unix time */
    uint64_t bytes;         /* that it takes on disk; 0 of a folder */
    bool is_folder, is_useful;
};

struct dump_files {
    struct dump_file *items; /* oldest programs first, those of one beside each other */
    size_t count, capacity;
};

/* Those in the folder, not in folders below it; what is not named as in a dump is left out. */
struct dump_files dump_files_list(const char *path);
void dump_files_free(struct dump_files *files);
/* Behind the last file of the program whose first one is `from`. */
size_t dump_files_program_end(const struct dump_files *files, size_t from);
/* Is there a module that can be opened? What is left without one counts as no program. */
bool dump_files_has_module(const struct dump_files *files, size_t from, size_t end);

/* Is a file with this name, in the folder of a program, useful? */
bool dump_files_is_useful_inside(const char *name);
int64_t dump_files_modified_at_ns(const struct stat *status);
uint64_t dump_files_bytes(const struct stat *status);
