/* SPDX-License-Identifier: Apache-2.0
 * capture_folder.h: where a capture leaves its traces: LOGDIR/plugins/profile/TIME/HOST_PORT.xplane.pb, as XProf and
 * TensorBoard do.
 *
 * A trace lies beside that name with ".part" until it is whole: nobody reads half of one. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture_folder {
    char *profiles; /* LOGDIR/plugins/profile, absolute */
    char *path;     /* of this session, below it */
    const char *id; /* "2026_01_09_10_15_00": the last name of `path` */
    bool has_made_plugins, has_made_profiles;
};

/* `logdir` exists. `io` with the path when the folder cannot be made. capture_folder_close in any case. */
bool capture_folder_open(struct capture_folder *folder, const char *logdir, struct err *err);
/* Removes it where nothing lies in it, with the folders above that capture_folder_open made. */
void capture_folder_close(struct capture_folder *folder);

/* One trace while it comes; all 0 at first. */
struct capture_file {
    char *path, *part;
    int descriptor; /* with `part` */
};

/* `host`: "tpu-3:9999"; in the file name each ":" is "_". */
bool capture_file_open(struct capture_file *file, const struct capture_folder *folder, const char *host,
                       struct err *err);
bool capture_file_add(const struct capture_file *file, const void *bytes, size_t size, struct err *err);
/* It is whole and gets its name. */
bool capture_file_keep(struct capture_file *file, struct err *err);
/* The size of the file with that name, even if another process wrote it; 0: no such file. */
uint64_t capture_file_found_bytes(const struct capture_file *file);
/* Removes what was not kept. */
void capture_file_close(struct capture_file *file);
