/* SPDX-License-Identifier: Apache-2.0
 * reading.h: how much of a file was read so far, of files that somebody waits for.
 *
 * Threads: any number may ask, and read the file; a reading belongs to the thread that began it. */
#pragma once

#include "server/files/files.h"

struct reading_of_file {
    struct files_identity of;
    struct file *file;
    atomic_uint_fast64_t read_bytes; /* also what is read a second time */
    int64_t began_ms;
    struct reading_of_file *next;
};

/* Until reading_end, which has to come before files_close. */
void reading_begin(struct reading_of_file *reading, struct file *file);
void reading_end(struct reading_of_file *reading);

struct reading_so_far {
    uint64_t read_bytes, size_bytes; /* packed ones, of a packed file; the first is at most the second */
    int64_t took_ms;
    int64_t left_ms; /* until all is read, at the pace so far; -1: not known */
};

/* False: no one reads it now. */
bool reading_find(const struct files_identity *of, struct reading_so_far *so_far);
